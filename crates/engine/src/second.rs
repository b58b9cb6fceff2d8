//! What one thread sees in one second: the distributions that the hot path fills.

use std::borrow::Cow;

use hdrhistogram::Histogram;
pub(crate) use model::TICK_NS;
use model::{HalfCount, HistogramTag, LoadSpec, NS_PER_S, Population};
use serde::{Deserialize, Serialize};

use crate::in_flight::Moments;
use crate::serial::{is_within, one, one_or_none};

/// What any histogram has room for: the first 16 KiB.
const SHORT_TICKS: u64 = 2_000;

/// Largest value that is recorded: one hour, in ticks.
pub(crate) const MAX_TICKS: u64 = 3600 * NS_PER_S / TICK_NS;

/// A histogram for values up to this one, at three significant digits.
pub(crate) fn bounded(longest: u64) -> Histogram<u64> {
    Histogram::new_with_bounds(1, longest, 3).expect("constant bounds are valid")
}

/// An empty histogram of ticks. It has room for 200 µs, and makes more for what is longer: all of an hour takes 216 KiB, which
/// few loads need and a dozen histograms would have each.
pub(crate) fn histogram() -> Histogram<u64> {
    let mut growing = bounded(SHORT_TICKS);
    growing.auto(true);
    growing
}

pub(crate) fn record(histogram: &mut Histogram<u64>, ns: u64) {
    record_n(histogram, ns, 1);
}

pub(crate) fn record_n(histogram: &mut Histogram<u64>, ns: u64, count: u64) {
    record_ticks(histogram, ticks(ns), count);
}

pub(crate) fn record_ticks(histogram: &mut Histogram<u64>, ticks: u64, count: u64) {
    histogram.record_n(ticks, count).expect("it makes room");
}

/// How often a histogram holds what is alike to this many ticks. Beyond its room it would tell of the longest it has room for.
pub(crate) fn count_of(histogram: &Histogram<u64>, ticks: u64) -> u64 {
    if ticks > histogram.max() { 0 } else { histogram.count_at(ticks) }
}

pub(crate) fn ticks(ns: u64) -> u64 {
    ns.div_ceil(TICK_NS).clamp(1, MAX_TICKS)
}

/// From when on a client waits for its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Felt {
    /// From the send: the closed model on connections that are kept.
    Service,
    /// From the begin of connecting: the closed model with a connection for each request.
    Total,
    /// From the intended send: the open model.
    Response,
}

impl Felt {
    pub(crate) fn of(spec: &LoadSpec) -> Self {
        match spec.felt() {
            Population::Response => Felt::Response,
            Population::Service => Felt::Service,
            Population::Total => Felt::Total,
        }
    }

    /// Whether it differs from the service time, and has a distribution of its own.
    pub(crate) fn is_separate(self) -> bool {
        self != Felt::Service
    }

    /// How long a request without a reply was waited for.
    pub(crate) fn age_ns(self, moments: Moments, now_ns: u64) -> u64 {
        now_ns.saturating_sub(if self.is_separate() { moments.intended_ns } else { moments.sent_ns })
    }

    /// Counts a reply that came in a half of the window.
    pub(crate) fn count(self, half: &mut HalfCount, moments: Moments, now_ns: u64) {
        half.completed += 1;
        half.service_ns += now_ns.saturating_sub(moments.sent_ns);
        if self == Felt::Response {
            half.response_ns += now_ns.saturating_sub(moments.intended_ns);
        }
    }

    /// The tag of its distribution in an interval log.
    pub(crate) fn tag(self) -> HistogramTag {
        match self {
            Felt::Service => HistogramTag::Service,
            Felt::Total => HistogramTag::Total,
            Felt::Response => HistogramTag::Response,
        }
    }
}

/// How long one request took, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) service_ns: u64,
    pub(crate) first_byte_ns: u64,
    pub(crate) felt_ns: u64,
}

/// Replies that took the same times: those of a pipeline that came with one receive are recorded together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Alike {
    pub(crate) times: Times,
    pub(crate) count: u64,
}

/// The distributions that are filled in the hot path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Distributions {
    #[serde(with = "one")]
    pub(crate) service: Histogram<u64>,
    #[serde(with = "one")]
    pub(crate) first_byte: Histogram<u64>,
    /// Response or total time; absent where what is felt is the service time.
    #[serde(with = "one_or_none")]
    pub(crate) felt: Option<Histogram<u64>>,
    /// Only where something is intended.
    #[serde(with = "one_or_none")]
    pub(crate) lateness: Option<Histogram<u64>>,
}

impl Distributions {
    pub(crate) fn new(felt: Felt) -> Self {
        Self {
            service: histogram(),
            first_byte: histogram(),
            felt: felt.is_separate().then(histogram),
            lateness: (felt == Felt::Response).then(histogram),
        }
    }

    /// Whether they hold no more than any load has.
    pub(crate) fn are_within(&self) -> bool {
        let all = [&self.service, &self.first_byte].into_iter().chain(&self.felt).chain(&self.lateness);
        all.into_iter().all(|it| is_within(it.len()))
    }

    pub(crate) fn clear(&mut self) {
        self.service.reset();
        self.first_byte.reset();
        self.felt.iter_mut().chain(&mut self.lateness).for_each(Histogram::reset);
    }

    /// Replies that took the same times.
    #[inline(always)]
    pub(crate) fn record(&mut self, Alike { times, count }: Alike) {
        if count == 0 {
            return;
        }
        record_n(&mut self.service, times.service_ns, count);
        record_n(&mut self.first_byte, times.first_byte_ns, count);
        if let Some(felt) = &mut self.felt {
            record_n(felt, times.felt_ns, count);
        }
    }

    /// What a user feels.
    pub(crate) fn felt(&self) -> &Histogram<u64> {
        self.felt.as_ref().unwrap_or(&self.service)
    }

    pub(crate) fn add(&mut self, other: &Distributions) {
        add_to(&mut self.service, &other.service);
        add_to(&mut self.first_byte, &other.first_byte);
        let separate = [(&mut self.felt, &other.felt), (&mut self.lateness, &other.lateness)];
        for (into, from) in separate {
            if let (Some(into), Some(from)) = (into, from) {
                add_to(into, from);
            }
        }
    }
}

/// Adds what one histogram holds to another.
pub(crate) fn add_to(into: &mut Histogram<u64>, from: &Histogram<u64>) {
    for value in from.iter_recorded() {
        record_ticks(into, value.value_iterated_to(), value.count_at_value());
    }
}

/// What one thread saw in one second.
#[derive(Clone)]
pub(crate) struct Second {
    /// Which thread's.
    pub(crate) thread: usize,
    /// Seconds since the window's start, negative during warm-up.
    pub(crate) index: i64,
    /// When the window begins.
    pub(crate) window_start_ns: u64,
    /// When it began, which for the first one is in its middle.
    pub(crate) start_ns: u64,
    /// When it ended, before its time if the load did.
    pub(crate) end_ns: u64,
    /// Whether it is the time after the window, when only replies still in flight come.
    pub(crate) drain: bool,
    pub(crate) completed: u64,
    pub(crate) ok: u64,
    pub(crate) sent: u64,
    pub(crate) failed: u64,
    pub(crate) distributions: Distributions,
    /// Ages of requests that ended in it without a reply. None where all had one, for there are many sets of these.
    pub(crate) unanswered: Option<Box<Histogram<u64>>>,
    /// The longest time of its replies that no distribution holds: those to requests of the warm-up, in the window.
    pub(crate) slowest_carried_ns: u64,
}

impl Second {
    pub(crate) fn new(thread: usize, felt: Felt) -> Self {
        let distributions = Distributions::new(felt);
        Self {
            thread,
            index: 0,
            window_start_ns: 0,
            start_ns: 0,
            end_ns: 0,
            drain: false,
            completed: 0,
            ok: 0,
            sent: 0,
            failed: 0,
            distributions,
            unanswered: None,
            slowest_carried_ns: 0,
        }
    }

    /// Empties what the next second would else grow on.
    pub(crate) fn clear(&mut self) {
        self.distributions.clear();
        self.unanswered = None;
    }

    /// Requests ended without a reply at this age.
    #[cold]
    pub(crate) fn censor(&mut self, age_ns: u64, count: u64) {
        record_n(self.unanswered.get_or_insert_with(|| Box::new(histogram())), age_ns, count);
    }

    /// What was felt in it, by those without a reply for as long as they waited.
    pub(crate) fn felt(&self) -> Cow<'_, Histogram<u64>> {
        let replied = self.distributions.felt();
        let Some(ages) = &self.unanswered else { return Cow::Borrowed(replied) };
        let mut all = replied.clone();
        add_to(&mut all, ages);
        Cow::Owned(all)
    }

    /// Takes an emptied one for second `index`; the collector has cleared it.
    pub(crate) fn begin(&mut self, index: i64, start_ns: u64, window_start_ns: u64, drain: bool) {
        (self.index, self.start_ns, self.window_start_ns, self.drain) = (index, start_ns, window_start_ns, drain);
        (self.completed, self.ok, self.sent, self.failed) = (0, 0, 0, 0);
        self.slowest_carried_ns = 0;
    }

    /// A reply came in the window to a request of the warm-up: no distribution is of it, but what a slow server takes shows in
    /// it first. There is at most one for each request that was in flight when the window began.
    #[cold]
    pub(crate) fn carried_over(&mut self, felt_ns: u64) {
        self.slowest_carried_ns = self.slowest_carried_ns.max(felt_ns);
    }

    /// How long the slowest of its replies was waited for; 0 without one.
    pub(crate) fn slowest_ticks(&self) -> u64 {
        let carried = Some(self.slowest_carried_ns).filter(|ns| *ns > 0).map_or(0, ticks);
        self.distributions.felt().max().max(carried)
    }

    /// How long it lasted.
    pub(crate) fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Adds what another thread saw in it.
    pub(crate) fn add(&mut self, other: &Second) {
        self.completed += other.completed;
        self.ok += other.ok;
        self.sent += other.sent;
        self.failed += other.failed;
        self.distributions.add(&other.distributions);
        if let Some(ages) = &other.unanswered {
            add_to(self.unanswered.get_or_insert_with(|| Box::new(histogram())), ages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each thread has some ten of them, and twenty once it has stood still.
    #[test]
    fn a_histogram_takes_no_more_memory_than_its_longest_time_needs() {
        let kib = |ns: &[u64]| {
            let mut filled = histogram();
            ns.iter().for_each(|ns| record(&mut filled, *ns));
            filled.reset();
            filled.distinct_values() * size_of::<u64>() / 1024
        };
        const MS: u64 = 1_000_000;
        assert_eq!([kib(&[]), kib(&[200_000]), kib(&[MS, 200_000]), kib(&[MS])], [16, 16, 40, 40]);
        assert_eq!([kib(&[100 * MS]), kib(&[10_000 * MS]), kib(&[u64::MAX])], [88, 144, 216]);
    }
}
