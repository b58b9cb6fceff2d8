use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Accounting, Failure, Latencies, NotSent, Side, TlsUse, WrongReply};

/// What the engine saw during one load. It holds no judgement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Length of the window in seconds; for an exact number of requests, from start to the last reply.
    pub window_s: f64,
    /// Whether the load was stopped before its end.
    pub interrupted: bool,
    /// The books, over all requests due inside the window.
    pub accounting: Accounting,
    /// Failures by kind, side and errno.
    pub failures: Vec<FailureCount>,
    /// Of the replies with a bad status: how many had which.
    #[serde(default)]
    pub bad_statuses: BTreeMap<u16, u64>,
    /// The first reply that was not as expected, in the window or before; null where every one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong: Option<WrongReply>,
    /// Replies to each request of a mix, in its order, of those that the books are about; none of a single request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_request: Vec<RequestCount>,
    /// What completed inside the window, whenever it was sent.
    pub in_window: WindowCount,
    /// The latency distributions, over the same requests as the books.
    pub latency_us: Latencies,
    /// When the generator itself stood still, and the latencies less that; none where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standstills: Option<Standstills>,
    /// Times of the window of half a second and more in which no reply came to any connection though one was owed, the longest 1,024 of a
    /// thread; absent from records of before they were kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silences: Vec<Silence>,
    /// Seconds of the window, so below 0 or 0, until which replies came in the warm-up, to the whole second; null where none
    /// did, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_until_s: Option<f64>,
    /// How long the slowest reply of all was waited for, in seconds: one of the warm-up, of the drain, or to a request of the
    /// warm-up, too; null where none came, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_reply_s: Option<f64>,
    /// Requests that still awaited their reply when the drain ended, those sent in the warm-up among them, from the youngest to
    /// the oldest; absent where there were none, and from older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<Awaited>,
    /// Both sides of Little's identity.
    pub residence: Residence,
    /// What the generator itself used.
    pub generator: GeneratorUse,
    /// What became of the connections.
    pub connections: ConnectionCounts,
    /// What came of TLS; none where it was not spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsUse>,
    /// How the load went, the warm-up as one step: at most [`crate::MOST_STEPS`] of the window. In records of before they
    /// are its seconds, however many.
    #[serde(alias = "intervals")]
    pub steps: Vec<Interval>,
}

impl Measurement {
    /// Ok replies a second inside the window.
    pub fn requests_per_s(&self) -> f64 {
        if self.window_s > 0.0 { self.in_window.ok as f64 / self.window_s } else { 0.0 }
    }

    /// Body and head bytes of ok replies a second inside the window.
    pub fn bytes_per_s(&self) -> f64 {
        if self.window_s > 0.0 { self.in_window.ok_bytes as f64 / self.window_s } else { 0.0 }
    }

    /// Seconds of the window in which the generator stood still; of records that do not say, its longest stall.
    pub fn stood_still_s(&self) -> f64 {
        let stalls = self.generator.threads.iter().map(|thread| thread.longest_stall_us / 1e6);
        self.standstills.as_ref().map_or(0.0, |it| it.sum_s).max(stalls.fold(0.0, f64::max))
    }

    /// The latencies less the generator's standstills, where the server is known to have taken at least so much: of several
    /// threads none knows what waited at the server behind what another one had held up.
    pub fn least_latencies(&self) -> Option<&Latencies> {
        let stood = self.standstills.as_ref().filter(|stood| stood.wakes_off && self.generator.threads.len() <= 1)?;
        Some(&stood.without_us)
    }

    /// The generator's CPU in the window ÷ the replies that completed in it, in microseconds; none without a reply.
    pub fn generator_cpu_us_per_request(&self) -> Option<f64> {
        let completed = self.in_window.completed;
        (completed > 0).then(|| self.generator.cpu_s() * 1e6 / completed as f64)
    }
}

/// Replies to one request of a mix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestCount {
    /// Complete replies of any kind.
    pub completed: u64,
    /// Those that were not as expected.
    pub wrong: u64,
}

/// Replies that completed inside the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowCount {
    /// Complete replies of any kind.
    pub completed: u64,
    /// Those that were as expected.
    pub ok: u64,
    /// Bytes of those, heads included.
    pub ok_bytes: u64,
    /// Those of any kind in either half of the window; all in the first where its end was not known beforehand.
    #[serde(default)]
    pub halves: [HalfCount; 2],
}

/// Replies that completed inside one half of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HalfCount {
    /// Complete replies of any kind.
    pub completed: u64,
    /// Sum of their service times, in nanoseconds.
    pub service_ns: u64,
    /// Sum of their response times, in nanoseconds; 0 under the closed model, and in older records.
    #[serde(default, skip_serializing_if = "is_none")]
    pub response_ns: u64,
}

fn is_none(ns: &u64) -> bool {
    *ns == 0
}

impl HalfCount {
    /// Mean time that a user waited in microseconds: response time where that is known, else service time; none without a reply.
    pub fn mean_felt_us(&self) -> Option<f64> {
        let felt_ns = if self.response_ns > 0 { self.response_ns } else { self.service_ns };
        (self.completed > 0).then(|| felt_ns as f64 / 1e3 / self.completed as f64)
    }

    /// Mean service time in microseconds; none without a reply.
    pub fn mean_service_us(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.service_ns as f64 / 1e3 / self.completed as f64)
    }
}

/// A kind of failure and how often it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// Phase and manner.
    pub kind: FailureKind,
    /// Who answers for it.
    pub side: Side,
    /// The kernel's error number, 0 when there was none (an orderly close, a time-out).
    pub errno: i32,
    /// How often.
    pub count: u64,
}

/// A failure before or after the request was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FailureKind {
    /// It was never sent.
    NotSent(NotSent),
    /// It was sent and got no complete reply.
    Failed(Failure),
}

impl FailureKind {
    /// The id used in every output.
    pub fn id(self) -> &'static str {
        match self {
            FailureKind::NotSent(kind) => kind.id(),
            FailureKind::Failed(kind) => kind.id(),
        }
    }

    /// Who answers for it.
    pub fn side(self) -> Side {
        match self {
            FailureKind::NotSent(kind) => kind.side(),
            FailureKind::Failed(kind) => kind.side(),
        }
    }
}

/// Little's law as an identity: the two sums are kept separately and must agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Residence {
    /// ∫ requests in flight dt over the window, in request-seconds.
    pub in_flight_s: f64,
    /// Σ of the time inside the window of all requests, finished, failed or unfinished, in seconds.
    pub requests_s: f64,
    /// The part of `requests_s` that belongs to requests which completed inside the window; where each opens a
    /// connection in the closed model, with the time for that.
    pub completed_s: f64,
}

/// What the generator used from the window's start to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorUse {
    /// One entry a thread.
    pub threads: Vec<ThreadUse>,
    /// The thread that delays what is sent and received, from the load's begin to its end; null without a network
    /// delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_delay: Option<ThreadUse>,
    /// The threads of the server that the target's handlers ask, together, over as long; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<ThreadUse>,
}

impl GeneratorUse {
    /// Busy share (0 to 1) of what else is made on the generator's CPUs, so that it counts for every thread: a network delay, a backend.
    pub fn beside(&self) -> f64 {
        [&self.network_delay, &self.backend].into_iter().flatten().map(ThreadUse::busy).sum()
    }

    /// Busy share (0 to 1) of the busiest thread, with what else is made on its CPUs.
    pub fn busiest_thread(&self) -> f64 {
        (self.threads.iter().map(ThreadUse::busy).fold(0.0, f64::max) + self.beside()).min(1.0)
    }

    /// Share (0 to 1) for which the thread that needed most of a CPU had it or waited for it, with what else is made on
    /// its CPUs.
    pub fn neediest_thread(&self) -> f64 {
        let needs = self.threads.iter().map(|thread| thread.busy() + thread.starved());
        (needs.fold(0.0, f64::max) + self.beside()).min(1.0)
    }

    /// CPU seconds over all threads.
    pub fn cpu_s(&self) -> f64 {
        self.threads.iter().map(|thread| thread.cpu_s).sum()
    }
}

/// Standstills of the generator: 10 ms and more between two looks of a thread at the clock, or beyond a sleep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Standstills {
    /// How many in the window, over all threads.
    pub count: u64,
    /// Seconds of the window, of the thread that stood still for most of it.
    pub sum_s: f64,
    /// The longest, in seconds.
    pub longest_s: f64,
    /// Requests of the books that came due or waited in one, or in its wake: until what it held up was worked off.
    pub requests: u64,
    /// Those that came due in one, or behind those that did for as long again at most, and were never sent.
    pub never_sent: u64,
    /// One by one, the longest 16 of each thread.
    pub spans: Vec<StandstillSpan>,
    /// Response or total, and service time, each request's less what of it lies in a standstill or its wake. Those never sent
    /// are left out; the other distributions are absent.
    pub without_us: Latencies,
    /// Whether it is less the wakes, too: older records take off the standstills alone.
    #[serde(default)]
    pub wakes_off: bool,
}

/// One standstill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StandstillSpan {
    /// Which generator thread, from 0.
    pub thread: u32,
    /// Its begin, in seconds since the window's start.
    pub at_s: f64,
    /// How much of it lay in the window, in seconds.
    pub length_s: f64,
}

/// A time in which no reply came, though a request was due or in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Silence {
    /// Its begin, in seconds since the window's start.
    pub at_s: f64,
    /// How much of it lay in the window, in seconds.
    pub length_s: f64,
    /// Requests of the books that failed in it, or in the drain; where several threads made the load, maybe some before it or
    /// after it, too, while one of them had no reply for longer; null in older records, whose silences may be times in which
    /// nothing was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Those of them that the server refused, closed or reset, and that bourdon did not give up after a time-out; null in older
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// Whether it lasted beyond the window's end and a reply came in the drain. Older records do not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered_in_drain: bool,
}

/// Requests that still awaited their reply, of ages that lie within a factor of two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Awaited {
    /// How many.
    pub requests: u64,
    /// Seconds since the youngest of them was sent.
    pub youngest_s: f64,
    /// Seconds since the oldest of them was sent.
    pub oldest_s: f64,
}

/// One generator thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadUse {
    /// CPU seconds.
    pub cpu_s: f64,
    /// Seconds of wall time over which `cpu_s` was counted.
    pub wall_s: f64,
    /// Seconds in which it could have run and waited for a CPU (the kernel's run delay); null where the kernel does
    /// not say.
    #[serde(default)]
    pub run_delay_s: Option<f64>,
    /// Longest time in the window between two looks at the clock while there was work, or beyond a sleep that was asked
    /// for, in microseconds.
    pub longest_stall_us: f64,
}

impl ThreadUse {
    /// Busy share, 0 to 1.
    pub fn busy(&self) -> f64 {
        if self.wall_s > 0.0 { self.cpu_s / self.wall_s } else { 0.0 }
    }

    /// Share of the time in which it waited for a CPU, 0 to 1; 0 where the kernel does not say.
    pub fn starved(&self) -> f64 {
        if self.wall_s > 0.0 { self.run_delay_s.unwrap_or(0.0) / self.wall_s } else { 0.0 }
    }
}

/// What became of the connections over the whole load, warm-up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ConnectionCounts {
    /// Connections that were established.
    pub opened: u64,
    /// Those of them that were inside the window; older records do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_in_window: Option<u64>,
    /// Those that a load before this one had left open; 0 of a load that stands alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: u64,
    /// Attempts to connect that failed.
    pub connect_failed: u64,
    /// The kernel's error number of the first of them; null where none failed, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_errno: Option<i32>,
    /// Keep-alive connections that the server closed while no request was on them.
    pub closed_idle: u64,
    /// Connections that were to be kept and ended with a reply: it said so, only the end of the connection ended it, or the server
    /// had said that it was the last.
    #[serde(default)]
    pub closed_by_reply: u64,
    /// Connections on which bytes came that no request had asked for; they were closed.
    pub unasked_replies: u64,
    /// Connection slots that completed nothing inside the window.
    pub never_served: u64,
    /// Fewest completions of a slot inside the window.
    pub completed_min: u64,
    /// Median completions of a slot.
    pub completed_median: u64,
    /// Most completions of a slot.
    pub completed_max: u64,
    /// Jain's fairness index over the slots' completions, 1 when all are equal; null when nothing completed.
    pub jain: Option<f64>,
}

impl ConnectionCounts {
    /// Whether there was a connection at any time.
    pub fn any(&self) -> bool {
        self.opened + self.kept > 0
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One second of the load, or some seconds together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, in seconds since the window's start; negative during warm-up.
    pub at_s: f64,
    /// Length in seconds; the last one may be shorter.
    pub length_s: f64,
    /// Complete replies that arrived in it.
    pub completed: u64,
    /// Those that were as expected.
    pub ok: u64,
    /// Requests sent in it.
    pub sent: u64,
    /// Requests that failed in it without a whole reply.
    pub failed: u64,
    /// Median felt latency in microseconds, of replies and of requests that ended in it without one, these at their age;
    /// null when there was neither. Not of what a thread told two seconds late and more.
    pub p50_us: Option<f64>,
    /// 99th percentile of the same, however few they are: of fewer than a hundred the largest.
    pub p99_us: Option<f64>,
    /// Largest of all of them, those told late included.
    pub max_us: Option<f64>,
    /// Smallest age among requests without a reply, in microseconds: what is at or above it is a lower bound. Absent where
    /// all had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_below_us: Option<f64>,
    /// Largest felt latency of a reply, in microseconds, where `exact_below_us` says that `max_us` is not that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replied_max_us: Option<f64>,
}

impl Interval {
    /// Requests that failed in it in any way: without a whole reply, or with a wrong one.
    pub fn failures(&self) -> u64 {
        self.failed.saturating_add(self.completed.saturating_sub(self.ok))
    }

    /// Whether `us`, a figure of this second in microseconds, is only a lower bound.
    pub fn is_lower_bound(&self, us: f64) -> bool {
        self.exact_below_us.is_some_and(|limit| us >= limit)
    }

    /// How long the slowest reply in it took, in microseconds; none where no reply came.
    pub fn slowest_reply_us(&self) -> Option<f64> {
        if self.exact_below_us.is_some() { self.replied_max_us } else { self.max_us }
    }
}
