//! Loads that follow each other on connections that stay open: each is measured as if it were alone.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::AtomicBool;

use engine::simulation::{SimulatedServer, Turns, simulate_turns};
use engine::{LoadOutput, RunOptions, Slice, rotate};
use model::{ConnectionCounts, LoadModel, LoadSpec, Measurement};
use support::{MS, checked, hello, open, spec};

const WINDOW_NS: u64 = 100 * MS;
const REST_NS: u64 = 900 * MS;

fn turns(spec: &LoadSpec, server: SimulatedServer) -> Vec<Measurement> {
    let loads = [spec.clone(), spec.clone(), spec.clone()];
    let turns = Turns { loads: &loads, drain_ns: WINDOW_NS, rest_ns: REST_NS };
    let outputs = simulate_turns(&turns, server, RunOptions::default(), &mut |_| {}).unwrap();
    outputs.into_iter().map(|output| checked(output.measurement)).collect()
}

fn with_lead_in(model: LoadModel, connections: u32) -> LoadSpec {
    let mut spec = spec(model, connections, WINDOW_NS);
    (spec.warm_up_ns, spec.start_spread_ns) = (20 * MS, 5 * MS);
    spec
}

/// Without what the first one alone has: connections to open.
fn but_for_opening(mut measured: Measurement) -> Measurement {
    measured.connections = ConnectionCounts { opened: 0, kept: 0, ..measured.connections };
    measured.latency_us.connect = None;
    measured
}

#[test]
fn each_is_measured_as_if_it_were_alone_and_what_lies_between_is_nobody_s() {
    for model in [LoadModel::Closed, open(3_000.0)] {
        let measured = turns(&with_lead_in(model, 10), hello(2 * MS));
        let opened: Vec<u64> = measured.iter().map(|it| it.connections.opened).collect();
        assert_eq!(opened, [10, 0, 0]);
        let [alone, second, third] = measured.try_into().unwrap();
        assert_eq!(alone.accounting.completed, if model == LoadModel::Closed { 500 } else { 300 });
        assert!(alone.standstills.is_none() && alone.silences.is_empty(), "{alone:?}");
        let alone = but_for_opening(alone);
        assert_eq!([but_for_opening(second), but_for_opening(third)], [alone.clone(), alone]);
    }
}

#[test]
fn what_does_not_drain_is_booked_there_and_never_comes_to_the_next() {
    let measured = turns(&with_lead_in(LoadModel::Closed, 4), hello(350 * MS));
    for one in &measured {
        assert_eq!((one.accounting.completed, one.connections.unasked_replies), (0, 0));
        assert_eq!(one.awaited.iter().map(|it| it.requests).sum::<u64>(), 4, "{one:?}");
    }
    assert_eq!(measured.iter().map(|it| it.connections.opened).collect::<Vec<_>>(), [4, 4, 4], "opened anew");
}

#[test]
fn connections_that_the_server_closed_between_two_are_counted_and_cost_no_request() {
    let server = SimulatedServer { closes_idle: Some((10, 500 * MS)), ..hello(2 * MS) };
    let [first, second, third] = turns(&with_lead_in(LoadModel::Closed, 10), server).try_into().unwrap();
    assert_eq!((first.connections.closed_idle, first.connections.opened), (0, 10));
    for one in [second, third] {
        assert_eq!((one.connections.closed_idle, one.connections.opened), (10, 10));
        assert_eq!((one.accounting.completed, one.accounting.failed.values().sum::<u64>()), (500, 0));
    }
}

#[test]
fn a_connection_that_is_lost_and_refused_does_not_end_the_load_of_those_that_were_kept() {
    let server = SimulatedServer { closes_idle: Some((1, 500 * MS)), refuses_from: Some(500 * MS), ..hello(2 * MS) };
    let [first, second, _] = turns(&with_lead_in(LoadModel::Closed, 10), server).try_into().unwrap();
    assert_eq!((first.connections.kept, first.accounting.completed), (0, 500));
    let ConnectionCounts { opened, kept, connect_failed, never_served, .. } = second.connections;
    assert_eq!((opened, kept, never_served, second.accounting.completed), (0, 10, 1, 450));
    assert!(connect_failed > 0 && (second.window_s - 0.1).abs() < 1e-9, "{second:?}");
}

/// A server that answers until the test's process ends.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut heads = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let mut to = stream;
                while heads.find(String::is_empty).is_some() {
                    to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHello world").unwrap();
                }
            });
        }
    });
    address
}

#[test]
fn slices_go_round_among_servers_whose_connections_stay_open() {
    let specs: Vec<LoadSpec> =
        (0..2).map(|_| LoadSpec { address: server(), threads: 2, ..spec(LoadModel::Closed, 6, MS) }).collect();
    let order = [0, 1, 1, 0, 1];
    let brought = RefCell::new(Vec::<LoadOutput>::new());
    let mut next = |last: Option<LoadOutput>| {
        brought.borrow_mut().extend(last);
        let turn = brought.borrow().len();
        let server = *order.get(turn)?;
        Some(Slice { server, lead_in_ns: 20 * MS, window_ns: 30 * MS, seed: turn as u64 })
    };
    rotate(&specs, RunOptions::default(), &AtomicBool::new(false), &mut next, &mut |_| {}).unwrap();
    let brought = brought.into_inner();
    let opened: Vec<u64> = brought.iter().map(|it| it.measurement.connections.opened).collect();
    assert_eq!(opened, [6, 6, 0, 0, 0]);
    for (one, following) in brought.iter().zip(&brought[1..]) {
        assert!(one.window_end_ns < following.window_start_ns - 20 * MS, "their times do not overlap");
    }
    for LoadOutput { measurement, .. } in brought {
        let measured = checked(measurement);
        assert!(measured.accounting.completed > 0 && measured.awaited.is_empty(), "{measured:?}");
        assert_eq!(measured.generator.threads.len(), 2);
    }
}
