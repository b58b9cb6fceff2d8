//! Targets that are alive together, while the load goes round among them in slices.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Passed, RunOptions, SliceSpec, Sliced};
use judge::RunPlanner;
use lab::{RunFolder, SessionEnd};
use model::{
    Done, Draft, Event, Invariant, LoadSecond, LoadSpec, Next, Plan, Planner, Rotation, Slice, Together, TrialRecord,
    TrialSpec, TrialStage, Turn, WhyFailed,
};

use crate::fakes::{FakeLauncher, MS, cell, conduct_planned, create, draft, load, rotate};

const ROUNDS: u32 = 4;

/// Asks for three launches in one block, that live together: of a, of b, and of a once more.
#[derive(Default)]
struct OneSet {
    taken: BTreeSet<TrialSpec>,
}

fn trials() -> Vec<TrialSpec> {
    let of = |(position, cell, twin)| TrialSpec { block: 1, position, cell, twin };
    [(1, 0, false), (2, 1, false), (3, 0, true)].map(of).to_vec()
}

/// A warm-up of 1.5 s each, and rounds of slices of 200 to 300 ms.
fn turns() -> Vec<Turn> {
    let of = |round: u32, launch: usize| Turn {
        launch,
        round,
        lead_in_ns: if round == 0 { 0 } else { 20 * MS },
        window_ns: if round == 0 { 1_500 * MS } else { 150 * MS + u64::from(round) * 50 * MS },
        seed: u64::from(round),
    };
    (0..=ROUNDS).flat_map(|round| (0..3).map(move |at| of(round, (at + round as usize) % 3))).collect()
}

impl Planner for OneSet {
    fn take(&mut self, trial: &TrialRecord) {
        let TrialRecord { block, position, cell, twin, .. } = *trial;
        self.taken.insert(TrialSpec { block, position, cell, twin });
    }

    fn next(&mut self) -> Next {
        if trials().iter().all(|spec| self.taken.contains(spec)) {
            return Next::Done(Done::Planned { blocks: 1, aside: 0 });
        }
        assert!(self.taken.is_empty(), "all of a set are recorded, or none");
        Next::Rotate(Together { trials: trials(), turns: turns() })
    }

    fn expected_trials(&self) -> usize {
        3
    }
}

fn plan() -> Plan {
    Draft { cells: vec![cell("a", 10), cell("b", 10)], twin: Some(0), ..draft(1) }.resolve().unwrap()
}

/// Carries it out, with this process watched in the place of the targets; gives what was told, too.
fn conduct(runs: &Path, plan: &Plan, launcher: &FakeLauncher) -> (SessionEnd, RunFolder, Vec<Event>) {
    let (mut folder, mut told) = (create(runs, plan), Vec::new());
    let stop = AtomicBool::new(false);
    let end = conduct_stopping(plan, &mut folder, launcher, &stop, &mut |event| told.push(event.clone()));
    (end, folder, told)
}

fn conduct_stopping(
    plan: &Plan,
    folder: &mut RunFolder,
    launcher: &FakeLauncher,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> SessionEnd {
    let mut planner = OneSet::default();
    conduct_planned(&mut planner, plan, folder, (launcher, &load, &rotate), stop, on_event).unwrap()
}

fn watched() -> FakeLauncher {
    FakeLauncher { admin: "127.0.0.1:1".parse().ok(), ..FakeLauncher::default() }
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

#[test]
fn each_target_has_its_turns_and_its_record_is_the_sum_of_its_slices() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(), watched());
    let (end, folder, told) = conduct(runs.path(), &plan, &launcher);
    assert_eq!((end.trials.len(), launcher.alive.get()), (3, [0, 3]), "all were alive at once, and none is now");
    assert_eq!(RunFolder::read(folder.path()).unwrap().trials, end.trials);
    for (launch, trial) in end.trials.iter().enumerate() {
        assert_eq!((trial.failure.as_ref(), trial.time_to_ready_ms), (None, Some(1.0)));
        let (measured, seen) = (trial.measurement.as_ref().unwrap(), trial.observation.as_ref().unwrap());
        let placed: Vec<(u32, u32)> = trial.slices.iter().map(|slice| (slice.round, slice.position)).collect();
        let position = |round: u32| (launch as u32 + 3 - round % 3) % 3 + 1;
        assert_eq!(placed, (0..=ROUNDS).map(|round| (round, position(round))).collect::<Vec<_>>());
        assert!(trial.slices.windows(2).all(|pair| pair[1].at_s > pair[0].at_s + pair[0].length_s));
        let counted = &trial.slices[1..];
        assert_eq!(trial.slices[0].prelude, None, "a warm-up has no need of one");
        let window_s: f64 = counted.iter().map(|slice| slice.window_s).sum();
        assert!(near(measured.window_s, window_s) && near(window_s, 1.1), "{window_s}");
        assert_eq!(measured.in_window.completed, counted.iter().map(|slice| slice.completed).sum::<u64>());
        assert!((measured.requests_per_s() - 1_000.0).abs() < 50.0, "{}", measured.requests_per_s());
        let steps: Vec<_> = measured.steps.iter().filter(|step| step.at_s >= 0.0).collect();
        assert_eq!((steps.len(), seen.seconds.len()), (ROUNDS as usize, ROUNDS as usize));
        for ((step, second), slice) in steps.iter().zip(&seen.seconds).zip(counted) {
            assert!(near(step.at_s, second.at_s) && near(step.length_s, second.length_s), "{step:?}, {second:?}");
            assert!(near(step.length_s, slice.window_s) && step.completed == slice.completed);
            assert!(slice.replies > slice.completed && slice.failed + slice.not_drained == 0, "{slice:?}");
            let prelude = slice.prelude.as_ref().unwrap();
            assert!(prelude.length_s > 0.04 && prelude.replies >= 10 && prelude.cpu_s > 0.0, "{slice:?}");
            let is_last = (slice.round, slice.position) == (ROUNDS, 3);
            assert!(slice.cpu_s > 0.0 && is_last != (slice.idle_cpu_s > 0.0 && slice.idle_s > 0.0), "{slice:?}");
        }
        // Both neighbours are this process, too, looked at a moment before or after, while other tests use it.
        let neighbours_cpu_s: f64 = counted.iter().filter_map(|slice| slice.neighbours_cpu_s).sum();
        assert!(neighbours_cpu_s > 1.2 * seen.cpu_s(), "{neighbours_cpu_s}, {}", seen.cpu_s());
        assert!(seen.by_clock && seen.peak_memory_bytes > 0 && seen.voluntary_switches.is_some());
        assert!((seen.cpu_s() - counted.iter().map(|slice| slice.cpu_s).sum::<f64>()).abs() < 1e-6);
        assert!(told_of(&told, &trial.id).len() > 2 * ROUNDS as usize);
        let rows = std::fs::read_to_string(folder.path().join(format!("samples/{}.csv", trial.id))).unwrap();
        assert!(rows.lines().count() > 15, "a row at each edge: {rows}");
    }
    let begun = told.iter().filter(|event| matches!(event, Event::TrialStarted { .. })).count();
    assert_eq!((begun, launcher.launched.borrow().join(" ")), (3, "a b a".to_owned()));
}

/// The seconds that were told of a trial.
fn told_of<'a>(told: &'a [Event], id: &str) -> Vec<&'a LoadSecond> {
    let second = |event: &'a Event| match event {
        Event::Second { trial, second } if trial == id => Some(second),
        _ => None,
    };
    told.iter().filter_map(second).collect()
}

#[test]
fn seconds_are_told_of_the_trial_that_has_its_turn_in_its_own_time() {
    let runs = tempfile::tempdir().unwrap();
    let (end, folder, told) = conduct(runs.path(), &plan(), &watched());
    for trial in &end.trials {
        let seconds = told_of(&told, &trial.id);
        let completed = |seconds: &[&LoadSecond]| seconds.iter().map(|it| it.interval.completed).sum::<u64>();
        let of_turn = |slice: &Slice| slice.replies + slice.prelude.as_ref().map_or(0, |prelude| prelude.replies);
        assert_eq!(completed(&seconds), trial.slices.iter().map(of_turn).sum::<u64>());
        let (measured, before): (Vec<&LoadSecond>, Vec<&LoadSecond>) = seconds.iter().partition(|it| it.is_measured());
        assert!(before.iter().all(|second| second.interval.at_s <= -1.0) && before[0].interval.at_s == -2.0);
        let woke = model::sum(trial.slices.iter().filter_map(|slice| Some(slice.prelude.as_ref()?.replies)));
        assert!(
            completed(&before) > trial.slices[0].replies - 20 + woke,
            "the warm-up, what woke it, and the lead-ins"
        );
        let at_s: Vec<f64> = measured.iter().filter(|it| !it.drain).map(|it| it.interval.at_s).collect();
        assert!(at_s.iter().zip([0.0, 0.2, 0.45, 0.75]).all(|(at_s, planned)| near(*at_s, planned)), "{at_s:?}");
        let log = std::fs::read_to_string(folder.path().join(format!("histograms/{}.hlog", trial.id))).unwrap();
        let logged = measured.iter().flat_map(|second| &second.histograms);
        assert_eq!(log.matches("Tag=").count(), logged.clone().count());
        assert!(logged.clone().all(|it| log.contains(&format!(",{}\n", it.data))));
    }
}

#[test]
fn what_a_planner_asks_to_go_round_does_and_every_launch_of_it_counts() {
    let runs = tempfile::tempdir().unwrap();
    let rotation = Some(Rotation { slice_ns: 200 * MS, lead_in_ns: 20 * MS, rounds: Some(6) });
    // Time is simulated and CPU is not: in two blocks what wakes a target would be seen to be dear.
    let draft = Draft { cells: vec![cell("a", 10), cell("b", 10)], twin: Some(0), rotation, ..draft(1) };
    let plan = draft.resolve().unwrap();
    let (mut folder, launcher) = (create(runs.path(), &plan), watched());
    let tools = (&launcher, &load as lab::Loader<'_>, &rotate as lab::Rotator<'_>);
    let mut planner = RunPlanner::new(&plan);
    let end = conduct_planned(&mut planner, &plan, &mut folder, tools, &AtomicBool::new(false), &mut |_| ()).unwrap();
    assert_eq!((end.trials.len(), launcher.alive.get()), (3, [0, 3]));
    for trial in &end.trials {
        let rounds: Vec<u32> = trial.slices.iter().map(|slice| slice.round).collect();
        assert_eq!(rounds, [0, 0, 1, 2, 3, 4, 5, 6], "warmed up, and once more when all are");
        let judgement = judge::check_trial(&plan.cells[trial.cell], None, trial);
        assert!(judgement.is_valid(), "{:?}", judgement.void);
        assert!(judgement.checks.iter().any(|check| check.invariant == Invariant::Slices && check.holds));
    }
}

#[test]
fn a_plan_of_schema_2_has_its_own_number_of_rounds_and_its_record_lacks_nothing() {
    let runs = tempfile::tempdir().unwrap();
    let rotation = Some(Rotation { slice_ns: 200 * MS, lead_in_ns: 20 * MS, rounds: Some(6) });
    let plan = Draft { cells: vec![cell("a", 10), cell("b", 10)], rotation, ..draft(1) }.resolve().unwrap();
    let (mut folder, launcher) = (create(runs.path(), &plan), watched());
    let tools = (&launcher, &load as lab::Loader<'_>, &rotate as lab::Rotator<'_>);
    let mut planner = RunPlanner::new(&plan);
    conduct_planned(&mut planner, &plan, &mut folder, tools, &AtomicBool::new(false), &mut |_| ()).unwrap();
    let path = folder.path().to_owned();
    drop(folder);
    let text = std::fs::read_to_string(path.join("plan.toml")).unwrap();
    assert!(text.contains("\nrounds = 6\n"), "{text}");
    std::fs::write(path.join("plan.toml"), text.replace("bourdon.plan/3", "bourdon.plan/2")).unwrap();
    let record = RunFolder::read(&path).unwrap();
    assert_eq!((record.plan.rotation, record.trials.len()), (rotation, 2));
    let mut planner = RunPlanner::new(&record.plan);
    record.trials.iter().for_each(|trial| planner.take(trial));
    assert!(matches!(planner.next(), Next::Done(_)));
    let of_windows = plan.with(|draft| draft.rotation = rotation.map(|it| Rotation { rounds: None, ..it })).unwrap();
    let today = create(runs.path(), &of_windows);
    let text = std::fs::read_to_string(today.path().join("plan.toml")).unwrap();
    assert!(text.contains("[rotation]") && !text.contains("rounds"), "{text}");
    assert_eq!(RunFolder::read(today.path()).unwrap().plan, of_windows);
}

#[test]
fn a_load_with_a_network_delay_is_refused_before_anything_is_launched() {
    let runs = tempfile::tempdir().unwrap();
    let mut draft = Draft { cells: vec![cell("a", 10), cell("b", 10)], ..draft(1) };
    draft.cells[1].load.network_delay_ns = MS;
    let (plan, launcher, mut planner) = (draft.resolve().unwrap(), watched(), OneSet::default());
    let mut folder = create(runs.path(), &plan);
    let tools = (&launcher, &load as lab::Loader<'_>, &rotate as lab::Rotator<'_>);
    let end = conduct_planned(&mut planner, &plan, &mut folder, tools, &AtomicBool::new(false), &mut |_| ());
    let said = end.map(|_| ()).unwrap_err().to_string();
    assert_eq!(said, "b cannot be launched: a load with a network delay cannot rotate");
    assert!(launcher.launched.borrow().is_empty());
}

#[test]
fn a_target_that_dies_is_recorded_with_what_was_measured_and_the_others_take_their_turns() {
    let runs = tempfile::tempdir().unwrap();
    // It is asked after the first look, and after each slice: it is gone after the second of the round that follows the warm-up.
    for (is_bereft, stage) in [(false, TrialStage::Died), (true, TrialStage::Unguarded)] {
        let launcher = FakeLauncher { dies: Some("b"), found_alive: 1 + 3 + 3 + 1, is_bereft, ..watched() };
        let (end, _, told) = conduct(runs.path(), &plan(), &launcher);
        let [a, b, twin] = &end.trials[..] else { panic!("{:?}", end.trials) };
        for well in [a, twin] {
            assert_eq!((well.failure.as_ref(), well.slices.len()), (None, 1 + ROUNDS as usize));
        }
        let failure = b.failure.as_ref().unwrap();
        assert_eq!(failure.stage, stage);
        let WhyFailed::Ended(end) = &failure.why else { panic!("{failure:?}") };
        assert_eq!(end.how.is_unguarded(), is_bereft);
        assert_eq!(b.measurement.is_some(), !is_bereft, "what was taken away says nothing");
        assert_eq!(b.slices.is_empty(), is_bereft);
        if let Some(measured) = &b.measurement {
            assert!((2..=3).contains(&b.slices.len()) && measured.window_s < 1.0, "{:?}", b.slices);
        }
        assert_eq!(launcher.alive.get(), [0, 3]);
        assert!(!told_of(&told, &b.id).is_empty());
    }
}

#[test]
fn a_target_that_does_not_start_is_recorded_and_the_others_take_their_turns() {
    let runs = tempfile::tempdir().unwrap();
    let (end, ..) =
        conduct(runs.path(), &plan(), &FakeLauncher { never_ready: Some("b"), keep_going: true, ..watched() });
    let slices: Vec<usize> = end.trials.iter().map(|trial| trial.slices.len()).collect();
    assert_eq!(slices, [1 + ROUNDS as usize, 0, 1 + ROUNDS as usize]);
    assert_eq!(end.trials[1].failure.as_ref().unwrap().stage, TrialStage::Ready);
    let launcher = FakeLauncher { never_ready: Some("a"), ..watched() };
    let (end, ..) = conduct(runs.path(), &plan(), &launcher);
    assert_eq!(end.unstarted.unwrap().target, "a");
    assert_eq!(launcher.launched.borrow().join(" "), "a b", "its twin would not start either");
    let stages: Vec<Option<TrialStage>> =
        end.trials.iter().map(|trial| trial.failure.as_ref().map(|failure| failure.stage)).collect();
    assert_eq!(stages, [Some(TrialStage::Ready), None, Some(TrialStage::NotTried)]);
}

#[test]
fn what_is_stopped_before_its_last_slice_is_whole_is_not_recorded() {
    let runs = tempfile::tempdir().unwrap();
    for after in [1, 12, 25] {
        let (mut folder, launcher, stop) = (create(runs.path(), &plan()), watched(), AtomicBool::new(false));
        let mut seconds = 0;
        let end = conduct_stopping(&plan(), &mut folder, &launcher, &stop, &mut |event| {
            seconds += u32::from(matches!(event, Event::Second { .. }));
            stop.store(seconds >= after, Ordering::Relaxed);
        });
        assert_eq!((end.interrupted, end.trials.len(), launcher.alive.get()), (true, 0, [0, 3]), "after {after}");
        stop.store(false, Ordering::Relaxed);
        let end = conduct_stopping(&plan(), &mut folder, &launcher, &stop, &mut |_| ());
        assert_eq!((end.interrupted, end.trials.len()), (false, 3));
    }
}

#[test]
fn what_was_whole_when_somebody_asked_for_the_end_is_kept() {
    let runs = tempfile::tempdir().unwrap();
    let (mut folder, launcher, stop) = (create(runs.path(), &plan()), watched(), AtomicBool::new(false));
    let late = |loads: &[LoadSpec],
                options: RunOptions,
                stop: &AtomicBool,
                next: &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
                progress: &mut dyn FnMut(&Passed)| {
        let outputs = rotate(loads, options, stop, next, progress);
        stop.store(true, Ordering::Relaxed);
        outputs
    };
    let mut planner = OneSet::default();
    let plan = plan();
    let tools = (&launcher, &load as lab::Loader<'_>, &late as lab::Rotator<'_>);
    let end = conduct_planned(&mut planner, &plan, &mut folder, tools, &stop, &mut |_| ()).unwrap();
    assert_eq!((stop.load(Ordering::Relaxed), end.trials.len()), (true, 3));
}

/// Tells of one more garbage collection each time it is asked.
fn collecting() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (count, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            let (mut stream, body) = (stream, format!("go_gc_duration_seconds_count {count}\n"));
            let _ = stream.read(&mut [0; 1024]);
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all([head, body].concat().as_bytes());
        }
    });
    address
}

#[test]
fn a_runtime_is_asked_before_and_after_each_slice() {
    let runs = tempfile::tempdir().unwrap();
    let mut draft = Draft { cells: vec![cell("a", 10), cell("b", 10)], ..draft(1) };
    draft.targets[1].launch.metrics = Some("/metrics".into());
    let launcher = FakeLauncher { admin: Some(collecting()), ..FakeLauncher::default() };
    let (end, ..) = conduct(runs.path(), &draft.resolve().unwrap(), &launcher);
    let counts = |trial: &TrialRecord| trial.slices.iter().map(|it| (it.own_gc_count, it.gc_count)).collect::<Vec<_>>();
    assert_eq!(counts(&end.trials[0]), [(None, None); 1 + ROUNDS as usize], "it tells nothing");
    assert_eq!(counts(&end.trials[1]), [(Some(1.0), Some(2.0)); 1 + ROUNDS as usize]);
    let runtime = end.trials[1].observation.as_ref().unwrap().runtime.unwrap();
    assert_eq!((runtime.looks, runtime.gc_count), (2 * ROUNDS, Some(f64::from(2 * ROUNDS))));
}

type Damage = fn(&mut model::Slice);

#[test]
fn a_slice_with_a_figure_that_nobody_can_have_measured_is_refused_by_its_name() {
    let runs = tempfile::tempdir().unwrap();
    let (end, ..) = conduct(runs.path(), &plan(), &watched());
    let whole = &end.trials[0];
    assert_eq!(whole.fault(), None);
    let damages: [(Damage, &str); 8] = [
        (|slice| slice.length_s = -1.0, "`slices[2].length_s` is -1: "),
        (|slice| slice.cpu_s = -0.5, "`slices[2].cpu_s` is -0.5: an amount of time is not negative"),
        (|slice| slice.cpu_s = 1e6, "`slices[2].cpu_s` is 1000000: it is more than 8,192 CPUs have in that time"),
        (|slice| slice.idle_cpu_s = f64::NAN, "`slices[2].idle_cpu_s` is NaN: "),
        (|slice| slice.others_share = 2.0, "`slices[2].others_share` is 2: a share is from 0 to 1"),
        (|slice| slice.ok = slice.completed + 1, "`slices[2].ok` is "),
        (|slice| slice.halves = Some(Default::default()), "`slices[2].halves` have 0 replies: "),
        (|slice| slice.p99_us = Some(0.0), "quantiles ascend"),
    ];
    for (damage, said) in damages {
        let mut damaged = whole.clone();
        damage(&mut damaged.slices[2]);
        let fault = damaged.fault().unwrap_or_default();
        assert!(fault.contains(said), "{fault}");
    }
}
