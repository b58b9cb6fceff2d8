use std::hint::black_box;
use std::ops::{Index, IndexMut};

use model::NS_PER_S;

use crate::in_flight::{InFlight, Moments};

/// First pause before reconnecting; it doubles to [`BACKOFF_MAX_NS`] until a reply comes.
const BACKOFF_MIN_NS: u64 = 10_000_000;
const BACKOFF_MAX_NS: u64 = NS_PER_S;

/// Openings after which the pause doubles no more: it is at its longest.
const MAX_FRUITLESS: u8 = 8;

/// Where a connection slot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Not connected, and nothing under way.
    Closed,
    /// Will connect again at the time the reconnect queue holds.
    Waiting,
    /// Connecting since [`Connection::since_ns`].
    Connecting,
    /// The kernel is connected since then, and the peers have still to agree on how they talk.
    Handshaking,
    /// Connected.
    Open,
}

/// A request that was taken from the demand and that the kernel has not yet taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reserved {
    pub(crate) intended_ns: u64,
    /// Whether it had to wait for a connection.
    pub(crate) blocked: bool,
}

/// One connection slot: its state, and what its protocol remembers of it. With 8 bytes of that it is one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Connection<V> {
    pub(crate) conversation: V,
    pub(crate) reserved: Option<Reserved>,
    /// Since when it is opening, or closed.
    pub(crate) since_ns: u64,
    /// Completions inside the window.
    pub(crate) completed: u64,
    pub(crate) generation: u32,
    /// Bytes of the last request that the kernel has not yet taken.
    pub(crate) unsent: usize,
    /// Its place in the mix; it may be out of flight already, for a server may answer what it has not yet read.
    pub(crate) unsent_of: u32,
    /// Requests in flight.
    in_flight: u16,
    /// Where the oldest of them stands in the slot's ring.
    oldest: u16,
    pub(crate) state: State,
    /// Whether it stands in the queue of connections free for the next due request.
    pub(crate) queued: bool,
    /// Whether more is to be received than its last turn allowed.
    pub(crate) unfinished: bool,
    /// Openings in a row without a reply, this one included; 0 once it has brought one.
    fruitless: u8,
}

impl<V: Default> Connection<V> {
    fn new() -> Self {
        Self {
            conversation: V::default(),
            reserved: None,
            since_ns: 0,
            completed: 0,
            generation: 0,
            unsent: 0,
            unsent_of: 0,
            in_flight: 0,
            oldest: 0,
            state: State::Closed,
            queued: false,
            unfinished: false,
            fruitless: 1,
        }
    }

    /// Requests in flight on it.
    pub(crate) fn in_flight(&self) -> usize {
        usize::from(self.in_flight)
    }

    /// Begins a new opening of the slot; gives its generation.
    pub(crate) fn begin_connecting(&mut self, now_ns: u64) -> u32 {
        self.state = State::Connecting;
        self.since_ns = now_ns;
        self.generation = self.generation.wrapping_add(1);
        self.conversation = V::default();
        self.unsent = 0;
        self.fruitless = self.fruitless.max(1);
        self.generation
    }

    /// For how long it has been opening; 0 when it is not.
    pub(crate) fn opens_since(&self, now_ns: u64) -> u64 {
        let opens = matches!(self.state, State::Connecting | State::Handshaking);
        if opens { now_ns.saturating_sub(self.since_ns) } else { 0 }
    }

    /// Notes that the peer takes requests: nobody waits after the next loss of the connection.
    pub(crate) fn prove(&mut self) {
        self.fruitless = 0;
    }

    /// Notes that the peer took a request and hung up: the pause is as short as it can be.
    pub(crate) fn taken(&mut self) {
        self.fruitless = self.fruitless.min(1);
    }

    /// From when on a request that is due may end its pause.
    pub(crate) fn rested_ns(&self) -> u64 {
        self.since_ns + BACKOFF_MIN_NS
    }

    /// How long to wait before the next opening.
    pub(crate) fn pause_ns(&mut self) -> u64 {
        let Some(doublings) = self.fruitless.checked_sub(1) else { return 0 };
        self.fruitless = (self.fruitless + 1).min(MAX_FRUITLESS);
        (BACKOFF_MIN_NS << doublings).min(BACKOFF_MAX_NS)
    }
}

/// The connections of one thread, by slot, and the requests in flight on them, each slot's in a ring as deep as the
/// pipeline.
#[derive(Debug)]
pub(crate) struct Connections<V> {
    slots: Vec<Connection<V>>,
    rings: Vec<Moments>,
    depth: usize,
    in_flight: usize,
}

impl<V: Default> Connections<V> {
    /// So many closed slots, for at most `pipeline` requests in flight on each.
    pub(crate) fn new(slots: u32, pipeline: u16) -> Self {
        let depth = usize::from(pipeline);
        Self {
            slots: (0..slots).map(|_| Connection::new()).collect(),
            rings: vec![Moments::default(); slots as usize * depth],
            depth,
            in_flight: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Requests that one slot can have in flight.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Requests in flight on all of them.
    pub(crate) fn all_in_flight(&self) -> usize {
        self.in_flight
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Connection<V>> {
        self.slots.iter()
    }

    /// Fetches into the cache what the next event of each of these slots needs: the misses of many overlap, while those
    /// of one after the other would each be waited for.
    pub(crate) fn warm(&self, slots: impl Iterator<Item = u32>) {
        black_box(slots.fold(0, |sum, slot| {
            let slot = slot as usize;
            sum ^ u64::from(self.slots[slot].generation) ^ self.rings[slot * self.depth].sent_ns
        }));
    }

    /// The oldest request in flight on a slot.
    pub(crate) fn oldest(&self, slot: u32) -> Option<&Moments> {
        let connection = &self.slots[slot as usize];
        (connection.in_flight > 0).then(|| &self.rings[slot as usize * self.depth + usize::from(connection.oldest)])
    }

    /// A slot's conversation, and the requests in flight on it.
    #[inline]
    pub(crate) fn conversation(&mut self, slot: u32) -> (&mut V, InFlight<'_>) {
        let slot = slot as usize;
        let connection = &mut self.slots[slot];
        let (oldest, count) = (usize::from(connection.oldest), connection.in_flight());
        let in_flight = InFlight { rings: &self.rings, ring: slot * self.depth, depth: self.depth, oldest, count };
        (&mut connection.conversation, in_flight)
    }

    /// The requests in flight on a slot, the oldest first.
    pub(crate) fn waiting(&self, slot: u32) -> impl Iterator<Item = Moments> {
        let (connection, ring) = (&self.slots[slot as usize], slot as usize * self.depth);
        let oldest = usize::from(connection.oldest);
        (0..connection.in_flight()).map(move |after| self.rings[ring + (oldest + after) % self.depth])
    }

    /// Notes the first part of the reply to a request in flight.
    pub(crate) fn note_part(&mut self, slot: u32, id: u32, now_ns: u64) {
        if let Some(at) = self.find(slot, id)
            && self.rings[at].first_byte_ns == 0
        {
            // 0 says that none has come.
            self.rings[at].first_byte_ns = now_ns.max(1);
        }
    }

    /// Takes a request in flight off a slot, whichever it is.
    #[inline]
    pub(crate) fn take(&mut self, slot: u32, id: u32) -> Option<Moments> {
        let connection = &mut self.slots[slot as usize];
        if connection.in_flight == 0 {
            return None;
        }
        let oldest = self.rings[slot as usize * self.depth + usize::from(connection.oldest)];
        if oldest.id != id {
            return self.take_from_midst(slot, id);
        }
        self.in_flight -= 1;
        connection.in_flight -= 1;
        connection.oldest += 1;
        if usize::from(connection.oldest) == self.depth {
            connection.oldest = 0;
        }
        Some(oldest)
    }

    /// Those that were sent before it move up, so that the oldest stays the oldest.
    #[cold]
    fn take_from_midst(&mut self, slot: u32, id: u32) -> Option<Moments> {
        let mut to = self.find(slot, id)?;
        let taken = self.rings[to];
        let first = slot as usize * self.depth;
        let oldest = first + usize::from(self.slots[slot as usize].oldest);
        while to != oldest {
            let from = if to == first { first + self.depth - 1 } else { to - 1 };
            self.rings[to] = self.rings[from];
            to = from;
        }
        // What stands there now was moved up.
        self.rings[oldest].id = id;
        self.take(slot, id);
        Some(taken)
    }

    /// Takes the oldest request in flight off a slot.
    pub(crate) fn pop_oldest(&mut self, slot: u32) -> Option<Moments> {
        self.take(slot, self.oldest(slot)?.id)
    }

    /// Where the request with a number stands.
    fn find(&mut self, slot: u32, id: u32) -> Option<usize> {
        let (_, in_flight) = self.conversation(slot);
        (0..in_flight.count).map(|after| in_flight.at(after)).find(|at| in_flight.rings[*at].id == id)
    }

    /// Puts a request in flight on a slot.
    ///
    /// # Panics
    /// When the slot's ring is full: whoever sends keeps to the pipeline's depth.
    pub(crate) fn push(&mut self, slot: u32, moments: Moments) {
        let connection = &mut self.slots[slot as usize];
        assert!(connection.in_flight() < self.depth, "more requests in flight than the pipeline is deep");
        let mut at = usize::from(connection.oldest) + connection.in_flight();
        if at >= self.depth {
            at -= self.depth;
        }
        self.in_flight += 1;
        connection.in_flight += 1;
        self.rings[slot as usize * self.depth + at] = moments;
    }
}

impl<V> Index<u32> for Connections<V> {
    type Output = Connection<V>;

    fn index(&self, slot: u32) -> &Connection<V> {
        &self.slots[slot as usize]
    }
}

impl<V> IndexMut<u32> for Connections<V> {
    fn index_mut(&mut self, slot: u32) -> &mut Connection<V> {
        &mut self.slots[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_to_a_second_until_a_reply_comes() {
        let mut connection = Connection::<()>::new();
        let pauses: Vec<u64> = (0..9).map(|_| connection.pause_ns() / 1_000_000).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        connection.prove();
        assert_eq!(connection.pause_ns(), 0);
        connection.begin_connecting(0);
        assert_eq!(connection.pause_ns() / 1_000_000, 10);
        for _ in 0..3 {
            connection.taken();
            assert_eq!(connection.pause_ns() / 1_000_000, 10);
        }
    }

    #[test]
    fn requests_leave_in_any_order_and_the_oldest_stays_the_oldest() {
        let mut connections = Connections::<()>::new(3, 4);
        let ids = |connections: &mut Connections<()>| -> Vec<u32> {
            let (_, in_flight) = connections.conversation(1);
            (0..in_flight.count).map(|after| in_flight.rings[in_flight.at(after)].id).collect()
        };
        let mut next = 0;
        for turn in 0..40 {
            while ids(&mut connections).len() < 4 {
                connections.push(1, Moments { id: next, sent_ns: next.into(), ..Moments::default() });
                next += 1;
            }
            let mut left = ids(&mut connections);
            let leaves = left.remove(turn % 4);
            let taken = connections.take(1, leaves).unwrap();
            assert_eq!((taken.id, taken.sent_ns), (leaves, leaves.into()));
            assert_eq!((ids(&mut connections), connections.take(1, leaves)), (left, None));
        }
        assert_eq!((connections.all_in_flight(), connections.oldest(0)), (3, None));
    }
}
