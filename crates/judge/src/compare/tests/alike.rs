//! What a busy machine cannot have done to two revisions of one server: it hits both alike.

use super::*;
use crate::thresholds::CONSISTENT_BLOCKS;

const ENOUGH: u32 = CONSISTENT_BLOCKS as u32;
const GATES: &str = "throughput>-5%, cpu_per_request<+10%, p99<+10%";

/// Two targets of which all launches of these cells ran beside others that used 0.4 of two CPUs.
fn beside_others(session: &Session, of_cells: &[usize], are_revisions: bool) -> CompareAnalysis {
    let (mut draft, mut trials) = (session.draft(), session.records());
    trials.iter_mut().filter(|trial| of_cells.contains(&trial.cell)).for_each(|trial| disturb(trial, 0.2));
    let of = |target: &str| ComparedRevision {
        target: target.to_owned(),
        repository: "/r".into(),
        within: "app".into(),
        content: RevisionContent::Commit(target.to_owned()),
    };
    let revisions = if are_revisions { vec![of("old"), of("new")] } else { Vec::new() };
    draft.comparison = Some(ComparePlan { old: "old".into(), new: "new".into(), gates: Vec::new(), revisions });
    let plan = draft.resolve().unwrap();
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &parse_gates(GATES).unwrap())
}

fn of_blocks(blocks: u32) -> Session {
    session(75.0, 100.0, 0.005).blocks(blocks).planned(blocks, blocks)
}

#[test]
fn what_each_of_ten_blocks_shows_of_two_revisions_is_not_the_noises() {
    let metrics = [Metric::Throughput, Metric::P50, Metric::P99, Metric::CpuPerRequest];
    let said = |analysis: &CompareAnalysis| metrics.map(|metric| row(analysis, metric).verdict);
    let shown = beside_others(&of_blocks(ENOUGH), &[0, 1], true);
    assert_eq!(said(&shown), [ComparisonVerdict::Slower; 4]);
    assert!(shown.gates.iter().all(|gate| gate.verdict == GateVerdict::Broken), "{:?}", shown.gates);
    let none = [ComparisonVerdict::Inconclusive; 4];
    assert_eq!(said(&beside_others(&of_blocks(ENOUGH - 1), &[0, 1], true)), none, "nine are too few");
    assert_eq!(said(&beside_others(&of_blocks(ENOUGH), &[0, 1], false)), none, "it may hit two programs differently");
    assert_eq!(said(&beside_others(&of_blocks(ENOUGH), &[0], true)), none, "what comes with one may be its own");
}

#[test]
fn equals_on_a_busy_machine_are_hardly_ever_told_apart() {
    let scattered = |seed| session(100.0, 100.0, 0.3).seed(seed).blocks(12).planned(12, 12);
    let differs = |seed| {
        let found = beside_others(&scattered(seed), &[0, 1], true);
        matches!(row(&found, Metric::Throughput).verdict, ComparisonVerdict::Slower | ComparisonVerdict::Faster)
    };
    assert!((0..200).filter(|seed| differs(*seed)).count() <= 2);
}
