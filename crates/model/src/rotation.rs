//! Targets that are alive together, while the load goes round among them in slices.

use serde::{Deserialize, Serialize};

use crate::Accounting;
use crate::measurement::{HalfCount, Residence};
use crate::outcome::kinds;

/// How a plan's loads go round among the targets that share their conditions, where they can; a cell's warm-up is its first turn
/// then, and its window is what its slices come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// How long each slice is measured at least, in nanoseconds, as a mean: the lengths differ by a fifth either way.
    pub slice_ns: u64,
    /// How long each slice is under load before that at least, in nanoseconds.
    pub lead_in_ns: u64,
    /// How often each target has a slice in a launch, in plans of schema 2; none where that follows from the windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
}

/// One slice of a launch, as it is recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Round, from 1; 0 of the warm-up.
    pub round: u32,
    /// Its place among the turns of the round, from 1.
    pub position: u32,
    /// Its begin, lead-in included, in seconds since the first turn's.
    pub at_s: f64,
    /// From its begin until nothing of it was in flight any more, in seconds.
    pub length_s: f64,
    /// How long was measured, in seconds.
    pub window_s: f64,
    /// Replies of any kind that completed while it was measured.
    pub completed: u64,
    /// Those that were as expected.
    pub ok: u64,
    /// Replies of any kind in either half of what was measured; none in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halves: Option<[HalfCount; 2]>,
    /// Replies of any kind over its whole length, lead-in and end included.
    pub replies: u64,
    /// Requests that failed over its whole length, without a whole reply or with a wrong one.
    pub failed: u64,
    /// Requests that were still in flight when its end was no longer waited for, or that of the load that woke it.
    pub not_drained: u64,
    /// Its own books, of the requests that were due while it was measured; none in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
    /// Little's law over it; none in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residence: Option<Residence>,
    /// Median felt latency in microseconds, of what was measured; null where too few requests were.
    pub p50_us: Option<f64>,
    /// 99th percentile of the same.
    pub p99_us: Option<f64>,
    /// All of the same that had a reply, in units of 100 ns: a histogram in the HdrHistogram V2 format, deflated and in base64. None
    /// where nothing had, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub felt: Option<String>,
    /// The load right before it, which counts nowhere: what a server does once it is asked again falls into that. None of the
    /// warm-up, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prelude: Option<Prelude>,
    /// The target's CPU seconds over its length.
    pub cpu_s: f64,
    /// The target's CPU seconds from its end to when the target is loaded next, or to the end of the last turn: what it put off, or
    /// does unasked.
    pub idle_cpu_s: f64,
    /// How long that was, in seconds.
    pub idle_s: f64,
    /// CPU seconds that the other targets used over its length; none in older records, and where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbours_cpu_s: Option<f64>,
    /// Garbage collections from its begin to the begin of the target's next slice; null where the runtime does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_count: Option<f64>,
    /// Those of them that came before its end, lead-in included; null where the runtime did not tell then, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_gc_count: Option<f64>,
    /// Seconds in which a thread of the generator could have run and waited for a CPU, the most of any; null where the kernel
    /// does not say.
    pub generator_run_delay_s: Option<f64>,
    /// Share (0 to 1) of all CPU time that the hypervisor took, over its length.
    pub steal_share: f64,
    /// Share (0 to 1) of all CPU time that processes other than bourdon and the targets used, over its length.
    pub others_share: f64,
}

impl Slice {
    /// CPU seconds of what the target put off that is for the requests of the slice itself, and not for those that woke it: the same
    /// for each.
    pub fn put_off_s(&self) -> f64 {
        let woke = self.prelude.as_ref().map_or(0, |prelude| prelude.replies);
        let all = crate::sum([self.replies, woke]);
        if all > 0 { self.idle_cpu_s * self.replies as f64 / all as f64 } else { self.idle_cpu_s }
    }
}

/// A short load that wakes a target which idled, up to when nothing of it was in flight any more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prelude {
    /// How long it lasted, in seconds.
    pub length_s: f64,
    /// Replies of any kind.
    pub replies: u64,
    /// Requests that failed, without a whole reply or with a wrong one; 0 in older records.
    #[serde(default)]
    pub failed: u64,
    /// Felt latencies of all that had a reply, written as those of a slice; none where nothing had, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub felt: Option<String>,
    /// The target's CPU seconds meanwhile; 0 where nobody looked.
    pub cpu_s: f64,
    /// Connections that the server had ended while it idled.
    pub closed_idle: u64,
    /// Connections that it ended with a reply.
    pub closed_by_reply: u64,
}

/// What a target did while nobody asked it anything, once its load was over: from look to look.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Rest {
    /// One after the other.
    pub steps: Vec<RestStep>,
    /// Whether it ended by itself before that was over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Whether processes of it ended without being waited for, or may have: what these used is in nobody's CPU seconds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwaited: bool,
}

/// What a target did between two looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RestStep {
    /// How long that was, in seconds.
    pub length_s: f64,
    /// The target's CPU seconds.
    pub cpu_s: f64,
}

impl Rest {
    /// How long it was watched, in seconds.
    pub fn length_s(&self) -> f64 {
        self.steps.iter().map(|step| step.length_s).sum()
    }

    /// Its CPU seconds.
    pub fn cpu_s(&self) -> f64 {
        self.steps.iter().map(|step| step.cpu_s).sum()
    }

    /// Whether it was watched to the end, where that was to be for so many seconds: nine tenths of them at least, for looks begin and end
    /// it.
    pub fn is_whole(&self, asked_s: f64) -> bool {
        self.ended || self.length_s() >= 0.9 * asked_s
    }
}

kinds! {
    /// What keeps a target's load from being cut into slices.
    Unsliced {
        /// Replies outlast the end of a slice.
        SlowDrain = "slow-drain",
        /// The server gave no reply any more.
        FellSilent = "fell-silent",
        /// A slice has too few replies.
        FewReplies = "few-replies",
        /// The server ends connections that wait for their next slice, or after a number of requests.
        ConnectionsEnd = "connections-end",
        /// The server is slow at first in each slice, for it idled while others had theirs.
        SlowAfterIdling = "slow-after-idling",
        /// Requests cost much when the server is asked again, for it idled while others had their slices.
        DearAfterIdling = "dear-after-idling",
        /// Requests fail when the server is asked again.
        FailsAfterIdling = "fails-after-idling",
        /// What requests take still grows within a slice: a queue that begins empty has not settled when it ends.
        Unsettled = "unsettled",
        /// The server does fewer requests than come due, and each slice begins without what the one before left undone.
        FallsBehind = "falls-behind",
    }
}

/// The same with its figures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnslicedCause {
    /// Replies outlast the end of a slice.
    SlowDrain {
        /// 99th percentile of the service time in microseconds; null where too few requests were measured.
        p99_us: Option<f64>,
        /// For how long the end of a slice waits, in microseconds.
        waited_us: f64,
        /// Requests that were not waited for.
        not_drained: u64,
    },
    /// The server gave no reply any more.
    FellSilent {
        /// The first round without one.
        round: u32,
        /// Requests that were left without a reply at the ends of slices.
        not_drained: u64,
    },
    /// A slice has too few replies.
    FewReplies {
        /// Its round.
        round: u32,
        /// Replies in it.
        replies: u64,
        /// As many are needed.
        needed: u64,
    },
    /// The server ends connections.
    ConnectionsEnd {
        /// Between requests without a word.
        idle: u64,
        /// With a reply that said so.
        said: u64,
    },
    /// The server is slow after it idled.
    SlowAfterIdling {
        /// Share by which replies took longer in the first halves of the slices than in the second, by their mean service times.
        slower: f64,
        /// How many slices that is the mean of.
        slices: usize,
        /// How many CPUs other targets used in its slices on average, where that may be why; null where it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        neighbours_cpus: Option<f64>,
    },
    /// Requests cost much when the server is asked again.
    DearAfterIdling {
        /// Share by which a request cost more CPU in the loads that woke the server than in the slices right after them.
        dearer: f64,
        /// How many slices that is the mean of.
        slices: usize,
    },
    /// Requests fail when the server is asked again.
    FailsAfterIdling {
        /// Requests that failed in the loads that woke it, without a whole reply or with a wrong one.
        failed: u64,
        /// Replies of any kind beside them, the wrong ones among these; `requests` in older records.
        #[serde(alias = "requests")]
        replies: u64,
    },
    /// What requests take still grows within a slice.
    Unsettled {
        /// Share by which they took longer in the second halves of the slices than in the first, by their mean response times; of a
        /// closed load by their mean service times.
        slower: f64,
        /// How many slices that is the mean of.
        slices: usize,
    },
    /// The server does fewer requests than come due.
    FallsBehind {
        /// Requests that came due while it was measured, but for those that failed without a reply.
        due: u64,
        /// Replies that came meanwhile.
        replies: u64,
    },
}

impl UnslicedCause {
    /// Which it is.
    pub fn code(&self) -> Unsliced {
        match self {
            UnslicedCause::SlowDrain { .. } => Unsliced::SlowDrain,
            UnslicedCause::FellSilent { .. } => Unsliced::FellSilent,
            UnslicedCause::FewReplies { .. } => Unsliced::FewReplies,
            UnslicedCause::ConnectionsEnd { .. } => Unsliced::ConnectionsEnd,
            UnslicedCause::SlowAfterIdling { .. } => Unsliced::SlowAfterIdling,
            UnslicedCause::DearAfterIdling { .. } => Unsliced::DearAfterIdling,
            UnslicedCause::FailsAfterIdling { .. } => Unsliced::FailsAfterIdling,
            UnslicedCause::Unsettled { .. } => Unsliced::Unsettled,
            UnslicedCause::FallsBehind { .. } => Unsliced::FallsBehind,
        }
    }
}
