//! What runs for each request: reading a reply, the next intended time, and the whole loop over a simulated server.
//!
//! `cargo bench -p bourdon-engine` measures; `cargo test -p bourdon-engine --benches` runs each once.
//! `make bench-instructions` counts the instructions of the loads over windows of two lengths (`HOT_PATH_WINDOW_MS`).
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

#[path = "../tests/support/mod.rs"]
mod support;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use engine::simulation::simulate;
use engine::{Advance, HeadCache, ReplyReader, RunOptions, Schedule};
use model::{Arrivals, LoadModel, ReplyExpectation};
use support::{MS, hello, spec};

/// Requests in each millisecond of a simulated load, for each that may be in flight on a connection.
const REQUESTS_PER_MS: u64 = 50;

/// Length of a simulated load, unless the environment gives another.
const WINDOW_MS: u64 = 100;

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

/// Some virtual time on 50 connections.
fn load(bencher: Bencher<'_, '_>, model: LoadModel, pipeline: u16) {
    let window_ms = std::env::var("HOT_PATH_WINDOW_MS").map_or(WINDOW_MS, |typed| typed.parse().unwrap());
    let spec = spec(model, 50, window_ms * MS).with(|it| it.pipeline = pipeline);
    let requests = REQUESTS_PER_MS * window_ms * u64::from(pipeline);
    bencher.counter(ItemsCount::new(requests)).bench(|| {
        let books = simulate(&spec, hello(MS), RunOptions::default(), &mut |_| {}).unwrap().measurement.accounting;
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
