//! What the tests of the loop share: a load of `GET /` that expects `Hello world`, and the simulated server that says it.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

use engine::RunOptions;
use engine::simulation::{SimulatedServer, simulate};
use model::{Arrivals, Extent, HttpVersion, Load, LoadModel, LoadSpec, Measurement, Mix, ReplyExpectation, Request};

pub(crate) const MS: u64 = 1_000_000;

pub(crate) fn request(method: &str, path: &str, body: &[u8]) -> Request {
    Request {
        method: method.into(),
        path: path.into(),
        host: "x".into(),
        headers: vec![],
        body: body.to_vec(),
        version: HttpVersion::Http11,
    }
}

pub(crate) fn spec(model: LoadModel, connections: u32, window_ns: u64) -> LoadSpec {
    LoadSpec {
        load: Load {
            mix: Mix::one(
                request("GET", "/", b""),
                ReplyExpectation { status: Some(200), body: Some(b"Hello world".to_vec()) },
            ),
            model,
            connections,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            warm_up_ns: 0,
            extent: Extent::Window(window_ns),
            network_delay_ns: 0,
        },
        address: "127.0.0.1:1".parse().unwrap(),
        start_spread_ns: 0,
        threads: 1,
        cpus: vec![],
        seed: 1,
        sources: vec![],
        tls: None,
        spin: false,
        quick_ack: false,
    }
}

pub(crate) fn open(rate_per_s: f64) -> LoadModel {
    LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant }
}

pub(crate) fn measure(spec: &LoadSpec, server: SimulatedServer) -> Measurement {
    checked(simulate(spec, server, RunOptions::default(), &mut |_| {}).unwrap().measurement)
}

pub(crate) fn checked(measured: Measurement) -> Measurement {
    assert_eq!(measured.accounting.imbalance(), None);
    let residence = measured.residence;
    let difference = (residence.in_flight_s - residence.requests_s).abs();
    assert!(difference <= 1e-6 + 1e-9 * residence.requests_s, "Little's identity: {residence:?}");
    measured
}

pub(crate) fn hello(service_ns: u64) -> SimulatedServer {
    SimulatedServer::new(service_ns, "Hello world")
}

pub(crate) fn assert_close(measured: Option<f64>, expected_us: f64, what: &str) {
    let measured = measured.unwrap();
    let tolerance = (0.03 * expected_us).max(2000.0);
    assert!((measured - expected_us).abs() <= tolerance, "{what}: {measured} µs, expected {expected_us} µs");
}

/// A server that answers until the test's process ends.
pub(crate) fn server() -> SocketAddr {
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
