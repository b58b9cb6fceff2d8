use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Arm, Cure, MarkCause, Metric};

kinds! {
    /// An arithmetic truth that a result must satisfy; a breach makes the trial void.
    Invariant {
        /// The identities of the books.
        Accounting = "accounting",
        /// Little's law as an identity.
        InFlight = "in-flight",
        /// Rate and latency describe the same requests.
        Markov = "markov",
        /// No more completions than the handler delay allows.
        Ceiling = "ceiling",
        /// No reply with wrong content: body, framing, unasked bytes.
        Correctness = "correctness",
    }
}

/// One invariant, tried on one trial, or on those of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InvariantCheck {
    /// Which.
    pub invariant: Invariant,
    /// Whether it holds.
    pub holds: bool,
    /// The two sides where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breach: Option<Breach>,
    /// Of a cell, the trial in which it broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// Of a cell, how many trials it holds in, where it holds in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_in: Option<u32>,
}

impl InvariantCheck {
    /// Of one trial.
    pub fn new(invariant: Invariant, breach: Option<Breach>) -> Self {
        Self { invariant, holds: breach.is_none(), breach, trial: None, held_in: None }
    }
}

/// The two sides of an invariant that broke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Breach {
    /// The books do not balance: where.
    Imbalance(String),
    /// Little's identity does not hold.
    InFlight {
        /// Requests in flight over the window, in request-seconds.
        in_flight_s: f64,
        /// Time of all requests inside it.
        requests_s: f64,
    },
    /// A quantile, or the mean, is too long for the rate.
    TooLong {
        /// Which.
        metric: Metric,
        /// By what it is divided.
        divisor: f64,
        /// The least mean that follows from it, in µs.
        least_us: f64,
        /// The most that rate and connections allow, in µs.
        mean_us: f64,
    },
    /// There are more completions than a delay allows.
    Completions {
        /// All of the window.
        completed: u64,
        /// How many the delay allows.
        most: u64,
        /// The delay.
        delay_s: f64,
    },
    /// Content was wrong.
    Content {
        /// All replies.
        replies: u64,
        /// Those with a wrong body.
        bad_body: u64,
        /// Those that are not HTTP.
        malformed: u64,
        /// Those that no request had asked for.
        unasked: u64,
    },
}

kinds! {
    /// Something a reader must know about a result; printed, never voiding.
    Mark {
        /// The generator, not the target, may have been the limit.
        Generator = "generator",
        /// The generator's lateness may be over a tenth of a response figure.
        Lateness = "lateness",
        /// A latency is the generator's, which stood still while requests came due or waited.
        Standstill = "standstill",
        /// Connections completed nothing, or much time is in requests that did not complete.
        Unserved = "unserved",
        /// The server gave no reply for half a second or more, and went on.
        Silent = "silent",
        /// Requests never got a reply, long after others had theirs.
        Hung = "hung",
        /// The server ended connections that were to be kept.
        Reconnects = "reconnects",
        /// Fewer than 30 completions per connection slot.
        Thin = "thin",
        /// Throughput is at what the handler delay allows: servers cannot be ranked there.
        AtCeiling = "at-ceiling",
        /// The machine was disturbed.
        Noisy = "noisy",
        /// It was still getting faster at the end of a window too short to tell its course.
        Cold = "cold",
        /// It became faster inside the window, and stayed so.
        WarmUp = "warm-up",
        /// It became slower inside the window, and stayed so.
        SlowDown = "slow-down",
        /// It changed up to the end of the window.
        Unsteady = "unsteady",
        /// Its memory grew, and still did when the window ended.
        Growing = "growing",
        /// Its memory grew inside the window, and levelled off.
        LevelledOff = "levelled-off",
        /// Of a session: its values drift from block to block.
        Drift = "drift",
        /// Of a session: neighbouring blocks resemble each other.
        Correlated = "correlated",
        /// Some replies were wrong or requests failed.
        Errors = "errors",
    }
}

kinds! {
    /// How a launch went over its window (Barrett et al., OOPSLA'17), from the best to the worst.
    Course {
        /// One level.
        Flat = "flat",
        /// It became faster, and stayed so.
        WarmUp = "warm-up",
        /// It became slower, and stayed so.
        SlowDown = "slow-down",
        /// It changed up to the end.
        Unsteady = "unsteady",
    }
}

/// In how many of a cell's launches something was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launches {
    /// Those in which it was.
    pub with: u32,
    /// All that count.
    pub of: u32,
    /// The one whose figures are told.
    pub told: String,
}

/// A mark with what shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarkNote {
    /// Which.
    pub mark: Mark,
    /// The figures behind it.
    #[serde(flatten)]
    pub cause: MarkCause,
    /// The metrics that it is about; empty where it is about whatever that mark can be about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// In how many launches of its cell; null where all of them together tell it, or it is of no cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<Launches>,
    /// What would mend it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<Cure>,
    /// Of a session that is one of two, which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<Arm>,
}

impl MarkNote {
    /// A mark of no metric in particular.
    pub fn new(mark: Mark, cause: MarkCause) -> Self {
        Self { mark, cause, metrics: Vec::new(), launches: None, cure: None, arm: None }
    }

    /// Whether it is about a metric. What marks decide asks this, and not only whether the mark is there.
    pub fn is_about(&self, metric: Metric) -> bool {
        self.metrics.is_empty() || self.metrics.contains(&metric)
    }
}
