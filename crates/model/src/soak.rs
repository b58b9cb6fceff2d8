//! What a soak asks for and finds: whether a server stays as it is under hours of load.

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Environment, HeapCountedBy, Measured, Metric, WhyFailed};

/// Schema number of the document of a soak.
pub const SOAK_SCHEMA: &str = "bourdon.soak/1";

/// What `bourdon soak` asked for, in a plan of one target and one cell: how the server is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoakPlan {
    /// Seconds that it is watched, under load and without.
    pub for_s: f64,
    /// Requests a second; none where they are a share of what it serves at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// That share, 0 to 1.
    pub share: f64,
    /// What may not be exceeded.
    pub rules: Vec<Rule>,
    /// Whether a Node is made to open its inspector, so that its heap can be counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inspect: bool,
}

kinds! {
    /// What a rule is about.
    Ruled {
        /// The share of requests that fail, 0 to 1.
        Failed = "failed",
        /// Established connections.
        Established = "established",
        /// Connections that wait to be accepted.
        AcceptQueue = "accept-queue",
        /// Busy share of the CPUs that the server may use, 0 to 1.
        Cpu = "cpu",
        /// Collections of young objects a minute.
        YoungCollections = "young-collections",
        /// Collections of all objects within an hour.
        FullCollections = "full-collections",
        /// What one of these takes, as a mean, in seconds.
        FullCollectionTime = "full-collection-time",
    }
}

/// Something that may not be exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What.
    pub of: Ruled,
    /// The most that is allowed, in its unit.
    pub most: f64,
}

kinds! {
    /// The three parts of a soak.
    SoakPart {
        /// Load.
        First = "first",
        /// Hardly any: what still grows does so with time.
        Idle = "idle",
        /// The same load once more.
        Again = "again",
    }
}

kinds! {
    /// What may grow.
    Kept {
        /// What is alive on the heap after a collection, in bytes.
        Heap = "heap",
        /// Memory, in bytes.
        Memory = "memory",
        /// Threads.
        Threads = "threads",
        /// Processes.
        Processes = "processes",
        /// Open files and sockets.
        Files = "files",
        /// Connections that clients closed and the server did not.
        Unclosed = "unclosed",
    }
}

kinds! {
    /// What is said of something that may grow.
    TrendVerdict {
        /// It grows with each request: as fast again after a pause, in which it did not grow.
        Grows = "grows",
        /// It grows with time, whether the server is asked or not.
        GrowsWithTime = "grows-with-time",
        /// It grew, and what that would prove is missing.
        MayGrow = "may-grow",
        /// It grew at first, and came to rest.
        LevelledOff = "levelled-off",
        /// It does not grow.
        Steady = "steady",
        /// There was too little to tell.
        TooShort = "too-short",
    }
}

kinds! {
    /// Why growth is not proved.
    WhyMayGrow {
        /// It ended before the server was left alone and loaded again.
        NotAgain = "not-again",
        /// It grows ever more slowly.
        Slowing = "slowing",
        /// It grew in the pause as well, by too little to be certain.
        GrewInThePause = "grew-in-the-pause",
        /// Its heap is collected and nobody counts it: the memory may be the collector's.
        HeapUnknown = "heap-unknown",
        /// What is alive on the heap that is counted does not grow: the memory is the runtime's, the system's, or outside of that heap.
        HeapSteady = "heap-steady",
        /// By too little of what it had before.
        Small = "small",
        /// In the second load alone: what is kept of requests would have been kept of the first ones, too.
        OnlyAgain = "only-again",
        /// It gave it back in the pause, and takes it again.
        TakenAgain = "taken-again",
        /// It grew in the first load, and cycles of the second are too unlike to say whether it goes on.
        Scattered = "scattered",
    }
}

/// How something went that may grow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptTrend {
    /// What.
    pub of: Kept,
    /// Who counted it, of a heap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<HeapCountedBy>,
    /// What there was after the first cycle.
    pub first: f64,
    /// After the last one.
    pub last: f64,
    /// By how much it grew with a request towards the end, with its 95 % interval; none where there was too little to tell.
    pub per_request: Option<Measured>,
    /// By how much it grew in a second in which the server was hardly asked.
    pub idle_per_s: Option<f64>,
    /// The least growth with a request that would have been seen; none where it was seen, or nobody can say.
    pub visible_from: Option<f64>,
    /// What is said of it.
    pub verdict: TrendVerdict,
    /// Why growth is not proved; only where it may grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<WhyMayGrow>,
}

/// A class or a function of which a heap has more and more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grower {
    /// Its name.
    pub name: String,
    /// Bytes that it grew by.
    pub bytes: f64,
    /// Objects; none where the runtime counts bytes alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<f64>,
    /// Its share of all that the heap grew by, 0 to 1; above that where others shrank.
    pub share: f64,
}

/// How long replies took in the first part and in the second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyCourse {
    /// Which quantile.
    pub metric: Metric,
    /// The geometric mean over cycles of the first part, in µs.
    pub first_us: f64,
    /// The same over those of the second part.
    pub last_us: f64,
    /// How many times as long they took in the second part, with its 95 % interval.
    pub ratio: Measured,
}

/// How a rule was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleResult {
    /// The rule.
    pub rule: Rule,
    /// The most that was seen; none where nobody sees it.
    pub worst: Option<f64>,
    /// When it was broken, in the order of time.
    pub broken: Vec<Spell>,
}

/// A time in which a rule was broken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spell {
    /// Seconds from the begin of the soak.
    pub from_s: f64,
    /// To.
    pub to_s: f64,
    /// The most meanwhile.
    pub worst: f64,
}

/// One cycle: a load, and a look at what the server has once that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoakCycle {
    /// Which part it is of.
    pub part: SoakPart,
    /// Seconds from the begin of the soak to its end.
    pub at_s: f64,
    /// Requests answered since the begin.
    pub requests: u64,
    /// The share of its requests that failed, 0 to 1.
    pub failed: f64,
    /// The median of its response times, in µs.
    pub p50_us: Option<f64>,
    /// Their 99th percentile.
    pub p99_us: Option<f64>,
    /// CPUs that the server used.
    pub cpus_used: Option<f64>,
    /// What it had afterwards of each that may grow, as far as it was seen.
    pub kept: Vec<(Kept, f64)>,
}

/// Why a soak ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SoakEnd {
    /// It lasted as long as was asked for.
    Complete,
    /// It was stopped before.
    Unfinished,
    /// The server ended.
    Died,
    /// Nothing could be measured.
    NothingMeasured,
}

/// How a server ended during a soak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoakDeath {
    /// How.
    pub why: WhyFailed,
    /// After so many whole cycles.
    pub cycles: u64,
    /// The last lines that it printed.
    pub printed: String,
}

/// What a soak came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Soak {
    /// Version of this document's shape.
    pub schema: String,
    /// What was asked.
    pub question: String,
    /// The server, for people.
    pub title: String,
    /// The machine and what else matters.
    pub environment: Environment,
    /// Why it ended.
    pub ended: SoakEnd,
    /// Seconds at work.
    pub elapsed_s: Option<f64>,
    /// What it served at most, in requests a second; none where that was not asked.
    pub most_per_s: Option<f64>,
    /// CPUs that it used then; none where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_cpus_used: Option<f64>,
    /// What it was sent, in requests a second.
    pub rate_per_s: Option<f64>,
    /// Of each thing that may grow how it went; what is worst first.
    pub trends: Vec<KeptTrend>,
    /// What the growth of its heap consists of, the most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub growers: Vec<Grower>,
    /// How long replies took.
    pub latencies: Vec<LatencyCourse>,
    /// How the rules were kept.
    pub rules: Vec<RuleResult>,
    /// How the server ended, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died: Option<SoakDeath>,
    /// Every cycle in the order of time.
    pub cycles: Vec<SoakCycle>,
}

/// How many times as long replies may take in the second part before the server is said to have become slower.
pub const SOAK_SLOWER: f64 = 1.1;

/// How many cycles a soak of so many seconds has: enough for a trend, and no more than can be kept in memory however long it is.
pub fn soak_cycles(for_s: f64) -> u32 {
    (for_s / 20.0).clamp(20.0, 120.0) as u32
}

/// The part of each cycle of so many: two fifths under load, a fifth without, two fifths under load.
pub fn soak_part(cycle: u32, of: u32) -> SoakPart {
    let (first, idle) = (of * 2 / 5, of / 5);
    match cycle {
        _ if cycle < first => SoakPart::First,
        _ if cycle < first + idle => SoakPart::Idle,
        _ => SoakPart::Again,
    }
}

impl Soak {
    /// Whether something is certainly wrong: it grows, it ended, or a rule was broken.
    pub fn is_bad(&self) -> bool {
        let grows = |trend: &KeptTrend| matches!(trend.verdict, TrendVerdict::Grows | TrendVerdict::GrowsWithTime);
        self.died.is_some()
            || self.trends.iter().any(grows)
            || self.rules.iter().any(|result| !result.broken.is_empty())
            || self.latencies.iter().any(LatencyCourse::is_slower)
    }
}

impl LatencyCourse {
    /// Whether replies certainly take longer than they did.
    pub fn is_slower(&self) -> bool {
        self.ratio.low.is_some_and(|low| low > SOAK_SLOWER)
    }
}
