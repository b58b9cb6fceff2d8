//! The end of a load: what is still owed, awaited or lies unread is booked.

use model::{Clock, NotSent};

use super::Worker;
use super::busy::BusyMeter;
use crate::connection::State;
use crate::demand::Demand;
use crate::ledger::Ledger;
use crate::part::Part;
use crate::protocol::Protocol;
use crate::wire::Wire;

impl<P: Protocol, W: Wire, C: Clock> Worker<'_, P, W, C> {
    pub(super) fn finish(mut self, now_ns: u64, busy: BusyMeter) -> Part {
        if now_ns < self.demand.window.end_ns {
            // An exact number of requests is done before its time: the window ends with the last of them, or when the
            // next one at their rate would be due.
            let earliest_end_ns = self.demand.earliest_end_ns.max(self.demand.window.start_ns + 1);
            self.demand.stop(self.last_ended_ns.max(earliest_end_ns));
            self.ledger.move_end(self.demand.window);
        }
        self.charge_unsent(now_ns);
        self.look_for_unasked();
        for slot in self.slots() {
            while let Some(moments) = self.connections.pop_oldest(slot) {
                self.ledger.unfinished(moments, now_ns);
            }
        }
        self.ledger.close(now_ns);
        Part {
            counts: self.counts,
            completed: self.connections.iter().map(|connection| connection.completed).collect(),
            threads: vec![busy.thread_use(self.looks.longest_stall_ns)],
            tls: self.wire.tls(),
            ..self.ledger.into_part()
        }
    }

    /// What came after a connection's last reply belongs to no request.
    fn look_for_unasked(&mut self) {
        for slot in self.slots() {
            let connection = &self.connections[slot];
            if connection.state == State::Open && connection.in_flight() == 0 {
                let more = self.wire.receive(slot, &mut self.inbox.buffer);
                self.counts.unasked_replies += u64::from(more.is_ok_and(|more| more.bytes > 0));
            }
        }
    }

    /// Requests that came due and never left: those held by a connection, and those the schedule still owes.
    fn charge_unsent(&mut self, now_ns: u64) {
        for slot in self.slots() {
            if let Some(reserved) = self.connections[slot].reserved.take() {
                self.ledger.not_sent(reserved.intended_ns, 1, NotSent::WaitingAtEnd, 0, now_ns);
            }
        }
        charge_owed(&mut self.demand, &mut self.ledger, now_ns);
    }
}

/// Books what the schedule still owes, in as many steps as the books tell apart: there may be more of them than there is
/// time to look at.
fn charge_owed(demand: &mut Demand, ledger: &mut Ledger, now_ns: u64) {
    while let Some(intended_ns) = demand.next_due_ns() {
        let count = demand.take_before(ledger.alike_until(intended_ns, now_ns));
        ledger.scheduled(intended_ns, count);
        ledger.not_sent(intended_ns, count, NotSent::WaitingAtEnd, 0, now_ns);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
