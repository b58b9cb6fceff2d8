use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Cure, Metric};

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

/// One invariant, tried on one trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvariantCheck {
    /// Which.
    pub invariant: Invariant,
    /// Whether it holds.
    pub holds: bool,
    /// The two sides in figures.
    pub text: String,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launches {
    /// Those in which it was.
    pub with: u32,
    /// All that count.
    pub of: u32,
}

/// What shows that a server was cold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coldness {
    /// By which share (0 to 1) it was faster in the second half of its windows than in the first.
    FasterBy(f64),
    /// It had less load before the window than it says it needs.
    WarmUp {
        /// What it had, in seconds.
        given_s: f64,
        /// What it needs, in seconds.
        needed_s: f64,
    },
}

/// By how much memory grew over a window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Bytes, from the end of the window's first second to that of its last.
    pub bytes: u64,
    /// The same for each reply of that time; null where it levelled off or none came.
    pub bytes_per_request: Option<f64>,
}

/// A mark with its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarkNote {
    /// Which.
    pub mark: Mark,
    /// The figures behind it.
    pub text: String,
    /// The metrics that it is about; empty where it is about whatever that mark can be about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// In how many launches of its cell; null where all of them together tell it, or it is of no cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launches: Option<Launches>,
    /// Of the mark `cold`, what shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<Coldness>,
    /// What would mend it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<Cure>,
    /// Of the marks `growing` and `levelled-off`, by how much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

impl MarkNote {
    /// A mark of no metric in particular.
    pub fn new(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, text: text.into(), metrics: Vec::new(), launches: None, cold: None, cure: None, growth: None }
    }

    /// Whether it is about a metric. What marks decide asks this, and not only whether the mark is there.
    pub fn is_about(&self, metric: Metric) -> bool {
        self.metrics.is_empty() || self.metrics.contains(&metric)
    }
}
