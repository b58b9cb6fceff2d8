use std::net::SocketAddr;

use model::{
    Accounting, Arrivals, Code, ConnectionCounts, Extent, Failing, Failure, FailureCount, FailureKind, GeneratorUse,
    HttpVersion, Interval, Invariant, LateCause, Latencies, LatencySummary, LimitCode, LoadModel, LoadSpec, Mark,
    Measurement, Mix, NotSent, ReplyExpectation, Request, Residence, ThreadUse, Tls, TlsUse, Trust, Validity, Verdict,
    WindowCount,
};

pub(crate) const URL: &str = "http://127.0.0.1:8080/rest/hello";

/// A load with all that its outputs are made from.
pub(crate) struct Load {
    pub(crate) spec: LoadSpec,
    pub(crate) validity: Validity,
    pub(crate) measured: Measurement,
}

fn spec(model: LoadModel) -> LoadSpec {
    LoadSpec {
        load: model::Load {
            mix: Mix::one(
                Request {
                    method: "GET".to_owned(),
                    path: "/rest/hello".to_owned(),
                    host: "127.0.0.1:8080".to_owned(),
                    headers: Vec::new(),
                    body: Vec::new(),
                    version: HttpVersion::Http11,
                },
                ReplyExpectation::default(),
            ),
            model,
            connections: 100,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            warm_up_ns: 1_000_000_000,
            extent: Extent::Window(10_000_000_000),
            network_delay_ns: 0,
        },
        address: SocketAddr::from(([127, 0, 0, 1], 8080)),
        start_spread_ns: 0,
        threads: 2,
        cpus: vec![0, 1],
        seed: 42,
        sources: vec![],
        tls: None,
        spin: false,
    }
}

fn validity(verdict: Verdict, reason: (impl Into<Code>, &str)) -> Validity {
    let reasons = vec![model::Reason::new(reason.0, reason.1)];
    Validity { verdict, reasons, failing: Failing { allowed_share: 0.01, ..Failing::default() } }
}

/// Quantiles in µs from the median to the 99.99th percentile, then the largest.
fn latency(population: &str, count: u64, quantiles: [f64; 8]) -> LatencySummary {
    let [p50, p75, p90, p95, p99, p999, p9999, max] = quantiles.map(Some);
    LatencySummary {
        population: population.to_owned(),
        censored: 0,
        count,
        mean: p50.map(|us| us * 1.04),
        min: p50.map(|us| us * 0.4),
        p50,
        p75,
        p90,
        p95,
        p99,
        p999,
        p9999,
        max,
        exact_below: None,
        saturated: 0,
    }
}

fn latencies(count: u64) -> Latencies {
    let sent = "requests sent in the window";
    Latencies {
        total: None,
        response: None,
        handshake: None,
        service: Some(latency(sent, count, [2_140.0, 2_500.0, 3_020.0, 3_400.0, 4_870.0, 9_120.0, 11_000.0, 14_200.0])),
        lateness: None,
        first_byte: Some(latency(
            sent,
            count,
            [2_130.0, 2_490.0, 3_010.0, 3_390.0, 4_860.0, 9_110.0, 10_900.0, 14_150.0],
        )),
        connect: Some(LatencySummary {
            p99: None,
            p999: None,
            p9999: None,
            ..latency("connections opened", 100, [61.0, 70.0, 88.0, 93.0, 0.0, 0.0, 0.0, 131.0])
        }),
    }
}

fn threads(busy: f64) -> GeneratorUse {
    let thread = |busy: f64| ThreadUse {
        cpu_s: busy * 10.0,
        wall_s: 10.0,
        run_delay_s: Some(0.031),
        longest_stall_us: 412.5 * busy,
    };
    GeneratorUse { threads: vec![thread(busy * 0.95), thread(busy)], network_delay: None }
}

fn steps() -> Vec<Interval> {
    let interval = |at_s: f64| Interval {
        at_s,
        length_s: 1.0,
        completed: 45_200,
        ok: 45_200,
        sent: 45_200,
        failed: 0,
        p50_us: Some(2_140.0),
        p99_us: Some(4_870.0),
        max_us: Some(14_200.0),
    };
    vec![interval(-1.0), interval(0.0)]
}

/// A load over TLS whose certificate nobody looked at.
pub(crate) fn insecure() -> Load {
    let mut load = closed();
    load.spec.tls = Some(Tls { server_name: "localhost".into(), trust: Trust::Anyone, resumption: true });
    load.measured.tls = Some(TlsUse {
        version: Some("TLS 1.3".into()),
        cipher: Some("TLS13_AES_128_GCM_SHA256".into()),
        group: Some("X25519".into()),
        alpn: None,
        handshakes: 104,
        resumed: 3,
        failed: 2,
        first_failure: Some("peer is incompatible: none of its groups is known".into()),
    });
    load.measured.latency_us.handshake = load.measured.latency_us.connect.clone();
    load
}

/// A closed load on which nothing is to be remarked.
pub(crate) fn closed() -> Load {
    let books = Accounting { scheduled: 452_230, sent: 452_230, completed: 452_130, ok: 452_130, ..Default::default() };
    let limit = "the generator was 43 % busy: the server (or the 100 connections) was the limit";
    let measured = Measurement {
        standstills: None,
        tls: None,
        window_s: 10.0,
        interrupted: false,
        accounting: Accounting { in_flight_at_end: 100, ..books },
        bad_statuses: Default::default(),
        first_wrong: None,
        failures: Vec::new(),
        by_request: Vec::new(),
        in_window: WindowCount { completed: 452_130, halves: Default::default(), ok: 452_130, ok_bytes: 64_202_460 },
        latency_us: latencies(452_230),
        residence: Residence { in_flight_s: 999.1, requests_s: 999.4, completed_s: 998.2 },
        generator: threads(0.43),
        connections: ConnectionCounts {
            opened: 100,
            completed_min: 4_401,
            completed_median: 4_522,
            completed_max: 4_610,
            jain: Some(0.9998),
            ..Default::default()
        },
        steps: steps(),
    };
    Load {
        spec: spec(LoadModel::Closed),
        validity: validity(Verdict::Valid, (LimitCode::ServerBound, limit)),
        measured,
    }
}

/// A stall of two seconds as users feel it, and as a clock started at the send shows it.
fn stalled_latencies() -> Latencies {
    let due = "requests due in the window, from their intended time";
    let sent = "requests sent in the window";
    let mut stalled = latencies(9_998);
    let response = latency(
        due,
        10_000,
        [1_210.0, 1_350.0, 1_640.0, 912_000.0, 1_810_000.0, 1_980_000.0, 1_999_000.0, 2_001_000.0],
    );
    stalled.response = Some(LatencySummary {
        mean: Some(61_400.0),
        censored: 102,
        exact_below: Some(1_500_000.0),
        p9999: None,
        ..response
    });
    let service =
        latency(sent, 9_998, [1_190.0, 1_300.0, 1_420.0, 1_500.0, 2_230.0, 1_500_000.0, 1_500_000.0, 1_500_000.0]);
    stalled.service = Some(LatencySummary {
        mean: Some(16_200.0),
        censored: 100,
        exact_below: Some(1_500_000.0),
        p9999: None,
        ..service
    });
    let first_byte = [1_180.0, 1_290.0, 1_410.0, 1_490.0, 2_210.0, 3_120.0, 3_150.0, 3_190.0];
    stalled.first_byte = Some(LatencySummary { p9999: None, ..latency(sent, 9_898, first_byte) });
    stalled.lateness = Some(LatencySummary {
        mean: Some(11_900.0),
        p9999: None,
        ..latency(due, 9_998, [3.1, 4.0, 5.2, 88_000.0, 401_000.0, 466_000.0, 0.0, 501_000.0])
    });
    stalled
}

/// An open load on a server that stood still for two seconds.
pub(crate) fn open_with_stall() -> Load {
    let mut load = closed();
    load.spec = spec(LoadModel::Open { rate_per_s: 1_000.0, arrivals: Arrivals::Constant });
    load.spec.timeout_ns = Some(1_500_000_000);
    let late = "2.1 % of the requests waited for a connection";
    let text = format!("the rate of 1,000 a second was sent; the generator was 9 % busy; {late}");
    load.validity = validity(Verdict::Valid, (LimitCode::RateReached, &text));
    load.measured.latency_us = stalled_latencies();
    load.measured.accounting = Accounting {
        scheduled: 10_000,
        sent: 9_998,
        not_sent: [(NotSent::WaitingAtEnd, 2)].into(),
        completed: 9_898,
        ok: 9_898,
        failed: [(Failure::TimedOut, 98)].into(),
        in_flight_at_end: 2,
        sent_late: [(LateCause::NoConnection, 210), (LateCause::Generator, 3)].into(),
        ..Default::default()
    };
    load.measured.failures = vec![failure(FailureKind::Failed(Failure::TimedOut), 0, 98)];
    load.measured.in_window =
        WindowCount { completed: 9_898, halves: Default::default(), ok: 9_898, ok_bytes: 1_405_516 };
    load.measured.generator = threads(0.09);
    load.measured.connections = ConnectionCounts {
        opened: 198,
        completed_min: 61,
        completed_median: 99,
        completed_max: 131,
        jain: Some(0.983),
        ..load.measured.connections
    };
    load
}

fn failure(kind: FailureKind, errno: i32, count: u64) -> FailureCount {
    FailureCount { kind, side: kind.side(), errno, count }
}

/// A closed load with replies that are wrong and requests that fail in several ways.
pub(crate) fn with_failures() -> Load {
    let mut load = closed();
    let kinds = [
        (FailureKind::NotSent(NotSent::Refused), 111, 12),
        (FailureKind::NotSent(NotSent::OutOfPorts), 99, 1_204),
        (FailureKind::Failed(Failure::ResetBeforeReply), 104, 31),
        (FailureKind::Failed(Failure::ClosedInReply), 0, 7),
        (FailureKind::Failed(Failure::Network), 71, 1),
    ];
    load.measured.failures = kinds.into_iter().map(|(kind, errno, count)| failure(kind, errno, count)).collect();
    load.measured.accounting = Accounting {
        scheduled: 453_446,
        sent: 452_230,
        not_sent: [(NotSent::Refused, 12), (NotSent::OutOfPorts, 1_204)].into(),
        completed: 452_091,
        ok: 451_000,
        bad_status: 1_080,
        bad_body: 11,
        failed: [(Failure::ResetBeforeReply, 31), (Failure::ClosedInReply, 7), (Failure::Network, 1)].into(),
        in_flight_at_end: 100,
        ..Default::default()
    };
    load.measured.bad_statuses = [(404, 2), (503, 1_078)].into();
    load.measured.first_wrong =
        Some(model::WrongReply::new((None, Some(b"Hello world")), 200, Some((b"Hello w0rld", 0))));
    load.measured.in_window =
        WindowCount { completed: 452_091, halves: Default::default(), ok: 451_000, ok_bytes: 64_042_000 };
    load.measured.connections = ConnectionCounts {
        opened: 139,
        connect_failed: 1_216,
        closed_idle: 4,
        unasked_replies: 1,
        never_served: 2,
        completed_min: 0,
        ..load.measured.connections
    };
    let unserved = (Mark::Unserved, "2 of 100 connections completed nothing");
    load.validity.reasons.push(model::Reason::new(unserved.0, unserved.1));
    load
}

/// A closed load whose generator had no CPU left.
pub(crate) fn at_least() -> Load {
    let mut load = closed();
    let text =
        "generator thread 2 was 99.6 % busy: the server does at least this; give it more threads (-t) or other CPUs";
    load.validity = validity(Verdict::AtLeast, (Mark::Generator, text));
    load.measured.generator = threads(0.996);
    load
}

/// A load whose books do not balance.
pub(crate) fn void() -> Load {
    let mut load = closed();
    load.measured.accounting.ok -= 7;
    let text = load.measured.accounting.imbalance().unwrap_or_default();
    load.validity = validity(Verdict::Void, (Invariant::Accounting, &text));
    load
}

/// A load to which nothing ever answered.
pub(crate) fn no_reply() -> Load {
    let mut load = closed();
    let text = "no request got a complete reply: 180 refused";
    load.validity = validity(Verdict::Valid, (LimitCode::NoReply, text));
    load.measured = Measurement {
        window_s: 10.0,
        accounting: Accounting { scheduled: 180, not_sent: [(NotSent::Refused, 180)].into(), ..Default::default() },
        failures: vec![failure(FailureKind::NotSent(NotSent::Refused), 111, 180)],
        generator: threads(0.01),
        connections: ConnectionCounts { connect_failed: 180, never_served: 100, ..Default::default() },
        ..Default::default()
    };
    load
}
