//! The experiment loop, whole, with a fake launcher and a simulated load: a run in milliseconds.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod events;
mod fakes;
mod profiles;
mod rates;
mod records;
mod rests;
mod rotation;
mod unstarted;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Passed, RunOptions};
use judge::RunPlanner;
use lab::{Prepared, RunFolder, Session, TrialTools};
use model::{Draft, Extent, LoadSpec};

use fakes::{FakeLauncher, MS, cell, conduct, conduct_telling, create, draft, load, order, plan, rotate};

#[test]
fn every_cell_is_launched_once_in_each_block_in_an_order_of_the_seed() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(6), FakeLauncher::default());
    let end = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
    assert!(!end.interrupted);
    assert_eq!(launcher.launched.borrow().len(), 24, "one launch a trial");
    for block in 1..=6 {
        let mut cells: Vec<usize> =
            end.trials.iter().filter(|trial| trial.block == block).map(|trial| trial.cell).collect();
        cells.sort_unstable();
        assert_eq!(cells, [0, 1, 2, 3]);
    }
    let again = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
    assert_eq!(order(&end), order(&again), "same seed, same order");
    let other = plan.with(|draft| draft.seed = 43).unwrap();
    let differs = conduct(&other, &mut create(runs.path(), &other), &launcher, None);
    assert_ne!(order(&end), order(&differs));
}

#[test]
fn a_twin_is_a_launch_of_its_own_with_files_of_its_own() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (Draft { twin: Some(1), ..draft(2) }.resolve().unwrap(), FakeLauncher::default());
    let mut folder = create(runs.path(), &plan);
    let end = conduct(&plan, &mut folder, &launcher, Some(7));
    assert_eq!(RunFolder::read(folder.path()).unwrap().plan, plan);
    let end = if end.interrupted { conduct(&plan, &mut folder, &launcher, None) } else { end };
    let twins: Vec<&model::TrialRecord> = end.trials.iter().filter(|trial| trial.twin).collect();
    assert_eq!((end.trials.len(), twins.len()), (10, 2));
    assert!(twins.iter().all(|twin| twin.cell == 1 && twin.levels == plan.cells[1].levels));
    for id in ["b01-c02", "b01-c02-twin", "b02-c02-twin"] {
        assert!(folder.path().join(format!("histograms/{id}.hlog")).is_file(), "{id}");
    }
    assert_eq!(RunFolder::read(folder.path()).unwrap().trials, end.trials);
}

#[test]
fn a_plan_that_knows_no_twin_and_no_repeats_is_read_as_one_without() {
    let runs = tempfile::tempdir().unwrap();
    let plan = Draft { repeats: 2, ..draft(1) }.resolve().unwrap();
    let path = create(runs.path(), &plan).path().to_owned();
    let text = std::fs::read_to_string(path.join("plan.toml")).unwrap();
    let old: String =
        text.lines().filter(|line| !line.starts_with("repeats")).map(|line| format!("{line}\n")).collect();
    assert_ne!(old, text);
    std::fs::write(path.join("plan.toml"), old).unwrap();
    assert_eq!(RunFolder::read(&path).unwrap().plan, draft(1).resolve().unwrap());
}

#[test]
fn a_run_that_was_stopped_goes_on_where_it_was() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(6), FakeLauncher::default());
    let whole = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
    for stop_after in [1, 5, 23] {
        let mut folder = create(runs.path(), &plan);
        let stopped = conduct(&plan, &mut folder, &launcher, Some(stop_after));
        assert_eq!((stopped.interrupted, stopped.trials.len()), (true, stop_after));
        let path = folder.path().to_owned();
        drop(folder);
        let (mut folder, record) = RunFolder::resume(&path).unwrap();
        assert_eq!(record.plan, plan);
        let resumed = conduct(&record.plan, &mut folder, &launcher, None);
        assert_eq!(order(&resumed), order(&whole));
    }
}

/// As a signal in the time that a target takes to end, or in which the last replies come.
#[test]
fn a_trial_whose_window_is_whole_is_kept_whoever_asks_for_the_end_then() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, launcher) = (plan(2), FakeLauncher::default());
    for (window_ns, kept) in [(1000 * MS, 1), (999 * MS, 0)] {
        let (mut folder, stop) = (create(runs.path(), &plan), AtomicBool::new(false));
        let stopped = |spec: &LoadSpec, options: RunOptions, stop: &AtomicBool, progress: &mut dyn FnMut(&Passed)| {
            let spec = spec.clone().with(|spec| spec.load.extent = Extent::Window(window_ns));
            let mut output = load(&spec, options, stop, progress)?;
            stop.store(true, Ordering::Relaxed);
            output.measurement.interrupted = kept == 0;
            Ok(output)
        };
        let end = conduct_telling(&plan, &mut folder, (&launcher, &stopped), &stop, &mut |_| ()).unwrap();
        assert_eq!((end.interrupted, end.trials.len()), (true, kept), "and no other is begun");
        assert!(end.trials.iter().all(|trial| !trial.measurement.as_ref().unwrap().interrupted));
        assert_eq!(RunFolder::read(folder.path()).unwrap().trials, end.trials);
    }
    let ladder = Draft { ladder: Some("connections".into()), ..draft(1) }.resolve().unwrap();
    let (mut folder, stop) = (create(runs.path(), &ladder), AtomicBool::new(false));
    let stopped = |spec: &LoadSpec, options: RunOptions, stop: &AtomicBool, progress: &mut dyn FnMut(&Passed)| {
        let output = load(spec, options, stop, progress);
        stop.store(true, Ordering::Relaxed);
        output
    };
    let end = conduct_telling(&ladder, &mut folder, (&launcher, &stopped), &stop, &mut |_| ()).unwrap();
    assert_eq!((end.interrupted, end.trials.len()), (true, 0), "a ladder is kept as a whole");
}

#[test]
fn a_network_delay_stands_between_load_and_target() {
    let runs = tempfile::tempdir().unwrap();
    let mut draft = Draft { cells: vec![cell("a", 10), cell("b", 10)], ..draft(1) };
    draft.cells[1].load.network_delay_ns = 10 * MS;
    let plan = draft.resolve().unwrap();
    let went_to = RefCell::new(Vec::new());
    let load = |spec: &LoadSpec, options: RunOptions, stop: &AtomicBool, progress: &mut dyn FnMut(&Passed)| {
        went_to.borrow_mut().push((spec.mix.first().request.host.clone(), spec.address.to_string()));
        load(spec, options, stop, progress)
    };
    let (launcher, prepared) = (FakeLauncher::default(), Prepared::default());
    let tools =
        TrialTools { launcher: &launcher, load: &load, rotate: &rotate, prepared: &prepared, perf: &launcher.perf };
    let mut folder = create(runs.path(), &plan);
    let session = Session { plan: plan.clone(), folder: &mut folder, done: vec![], tools, keep_going: false };
    let end = session.run(&mut RunPlanner::new(&plan), &AtomicBool::new(false), &mut |_| ()).unwrap();
    assert_eq!((end.trials.len(), went_to.borrow().len()), (2, 2));
    for (trial, (host, address)) in end.trials.iter().zip(went_to.into_inner()) {
        let delayed = trial.cell == 1;
        assert_eq!(host, "127.0.0.1:1", "the target is asked under its own name");
        assert_eq!(address != host, delayed, "{address}");
        assert_eq!(trial.measurement.as_ref().unwrap().generator.network_delay.is_some(), delayed);
    }
}

#[test]
fn what_is_drawn_of_a_load_is_the_same_within_a_block_and_another_in_the_next() {
    let runs = tempfile::tempdir().unwrap();
    let plan = Draft { cells: vec![cell("a", 10), cell("b", 10)], ..draft(2) }.resolve().unwrap();
    let seeds = RefCell::new(Vec::new());
    let load = |spec: &LoadSpec, options: RunOptions, stop: &AtomicBool, progress: &mut dyn FnMut(&Passed)| {
        seeds.borrow_mut().push(spec.seed);
        load(spec, options, stop, progress)
    };
    let (launcher, prepared) = (FakeLauncher::default(), Prepared::default());
    let tools =
        TrialTools { launcher: &launcher, load: &load, rotate: &rotate, prepared: &prepared, perf: &launcher.perf };
    let mut folder = create(runs.path(), &plan);
    let session = Session { plan: plan.clone(), folder: &mut folder, done: vec![], tools, keep_going: false };
    session.run(&mut RunPlanner::new(&plan), &AtomicBool::new(false), &mut |_| ()).unwrap();
    let seeds = seeds.into_inner();
    assert_eq!(seeds.len(), 4);
    assert!(seeds[0] == seeds[1] && seeds[2] == seeds[3] && seeds[0] != seeds[2], "{seeds:?}");
}
