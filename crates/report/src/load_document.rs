use std::collections::BTreeMap;

use jiff::Timestamp;
use model::{
    Accounting, AskedLoad, AskedReply, AskedTls, Awaited, ConnectionCounts, Extent, FailureCount, Instrument, Interval,
    Latencies, Load, LoadSpec, Measurement, NS_PER_S, ReplyExpectation, Request, Residence, Silence, Standstills,
    ThreadUse, Tls, TlsUse, Trust, TrustKind, Validity, Verdict, WeightedRequest, WindowCount, WrongReply,
    may_be_a_credential,
};
use serde::{Deserialize, Serialize, Serializer};
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
    /// The loads that were made at the same time and are put together in it; none of a single one.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub merged: &'a [MergedPart],
    /// Where nodes that made it were lost: of which part of it the figures are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<&'a Partial>,
    /// Why it is not the one load of all nodes that was asked for, in words; none where it is, or nodes were lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_one_load: Option<&'a str>,
    /// What it takes to be put together with others, in base64; none where it is only shown.
    #[serde(skip)]
    pub part: Option<&'a str>,
}

/// A load that lost nodes while it was made: its figures are of the seconds in which all made their shares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// Whole seconds of the window.
    pub whole_seconds: u64,
    /// Who was lost.
    pub lost: Vec<LostNode>,
}

/// A node that was lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LostNode {
    /// Its name in the run.
    pub node: String,
    /// What its machine is called.
    pub host: String,
    /// Why it counts as lost, in words.
    pub why: String,
}

/// Who made a load that is put together with others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PartOf {
    /// A process that somebody started.
    File {
        /// The file it was saved in.
        file: String,
    },
    /// A node.
    Node {
        /// Its name in the run.
        node: String,
        /// What its machine is called.
        host: String,
        /// How far its clock was ahead of the one here, in seconds.
        clock_ahead_s: f64,
        /// How far off that may be, in microseconds.
        clock_within_us: f64,
        /// How far it had moved after the load, in microseconds; none where that is not known.
        clock_moved_us: Option<f64>,
    },
}

/// One of the loads that are put together in another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MergedPart {
    /// Who made it.
    #[serde(flatten)]
    pub of: PartOf,
    /// What was loaded, without user and password.
    pub url: String,
    /// When it began, RFC 3339.
    #[serde(serialize_with = "to_the_millisecond")]
    pub started_at: Timestamp,
    /// What measured it.
    pub instrument: Instrument,
    /// How much later than the first one its window began, in seconds, by the clocks of the machines.
    pub begun_after_s: f64,
    /// Its connections.
    pub connections: u32,
    /// Its ok replies a second.
    pub requests_per_s: f64,
    /// The share of a CPU that its busiest thread used.
    pub busiest_thread: f64,
    /// The largest share of the time for which one of its threads waited for a CPU.
    pub neediest_thread: f64,
    /// What it was found to be by itself.
    pub verdict: Verdict,
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
    load: AskedLoad,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a str>,
}

impl Said for LoadDocument<'_> {
    fn say(&self, json: &mut Json) {
        within(json, "validity", self.validity);
    }
}

fn kept((name, value): &(String, String)) -> (String, Option<String>) {
    (name.clone(), (!may_be_a_credential(name)).then(|| value.clone()))
}

fn expected(expect: &ReplyExpectation) -> AskedReply {
    let hex = |body: &Vec<u8>| Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    let body = expect.body.as_ref();
    let body_bytes = body.map(|body| body.len() as u64);
    AskedReply { status: expect.status, body_bytes, body_sha256: body.map(hex) }
}

fn secured(tls: &Tls) -> AskedTls {
    let trust = match tls.trust {
        Trust::System => TrustKind::System,
        Trust::Authorities(_) => TrustKind::Authorities,
        Trust::Anyone => TrustKind::Anyone,
    };
    AskedTls { server_name: tls.server_name.clone(), trust, resumption: tls.resumption }
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
    asked: AskedLoad,
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
        load: asked,
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
        part: origin.part,
    })
}

/// What was asked. Each part is named, so that a new one is not forgotten where loads are compared.
pub fn asked_load(spec: &LoadSpec) -> AskedLoad {
    let LoadSpec {
        load,
        // The server's, and from where and how it is begun to be loaded.
        address: _,
        sources: _,
        start_spread_ns: _,
        tls,
        threads,
        cpus,
        spin,
        quick_ack,
        seed,
    } = spec;
    // A load by itself has no network delay.
    let Load { mix, model, connections, pipeline, keep_alive, timeout_ns, network_delay_ns: _, warm_up_ns, extent } =
        load;
    // Nor more than one request.
    let WeightedRequest { request, expect, .. } = mix.first();
    let Request { method, path, host: _, headers, body, version } = request;
    let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
    let (window_s, requests) = match *extent {
        Extent::Window(ns) => (Some(seconds(ns)), None),
        Extent::Requests { count, .. } => (None, Some(count)),
    };
    AskedLoad {
        model: *model,
        method: method.clone(),
        path: path.clone(),
        http: Some(*version),
        headers: Some(headers.iter().map(kept).collect()),
        body_bytes: body.len() as u64,
        expect: Some(expected(expect)),
        connections: *connections,
        pipeline: *pipeline,
        keep_alive: *keep_alive,
        tls: tls.as_ref().map(secured),
        timeout_s: timeout_ns.map(seconds),
        warm_up_s: seconds(*warm_up_ns),
        window_s,
        requests,
        threads: *threads,
        cpus: cpus.clone(),
        spin: Some(*spin),
        quick_ack: *quick_ack,
        seed: *seed,
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
