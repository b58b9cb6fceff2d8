use model::{
    Audit, AuditCheck, AuditModel, AuditOutcome, AuditResult, AuditSides, AuditSource, InFlightSides, Printed,
    Published, PublishedLatency,
};
use report::{check_words, remark_words};

use super::audit;

mod simulated;

/// A figure printed with a resolution of `step`.
fn printed(value: f64, step: f64) -> Option<Printed> {
    Some(Printed { printed: value, low: value - step / 2.0, high: value + step / 2.0 })
}

/// 100 connections, closed, 10,000/s of 10 ms over 10 s: everything fits.
fn sound() -> Published {
    let mut row = Published::new(AuditSource::Csv, AuditModel::Closed);
    (row.connections, row.pipeline) = (Some(100), Some(1));
    row.rate_per_s = printed(10_000.0, 1.0);
    row.duration_s = printed(10.0, 0.1);
    row.requests = Some(100_000);
    let latency = &mut row.latency_us;
    latency.mean = printed(10_000.0, 10.0);
    latency.min = printed(8_000.0, 10.0);
    latency.max = printed(30_000.0, 10.0);
    latency.stdev = printed(1_500.0, 10.0);
    latency.quantiles = [(0.5, 9_900.0), (0.9, 11_000.0), (0.99, 15_000.0)]
        .iter()
        .map(|(q, us)| (*q, printed(*us, 10.0).unwrap()))
        .collect();
    row
}

fn of(row: Published) -> Audit {
    audit(vec![row])
}

#[track_caller]
fn ended(audit: &Audit, check: AuditCheck) -> (AuditOutcome, String) {
    let note = audit.rows[0].checks.iter().find(|note| note.check == check).unwrap();
    (note.outcome(), check_words(note))
}

/// Asserts that exactly this check is broken, with these words.
#[track_caller]
fn only_breach(row: Published, check: AuditCheck, words: &str) {
    let audit = of(row);
    let broken: Vec<_> = audit.rows[0].that(AuditOutcome::Breach).collect();
    assert_eq!(broken.iter().map(|note| note.check).collect::<Vec<_>>(), [check], "{broken:#?}");
    let said = check_words(broken[0]);
    assert!(said.contains(words), "{said}");
    assert!(audit.is_contradictory());
}

#[test]
fn sound_figures_hold() {
    let audit = of(sound());
    let of_outcome = |outcome| audit.rows[0].that(outcome).map(|note| note.check).collect::<Vec<_>>();
    assert_eq!(of_outcome(AuditOutcome::Breach), []);
    use AuditCheck::{
        Accounting, Bytes, Ceiling, Delay, InFlight, Markov, Mean, Order, Rate, Spread, Unserved, Workers,
    };
    assert_eq!(of_outcome(AuditOutcome::Holds), [InFlight, Unserved, Markov, Order, Mean, Spread, Rate]);
    assert_eq!(of_outcome(AuditOutcome::NotMade), [Ceiling, Workers, Delay, Accounting, Bytes]);
    assert!(audit.rows[0].remarks.is_empty() && audit.remarks.is_empty());
}

#[test]
fn more_requests_in_flight_than_connections_can_hold() {
    let mut row = sound();
    row.connections = Some(64);
    row.latency_us.quantiles.clear();
    only_breach(row, AuditCheck::InFlight, "X·R̄ = 10,000/s × 10.0 ms = 100 > N = 64");
}

#[test]
fn pipelining_makes_room_and_where_it_is_not_known_nothing_is_said() {
    let mut row = sound();
    row.connections = Some(50);
    row.pipeline = Some(2);
    assert!(!of(row.clone()).is_contradictory());
    row.pipeline = None;
    let audit = of(row);
    assert!(!audit.is_contradictory());
    assert_eq!(
        ended(&audit, AuditCheck::InFlight),
        (AuditOutcome::NotMade, "not given: requests in flight on each".to_owned())
    );
    assert_eq!(ended(&audit, AuditCheck::Unserved).0, AuditOutcome::Holds, "each holds at least one");
}

#[test]
fn connections_that_are_always_busy_keep_n_in_the_clock() {
    let mut row = sound();
    row.connections = Some(400);
    only_breach(
        row.clone(),
        AuditCheck::Unserved,
        "X·R̄ ÷ N = 10,000/s × 10.0 ms ÷ 400 = 25 % of the connections' time was spent in requests; a closed load asks for 90 %",
    );
    row.model = AuditModel::ClosedWithPauses;
    assert!(!of(row).is_contradictory(), "a client that pauses has fewer in flight");
}

#[test]
fn markov_needs_no_mean() {
    let mut row = sound();
    (row.latency_us.mean, row.latency_us.max, row.latency_us.min) = (None, None, None);
    // N ÷ X = 10 ms, but half of the requests took 30 ms or more.
    row.latency_us.quantiles = vec![(0.5, printed(30_000.0, 10.0).unwrap())];
    only_breach(row, AuditCheck::Markov, "N ÷ X = 100 ÷ 10,000/s = 10.0 ms < (1 − 0.5)·p50 = 15.0 ms");
}

#[test]
fn an_open_load_is_not_tied_to_connections() {
    let mut row = sound();
    row.model = AuditModel::Open;
    row.connections = Some(1);
    let audit = of(row);
    assert!(!audit.is_contradictory());
    for check in [AuditCheck::InFlight, AuditCheck::Unserved, AuditCheck::Markov] {
        let (outcome, text) = ended(&audit, check);
        assert!(outcome == AuditOutcome::NotMade && text.contains("open load"), "{text}");
    }
}

#[test]
fn a_delay_bounds_what_connections_and_workers_complete() {
    let mut row = Published { latency_us: Default::default(), ..sound() };
    row.handler_delay_s = Some(0.020);
    only_breach(row.clone(), AuditCheck::Ceiling, "100,000 completions");
    row.handler_delay_s = Some(0.010);
    assert!(!of(row.clone()).is_contradictory());
    row.workers = Some(50);
    only_breach(row, AuditCheck::Workers, "W·(T ÷ (S − 1 ms) + 1)");
}

/// N ÷ (S − 1 ms) is 5,263 a second for 100 connections; what T adds is at most what the shortest T does.
#[test]
fn a_delay_bounds_a_rate_without_a_duration() {
    let mut row = Published { latency_us: Default::default(), duration_s: None, ..sound() };
    row.handler_delay_s = Some(0.020);
    only_breach(row.clone(), AuditCheck::Ceiling, "100,000 completions in T = 100,000 ÷ 10,000/s");
    row.requests = None;
    row.rate_per_s = printed(11_000.0, 1.0);
    only_breach(row.clone(), AuditCheck::Ceiling, "in each T = 20.0 ms, the shortest that the figures allow");
    row.rate_per_s = printed(10_000.0, 1.0);
    assert_eq!(ended(&of(row.clone()), AuditCheck::Ceiling).0, AuditOutcome::Holds, "one request may be begun before");
    row.latency_us.max = printed(500_000.0, 10.0);
    only_breach(row, AuditCheck::Ceiling, "in each T = 500 ms");
}

#[test]
fn no_reply_comes_sooner_than_the_handler_waits() {
    let mut row = Published { rate_per_s: None, requests: None, ..sound() };
    row.handler_delay_s = Some(0.009);
    assert_eq!(ended(&of(row.clone()), AuditCheck::Delay).0, AuditOutcome::Holds, "min 8 ms, timers 1 ms early");
    row.handler_delay_s = Some(0.010);
    only_breach(row.clone(), AuditCheck::Delay, "min 8.00 ms < S − 1 ms = 9.00 ms");
    (row.requests, row.errors, row.duration_s) = (Some(100_000), Some(1_000), None);
    assert_eq!(ended(&of(row.clone()), AuditCheck::Delay).0, AuditOutcome::Holds, "the fastest may have failed");
    row.errors = Some(0);
    only_breach(row, AuditCheck::Delay, "min 8.00 ms");
}

#[test]
fn what_holds_is_said_with_the_bound_that_was_used() {
    // The longest request is a fifth of the window: as much may be missing at its edges.
    let mut row = Published { requests: None, ..sound() };
    row.duration_s = printed(0.150, 0.0);
    row.connections = Some(133);
    let audit = of(row.clone());
    let (outcome, text) = ended(&audit, AuditCheck::Unserved);
    assert_eq!(outcome, AuditOutcome::Holds);
    assert!(text.contains("= 75 % of the connections' time was spent in requests; a closed load asks for 70 % (90 % less 20 % for requests"), "{text}");
    row.connections = Some(90);
    let audit = of(row);
    let (outcome, text) = ended(&audit, AuditCheck::InFlight);
    assert_eq!(outcome, AuditOutcome::Holds);
    assert!(text.contains("= 100, not above N = 90 with 1 % of slack and 20 % for requests"), "{text}");
    let sides = &audit.rows[0].checks[0].result;
    let AuditResult::Holds(AuditSides::InFlight(InFlightSides { slots, most, allowance, .. })) = sides else {
        panic!("{sides:?}")
    };
    assert_eq!((*slots, *most), (90.0, allowance.unwrap().beyond(90.0)));
    assert!((*most - 108.9).abs() < 0.1, "{most}");
}

#[test]
fn quantiles_ascend_and_hold_the_mean() {
    let mut row = sound();
    row.latency_us.quantiles[2].1 = printed(10_500.0, 10.0).unwrap();
    only_breach(row, AuditCheck::Order, "p90 11.0 ms > p99 10.5 ms");
    let mut row = sound();
    (row.latency_us.stdev, row.rate_per_s) = (None, None);
    row.latency_us.mean = printed(8_500.0, 10.0);
    only_breach(row.clone(), AuditCheck::Mean, "mean 8.50 ms < 9.0");
    row.latency_us.mean = printed(11_500.0, 10.0);
    only_breach(row, AuditCheck::Mean, "the most that quantiles and maximum allow");
}

#[test]
fn a_standard_deviation_fits_the_extremes_and_the_quantiles() {
    let mut row = sound();
    row.latency_us.stdev = printed(7_000.0, 10.0);
    only_breach(row.clone(), AuditCheck::Spread, "standard deviation 7.00 ms > √((max − mean)·(mean − min)) = 6.3");
    row.latency_us.stdev = printed(100.0, 10.0);
    only_breach(row, AuditCheck::Spread, "p90 11.0 ms and mean 10.0 ms are further apart than σ·√(q ÷ (1 − q))");
}

#[test]
fn books_that_do_not_add_up() {
    let mut row = sound();
    row.requests = Some(90_000);
    only_breach(row, AuditCheck::Rate, "90,000 ÷ 10 s = 9,000/s");
    let mut row = sound();
    (row.ok, row.errors) = (Some(99_000), Some(999));
    only_breach(row.clone(), AuditCheck::Accounting, "ok 99,000 + errors 999 = 99,999, requests 100,000");
    row.errors = Some(1_000);
    assert!(!of(row).is_contradictory());
    let mut row = sound();
    (row.bytes, row.bytes_have_heads) = (printed(1e6, 1.0), true);
    only_breach(row, AuditCheck::Bytes, "10.0 bytes a reply: the shortest HTTP/1 reply has 17");
}

#[test]
fn rounding_is_honoured() {
    // 100 connections, 10,000/s, a mean printed as 0 s: anything up to 0.5 s.
    let mut row = sound();
    row.latency_us = Default::default();
    row.latency_us.mean = Some(Printed { printed: 0.0, low: 0.0, high: 500_000.0 });
    assert!(!of(row.clone()).is_contradictory());
    let audit = of(row.clone());
    let (outcome, text) = ended(&audit, AuditCheck::InFlight);
    assert_eq!((outcome, text.contains("rounded too coarsely")), (AuditOutcome::NotMade, true), "{text}");
    row.latency_us.mean = printed(10_100.0, 10.0);
    assert!(!of(row.clone()).is_contradictory(), "within the slack and the window's edges");
    row.duration_s = None;
    row.latency_us.mean = printed(10_200.0, 10.0);
    assert!(of(row).is_contradictory());
}

#[test]
fn remarks_are_no_contradictions() {
    let mut row = sound();
    row.latency_us.quantiles.insert(2, (0.95, row.latency_us.quantiles[2].1));
    row.requests = None;
    let codes = |audit: &Audit| audit.rows[0].remarks.iter().map(|remark| remark.code().id()).collect::<Vec<_>>();
    let audit = of(row.clone());
    assert_eq!((codes(&audit), audit.is_contradictory()), (vec!["equal-quantiles"], false));
    (row.requests, row.rate_per_s, row.duration_s) = (Some(367), None, None);
    assert_eq!(codes(&of(row.clone())), ["equal-quantiles", "not-estimable"]);
    row.requests = Some(368);
    assert_eq!(codes(&of(row)), ["equal-quantiles"]);
    let mut row = sound();
    row.workers = Some(50);
    assert_eq!(codes(&of(row)), ["waiting-for-workers"]);
}

#[test]
fn wrk_adds_samples_where_a_latency_is_above_twice_n_over_x() {
    let mut row = sound();
    row.latency_us.max = printed(20_100.0, 10.0);
    let remarked = |row: &Published| of(row.clone()).rows[0].remarks.iter().any(|it| it.code().id() == "added-samples");
    row.source = AuditSource::Wrk;
    assert!(!remarked(&row), "20 ms, within the slack");
    row.latency_us.max = printed(20_300.0, 10.0);
    assert!(remarked(&row));
    row.source = AuditSource::Csv;
    assert!(!remarked(&row));
}

#[test]
fn many_equal_rates_are_a_shared_limit() {
    let with_rate = |rate: f64| Published {
        rate_per_s: printed(rate, 1.0),
        ..Published::new(AuditSource::Csv, AuditModel::Closed)
    };
    let apart: Vec<_> = (0..40).map(|n| with_rate(1_000.0 * 1.1_f64.powi(n))).collect();
    assert!(audit(apart.clone()).remarks.is_empty());
    let tied: Vec<_> = (0..6).map(|n| with_rate(60_000.0 + 100.0 * f64::from(n))).chain(apart).collect();
    let remarks = audit(tied).remarks;
    assert_eq!(remarks[0].code().id(), "ties");
    let said = remark_words(&remarks[0]);
    assert!(said.starts_with("6 of 46 rates lie within 2 %"), "{said}");
}

#[test]
fn what_is_missing_for_an_order_is_named_by_what_is_there() {
    let bare = |mean: Option<Printed>, quantiles: &[f64]| {
        let quantiles = quantiles.iter().map(|q| (*q, Printed::exact(2_000.0))).collect();
        let latency_us = PublishedLatency { mean, quantiles, ..PublishedLatency::default() };
        let audit = of(Published { latency_us, ..sound() });
        let (outcome, text) = ended(&audit, AuditCheck::Order);
        assert_eq!(outcome, AuditOutcome::NotMade);
        text
    };
    let mean = Some(Printed::exact(1_000.0));
    for (mean, quantiles, said) in [
        (None, &[][..], "not given: two of minimum, mean, quantiles, maximum"),
        (mean, &[], "not given: a minimum or a maximum to hold the mean against"),
        (None, &[0.99], "not given: a figure to hold the p99 against"),
        (mean, &[0.99], "not given: a minimum, a maximum or a second quantile (a mean may lie above or below a p99)"),
    ] {
        assert_eq!(bare(mean, quantiles), said);
    }
}

#[test]
fn nothing_given_nothing_said() {
    let audit = of(Published::new(AuditSource::Csv, AuditModel::Closed));
    assert_eq!(audit.rows[0].that(AuditOutcome::NotMade).count(), AuditCheck::ALL.len());
    assert!(audit.rows[0].checks.iter().all(|note| check_words(note).starts_with("not given: ")));
}
