//! Which connection gets the next request, and sending it.

use std::collections::VecDeque;

use model::{Clock, Side};
use rustix::io::Errno;

use super::Worker;
use super::receiving::BUFFER_BYTES;
use crate::connection::{Reserved, State};
use crate::in_flight::Moments;
use crate::outcome::{Loss, not_sent};
use crate::protocol::{Begun, Protocol};
use crate::wire::{Ready, Wire};

/// Open model: the connections that can take the next due request.
pub(super) struct Free {
    pub(super) slots: VecDeque<u32>,
    /// Since when there has been one.
    pub(super) since_ns: u64,
}

impl<P: Protocol, W: Wire, C: Clock> Worker<'_, P, W, C> {
    /// How many requests more a slot can have in flight.
    pub(super) fn room(&self, slot: u32) -> usize {
        let connection = &self.connections[slot];
        if P::is_over(&connection.conversation) {
            return 0;
        }
        let most = if self.task.spec.keep_alive { self.connections.depth() } else { 1 };
        most.min(P::room(&connection.conversation)).saturating_sub(connection.in_flight())
    }

    /// The slot can take a request: under the closed model it gets one, under the open one it queues for the next.
    pub(super) fn offer(&mut self, slot: u32, now_ns: u64) {
        if P::TALKS && !self.talk(slot, now_ns) {
            return;
        }
        if !self.demand.is_open() || self.connections[slot].reserved.is_some() {
            self.fill(slot, now_ns);
        }
        let room = self.room(slot);
        let connection = &mut self.connections[slot];
        let able = match connection.state {
            State::Open => connection.unsent == 0 && room > 0,
            State::Closed => !self.task.spec.keep_alive,
            _ => false,
        };
        if self.demand.is_open() && able && !connection.queued && connection.reserved.is_none() {
            connection.queued = true;
            if self.free.slots.is_empty() {
                self.free.since_ns = now_ns;
            }
            self.free.slots.push_back(slot);
        }
    }

    /// Sends what the protocol itself has to say on an open connection; gives whether requests may follow.
    fn talk(&mut self, slot: u32, now_ns: u64) -> bool {
        while self.connections[slot].state == State::Open && self.connections[slot].unsent == 0 {
            let connection = &mut self.connections[slot];
            let own = P::own(&connection.conversation);
            if own.is_empty() {
                return true;
            }
            match self.wire.send(slot, own) {
                Ok(bytes) => P::own_sent(&mut connection.conversation, bytes),
                Err(Errno::AGAIN) => return false,
                Err(errno) => {
                    self.lose_unread(slot, errno, now_ns);
                    return false;
                }
            }
        }
        true
    }

    /// Open model: takes the next request if it is due.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        if self.demand.next_due_ns().is_some_and(|due_ns| self.demand.is_backlog(due_ns, now_ns)) {
            self.demand.forget_backlog();
        }
        let due_ns = self.demand.next_due_ns().filter(|due_ns| *due_ns <= now_ns)?;
        self.demand.take_due(due_ns);
        self.ledger.scheduled(due_ns, 1);
        Some(due_ns)
    }

    /// Open model: sends what is due on the connections that are free.
    pub(super) fn dispatch(&mut self) {
        while let (Some(due_ns), false) = (self.demand.next_due_ns(), self.free.slots.is_empty()) {
            let now_ns = self.clock.now_ns();
            self.look(now_ns);
            if due_ns > now_ns || !self.demand.may_send(now_ns) {
                return;
            }
            if self.demand.is_backlog(due_ns, now_ns) {
                self.demand.forget_backlog();
                continue;
            }
            let Some(slot) = self.free.slots.pop_front() else { return };
            let connection = &mut self.connections[slot];
            connection.queued = false;
            let able = connection.state == State::Open || !self.task.spec.keep_alive;
            if !able {
                continue;
            }
            let blocked = self.free.since_ns > due_ns || connection.state != State::Open;
            connection.reserved = Some(Reserved { intended_ns: due_ns, blocked });
            self.demand.take_due(due_ns);
            self.ledger.scheduled(due_ns, 1);
            match self.connections[slot].state {
                State::Open => self.offer(slot, now_ns),
                _ => self.connect(slot, now_ns),
            }
        }
    }

    /// Sends what the slot holds, and under the closed model as many new requests as the pipeline has room for.
    pub(super) fn fill(&mut self, slot: u32, now_ns: u64) {
        if !self.demand.may_send(now_ns) && !self.has_begun(slot) {
            return;
        }
        let connection = &self.connections[slot];
        if connection.state != State::Open {
            if connection.state == State::Closed {
                self.reopen(slot, now_ns);
            }
            return;
        }
        if connection.unsent > 0 {
            return;
        }
        let room = self.room(slot);
        let held = usize::from(connection.reserved.is_some()).min(room);
        let count = held + self.demand.closed_now(room - held, now_ns);
        if count == 0 {
            return;
        }
        match self.wire.send(slot, self.protocol.next(&self.connections[slot].conversation, count)) {
            Ok(bytes) => self.on_sent(slot, bytes, now_ns),
            Err(Errno::AGAIN) => {
                if let Some(reserved) = &mut self.connections[slot].reserved {
                    reserved.blocked = true;
                }
            }
            Err(errno) => self.send_failed(slot, errno, now_ns),
        }
    }

    /// The kernel took not even the first byte of a request. Where that is for want of something on this machine, or it is
    /// forbidden here, the server has no part in it.
    #[cold]
    fn send_failed(&mut self, slot: u32, errno: Errno, now_ns: u64) {
        let kind = not_sent(errno);
        if kind.side() != Side::Us || self.connections[slot].in_flight() > 0 {
            return self.lose_unread(slot, errno, now_ns);
        }
        let reserved = self.connections[slot].reserved.take();
        if reserved.is_none() {
            self.demand.consume(1, now_ns);
            self.ledger.scheduled(now_ns, 1);
        }
        let intended_ns = reserved.map_or(now_ns, |reserved| reserved.intended_ns);
        self.ledger.not_sent(intended_ns, 1, kind, errno.raw_os_error(), now_ns);
        self.lose(slot, Loss::Errno(errno), now_ns);
    }

    /// Whether an attempt of the closed model has begun with its connection, inside the window.
    #[cold]
    fn has_begun(&self, slot: u32) -> bool {
        !self.demand.is_open() && self.connections[slot].reserved.is_some()
    }

    /// A send failed: what the peer said before it went is read first, for it may be a whole reply.
    pub(super) fn lose_unread(&mut self, slot: u32, errno: Errno, now_ns: u64) {
        let connection = &self.connections[slot];
        let (generation, awaits_reply) = (connection.generation, connection.in_flight() > 0);
        if awaits_reply {
            // A send may fail in the midst of receiving, when the buffer is lent out.
            self.inbox.buffer.resize(BUFFER_BYTES, 0);
            self.receive(Ready { slot, generation, readable: true, writable: false, hangup: true });
        }
        let connection = &self.connections[slot];
        if connection.generation == generation && connection.state == State::Open {
            self.lose(slot, Loss::Errno(errno), now_ns);
        }
    }

    pub(super) fn on_sent(&mut self, slot: u32, bytes: usize, now_ns: u64) {
        let (mut left, mut fresh) = (bytes, 0);
        while left > 0 {
            let connection = &mut self.connections[slot];
            let Begun { place, id, length } = self.protocol.begin(&mut connection.conversation);
            connection.unsent = length.saturating_sub(left);
            connection.unsent_of = place;
            left = left.saturating_sub(length);
            let (intended_ns, blocked) = match connection.reserved.take() {
                Some(reserved) if self.demand.is_open() => (reserved.intended_ns, reserved.blocked),
                // The closed model's attempt began when its connection did; its request is measured from its send.
                Some(reserved) => (reserved.intended_ns, true),
                None => {
                    fresh += 1;
                    (now_ns, false)
                }
            };
            self.connections.push(slot, Moments { intended_ns, sent_ns: now_ns, first_byte_ns: 0, place, id });
            if !self.demand.is_open() && fresh > 0 {
                self.ledger.scheduled(now_ns, 1);
            }
            self.ledger.sent(intended_ns, now_ns, blocked);
        }
        self.demand.consume(fresh, now_ns);
    }

    /// The kernel takes bytes again.
    pub(super) fn on_writable(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot];
        if connection.unsent > 0 {
            let rest = self.protocol.tail(&connection.conversation, connection.unsent_of, connection.unsent);
            match self.wire.send(slot, rest) {
                Ok(bytes) => connection.unsent -= bytes,
                Err(Errno::AGAIN) => return,
                Err(errno) => return self.lose_unread(slot, errno, now_ns),
            }
        }
        if self.connections[slot].unsent == 0 {
            self.offer(slot, now_ns);
        }
    }
}
