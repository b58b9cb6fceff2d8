//! The thread's looks at the clock: what passes between two of them is its own doing.

use model::Clock;

use super::Worker;
use crate::protocol::Protocol;
use crate::standstill::STANDSTILL_NS;
use crate::wire::Wire;

/// When a thread looked at the clock, and how long it did not.
pub(super) struct Looks {
    /// The last look, or when the thread should have woken up for one.
    pub(super) at_ns: u64,
    /// A longer time between two looks is the longest so far, or a standstill.
    remarkable_ns: u64,
    /// Longest time between two looks, within the window.
    pub(super) longest_stall_ns: u64,
    /// Stood still since the last wait: replies that came meanwhile still lie in the sockets.
    pub(super) to_catch_up: bool,
}

impl Looks {
    pub(super) fn new(now_ns: u64) -> Self {
        Self { at_ns: now_ns, remarkable_ns: 0, longest_stall_ns: 0, to_catch_up: false }
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
            self.looks.to_catch_up = true;
            self.ledger.stood_still(from_ns, until_ns);
        }
    }
}
