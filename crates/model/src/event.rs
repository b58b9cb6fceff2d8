use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Addition, Done, Interval, Sample, TrialRecord, TrialSpec, Waiting};

/// Schema number of a line of `events.jsonl`.
pub const EVENT_SCHEMA: &str = "bourdon.event/2";

/// Those that are read, the newest first. In the first a run ended for a reason in words, as an addition has them there.
pub const EVENT_SCHEMAS: [&str; 2] = [EVENT_SCHEMA, "bourdon.event/1"];

/// What happens in a run, as it leaves the lab. The terminal shows it, `events.jsonl` keeps it, and whoever reads it from
/// the beginning knows as much as who was there.
///
/// Events of one second of one trial add up. A trial that starts again takes the place of what was told of it before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a few events a second")]
pub enum Event {
    /// A bourdon begins to run the plan, or resumes it.
    Begun {
        /// Trials that were recorded before.
        recorded: usize,
        /// The names of those of whose end no event tells: it was lost to a power cut, or somebody cut it off.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        untold: Vec<String>,
    },
    /// A target is being built, since no earlier build serves.
    Building {
        /// Its name, with its runtime.
        target: String,
    },
    /// A target is left out.
    Absent {
        /// Its name.
        target: String,
        /// What is missing and how to get it.
        reason: String,
    },
    /// Something is added to the plan.
    Added {
        /// What.
        addition: Addition,
    },
    /// A target is not ready, and it is known why.
    Waiting {
        /// Its name.
        target: String,
        /// What keeps its launch waiting.
        seen: Waiting,
    },
    /// A target that has ended left a folder of which something cannot be removed.
    Left {
        /// Its name.
        target: String,
        /// The folder.
        folder: String,
    },
    /// A trial begins.
    TrialStarted {
        /// Its name in the run folder.
        trial: String,
        /// What is launched.
        spec: TrialSpec,
        /// Its cell in words.
        label: String,
        /// Trials done so far.
        done: usize,
        /// Trials expected at least.
        expected: usize,
    },
    /// A second of a trial's load has passed.
    Second {
        /// The trial.
        trial: String,
        /// What it saw.
        second: LoadSecond,
    },
    /// The target was looked at: the last look of each second.
    Look {
        /// The trial.
        trial: String,
        /// When, in seconds since the window's start.
        at_s: f64,
        /// What was seen.
        sample: Sample,
    },
    /// A trial ended.
    TrialEnded {
        /// Its record.
        record: Box<TrialRecord>,
    },
    /// The run ends before its time, because it lacks a target that did not become ready, or that did not get through a
    /// load before the blocks.
    GivenUp {
        /// The block with which it ends; 0 before the first.
        block: u32,
        /// The target.
        target: String,
    },
    /// The run ended.
    Finished {
        /// Why no more trials are needed.
        reason: Done,
    },
}

/// One line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventLine {
    /// Version of this document's shape.
    pub schema: String,
    /// When it was told, RFC 3339.
    #[serde(deserialize_with = "crate::read_moment")]
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

/// What one second of a load was like, over all threads that told of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadSecond {
    /// Its counts, and quantiles of what is felt.
    #[serde(flatten)]
    pub interval: Interval,
    /// Whether it is the time after the window, when only replies still in flight come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drain: bool,
    /// Its whole distributions, where they were asked for; empty ones are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histograms: Vec<EncodedHistogram>,
}

impl LoadSecond {
    /// Whether it is about the window: the window's seconds and the replies that come after it.
    pub fn is_measured(&self) -> bool {
        self.drain || self.interval.at_s >= 0.0
    }
}

kinds! {
    /// What a histogram is of.
    HistogramTag {
        /// Service times.
        Service = "service",
        /// Times to the first byte.
        FirstByte = "first-byte",
        /// Response times.
        Response = "response",
        /// Total times.
        Total = "total",
        /// How late requests were sent.
        Lateness = "lateness",
    }
}

/// A histogram in the HdrHistogram V2 format, deflated and in base64, as a line of an interval log has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedHistogram {
    /// What it is of.
    pub tag: HistogramTag,
    /// Its largest value, in units of 100 ns, as are all of it.
    pub max: u64,
    /// The histogram.
    pub data: String,
}
