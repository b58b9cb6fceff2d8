//! Loads that many nodes make on this machine, through a real nats-server: what docs/SCALE.md says of them.
//!
//! `make test-scale`, or `cargo bench -p bourdon --bench scale -- [PART...]`; without a part all of them, some three quarters of an hour. Each sets up what it needs
//! and takes it down, prints what it measured, and fails where something was lost, counted twice or not declared. Under `cargo test` it makes the
//! first part once, and a small one of samples, so that they cannot rot.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark may panic, and prints its result")]

mod bed;
mod kubernetes;
mod raw;
mod services;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::time::Duration;

use bed::Bed;
use engine::MonotonicClock;
use fastrand::Rng;
use model::{Clock, NS_PER_S, TICK_NS};
use specimens::{Kind, LogSink, Settings};
use support::Replay;

/// Nodes whose clocks stand elsewhere: how far off each began, by what it was told to be ahead and by what was found.
const SPREAD: [(usize, usize); 3] = [(2, 10), (16, 10), (200, 1)];

type Part = (&'static str, fn());

const PARTS: [Part; 8] = [
    ("spread", || SPREAD.iter().for_each(|(nodes, times)| spread(*nodes, *times))),
    ("stall", stall),
    ("samples", || samples(10_000_000)),
    ("broker", broker),
    ("connections", connections),
    ("kills", kills),
    ("kubernetes", kubernetes::part),
    ("services", services::part),
];

/// For how long the kernel keeps ports of connections that are closed (TIME_WAIT), and a little more.
const PORTS_KEPT: Duration = Duration::from_secs(62);

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if !std::env::args().any(|argument| argument == "--bench") {
        if !Bed::can_be() {
            return println!("NOT TESTED: nats-server is missing");
        }
        spread(2, 1);
        return samples(40_000);
    }
    assert!(Bed::can_be(), "nats-server is missing: run sh scale/setup.sh");
    if given == [kubernetes::WITHIN] {
        return kubernetes::within();
    }
    let names = PARTS.map(|(name, _)| name);
    given.iter().for_each(|part| assert!(names.contains(&part.as_str()), "no {part}; there are {names:?}"));
    for (name, part) in PARTS {
        if given.is_empty() || given.iter().any(|wanted| wanted == name) {
            part();
        }
    }
}

/// How far apart nodes begin whose clocks stand up to 5 s elsewhere. Each sends one request, whose lateness is how long after its own begin, or its
/// turn, a node did what it was to do.
fn spread(nodes: usize, times: usize) {
    let (mut bed, mut rng, mut spreads_us) = (Bed::new(), Rng::with_seed(7), Vec::new());
    let (mut within_us, mut late_us, mut together_s) = (0.0_f64, 0.0_f64, 0.0_f64);
    let server = bed.server("127.0.0.1");
    for _ in 0..times {
        let mut ahead: Vec<f64> = (0..nodes).map(|_| rng.f64() * 10.0 - 5.0).collect();
        ahead.iter().for_each(|seconds| bed.node(&["--once", "--clock-ahead", &format!("{seconds:.9}")]));
        let (each, called_ns) = (nodes.to_string(), MonotonicClock.now_ns());
        let options = ["--workers", &each, "-c", &each, "-R", &each, "-d", "1s", "--warm-up", "0s"];
        let mut load = bed.begin(&server, &options);
        load.said("all begin in");
        together_s = together_s.max((MonotonicClock.now_ns() - called_ns) as f64 / NS_PER_S as f64);
        let load = load.end();
        assert_eq!(load.count("latency_us/lateness/count"), nodes as u64);
        late_us = late_us.max(load.number("latency_us/lateness/max"));
        let mut found: Vec<(f64, f64)> =
            load.parts("clock_ahead_s").into_iter().zip(load.parts("clock_within_us")).collect();
        ahead.sort_by(f64::total_cmp);
        found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let off_us: Vec<f64> = ahead.iter().zip(&found).map(|(told, (found, _))| (found - told) * 1e6).collect();
        let is_within = |(off_us, (_, within_us)): (&f64, &(f64, f64))| off_us.abs() <= within_us + 0.1;
        assert!(off_us.iter().zip(&found).all(is_within), "{off_us:?} of {found:?}");
        within_us = found.iter().map(|(_, within_us)| *within_us).fold(within_us, f64::max);
        let (most, least) =
            (off_us.iter().fold(f64::MIN, |a, b| a.max(*b)), off_us.iter().fold(f64::MAX, |a, b| a.min(*b)));
        spreads_us.push(most - least);
        bed.end_nodes();
    }
    spreads_us.sort_by(f64::total_cmp);
    let (median, most) = (spreads_us[times / 2], spreads_us[times - 1]);
    println!(
        "spread: {nodes} nodes, {times} loads: their clocks were compared to within {median:.1} µs of each other (median), {most:.1} µs at most, where {within_us:.0} µs \
         were promised at worst; the first request of any left {late_us:.0} µs after its time at most; {together_s:.1} s from the call until all had opened their \
         connections and compared clocks"
    );
}

/// A stall of a second, through one node and through four.
fn stall() {
    for nodes in [1, 4] {
        let mut bed = Bed::new();
        let second = Duration::from_secs(1);
        let settings = Settings { stall_at: 2 * second, stall_for: second, ..Settings::new(Kind::Stall) };
        let specimen = specimens::start(settings, LogSink::Memory).unwrap();
        let server = format!("http://{}/rest/hello", specimen.address());
        (0..nodes).for_each(|_| bed.node(&["--once"]));
        let saved = bed.file("load.json");
        let each = nodes.to_string();
        let options = ["--workers", &each, "-R", "400", "-c", "800", "-d", "6s", "--warm-up", "0s", "-o", &saved];
        let load = bed.load(&server, &options);
        let felt = raw::merged(&std::fs::read_to_string(saved).unwrap());
        let truth = Replay::of(&specimen.stop(), load.count("accounting/scheduled") as usize, 400.0);
        for percent in [50.0, 92.0, 95.0, 99.0] {
            let measured_ms = felt.value_at_percentile(percent) as f64 * TICK_NS as f64 / 1e6;
            let expected_ms = truth.quantile_s(percent / 100.0) * 1e3;
            let off_ms = (measured_ms - expected_ms).abs();
            println!("stall: {nodes} nodes, p{percent}: {measured_ms:.1} ms, by the server's log {expected_ms:.1} ms");
            assert!(off_ms <= (0.03 * expected_ms).max(2.0), "{off_ms} ms off");
        }
    }
}

/// Requests of 16 nodes, which write each reply down: closed as fast as it goes, and due by a schedule.
fn samples(requests: u64) {
    for (name, pace, population) in [("closed", None, "service"), ("open", Some(20_000), "response")] {
        let (mut bed, began_ns) = (Bed::new(), MonotonicClock.now_ns());
        let (server, raw_log, saved) = (bed.server("127.0.0.1"), tempfile::tempdir().unwrap(), bed.file("load.json"));
        let folder = raw_log.path().display().to_string();
        (0..16).for_each(|_| bed.node(&["--once", "--raw-log", &folder]));
        let mut options = ["--workers", "16", "-c", "64", "-o", &saved].map(str::to_owned).to_vec();
        // At a rate a tenth of them, for they would take eight minutes.
        let requests = if pace.is_some() { requests / 10 } else { requests };
        options.extend(["-n".to_owned(), requests.to_string()]);
        pace.iter().for_each(|rate: &u32| options.extend(["-R".to_owned(), rate.to_string()]));
        let load = bed.load(&server, &options.iter().map(String::as_str).collect::<Vec<_>>());
        let whole = ["accounting/scheduled", "accounting/ok", &format!("latency_us/{population}/count")];
        assert_eq!(whole.map(|field| load.count(field)), [requests; 3]);
        let merged = raw::merged(&std::fs::read_to_string(saved).unwrap());
        let (raw, buckets) = (raw::by_bucket(raw_log.path()), raw::buckets(&merged));
        assert_eq!(raw.values().sum::<u64>(), requests);
        assert_eq!(raw, buckets, "what was merged is not what was written down");
        for (quantile, permille) in [("p50", 500), ("p99", 990), ("p999", 999), ("max", 1_000)] {
            let printed_ticks = load.number(&format!("latency_us/{population}/{quantile}")) * 1e3 / TICK_NS as f64;
            let bucket = raw::bucket_of_rank(&raw, (requests * permille).div_ceil(1_000));
            assert!(bucket.contains(&(printed_ticks.round() as u64)), "{quantile}: {printed_ticks} of {bucket:?}");
        }
        println!(
            "samples: {name}, {requests} requests of 16 nodes in {:.0} s: all in the books, and each of {} buckets holds as many as were written down one by one",
            (MonotonicClock.now_ns() - began_ns) as f64 / NS_PER_S as f64,
            raw.len()
        );
    }
}

/// The server of messages goes and comes back while a load is made.
fn broker() {
    for away_ms in [0, 300, 2_000, 5_000] {
        let mut bed = Bed::new();
        let server = bed.server("127.0.0.1");
        (0..4).for_each(|_| bed.node(&["--once"]));
        let options = ["--workers", "4", "-c", "8", "-R", "1000", "-d", "8s", "--warm-up", "0s"];
        let load = bed.begin(&server, &options);
        std::thread::sleep(Duration::from_millis(3_000));
        bed.restart_nats(Duration::from_millis(away_ms));
        let load = load.end();
        assert_eq!([load.count("accounting/scheduled"), load.count("accounting/ok")], [8_000; 2]);
        println!(
            "broker: away for {away_ms} ms in a load of 8 s: {} of 8,000 requests in the result",
            load.count("accounting/ok")
        );
    }
}

/// 60,000 connections of four nodes to four servers, each process within 20,000 files.
fn connections() {
    let mut bed = Bed::limited(20_000);
    let servers: Vec<String> = (2..6).map(|host| bed.server(&format!("127.0.0.{host}"))).collect();
    let addresses: Vec<&str> =
        servers.iter().map(|url| &url["http://".len()..url.len() - "/rest/hello".len()]).collect();
    (0..4).for_each(|at| bed.node(&["--once", "--source", &format!("127.0.1.{}", at + 1)]));
    let options = [
        "--workers",
        "4",
        "-c",
        "60000",
        "-R",
        "20000",
        "-d",
        "10s",
        "--warm-up",
        "1s",
        "--servers",
        &addresses.join(","),
    ];
    let load = bed.load(&servers[0], &options);
    let opened = load.count("connections/opened");
    let each = load.number("connections/completed_min");
    assert!(opened == 60_000 && each > 0.0, "{opened}, of which one had {each} replies");
    assert_eq!(load.count("accounting/ok"), load.count("accounting/scheduled"));
    println!(
        "connections: {opened} of four nodes to four servers, {} requests, all answered",
        load.count("accounting/ok")
    );
    drop(bed);
    // What comes next would get no port to connect from.
    std::thread::sleep(PORTS_KEPT);
}

/// Nodes that are killed at any time are declared, and what was lost is no more than a second.
fn kills() {
    let (mut bed, mut rng, mut most_lost_s) = (Bed::new(), Rng::with_seed(11), 0.0_f64);
    let server = bed.server("127.0.0.1");
    let (mut declared, mut partial) = (0, 0);
    const KILLS: usize = 100;
    for _ in 0..KILLS {
        (0..2).for_each(|_| bed.node(&["--once"]));
        let options = ["--workers", "2", "-c", "4", "-R", "200", "-d", "6s", "--warm-up", "0s"];
        let mut load = bed.begin(&server, &options);
        let began = load.begins();
        std::thread::sleep(Duration::from_millis(300 + rng.u64(100..5_500)));
        let killed = bed.kill_one();
        let load = load.end_with(&[3, 4]);
        declared += usize::from(load.stderr().contains("is lost: nothing was heard of it for"));
        let lived_s = killed.duration_since(began).unwrap_or_default().as_secs_f64();
        let seconds = load.partial_seconds();
        let lost_s = lived_s - seconds as f64;
        assert!((-0.1..1.1).contains(&lost_s), "{seconds} s of {lived_s}");
        most_lost_s = most_lost_s.max(lost_s);
        if seconds > 0 {
            partial += 1;
            let scheduled = load.count("accounting/scheduled");
            assert!(scheduled.abs_diff(200 * seconds) <= 2, "{scheduled} in {seconds} s");
        }
        bed.end_nodes();
    }
    println!(
        "kills: {declared} of {KILLS} declared, {partial} of them after a whole second; {most_lost_s:.2} s of what had been measured were lost at most, and what is left is 200 requests for each second"
    );
    assert!(declared == KILLS && partial > KILLS / 2);
}
