use std::collections::BTreeMap;

use model::{
    Accounting, ConnectionCounts, Extent, FailureCount, Instrument, Interval, Latencies, LoadModel, LoadSpec,
    Measurement, NS_PER_S, Residence, Standstills, ThreadUse, Validity, WindowCount, WrongReply,
};
use serde::Serialize;

/// Schema of the document that `load_json` writes.
pub const LOAD_SCHEMA: &str = "bourdon.load/1";

/// Where a load comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Origin<'a> {
    /// What was loaded, without user and password.
    pub url: &'a str,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// What measured it.
    pub instrument: Instrument,
}

#[derive(Serialize)]
struct LoadDocument<'a> {
    schema: &'static str,
    #[serde(flatten)]
    origin: &'a Origin<'a>,
    validity: &'a Validity,
    interrupted: bool,
    window_s: f64,
    load: Load<'a>,
    accounting: &'a Accounting,
    failures: &'a [FailureCount],
    bad_statuses: &'a BTreeMap<u16, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_wrong: Option<&'a WrongReply>,
    in_window: &'a WindowCount,
    throughput: Throughput,
    latency_us: &'a Latencies,
    generator: Generator<'a>,
    standstills: Option<&'a Standstills>,
    connections: &'a ConnectionCounts,
    residence: &'a Residence,
    intervals: &'a [Interval],
}

/// What was asked for. `window_s` or `requests` is set, as asked; times that nobody asked for are null.
#[derive(Serialize)]
struct Load<'a> {
    #[serde(flatten)]
    model: &'a LoadModel,
    method: &'a str,
    path: &'a str,
    body_bytes: usize,
    connections: u32,
    pipeline: u16,
    keep_alive: bool,
    timeout_s: Option<f64>,
    warm_up_s: f64,
    window_s: Option<f64>,
    requests: Option<u64>,
    threads: u32,
    cpus: &'a [u32],
    seed: u64,
}

/// Ok replies only.
#[derive(Serialize)]
struct Throughput {
    requests_per_s: f64,
    bytes_per_s: f64,
}

#[derive(Serialize)]
struct Generator<'a> {
    threads: usize,
    cpu_s: f64,
    cpu_us_per_request: Option<f64>,
    busiest_thread: f64,
    neediest_thread: f64,
    thread_use: &'a [ThreadUse],
}

/// One load as one JSON document (`bourdon.load/1`), pretty printed.
pub fn load_json(spec: &LoadSpec, validity: &Validity, measured: &Measurement, origin: &Origin<'_>) -> String {
    let Measurement { accounting, failures, in_window, latency_us, residence, connections, intervals, .. } = measured;
    crate::to_json(&LoadDocument {
        schema: LOAD_SCHEMA,
        origin,
        validity,
        interrupted: measured.interrupted,
        window_s: measured.window_s,
        load: load(spec),
        accounting,
        failures,
        bad_statuses: &measured.bad_statuses,
        first_wrong: measured.first_wrong.as_ref(),
        in_window,
        throughput: Throughput { requests_per_s: measured.requests_per_s(), bytes_per_s: measured.bytes_per_s() },
        latency_us,
        generator: generator(measured),
        standstills: measured.standstills.as_ref(),
        connections,
        residence,
        intervals,
    })
}

fn load(spec: &LoadSpec) -> Load<'_> {
    let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
    let (window_s, requests) = match spec.extent {
        Extent::Window(ns) => (Some(seconds(ns)), None),
        Extent::Requests { count, .. } => (None, Some(count)),
    };
    // A single load has a single request.
    let request = &spec.mix.first().request;
    Load {
        model: &spec.model,
        method: &request.method,
        path: &request.path,
        body_bytes: request.body.len(),
        connections: spec.connections,
        pipeline: spec.pipeline,
        keep_alive: spec.keep_alive,
        timeout_s: spec.timeout_ns.map(seconds),
        warm_up_s: seconds(spec.warm_up_ns),
        window_s,
        requests,
        threads: spec.threads,
        cpus: &spec.cpus,
        seed: spec.seed,
    }
}

fn generator(measured: &Measurement) -> Generator<'_> {
    Generator {
        threads: measured.generator.threads.len(),
        cpu_s: measured.generator.cpu_s(),
        cpu_us_per_request: measured.generator_cpu_us_per_request(),
        busiest_thread: measured.generator.busiest_thread(),
        neediest_thread: measured.generator.neediest_thread(),
        thread_use: &measured.generator.threads,
    }
}
