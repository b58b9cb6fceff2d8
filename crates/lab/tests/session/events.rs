//! What a run tells while it runs, followed from outside.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use lab::{Follower, RunFolder, RunRecord, SessionEnd};
use model::{Event, Judged, LoadSecond, Plan, TrialRecord};

use crate::fakes::{FakeLauncher, conduct, conduct_telling, create, load, plan, stopped_after_three};

/// Runs a plan and gives every event to `on_event`.
fn told(plan: &Plan, folder: &mut RunFolder, on_event: &mut dyn FnMut(&Event)) -> SessionEnd {
    let launcher = FakeLauncher::default();
    conduct_telling(plan, folder, (&launcher, &load), &AtomicBool::new(false), on_event).unwrap()
}

/// Everything that can be read of a run now.
fn followed(run: &Path) -> Vec<Event> {
    let mut follower = Follower::open(run).unwrap();
    read_on(&mut follower)
}

fn read_on(follower: &mut Follower) -> Vec<Event> {
    let mut events = Vec::new();
    loop {
        let more = follower.read_on().unwrap();
        if more.is_empty() {
            return events;
        }
        events.extend(more.into_iter().map(|line| line.event));
    }
}

fn seconds<'a>(events: &'a [Event], of: &str) -> Vec<&'a LoadSecond> {
    let second = |event: &'a Event| match event {
        Event::Second { trial, second } if trial == of => Some(second),
        _ => None,
    };
    events.iter().filter_map(second).collect()
}

fn records(events: &[Event]) -> Vec<TrialRecord> {
    let record = |event: &Event| match event {
        Event::TrialEnded { record } => Some((**record).clone()),
        _ => None,
    };
    events.iter().filter_map(record).collect()
}

#[test]
fn who_begins_to_follow_in_the_middle_knows_as_much_as_who_was_there() {
    let runs = tempfile::tempdir().unwrap();
    let plan = plan(2);
    let mut folder = create(runs.path(), &plan);
    let path = folder.path().to_owned();
    let (mut there, mut late, mut follower) = (Vec::new(), Vec::new(), None);
    told(&plan, &mut folder, &mut |event| {
        there.push(event.clone());
        if there.len() >= 20 {
            let follower = follower.get_or_insert_with(|| Follower::open(&path).unwrap());
            late.extend(read_on(follower));
            assert_eq!(late, there, "what was told is there at once");
        }
    });
    assert_eq!(followed(&path), there);
    assert_eq!(follower.map(|follower| follower.unknown()), Some(0));
    let trials = RunFolder::read(&path).unwrap().trials;
    assert_eq!((records(&there), trials.len()), (trials.clone(), 8));
    for trial in trials {
        let log = std::fs::read_to_string(path.join(format!("histograms/{}.hlog", trial.id))).unwrap();
        let (seconds, measured) = (seconds(&there, &trial.id), trial.measurement.unwrap());
        let drained = u64::from(plan.cells[trial.cell].load.connections);
        let completed = |all: &[&LoadSecond]| all.iter().map(|second| second.interval.completed).sum::<u64>();
        let steps: u64 = measured.steps.iter().map(|step| step.completed).sum();
        assert_eq!(completed(&seconds), steps + drained, "one reply on each connection comes after the window");
        assert!(seconds.iter().all(|second| !second.histograms.is_empty()), "{}", trial.id);
        for (second, histogram) in
            seconds.iter().flat_map(|second| second.histograms.iter().map(move |it| (second, it)))
        {
            assert_eq!(log.contains(&format!(",{}\n", histogram.data)), second.is_measured(), "as in the interval log");
        }
    }
}

#[test]
fn what_a_killed_run_left_half_written_is_cut_off_and_the_stream_goes_on() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    let file = path.join("events.jsonl");
    let whole = followed(&path);
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 100]).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    let before = read_on(&mut follower);
    assert_eq!(before, whole[..whole.len() - 1], "half a line is not an event");
    let (mut folder, _) = RunFolder::resume(&path).unwrap();
    conduct(&plan, &mut folder, &launcher, None);
    let after = read_on(&mut follower);
    let lost = RunFolder::read(&path).unwrap().trials[2].id.clone();
    assert_eq!(after.first(), Some(&Event::Begun { recorded: 3, untold: vec![lost] }), "what is lost is said");
    assert_eq!((records(&before).len() + records(&after).len(), follower.unknown()), (2 + 5, 0));
}

/// What is made of a recorded run.
fn judged(record: &RunRecord) -> Judged {
    let (plan, environment) = (&record.plan, &record.environment);
    judge::answer(judge::Run { plan, environment, trials: &record.trials })
}

#[test]
fn no_analysis_rests_on_the_stream() {
    let runs = tempfile::tempdir().unwrap();
    let mut folder = create(runs.path(), &plan(2));
    let path = folder.path().to_owned();
    conduct(&plan(2), &mut folder, &FakeLauncher::default(), None);
    drop(folder);
    let (file, before) = (path.join("events.jsonl"), RunFolder::read(&path).unwrap());
    let whole = std::fs::read_to_string(&file).unwrap();
    let forged = whole.replace("\"window_s\":1.0", "\"window_s\":9.0");
    std::fs::write(&file, &forged).unwrap();
    let told = RunRecord { trials: records(&followed(&path)), ..before.clone() };
    assert_ne!(judged(&told), judged(&before), "it would have said something else");
    for damaged in [Some(forged.as_str()), Some(&whole[..whole.len() / 2]), Some(""), None] {
        match damaged {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let resumed = || RunFolder::resume(&path).unwrap().1;
        for read in [RunFolder::read(&path).unwrap(), resumed()] {
            assert_eq!((judged(&read), &read), (judged(&before), &before));
        }
    }
}

#[test]
fn what_is_not_an_event_is_left_out_and_a_run_without_events_begins_some() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    let file = path.join("events.jsonl");
    let events = followed(&path).len();
    let mut damaged = std::fs::read(&file).unwrap();
    damaged.splice(0..0, b"\x00\xff what is this\n{\"schema\":\"bourdon.event/9\"}\n".iter().copied());
    std::fs::write(&file, &damaged).unwrap();
    let mut follower = Follower::open(&path).unwrap();
    assert_eq!((read_on(&mut follower).len(), follower.unknown()), (events, 2));
    std::fs::remove_file(&file).unwrap();
    assert!(Follower::open(&path).is_err());
    let (mut folder, _) = RunFolder::resume(&path).unwrap();
    conduct(&plan, &mut folder, &launcher, None);
    assert_eq!(records(&followed(&path)).len(), 5, "such as an earlier version's");
}

#[test]
fn what_the_stream_lacks_of_the_record_is_said_where_it_is_told_on() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    let path = stopped_after_three(runs.path(), &plan, &launcher);
    let ids: Vec<String> = RunFolder::read(&path).unwrap().trials.into_iter().map(|trial| trial.id).collect();
    let (file, whole) = (path.join("events.jsonl"), std::fs::read_to_string(path.join("events.jsonl")).unwrap());
    let second_end = whole.match_indices("trial-ended").nth(1).unwrap().0;
    for (left, untold) in [(&whole[..], &ids[3..]), (&whole[..second_end], &ids[1..]), ("", &ids[..])] {
        std::fs::write(&file, left).unwrap();
        let (mut folder, _) = RunFolder::resume(&path).unwrap();
        assert_eq!(folder.untold(), untold);
        let stop = AtomicBool::new(true);
        conduct_telling(&plan, &mut folder, (&launcher, &load), &stop, &mut |_| ()).unwrap();
        let begun = Event::Begun { recorded: 3, untold: untold.to_vec() };
        assert_eq!(followed(&path).last(), Some(&begun), "and nothing is made up");
    }
}
