//! The generator's own standstills over a simulated server: what they touch is told apart, and excuses nobody else.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use engine::simulation::SimulatedServer;
use model::{Arrivals, LateCause, LoadModel, Measurement, NS_PER_S, NotSent};
use support::{MS, assert_close, hello, measure, open, spec};

#[test]
fn only_what_held_the_generator_up_within_the_window_counts_as_its_stall() {
    // Held up from and for so many milliseconds; the window lasts from 1000 to 3000.
    for (from, length, inside) in [(250, 500, 0), (500, 1000, 500), (1500, 1000, 1000), (2800, 1000, 200)] {
        let server = SimulatedServer { overslept: Some((from * MS, length * MS)), ..hello(MS / 10) };
        let spec = spec(LoadModel::Closed, 1, 2 * NS_PER_S).with(|it| it.warm_up_ns = NS_PER_S);
        let stall_ms = measure(&spec, server).generator.threads[0].longest_stall_us / 1e3;
        // A sleep of 50 ms may have been meant.
        let (least, most) = ((inside as f64 - 50.0).max(0.0), inside as f64);
        assert!((least..=most).contains(&stall_ms), "{stall_ms} ms, of {length} ms from {from} ms on");
    }
}

/// Ten seconds at 1,000 a second over 50 connections to a server that answers in 0.1 ms, in which the generator sleeps on
/// for so many milliseconds.
fn overslept(model: LoadModel, from_ms: u64, for_ms: u64) -> Measurement {
    let server = SimulatedServer { overslept: Some((from_ms * MS, for_ms * MS)), ..hello(MS / 10) };
    measure(&spec(model, 50, 10 * NS_PER_S), server)
}

#[test]
fn what_came_due_while_the_generator_stood_still_is_told_apart() {
    let measured = overslept(open(1000.0), 3000, 1000);
    let response = measured.latency_us.response.as_ref().unwrap();
    assert_eq!(response.count, 10_000, "every request stays, from its intended time");
    assert_close(response.p99, 900_000.0, "response p99");
    let stood = measured.standstills.as_ref().unwrap();
    assert!((stood.sum_s - 1.0).abs() < 0.011 && stood.count == 1, "{stood:?}");
    assert_eq!((stood.longest_s, stood.never_sent), (stood.sum_s, 0));
    assert!((stood.spans[0].at_s - 3.0).abs() < 0.011 && stood.spans[0].length_s == stood.sum_s, "{stood:?}");
    // 1,000 came due in it; those right after it waited until these had gone.
    assert!((999..=1012).contains(&stood.requests), "{stood:?}");
    let without = stood.without_us.response.as_ref().unwrap();
    assert_eq!(without.count, 10_000, "every request stays here, too");
    assert!(without.max.unwrap() < 1_500.0, "nothing is left of it: {without:?}");
    let late = &measured.accounting.sent_late;
    assert!(late[&LateCause::Generator] >= 985 && !late.contains_key(&LateCause::NoConnection), "{late:?}");
}

#[test]
fn a_server_that_stands_still_is_no_standstill_of_the_generator() {
    let stalled = SimulatedServer { stall: Some((3 * NS_PER_S, NS_PER_S)), ..hello(MS / 10) };
    let measured = measure(&spec(open(1000.0), 50, 10 * NS_PER_S), stalled);
    assert_eq!(measured.standstills, None);
    assert!(!measured.accounting.sent_late.contains_key(&LateCause::Generator));
    assert_eq!(overslept(LoadModel::Closed, 3000, 9).standstills, None, "shorter than another's turn on a CPU");
}

#[test]
fn a_closed_load_knows_its_own_standstill_too() {
    let stood = overslept(LoadModel::Closed, 3000, 1000).standstills.unwrap();
    assert!((stood.sum_s - 1.0).abs() < 0.011, "{stood:?}");
    assert_eq!(stood.requests, 100, "those in flight, and those that all left at once after it");
    let without = stood.without_us.service.unwrap();
    assert!(without.max.unwrap() < 101.0, "{without:?}");
}

#[test]
fn what_a_standstill_at_the_end_kept_from_leaving_is_not_the_servers_doing() {
    let measured = overslept(open(1000.0), 9500, 800);
    let stood = measured.standstills.unwrap();
    let late = measured.accounting.not_sent[&NotSent::LateAtEnd];
    assert!((490..=500).contains(&late) && stood.never_sent == late, "{late}: {stood:?}");
    assert_eq!(measured.accounting.not_sent.len(), 1, "nothing is charged to the server");
    assert!((0.48..=0.5).contains(&stood.sum_s), "only what lay in the window: {stood:?}");
    let without = stood.without_us.response.unwrap();
    assert_eq!((without.censored, without.count), (0, 10_000 - late), "what never left has no time of its own");
}

#[test]
fn replies_that_came_while_the_generator_slept_through_the_drain_are_read() {
    // More connections than one wait tells of; the drain lasts a second.
    let server = SimulatedServer { overslept: Some((950 * MS, 2000 * MS)), ..hello(30 * MS) };
    let measured = measure(&spec(LoadModel::Closed, 2000, NS_PER_S), server);
    let books = &measured.accounting;
    assert_eq!((books.in_flight_at_end, books.completed), (0, books.sent), "{books:?}");
    assert!(measured.standstills.is_some_and(|stood| stood.count >= 1));
}

#[test]
fn what_came_due_just_before_the_end_leaves_just_after_it_and_is_timed_from_when_it_was_due() {
    let measured = overslept(open(1000.0), 9996, 9);
    let books = &measured.accounting;
    assert!(measured.standstills.is_none(), "too short for one: {:?}", measured.standstills);
    assert_eq!((books.sent, books.not_sent.len()), (10_000, 0), "{books:?}");
    let longest_us = measured.latency_us.response.unwrap().max.unwrap();
    assert!((8_000.0..12_000.0).contains(&longest_us), "{longest_us}");
}

/// The books of 10 s at 1,000 a second over 50 connections to a server that does 500, in which the generator sleeps on for
/// so long at 9 s.
fn overloaded(overslept_ms: u64) -> Measurement {
    let overslept = Some((9000 * MS, overslept_ms * MS));
    let server = SimulatedServer { workers: 50, overslept, ..hello(100 * MS) };
    measure(&spec(open(1000.0), 50, 10 * NS_PER_S), server)
}

#[test]
fn what_had_waited_for_the_server_before_a_standstill_stays_the_servers() {
    let measured = overloaded(30);
    let waiting = measured.accounting.not_sent[&NotSent::WaitingAtEnd];
    assert!(waiting > 4500, "{waiting}");
    let stood = measured.standstills.as_ref().unwrap();
    assert!(stood.count == 1 && (0.01..=0.03).contains(&stood.sum_s), "{stood:?}");
    let most = (2.0 * 1000.0 * stood.sum_s).ceil() as u64;
    assert!((10..=most).contains(&stood.never_sent), "what came due in it, and as many behind: {stood:?}");
    let followed = stood.requests - stood.never_sent;
    assert!(
        (500..=560).contains(&followed),
        "and what was in flight or followed, for it was never worked off: {stood:?}"
    );
    let late = &measured.accounting.sent_late;
    assert!(late[&LateCause::NoConnection] > 4500 && !late.contains_key(&LateCause::Generator), "{late:?}");
}

#[test]
fn a_server_that_dies_is_not_excused_by_a_standstill() {
    let dead =
        SimulatedServer { refuses_from: Some(5 * NS_PER_S), overslept: Some((9000 * MS, 30 * MS)), ..hello(MS / 10) };
    let with = spec(open(1000.0), 50, 10 * NS_PER_S).with(|it| it.keep_alive = false);
    let measured = measure(&with, dead);
    let stood = measured.standstills.unwrap();
    let lost: u64 = measured.accounting.not_sent.values().sum();
    assert!(lost > 4900 && stood.count == 1, "{:?}", measured.accounting);
    assert!(stood.requests <= (2.0 * 1000.0 * stood.sum_s).ceil() as u64 + 50, "{stood:?}");
}

#[test]
fn a_closed_load_loses_to_a_standstill_only_what_was_in_flight() {
    let with = spec(LoadModel::Closed, 50, 4 * NS_PER_S).with(|it| it.timeout_ns = Some(500 * MS));
    let server = SimulatedServer {
        overslept: Some((3000 * MS, 100 * MS)),
        stall: Some((2999 * MS + MS / 2, 9 * NS_PER_S)),
        ..hello(MS)
    };
    let measured = measure(&with, server);
    let stood = measured.standstills.unwrap();
    let (all, without) = (measured.latency_us.service.unwrap(), stood.without_us.service.as_ref().unwrap());
    assert!(all.censored >= 50 && stood.requests == 50, "{stood:?}");
    assert_eq!((without.count, without.censored), (all.count, all.censored), "none is lost");
    let least_us = without.exact_below.unwrap();
    assert!(least_us > 280_000.0, "half a second, less the standstill and as long again: {without:?}");
}

/// Ten seconds over 50 connections to a server of which every fiftieth request takes 400 ms longer, and in which the generator
/// sleeps on for 20 ms.
fn slow_itself(model: LoadModel) -> Measurement {
    let overslept = Some((3000 * MS, 20 * MS));
    let server = SimulatedServer { overslept, slow: Some((50, 400 * MS)), ..hello(MS) };
    measure(&spec(model, 50, 10 * NS_PER_S), server)
}

#[test]
fn a_server_that_is_slow_itself_is_not_excused_by_a_standstill() {
    for model in [LoadModel::Closed, open(1000.0)] {
        let measured = slow_itself(model);
        let stood = measured.standstills.as_ref().unwrap();
        let (all, without) = (measured.latency_us.felt().unwrap(), stood.without_us.felt().unwrap());
        assert!(stood.requests >= 5, "slow ones wait in it: {stood:?}");
        assert_eq!(without.count, all.count);
        let most_us = all.max.unwrap();
        let taken_off_us = most_us - without.max.unwrap();
        assert!(most_us > 400_000.0 && (0.0..=30_100.0).contains(&taken_off_us), "{all:?} {without:?}");
        let slow = |summary: &model::LatencySummary| summary.p99.unwrap() > 380_000.0;
        assert!(slow(all) && slow(without), "{all:?} {without:?}");
    }
}

#[test]
fn replies_that_came_while_the_generator_was_held_up_are_received_before_time_outs_are_looked_for() {
    for model in [LoadModel::Closed, open(1000.0)] {
        let with = spec(model, 50, 10 * NS_PER_S).with(|it| it.timeout_ns = Some(100 * MS));
        let server = SimulatedServer { held_up: Some((3000 * MS, 500 * MS)), ..hello(20 * MS) };
        let measured = measure(&with, server);
        assert_eq!(measured.standstills.as_ref().unwrap().count, 1);
        assert!(measured.accounting.failed.is_empty(), "{:?}", measured.accounting.failed);
    }
}

#[test]
fn opening_many_connections_again_is_no_standstill() {
    for model in [LoadModel::Closed, open(1000.0)] {
        let with = spec(model, 1000, 3 * NS_PER_S).with(|it| it.timeout_ns = Some(200 * MS));
        let server = SimulatedServer { workers: 0, opening_ns: MS / 20, ..hello(MS) };
        let measured = measure(&with, server);
        assert!(measured.connections.opened > 2000, "{:?}", measured.connections);
        assert_eq!(measured.standstills, None);
    }
}

#[test]
fn an_open_load_knows_that_it_was_held_up_as_it_sent() {
    // One connection, so that nothing more leaves after that send, and hardly longer than the sleep that follows: what is not
    // looked at before it passes for a part of it.
    let server = SimulatedServer { held_up: Some((3000 * MS, 15 * MS)), ..hello(MS / 10) };
    let stood = measure(&spec(open(50.0), 1, 5 * NS_PER_S), server).standstills.unwrap();
    assert_eq!((stood.count, stood.sum_s), (1, 0.015), "{stood:?}");
}

/// Ten seconds at so many a second over so many connections to a server with a single worker that takes so many microseconds
/// for each, in which the generator sleeps on for so long.
fn in_turn(rate: f64, (arrivals, connections): (Arrivals, u32), service_us: u64, overslept_ms: u64) -> Measurement {
    let overslept = Some((5000 * MS, overslept_ms * MS)).filter(|_| overslept_ms > 0);
    let server = SimulatedServer { workers: 1, overslept, ..hello(service_us * 1_000) };
    measure(&spec(LoadModel::Open { rate_per_s: rate, arrivals }, connections, 10 * NS_PER_S), server)
}

#[test]
fn what_waits_at_the_server_behind_what_a_standstill_held_up_is_not_the_servers_doing() {
    for (rate, connections, service_us, overslept_ms) in
        [(10_000.0, 1000, 50, 100), (5_000.0, 1000, 140, 150), (1_000.0, 50, 700, 300), (1_000.0, 50, 900, 100)]
    {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let of = |overslept_ms| in_turn(rate, (arrivals, connections), service_us, overslept_ms);
            let (truth, measured) = (of(0), of(overslept_ms));
            assert_eq!(truth.standstills, None);
            let stood = measured.standstills.as_ref().unwrap();
            assert!((stood.requests as f64) < 0.3 * measured.accounting.sent as f64, "it comes to an end: {stood:?}");
            let is_bound = |least: Option<f64>, true_us: Option<f64>| {
                assert!(least.unwrap() <= 1.05 * true_us.unwrap(), "{rate} {arrivals:?} {truth:?} {stood:?}");
            };
            let without = &stood.without_us;
            for (least, truth) in [
                (without.response.as_ref().unwrap(), truth.latency_us.response.as_ref().unwrap()),
                (without.service.as_ref().unwrap(), truth.latency_us.service.as_ref().unwrap()),
            ] {
                assert_eq!(least.count, truth.count);
                is_bound(least.mean, truth.mean);
                is_bound(least.p50, truth.p50);
                is_bound(least.p90, truth.p90);
                is_bound(least.p99, truth.p99);
                is_bound(least.p999, truth.p999);
            }
        }
    }
}
