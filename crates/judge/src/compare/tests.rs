use model::{Mark, parse_gates};

use super::*;
use crate::testing::Session;

/// A new server against an old one, under a seed.
fn session(new: f64, old: f64, noise: f64) -> Session {
    Session::new().cell("new", new).cell("old", old).noise(noise)
}

fn compare(session: &Session, gates: &str) -> CompareAnalysis {
    let (plan, trials) = (session.plan(), session.records());
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let gates = if gates.is_empty() { Vec::new() } else { parse_gates(gates).unwrap() };
    compare_targets(run, "old", "new", &gates)
}

fn row(analysis: &CompareAnalysis, metric: Metric) -> &CompareRow {
    analysis.rows.iter().find(|row| row.metric == metric).unwrap()
}

#[test]
fn ratios_are_new_over_old_and_paired_within_blocks() {
    let analysis = compare(&session(90.0, 100.0, 0.005).block_noise(0.3), "throughput>-5%");
    let throughput = row(&analysis, Metric::Throughput);
    let ratio = throughput.ratio.estimate.unwrap();
    assert!((ratio - 0.9).abs() < 0.02, "what a block does to both falls out: {ratio}");
    assert_eq!(throughput.verdict, ComparisonVerdict::Slower);
    assert!(throughput.old.estimate > throughput.new.estimate);
    assert_eq!((analysis.old.as_str(), analysis.new.as_str(), analysis.interleaved), ("old", "new", true));
    assert_eq!(analysis.gates[0].verdict, GateVerdict::Broken);
}

#[test]
fn equals_are_the_same_and_noise_leaves_it_open() {
    let same = compare(&session(100.0, 100.0, 0.005), "throughput>-5%, p99<+10%");
    assert_eq!(row(&same, Metric::Throughput).verdict, ComparisonVerdict::Same);
    assert!(same.gates.iter().all(|gate| gate.verdict == GateVerdict::Held), "{:?}", same.gates);
    let open = compare(&session(100.0, 100.0, 0.3), "throughput>-5%");
    assert_eq!(row(&open, Metric::Throughput).verdict, ComparisonVerdict::Inconclusive);
    assert_eq!(open.gates[0].verdict, GateVerdict::Undecided);
}

#[test]
fn too_few_blocks_give_figures_and_no_verdict() {
    let analysis = compare(&session(50.0, 100.0, 0.005).blocks(5).planned(5, 5), "");
    let throughput = row(&analysis, Metric::Throughput);
    assert!(throughput.ratio.high.unwrap() < 0.6);
    assert_eq!((throughput.verdict, analysis.blocks), (ComparisonVerdict::Inconclusive, 5));
}

#[test]
fn a_gate_is_not_passed_by_what_was_not_measured() {
    let session = session(100.0, 100.0, 0.005);
    let (plan, mut trials) = (session.plan(), session.records());
    trials.iter_mut().for_each(|trial| trial.observation = None);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &parse_gates("cpu_per_request<+3%").unwrap());
    assert!(analysis.rows.iter().all(|row| row.metric != Metric::CpuPerRequest));
    assert_eq!((analysis.gates.len(), analysis.gates[0].verdict), (1, GateVerdict::Undecided));
}

#[test]
fn a_generator_at_its_limit_takes_the_verdict_on_throughput_back() {
    let session = session(80.0, 100.0, 0.005).generator_busy(0.95);
    let analysis = compare(&session, "");
    assert_eq!(row(&analysis, Metric::Throughput).verdict, ComparisonVerdict::Inconclusive, "both do at least so much");
    let marks: Vec<Mark> = session.analyse().cells[0].marks.iter().map(|note| note.mark).collect();
    assert!(marks.contains(&Mark::Generator), "{marks:?}");
}

/// Sessions of equals, told apart in any metric: Holm over all rows keeps it to one in twenty.
#[test]
fn equals_are_seldom_told_apart_in_any_metric() {
    let told_apart = (0..400).filter(|seed| {
        let analysis = compare(&session(100.0, 100.0, 0.1).block_noise(0.05).seed(*seed), "");
        let differs = |row: &CompareRow| matches!(row.verdict, ComparisonVerdict::Faster | ComparisonVerdict::Slower);
        analysis.rows.iter().any(differs)
    });
    let share = told_apart.count() as f64 / 400.0;
    assert!(share <= 0.05, "{share}");
}

fn runs(old: &Session, new: &Session) -> Result<CompareAnalysis, CompareError> {
    let (a, b) = ((old.plan(), old.records()), (new.plan(), new.records()));
    let environment = Environment::default();
    let run = |(plan, trials): &'_ (Plan, Vec<TrialRecord>)| (plan.clone(), trials.clone());
    let (a, b) = (run(&a), run(&b));
    let old = Run { plan: &a.0, environment: &environment, trials: &a.1 };
    let new = Run { plan: &b.0, environment: &environment, trials: &b.1 };
    compare_runs(old, new, ("before".to_owned(), "after".to_owned()), &[])
}

#[test]
fn two_runs_are_compared_without_pairing() {
    let server = |rate, seed| Session::new().cell("mine", rate).noise(0.01).seed(seed);
    let slower = runs(&server(100.0, 1), &server(80.0, 2)).unwrap();
    let throughput = row(&slower, Metric::Throughput);
    assert_eq!((throughput.verdict, slower.interleaved), (ComparisonVerdict::Slower, false));
    assert!((throughput.ratio.estimate.unwrap() - 0.8).abs() < 0.03, "{throughput:?}");
    // What a block does to one run alone widens the interval; paired launches would have shared it.
    let shaken = |seed| server(100.0, seed).block_noise(0.2);
    let open = runs(&shaken(1), &shaken(2)).unwrap();
    assert_eq!(row(&open, Metric::Throughput).verdict, ComparisonVerdict::Inconclusive);
}

#[test]
fn runs_of_one_target_each_are_matched_whatever_it_is_called() {
    let named = |name| Session::new().cell(name, 100.0).noise(0.005);
    assert!(runs(&named("v1"), &named("v2")).is_ok());
    let other = Session::new().delayed("v2", 100, 10, 97.0);
    let error = runs(&named("v1"), &other).unwrap_err().to_string();
    assert!(error.contains("no cell in common"), "{error}");
}

#[test]
fn what_differs_beside_the_server_is_told() {
    let session = session(100.0, 100.0, 0.005);
    let (plan, trials) = (session.plan(), session.records());
    let mut other = plan.clone();
    other.cells.iter_mut().for_each(|cell| cell.load.window_ns *= 2);
    let old = Environment { kernel: "6.1".to_owned(), ..Environment::default() };
    let new = Environment { kernel: "6.18".to_owned(), ..Environment::default() };
    let (a, b) = (
        Run { plan: &plan, environment: &old, trials: &trials },
        Run { plan: &other, environment: &new, trials: &trials },
    );
    let analysis = compare_runs(a, b, ("a".to_owned(), "b".to_owned()), &[]).unwrap();
    assert_eq!(analysis.differences[0], "kernel: 6.1, then 6.18");
    assert!(analysis.differences[1].starts_with("window: "), "{:?}", analysis.differences);
}
