//! Keeping the first reply that was not as expected, so that it can be shown.

use model::{Clock, ReplyExpectation, WrongReply};

use super::Worker;
use crate::reply::Reply;
use crate::wire::Wire;

/// Bytes that are kept of a reply that ends with its connection, the last ones.
const KEPT_BYTES: usize = 64 * 1024;

/// What has come of a reply that ends with its connection: only then is it known to be wrong.
pub(super) struct Unended {
    slot: u32,
    generation: u32,
    bytes: Vec<u8>,
}

impl<W: Wire, C: Clock> Worker<'_, W, C> {
    /// Keeps a reply, if it is the first.
    #[cold]
    pub(super) fn keep_first(&mut self, now_ns: u64, reply: impl FnOnce(&ReplyExpectation) -> WrongReply, place: u32) {
        if self.ledger.first_wrong.is_none() {
            self.ledger.first_wrong = Some((now_ns, reply(self.requests.get(place).expect)));
        }
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
pub(super) fn wrong(expect: &ReplyExpectation, reply: &Reply, taken: &[u8]) -> WrongReply {
    let body = reply.body_bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let tail = body.map(|body| (body, body.min(taken.len()))).filter(|(body, here)| *here > 0 || *body == 0);
    let tail = tail.map(|(body, here)| (&taken[taken.len() - here..], body - here));
    WrongReply::new((expect.status, expect.body.as_deref()), reply.status, tail)
}
