use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Cure, Metric, Reason};

/// Whether the instrument vouches for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does.
    Valid,
    /// A closed run whose generator was the limit: the server is at least this fast.
    AtLeast,
    /// It does not.
    Void,
}

/// The instrument's word on one result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// The word.
    pub verdict: Verdict,
    /// Why; also for a valid closed run, where the reason says what the limit was.
    pub reasons: Vec<Reason>,
    /// How the server did, which the instrument's word is not about.
    #[serde(default)]
    pub failing: Failing,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How many requests failed against how many may, and whether what came back was right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failing {
    /// Requests that failed ÷ those that were due, 0 to 1.
    pub failed_share: f64,
    /// The share that may fail.
    pub allowed_share: f64,
    /// Replies with wrong content: another body, not HTTP, or bytes that no request had asked for.
    pub wrong_content: u64,
    /// Windows in which the server stopped answering.
    #[serde(skip_serializing_if = "is_zero")]
    pub stopped: u64,
    /// Seconds of the first such window after which no reply came any more, where requests failed to its end; none where
    /// it was served to the end.
    pub stopped_at_s: Option<f64>,
    /// Requests of all such windows without any answer: those that failed, and those that still waited, for a reply or to be
    /// sent. Only the first are in the share above.
    #[serde(skip_serializing_if = "is_zero")]
    pub unanswered: u64,
    /// Windows in which nothing was served at all, though the generator was there to see it.
    #[serde(skip_serializing_if = "is_zero")]
    pub unserved: u64,
    /// Launches in which the server's process ended under load.
    #[serde(skip_serializing_if = "is_zero")]
    pub died: u64,
    /// Whether the answer is bad: more failed than may, content was wrong, the server stopped answering or died, or nothing
    /// was served in a window.
    pub bad: bool,
}

impl Failing {
    /// Whether more failed than may.
    pub fn is_of_many(&self) -> bool {
        self.failed_share > self.allowed_share
    }

    /// Whether a launch was silent: nothing was served in it, or the server stopped answering.
    pub fn is_of_silence(&self) -> bool {
        self.stopped_at_s.is_some() || self.unserved > 0
    }

    /// Whether it is bad, but for servers that died.
    pub fn is_of_replies(&self) -> bool {
        self.is_of_many() || self.wrong_content > 0 || self.is_of_silence()
    }
}

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
}

impl MarkNote {
    /// A mark of no metric in particular.
    pub fn new(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, text: text.into(), metrics: Vec::new(), launches: None, cold: None, cure: None }
    }

    /// Whether it is about a metric. What marks decide asks this, and not only whether the mark is there.
    pub fn is_about(&self, metric: Metric) -> bool {
        self.metrics.is_empty() || self.metrics.contains(&metric)
    }
}
