//! What a busy machine cannot have done to two revisions of one server: it hits both alike.

use super::*;
use crate::thresholds::CONSISTENT_BLOCKS;

const ENOUGH: u32 = CONSISTENT_BLOCKS as u32;
const GATES: &str = "throughput>-5%, cpu_per_request<+10%";

/// Two targets of which all launches of these cells ran beside others that used 0.4 of two CPUs.
fn beside_others(session: &Session, of_cells: &[usize], are_revisions: bool) -> CompareAnalysis {
    gated(GATES, session, of_cells, are_revisions)
}

fn gated(gates: &str, session: &Session, of_cells: &[usize], are_revisions: bool) -> CompareAnalysis {
    let (mut draft, mut trials) = (session.draft(), session.records());
    trials.iter_mut().filter(|trial| of_cells.contains(&trial.cell)).for_each(|trial| disturb(trial, 0.2));
    let of = |target: &str| ComparedRevision {
        target: target.to_owned(),
        repository: "/r".into(),
        within: "app".into(),
        content: RevisionContent::Commit(target.to_owned()),
    };
    let revisions = if are_revisions { vec![of("old"), of("new")] } else { Vec::new() };
    draft.comparison = Some(ComparePlan {
        old: "old".into(),
        new: "new".into(),
        gates: Vec::new(),
        allow_undecided: false,
        revisions,
    });
    let plan = draft.resolve().unwrap();
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &parse_gates(gates).unwrap())
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

/// Two revisions in twelve blocks beside others, the new one at so much of the old one's rate: what becomes of these gates.
fn gates_at(rate: f64, gates: &str) -> Vec<GateVerdict> {
    let session = session(100.0 * rate, 100.0, 0.002).blocks(12).planned(12, 12);
    gated(gates, &session, &[0, 1], true).gates.iter().map(|gate| gate.verdict).collect()
}

/// Noise that outweighs a difference draws every block's ratio to 1, so that 3 % in each of them may be 30 % on a quiet machine.
#[test]
fn a_difference_that_noise_hides_passes_no_gate_of_revisions() {
    let within_ten = "p99<+10%, cpu_per_request<+10%, throughput>-10%";
    assert_eq!(gates_at(0.97, within_ten), [GateVerdict::Undecided; 3]);
    assert_eq!(gates_at(1.03, within_ten), [GateVerdict::Held; 3], "who is better in every block is not worse");
}

/// What makes the replies of a half busy server 6 % later on a quiet machine makes them 45 % later where others take 45 % of
/// its CPU (M/M/1).
#[test]
fn noise_breaks_no_gate_of_a_tail_by_what_it_adds() {
    let of = |rate: f64, gates: &str| gates_at(rate, gates);
    assert_eq!(of(0.8, "p99<+10%, p50<+10%"), [GateVerdict::Undecided, GateVerdict::Broken]);
    assert_eq!(of(0.97, "p99<-10%"), [GateVerdict::Broken], "who is worse in every block is not a tenth better");
    assert_eq!(of(1.25, "p99<-10%, p50<-10%"), [GateVerdict::Undecided, GateVerdict::Held]);
}
