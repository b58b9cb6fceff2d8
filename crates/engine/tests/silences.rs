//! Times without a reply over a simulated server: known to the moment, whatever seconds they lie across.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use engine::simulation::SimulatedServer;
use model::{Arrivals, Extent, LoadModel, Measurement, NS_PER_S};
use support::{MS, hello, measure, open, spec};

/// Ten seconds of a server that answers in 1 ms, and from and for so many milliseconds not at all.
fn stalled(model: LoadModel, from_ms: u64, for_ms: u64) -> Measurement {
    measure(&spec(model, 2, 10 * NS_PER_S), SimulatedServer { stall: Some((from_ms * MS, for_ms * MS)), ..hello(MS) })
}

#[test]
fn a_server_that_stops_is_silent_for_exactly_so_long() {
    for model in [LoadModel::Closed, open(500.0)] {
        for (from_ms, for_ms) in [(3000, 1000), (3610, 1000), (7250, 600), (0, 2000), (100, 9000)] {
            let measured = stalled(model, from_ms, for_ms);
            let [silence] = measured.silences[..] else { panic!("{:?}", measured.silences) };
            let [at_ms, length_ms] = [silence.at_s, silence.length_s].map(|seconds| seconds * 1e3);
            // The last reply before came up to a millisecond earlier, and the first after it when it could; under the open
            // load a reply was owed up to two milliseconds later.
            assert!((at_ms - from_ms as f64).abs() <= 3.0, "{model:?} {silence:?}");
            assert!((-3.0..=4.0).contains(&(length_ms - for_ms as f64)), "{model:?} {silence:?}");
        }
    }
}

#[test]
fn a_silence_that_lasts_is_told_to_the_end_of_the_window_and_one_from_before_from_its_begin() {
    let measured = stalled(open(500.0), 8000, 10_000);
    let silence = measured.silences[0];
    assert!((silence.at_s + silence.length_s - 10.0).abs() < 1e-9 && measured.silences.len() == 1, "{silence:?}");
    let server = SimulatedServer { stall: Some((500 * MS, 2000 * MS)), ..hello(MS) };
    let warmed = spec(LoadModel::Closed, 2, 3 * NS_PER_S).with(|it| it.warm_up_ns = NS_PER_S);
    let measured = measure(&warmed, server);
    let silence = measured.silences[0];
    assert!(silence.at_s == 0.0 && (1.5..1.502).contains(&silence.length_s), "{silence:?}");
}

#[test]
fn short_ones_and_those_after_the_last_reply_that_was_asked_for_are_none() {
    for model in [LoadModel::Closed, open(500.0)] {
        assert_eq!(stalled(model, 3000, 480).silences, []);
        let counted = spec(model, 2, 0).with(|it| it.extent = Extent::Requests { count: 500, within_ns: None });
        assert_eq!(measure(&counted, hello(MS)).silences, []);
    }
}

#[test]
fn where_nothing_is_asked_for_nobody_is_silent() {
    for rate in [0.4, 1.5, 20.0] {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let model = LoadModel::Open { rate_per_s: rate, arrivals };
            for seed in 0..3 {
                let slow = spec(model, 8, 120 * NS_PER_S).with(|it| it.seed = seed);
                assert_eq!(measure(&slow, hello(MS)).silences, [], "{model:?} {seed}");
            }
        }
    }
}

#[test]
fn a_silence_begins_when_a_reply_is_owed() {
    let model = LoadModel::Open { rate_per_s: 20.0, arrivals: Arrivals::Poisson };
    for seed in 0..20 {
        let stalled = SimulatedServer { stall: Some((5 * NS_PER_S, 3 * NS_PER_S)), ..hello(MS) };
        let measured = measure(&spec(model, 200, 20 * NS_PER_S).with(|it| it.seed = seed), stalled);
        let [silence] = measured.silences[..] else { panic!("{:?}", measured.silences) };
        let until_s = silence.at_s + silence.length_s;
        assert!((4.99..5.6).contains(&silence.at_s) && (8.0..8.01).contains(&until_s), "{silence:?}");
        assert_eq!(silence.failed, Some(0));
    }
}

#[test]
fn a_silence_says_how_many_requests_failed_in_it() {
    let dies = SimulatedServer { refuses_from: Some(8 * NS_PER_S), stall: None, ..hello(MS) };
    let with = spec(open(500.0), 50, 10 * NS_PER_S).with(|it| it.keep_alive = false);
    let measured = measure(&with, dies);
    let [silence] = measured.silences[..] else { panic!("{:?}", measured.silences) };
    let turned_away: u64 = measured.accounting.not_sent.iter().filter(|it| it.0.is_turned_away()).map(|it| it.1).sum();
    assert!((7.99..8.01).contains(&silence.at_s) && turned_away > 900, "{silence:?} {:?}", measured.accounting);
    assert_eq!(silence.failed, Some(turned_away));
    assert!(silence.refused > Some(800) && silence.refused <= silence.failed, "{silence:?}");
}

#[test]
fn requests_that_never_get_a_reply_are_told_by_their_age_those_of_the_warm_up_too() {
    for model in [LoadModel::Closed, open(100.0)] {
        let hangs = SimulatedServer { slow: Some((100, 3600 * NS_PER_S)), ..hello(10 * MS) };
        let load = spec(model, 10, 3 * NS_PER_S).with(|it| it.warm_up_ns = 1_500 * MS);
        let measured = measure(&load, hangs);
        let requests: u64 = measured.awaited.iter().map(|it| it.requests).sum();
        let (first, last) = (measured.awaited[0], measured.awaited[measured.awaited.len() - 1]);
        assert!(requests > measured.accounting.in_flight_at_end && requests >= 4, "{:?}", measured.awaited);
        assert!(first.youngest_s >= 1.0 && (4.0..5.5).contains(&last.oldest_s), "{:?}", measured.awaited);
    }
    assert_eq!(measure(&spec(open(100.0), 10, 3 * NS_PER_S), hello(10 * MS)).awaited, []);
}

#[test]
fn what_timed_out_in_a_silence_was_not_refused() {
    for model in [LoadModel::Closed, open(500.0)] {
        let timed = spec(model, 2, 10 * NS_PER_S).with(|it| it.timeout_ns = Some(200 * MS));
        let stalls = SimulatedServer { stall: Some((9 * NS_PER_S, 5 * NS_PER_S)), ..hello(MS) };
        let measured = measure(&timed, stalls);
        let [silence] = measured.silences[..] else { panic!("{:?}", measured.silences) };
        assert!(silence.failed > Some(5) && silence.refused == Some(0), "{silence:?}");
        assert!(!silence.answered_in_drain, "none was left that could have shown it");
    }
}

#[test]
fn a_silence_at_the_end_says_whether_a_reply_came_in_the_drain() {
    let answered = |for_ms: u64| {
        let measured = stalled(LoadModel::Closed, 9000, for_ms);
        let [silence] = measured.silences[..] else { panic!("{:?}", measured.silences) };
        assert!((silence.at_s + silence.length_s - 10.0).abs() < 1e-9 || for_ms < 1000, "{silence:?}");
        silence.answered_in_drain
    };
    assert_eq!([900, 1500, 2500].map(answered), [false, true, false], "it came back in the window, after it, or not");
}

#[test]
fn the_slowest_reply_of_all_is_known_whenever_it_came_and_whatever_it_belongs_to() {
    let slowest = |server: SimulatedServer, way: fn(&mut model::LoadSpec)| {
        let load = spec(LoadModel::Closed, 2, 3 * NS_PER_S).with(|it| it.warm_up_ns = NS_PER_S).with(way);
        measure(&load, server).slowest_reply_s
    };
    let ways: [fn(&mut model::LoadSpec); 4] =
        [|_| {}, |it| it.pipeline = 2, |it| it.keep_alive = false, |it| it.model = open(20.0)];
    for way in ways {
        let stalled = |from_ms, for_ms| SimulatedServer { stall: Some((from_ms * MS, for_ms * MS)), ..hello(MS) };
        let is_about = |found: Option<f64>, expected_s: f64| (found.unwrap() - expected_s).abs() < 0.06;
        assert!(is_about(slowest(stalled(200, 500), way), 0.5), "of the warm-up");
        assert!(is_about(slowest(stalled(3_800, 700), way), 0.7), "in the drain");
        assert_eq!(slowest(hello(3600 * NS_PER_S), way), None);
    }
    assert!((slowest(hello(2_500 * MS), |_| {}).unwrap() - 2.5).abs() < 0.01, "to requests of the warm-up alone");
}
