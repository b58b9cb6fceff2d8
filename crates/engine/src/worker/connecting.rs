//! Opening, closing and losing connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

use model::{Clock, NS_PER_S};
use rustix::io::Errno;

use super::Worker;
use crate::connection::{Reserved, State};
use crate::outcome::{Loss, not_sent};
use crate::protocol::Protocol;
use crate::second::record;
use crate::wire::Wire;

/// Connections that one thread has in the making at once: below the smallest usual accept queue (128), so that
/// opening them does not overflow it.
const CONNECTING_AT_ONCE: usize = 64;

/// Slots that are still to be connected, to be connected again, or to begin with the load.
#[derive(Default)]
pub(super) struct ToConnect {
    /// Slots that have never been opened yet, from this one on.
    pub(super) unopened: u32,
    /// Slots that have not begun with the load yet, from this one on.
    pub(super) unstarted: u32,
    /// Slots to connect again, by time.
    pub(super) again: BinaryHeap<Reverse<(u64, u32)>>,
    /// How many are connecting now.
    pub(super) under_way: usize,
}

impl<P: Protocol, W: Wire, C: Clock> Worker<'_, P, W, C> {
    /// Slots whose time has come begin with what the load model wants of them.
    pub(super) fn start_slots(&mut self) {
        while (self.to_connect.unstarted as usize) < self.connections.len() {
            // Each first send has its own stamp: a thousand of them take milliseconds.
            let now_ns = self.clock.now_ns();
            self.look(now_ns);
            let slot = self.to_connect.unstarted;
            if self.start_of(slot) > now_ns {
                return;
            }
            self.to_connect.unstarted += 1;
            match self.connections[slot].state {
                State::Open => self.offer(slot, now_ns),
                State::Closed if !self.task.spec.keep_alive => self.offer(slot, now_ns),
                State::Closed if slot < self.to_connect.unopened => self.reopen(slot, now_ns),
                _ => {}
            }
        }
    }

    /// When a slot begins: those of all threads evenly over the spread, so that handlers that all wait for the same
    /// time do not do so in lockstep.
    pub(super) fn start_of(&self, slot: u32) -> u64 {
        let place = u128::from(slot) * u128::from(self.task.spec.threads) + u128::from(self.task.thread);
        let after_ns = u128::from(self.demand.start_spread_ns) * place / u128::from(self.task.spec.connections.max(1));
        self.demand.start_ns + after_ns as u64
    }

    pub(super) fn open_some(&mut self, now_ns: u64) {
        while self.to_connect.under_way < CONNECTING_AT_ONCE
            && (self.to_connect.unopened as usize) < self.connections.len()
        {
            let slot = self.to_connect.unopened;
            self.to_connect.unopened += 1;
            self.connect(slot, now_ns);
        }
    }

    /// Opens a slot again after a loss or a pause: under the closed model that is the attempt at a request.
    pub(super) fn reopen(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot];
        connection.state = State::Closed;
        if connection.reserved.is_none() && !self.demand.is_open() {
            if self.demand.closed_now(1, now_ns) == 0 {
                return;
            }
            connection.reserved = Some(Reserved { intended_ns: now_ns, blocked: true });
            self.demand.consume(1, now_ns);
            self.ledger.scheduled(now_ns, 1);
        } else if now_ns >= self.demand.window.end_ns {
            return;
        }
        if self.connections[slot].reserved.is_some() || self.task.spec.keep_alive {
            self.connect(slot, now_ns);
        } else {
            self.offer(slot, now_ns);
        }
    }

    pub(super) fn connect(&mut self, slot: u32, now_ns: u64) {
        let generation = self.connections[slot].begin_connecting(now_ns);
        self.to_connect.under_way += 1;
        if let Err(errno) = self.wire.connect(slot, generation) {
            self.connect_failed(slot, errno, now_ns);
        }
    }

    pub(super) fn connect_failed(&mut self, slot: u32, errno: Errno, now_ns: u64) {
        self.counts.connect_failed += 1;
        self.counts.connect_errno.get_or_insert((now_ns, errno.raw_os_error()));
        self.counts.refused += u64::from(matches!(errno, Errno::CONNREFUSED | Errno::PROTO));
        self.to_connect.under_way -= 1;
        self.last_failed_ns = now_ns;
        self.turned_away = not_sent(errno).is_turned_away();
        let connection = &mut self.connections[slot];
        let reserved = connection.reserved.take().map(|reserved| reserved.intended_ns);
        // Under the open model it is the request that has waited longest whose user is turned away.
        let charged = reserved.or_else(|| self.take_due(now_ns));
        if let Some(intended_ns) = charged {
            self.ledger.not_sent(intended_ns, 1, not_sent(errno), errno.raw_os_error(), now_ns);
        }
        self.close(slot, now_ns);
    }

    /// The kernel is connected, and the handshake goes on; gives whether that is new.
    pub(super) fn on_handshaking(&mut self, slot: u32, now_ns: u64) -> bool {
        let connection = &mut self.connections[slot];
        if connection.state == State::Handshaking {
            return false;
        }
        connection.state = State::Handshaking;
        let since_ns = std::mem::replace(&mut connection.since_ns, now_ns);
        record(&mut self.ledger.connect, now_ns - since_ns);
        true
    }

    pub(super) fn on_open(&mut self, slot: u32, now_ns: u64) {
        self.counts.opened += 1;
        // It is read first, for all threads have it in their caches.
        if !self.task.served.load(Ordering::Relaxed) {
            self.task.served.store(true, Ordering::Relaxed);
        }
        self.counts.opened_in_window += u64::from(self.demand.window.contains(now_ns));
        self.to_connect.under_way -= 1;
        let connection = &mut self.connections[slot];
        let before = std::mem::replace(&mut connection.state, State::Open);
        let took_ns = now_ns - connection.since_ns;
        match &mut self.ledger.handshake {
            Some(handshake) if before == State::Handshaking => record(handshake, took_ns),
            _ => record(&mut self.ledger.connect, took_ns),
        }
        self.offer(slot, now_ns);
    }

    /// Opens again the slots whose pause is over. One that is due under the open model waits for no longer pause than the
    /// shortest: where a server refuses, it is refused too, and not left over.
    pub(super) fn reopen_paused(&mut self, mut now_ns: u64) {
        while let Some(Reverse((at_ns, slot))) = self.to_connect.again.peek().copied() {
            let wanted_ns = || self.paused_wanted_ns(slot, now_ns);
            if at_ns > now_ns && wanted_ns().is_none_or(|wanted_ns| wanted_ns > now_ns) {
                return;
            }
            self.to_connect.again.pop();
            now_ns = self.look_now();
            self.reopen(slot, now_ns);
        }
    }

    /// When a request that is due wants a slot out of its pause; none where none does, or enough are being opened.
    pub(super) fn paused_wanted_ns(&self, slot: u32, now_ns: u64) -> Option<u64> {
        let rate_per_s = self.task.spec.rate_per_s()?;
        let is_wanted = self.free.slots.is_empty() && now_ns < self.demand.window.end_ns;
        let due_ns = self.demand.next_due_ns().filter(|_| is_wanted)?;
        let rate_per_ns = rate_per_s / f64::from(self.task.spec.threads) / NS_PER_S as f64;
        let waiting = 1 + (now_ns.saturating_sub(due_ns) as f64 * rate_per_ns) as usize;
        (self.to_connect.under_way < waiting).then(|| due_ns.max(self.connections[slot].rested_ns()))
    }

    /// Closes a slot and lets it open again after its pause. While the connections are first being opened there is
    /// no demand, and the slot stays closed until the load starts.
    pub(super) fn close(&mut self, slot: u32, now_ns: u64) {
        self.wire.close(slot);
        let connection = &mut self.connections[slot];
        connection.since_ns = now_ns;
        let pause_ns = connection.pause_ns();
        if pause_ns == 0 {
            self.reopen(slot, now_ns);
        } else {
            connection.state = State::Waiting;
            self.to_connect.again.push(Reverse((now_ns + pause_ns, slot)));
        }
    }

    /// The connection is lost, and with it every request in flight on it.
    pub(super) fn lose(&mut self, slot: u32, loss: Loss, now_ns: u64) {
        let in_flight = self.connections[slot].in_flight();
        self.counts.closed_idle += u64::from(in_flight == 0 && !loss.is_ours());
        self.last_failed_ns = now_ns;
        self.turned_away = false;
        // Where a reply had begun, or had no time to, the next request may go at once.
        let mut is_served = loss == Loss::TimedOut;
        // Whatever ended the connection ended every request on it.
        while let Some(moments) = self.connections.pop_oldest(slot) {
            is_served |= moments.first_byte_ns > 0;
            self.ledger.failed(moments, loss, now_ns);
        }
        if is_served {
            self.connections[slot].prove();
        } else if in_flight > 0 && loss != Loss::HandshakeRefused {
            self.connections[slot].taken();
        }
        self.close(slot, now_ns);
    }
}
