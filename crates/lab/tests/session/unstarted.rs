//! Targets that do not start.

use lab::{RunFolder, Unstarted};
use model::{ComparePlan, Draft};

use crate::fakes::{FakeLauncher, conduct, create, draft, not_ready, plan};

fn without_b(keep_going: bool) -> FakeLauncher {
    FakeLauncher { never_ready: Some("b"), keep_going, ..FakeLauncher::default() }
}

#[test]
fn a_target_that_never_gets_ready_is_tried_once_and_ends_the_run_with_its_first_block() {
    let runs = tempfile::tempdir().unwrap();
    for (keep_going, trials) in [(false, 4), (true, 8)] {
        let (plan, launcher) = (plan(2), without_b(keep_going));
        let end = conduct(&plan, &mut create(runs.path(), &plan), &launcher, None);
        let failed: Vec<_> = end.trials.iter().filter_map(|trial| trial.failure.as_ref()).collect();
        assert_eq!((end.trials.len(), failed.len()), (trials, trials / 2));
        assert_eq!(failed[0].output, "no such file");
        assert_eq!(launcher.launched.borrow().iter().filter(|name| *name == "b").count(), 1);
        let unstarted = Unstarted { target: "b".into(), why: not_ready(), started: false };
        assert_eq!(end.unstarted, (!keep_going).then_some(unstarted));
    }
}

#[test]
fn a_run_that_ended_without_a_target_is_resumed_in_the_same_blocks() {
    let runs = tempfile::tempdir().unwrap();
    let (plan, mended) = (plan(2), FakeLauncher::default());
    let whole = conduct(&plan, &mut create(runs.path(), &plan), &mended, None);
    let mut folder = create(runs.path(), &plan);
    conduct(&plan, &mut folder, &without_b(false), None);
    let still = conduct(&plan, &mut folder, &without_b(false), None);
    assert!(still.unstarted.is_some(), "it is tried again, and stopped again");
    assert_eq!(still.trials.iter().map(|trial| trial.block).max(), Some(1));
    mended.launched.borrow_mut().clear();
    let end = conduct(&plan, &mut folder, &mended, None);
    assert_eq!(mended.launched.borrow().len(), 6, "b in the first block, all in the second");
    let read = RunFolder::read(folder.path()).unwrap();
    assert!(read.counted().all(|trial| trial.failure.is_none()));
    let mut order: Vec<_> = read.counted().map(|trial| (trial.block, trial.position, trial.cell)).collect();
    order.sort_unstable();
    assert_eq!(order.iter().map(|(block, _, cell)| (*block, *cell)).collect::<Vec<_>>(), crate::fakes::order(&whole));
    assert_eq!((end.unstarted, end.trials.len()), (None, read.trials.len()), "and nothing is forgotten");
}

#[test]
fn a_target_that_once_started_ends_a_comparison_alone() {
    let runs = tempfile::tempdir().unwrap();
    for (compared, blocks) in [(false, 3), (true, 2)] {
        let both = ComparePlan {
            old: "a".into(),
            new: "b".into(),
            primary: None,
            gates: vec![],
            allow_undecided: false,
            of_experiment: false,
            rest_ns: 0,
            revisions: vec![],
        };
        let plan = Draft { comparison: compared.then_some(both), ..draft(3) }.resolve().unwrap();
        let mut folder = create(runs.path(), &plan);
        conduct(&plan, &mut folder, &FakeLauncher::default(), Some(4));
        let end = conduct(&plan, &mut folder, &without_b(false), None);
        assert_eq!(end.trials.iter().map(|trial| trial.block).max(), Some(blocks));
        assert_eq!(end.unstarted.is_some(), compared);
    }
}

#[test]
fn a_target_that_started_again_is_launched_in_the_blocks_that_lack_it() {
    let runs = tempfile::tempdir().unwrap();
    for compared in [false, true] {
        let both = ComparePlan {
            old: "a".into(),
            new: "b".into(),
            primary: None,
            gates: vec![],
            allow_undecided: false,
            of_experiment: false,
            rest_ns: 0,
            revisions: vec![],
        };
        let plan = Draft { comparison: compared.then_some(both), ..draft(3) }.resolve().unwrap();
        let mut folder = create(runs.path(), &plan);
        conduct(&plan, &mut folder, &FakeLauncher::default(), Some(4));
        conduct(&plan, &mut folder, &without_b(false), None);
        let mended = FakeLauncher::default();
        conduct(&plan, &mut folder, &mended, None);
        let again = if compared { 4 + 4 } else { 2 + 2 };
        assert_eq!(
            mended.launched.borrow().len(),
            again,
            "b, which nobody waits for twice in a comparison, in the second block, and what the third lacks"
        );
        let read = RunFolder::read(folder.path()).unwrap();
        assert_eq!(read.counted().filter(|trial| trial.failure.is_none()).count(), 12);
        let idle = FakeLauncher::default();
        let end = conduct(&plan, &mut folder, &idle, None);
        assert_eq!((idle.launched.borrow().len(), end.trials.len()), (0, read.trials.len()), "nothing is lacking now");
    }
}
