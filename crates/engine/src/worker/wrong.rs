//! Keeping the first reply that was not as expected, so that it can be shown.

use model::{Clock, ReplyExpectation, WrongReply};

use super::Worker;
use crate::protocol::{Protocol, Reply};
use crate::wire::Wire;

/// Bytes that are kept of a reply that ends with its connection, the last ones.
const KEPT_BYTES: usize = 64 * 1024;

/// What has come of a reply that ends with its connection: only then is it known to be wrong.
pub(super) struct Unended {
    slot: u32,
    generation: u32,
    bytes: Vec<u8>,
}

impl<P: Protocol, W: Wire, C: Clock> Worker<'_, P, W, C> {
    /// Keeps the reply to a request in flight, if it is the first; its last bytes are at the end of `taken`.
    #[cold]
    pub(super) fn keep_wrong(&mut self, slot: u32, (id, reply): (u32, &Reply), taken: &[u8], now_ns: u64) {
        let (_, in_flight) = self.connections.conversation(slot);
        if let (None, Some(asked)) = (&self.ledger.first_wrong, in_flight.numbered(id)) {
            let expect = self.protocol.expectation(asked.place);
            self.ledger.first_wrong = Some((now_ns, wrong(expect, reply, taken)));
        }
    }

    /// Keeps bytes that were refused as a reply, if they are the first.
    #[cold]
    pub(super) fn keep_malformed(&mut self, slot: u32, bytes: &[u8], now_ns: u64) {
        let conversation = &self.connections[slot].conversation;
        self.ledger.first_wrong.get_or_insert_with(|| (now_ns, P::refused(conversation, bytes)));
    }

    /// Keeps a part of a reply that ends with its connection; of one connection at a time, and only while no wrong reply
    /// is known.
    #[cold]
    pub(super) fn keep_unended(&mut self, slot: u32, part: &[u8]) {
        if self.ledger.first_wrong.is_some() {
            return;
        }
        let generation = self.connections[slot].generation;
        let kept = self.inbox.unended.take_if(|kept| self.connections[kept.slot].generation == kept.generation);
        let mut kept = kept.unwrap_or(Unended { slot, generation, bytes: Vec::new() });
        if (kept.slot, kept.generation) == (slot, generation) {
            kept.bytes.extend_from_slice(part);
            kept.bytes.drain(..kept.bytes.len().saturating_sub(KEPT_BYTES));
        }
        self.inbox.unended = Some(kept);
    }

    /// What was kept of the reply with which a slot's connection has ended.
    pub(super) fn take_unended(&mut self, slot: u32) -> Vec<u8> {
        let generation = self.connections[slot].generation;
        let kept = self.inbox.unended.take_if(|kept| (kept.slot, kept.generation) == (slot, generation));
        kept.map_or(Vec::new(), |kept| kept.bytes)
    }
}

/// What is known of a wrong reply, the last bytes of which are at the end of `taken`.
fn wrong(expect: &ReplyExpectation, reply: &Reply, taken: &[u8]) -> WrongReply {
    let body = reply.body_bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let tail = body.map(|body| (body, body.min(taken.len()))).filter(|(body, here)| *here > 0 || *body == 0);
    let tail = tail.map(|(body, here)| (&taken[taken.len() - here..], body - here));
    WrongReply::new((expect.status, expect.body.as_deref()), reply.status, tail)
}
