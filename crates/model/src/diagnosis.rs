//! What a diagnosis asks for, tries and finds.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::not_found::{Excluded, Open};
use crate::outcome::kinds;
use crate::{
    Environment, Experiment, FailedRequests, LatencySummary, Measured, Metric, Mix, Silence, Suspect, Tls, Trying,
    WhyFailed, WrongReply,
};

/// Schema number of the document of a diagnosis.
pub const DIAGNOSIS_SCHEMA: &str = "bourdon.diagnosis/1";

/// What `bourdon diagnose` asked for, in a plan of one target and one cell: how the server is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiagnosePlan {
    /// Seconds that all launches and loads may take together.
    pub within_s: f64,
    /// A request to another path, which tells whether the requests to both wait for each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<Mix>,
    /// The server, where it runs already; none where each experiment launches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<RunningServer>,
    /// A request that costs the server much, which tells whether others wait for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heavy: Option<Mix>,
    /// What it asks itself, a database or another service, where that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<SocketAddr>,
}

/// A server that runs already: its processes are not seen, and it is not ours to overload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunningServer {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name under which it is asked.
    pub host: String,
    /// How it is spoken to, where that is TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// How many requests a second it may be sent, as a mean.
    pub rate_per_s: f64,
    /// Whether it may be sent as many as it answers, and more at once than it can.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overload: bool,
}

/// How sure a diagnosis is of what it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sureness {
    /// It was proved: two doses, a control that changes nothing, and a return to where it began; or it was seen itself.
    Is,
    /// It explains what was seen, and was not proved.
    ConsistentWith,
}

/// What two paths serve together, as a share of both alone, from which on each has a limit of its own: half way from a shared one and a
/// little more.
pub const PATHS_APART: f64 = 0.8;

/// The same up to which they share one.
pub const PATHS_SHARE: f64 = 0.65;

/// How many times as many stalls there are at twice the rate from which on requests make them.
pub const STALLS_OF_REQUESTS: f64 = 1.5;

/// What a diagnosis came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Version of this document's shape.
    pub schema: String,
    /// What was asked.
    pub question: String,
    /// The server, for people.
    pub title: String,
    /// The machine and what else matters.
    pub environment: Environment,
    /// Why it ended.
    pub ended: DiagnosisEnd,
    /// Seconds at work; none before the first experiment ended.
    pub elapsed_s: Option<f64>,
    /// What is wrong, the surest first.
    pub findings: Vec<Diagnosed>,
    /// What was looked for and is not there.
    pub excluded: Vec<Excluded>,
    /// What nobody knows of.
    pub open: Vec<Open>,
    /// What is odd, and no finding explains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<Unexplained>,
    /// Every experiment in the order in which they were made, with what it showed.
    pub tried: Vec<Tried>,
}

/// Why a diagnosis ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosisEnd {
    /// No further experiment tells anything.
    Complete,
    /// Further ones would take longer than it may.
    OutOfTime,
    /// The server ended under load.
    Died,
    /// It did not get ready, or all that was measured was void.
    NothingMeasured,
    /// It was stopped before its end.
    Unfinished,
}

/// Something that is wrong with a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosed {
    /// How sure that is.
    pub sureness: Sureness,
    /// What it is, with its figures.
    pub fault: ServerFault,
    /// Why it is not proved; none where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproved: Option<Unproved>,
    /// Which experiments show it, by their places among those tried, from 0.
    pub shown_by: Vec<usize>,
    /// The most of a CPU that the server used in them, where that rules out that the CPU explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_used: Option<f64>,
    /// The busiest that the generator was in them, 0 to 1.
    pub generator_busy: f64,
}

kinds! {
    /// Why a finding is not proved.
    Unproved {
        /// There was no time left for all that it takes.
        OutOfTime = "out-of-time",
        /// An experiment that it takes was void each time.
        Void = "void",
        /// Others, or the hypervisor, took the CPU each time that an experiment was made which it takes.
        Others = "others",
        /// It was seen, and no experiment says what makes it.
        NoProof = "no-proof",
        /// The proof would send more than may be sent.
        NoOverload = "no-overload",
        /// The server ended too often.
        Died = "died",
        /// It was stopped before its end.
        Unfinished = "unfinished",
        /// A heap that is collected grows like this until it is.
        Heap = "heap",
        /// Nobody sees the server's CPU, which would look the same if it were full.
        CpuUnseen = "cpu-unseen",
    }
}

/// What is wrong, with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerFault {
    /// It works on so many requests at once.
    Limit {
        /// How many, by throughput and service time.
        at_once: Measured,
        /// Exactly how many, by bursts; none where these do not tell.
        exactly: Option<u32>,
        /// What one request takes where none waits, in seconds.
        service_s: f64,
        /// What it serves at most, in requests a second.
        most_per_s: f64,
        /// How long one takes under the most connections that were tried, in seconds, and how many these were.
        waits_s: f64,
        /// How many these were.
        connections: u32,
        /// What two paths together serve, as a share of both alone: about 1 where each has its own limit, and ½ where they share one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paths_together: Option<f64>,
    },
    /// Connections that are kept hold its workers.
    HeldWorkers {
        /// How many connections it serves.
        served: u64,
        /// Of so many.
        connections: u32,
        /// How many of as many clients that close got nothing.
        unserved_closing: u64,
    },
    /// All wait while one request computes.
    BlockedLoop {
        /// For how long, in µs.
        blocked: Measured,
        /// The slowest light request without a heavy one, in seconds.
        alone_s: f64,
        /// The slowest light request beside heavy ones, in seconds.
        beside_s: f64,
        /// The share of light requests that wait, of those that come while a heavy one is served: 1 where all do.
        share: Option<f64>,
        /// Whether the heavy request uses the CPU meanwhile; none where nobody sees it.
        computes: Option<bool>,
    },
    /// Replies wait for an acknowledgement.
    DelayedAck {
        /// From which replies on: the median where it is half of them.
        quantile: Metric,
        /// What a reply takes there, in µs.
        service_us: f64,
        /// What it takes where the client acknowledges at once, in µs; none where that was not tried.
        quick_us: Option<f64>,
    },
    /// It ends connections with a reply.
    ClosedConnections {
        /// The share of replies, 0 to 1.
        share: f64,
    },
    /// It stops answering now and then.
    Stalls {
        /// How many there were.
        count: u64,
        /// In so many seconds of load.
        in_s: f64,
        /// How long they lasted, as a mean, in seconds.
        length_s: f64,
        /// How many times as many there are at twice the rate: 1 where a timer makes them, and 2 where requests do; none where that is not
        /// known.
        at_twice_the_rate: Option<f64>,
    },
    /// Something grows with every request.
    Growth {
        /// What: memory, threads or files.
        suspect: Suspect,
        /// How much a request, in bytes or pieces.
        per_request: Measured,
        /// After how many requests.
        requests: u64,
        /// By how much it had grown then.
        grown: f64,
    },
    /// A request waits for round trips to what is behind the server, one after another.
    RoundTrips {
        /// How many it waits for.
        round_trips: Measured,
        /// What a request takes, in seconds.
        service_s: f64,
        /// What it takes where each round trip takes so much longer, both in seconds.
        slowed_s: f64,
        /// By how much each took longer then, in seconds.
        delay_s: f64,
        /// How often it asks in all, also at the same time; none where that was not seen.
        asked: Option<f64>,
        /// How many connections it opens for that; none where that was not seen.
        opened: Option<f64>,
    },
    /// Requests fail.
    Failures {
        /// The share, 0 to 1.
        share: Measured,
        /// The fewest connections that were kept busy when they were seen; none where that was only at a rate.
        connections: Option<u32>,
        /// How they failed; none in earlier documents.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        how: Option<FailedRequests>,
        /// The first reply that was not as expected; none where all that came were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_wrong: Option<WrongReply>,
    },
    /// It gives no reply, or none any more.
    Unanswered {
        /// Under which load.
        under: Experiment,
        /// After how many seconds of it; none where it gave none from the beginning.
        after_s: Option<f64>,
        /// For how long it was asked, in seconds.
        window_s: f64,
    },
    /// It ended under load.
    Died {
        /// Under which.
        under: Experiment,
        /// How.
        #[serde(flatten)]
        why: WhyFailed,
        /// The last lines that it printed.
        printed: String,
        /// Most threads and processes that it had meanwhile.
        threads: Option<u64>,
        /// Most files and sockets that it had open.
        files: Option<u64>,
        /// By how much its memory had grown at the last look, in bytes.
        memory_bytes: Option<u64>,
    },
}

impl ServerFault {
    /// What it was suspected to be; none of what nobody suspects.
    pub fn suspect(&self) -> Option<Suspect> {
        Some(match self {
            ServerFault::Limit { .. } => Suspect::Limit,
            ServerFault::HeldWorkers { .. } => Suspect::HeldWorkers,
            ServerFault::BlockedLoop { .. } => Suspect::BlockedLoop,
            ServerFault::DelayedAck { .. } => Suspect::DelayedAck,
            ServerFault::ClosedConnections { .. } => Suspect::ClosedConnections,
            ServerFault::Stalls { .. } => Suspect::Stalls,
            ServerFault::Growth { suspect, .. } => *suspect,
            ServerFault::RoundTrips { .. } => Suspect::RoundTrips,
            ServerFault::Failures { .. } | ServerFault::Unanswered { .. } => Suspect::Failures,
            ServerFault::Died { .. } => return None,
        })
    }
}

/// What is odd, and nothing that is looked for makes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unexplained {
    /// Some replies take far longer than most, at a rate at which nothing waits in line.
    Tail {
        /// The rate, in requests a second.
        rate_per_s: f64,
        /// The median service time, µs.
        p50_us: f64,
        /// The 99th percentile, µs.
        p99_us: f64,
    },
    /// A quota of CPU, as of a container, kept it from running.
    Throttled {
        /// Under which load most.
        under: Experiment,
        /// CPUs that it used then.
        cpus_used: f64,
        /// The share of the time in which it was kept from any, 0 to 1.
        share: f64,
    },
    /// Replies take longer the longer it is asked.
    Slowing {
        /// The mean service time in the first half of a load, µs.
        first_us: f64,
        /// The same in the second half.
        second_us: f64,
    },
}

/// An experiment that was made, with what it showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// The trial's name in the run folder.
    pub trial: String,
    /// What was done, and what for.
    #[serde(flatten)]
    pub trying: Trying,
    /// Whether the instrument vouches for it.
    pub valid: bool,
    /// Good replies a second.
    pub requests_per_s: Option<f64>,
    /// What a reply took from its request on, as a mean, in µs.
    pub service_us: Option<f64>,
    /// The slowest one, in µs, from when it was to be sent.
    pub slowest_us: Option<f64>,
    /// How long requests took: those of a rate from when they were to be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<LatencySummary>,
    /// When it answered nothing, and no fault of the generator's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Silence>,
    /// CPUs that the server used.
    pub cpus_used: Option<f64>,
    /// CPUs that others, or the hypervisor, took meanwhile.
    #[serde(default)]
    pub cpus_taken: Option<f64>,
    /// Connections that got nothing.
    pub unserved: Option<u64>,
    /// The share of requests that failed, 0 to 1.
    pub failed: Option<f64>,
    /// By how much its memory had grown since it was ready, in bytes.
    pub grown_bytes: Option<f64>,
    /// Most threads and processes that it had.
    pub threads: Option<u64>,
    /// Most files and sockets that it had open.
    pub open_files: Option<u64>,
}
