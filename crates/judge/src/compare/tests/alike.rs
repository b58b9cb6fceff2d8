//! What a busy machine cannot have done to two revisions of one server: it hits both alike.

use super::*;
use crate::testing::cut;
use crate::thresholds::CONSISTENT_BLOCKS;

const ENOUGH: u32 = CONSISTENT_BLOCKS as u32;
const GATES: &str = "throughput>-5%, cpu_per_request<+10%";

/// Two targets of which all launches of these cells ran beside others that used 0.4 of two CPUs.
fn beside_others(session: &Session, of_cells: &[usize], are_revisions: bool) -> CompareAnalysis {
    gated(GATES, session, of_cells, are_revisions)
}

fn gated(gates: &str, session: &Session, of_cells: &[usize], are_revisions: bool) -> CompareAnalysis {
    let mut trials = session.records();
    trials.iter_mut().filter(|trial| of_cells.contains(&trial.cell)).for_each(|trial| disturb(trial, 0.2));
    judged(gates, session.draft(), &trials, are_revisions)
}

pub(super) fn judged(gates: &str, mut draft: Draft, trials: &[TrialRecord], are_revisions: bool) -> CompareAnalysis {
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
        primary: None,
        gates: Vec::new(),
        allow_undecided: false,
        of_experiment: false,
        rest_ns: 0,
        revisions,
    });
    of_draft(gates, draft, trials)
}

fn of_draft(gates: &str, draft: Draft, trials: &[TrialRecord]) -> CompareAnalysis {
    let plan = draft.resolve().unwrap();
    let run = Run { plan: &plan, environment: &Environment::default(), trials };
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

/// Two targets between which the load went round, in six blocks beside others who had 0.4 of two CPUs in every slice, and so much
/// more of both in the slices of the new one: what is said of CPU per request, of which the new one needs so many times as much.
fn in_rotation(cpu: f64, more: f64, are_revisions: bool) -> (ComparisonVerdict, Option<Withheld>) {
    let session = session(1_000.0, 1_000.0, 0.0005).blocks(6).planned(6, 6);
    let mut trials = session.records();
    for trial in &mut trials {
        let is_new = trial.cell == 0;
        let seen = trial.observation.as_mut().unwrap();
        seen.cpu_user_s *= if is_new { cpu } else { 1.0 };
        seen.cpu_system_s *= if is_new { cpu } else { 1.0 };
        disturb(trial, 0.2);
        cut(trial, 12);
        trial.slices.iter_mut().for_each(|slice| slice.others_share = 0.2 + if is_new { more } else { 0.0 });
    }
    let found = judged(GATES, session.draft(), &trials, are_revisions);
    let row = row(&found, Metric::CpuPerRequest);
    (row.verdict, row.withheld)
}

#[test]
fn what_fell_on_both_revisions_at_once_hides_no_difference_between_them() {
    let taken_back = (ComparisonVerdict::Inconclusive, Some(Withheld::Disturbed));
    let slower = (ComparisonVerdict::Slower, None);
    assert_eq!(in_rotation(1.08, 0.0, true), slower);
    assert_eq!(in_rotation(1.08, 0.0, false), taken_back, "it may hit two programs differently");
    assert_eq!(
        in_rotation(1.08, 0.01, true),
        slower,
        "what one had more of than the other cost it less than the change"
    );
    assert_eq!(in_rotation(1.08, 0.06, true), taken_back, "it may be the change");
}

/// What is said of the p99 of two revisions, of which the new one's is a third longer in each of ten blocks, where others had
/// such shares of both CPUs in the slices of the new one and of the old one.
fn tail_in_rotation(of_new: f64, of_old: f64) -> (ComparisonVerdict, Option<Withheld>) {
    let session = session(7_500.0, 10_000.0, 0.005).blocks(ENOUGH).planned(ENOUGH, ENOUGH);
    let mut trials = session.records();
    for trial in &mut trials {
        let share = if trial.cell == 0 { of_new } else { of_old };
        disturb(trial, share);
        cut(trial, 12);
        trial.slices.iter_mut().for_each(|slice| slice.others_share = share);
    }
    let found = judged(GATES, session.draft(), &trials, true);
    let row = row(&found, Metric::P99);
    (row.verdict, row.withheld)
}

/// All launches of a set have the mark together.
#[test]
fn noise_that_came_with_one_of_two_that_go_round_is_seen_in_its_slices() {
    let taken_back = (ComparisonVerdict::Inconclusive, Some(Withheld::Unbounded));
    assert_eq!(tail_in_rotation(0.2, 0.2), (ComparisonVerdict::Slower, None));
    assert_eq!(
        tail_in_rotation(0.2, 0.12),
        (ComparisonVerdict::Slower, None),
        "more than half of it came with the other, too"
    );
    assert_eq!(tail_in_rotation(0.2, 0.05), taken_back, "it may be its own");
    assert_eq!(tail_in_rotation(0.05, 0.2), (ComparisonVerdict::Slower, None), "it made the other worse");
}

#[test]
fn what_fell_on_both_revisions_at_once_may_have_hidden_how_large_a_difference_is() {
    assert_eq!(in_rotation(1.02, 0.0, true), (ComparisonVerdict::Same, None));
    let taken_back = (ComparisonVerdict::Inconclusive, Some(Withheld::Disturbed));
    assert_eq!(in_rotation(1.04, 0.0, true), taken_back, "without what was added to both it may be 7 %");
}

/// Two revisions between which the load went round beside others who had 0.2 to 0.6 of two CPUs in each slice, which made
/// each request as much dearer: what is said of CPU per request, of which the new one needs so many times as much.
fn beside_a_changing_load(cpu: f64, seed: u64) -> ComparisonVerdict {
    let session = session(1_000.0, 1_000.0, 0.0005).blocks(8).planned(8, 8).seed(seed);
    let (mut trials, mut rng) = (session.records(), fastrand::Rng::with_seed(seed));
    for trial in &mut trials {
        disturb(trial, 0.2);
        cut(trial, 20);
        for slice in &mut trial.slices {
            slice.others_share = 0.1 + 0.2 * rng.f64();
            slice.cpu_s *= (1.0 + slice.others_share) * if trial.cell == 0 { cpu } else { 1.0 };
        }
    }
    row(&judged(GATES, session.draft(), &trials, true), Metric::CpuPerRequest).verdict
}

#[test]
fn noise_that_changes_from_slice_to_slice_tells_no_equals_apart_and_hides_hardly_a_tenth() {
    let is_slower =
        |cpu: f64| (0..200).filter(|seed| beside_a_changing_load(cpu, *seed) == ComparisonVerdict::Slower).count();
    let (of_equals, of_a_tenth) = (is_slower(1.0), is_slower(1.1));
    assert!(of_equals <= 2 && of_a_tenth >= 150, "{of_equals} and {of_a_tenth} of 200");
}

/// Two targets between which the load went round, in six blocks beside others who had such a share of two CPUs in every slice: what is said of
/// the throughput of the new one, which serves so many times as much and needs as much CPU the more.
fn beside_few((rate, share): (f64, f64), are_revisions: bool) -> [(ComparisonVerdict, Option<Withheld>); 2] {
    let session = session(1_000.0 * rate, 1_000.0, 0.0005).blocks(6).planned(6, 6);
    let mut trials = session.records();
    for trial in &mut trials {
        disturb(trial, share);
        cut(trial, 12);
        trial.slices.iter_mut().for_each(|slice| slice.others_share = share);
    }
    let draft = model::Draft { margin: 0.01, ..session.draft() };
    let found = judged(GATES, draft, &trials, are_revisions);
    [Metric::Throughput, Metric::CpuPerRequest].map(|metric| {
        let row = row(&found, metric);
        (row.verdict, row.withheld)
    })
}

/// Too little for a mark: of two different programs it may cost one that fills its CPU all of it, and one that waits hardly anything.
#[test]
fn what_others_use_evenly_makes_no_difference_between_two_programs_as_small_as_it() {
    let (slower, taken_back) =
        ((ComparisonVerdict::Slower, None), (ComparisonVerdict::Inconclusive, Some(Withheld::Uneven)));
    let (quiet, few) = (0.004, 0.03);
    assert_eq!(beside_few((0.945, quiet), false), [slower; 2]);
    let less_than_asked_of_the_same = 0.008;
    assert_eq!(
        beside_few((0.985, less_than_asked_of_the_same), false),
        [taken_back, slower],
        "no more than others used"
    );
    assert_eq!(beside_few((0.97, less_than_asked_of_the_same), false), [slower; 2]);
    assert_eq!(beside_few((0.945, few), false), [taken_back, slower], "no CPU time of one is charged to the other");
    assert_eq!(beside_few((0.945, few), true), [slower; 2], "two revisions of one server it costs as much");
    assert_eq!(beside_few((0.85, few), false), [slower; 2], "it is more than others used");
    assert_eq!(beside_few((1.0, few), false)[0], taken_back, "nor are they known to be the same");
}
