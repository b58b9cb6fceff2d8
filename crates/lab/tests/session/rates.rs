//! Rates that are a share of what a closed load gets.

use lab::{Follower, RunFolder};
use model::{Arrivals, Done, Draft, Event, Level, LoadModel, NotServed, Plan, TrialRecord};

use crate::fakes::{DEAD, FakeLauncher, conduct, create, draft, not_ready};

/// Both cells on 10 connections asked at half of what a closed load gets: 1,000 a second, for a reply takes 10 ms.
fn at_half() -> Draft {
    let mut draft = draft(1);
    for cell in &mut draft.cells[..2] {
        cell.rate_share = Some(0.5);
        cell.rate_arrivals = Some(Arrivals::Poisson);
        cell.levels.0.insert("rate".to_owned(), Level::Text("50% of closed".to_owned()));
    }
    draft
}

fn blocks(trials: &[TrialRecord]) -> Vec<u32> {
    trials.iter().map(|trial| trial.block).collect()
}

/// What a run without an interruption comes to.
fn whole(plan: &Plan) -> Plan {
    let runs = tempfile::tempdir().unwrap();
    conduct(plan, &mut create(runs.path(), plan), &FakeLauncher::default(), None).plan
}

#[test]
fn a_rate_that_is_a_share_is_that_of_the_slowest_and_is_recorded_when_it_is_measured() {
    let (runs, launcher, asked) = (tempfile::tempdir().unwrap(), FakeLauncher::default(), at_half().resolve().unwrap());
    let mut folder = create(runs.path(), &asked);
    let end = conduct(&asked, &mut folder, &launcher, None);
    assert_eq!(launcher.launched.borrow()[..2], ["a", "b"], "no cell with a rate of its own");
    assert_eq!(blocks(&end.trials), [0, 0, 1, 1, 1, 1]);
    let settled = &end.plan.relative_rates[0];
    assert_eq!(settled.closed_per_s.keys().collect::<Vec<_>>(), ["a", "b"]);
    let least = settled.closed_per_s.values().copied().fold(f64::INFINITY, f64::min);
    assert!((900.0..=1000.0).contains(&least), "{settled:?}");
    assert!(settled.rate_per_s <= least / 2.0 && settled.rate_per_s > least / 2.0 - 10.0, "{settled:?}");
    let rates: Vec<LoadModel> = end.plan.cells.iter().map(|cell| cell.load.model).collect();
    let open = LoadModel::Open { rate_per_s: settled.rate_per_s, arrivals: Arrivals::Poisson };
    assert_eq!(rates, [open, open, LoadModel::Closed, LoadModel::Closed]);
    let read = RunFolder::read(folder.path()).unwrap();
    assert_eq!((&read.plan, &read.trials), (&end.plan, &end.trials));
    let seen = judge::analyse(&read.plan, &read.environment, &read.trials);
    assert_eq!((seen.blocks, seen.trials.total, seen.cells.len()), (1, 4, 4), "what came before is in no table");
    assert_eq!(seen.relative_rates, read.plan.relative_rates);
}

#[test]
fn a_run_that_was_stopped_while_rates_were_measured_goes_on_in_the_middle_of_it() {
    let (asked, launcher) = (at_half().resolve().unwrap(), FakeLauncher::default());
    for stop_after in [1, 2, 3] {
        let runs = tempfile::tempdir().unwrap();
        let mut folder = create(runs.path(), &asked);
        assert!(conduct(&asked, &mut folder, &launcher, Some(stop_after)).interrupted);
        let path = folder.path().to_owned();
        drop(folder);
        // What a kill left half written of an addition is none.
        let additions = path.join("additions.jsonl");
        let torn = std::fs::read_to_string(&additions).unwrap() + "{\"schema\":\"bour";
        std::fs::write(&additions, torn).unwrap();
        launcher.launched.borrow_mut().clear();
        let (mut folder, record) = RunFolder::resume(&path).unwrap();
        let end = conduct(&record.plan, &mut folder, &launcher, None);
        assert_eq!(blocks(&end.trials), [0, 0, 1, 1, 1, 1]);
        assert_eq!(launcher.launched.borrow().len(), 6 - stop_after, "nothing is measured twice");
        assert_eq!(end.plan, whole(&asked));
        assert_eq!(RunFolder::read(&path).unwrap().plan, end.plan);
    }
}

#[test]
fn a_rate_stays_when_the_plan_is_written_anew() {
    let (runs, asked) = (tempfile::tempdir().unwrap(), at_half().resolve().unwrap());
    let mut folder = create(runs.path(), &asked);
    let end = conduct(&asked, &mut folder, &FakeLauncher::default(), None);
    folder.replace_plan(&end.plan).unwrap();
    assert_eq!(RunFolder::read(folder.path()).unwrap().plan, end.plan);
}

#[test]
fn no_rate_is_settled_while_a_target_is_missing_and_resuming_measures_that_one() {
    let missing = [(not_ready(), Some("a"), None), (DEAD.into(), None, Some("a"))];
    for (why, never_ready, dies) in missing {
        let (runs, plan) = (tempfile::tempdir().unwrap(), at_half().resolve().unwrap());
        let mut folder = create(runs.path(), &plan);
        let broken = FakeLauncher { never_ready, dies, ..FakeLauncher::default() };
        let end = conduct(&plan, &mut folder, &broken, None);
        assert_eq!((blocks(&end.trials), end.plan.relative_rates.len()), (vec![0, 0], 0), "{why:?}");
        let unstarted = end.unstarted.unwrap();
        assert!(unstarted.target == "a" && unstarted.why == why, "{unstarted:?}");
        assert_eq!(unstarted.started, dies.is_some());

        let (path, mended) = (folder.path().to_owned(), FakeLauncher::default());
        drop(folder);
        let (mut folder, record) = RunFolder::resume(&path).unwrap();
        let end = conduct(&record.plan, &mut folder, &mended, None);
        assert_eq!(mended.launched.borrow()[..1], ["a"], "{why:?}: what b served is known");
        assert_eq!((mended.launched.borrow().len(), end.unstarted), (5, None), "{why:?}");
        assert_eq!(end.plan, whole(&plan), "{why:?}");
    }
}

#[test]
fn who_keeps_going_settles_a_rate_without_the_target_that_is_missing_and_it_is_said() {
    let missing = [(not_ready(), Some("a"), None), (DEAD.into(), None, Some("a"))];
    for (why, never_ready, dies) in missing {
        let (runs, plan) = (tempfile::tempdir().unwrap(), at_half().resolve().unwrap());
        let launcher = FakeLauncher { never_ready, dies, keep_going: true, ..FakeLauncher::default() };
        let end = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
        let settled = &end.plan.relative_rates[0];
        assert_eq!(settled.closed_per_s.keys().collect::<Vec<_>>(), ["b"]);
        let NotServed::Seen(seen) = &settled.without["a"] else { panic!("{settled:?}") };
        assert_eq!(seen.why, why.into());
        assert_eq!((end.unstarted, blocks(&end.trials).last()), (None, Some(&1)));
    }
}

#[test]
fn where_no_target_is_ready_there_is_no_rate() {
    for keep_going in [false, true] {
        let launcher = FakeLauncher { never_ready: Some("a"), keep_going, ..FakeLauncher::default() };
        let mut alone = at_half();
        alone.cells.retain(|cell| cell.levels.target() == "a");
        let (runs, plan) = (tempfile::tempdir().unwrap(), alone.resolve().unwrap());
        let end = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
        assert_eq!((blocks(&end.trials), end.plan.relative_rates.len()), (vec![0], 0));
        assert_eq!(end.unstarted.map(|unstarted| unstarted.why), Some(not_ready()));
    }
}

#[test]
fn a_record_of_the_first_schemas_has_words_for_ids_and_reasons_and_is_read_and_resumed() {
    let (runs, asked) = (tempfile::tempdir().unwrap(), at_half().resolve().unwrap());
    let mut folder = create(runs.path(), &asked);
    let end = conduct(&asked, &mut folder, &FakeLauncher::default(), None);
    let path = folder.path().to_owned();
    drop(folder);
    let change = |file: &str, changes: &[(&str, &str)]| {
        let mut text = std::fs::read_to_string(path.join(file)).unwrap();
        for (now, before) in changes {
            assert!(text.contains(now), "{file}: {now}");
            text = text.replace(now, before);
        }
        std::fs::write(path.join(file), text).unwrap();
    };
    let why = ("\"why\":\"rate\"", "\"why\":\"what it serves in a closed load\"");
    let without = "\"closed_per_s\":{";
    let unknown = (without, "\"without\":{\"c\":\"it did not start\"},\"closed_per_s\":{");
    change("plan.toml", &[("bourdon.plan/3", "bourdon.plan/1")]);
    change("additions.jsonl", &[("bourdon.addition/2", "bourdon.addition/1"), why, unknown]);
    let planned = ("{\"planned\":{\"blocks\":1}}", "\"1 block, as planned\"");
    change("events.jsonl", &[("bourdon.event/2", "bourdon.event/1"), why, planned]);

    let read = RunFolder::read(&path).unwrap();
    assert_eq!((&read.plan.schema, &read.trials), (&end.plan.schema, &end.trials));
    let said = |text: &str| NotServed::Said(text.to_owned());
    assert_eq!(read.plan.relative_rates[0].without["c"], said("it did not start"));
    let mut follower = Follower::open(&path).unwrap();
    let last = follower.read_on().unwrap().pop().unwrap().event;
    let reason = Done::Said("1 block, as planned".to_owned());
    assert_eq!((last, follower.unknown()), (Event::Finished { reason }, 0));

    let (mut folder, record) = RunFolder::resume(&path).unwrap();
    folder.replace_plan(&record.plan).unwrap();
    assert!(std::fs::read_to_string(path.join("plan.toml")).unwrap().contains("\"bourdon.plan/3\""));
    assert_eq!(RunFolder::read(&path).unwrap(), record);
}
