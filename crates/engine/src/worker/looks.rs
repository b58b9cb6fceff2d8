//! The thread's looks at the clock: what passes between two of them is its own doing.

use model::Clock;

use super::Worker;
use crate::protocol::Protocol;
use crate::standstill::STANDSTILL_NS;
use crate::wire::{EDGES_PER_WAIT, Wire};

/// When a thread looked at the clock, and how long it did not.
pub(super) struct Looks {
    /// The last look, or when the thread should have woken up for one.
    pub(super) at_ns: u64,
    /// A longer time between two looks is the longest so far, or a standstill.
    remarkable_ns: u64,
    /// Longest time between two looks, within the window.
    pub(super) longest_stall_ns: u64,
    /// Waits until everything has been looked at that came while the thread stood still: replies may still lie in the sockets.
    waits_to_catch_up: usize,
    /// Waits to catch up since everything should have ended.
    waits_overtime: usize,
}

/// How often it catches up at most once everything should have ended: where servers send without end, and the thread does not get its CPU for
/// that, each of its waits is followed by another standstill. A choice.
const MOST_OVERTIME: usize = 4;

/// Waits after which none of what so many connections have to say is left from before.
fn waits_for(connections: usize) -> usize {
    1 + connections / EDGES_PER_WAIT
}

impl Looks {
    pub(super) fn new(now_ns: u64) -> Self {
        Self { at_ns: now_ns, remarkable_ns: 0, longest_stall_ns: 0, waits_to_catch_up: 0, waits_overtime: 0 }
    }

    /// Whether what came while the thread stood still may not have been looked at yet.
    pub(super) fn to_catch_up(&self) -> bool {
        self.waits_to_catch_up > 0
    }

    /// Whether all that came while the thread stood still was looked at, or will not be: asked once after each wait when everything should have
    /// ended.
    pub(super) fn has_caught_up(&mut self, connections: usize) -> bool {
        self.waits_overtime += 1;
        !self.to_catch_up() || self.waits_overtime > MOST_OVERTIME * waits_for(connections)
    }

    /// A wait brought so many edges. They come in the order in which they were noticed, so that after as many waits as all
    /// connections take none is left from before.
    pub(super) fn waited(&mut self, edges: usize) {
        self.waits_to_catch_up = if edges == 0 { 0 } else { self.waits_to_catch_up.saturating_sub(1) };
    }
}

impl<P: Protocol, W: Wire, C: Clock> Worker<'_, P, W, C> {
    /// Notes the time. What passed since the last look is the thread's own doing.
    pub(super) fn look(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.looks.at_ns) > self.looks.remarkable_ns {
            self.note_gap(self.looks.at_ns, now_ns);
        }
        self.looks.at_ns = now_ns;
    }

    /// Looks at the clock between two pieces of work, so that together they are no standstill.
    pub(super) fn look_now(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.look(now_ns);
        now_ns
    }

    /// The time of the last look; under the open model, whose sends have stamps of their own, of one now.
    pub(super) fn after_sending(&mut self) -> u64 {
        if self.demand.is_open() {
            self.look_now();
        }
        self.looks.at_ns
    }

    /// The thread was held up from one moment to another; as its longest stall counts what of it lies in the window.
    #[cold]
    fn note_gap(&mut self, from_ns: u64, until_ns: u64) {
        let window = self.demand.window;
        let stall_ns = window.clamp(until_ns) - window.clamp(from_ns);
        self.looks.longest_stall_ns = self.looks.longest_stall_ns.max(stall_ns);
        self.looks.remarkable_ns = self.looks.longest_stall_ns.min(STANDSTILL_NS - 1);
        if until_ns - from_ns >= STANDSTILL_NS {
            self.looks.waits_to_catch_up = waits_for(self.connections.len());
            self.ledger.stood_still(from_ns, until_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_send_without_end_do_not_keep_a_load_from_its_end() {
        let mut looks = Looks::new(0);
        assert!(looks.has_caught_up(10), "it never stood still");
        let mut ended = (0..100).map(|_| {
            // Each wait is followed by another standstill.
            looks.waits_to_catch_up = waits_for(10);
            looks.has_caught_up(10)
        });
        assert_eq!(ended.position(|ended| ended), Some(MOST_OVERTIME * waits_for(10) - 1));
        looks.waited(0);
        assert!(looks.has_caught_up(10), "nothing was left to be looked at");
    }
}
