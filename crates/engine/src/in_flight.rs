//! Requests in flight.

/// Which request it was, and its moments in nanoseconds on the clock. Aligned so that it lies in one cache line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(32))]
pub(crate) struct Moments {
    /// Open model: when it was due. Closed: when it was sent, or the connection for it begun.
    pub(crate) intended_ns: u64,
    pub(crate) sent_ns: u64,
    /// 0 until the first byte of its reply has come.
    pub(crate) first_byte_ns: u64,
    /// Which request of the mix it was.
    pub(crate) place: u32,
    /// Its number on its connection.
    pub(crate) id: u32,
}

/// The requests in flight on one connection, in the order in which they were sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight<'a> {
    /// Those of all connections, in rings of equal depth.
    pub(crate) rings: &'a [Moments],
    /// Where the connection's ring begins.
    pub(crate) ring: usize,
    pub(crate) depth: usize,
    /// Where in it the oldest stands.
    pub(crate) oldest: usize,
    pub(crate) count: usize,
}

impl<'a> InFlight<'a> {
    /// The oldest.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<&'a Moments> {
        (self.count > 0).then(|| &self.rings[self.ring + self.oldest])
    }

    /// The one with a number.
    pub(crate) fn numbered(&self, id: u32) -> Option<&'a Moments> {
        (0..self.count).map(|after| &self.rings[self.at(after)]).find(|one| one.id == id)
    }

    /// Where the request that is `after` the oldest stands.
    pub(crate) fn at(&self, after: usize) -> usize {
        let at = self.oldest + after;
        self.ring + if at >= self.depth { at - self.depth } else { at }
    }
}
