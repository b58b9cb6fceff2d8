//! Opening, closing and losing connections.

use std::cmp::Reverse;

use model::Clock;
use rustix::io::Errno;

use super::{CONNECTING_AT_ONCE, Worker};
use crate::connection::{Reserved, State};
use crate::outcome::{Loss, not_sent};
use crate::second::record;
use crate::wire::Wire;

impl<W: Wire, C: Clock> Worker<'_, W, C> {
    pub(super) fn open_some(&mut self, now_ns: u64) {
        while self.connecting < CONNECTING_AT_ONCE && (self.unopened as usize) < self.connections.len() {
            let slot = self.unopened;
            self.unopened += 1;
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
        if self.connections[slot].reserved.is_some() || self.spec.keep_alive {
            self.connect(slot, now_ns);
        } else {
            self.offer(slot, now_ns);
        }
    }

    pub(super) fn connect(&mut self, slot: u32, now_ns: u64) {
        let generation = self.connections[slot].begin_connecting(now_ns);
        self.connecting += 1;
        if let Err(errno) = self.wire.connect(slot, generation) {
            self.connect_failed(slot, errno, now_ns);
        }
    }

    pub(super) fn connect_failed(&mut self, slot: u32, errno: Errno, now_ns: u64) {
        self.counts.connect_failed += 1;
        self.counts.refused += u64::from(matches!(errno, Errno::CONNREFUSED | Errno::PROTO));
        self.connecting -= 1;
        self.last_ended_ns = now_ns;
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
        let since_ns = std::mem::replace(&mut connection.connecting_since_ns, now_ns);
        record(&mut self.ledger.connect, now_ns - since_ns);
        true
    }

    pub(super) fn on_open(&mut self, slot: u32, now_ns: u64) {
        self.counts.opened += 1;
        self.connecting -= 1;
        let connection = &mut self.connections[slot];
        let before = std::mem::replace(&mut connection.state, State::Open);
        let took_ns = now_ns - connection.connecting_since_ns;
        match &mut self.ledger.handshake {
            Some(handshake) if before == State::Handshaking => record(handshake, took_ns),
            _ => record(&mut self.ledger.connect, took_ns),
        }
        self.offer(slot, now_ns);
    }

    /// Closes a slot and lets it open again after its pause. While the connections are first being opened there is
    /// no demand, and the slot stays closed until the load starts.
    pub(super) fn close(&mut self, slot: u32, now_ns: u64) {
        self.wire.close(slot);
        let connection = &mut self.connections[slot];
        let pause_ns = connection.pause_ns();
        if pause_ns == 0 {
            self.reopen(slot, now_ns);
        } else {
            connection.state = State::Waiting;
            self.reconnects.push(Reverse((now_ns + pause_ns, slot)));
        }
    }

    /// The connection is lost, and with it every request in flight on it.
    pub(super) fn lose(&mut self, slot: u32, loss: Loss, now_ns: u64) {
        let connection = &mut self.connections[slot];
        self.counts.closed_idle += u64::from(connection.in_flight() == 0);
        self.last_ended_ns = now_ns;
        self.in_flight -= connection.in_flight();
        let mut begun = connection.reader.begun();
        while let Some(moments) = self.connections.pop_oldest(slot) {
            // Whatever ended the connection ended every request on it; only the first one's reply may have begun.
            self.ledger.failed(moments, loss, std::mem::take(&mut begun), now_ns);
        }
        self.close(slot, now_ns);
    }
}
