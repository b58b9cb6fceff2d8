use std::collections::BTreeMap;

use jiff::Timestamp;
use model::{
    Accounting, Awaited, ConnectionCounts, Extent, FailureCount, HttpVersion, Instrument, Interval, Latencies,
    LoadModel, LoadSpec, Measurement, NS_PER_S, ReplyExpectation, Residence, Silence, Standstills, ThreadUse, Tls,
    TlsUse, Trust, Validity, WeightedRequest, WindowCount, WrongReply,
};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::ordered_json::Json;
use crate::said::{Said, to_json_in_words, within};

/// Schema of the document that `load_json` writes.
pub const LOAD_SCHEMA: &str = "bourdon.load/2";

/// Where a load comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Origin<'a> {
    /// What was loaded, without user and password.
    pub url: &'a str,
    /// When it began, RFC 3339.
    #[serde(serialize_with = "to_the_millisecond")]
    pub started_at: Timestamp,
    /// What measured it.
    pub instrument: Instrument,
}

fn to_the_millisecond<S: Serializer>(moment: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("{moment:.3}"))
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
    silences: &'a [Silence],
    #[serde(skip_serializing_if = "Option::is_none")]
    answered_until_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slowest_reply_s: Option<f64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    awaited: &'a [Awaited],
    connections: &'a ConnectionCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls: Option<&'a TlsUse>,
    residence: &'a Residence,
    intervals: &'a [Interval],
}

impl Said for LoadDocument<'_> {
    fn say(&self, json: &mut Json) {
        within(json, "validity", self.validity);
    }
}

/// Headers whose values are kept: none of them carries a credential. Of every other header only the name is, for nobody
/// knows by its name what a header of somebody's own carries.
const KEPT_VALUES: [&str; 17] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-type",
    "expect",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "pragma",
    "range",
    "transfer-encoding",
    "user-agent",
];

/// What was asked for. `window_s` or `requests` is set, as asked; times that nobody asked for are null.
#[derive(Serialize)]
struct Load<'a> {
    #[serde(flatten)]
    model: &'a LoadModel,
    method: &'a str,
    path: &'a str,
    http: HttpVersion,
    /// Each with its name and its value, null where it may be a credential.
    headers: Vec<(&'a str, Option<&'a str>)>,
    body_bytes: usize,
    expect: Expected,
    connections: u32,
    pipeline: u16,
    keep_alive: bool,
    tls: Option<Secured<'a>>,
    timeout_s: Option<f64>,
    warm_up_s: f64,
    window_s: Option<f64>,
    requests: Option<u64>,
    threads: u32,
    cpus: &'a [u32],
    spin: bool,
    seed: u64,
}

/// How the connections were to be secured.
#[derive(Serialize)]
struct Secured<'a> {
    server_name: &'a str,
    /// Whose word on the certificate was taken: of the `system`, of `authorities` that were named, or of `anyone`.
    trust: &'static str,
    resumption: bool,
}

impl<'a> From<&'a Tls> for Secured<'a> {
    fn from(tls: &'a Tls) -> Self {
        let trust = match tls.trust {
            Trust::System => "system",
            Trust::Authorities(_) => "authorities",
            Trust::Anyone => "anyone",
        };
        Secured { server_name: &tls.server_name, trust, resumption: tls.resumption }
    }
}

/// What a reply had to be; null where it could be anything.
#[derive(Serialize)]
struct Expected {
    status: Option<u16>,
    body_bytes: Option<usize>,
    body_sha256: Option<String>,
}

impl From<&ReplyExpectation> for Expected {
    fn from(expect: &ReplyExpectation) -> Self {
        let hex = |body: &Vec<u8>| Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
        let body = expect.body.as_ref();
        Expected { status: expect.status, body_bytes: body.map(Vec::len), body_sha256: body.map(hex) }
    }
}

fn kept((name, value): &(String, String)) -> (&str, Option<&str>) {
    let is_kept = KEPT_VALUES.iter().any(|kept| name.eq_ignore_ascii_case(kept));
    (name, is_kept.then_some(value.as_str()))
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

/// One load as one JSON document (`bourdon.load/2`), pretty printed, with its seconds.
pub fn load_json(
    spec: &LoadSpec,
    validity: &Validity,
    measured: &Measurement,
    seconds: &[Interval],
    origin: &Origin<'_>,
) -> String {
    // Whole, so that nothing measured is forgotten here: `bourdon compare` judges the document as it judges a record.
    let Measurement {
        window_s,
        interrupted,
        accounting,
        failures,
        bad_statuses,
        first_wrong,
        // A single load has a single request.
        by_request: _,
        in_window,
        latency_us,
        standstills,
        silences,
        answered_until_s,
        slowest_reply_s,
        awaited,
        residence,
        generator: _,
        connections,
        tls,
        // Those of the record are at most 120; here are all seconds.
        steps: _,
    } = measured;
    to_json_in_words(&LoadDocument {
        schema: LOAD_SCHEMA,
        origin,
        validity,
        interrupted: *interrupted,
        window_s: *window_s,
        load: load(spec),
        accounting,
        failures,
        bad_statuses,
        first_wrong: first_wrong.as_ref(),
        in_window,
        throughput: Throughput { requests_per_s: measured.requests_per_s(), bytes_per_s: measured.bytes_per_s() },
        latency_us,
        generator: generator(measured),
        standstills: standstills.as_ref(),
        silences,
        answered_until_s: *answered_until_s,
        slowest_reply_s: *slowest_reply_s,
        awaited,
        connections,
        tls: tls.as_ref(),
        residence,
        intervals: seconds,
    })
}

fn load(spec: &LoadSpec) -> Load<'_> {
    let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
    let (window_s, requests) = match spec.extent {
        Extent::Window(ns) => (Some(seconds(ns)), None),
        Extent::Requests { count, .. } => (None, Some(count)),
    };
    // A single load has a single request.
    let WeightedRequest { request, expect, .. } = spec.mix.first();
    Load {
        model: &spec.model,
        method: &request.method,
        path: &request.path,
        http: request.version,
        headers: request.headers.iter().map(kept).collect(),
        body_bytes: request.body.len(),
        expect: Expected::from(expect),
        connections: spec.connections,
        pipeline: spec.pipeline,
        keep_alive: spec.keep_alive,
        tls: spec.tls.as_ref().map(Secured::from),
        timeout_s: spec.timeout_ns.map(seconds),
        warm_up_s: seconds(spec.warm_up_ns),
        window_s,
        requests,
        threads: spec.threads,
        cpus: &spec.cpus,
        spin: spec.spin,
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
