//! Taking what comes: readiness, bytes, replies, ends and time-outs.

use model::Clock;
use rustix::io::Errno;

use super::Worker;
use super::wrong::Unended;
use crate::connection::State;
use crate::outcome::Loss;
use crate::protocol::{Event, Protocol, Reply};
use crate::wire::{Progress, Ready, Received, Wire};

/// Bytes received at once: a whole pipeline of small replies.
pub(super) const BUFFER_BYTES: usize = 256 * 1024;

/// Full buffers taken from one connection in a row; then it is the others' turn, and the schedule's.
const RECEIVES_IN_A_ROW: usize = 4;

/// How often the age of requests is looked at, as parts of the time-out: a time-out is noticed at most 1/32 late.
const LOOKS_PER_TIMEOUT: u64 = 32;

/// Slots looked at in a row for time-outs: some microseconds of work.
const SLOTS_PER_LOOK: usize = 1024;

/// What comes, while it is taken in.
pub(super) struct Inbox {
    pub(super) buffer: Vec<u8>,
    /// Connections with more to receive than their turn allowed: their edge will not be reported again.
    pub(super) unfinished: Vec<Ready>,
    pub(super) unended: Option<Unended>,
}

impl Default for Inbox {
    fn default() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES], unfinished: Vec::new(), unended: None }
    }
}

/// Whose requests are looked at next for their age, and when.
#[derive(Default)]
pub(super) struct Timeouts {
    pub(super) next_look_ns: u64,
    next_slot: u32,
}

impl<P: Protocol, W: Wire, C: Clock> Worker<'_, P, W, C> {
    pub(super) fn on_ready(&mut self, ready: Ready) {
        let connection = &self.connections[ready.slot];
        if connection.generation != ready.generation {
            return;
        }
        if connection.state != State::Open {
            return self.on_opening(ready);
        }
        // A reply may come before the request was wholly sent (413, then a close): it is read before the next send finds
        // the connection gone.
        if ready.readable {
            self.receive(ready);
        }
        if ready.writable {
            self.send_more(ready);
        }
    }

    /// Takes a connection that is opening a step further. Out of line: a connection that is kept comes here once.
    #[inline(never)]
    fn on_opening(&mut self, ready: Ready) {
        let opens = matches!(self.connections[ready.slot].state, State::Connecting | State::Handshaking);
        if !opens || !ready.writable {
            return;
        }
        loop {
            let before_ns = self.look_now();
            let progress = self.wire.progress(ready.slot);
            let now_ns = self.look_now();
            match progress {
                Ok(Progress::Open) => {
                    self.on_open(ready.slot, now_ns);
                    break;
                }
                Err(errno) => return self.connect_failed(ready.slot, errno, now_ns),
                // An edge that came with the connection (a greeting, an early close) is not reported again.
                Ok(Progress::Handshaking) if self.on_handshaking(ready.slot, before_ns) && ready.readable => {}
                Ok(Progress::Handshaking) => return,
            }
        }
        if ready.readable {
            self.receive(ready);
        }
    }

    /// The kernel takes bytes again: the slot sends what it holds back, if it does.
    fn send_more(&mut self, ready: Ready) {
        let connection = &self.connections[ready.slot];
        if connection.generation != ready.generation || connection.state != State::Open {
            return;
        }
        if let Err(errno) = self.wire.flush(ready.slot) {
            let now_ns = self.look_now();
            return self.lose_unread(ready.slot, errno, now_ns);
        }
        let connection = &self.connections[ready.slot];
        let wants_to_send = connection.unsent > 0
            || connection.reserved.is_some()
            || (!self.demand.is_open() && self.room(ready.slot) > 0)
            || (P::TALKS && !P::own(&connection.conversation).is_empty());
        if wants_to_send {
            let now_ns = self.clock.now_ns();
            self.on_writable(ready.slot, now_ns);
        }
    }

    /// Receives until the kernel has nothing more, the connection is lost, or its turn is over.
    pub(super) fn receive(&mut self, ready: Ready) {
        for _ in 0..RECEIVES_IN_A_ROW {
            let connection = &self.connections[ready.slot];
            if connection.generation != ready.generation || connection.state != State::Open {
                return;
            }
            let mut buffer = std::mem::take(&mut self.inbox.buffer);
            let received = self.wire.receive(ready.slot, &mut buffer);
            let now_ns = self.clock.now_ns();
            self.look(now_ns);
            let more = match received {
                Ok(Received { bytes: 0, more: false }) => {
                    self.on_end(ready.slot, now_ns);
                    false
                }
                Ok(Received { bytes, more }) => {
                    // With the peer's side closed the end is still to be received, and no further request may leave.
                    self.on_bytes(ready.slot, &buffer[..bytes], ready.hangup, now_ns);
                    more || ready.hangup
                }
                Err(Errno::AGAIN | Errno::INTR) => false,
                Err(errno) => {
                    self.lose(ready.slot, Loss::of(errno), now_ns);
                    false
                }
            };
            self.inbox.buffer = buffer;
            if !more {
                return;
            }
        }
        let connection = &mut self.connections[ready.slot];
        if !std::mem::replace(&mut connection.unfinished, true) {
            self.inbox.unfinished.push(ready);
        }
    }

    pub(super) fn on_bytes(&mut self, slot: u32, mut input: &[u8], hangup: bool, now_ns: u64) {
        while !input.is_empty() {
            let before = input;
            let (conversation, in_flight) = self.connections.conversation(slot);
            match self.protocol.advance(conversation, in_flight, &mut input) {
                Event::Reply(id, reply) => {
                    if !(reply.status_ok && reply.body_ok) {
                        let taken = &before[..before.len() - input.len()];
                        self.keep_wrong(slot, (id, &reply), taken, now_ns);
                    }
                    if !self.on_reply(slot, (id, &reply), !input.is_empty(), now_ns) {
                        return;
                    }
                }
                Event::Part(id) => self.on_part(slot, id, before, now_ns),
                Event::Nothing => {}
                Event::Dropped(id) => self.on_dropped(slot, id, now_ns),
                Event::Unasked => {
                    self.counts.unasked_replies += 1;
                    return match self.connections[slot].in_flight() {
                        0 => self.close(slot, now_ns),
                        _ => self.lose(slot, Loss::Malformed, now_ns),
                    };
                }
                Event::Malformed => {
                    self.keep_malformed(slot, before, now_ns);
                    return self.lose(slot, Loss::Malformed, now_ns);
                }
            }
        }
        if P::is_over(&self.connections[slot].conversation) && self.connections[slot].in_flight() == 0 {
            self.counts.closed_by_reply += u64::from(self.task.spec.keep_alive);
            self.close(slot, now_ns);
        } else if !hangup {
            self.offer(slot, now_ns);
        }
    }

    /// A reply has begun, or goes on.
    fn on_part(&mut self, slot: u32, id: u32, part: &[u8], now_ns: u64) {
        self.connections.note_part(slot, id, now_ns);
        if P::ends_with_connection(&self.connections[slot].conversation) {
            self.keep_unended(slot, part);
        }
    }

    /// The peer will not answer a request.
    #[cold]
    fn on_dropped(&mut self, slot: u32, id: u32, now_ns: u64) {
        if let Some(moments) = self.connections.take(slot, id) {
            self.last_failed_ns = now_ns;
            self.ledger.failed(moments, Loss::Dropped, now_ns);
        }
    }

    /// Books a reply, behind which `more` bytes have come or none; gives whether its connection lives on.
    pub(super) fn on_reply(&mut self, slot: u32, (id, reply): (u32, &Reply), more: bool, now_ns: u64) -> bool {
        let inside = self.demand.window.contains(now_ns);
        let Some(mut moments) = self.connections.take(slot, id) else { return true };
        if moments.first_byte_ns == 0 {
            moments.first_byte_ns = now_ns;
        }
        let connection = &mut self.connections[slot];
        connection.prove();
        connection.completed += u64::from(inside);
        self.ledger.completed(moments, reply, now_ns);
        let lives = reply.keep_alive && self.task.spec.keep_alive;
        if !lives {
            self.counts.closed_by_reply += u64::from(self.task.spec.keep_alive && !reply.switches);
            self.retire(slot, more, now_ns);
        }
        lives
    }

    /// Closes a connection that has served its last request; what is still in flight on it is lost.
    pub(super) fn retire(&mut self, slot: u32, more: bool, now_ns: u64) {
        if self.connections[slot].in_flight() == 0 {
            self.counts.unasked_replies += u64::from(more);
            self.close(slot, now_ns);
        } else {
            self.lose(slot, Loss::Closed, now_ns);
        }
    }

    pub(super) fn on_end(&mut self, slot: u32, now_ns: u64) {
        let (conversation, in_flight) = self.connections.conversation(slot);
        match self.protocol.end(conversation, in_flight) {
            Event::Reply(id, reply) => {
                let taken = self.take_unended(slot);
                if !(reply.status_ok && reply.body_ok) {
                    self.keep_wrong(slot, (id, &reply), &taken, now_ns);
                }
                if self.on_reply(slot, (id, &reply), false, now_ns) {
                    self.lose(slot, Loss::Closed, now_ns);
                }
            }
            Event::Malformed => {
                let torn = P::held(&self.connections[slot].conversation).to_vec();
                self.keep_malformed(slot, &torn, now_ns);
                self.lose(slot, Loss::Malformed, now_ns);
            }
            _ => self.lose(slot, Loss::Closed, now_ns),
        }
    }

    /// Looks at the age of requests, a slice of the slots each time, so that however many there are it holds nothing up.
    pub(super) fn look_for_timeouts(&mut self, now_ns: u64) {
        let Some(timeout_ns) = self.task.spec.timeout_ns else { return };
        if now_ns < self.timeouts.next_look_ns {
            return;
        }
        let slots = self.connections.len();
        let looks = LOOKS_PER_TIMEOUT * slots.div_ceil(SLOTS_PER_LOOK) as u64;
        self.timeouts.next_look_ns = now_ns + (timeout_ns / looks).clamp(100_000, 100_000_000);
        for _ in 0..slots.min(SLOTS_PER_LOOK) {
            let slot = self.timeouts.next_slot;
            self.timeouts.next_slot = (slot + 1) % slots as u32;
            let oldest = self.connections.oldest(slot);
            if oldest.is_some_and(|moments| now_ns.saturating_sub(moments.sent_ns) >= timeout_ns) {
                self.lose(slot, Loss::TimedOut, now_ns);
                self.look_now();
            } else if self.connections[slot].opens_since(now_ns) >= timeout_ns {
                // Who waits for a connection waits no less.
                let handshaking = self.connections[slot].state == State::Handshaking;
                self.connect_failed(slot, if handshaking { Errno::PROTO } else { Errno::TIMEDOUT }, now_ns);
                self.look_now();
            }
        }
    }
}
