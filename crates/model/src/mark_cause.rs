use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{DelayCeiling, Failure, LimitCause, LongSilence, Measured, Metric, NotSent};

/// What shows a mark, in figures; shares are 0 to 1. `report` has the words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkCause {
    /// Why the throughput is only a lower bound.
    Limit(LimitCause),
    /// Response figures of which over a tenth may be the generator's lateness, in µs.
    Late(Vec<(Metric, f64)>),
    /// The generator stood still while requests came due or waited.
    Touched(Touched),
    /// The server gave no reply for long, and went on.
    Silence(LongSilence),
    /// The server ended connections that were to be kept.
    Reopened(Reopened),
    /// Connections completed nothing, or little of their time went into what they completed.
    Unserved {
        /// Connections that completed nothing.
        never: u64,
        /// All connections.
        connections: u64,
        /// Share of the connections' time in completed requests; null where that is enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        served_share: Option<f64>,
        /// What most of the rest went into, and its share of the connections' time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elsewhere: Option<(Elsewhere, f64)>,
    },
    /// Requests never got a reply.
    Hung {
        /// How many.
        requests: u64,
        /// Whether each was on a connection of its own.
        one_each: bool,
        /// How long the oldest waited.
        oldest_s: f64,
        /// How long the slowest reply took.
        slowest_s: f64,
    },
    /// Completions per connection slot.
    CompletionsPerSlot(f64),
    /// The delay allows no more.
    Ceiling(DelayCeiling),
    /// CPU time that others took.
    Taken {
        /// CPUs of the machine.
        cpus: u32,
        /// Share that the hypervisor took, where that is much.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steal_share: Option<f64>,
        /// Share that other processes used, where that is much.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others_share: Option<f64>,
    },
    /// Of a session: a target that differs from itself, with the ratio by each such metric.
    Itself(Vec<(String, Metric, Measured)>),
    /// What shows that a server was cold.
    Cold(Coldness),
    /// The levels of a window.
    Course(WindowCourse),
    /// By how much memory grew.
    Growth(Growth),
    /// Of a session: values rise or fall over its blocks.
    Drift {
        /// Blocks.
        blocks: usize,
        /// How likely chance makes a trend like this.
        p: f64,
    },
    /// Of a session: neighbouring blocks resemble each other.
    Correlated {
        /// Blocks.
        blocks: usize,
        /// Correlation of each block with the next.
        correlation: f64,
        /// The same by chance, on average.
        by_chance: f64,
        /// How likely chance makes one like this.
        p: f64,
    },
    /// Requests that failed.
    Failures(FailedRequests),
}

impl MarkCause {
    /// How much of it a launch has, where launches can be put in order by one figure: seconds, requests or a share.
    pub fn size(&self) -> Option<f64> {
        match self {
            MarkCause::Taken { steal_share, others_share, .. } => {
                steal_share.iter().chain(others_share).copied().reduce(f64::max)
            }
            MarkCause::Silence(silence) => Some(silence.length_s),
            MarkCause::Hung { requests, .. } => Some(*requests as f64),
            _ => None,
        }
    }
}

/// What connections' time went into that was none of completed requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elsewhere {
    /// Opening connections.
    Connecting,
    /// Requests that timed out.
    TimedOut,
    /// Requests without a whole reply.
    Unanswered,
}

/// What a standstill of the generator did to latency figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Touched {
    /// How often and for how many seconds in all it stood still; null where what limited the load tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood: Option<(u64, f64)>,
    /// Requests that came due or waited in it.
    pub requests: u64,
    /// Requests in all.
    pub scheduled: u64,
    /// The figures, in µs.
    pub figures: Vec<TouchedFigure>,
}

/// A latency figure that a standstill of the generator changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TouchedFigure {
    /// Which.
    pub metric: Metric,
    /// Its value in µs; null where there are too few samples.
    pub us: Option<f64>,
    /// How much of it at least is not the generator's, in µs, where that is something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_us: Option<f64>,
}

/// Connections that a server ended, so that others had to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopened {
    /// Connections that were to be kept.
    pub connections: u32,
    /// Connections that were opened.
    pub opened: u64,
    /// Replies.
    pub replies: u64,
    /// Connections that a reply said would be closed.
    pub said: u64,
    /// Those that were closed between requests without a word.
    pub idle: u64,
    /// Those that were closed in place of a reply.
    pub in_place: u64,
}

/// What shows that a server was cold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coldness {
    /// By which share it was faster in the second half of its windows than in the first.
    FasterBy {
        /// Over the launches.
        share: f64,
        /// At least.
        low: f64,
        /// At most.
        high: f64,
    },
    /// It had less load before the window than it says it needs.
    WarmUp {
        /// What it had, in seconds.
        given_s: f64,
        /// What it needs, in seconds.
        needed_s: f64,
    },
}

/// How the figure that changed most went over a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowCourse {
    /// The figure.
    pub metric: Metric,
    /// From which second of the window it was on which level, in its own unit.
    pub levels: Vec<(f64, f64)>,
    /// Seconds of the window before the part that counts as steady; null where no part does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_from_s: Option<f64>,
    /// Length of the window in seconds.
    pub window_s: f64,
}

/// By how much memory grew over a window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Bytes, from the end of the window's first second to that of its last.
    pub bytes: u64,
    /// The same for each reply of that time; null where it levelled off or none came.
    pub bytes_per_request: Option<f64>,
}

/// Requests that failed, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRequests {
    /// All that were due.
    pub scheduled: u64,
    /// Those that were turned away.
    pub not_sent: BTreeMap<NotSent, u64>,
    /// Those without a whole reply.
    pub failed: BTreeMap<Failure, u64>,
    /// Those whose reply had a wrong status.
    pub bad_status: u64,
    /// Those whose reply had a wrong body.
    pub bad_body: u64,
}
