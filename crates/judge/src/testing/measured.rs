//! What the engine measures of a sound load.

use std::sync::LazyLock;

use engine::RunOptions;
use engine::simulation::{SimulatedServer, simulate};
use model::*;

use super::cell_plan;

/// The window of a load unless a test says another, in seconds.
pub(super) const WINDOW_S: u32 = 10;

/// A load by one thread, for virtual time.
pub(crate) fn load_spec(load: Load) -> LoadSpec {
    LoadSpec {
        load,
        address: ([127, 0, 0, 1], 80).into(),
        tls: None,
        sources: Vec::new(),
        start_spread_ns: 0,
        threads: 1,
        cpus: Vec::new(),
        spin: false,
        quick_ack: false,
        seed: 42,
    }
}

/// A sound closed load of 10 s, as the engine measures one in virtual time: whatever a test does not name is what it emits.
fn engine_made() -> &'static Measurement {
    static MADE: LazyLock<Measurement> = LazyLock::new(|| {
        let spec = load_spec(cell_plan("a", &[], 10, 10).load);
        let server = SimulatedServer { connect_ns: 60_000, ..SimulatedServer::new(10_000_000, "hi") };
        simulate(&spec, server, RunOptions::default(), &mut |_| {}).unwrap().measurement
    });
    &MADE
}

/// What a sound closed load of 10 s looks like at a rate: every connection always has a request in flight.
pub(crate) fn measurement(connections: f64, rate: f64, generator_busy: f64) -> Measurement {
    over(WINDOW_S, connections, rate, generator_busy)
}

/// The same of so many seconds, ten at most.
pub(super) fn over(seconds: u32, connections: f64, rate: f64, generator_busy: f64) -> Measurement {
    let window_s = f64::from(seconds);
    let completed = (rate * window_s).round() as u64;
    let service_us = connections / rate * 1e6;
    let service = summary(service_us, completed);
    let made = engine_made().clone();
    // Virtual time knows no CPU time.
    let thread = ThreadUse {
        cpu_s: generator_busy * window_s,
        wall_s: window_s,
        run_delay_s: Some(0.003 * window_s),
        longest_stall_us: 50.0,
    };
    let bytes_each = made.in_window.ok_bytes / made.in_window.ok;
    let halves = [0, 1].map(|half| half_of(part(completed, 2, half), service_us));
    let requests_s = connections * window_s;
    Measurement {
        window_s,
        accounting: Accounting { scheduled: completed, sent: completed, completed, ok: completed, ..made.accounting },
        in_window: WindowCount { completed, ok: completed, ok_bytes: completed * bytes_each, halves },
        latency_us: Latencies {
            first_byte: of(Members::Completed, service_us, completed),
            connect: of(Members::Connections, 60.0, connections as u64),
            service: Some(service.clone()),
            ..made.latency_us
        },
        slowest_reply_s: service.max.map(|us| us / 1e6),
        // At the end of the window each connection has a request in flight, half of which lies in it.
        residence: Residence {
            in_flight_s: requests_s,
            requests_s,
            completed_s: requests_s - connections * (service_us / 2e6).min(window_s),
        },
        generator: GeneratorUse { threads: vec![thread], ..made.generator },
        connections: served(connections as u64, completed, made.connections),
        steps: steps(made.steps, (seconds, connections as u64, completed), &service),
        ..made
    }
}

/// Connections that share the replies evenly.
fn served(connections: u64, completed: u64, made: ConnectionCounts) -> ConnectionCounts {
    ConnectionCounts {
        opened: connections,
        never_served: connections.saturating_sub(completed),
        completed_min: completed / connections,
        completed_median: completed / connections,
        completed_max: completed.div_ceil(connections),
        ..made
    }
}

/// The steps of a load that is level. In its warm-up each connection sends one request more than has a reply by then.
fn steps(
    mut made: Vec<Interval>,
    (seconds, connections, completed): (u32, u64, u64),
    service: &LatencySummary,
) -> Vec<Interval> {
    made.retain(|step| step.at_s < f64::from(seconds));
    let step = |made: Interval| {
        let (at, begins) = if made.at_s < 0.0 { (0, connections) } else { (made.at_s as u32, 0) };
        let completed = part(completed, seconds, at);
        let counted = Interval { completed, ok: completed, sent: completed + begins, ..made };
        if made.at_s < 0.0 { counted } else { felt_in(counted, service) }
    };
    made.into_iter().map(step).collect()
}

/// A step in which this was felt.
pub(super) fn felt_in(step: Interval, felt: &LatencySummary) -> Interval {
    Interval { p50_us: felt.p50, p99_us: felt.p99.or(felt.max), max_us: felt.max, ..step }
}

/// What is in the part of that number, from 0, of so many that share a count evenly.
pub(super) fn part(whole: u64, parts: u32, number: u32) -> u64 {
    let until = |number: u32| whole * u64::from(number) / u64::from(parts);
    until(number + 1) - until(number)
}

/// Half a window with so many replies, which took so long as a mean.
pub(super) fn half_of(completed: u64, service_us: f64) -> HalfCount {
    HalfCount { completed, service_ns: (service_us * 1e3 * completed as f64) as u64, ..HalfCount::default() }
}

/// How far a quantile lies from the mean, from the least to the most; with straight lines between them their mean is 1.
pub(super) const SHAPE: [(f64, f64); 9] = [
    (0.0, 0.867),
    (0.5, 1.0),
    (0.75, 1.05),
    (0.9, 1.1),
    (0.95, 1.15),
    (0.99, 1.2),
    (0.999, 1.3),
    (0.9999, 1.35),
    (1.0, 1.4),
];

/// Service times in a narrow distribution around a value.
pub(crate) fn summary(around_us: f64, count: u64) -> LatencySummary {
    of(Members::Sent, around_us, count).unwrap()
}

/// The same of how late requests were sent.
pub(crate) fn lateness(around_us: f64, count: u64) -> LatencySummary {
    LatencySummary { population: Members::DueAndSent, ..summary(around_us, count) }
}

/// A narrow distribution around a value; none of nothing.
fn of(population: Members, around_us: f64, count: u64) -> Option<LatencySummary> {
    let at = |quantile: f64| {
        let (_, factor) = SHAPE.into_iter().find(|(q, _)| *q == quantile)?;
        Some(around_us * factor)
    };
    (count > 0).then(|| summarised(population, count, around_us, at))
}

/// A distribution with these quantiles (0: the least, 1: the most), of which there are as many as its count supports.
pub(super) fn summarised(
    population: Members,
    count: u64,
    mean_us: f64,
    at: impl Fn(f64) -> Option<f64>,
) -> LatencySummary {
    let supported = |index: usize| {
        let (q, needed) = REQUIRED_SAMPLES[index];
        at(q).filter(|_| count >= needed)
    };
    LatencySummary {
        population,
        censored: 0,
        count,
        failed: 0,
        mean: Some(mean_us),
        min: at(0.0),
        p50: supported(0),
        p75: supported(1),
        p90: supported(2),
        p95: supported(3),
        p99: supported(4),
        p999: supported(5),
        p9999: supported(6),
        max: at(1.0),
        exact_below: None,
        saturated: 0,
    }
}
