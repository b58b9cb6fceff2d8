//! What is said of requests that got no reply, and of what else kept connections from serving.

use engine::RunOptions;
use engine::simulation::{SimulatedServer, simulate};

use super::*;

#[test]
fn requests_that_hang_since_the_warm_up_are_named() {
    let mut load = Measurement { window_s: 3.0, ..Measurement::default() };
    load.connections.opened = 100;
    load.residence.in_flight_s = 300.0;
    load.residence.requests_s = 300.0;
    load.awaited = vec![Awaited { requests: 100, youngest_s: 4.2, oldest_s: 4.9 }];
    load.steps = vec![Interval { at_s: -1.0, length_s: 1.0, completed: 1_901, sent: 2_001, ..Interval::default() }];
    let text = "no whole reply came in the window: 100 requests, one on each connection, have had none since the warm-up, and \
                kept every other from being sent; the server answered 1,901 requests in the warm-up, until less than a \
                second before the window";
    assert_eq!(said(&judge_load(&closed(), None, &load).reasons), (LimitCode::NoReply.into(), text.to_owned()));
}

#[test]
fn what_was_none_of_completed_requests_is_named_by_what_it_was() {
    let with = |requests: f64, keep_alive: bool, timed_out: u64| {
        let mut load = measurement(100.0, 9_200.0, 0.43);
        load.residence.completed_s = 650.0;
        (load.residence.requests_s, load.residence.in_flight_s) = (requests, requests);
        (load.accounting.scheduled, load.accounting.sent) = (92_000 + timed_out, 92_000 + timed_out);
        load.accounting.failed.insert(Failure::TimedOut, timed_out);
        let spec = closed().with(|it| it.keep_alive = keep_alive);
        let reasons = judge_load(&spec, None, &load).reasons;
        reasons.into_iter().find(|reason| reason.code() == Mark::Unserved.into()).map(|reason| words(&reason))
    };
    let said = |rest: &str| Some(format!("completed requests account for 65 % of the connections' time, {rest}"));
    assert_eq!(with(660.0, true, 0), said("opening connections for 34 %"));
    assert_eq!(with(1_000.0, true, 900), said("requests that timed out for 35 %"));
    assert_eq!(with(1_000.0, true, 0), said("requests without a whole reply for 35 %"));
    assert_eq!(with(1_000.0, false, 900), said("requests that timed out for 35 %"));
}

/// A closed load of so many seconds after one of warm-up, in virtual time.
fn closed_for(window_s: u64) -> LoadSpec {
    closed().with(|it| {
        it.connections = 20;
        (it.warm_up_ns, it.extent) = (NS_PER_S, Extent::Window(window_s * NS_PER_S));
    })
}

/// Whether a simulated server is called hung, said to have stopped, and bad.
fn found_of(spec: &LoadSpec, server: SimulatedServer) -> [bool; 3] {
    let measured = simulate(spec, server, RunOptions::default(), &mut |_| {}).unwrap().measurement;
    let validity = judge_load(spec, None, &measured);
    let hangs = validity.reasons.iter().any(|reason| reason.code() == Mark::Hung.into());
    [hangs, validity.failing.stopped > 0, validity.failing.bad]
}

/// All replies of the window may be to requests of the warm-up, so that the books know of none.
#[test]
fn a_server_that_takes_as_long_as_the_window_neither_hangs_nor_stopped() {
    let ways: [fn(LoadSpec) -> LoadSpec; 4] = [
        |spec| spec,
        |spec| spec.with(|it| it.pipeline = 2),
        |spec| spec.with(|it| it.keep_alive = false),
        |spec| spec.with(|it| it.model = LoadModel::Open { rate_per_s: 20.0, arrivals: Arrivals::Constant }),
    ];
    let slow = [(1_100, 3), (2_500, 3), (3_900, 3), (6_100, 10), (7_000, 10), (9_000, 10), (10_500, 10)];
    for (way, with) in ways.into_iter().enumerate() {
        for (takes_ms, window_s) in slow {
            let server = SimulatedServer::new(takes_ms * 1_000_000, "Hello");
            let found = found_of(&with(closed_for(window_s)), server);
            assert_eq!(found, [false; 3], "way {way}: {takes_ms} ms in {window_s} s");
        }
    }
}

#[test]
fn a_server_that_hangs_after_it_was_quick_is_told_as_before() {
    let stalls =
        SimulatedServer { stall: Some((2 * NS_PER_S, NS_PER_S * 60)), ..SimulatedServer::new(10_000_000, "Hello") };
    assert_eq!(found_of(&closed_for(3), stalls), [false, true, true]);
    let hangs = SimulatedServer { slow: Some((500, 3600 * NS_PER_S)), ..SimulatedServer::new(100_000_000, "Hello") };
    assert_eq!(found_of(&closed_for(10), hangs), [true, false, false], "too few of them to be bad");
}
