//! Requests in their handler delay, and those that wait for a free slot.

use std::collections::VecDeque;

use crate::ticket::Ticket;

/// Below this many abandoned requests a sweep is not worth it.
const SWEEP_FROM: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct Timed {
    /// When it arrived (waiting) or when its delay is over (running); nanoseconds.
    at: u64,
    ticket: Ticket,
}

/// A station with equal service times and a limited or unlimited number of slots.
///
/// The delays are equal, so requests leave in the order they came and queues do for timers. A
/// waiting request starts at the moment its slot *was* freed, not when the event loop came to know
/// of it: late wake-ups do not add up, and the station passes `slots / delay` requests per unit of
/// time exactly.
pub(crate) struct Schedule {
    delay: u64,
    slots: usize,
    running: VecDeque<Timed>,
    waiting: VecDeque<Timed>,
    abandoned: usize,
}

impl Schedule {
    /// A station with this delay in nanoseconds; `slots` of `None` is without limit.
    pub(crate) fn new(delay: u64, slots: Option<usize>) -> Self {
        let slots = slots.unwrap_or(usize::MAX);
        Schedule { delay, slots, running: VecDeque::new(), waiting: VecDeque::new(), abandoned: 0 }
    }

    /// Whether requests are delayed at all.
    pub(crate) fn delays(&self) -> bool {
        self.delay > 0
    }

    /// Takes in a request at `now`, which must not be earlier than at any call before.
    pub(crate) fn arrive(&mut self, now: u64, ticket: Ticket) {
        if self.running.len() < self.slots {
            self.start(now, ticket);
        } else {
            self.waiting.push_back(Timed { at: now, ticket });
        }
    }

    fn start(&mut self, now: u64, ticket: Ticket) {
        self.running.push_back(Timed { at: now.saturating_add(self.delay), ticket });
    }

    /// When the next delay is over.
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.running.front().map(|first| first.at)
    }

    /// The next request whose delay is over at `now`. Its slot goes to the first waiting request that
    /// is still wanted.
    pub(crate) fn expire(&mut self, now: u64, wanted: impl Fn(Ticket) -> bool) -> Option<Ticket> {
        let done = self.running.pop_front_if(|first| first.at <= now)?;
        while let Some(next) = self.waiting.pop_front() {
            if wanted(next.ticket) {
                // It may have come after the slot was freed but before this was noticed.
                self.start(done.at.max(next.at), next.ticket);
                break;
            }
        }
        Some(done.ticket)
    }

    /// Notes that the clients of `count` requests have gone.
    pub(crate) fn abandon(&mut self, count: usize) {
        self.abandoned += count;
    }

    /// Forgets unwanted requests once they are many, so that clients that come, ask and go do not
    /// grow the queues without bound. Limited slots stay taken until their normal time.
    pub(crate) fn sweep(&mut self, wanted: impl Fn(Ticket) -> bool) {
        let queue = if self.slots == usize::MAX { &mut self.running } else { &mut self.waiting };
        if self.abandoned > SWEEP_FROM + queue.len() / 2 {
            queue.retain(|timed| wanted(timed.ticket));
            self.abandoned = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ticket(serial: u64) -> Ticket {
        Ticket { index: 0, serial }
    }

    fn drain(schedule: &mut Schedule, now: u64) -> Vec<u64> {
        std::iter::from_fn(|| schedule.expire(now, |_| true)).map(|ticket| ticket.serial).collect()
    }

    #[test]
    fn unlimited_slots_run_side_by_side() {
        let mut schedule = Schedule::new(10, None);
        schedule.arrive(0, ticket(1));
        schedule.arrive(3, ticket(2));
        assert_eq!(drain(&mut schedule, 9), Vec::<u64>::new());
        assert_eq!(drain(&mut schedule, 10), [1]);
        assert_eq!(schedule.next_at(), Some(13));
    }

    #[test]
    fn a_late_wake_up_does_not_delay_those_who_wait() {
        let mut schedule = Schedule::new(10, Some(1));
        for serial in 1..=3 {
            schedule.arrive(0, ticket(serial));
        }
        assert_eq!(drain(&mut schedule, 19), [1]);
        assert_eq!(schedule.next_at(), Some(20));
        assert_eq!(drain(&mut schedule, 30), [2, 3]);
    }

    #[test]
    fn nobody_is_served_for_less_than_the_delay() {
        let mut schedule = Schedule::new(10, Some(1));
        schedule.arrive(0, ticket(1));
        schedule.arrive(12, ticket(2));
        assert_eq!(drain(&mut schedule, 12), [1]);
        assert_eq!(schedule.next_at(), Some(22));
    }

    #[test]
    fn unwanted_requests_take_no_slot() {
        let mut schedule = Schedule::new(10, Some(1));
        for serial in 1..=4 {
            schedule.arrive(0, ticket(serial));
        }
        let wanted = |ticket: Ticket| ticket.serial == 4;
        assert_eq!(schedule.expire(10, wanted).map(|ticket| ticket.serial), Some(1));
        assert_eq!(schedule.expire(20, wanted).map(|ticket| ticket.serial), Some(4));
        assert_eq!(schedule.next_at(), None);
    }

    #[test]
    fn abandoned_requests_are_forgotten() {
        for slots in [None, Some(1)] {
            let mut schedule = Schedule::new(u64::MAX, slots);
            for serial in 0..100_000 {
                schedule.arrive(0, ticket(serial));
                schedule.abandon(1);
                schedule.sweep(|_| false);
                assert!(schedule.running.len() + schedule.waiting.len() <= 3 * SWEEP_FROM);
            }
        }
    }

    proptest! {
        #[test]
        fn the_kth_leaves_as_theory_says(
            gaps in proptest::collection::vec(0u64..30, 1..60), delay in 1u64..20, slots in 1usize..5,
        ) {
            let mut schedule = Schedule::new(delay, Some(slots));
            let (mut now, mut expected, mut left) = (0, Vec::<u64>::new(), Vec::new());
            for (k, gap) in gaps.iter().enumerate() {
                now += gap;
                schedule.arrive(now, ticket(k as u64));
                let freed = k.checked_sub(slots).map_or(0, |before| expected[before]);
                expected.push(now.max(freed) + delay);
            }
            while let Some(at) = schedule.next_at() {
                schedule.expire(at.max(now), |_| true);
                left.push(at);
            }
            prop_assert_eq!(left, expected);
        }
    }
}
