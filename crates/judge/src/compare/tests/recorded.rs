//! Two recorded runs, which were measured at two times.

use super::*;

fn runs(old: &Session, new: &Session) -> Result<CompareAnalysis, CompareError> {
    let (a, b) = ((old.plan(), old.records()), (new.plan(), new.records()));
    let environment = Environment::default();
    let run = |(plan, trials): &'_ (Plan, Vec<TrialRecord>)| (plan.clone(), trials.clone());
    let (a, b) = (run(&a), run(&b));
    let old = Run { plan: &a.0, environment: &environment, trials: &a.1 };
    let new = Run { plan: &b.0, environment: &environment, trials: &b.1 };
    compare_runs(old, new, ("before".to_owned(), "after".to_owned()), Terms::default())
}

#[test]
fn two_runs_are_compared_without_pairing() {
    let server = |rate, seed| Session::new().cell("mine", rate).noise(0.01).seed(seed);
    let slower = runs(&server(100.0, 1), &server(60.0, 2)).unwrap();
    let throughput = row(&slower, Metric::Throughput);
    assert_eq!((throughput.verdict, slower.interleaved), (ComparisonVerdict::Slower, false));
    assert!((throughput.ratio.estimate.unwrap() - 0.6).abs() < 0.03, "{throughput:?}");
    // A machine that is a fifth, or a third, slower the second time would show the same.
    for rate in [80.0, 67.0] {
        let slightly = runs(&server(100.0, 1), &server(rate, 2)).unwrap();
        for metric in [Metric::Throughput, Metric::P50, Metric::CpuPerRequest] {
            let found = row(&slightly, metric);
            assert_eq!(
                (found.verdict, found.withheld, found.seen),
                (ComparisonVerdict::Inconclusive, Some(Withheld::AnotherTime), Some(ComparisonVerdict::Slower)),
                "{metric:?} at {rate}"
            );
        }
    }
    // Nor is there a limit to how much longer the slowest of them take, once they queue.
    let far = runs(&server(1_000.0, 1), &server(200.0, 2)).unwrap();
    let of = |metric: Metric| (row(&far, metric).verdict, row(&far, metric).withheld);
    assert_eq!(of(Metric::P50), (ComparisonVerdict::Slower, None));
    assert_eq!(of(Metric::P99), (ComparisonVerdict::Inconclusive, Some(Withheld::AnotherTime)));
    let equal = runs(&server(100.0, 1), &server(100.0, 2)).unwrap();
    assert_eq!(
        row(&equal, Metric::Throughput).withheld,
        Some(Withheld::AnotherTime),
        "nor is it known that they are the same"
    );
    // What a machine's speed does not change needs no such care.
    assert_eq!(row(&equal, Metric::PeakMemory).verdict, ComparisonVerdict::Same);
    // What a block does to one run alone widens the interval; paired launches would have shared it.
    let shaken = |seed| server(100.0, seed).block_noise(0.2);
    let open = runs(&shaken(1), &shaken(2)).unwrap();
    assert_eq!(row(&open, Metric::Throughput).verdict, ComparisonVerdict::Inconclusive);
}

#[test]
fn a_void_launch_of_two_runs_says_of_which_it_is() {
    let server = |seed| Session::new().cell("mine", 100.0).noise(0.01).seed(seed).blocks(7).planned(7, 7);
    let (plan, before, mut after) = (server(1).plan(), server(1).records(), server(2).records());
    crate::testing::fail_at_launch(&mut after[2]);
    let environment = Environment::default();
    let run = |trials| Run { plan: &plan, environment: &environment, trials };
    let analysis = compare_runs(run(&before), run(&after), ("a".to_owned(), "b".to_owned()), Terms::default()).unwrap();
    let void: Vec<_> = analysis.void_trials.iter().map(|trial| (trial.arm, trial.block)).collect();
    assert_eq!(void, [(Some(Arm::New), 3)]);
}

#[test]
fn two_runs_of_several_targets_name_them_and_a_gate_is_held_against_its_own() {
    let server = |b, seed| Session::new().cell("a", 100.0).cell("b", b).noise(0.005).seed(seed);
    let (old, new) = (server(100.0, 1), server(50.0, 2));
    let (a, b) = ((old.plan(), old.records()), (new.plan(), new.records()));
    let environment = Environment::default();
    let before = Run { plan: &a.0, environment: &environment, trials: &a.1 };
    let after = Run { plan: &b.0, environment: &environment, trials: &b.1 };
    let gates = parse_gates("throughput>-5%").unwrap();
    let analysis = compare_runs(before, after, ("before".to_owned(), "after".to_owned()), steady(&gates)).unwrap();
    let targets: Vec<&str> = analysis.gates.iter().map(|gate| gate.conditions.target()).collect();
    assert_eq!(targets, ["a", "b"]);
    let of_b = |row: &&CompareRow| row.metric == Metric::Throughput && row.conditions.target() == "b";
    assert_eq!(analysis.rows.iter().find(of_b).unwrap().verdict, ComparisonVerdict::Slower);
    let verdicts: Vec<GateVerdict> = analysis.gates.iter().map(|gate| gate.verdict).collect();
    assert_eq!(verdicts, [GateVerdict::Held, GateVerdict::Broken]);
    let ratio = |of: usize| analysis.gates[of].ratio.estimate.unwrap();
    assert!((ratio(0) - 1.0).abs() < 0.02 && (ratio(1) - 0.5).abs() < 0.02, "{:?}", analysis.gates);
}

#[test]
fn runs_of_one_target_each_are_matched_whatever_it_is_called() {
    let named = |name| Session::new().cell(name, 100.0).noise(0.005);
    assert!(runs(&named("v1"), &named("v2")).is_ok());
    let other = Session::new().delayed("v2", 100, 10, 97.0);
    let error = runs(&named("v1"), &other).unwrap_err().to_string();
    assert!(error.contains("no cell in common"), "{error}");
}
