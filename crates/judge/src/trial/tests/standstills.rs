//! Launches in which the generator itself stood still.

use super::*;

/// One that is stopped at the end of a short window ends the drain when it is continued.
#[test]
fn a_standstill_across_the_end_of_the_window_is_no_contradiction() {
    let (cell, mut trial) = launch(10, 10_000.0);
    let measured = measured(&mut trial);
    (measured.window_s, measured.in_window.completed, measured.in_window.ok) = (0.3, 3_000, 3_000);
    let service = measured.latency_us.service.as_mut().unwrap();
    (service.mean, service.max) = (Some(100_000.0), Some(3_050_000.0));
    let stood = |length_s: f64| Standstills {
        count: 1,
        sum_s: length_s,
        spans: vec![StandstillSpan { thread: 0, at_s: 0.3 - 0.06, length_s }],
        ..Standstills::default()
    };
    measured.standstills = Some(stood(0.05));
    assert_eq!(void_code(&cell, &trial).unwrap(), "markov", "it was awake again in time");
    trial.measurement.as_mut().unwrap().standstills = Some(stood(0.06));
    assert_eq!(void_code(&cell, &trial), None);
}

/// Records of earlier versions tell of the longest stall alone.
#[test]
fn a_long_stall_is_a_standstill_and_a_turn_on_a_busy_machine_is_none() {
    let limit = |stall_us: f64, window_s: f64| {
        let (cell, mut trial) = launch(0, 9_200.0);
        let measured = measured(&mut trial);
        (measured.window_s, measured.generator.threads[0].longest_stall_us) = (window_s, stall_us);
        check_trial(&cell, None, &trial).limit
    };
    let found = limit(600_000.0, 10.0);
    assert_eq!(found.code().id(), "generator-stalled");
    assert_eq!(
        words(&found),
        "the generator itself stood still for 600 ms of a window of 10.0 s: the server does at least this"
    );
    assert_eq!(found.cure, Some(Cure::OwnCpus));
    assert_ne!(limit(490_000.0, 10.0).code().id(), "generator-stalled");
    assert_ne!(limit(90_000.0, 0.1).code().id(), "generator-stalled");
}

#[test]
fn a_launch_in_which_only_the_generators_standstill_was_measured_is_void() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let measured = measured(&mut trial);
    measured.generator.threads[0].longest_stall_us = 11e6;
    (measured.accounting, measured.in_window) = Default::default();
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!(
        judgement.void.map(|reason| reason.code().id()),
        Some("generator-stalled"),
        "not a server of 0 a second"
    );
}

#[test]
fn a_small_standstill_does_not_explain_what_an_overloaded_server_kept_waiting() {
    let missed = |sum_s: f64| {
        let (mut cell, mut trial) = launch(0, 9_200.0);
        open(&mut cell, &mut trial, 9_200.0);
        let measured = measured(&mut trial);
        measured.accounting.scheduled += 4_000;
        measured.accounting.not_sent.insert(NotSent::WaitingAtEnd, 4_000);
        measured.standstills =
            Some(Standstills { count: 1, sum_s, longest_s: sum_s, never_sent: 4_000, ..Standstills::default() });
        (check_trial(&cell, None, &trial).limit.code().id(), void_code(&cell, &trial))
    };
    assert_eq!(missed(0.01), ("server-behind", None), "some 92 requests a standstill");
    assert_eq!(missed(0.3), ("rate-not-reached", Some("rate-not-reached")));
}

/// A launch in which the generator stood still for so many of its seconds, while so many requests waited.
fn stood_still(trial: &mut TrialRecord, sum_s: f64, requests: u64) {
    let measured = measured(trial);
    let without = |all: &Option<LatencySummary>| {
        all.clone().map(|all| LatencySummary {
            count: all.count - requests,
            p50: Some(80.0),
            p90: Some(85.0),
            p99: Some(90.0),
            ..all
        })
    };
    let latency = &measured.latency_us;
    let without_us =
        Latencies { response: without(&latency.response), service: without(&latency.service), ..Latencies::default() };
    measured.standstills =
        Some(Standstills { count: 1, sum_s, longest_s: sum_s, requests, without_us, ..Standstills::default() });
}

#[test]
fn standstills_make_a_closed_throughput_a_lower_bound_and_an_open_load_void() {
    let (mut cell, trial) = launch(0, 9_200.0);
    let window_s = trial.measurement.as_ref().unwrap().window_s;
    let with = |cell: &CellPlan, mut trial: TrialRecord, share: f64| {
        stood_still(&mut trial, share * window_s, 100);
        let judgement = check_trial(cell, None, &trial);
        (judgement.at_least, judgement.limit.code().id(), judgement.void.map(|reason| reason.code().id()))
    };
    let stalled = || "generator-stalled";
    assert_eq!(with(&cell, trial.clone(), 0.04), (false, "server-bound", None));
    assert_eq!(with(&cell, trial.clone(), 0.06), (true, stalled(), None));
    let mut opened = trial;
    open(&mut cell, &mut opened, 9_200.0);
    assert_eq!(with(&cell, opened.clone(), 0.04), (false, "rate-reached", None));
    assert_eq!(with(&cell, opened, 0.06), (false, stalled(), Some(stalled())));
}

#[test]
fn a_standstill_touches_the_quantiles_that_its_requests_can_move() {
    for (share, sum_s, touched) in [
        (0.000_5, 0.3, vec![]),
        (0.002, 0.3, vec![Metric::P99]),
        (0.02, 0.3, vec![Metric::P90, Metric::P99]),
        (0.2, 0.3, vec![Metric::P50, Metric::P90, Metric::P99]),
        // A tenth of what was measured at least: no request lost more than the whole of it.
        (0.2, 0.000_5, vec![]),
    ] {
        let (mut cell, mut trial) = launch(0, 9_200.0);
        open(&mut cell, &mut trial, 9_200.0);
        measured(&mut trial).latency_us.response.iter_mut().for_each(|all| (all.p999, all.count) = (None, 100_000));
        stood_still(&mut trial, sum_s, (share * 100_000.0) as u64);
        let marks = check_trial(&cell, None, &trial).marks;
        let found = marks.iter().find(|note| note.mark() == Mark::Standstill);
        let of_quantiles: Vec<Metric> = found
            .map_or(Vec::new(), |note| note.metrics.clone())
            .into_iter()
            .filter(|metric| *metric != Metric::Mean)
            .collect();
        assert_eq!(of_quantiles, touched, "{share}: {marks:?}");
    }
}

#[test]
fn no_standstill_and_none_that_moved_a_figure_is_no_mark() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    stood_still(&mut trial, 0.3, 2_000);
    let is_marked = |trial: &TrialRecord| {
        let marks = check_trial(&cell, None, trial).marks;
        marks.iter().any(|note| note.mark() == Mark::Standstill && note.is_about(Metric::P99))
    };
    assert!(is_marked(&trial));
    let mut same = trial.clone();
    let latency = &measured(&mut same).latency_us;
    let p99 = latency.response.as_ref().unwrap().p99;
    let without = &mut measured(&mut same).standstills.as_mut().unwrap().without_us;
    without.response.as_mut().unwrap().p99 = p99;
    assert!(!is_marked(&same), "the figure is what it is without them");
    let stood = measured(&mut trial).standstills.as_mut().unwrap();
    (stood.count, stood.sum_s) = (0, 0.0);
    measured(&mut trial).generator.threads[0].longest_stall_us = 300_000.0;
    assert!(!is_marked(&trial), "it stood still 0 times");
}
