//! The generator's own standstills: what came due or waited in one is not the server's doing.

use hdrhistogram::Histogram;
use model::{LateCause, NS_PER_S, NotSent, StandstillSpan};

use crate::demand::Window;
use crate::in_flight::Moments;
use crate::second::{add_to, histogram, record, ticks};

/// Time between two looks at the clock from which the thread stood still: longer than another's turn on its CPU (one
/// tick of the kernel, 1 to 10 ms) or any work of its own between two looks. Shorter ones are lateness.
pub(crate) const STANDSTILL_NS: u64 = 10_000_000;

/// How many of a thread's standstills are kept one by one: the longest.
const SPANS_KEPT: usize = 16;

/// Histograms of requests that came due or waited in a standstill, to be taken off those of all.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    pub(crate) service: Histogram<u64>,
    pub(crate) felt: Histogram<u64>,
    pub(crate) censored_service: Histogram<u64>,
    pub(crate) censored_felt: Histogram<u64>,
}

impl Held {
    pub(crate) fn new() -> Self {
        Held { service: histogram(), felt: histogram(), censored_service: histogram(), censored_felt: histogram() }
    }

    fn add(&mut self, other: &Held) {
        add_to(&mut self.service, &other.service);
        add_to(&mut self.felt, &other.felt);
        add_to(&mut self.censored_service, &other.censored_service);
        add_to(&mut self.censored_felt, &other.censored_felt);
    }
}

/// The standstills of some threads, put together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StandstillTotals {
    /// Over all threads.
    pub(crate) count: u64,
    /// Of the thread with most.
    pub(crate) sum_ns: u64,
    pub(crate) longest_ns: u64,
    /// Requests that came due or waited in one, and those of them that never left.
    pub(crate) requests: u64,
    pub(crate) never_sent: u64,
    /// The longest of each thread, as its number, begin and length.
    kept: Vec<(u32, u64, u64)>,
    pub(crate) held: Option<Box<Held>>,
}

impl StandstillTotals {
    /// Adds those of other threads, whose numbers begin with `thread` here.
    pub(crate) fn merge(&mut self, other: StandstillTotals, thread: u32) {
        self.count += other.count;
        self.sum_ns = self.sum_ns.max(other.sum_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.requests += other.requests;
        self.never_sent += other.never_sent;
        self.kept.extend(other.kept.into_iter().map(|(of, from_ns, length_ns)| (thread + of, from_ns, length_ns)));
        match (&mut self.held, other.held) {
            (Some(mine), Some(theirs)) => mine.add(&theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
    }

    /// Those kept one by one, of a window that began then.
    pub(crate) fn spans(&self, start_ns: u64) -> Vec<StandstillSpan> {
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        let span = |(thread, from_ns, length_ns): &(u32, u64, u64)| StandstillSpan {
            thread: *thread,
            at_s: seconds(from_ns.saturating_sub(start_ns)),
            length_s: seconds(*length_ns),
        };
        self.kept.iter().map(span).collect()
    }
}

/// One thread's standstills.
#[derive(Default)]
pub(crate) struct Standstills {
    /// Requests that were due from here on came due in a standstill, or wait behind those that did.
    from_ns: u64,
    /// The end of the last standstill.
    ended_ns: u64,
    /// Only requests that were due before this may have come due or waited in a standstill.
    pub(crate) until_ns: u64,
    /// Up to here a request that waits for a connection may do so behind those that a standstill held up.
    behind_until_ns: u64,
    pub(crate) count: u64,
    pub(crate) sum_ns: u64,
    pub(crate) longest_ns: u64,
    /// The longest, as pairs of begin and length.
    spans: Vec<(u64, u64)>,
    /// Requests that came due or waited in one, and those of them that never left.
    pub(crate) requests: u64,
    pub(crate) never_sent: u64,
    /// Made with the first of them: most loads have none.
    held: Option<Box<Held>>,
}

impl Standstills {
    /// The thread stood still; what of it lies outside the window disturbed no request but those that wait there still.
    pub(crate) fn note(&mut self, from_ns: u64, until_ns: u64, window: Window) {
        // One that begins while the last one's backlog still leaves goes on with it.
        if from_ns >= self.behind_until_ns {
            self.from_ns = from_ns;
        }
        (self.ended_ns, self.until_ns) = (until_ns, until_ns);
        self.behind_until_ns = self.behind_until_ns.max(until_ns) + (until_ns - from_ns);
        let (from_ns, until_ns) = (window.clamp(from_ns), window.clamp(until_ns));
        let length_ns = until_ns - from_ns;
        if length_ns == 0 {
            return;
        }
        self.count += 1;
        self.sum_ns += length_ns;
        self.longest_ns = self.longest_ns.max(length_ns);
        self.spans.push((from_ns, length_ns));
        if self.spans.len() > SPANS_KEPT {
            let shortest = (0..self.spans.len()).min_by_key(|at| self.spans[*at].1).unwrap_or(0);
            self.spans.remove(shortest);
        }
    }

    /// Who is to blame for a request that leaves late. After a standstill the requests that it held up go first: who
    /// waits behind them for a connection waits for the generator, for as long again at most.
    pub(crate) fn late_cause(&mut self, intended_ns: u64, now_ns: u64, blocked: bool) -> LateCause {
        if blocked && self.until_ns <= intended_ns && intended_ns < self.behind_until_ns {
            self.until_ns = intended_ns + 1;
        }
        if blocked && !self.held_back(intended_ns, now_ns) { LateCause::NoConnection } else { LateCause::Generator }
    }

    /// Whether a request that leaves now, or never, came due in a standstill. One that had been waiting for a connection
    /// before it did so for the server, unless the standstill is most of its lateness.
    pub(crate) fn held_back(&self, intended_ns: u64, now_ns: u64) -> bool {
        let came_due = intended_ns >= self.from_ns;
        let late_ns = now_ns.saturating_sub(intended_ns);
        intended_ns < self.until_ns && (came_due || 2 * (self.ended_ns - self.from_ns) > late_ns)
    }

    /// Between two of these moments one request is held back as another is, if both leave now or never.
    pub(crate) fn edges_of_held_back(&self, now_ns: u64) -> [u64; 3] {
        [self.from_ns, self.until_ns, now_ns.saturating_sub(2 * (self.ended_ns - self.from_ns)) + 1]
    }

    /// Whether a request waited in a standstill, or for its connection because of one. `begun_ns` is when
    /// it began to wait for the server.
    pub(crate) fn touched(&self, intended_ns: u64, begun_ns: u64) -> bool {
        begun_ns < self.ended_ns || self.held_back(intended_ns, begun_ns)
    }

    /// Books requests that came due or waited in one.
    fn hold(&mut self, count: u64) -> &mut Held {
        self.requests += count;
        self.held.get_or_insert_with(|| Box::new(Held::new()))
    }

    pub(crate) fn replied(&mut self, moments: Moments, now_ns: u64) {
        let held = self.hold(1);
        record(&mut held.service, now_ns.saturating_sub(moments.sent_ns));
        record(&mut held.felt, now_ns.saturating_sub(moments.intended_ns));
    }

    /// One that was sent and whose reply never came; what was felt is given where it differs from the service time.
    pub(crate) fn unanswered(&mut self, service_ns: u64, felt_ns: Option<u64>) {
        let held = self.hold(1);
        record(&mut held.censored_service, service_ns);
        felt_ns.iter().for_each(|felt_ns| record(&mut held.censored_felt, *felt_ns));
    }

    /// Some that never left; only where none turned them away was that the standstill's doing.
    pub(crate) fn unsent(&mut self, count: u64, kind: NotSent, felt_ns: Option<u64>) {
        self.never_sent += if kind.is_at_end() { count } else { 0 };
        let held = self.hold(count);
        felt_ns.iter().for_each(|felt_ns| held.censored_felt.saturating_record_n(ticks(*felt_ns), count));
    }

    /// What is left of them when the load is over.
    pub(crate) fn totals(self) -> StandstillTotals {
        StandstillTotals {
            count: self.count,
            sum_ns: self.sum_ns,
            longest_ns: self.longest_ns,
            requests: self.requests,
            never_sent: self.never_sent,
            kept: self.spans.into_iter().map(|(from_ns, length_ns)| (0, from_ns, length_ns)).collect(),
            held: self.held,
        }
    }
}
