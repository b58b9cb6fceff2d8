//! Where one load's window follows another's, as if nothing lay between them.

/// Times on the engine's clock; `u64::MAX` is later than all of them, on either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Joint {
    /// The end of the window before it.
    pub(crate) end_ns: u64,
    /// The begin of the window behind it.
    pub(crate) begin_ns: u64,
}

impl Joint {
    /// A moment of the load before it; what came after the window lies at its end.
    pub(crate) fn before(self, at_ns: u64) -> u64 {
        if at_ns == u64::MAX { u64::MAX } else { at_ns.min(self.end_ns) }
    }

    /// A moment of the load behind it; what came before the window lies at its begin.
    pub(crate) fn after(self, at_ns: u64) -> u64 {
        if at_ns == u64::MAX { u64::MAX } else { self.end_ns + at_ns.saturating_sub(self.begin_ns) }
    }
}
