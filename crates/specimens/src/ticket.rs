//! What a connection is called, where it may be gone.

/// Names a connection; never names another one that took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) index: u32,
    pub(crate) serial: u64,
}

impl Ticket {
    /// As event data. The low half of the serial number is enough to tell events of the past from
    /// those of the present, which are never 2³² connections apart.
    pub(crate) fn token(self) -> u64 {
        self.serial << 32 | u64::from(self.index)
    }
}
