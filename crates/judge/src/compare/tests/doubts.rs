//! What may be doubted of a figure takes its verdict back.

use super::*;

#[test]
fn the_edges_of_the_window_break_no_gate() {
    let gate = |rate: f64| compare(&session(0.9 * rate, rate, 0.001), "throughput>-5%").gates[0].clone();
    assert_eq!(gate(100.0).verdict, GateVerdict::Broken);
    assert_eq!((gate(10.0).verdict, gate(10.0).withheld), (GateVerdict::Undecided, Some(Withheld::Edges)));
}

#[test]
fn a_share_of_errors_is_as_sure_as_its_sample_under_every_adjustment() {
    // 6 of 6,000 against none in each of six blocks: surely different between launches, hardly between samples.
    let found = altered(&session(100.0, 100.0, 0.0), "", &ALL, |trial| fail(trial, 0.001));
    let errors = row(&found, Metric::Errors);
    assert!(errors.p_adjusted.unwrap() > 0.05, "{errors:?}");
    assert_ne!(errors.verdict, ComparisonVerdict::Slower);
}

#[test]
fn what_an_open_load_serves_has_no_bound_where_the_machine_was_busy() {
    let served = |model: LoadModel| {
        let session = session(20.0, 100.0, 0.005);
        let (plan, mut trials) = (under(&session, model), session.records());
        trials.iter_mut().for_each(|trial| disturb(trial, 0.2));
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        row(&compare_targets(run, "old", "new", &[]), Metric::Throughput).withheld
    };
    assert_eq!(served(LoadModel::Closed), None);
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    assert_eq!(served(open), Some(Withheld::Disturbed));
}

#[test]
fn latencies_of_different_populations_are_not_compared() {
    let server = |seed| Session::new().cell("mine", 100.0).noise(0.005).seed(seed);
    let (before, trials) = (server(1).plan(), server(1).records());
    let mut later = server(2).records();
    let after = server(2).plan().with(|draft| draft.cells[0].load.keep_alive = false).unwrap();
    for trial in &mut later {
        let latencies = &mut trial.measurement.as_mut().unwrap().latency_us;
        latencies.total = latencies.service.clone();
    }
    let environment = Environment::default();
    let old = Run { plan: &before, environment: &environment, trials: &trials };
    let new = Run { plan: &after, environment: &environment, trials: &later };
    let analysis = compare_runs(old, new, ("a".to_owned(), "b".to_owned()), &[]).unwrap();
    for metric in [Metric::P50, Metric::P99] {
        assert_eq!(row(&analysis, metric).withheld, Some(Withheld::Definition), "total and service time");
    }
    assert_eq!(row(&analysis, Metric::Throughput).withheld, None);
}

#[test]
fn a_busy_machine_does_not_hide_a_threefold_cost() {
    let gates = "cpu_per_request<+3%";
    let with_cost = |factor: f64| {
        altered(&session(100.0, 100.0, 0.005), gates, &ALL, |trial| {
            disturb(trial, 0.45);
            trial.observation.as_mut().unwrap().cpu_user_s *= factor;
        })
    };
    let threefold = with_cost(3.3);
    assert_eq!(row(&threefold, Metric::CpuPerRequest).verdict, ComparisonVerdict::Slower);
    assert_eq!(threefold.gates[0].verdict, GateVerdict::Broken, "others' time is not charged to a target");
    let shared = with_cost(1.8);
    assert_eq!(
        row(&shared, Metric::CpuPerRequest).withheld,
        Some(Withheld::Disturbed),
        "a shared core may cost as much"
    );
}

#[test]
fn a_launch_that_served_nothing_leaves_no_ratio() {
    let nothing = |trial: &mut TrialRecord| trial.measurement.as_mut().unwrap().in_window.ok = 0;
    let analysis =
        altered(&session(100.0, 100.0, 0.005).blocks(9).planned(9, 9), "throughput>-5%", &[2, 5, 8], nothing);
    let throughput = row(&analysis, Metric::Throughput);
    assert_eq!((throughput.verdict, throughput.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::Zero)));
    assert_eq!((throughput.ratio.estimate, throughput.ratio.low), (None, None));
    let gate = &analysis.gates[0];
    assert_eq!((gate.verdict, gate.withheld), (GateVerdict::Undecided, Some(Withheld::Zero)));
}

/// The session's plan, all of whose cells have this load model.
fn under(session: &Session, model: LoadModel) -> Plan {
    session.plan().with(|draft| draft.cells.iter_mut().for_each(|cell| cell.load.model = model)).unwrap()
}

/// Why a median five times as high is no evidence where others used two fifths of the target's CPU.
fn disturbed_median(model: LoadModel) -> Option<Withheld> {
    let session = session(20.0, 100.0, 0.005);
    let (plan, mut trials) = (under(&session, model), session.records());
    for trial in &mut trials {
        let latencies = &mut trial.measurement.as_mut().unwrap().latency_us;
        latencies.response = latencies.service.clone();
        disturb(trial, 0.2);
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &[]);
    row(&analysis, Metric::P50).withheld
}

#[test]
fn queues_leave_the_median_of_an_open_load_without_a_bound() {
    assert_eq!(disturbed_median(LoadModel::Closed), None, "40 % of a CPU do not make it five times as slow");
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    assert_eq!(disturbed_median(open), Some(Withheld::Disturbed));
}
