//! What targets do once their loads are over.

use std::sync::atomic::{AtomicBool, Ordering};

use judge::RunPlanner;
use lab::{Prepared, RunFolder, Session, TrialTools};
use model::{ComparePlan, Draft, Event, Plan, Rest, Rotation, Slice, TrialRecord};

use crate::fakes::{FakeLauncher, MS, cell, conduct, conduct_telling, create, draft, load, rotate};

/// Two targets that are compared, each watched so for 60 ms, in two blocks.
fn compared(change: impl FnOnce(&mut Draft)) -> Plan {
    let both = ComparePlan { old: "a".into(), new: "b".into(), rest_ns: 60 * MS, ..ComparePlan::default() };
    let mut draft = Draft { comparison: Some(both), cells: vec![cell("a", 10), cell("b", 10)], ..draft(2) };
    change(&mut draft);
    draft.resolve().unwrap()
}

/// A launcher whose targets somebody can look at: this process stands in their place.
fn watched() -> FakeLauncher {
    FakeLauncher { admin: Some("127.0.0.1:1".parse().unwrap()), ..FakeLauncher::default() }
}

fn rest(trial: &TrialRecord) -> Option<&Rest> {
    trial.observation.as_ref()?.rest.as_ref()
}

/// Block and cell of those that were watched.
fn rested(trials: &[TrialRecord]) -> Vec<(u32, usize)> {
    let mut rested: Vec<(u32, usize)> =
        trials.iter().filter(|trial| rest(trial).is_some()).map(|trial| (trial.block, trial.cell)).collect();
    rested.sort_unstable();
    rested
}

#[test]
fn each_target_of_a_comparison_is_watched_after_its_first_load_and_no_other() {
    let runs = tempfile::tempdir().unwrap();
    let plan = compared(|_| ());
    let end = conduct(&plan, &mut create(runs.path(), &plan), &watched(), None);
    assert_eq!((end.trials.len(), rested(&end.trials)), (4, vec![(1, 0), (1, 1)]));
    let whole = end.trials.iter().filter_map(rest).filter(|rest| rest.is_whole(0.06)).count();
    assert_eq!(whole, 2, "{:?}", end.trials);
}

#[test]
fn those_that_rotate_are_watched_after_the_last_slice_and_again_once_they_are_alone() {
    let runs = tempfile::tempdir().unwrap();
    let rotation = Some(Rotation { slice_ns: 200 * MS, lead_in_ns: 20 * MS, rounds: Some(6) });
    let plan = compared(|draft| draft.rotation = rotation);
    // Time is simulated and CPU is not: in two blocks what wakes a target is seen to be dear.
    let end = conduct(&plan, &mut create(runs.path(), &plan), &watched(), None);
    let (sliced, alone): (Vec<TrialRecord>, Vec<TrialRecord>) =
        end.trials.into_iter().partition(|trial| !trial.slices.is_empty());
    assert_eq!((sliced.len(), rested(&sliced)), (4, vec![(1, 0), (1, 1)]));
    assert_eq!((alone.len(), rested(&alone)), (4, vec![(1, 0), (1, 1)]));
    assert!(sliced.iter().filter_map(rest).all(|rest| rest.is_whole(0.06)), "{sliced:?}");
}

#[test]
fn a_trial_whose_target_was_not_left_alone_to_the_end_is_made_again() {
    for (rest_ns, kept) in [(60 * MS, 0), (0, 1)] {
        let runs = tempfile::tempdir().unwrap();
        let plan = compared(|draft| draft.comparison.as_mut().unwrap().rest_ns = rest_ns);
        let (mut folder, launcher, stop) = (create(runs.path(), &plan), watched(), AtomicBool::new(false));
        let on_event = &mut |event: &Event| {
            stop.fetch_or(matches!(event, Event::Second { .. }), Ordering::Relaxed);
        };
        let end = conduct_telling(&plan, &mut folder, (&launcher, &load), &stop, on_event).unwrap();
        assert!(end.interrupted);
        assert_eq!(RunFolder::read(folder.path()).unwrap().trials.len(), kept);
    }
}

#[test]
fn each_rung_of_a_ladder_is_watched_after_its_own_load() {
    let runs = tempfile::tempdir().unwrap();
    let plan = compared(|draft| {
        draft.ladder = Some("connections".into());
        draft.cells = ["a", "b"].into_iter().flat_map(|name| [cell(name, 10), cell(name, 20)]).collect();
    });
    let end = conduct(&plan, &mut create(runs.path(), &plan), &watched(), None);
    assert_eq!(rested(&end.trials), [(1, 0), (1, 1), (1, 2), (1, 3)], "{:?}", end.trials.len());
}

#[test]
fn who_did_not_outlive_its_load_is_not_watched() {
    let runs = tempfile::tempdir().unwrap();
    let plan = compared(|_| ());
    let mut folder = create(runs.path(), &plan);
    // Found alive once: before its load.
    let dying = FakeLauncher { dies: Some("b"), found_alive: 1, ..watched() };
    let end = conduct(&plan, &mut folder, &dying, None);
    let died = end.trials.iter().filter(|trial| trial.cell == 1 && trial.failure.is_some()).count();
    assert_eq!((died, rested(&end.trials)), (2, vec![(1, 0)]), "nobody watches the dead");
}

/// Who is watched in the second block after this was made of what the first one recorded; and the cell of its first trial.
fn watched_again(change: impl FnOnce(&mut [TrialRecord])) -> (Vec<(u32, usize)>, usize) {
    let runs = tempfile::tempdir().unwrap();
    let plan = compared(|_| ());
    let mut folder = create(runs.path(), &plan);
    let mut done = conduct(&plan, &mut folder, &watched(), Some(2)).trials;
    assert_eq!(rested(&done), [(1, 0), (1, 1)]);
    change(&mut done);
    let (first, before) = (done[0].cell, done.len());
    let (launcher, prepared) = (watched(), Prepared::default());
    let tools =
        TrialTools { launcher: &launcher, load: &load, rotate: &rotate, prepared: &prepared, perf: &launcher.perf };
    let session = Session { plan: plan.clone(), folder: &mut folder, done, tools, keep_going: false };
    let end = session.run(&mut RunPlanner::new(&plan), &AtomicBool::new(false), &mut |_| ()).unwrap();
    (rested(&end.trials[before..]), first)
}

#[test]
fn who_was_not_watched_to_the_end_is_watched_again() {
    let (again, unwatched) = watched_again(|done| {
        done[0].observation.as_mut().unwrap().rest.as_mut().unwrap().steps.clear();
        done[1].observation.as_mut().unwrap().rest.as_mut().unwrap().ended = true;
    });
    assert_eq!(again, [(2, unwatched)], "and who ended is not");
}

#[test]
fn who_was_watched_after_slices_is_watched_again_alone() {
    let (again, sliced) = watched_again(|done| done[0].slices = vec![Slice::default()]);
    assert_eq!(again, [(2, sliced)]);
}
