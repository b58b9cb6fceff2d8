//! The generator's own standstills: what of a request's time lies in one, or in its wake, is not the server's doing.

use std::collections::VecDeque;

use hdrhistogram::Histogram;
use model::{LateCause, NS_PER_S, NotSent, StandstillSpan};
use serde::{Deserialize, Serialize};

use crate::demand::Window;
use crate::in_flight::Moments;
use crate::joint::Joint;
use crate::second::{add_to, histogram, record, record_n};
use crate::serial::{is_within, one};

/// Time between two looks at the clock from which the thread stood still: longer than another's turn on its CPU (one
/// tick of the kernel, 1 to 10 ms) or any work of its own between two looks. Shorter ones are lateness.
pub(crate) const STANDSTILL_NS: u64 = 10_000_000;

/// Longest sleep without a look at the stop flag and the clock: a standstill that begins in a sleep is known only from
/// when the sleep should have ended.
pub(crate) const LONGEST_WAIT_NS: u64 = 10_000_000;

/// How many of a thread's standstills are kept one by one: the longest.
const SPANS_KEPT: usize = 16;

/// How many of a thread's wakes are remembered for the requests that still wait: the last. Of a request that waited in more
/// of them, less is taken off than was the generator's.
const WAKES_REMEMBERED: usize = 64;

/// How long requests waited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Waits {
    #[serde(with = "one")]
    pub(crate) service: Histogram<u64>,
    #[serde(with = "one")]
    pub(crate) felt: Histogram<u64>,
    #[serde(with = "one")]
    pub(crate) censored_service: Histogram<u64>,
    #[serde(with = "one")]
    pub(crate) censored_felt: Histogram<u64>,
}

impl Waits {
    fn new() -> Self {
        Self { service: histogram(), felt: histogram(), censored_service: histogram(), censored_felt: histogram() }
    }

    fn add(&mut self, other: &Waits) {
        add_to(&mut self.service, &other.service);
        add_to(&mut self.felt, &other.felt);
        add_to(&mut self.censored_service, &other.censored_service);
        add_to(&mut self.censored_felt, &other.censored_felt);
    }

    fn are_within(&self) -> bool {
        let all = [&self.service, &self.felt, &self.censored_service, &self.censored_felt];
        all.into_iter().all(|it| is_within(it.len()))
    }
}

/// Requests that came due or waited in a standstill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// As long as they waited, to be taken off those of all.
    pub(crate) whole: Waits,
    /// Less what of that was the generator's, to be put in their place. Those that never left have no such time.
    pub(crate) less: Waits,
}

impl Held {
    fn new() -> Self {
        Held { whole: Waits::new(), less: Waits::new() }
    }

    fn add(&mut self, other: &Held) {
        self.whole.add(&other.whole);
        self.less.add(&other.less);
    }
}

/// A standstill with its wake, in which what it held up waits at the server with all that comes after it. What begins before
/// that is worked off belongs to the same one.
#[derive(Debug, Clone, Copy)]
struct Wake {
    /// The thread may have slept on already, unasked.
    asleep_ns: u64,
    /// The end of the last standstill in it.
    ended_ns: u64,
    /// Requests in flight before the first.
    in_flight: u64,
    /// When all is as before; `u64::MAX` while nobody knows.
    until_ns: u64,
}

/// The time of a request: when it was due, when it was sent, and now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waited {
    pub(crate) moments: Moments,
    pub(crate) now_ns: u64,
}

impl Waited {
    fn service_ns(self) -> u64 {
        self.now_ns.saturating_sub(self.moments.sent_ns)
    }

    fn felt_ns(self) -> u64 {
        self.now_ns.saturating_sub(self.moments.intended_ns)
    }
}

/// The standstills of some threads, put together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StandstillTotals {
    /// Over all threads.
    pub(crate) count: u64,
    /// Of the thread with most.
    pub(crate) sum_ns: u64,
    pub(crate) longest_ns: u64,
    /// Requests that came due or waited in one or its wake, and those that came due in one and never left.
    pub(crate) requests: u64,
    pub(crate) never_sent: u64,
    /// The longest of each thread, as its number, begin and length.
    kept: Vec<(u32, u64, u64)>,
    pub(crate) held: Option<Box<Held>>,
}

impl StandstillTotals {
    /// Adds those of other threads, whose numbers begin with `thread` here.
    pub(crate) fn merge(&mut self, other: StandstillTotals, thread: u32) {
        self.sum_ns = self.sum_ns.max(other.sum_ns);
        self.add(other, |(of, from_ns, length_ns)| (thread + of, from_ns, length_ns));
    }

    /// Adds those of the same thread under its next load.
    pub(crate) fn follow(&mut self, next: StandstillTotals, joint: Joint) {
        self.sum_ns += next.sum_ns;
        self.add(next, |(of, from_ns, length_ns)| (of, joint.after(from_ns), length_ns));
        keep_longest(&mut self.kept, |(_, _, length_ns)| *length_ns);
    }

    fn add(&mut self, other: StandstillTotals, placed: impl Fn((u32, u64, u64)) -> (u32, u64, u64)) {
        self.count += other.count;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.requests += other.requests;
        self.never_sent += other.never_sent;
        self.kept.extend(other.kept.into_iter().map(placed));
        match (&mut self.held, other.held) {
            (Some(mine), Some(theirs)) => mine.add(&theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
    }

    /// Puts them on another clock.
    pub(crate) fn move_by(&mut self, place: impl Fn(u64) -> u64) {
        self.kept.iter_mut().for_each(|(_, from_ns, _)| *from_ns = place(*from_ns));
    }

    /// Whether they are of so many threads, and no more than any load has.
    pub(crate) fn are_of(&self, threads: usize) -> bool {
        let held = self.held.iter().flat_map(|held| [&held.whole, &held.less]);
        let are_theirs = self.kept.iter().all(|(thread, ..)| (*thread as usize) < threads);
        let counts = [self.count, self.requests, self.never_sent];
        are_theirs && counts.into_iter().all(is_within) && held.into_iter().all(Waits::are_within)
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
#[derive(Clone, Default)]
pub(crate) struct Standstills {
    /// Requests that were due from here on came due in a standstill, or wait behind those that did.
    from_ns: u64,
    /// The end of the last standstill.
    ended_ns: u64,
    /// Only requests that were due before this may have come due in a standstill.
    until_ns: u64,
    /// Only requests that were due before this came due or waited in a standstill or its wake.
    pub(crate) touched_until_ns: u64,
    /// Up to here a request that waits for a connection may do so behind those that a standstill held up.
    behind_until_ns: u64,
    pub(crate) count: u64,
    pub(crate) sum_ns: u64,
    pub(crate) longest_ns: u64,
    /// The longest, as pairs of begin and length.
    spans: Vec<(u64, u64)>,
    /// The last.
    wakes: VecDeque<Wake>,
    /// Requests that came due or waited in one or its wake, and those that came due in one and never left.
    pub(crate) requests: u64,
    pub(crate) never_sent: u64,
    /// Made with the first of them: most loads have none.
    held: Option<Box<Held>>,
}

impl Standstills {
    /// The thread stood still with so many requests in flight, of a load that is open or not; what of it lies outside the
    /// window disturbed no request but those that wait there still.
    pub(crate) fn note(&mut self, (from_ns, until_ns): (u64, u64), in_flight: u64, (is_open, window): (bool, Window)) {
        // One that begins while the last one's backlog still leaves goes on with it.
        if from_ns >= self.behind_until_ns {
            self.from_ns = from_ns;
        }
        // Under the closed model no more wait than before, and what they wait longer is no more than the standstill.
        let wake_ns = if is_open { u64::MAX } else { until_ns + (until_ns - from_ns) };
        self.remember((from_ns, until_ns), wake_ns, in_flight);
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
        keep_longest(&mut self.spans, |(_, length_ns)| *length_ns);
    }

    fn remember(&mut self, (from_ns, ended_ns): (u64, u64), until_ns: u64, in_flight: u64) {
        let asleep_ns = from_ns.saturating_sub(LONGEST_WAIT_NS).max(self.touched_until_ns);
        self.touched_until_ns = self.touched_until_ns.max(until_ns);
        if let Some(wake) = self.wakes.back_mut().filter(|wake| wake.until_ns > from_ns) {
            (wake.ended_ns, wake.until_ns) = (ended_ns, self.touched_until_ns);
            return;
        }
        self.wakes.push_back(Wake { asleep_ns, ended_ns, in_flight, until_ns });
        if self.wakes.len() > WAKES_REMEMBERED {
            self.wakes.pop_front();
        }
    }

    /// A request has ended that had left in time. Once it was due after the standstill and no more are in flight than before,
    /// what the standstill held up has left, and the server has worked it off.
    pub(crate) fn ended(&mut self, intended_ns: u64, in_flight: u64, now_ns: u64) {
        let is_over = |wake: &&mut Wake| intended_ns >= wake.ended_ns && in_flight <= wake.in_flight;
        if let Some(wake) = self.wakes.back_mut().filter(is_over) {
            wake.until_ns = wake.until_ns.min(now_ns);
            self.touched_until_ns = wake.until_ns;
        }
    }

    /// What of a time lies in no standstill and no wake of one: how the server would have done in these nobody knows, for it
    /// had what came due in a standstill to do all at once.
    fn outside_ns(&self, from_ns: u64, until_ns: u64) -> u64 {
        let inside = |wake: &Wake| until_ns.min(wake.until_ns).saturating_sub(from_ns.max(wake.asleep_ns));
        until_ns.saturating_sub(from_ns).saturating_sub(self.wakes.iter().map(inside).sum())
    }

    /// How long a request waited for the server and how long it was felt, less what of it may be the generator's.
    fn less(&self, Waited { moments, now_ns }: Waited) -> [u64; 2] {
        [moments.sent_ns, moments.intended_ns].map(|from_ns| self.outside_ns(from_ns, now_ns))
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

    /// Books requests that came due or waited in one.
    fn hold(&mut self, count: u64) -> &mut Held {
        self.requests += count;
        self.held.get_or_insert_with(|| Box::new(Held::new()))
    }

    pub(crate) fn replied(&mut self, waited: Waited) {
        let less = self.less(waited);
        let held = self.hold(1);
        for (waits, [service_ns, felt_ns]) in
            [(&mut held.whole, [waited.service_ns(), waited.felt_ns()]), (&mut held.less, less)]
        {
            record(&mut waits.service, service_ns);
            record(&mut waits.felt, felt_ns);
        }
    }

    /// One that was sent and whose reply never came; `separate` where what was felt differs from the service time.
    pub(crate) fn unanswered(&mut self, waited: Waited, separate: bool) {
        let less = self.less(waited);
        let held = self.hold(1);
        for (waits, [service_ns, felt_ns]) in
            [(&mut held.whole, [waited.service_ns(), waited.felt_ns()]), (&mut held.less, less)]
        {
            record(&mut waits.censored_service, service_ns);
            if separate {
                record(&mut waits.censored_felt, felt_ns);
            }
        }
    }

    /// Some that never left; only where none turned them away was that the standstill's doing.
    pub(crate) fn unsent(&mut self, count: u64, kind: NotSent, felt_ns: Option<u64>) {
        self.never_sent += if kind.is_at_end() { count } else { 0 };
        let held = self.hold(count);
        felt_ns.iter().for_each(|felt_ns| record_n(&mut held.whole.censored_felt, *felt_ns, count));
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

/// Of one thread's, those that are kept one by one.
fn keep_longest<T>(spans: &mut Vec<T>, length_ns: impl Fn(&T) -> u64) {
    while spans.len() > SPANS_KEPT {
        let shortest = (0..spans.len()).min_by_key(|at| length_ns(&spans[*at])).unwrap_or(0);
        spans.remove(shortest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// What is left of the service and the response time of a request, in milliseconds, after standstills from and to these,
    /// each with the end of its wake.
    fn left(standstills: &[(u64, u64, u64)], intended: u64, sent: u64, now: u64) -> [u64; 2] {
        let mut stood = Standstills::default();
        for (from, until, worked_off) in standstills {
            let window = Window { start_ns: 0, end_ns: 10_000 * MS };
            stood.note((from * MS, until * MS), 3, (true, window));
            stood.ended(until * MS - 1, 0, worked_off * MS - 1);
            stood.ended(until * MS, 4, worked_off * MS - 1);
            stood.ended(until * MS, 3, worked_off * MS);
        }
        let moments = Moments { intended_ns: intended * MS, sent_ns: sent * MS, first_byte_ns: 0, place: 0, id: 0 };
        stood.less(Waited { moments, now_ns: now * MS }).map(|ns| ns / MS)
    }

    #[test]
    fn what_lies_in_a_standstill_or_its_wake_is_taken_off_and_no_more() {
        assert_eq!(left(&[(100, 200, 230)], 0, 0, 1_000), [860, 860], "it may have slept on for 10 ms before");
        assert_eq!(left(&[(100, 200, 230)], 150, 200, 260), [30, 30], "due in it");
        assert_eq!(left(&[(100, 200, 230)], 210, 220, 225), [0, 0], "sent into what it held up");
        assert_eq!(left(&[(100, 200, 230)], 150, 500, 510), [10, 280], "no longer than that was worked off");
        assert_eq!(left(&[(100, 200, 230)], 300, 310, 320), [10, 20], "after it");
        assert_eq!(left(&[(100, 200, 5_000)], 0, 50, 1_000), [40, 90], "nothing is known of the server meanwhile");
    }

    #[test]
    fn all_standstills_of_a_request_are_taken_off_once() {
        assert_eq!(left(&[(100, 200, 204), (205, 305, 310), (500, 520, 525)], 0, 0, 1_000), [745, 745]);
        assert_eq!(left(&[(100, 200, 240), (250, 260, 270)], 150, 300, 310), [10, 40]);
    }
}
