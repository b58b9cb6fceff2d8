//! The end of a load: what is still owed, awaited or lies unread is booked.

use model::{Clock, NotSent};
use rustix::io::Errno;

use super::busy::BusyMeter;
use super::connecting::ToConnect;
use super::sending::Free;
use super::{Resting, Worker};
use crate::awaited::Ages;
use crate::connection::{Connections, State};
use crate::demand::Demand;
use crate::ledger::Ledger;
use crate::part::Part;
use crate::protocol::Protocol;
use crate::second::Second;
use crate::wire::Wire;

impl<'a, P: Protocol, W: Wire, C: Clock> Worker<'a, P, W, C> {
    pub(super) fn finish(mut self, now_ns: u64, busy: BusyMeter) -> (Part, Resting<'a, P, W, C>) {
        if now_ns < self.demand.window.end_ns {
            // An exact number of requests is done before its time: the window ends with the last of them, or when the
            // next one at their rate would be due.
            let earliest_end_ns = self.demand.earliest_end_ns.max(self.demand.window.start_ns + 1);
            let last_ns = self.last_failed_ns.max(self.ledger.silences.last_reply_ns);
            self.demand.stop(last_ns.max(earliest_end_ns));
            self.ledger.move_end(self.demand.window);
        }
        let owed = Owed::of(&self.connections, &self.free, &self.to_connect, self.turned_away);
        let awaited = owed.charge((&mut self.demand, &mut self.ledger), now_ns);
        self.look_for_unasked();
        let tls = self.wire.tls();
        self.drop_owed();
        self.ledger.close(now_ns);
        let completed = self.completed();
        let threads = vec![busy.thread_use(self.looks.longest_stall_ns)];
        self.tidy();
        let (resting, ledger, counts) = self.rest();
        (Part { awaited, counts, completed, threads, tls, ..ledger.into_part() }, resting)
    }

    /// What it would have brought home had it been stopped at this moment, and had waited for no reply.
    pub(super) fn stopped_now(&self, now_ns: u64, busy: &BusyMeter) -> (Part, Box<Second>) {
        let (mut demand, mut ledger, mut busy) = (self.demand.clone(), self.ledger.clone(), busy.clone());
        // What left at this very moment is in the books already.
        demand.stop(now_ns + 1);
        ledger.move_end(demand.window);
        let owed = Owed::of(&self.connections, &self.free, &self.to_connect, self.turned_away);
        let awaited = owed.charge((&mut demand, &mut ledger), now_ns);
        busy.end(now_ns);
        let (part, second) = ledger.closed_now(now_ns);
        let part = Part {
            awaited,
            counts: self.counts,
            completed: self.completed(),
            threads: vec![busy.thread_use(self.looks.longest_stall_ns)],
            tls: self.wire.tls(),
            ..part
        };
        (part, second)
    }

    /// Completions inside the window, by connection slot.
    fn completed(&self) -> Vec<u64> {
        self.connections.iter().map(|connection| connection.completed).collect()
    }

    /// Leaves nothing wanted and nothing in flight; where something was, the connection is of no further use.
    fn drop_owed(&mut self) {
        for slot in self.slots() {
            self.connections[slot].reserved = None;
            if self.connections[slot].in_flight() > 0 {
                while self.connections.pop_oldest(slot).is_some() {}
                self.shut(slot);
            }
        }
    }

    /// Leaves no connection half open, and none that pauses: that the server refused it was told with this load.
    fn tidy(&mut self) {
        for slot in self.slots() {
            match self.connections[slot].state {
                State::Connecting | State::Handshaking => self.shut(slot),
                State::Waiting => {
                    let connection = &mut self.connections[slot];
                    connection.state = State::Closed;
                    connection.taken();
                }
                State::Open | State::Closed => {}
            }
        }
        self.to_connect.again.clear();
        self.to_connect.under_way = 0;
        // What closing them told of TLS belongs to no load.
        self.wire.forget_tls();
    }

    fn shut(&mut self, slot: u32) {
        self.connections[slot].state = State::Closed;
        self.wire.close(slot);
    }

    /// What came after a connection's last reply belongs to no request.
    fn look_for_unasked(&mut self) {
        for slot in self.slots() {
            let connection = &self.connections[slot];
            if connection.state == State::Open && connection.in_flight() == 0 {
                match self.wire.receive(slot, &mut self.inbox.buffer) {
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    more => {
                        self.counts.unasked_replies += u64::from(more.is_ok_and(|more| more.bytes > 0));
                        self.shut(slot);
                    }
                }
            }
        }
    }
}

/// What is owed when a load ends, or would be if it ended now.
struct Owed<'a, V> {
    connections: &'a Connections<V>,
    /// Since when a connection was free; `u64::MAX` where none is.
    free_since_ns: u64,
    /// Connections that have been opened at least once.
    opened: u32,
    /// Whether the last connection that failed was turned away.
    turned_away: bool,
}

impl<'a, V: Default> Owed<'a, V> {
    fn of(connections: &'a Connections<V>, free: &Free, to_connect: &ToConnect, turned_away: bool) -> Self {
        let free_since_ns = if free.slots.is_empty() { u64::MAX } else { free.since_ns };
        Self { connections, free_since_ns, opened: to_connect.unopened, turned_away }
    }

    /// Books it; gives how long ago the requests were sent that are still in flight.
    fn charge(&self, (demand, ledger): (&mut Demand, &mut Ledger), now_ns: u64) -> Ages {
        self.charge_unsent((demand, ledger), now_ns);
        let mut awaited = Ages::default();
        for moments in (0..self.connections.len() as u32).flat_map(|slot| self.connections.waiting(slot)) {
            awaited.add(now_ns.saturating_sub(moments.sent_ns));
            ledger.unfinished(moments, now_ns);
        }
        awaited
    }

    /// Requests that came due and never left: those held by a connection, and those the schedule still owes.
    fn charge_unsent(&self, (demand, ledger): (&mut Demand, &mut Ledger), now_ns: u64) {
        for reserved in self.connections.iter().filter_map(|connection| connection.reserved) {
            ledger.not_sent(reserved.intended_ns, 1, NotSent::WaitingAtEnd, 0, now_ns);
        }
        let without = match self.mostly_paused(demand.window.end_ns) {
            true if self.turned_away => NotSent::TurnedAwayAtEnd,
            true => NotSent::PausedAtEnd,
            false => NotSent::WaitingAtEnd,
        };
        charge_owed((demand, ledger), self.free_since_ns, without, now_ns);
    }

    /// Whether most connections paused when the window ended, or would have but for its end.
    fn mostly_paused(&self, window_end_ns: u64) -> bool {
        let pauses = |slot: &u32| {
            let connection = &self.connections[*slot];
            let closed = matches!(connection.state, State::Waiting | State::Closed) && !connection.queued;
            closed && connection.since_ns < window_end_ns
        };
        2 * (0..self.opened).filter(pauses).count() > self.connections.len()
    }
}

/// Books what the schedule still owes, in as many steps as the books tell apart: there may be more of them than there is
/// time to look at. From `free_since_ns` on a connection was free; `without` is why those before that were not sent.
fn charge_owed((demand, ledger): (&mut Demand, &mut Ledger), free_since_ns: u64, without: NotSent, now_ns: u64) {
    while let Some(intended_ns) = demand.next_due_ns() {
        let (kind, until_ns) =
            if intended_ns < free_since_ns { (without, free_since_ns) } else { (NotSent::LateAtEnd, u64::MAX) };
        let count = demand.take_before(ledger.alike_until(intended_ns, now_ns).min(until_ns));
        ledger.scheduled(intended_ns, count);
        ledger.not_sent(intended_ns, count, kind, 0, now_ns);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
