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
}
