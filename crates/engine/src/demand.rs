use model::{Extent, LoadModel, LoadSpec, NS_PER_S};

use crate::schedule::Schedule;

/// The span that is measured, in nanoseconds on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start_ns: u64,
    /// `u64::MAX` while an exact number of requests has not yet completed.
    pub(crate) end_ns: u64,
}

impl Window {
    pub(crate) fn contains(&self, at_ns: u64) -> bool {
        (self.start_ns..self.end_ns).contains(&at_ns)
    }

    pub(crate) fn middle_ns(&self) -> u64 {
        self.start_ns.midpoint(self.end_ns)
    }

    pub(crate) fn clamp(&self, at_ns: u64) -> u64 {
        at_ns.clamp(self.start_ns, self.end_ns)
    }
}

/// Which requests are wanted, and when: the load model of one thread.
#[derive(Clone)]
pub(crate) struct Demand {
    source: Source,
    /// Requests of the window that may still be begun; none where time ends the load.
    quota: Option<u64>,
    pub(crate) start_ns: u64,
    /// Over how long from then on the connections of all threads begin, evenly.
    pub(crate) start_spread_ns: u64,
    pub(crate) window: Window,
    /// An exact number of requests at a rate lasts at least so long as they take at that rate: the last of n is due
    /// at (n − 1) ÷ rate, and a window that ended there would show more than the rate.
    pub(crate) earliest_end_ns: u64,
}

#[derive(Clone)]
enum Source {
    Closed,
    Open(Schedule),
}

impl Demand {
    /// The demand on thread `thread`, whose load starts at `start_ns`.
    pub(crate) fn new(spec: &LoadSpec, thread: u32, start_ns: u64) -> Self {
        let window_start = start_ns + spec.warm_up_ns;
        let (length, quota) = match spec.extent {
            Extent::Window(length) => (Some(length), None),
            Extent::Requests { count, within_ns } => (within_ns, Some(share(count, thread, spec.threads))),
        };
        let end_ns = length.map_or(u64::MAX, |length| window_start + length);
        let source = match spec.model {
            LoadModel::Closed => Source::Closed,
            LoadModel::Open { rate_per_s, arrivals } => {
                Source::Open(Schedule::new(arrivals, rate_per_s, thread, spec.threads, spec.seed))
            }
        };
        let at_rate_ns = match (spec.rate_per_s(), spec.extent) {
            (Some(rate_per_s), Extent::Requests { count, .. }) => count as f64 / rate_per_s * 1e9,
            (None, _) | (_, Extent::Window(_)) => 0.0,
        };
        let earliest_end_ns = window_start.saturating_add(at_rate_ns as u64);
        let (start_spread_ns, window) = (spec.start_spread_ns, Window { start_ns: window_start, end_ns });
        Self { source, quota, start_ns, start_spread_ns, window, earliest_end_ns }
    }

    /// No demand at all, for the time in which connections are opened.
    pub(crate) fn none(spec: &LoadSpec) -> Self {
        let mut demand = Self::new(spec, 0, 0);
        demand.window = Window { start_ns: 0, end_ns: 0 };
        demand
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.source, Source::Open(_))
    }

    /// Whether nothing more will be wanted.
    pub(crate) fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.window.end_ns || (self.quota == Some(0) && now_ns >= self.earliest_end_ns)
    }

    /// Closed model: how many of `room` requests may be begun now.
    pub(crate) fn closed_now(&self, room: usize, now_ns: u64) -> usize {
        if self.is_open() || now_ns < self.start_ns || now_ns >= self.window.end_ns {
            return 0;
        }
        match self.quota {
            Some(left) if now_ns >= self.window.start_ns => usize::try_from(left).map_or(room, |left| left.min(room)),
            _ => room,
        }
    }

    /// Closed model: `count` requests were begun.
    pub(crate) fn consume(&mut self, count: usize, now_ns: u64) {
        if let Some(left) = &mut self.quota
            && now_ns >= self.window.start_ns
        {
            *left = left.saturating_sub(count as u64);
        }
    }

    /// Open model: intended time of the next request, none when the schedule has ended or the model is closed.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        let Source::Open(schedule) = &self.source else { return None };
        let due = self.start_ns + schedule.next_ns();
        (due < self.window.end_ns && self.quota != Some(0)).then_some(due)
    }

    /// Whether a request may still leave. In the open model what was due before the window's end may leave just after
    /// it: the last wake-up comes late by its latency, and that does not make the request one that was never sent.
    pub(crate) fn may_send(&self, now_ns: u64) -> bool {
        let grace_ns = if self.is_open() { LAST_SEND_NS } else { 0 };
        now_ns < self.window.end_ns.saturating_add(grace_ns)
    }

    /// Open model: takes the next request, whose intended time must have been looked at.
    pub(crate) fn take_due(&mut self, due_ns: u64) {
        if let Source::Open(schedule) = &mut self.source {
            schedule.advance();
        }
        self.consume(1, due_ns);
    }

    /// Open model: from the window's start on, what was due before it and has not left never will.
    pub(crate) fn forget_backlog(&mut self) {
        if let Source::Open(schedule) = &mut self.source {
            schedule.skip(self.window.start_ns.saturating_sub(self.start_ns), u64::MAX);
        }
    }

    /// Open model: takes all requests that are due before a moment, of which the next one's time has been looked at; gives
    /// how many they were. They lie on one side of the window's start.
    pub(crate) fn take_before(&mut self, until_ns: u64) -> u64 {
        let Source::Open(schedule) = &mut self.source else { return 0 };
        let in_window = self.start_ns + schedule.next_ns() >= self.window.start_ns;
        let mut quota = self.quota.as_mut().filter(|_| in_window);
        let most = quota.as_ref().map_or(u64::MAX, |left| **left);
        let count = schedule.skip(until_ns.min(self.window.end_ns).saturating_sub(self.start_ns), most);
        if let Some(left) = &mut quota {
            **left -= count;
        }
        count
    }

    /// Whether this due time belongs to the warm-up, of which `now_ns` sees the end.
    pub(crate) fn is_backlog(&self, due_ns: u64, now_ns: u64) -> bool {
        due_ns < self.window.start_ns && now_ns >= self.window.start_ns
    }

    /// Ends the load now, whatever was still wanted.
    pub(crate) fn stop(&mut self, now_ns: u64) {
        self.window.end_ns = self.window.end_ns.min(now_ns);
        // Before the window there is nothing to measure, and no reason to wait for it.
        self.window.start_ns = self.window.start_ns.min(now_ns);
    }
}

/// Thread `thread`'s part of `count` things over `threads`, none lost to division.
pub(crate) fn share(count: u64, thread: u32, threads: u32) -> u64 {
    let (thread, threads) = (u64::from(thread), u64::from(threads));
    count / threads + u64::from(thread < count % threads)
}

/// How long after the window's end a request that was due before it may still leave: generators on shared machines are held up for some
/// milliseconds, and slices have many ends.
const LAST_SEND_NS: u64 = 20_000_000;

/// Longest time the end of a load waits for replies still in flight.
pub(crate) const DRAIN_NS: u64 = NS_PER_S;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_loses_nothing() {
        for (count, threads) in [(100, 3), (7, 8), (0, 2), (1_000_001, 7)] {
            assert_eq!((0..threads).map(|thread| share(count, thread, threads)).sum::<u64>(), count);
        }
    }
}
