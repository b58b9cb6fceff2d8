//! Which of two that are compared a block launches once more.

use model::{LaunchUse, Rotation};

use super::*;
use crate::testing::cut;

/// A comparison of two in six blocks, in slices or alone, and what each launch of a cell brings in more blocks than that.
fn compared(rotates: bool) -> (Plan, Vec<TrialRecord>) {
    let session =
        Session::new().cell("new", 1_000.0).cell("old", 1_200.0).planned(6, 6).blocks(9).repeats(2).noise(0.0).twin();
    let mut draft = session.draft();
    draft.comparison = Some(ComparePlan { old: "old".to_owned(), new: "new".to_owned(), ..ComparePlan::default() });
    draft.twin_in_turn = cell_for_twin_in_turn(&draft, draft.twin);
    let in_slices = Rotation { slice_ns: 250_000_000, lead_in_ns: 20_000_000, rounds: Some(12) };
    draft.rotation = rotates.then_some(in_slices);
    let mut records = session.records();
    records.retain(|trial| !trial.twin);
    if rotates {
        records.iter_mut().for_each(|trial| cut(trial, 12));
    }
    (draft.resolve().unwrap(), records)
}

/// A launch that was asked for.
fn launched(records: &[TrialRecord], spec: &TrialSpec, goes_round: bool) -> TrialRecord {
    let of = records.iter().find(|trial| (trial.block, trial.cell) == (spec.block, spec.cell)).unwrap().clone();
    let slices = if goes_round { of.slices.clone() } else { Vec::new() };
    TrialRecord { id: spec.id(), position: spec.position, twin: spec.twin, slices, ..of }
}

/// Carries a plan out, whatever happens to its launches.
fn carried_out(plan: &Plan, records: &[TrialRecord], happens: impl Fn(&mut TrialRecord)) -> Vec<TrialRecord> {
    let (mut planner, mut done) = (BlockPlanner::new(plan), Vec::new());
    loop {
        let next = planner.next();
        let (specs, goes_round) = match &next {
            Next::Rotate(together) => (together.trials.clone(), true),
            Next::Run(specs) => (specs.clone(), false),
            _ => return done,
        };
        for (at, spec) in specs.iter().enumerate() {
            let rest = if goes_round { next.clone() } else { Next::Run(specs[at..].to_vec()) };
            if !goes_round || at == 0 {
                assert_eq!(after(plan, &done), rest, "the records decide, wherever it was interrupted");
            }
            let mut trial = launched(records, spec, goes_round);
            happens(&mut trial);
            planner.take(&trial);
            done.push(trial);
        }
    }
}

/// With how many launches more of the new server than of the old one each block begins of which this is a launch that counts.
fn leads(done: &[TrialRecord], counts: impl Fn(&TrialRecord) -> bool) -> Vec<i32> {
    let (mut lead, mut begun, mut leads) = (0, BTreeSet::new(), Vec::new());
    for trial in done {
        if counts(trial) && begun.insert(trial.block) {
            leads.push(lead);
        }
        lead += if trial.cell == 0 { 1 } else { -1 };
    }
    leads
}

#[test]
fn each_of_two_is_ahead_as_often_as_the_other() {
    for rotates in [true, false] {
        let (plan, records) = compared(rotates);
        let done = carried_out(&plan, &records, |_| ());
        assert_eq!(leads(&done, |_| true), [0, 1, 0, -1, 0, 1]);
        let analysis = analyse(&plan, &Environment::default(), &done);
        let found = &analysis.session.itself[0];
        assert_eq!((found.a.as_str(), found.b.as_str()), ("new, old", "new, old"));
        assert!(
            (found.ratio.estimate.unwrap() - 1.0).abs() < 1e-9,
            "what differs between two launches of one: {found:?}"
        );
        let twins = |cell: usize| -> Vec<u32> {
            analysis.cells[cell].launches.iter().filter(|it| it.twin).map(|it| it.block).collect()
        };
        assert_eq!([twins(0), twins(1)], [[1, 4, 5], [2, 3, 6]]);
    }
}

/// What launches left behind that were made in vain the later ones find, too.
#[test]
fn launches_in_vain_are_made_up_for() {
    let (plan, records) = compared(true);
    for in_vain in 1..=4 {
        for busy in [None, Some(1), Some(in_vain)] {
            let happens = |trial: &mut TrialRecord| {
                let in_slices = !trial.slices.is_empty();
                let ends = in_slices && trial.cell == 1 && trial.block == in_vain;
                trial.measurement.as_mut().unwrap().connections.closed_idle = ends.into();
                if in_slices && Some(trial.block) == busy {
                    disturb(trial);
                }
            };
            let done = carried_out(&plan, &records, happens);
            let analysis = analyse(&plan, &Environment::default(), &done);
            assert_eq!((analysis.unfinished, analysis.blocks), (None, 6), "{in_vain} in vain, {busy:?} busy");
            let leads = leads(&done, |trial| trial.slices.is_empty());
            assert_eq!(leads.len(), 6);
            assert!(leads.iter().sum::<i32>().abs() <= 1, "{in_vain} in vain, {busy:?} busy: {leads:?}");
            let all = analysis.cells.iter().flat_map(|cell| &cell.launches);
            let counted: Vec<&str> =
                all.filter(|it| it.twin && it.used == LaunchUse::Counts).map(|it| it.id.as_str()).collect();
            assert_eq!(counted.len(), 6, "one for the noise in each block: {counted:?}");
            assert!((analysis.session.itself[0].ratio.estimate.unwrap() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_block_is_whole_as_it_was_carried_out_whichever_version_did_so() {
    let (plan, records) = compared(false);
    let mut done = carried_out(&plan, &records, |_| ());
    for trial in done.iter_mut().filter(|trial| trial.twin) {
        let spec = TrialSpec { cell: 1 - trial.block as usize % 2, ..trial.spec() };
        *trial = launched(&records, &spec, false);
    }
    assert_eq!(reason(after(&plan, &done)), "6 blocks, as planned");
}
