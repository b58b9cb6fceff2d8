//! The whole loop over a simulated server: what it must measure is known exactly.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::simulation::{SimulatedServer, simulate, simulate_share};
use engine::{Brought, IntervalLog, LoadOutput, RunOptions};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry, Tag};
use model::{Extent, LateCause, LoadModel, Measurement, NS_PER_S, NotSent, Tls, Trust};
use proptest::prelude::*;
use support::{MS, assert_close, checked, hello, measure, open, spec};

/// The value that a share `q` of a sorted list does not exceed.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    sorted[((q * sorted.len() as f64).ceil() as usize).max(1) - 1]
}

/// A server that answers at once, but for one second in a window of ten.
fn stalled(connections: u32) -> (LoadOutput, Vec<u8>, Vec<f64>) {
    let (from, length) = (3 * NS_PER_S, NS_PER_S);
    let server = SimulatedServer { stall: Some((from, length)), ..hello(MS / 10) };
    let mut log = IntervalLog::new(Vec::new(), SystemTime::UNIX_EPOCH);
    let (spec, options) =
        (spec(open(1000.0), connections, 10 * NS_PER_S), RunOptions { histograms: true, ..RunOptions::default() });
    let output = simulate(&spec, server, options, &mut |passed| log.add(&passed.second)).unwrap();
    checked(output.measurement.clone());
    let mut expected: Vec<f64> = (0..10_000u64)
        .map(|n| n * MS)
        .map(|at| if at + MS / 10 > from && at < from + length { from + length - at } else { MS / 10 })
        .map(|ns| ns as f64 / 1e3)
        .collect();
    expected.sort_by(f64::total_cmp);
    (output, log.end().unwrap(), expected)
}

#[test]
fn a_stall_is_felt_by_everyone_who_was_due_whatever_the_number_of_connections() {
    for connections in [50, 2000] {
        let (output, log, expected) = stalled(connections);
        let whole = logged(&log, "response");
        let response = output.measurement.latency_us.response.unwrap();
        assert_eq!((response.count, response.censored), (10_000, 0));
        for (name, value, q) in [
            ("p50", response.p50, 0.5),
            ("p92", Some(whole.value_at_quantile(0.92) as f64 / 10.0), 0.92),
            ("p95", response.p95, 0.95),
            ("p99", response.p99, 0.99),
        ] {
            assert_close(value, quantile(&expected, q), &format!("{name} with {connections} connections"));
        }
    }
}

#[test]
fn the_halves_of_the_window_are_told_apart() {
    let server = || SimulatedServer { stall: Some((NS_PER_S, NS_PER_S / 2)), ..hello(MS) };
    let [first, second] = measure(&spec(LoadModel::Closed, 10, 4 * NS_PER_S), server()).in_window.halves;
    // Ten connections, a millisecond each: half a second of the first half stood still.
    assert!((14_960..=15_040).contains(&first.completed), "{first:?}");
    assert!((19_980..=20_020).contains(&second.completed), "{second:?}");
    let mean_us = first.mean_service_us().unwrap();
    assert!((mean_us - 1_333.0).abs() < 10.0, "ten of 15,000 took half a second more: {mean_us}");
    assert_eq!(second.mean_service_us(), Some(1_000.0));
    let counted =
        spec(LoadModel::Closed, 10, 0).with(|it| it.extent = Extent::Requests { count: 1_000, within_ns: None });
    let measured = measure(&counted, server());
    assert_eq!(measured.in_window.halves.map(|half| half.completed), [1_000, 0]);
    // The one that leaves at 1.5 s comes back at 3 s: a reply is of the half in which it comes.
    let slow = measure(&spec(LoadModel::Closed, 1, 4 * NS_PER_S), hello(1_500 * MS));
    assert_eq!(slow.in_window.halves.map(|half| half.completed), [1, 1]);
}

/// All seconds of one distribution, read back from the interval log as another tool would.
fn logged(log: &[u8], tag: &str) -> Histogram<u64> {
    let mut whole = Histogram::new_with_bounds(1, 36_000_000_000, 3).unwrap();
    for entry in IntervalLogIterator::new(log) {
        if let LogEntry::Interval(interval) = entry.unwrap()
            && interval.tag() == Tag::new(tag)
        {
            let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
            let second: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            whole.add(second).unwrap();
        }
    }
    whole
}

/// Whether a hundred handlers that sleep for 100 ms keep a rate that does not step: over ten and a half of these they
/// complete ten and a half rounds.
#[test]
fn starts_that_are_spread_stay_spread() {
    let completed = |start_spread_ns: u64| {
        let with = spec(LoadModel::Closed, 100, 1050 * MS).with(|it| {
            it.start_spread_ns = start_spread_ns;
            it.warm_up_ns = 100 * MS;
        });
        measure(&with, hello(100 * MS)).in_window.completed
    };
    assert!(completed(0).is_multiple_of(100), "in lockstep: {}", completed(0));
    assert!((1049..=1051).contains(&completed(100 * MS)), "{}", completed(100 * MS));
}

#[test]
fn connecting_is_part_of_a_request_that_opens_its_own_connection() {
    let server = || SimulatedServer { connect_ns: 3 * MS, ..hello(MS) };
    let with = spec(LoadModel::Closed, 10, 2 * NS_PER_S).with(|it| it.keep_alive = false);
    let measured = measure(&with, server());
    let total = measured.latency_us.total.as_ref().unwrap();
    let service = measured.latency_us.service.as_ref().unwrap();
    assert!((total.p50.unwrap() - 4_000.0).abs() < 5.0 && (service.p50.unwrap() - 1_000.0).abs() < 2.0);
    assert_eq!(measured.latency_us.felt(), Some(total));
    // Ten connections, each always connecting or waiting for its reply.
    let served_s = measured.residence.completed_s;
    assert!((19.9..=20.0).contains(&served_s), "{served_s} s");
    assert_eq!(measure(&spec(LoadModel::Closed, 10, NS_PER_S), server()).latency_us.total, None);
    let open = measure(&spec(open(100.0), 10, 2 * NS_PER_S).with(|it| it.keep_alive = false), server()).latency_us;
    assert_eq!(open.total, None);
    assert!((open.response.unwrap().p50.unwrap() - 4_000.0).abs() < 5.0, "from the intended time");
}

#[test]
fn service_time_shows_the_naive_figure_beside_it() {
    let measured = stalled(50).0.measurement;
    let service = measured.latency_us.service.unwrap();
    assert!(service.p99.unwrap() < 1000.0, "only the 50 requests in flight felt it: {service:?}");
    let waited = measured.accounting.sent_late[&LateCause::NoConnection];
    assert!((949..=951).contains(&waited), "all but the 50 in flight waited for a connection: {waited}");
    assert!(!measured.accounting.sent_late.contains_key(&LateCause::Generator));
}

#[test]
fn a_closed_model_has_no_response_time_and_serves_n_over_s() {
    let measured = measure(&spec(LoadModel::Closed, 100, 2 * NS_PER_S), hello(10 * MS));
    assert_eq!(measured.latency_us.response, None);
    assert_eq!(measured.latency_us.lateness, None);
    assert!((measured.requests_per_s() - 10_000.0).abs() <= 100.0, "{}", measured.requests_per_s());
    assert_close(measured.latency_us.service.unwrap().p99, 10_000.0, "service p99");
    assert_eq!(measured.connections.jain, Some(1.0));
}

#[test]
fn a_serial_server_answers_one_at_a_time_and_the_waiting_is_in_the_service_time() {
    let server = SimulatedServer { workers: 1, ..hello(10 * MS) };
    let measured = measure(&spec(LoadModel::Closed, 100, 10 * NS_PER_S), server);
    assert!((measured.requests_per_s() - 100.0).abs() <= 1.0);
    assert_close(measured.latency_us.service.unwrap().p50, 1_000_000.0, "service p50");
}

#[test]
fn the_refused_have_no_response_time_however_soon_they_were() {
    let killed = SimulatedServer { refuses_from: Some(NS_PER_S), ..hello(50 * MS) };
    let load = spec(open(200.0), 50, 4 * NS_PER_S).with(|it| it.keep_alive = false);
    let measured = measure(&load, killed);
    assert!(measured.accounting.not_sent[&NotSent::Refused] > 500, "{:?}", measured.accounting);
    let response = measured.latency_us.response.unwrap();
    assert!(response.min >= Some(49_900.0) && (0.7..0.8).contains(&response.failed_share()), "{response:?}");
    assert_eq!((response.p50, response.p99, response.count + response.failed), (None, None, 800));
    assert_close(response.max, 50_000.0, "those that were answered");
    assert_close(measured.latency_us.service.unwrap().p50, 50_000.0, "of what was sent nothing failed");
}

#[test]
fn what_a_server_cannot_serve_stays_in_the_books_and_in_the_percentiles() {
    let server = SimulatedServer { workers: 1, ..hello(10 * MS) };
    let measured = measure(&spec(open(200.0), 10, 5 * NS_PER_S), server);
    let books = &measured.accounting;
    assert_eq!(books.scheduled, 1000);
    assert!(books.not_sent[&NotSent::WaitingAtEnd] > 300, "{books:?}");
    let response = measured.latency_us.response.unwrap();
    assert_eq!(response.count, 1000, "every request that was due is in the population");
    assert!(response.is_lower_bound(response.p99.unwrap()));
}

#[test]
fn an_exact_number_of_requests_is_exact() {
    for (count, connections) in [(1, 10), (100, 7), (1003, 100)] {
        let extent = Extent::Requests { count, within_ns: None };
        let closed = measure(&spec(LoadModel::Closed, connections, 0).with(|it| it.extent = extent), hello(MS));
        assert_eq!((closed.accounting.scheduled, closed.accounting.ok), (count, count));
        let open = measure(&spec(open(5000.0), connections, 0).with(|it| it.extent = extent), hello(MS));
        assert_eq!((open.accounting.scheduled, open.accounting.ok), (count, count));
    }
}

#[test]
fn an_exact_number_is_measured_over_the_time_it_took_whatever_its_limit() {
    let extent = Extent::Requests { count: 1000, within_ns: Some(60 * NS_PER_S) };
    let measured = measure(&spec(LoadModel::Closed, 10, 0).with(|it| it.extent = extent), hello(10 * MS));
    assert!((measured.window_s - 1.0).abs() < 0.02, "100 rounds of 10 ms: {} s", measured.window_s);
    assert!((measured.requests_per_s() - 1000.0).abs() < 20.0, "{}", measured.requests_per_s());
}

#[test]
fn an_exact_number_at_a_rate_is_measured_over_the_time_it_takes_at_that_rate() {
    let extent = Extent::Requests { count: 5, within_ns: None };
    let measured = measure(&spec(open(5.0), 5, 0).with(|it| it.extent = extent), hello(MS));
    assert_eq!((measured.accounting.ok, measured.window_s, measured.requests_per_s()), (5, 1.0, 5.0));
    let slow = measure(&spec(open(5.0), 5, 0).with(|it| it.extent = extent), hello(500 * MS));
    assert!((slow.window_s - 1.3).abs() < 0.001, "the last is due at 0.8 s: {}", slow.window_s);
}

#[test]
fn every_request_that_is_due_before_the_end_leaves() {
    for rate in [29.0, 58.0, 77.0, 83.0, 109.0, 116.0, 0.9] {
        let with = spec(open(rate), 5, 3 * NS_PER_S).with(|it| it.warm_up_ns = NS_PER_S);
        let books = measure(&with, hello(MS)).accounting;
        assert_eq!((books.sent, books.ok), (books.scheduled, books.scheduled), "{rate} a second: {books:?}");
    }
}

#[test]
fn what_is_due_by_the_end_of_a_second_has_left_when_that_second_is_told() {
    let with = spec(open(1_000.0), 50, 3 * NS_PER_S);
    // It slept on for 20 ms over the end of the first second.
    let server = SimulatedServer { overslept: Some((990 * MS, 20 * MS)), ..hello(MS / 10) };
    let mut told = 0;
    let mut stopped = |seconds, brought: Brought| {
        let books = checked(brought.conclude().measurement).accounting;
        assert!(books.not_sent.is_empty() && books.sent >= 1_000 * seconds, "{seconds}: {books:?}");
        told += 1;
    };
    simulate_share(&with, 0, server, &mut stopped).unwrap();
    assert_eq!(told, 2);
}

#[test]
fn warm_up_is_in_no_book_and_no_histogram() {
    let with = spec(open(1000.0), 50, 3 * NS_PER_S).with(|it| it.warm_up_ns = 2 * NS_PER_S);
    let measured = measure(&with, SimulatedServer { stall: Some((0, NS_PER_S)), ..hello(MS) });
    assert_eq!(measured.accounting.scheduled, 3000);
    let response = measured.latency_us.response.unwrap();
    assert_eq!(response.count, 3000);
    assert!(response.max.unwrap() < 2000.0, "the stall lay in the warm-up: {response:?}");
    let at: Vec<(f64, f64)> = measured.steps.iter().map(|step| (step.at_s, step.length_s)).collect();
    assert_eq!(at, [(-2.0, 2.0), (0.0, 1.0), (1.0, 1.0), (2.0, 1.0)], "the warm-up is one step");
}

#[test]
fn connections_opened_before_the_window_are_not_opened_in_it() {
    let opened = |keep_alive, warm_up_ns| {
        let load = spec(LoadModel::Closed, 10, 2 * NS_PER_S)
            .with(|it| (it.keep_alive, it.warm_up_ns, it.start_spread_ns) = (keep_alive, warm_up_ns, 0));
        let counts = measure(&load, SimulatedServer { connect_ns: MS, ..hello(MS) }).connections;
        (counts.opened_in_window.unwrap(), counts.opened)
    };
    assert_eq!([opened(true, 0), opened(true, NS_PER_S)], [(0, 10), (0, 10)]);
    let [(without, all), (inside, with)] = [opened(false, 0), opened(false, NS_PER_S)];
    assert!(all.abs_diff(10_000) <= 20 && with.abs_diff(15_000) <= 20, "2 ms each: {all}, {with}");
    assert!(without.abs_diff(10_000) <= 20 && inside.abs_diff(10_000) <= 20, "{without}, {inside}");
}

#[test]
fn the_window_does_not_begin_with_the_backlog_of_the_warm_up() {
    // The server is nine tenths busy: it would need the whole window for the backlog of this stall.
    let with = spec(open(900.0), 1, 3 * NS_PER_S).with(|it| it.warm_up_ns = 2 * NS_PER_S);
    let measured = measure(&with, SimulatedServer { stall: Some((NS_PER_S / 2, 1400 * MS)), ..hello(MS) });
    assert_eq!((measured.accounting.scheduled, measured.accounting.ok), (2700, 2700));
    assert!(measured.requests_per_s() < 901.0, "no faster than it was asked: {}", measured.requests_per_s());
    let response = measured.latency_us.response.unwrap();
    assert!(response.max.unwrap() < 5000.0, "{response:?}");
}

#[test]
fn pipelined_requests_are_measured_one_by_one() {
    let server = SimulatedServer { workers: 1, ..hello(MS) };
    let measured = measure(&spec(LoadModel::Closed, 1, NS_PER_S).with(|it| it.pipeline = 16), server);
    assert!((measured.requests_per_s() - 1000.0).abs() <= 16.0);
    assert_close(measured.latency_us.service.unwrap().p50, 16_000.0, "service p50");
}

#[test]
fn a_wrong_body_is_not_ok() {
    let measured = measure(&spec(LoadModel::Closed, 2, NS_PER_S), SimulatedServer::new(MS, "Hello wurld"));
    let books = &measured.accounting;
    assert_eq!((books.ok, books.bad_body), (0, books.completed));
    assert_eq!(measured.requests_per_s(), 0.0, "only ok replies count as throughput");
}

#[test]
fn a_time_out_closes_the_connection_and_is_censored_at_its_age() {
    let with = spec(LoadModel::Closed, 10, NS_PER_S).with(|it| it.timeout_ns = Some(100 * MS));
    let measured = measure(&with, hello(10 * NS_PER_S));
    assert!(measured.accounting.failed.values().sum::<u64>() >= 50, "{:?}", measured.accounting);
    let service = measured.latency_us.service.unwrap();
    assert_eq!(service.censored, service.count);
    assert!(service.min.unwrap() >= 99_900.0, "to three digits");
}

/// A client that waited 150 ms in vain is in its second as it is in the whole.
#[test]
fn a_second_has_those_without_a_reply_at_their_age_as_the_whole_has() {
    for (model, keep_alive) in [(LoadModel::Closed, true), (LoadModel::Closed, false), (open(200.0), true)] {
        let with = spec(model, 20, 4 * NS_PER_S).with(|it| {
            (it.timeout_ns, it.keep_alive, it.warm_up_ns) = (Some(150 * MS), keep_alive, NS_PER_S);
        });
        let server = SimulatedServer { slow: Some((20, 200 * MS)), ..hello(5 * MS) };
        let mut seconds = Vec::new();
        let told = &mut |passed: &engine::Passed| seconds.push(passed.second.clone());
        let measured = simulate(&with, server, RunOptions::default(), told).unwrap().measurement;
        let whole = measured.latency_us.felt().unwrap();
        assert!(whole.is_lower_bound(whole.p99.unwrap()), "{model:?}");
        let window = measured.steps.iter().filter(|step| step.at_s >= 0.0);
        for second in window.chain(seconds.iter().filter(|told| !told.drain).map(|told| &told.interval)) {
            let p99_us = second.p99_us.unwrap();
            assert!(p99_us >= 149_000.0 && second.is_lower_bound(p99_us), "{model:?}: {second:?}");
            assert!(!second.is_lower_bound(second.p50_us.unwrap()), "{model:?}: {second:?}");
            assert!(second.slowest_reply_us().unwrap() < 149_000.0, "{model:?}: {second:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_books_balance_for_any_load(
        rate in prop::option::of(1.0f64..3000.0),
        connections in 1u32..40,
        pipeline in 1u16..5,
        service_us in 1u64..400_000,
        workers in 1usize..50,
        timeout_ms in prop::option::of(1u64..500),
        keep_alive: bool,
        warm_up_ms in 0u64..700,
        stall in prop::option::of((0u64..2000, 1u64..1500)),
    ) {
        let model = rate.map_or(LoadModel::Closed, open);
        let spec = spec(model, connections, 1500 * MS).with(|it| {
            it.pipeline = if keep_alive { pipeline } else { 1 };
            it.keep_alive = keep_alive;
            it.timeout_ns = timeout_ms.map(|ms| ms * MS);
            it.warm_up_ns = warm_up_ms * MS;
        });
        let stall = stall.map(|(at, length)| (at * MS, length * MS));
        let measured = measure(&spec, SimulatedServer { workers, stall, ..hello(service_us * 1000) });
        if let Some(rate) = rate {
            // As many as the schedule has intended times in the window, give or take its two edges.
            prop_assert!((measured.accounting.scheduled as f64 - rate * 1.5).abs() <= 2.0);
        }
    }
}

#[test]
fn over_tls_the_same_load_has_the_same_figures() {
    let tls = Some(Tls { server_name: "x".into(), trust: Trust::Anyone, resumption: false });
    for (model, keep_alive) in [(LoadModel::Closed, true), (open(500.0), true), (LoadModel::Closed, false)] {
        let plain = spec(model, 5, 500 * MS).with(|it| it.keep_alive = keep_alive);
        let server = || SimulatedServer { stall: Some((100 * MS, 50 * MS)), takes: 20, ..hello(3 * MS) };
        let [without, with] = [None, tls.clone()].map(|tls| measure(&plain.clone().with(|it| it.tls = tls), server()));
        assert!(with.tls.as_ref().is_some_and(|tls| tls.handshakes == with.connections.opened && tls.failed == 0));
        assert_eq!(with.latency_us.handshake.as_ref().map(|it| it.count), Some(with.connections.opened));
        assert_eq!((&with.accounting, &with.in_window), (&without.accounting, &without.in_window));
        let felt = |measured: &Measurement| measured.latency_us.felt().cloned();
        assert_eq!((felt(&with), with.latency_us.service), (felt(&without), without.latency_us.service));
    }
}

#[test]
fn what_a_closed_load_began_inside_the_window_is_waited_for() {
    let with = spec(LoadModel::Closed, 10, NS_PER_S).with(|it| it.keep_alive = false);
    let measured = measure(&with, SimulatedServer { connect_ns: 7 * MS, ..hello(MS) });
    let books = &measured.accounting;
    assert!(books.scheduled > 1_000 && books.not_sent.is_empty(), "{books:?}");
    assert_eq!(measured.latency_us.total.unwrap().censored, 0);
}
