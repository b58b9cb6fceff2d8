//! What runs for each request: reading a reply, the next intended time, and the whole loop over a simulated server.
//!
//! `cargo bench -p bourdon-engine` measures; `cargo test -p bourdon-engine --benches` runs each once.
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use engine::simulation::{SimulatedServer, simulate};
use engine::{Advance, HeadCache, ReplyReader, RunOptions, Schedule};
use model::{Arrivals, Extent, HttpVersion, LoadModel, LoadSpec, Mix, ReplyExpectation, Request};

const MS: u64 = 1_000_000;

/// Requests in each simulated load.
const REQUESTS: u64 = 5_000;

fn main() {
    divan::main();
}

/// A reply of 90 bytes.
fn reply(server: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nServer: {server}\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\n");
    let reply = [head.as_bytes(), b"Hello world"].concat();
    assert_eq!(reply.len(), 90);
    reply
}

fn expectation() -> ReplyExpectation {
    ReplyExpectation { status: Some(200), body: Some(b"Hello world".to_vec()) }
}

/// Reads `replies` in turn, one each time.
fn read(bencher: Bencher<'_, '_>, replies: &[Vec<u8>]) {
    let (expect, mut reader, mut cache) = (expectation(), ReplyReader::default(), HeadCache::default());
    let mut turns = replies.iter().cycle();
    bencher.counter(BytesCount::new(replies[0].len())).bench_local(|| {
        let mut input = black_box(turns.next().unwrap().as_slice());
        let Advance::Complete(reply) = reader.advance(&mut input, &expect, false, &mut cache) else {
            panic!("the reply is complete");
        };
        assert!(reply.status_ok && reply.body_ok);
        reply
    });
}

/// Two heads in turn: each misses the cache.
#[divan::bench]
fn reply_with_a_new_head(bencher: Bencher<'_, '_>) {
    read(bencher, &[reply("this"), reply("that")]);
}

#[divan::bench]
fn reply_with_the_last_head(bencher: Bencher<'_, '_>) {
    read(bencher, &[reply("this")]);
}

#[divan::bench(args = [Arrivals::Constant, Arrivals::Poisson])]
fn next_intended_time(bencher: Bencher<'_, '_>, arrivals: Arrivals) {
    let mut schedule = Schedule::new(arrivals, 100_000.0, 0, 1, 42);
    bencher.counter(ItemsCount::new(1u32)).bench_local(|| {
        schedule.advance();
        schedule.next_ns()
    });
}

/// 100 ms of virtual time on 50 connections.
fn load(bencher: Bencher<'_, '_>, model: LoadModel, pipeline: u16) {
    let spec = LoadSpec {
        address: "127.0.0.1:1".parse().unwrap(),
        mix: Mix::one(
            Request {
                method: "GET".into(),
                path: "/".into(),
                host: "x".into(),
                headers: vec![],
                body: vec![],
                version: HttpVersion::Http11,
            },
            expectation(),
        ),
        model,
        connections: 50,
        pipeline,
        keep_alive: true,
        timeout_ns: None,
        warm_up_ns: 0,
        start_spread_ns: 0,
        extent: Extent::Window(100 * MS),
        threads: 1,
        cpus: vec![],
        seed: 1,
        sources: vec![],
        spin: false,
    };
    let requests = REQUESTS * u64::from(pipeline);
    bencher.counter(ItemsCount::new(requests)).bench(|| {
        let server = SimulatedServer::new(MS, "Hello world");
        let books = simulate(&spec, server, RunOptions::default(), &mut |_| {}).unwrap().measurement.accounting;
        assert_eq!((books.scheduled, books.ok), (requests, requests));
        books
    });
}

#[divan::bench]
fn closed_load(bencher: Bencher<'_, '_>) {
    load(bencher, LoadModel::Closed, 1);
}

#[divan::bench]
fn pipelined_load(bencher: Bencher<'_, '_>) {
    load(bencher, LoadModel::Closed, 16);
}

#[divan::bench]
fn open_load(bencher: Bencher<'_, '_>) {
    load(bencher, LoadModel::Open { rate_per_s: 50_000.0, arrivals: Arrivals::Constant }, 1);
}
