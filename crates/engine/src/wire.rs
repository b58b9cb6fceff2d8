use rustix::io::Errno;

/// A connection on which something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The connection slot.
    pub slot: u32,
    /// Which opening of the slot this is about; an older one is stale.
    pub generation: u32,
    /// Bytes, an end or an error can be received.
    pub readable: bool,
    /// Bytes can be sent, or connecting came to an end.
    pub writable: bool,
    /// The peer has closed its side, or the connection failed.
    pub hangup: bool,
}

/// The connections of one generator thread, by slot. Nothing blocks but [`Wire::wait`].
///
/// Readiness is edge-triggered: an edge is reported once, and receiving less than the buffer holds means that
/// nothing is left to receive.
pub trait Wire {
    /// Begins to connect a closed slot; its end is reported as writable.
    ///
    /// # Errors
    /// When the kernel refuses at once; the slot stays closed.
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno>;

    /// Whether connecting succeeded; to be asked once the slot is writable.
    ///
    /// # Errors
    /// Why it did not. The slot is still to be closed.
    fn connected(&mut self, slot: u32) -> Result<(), Errno>;

    /// Sends; gives how many bytes the kernel took.
    ///
    /// # Errors
    /// `AGAIN` when it takes none now, else the connection is lost.
    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno>;

    /// Receives into the buffer; 0 is the end.
    ///
    /// # Errors
    /// `AGAIN` when nothing is there, else the connection is lost.
    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<usize, Errno>;

    /// Closes a slot; closing a closed one is nothing.
    fn close(&mut self, slot: u32);

    /// Waits for the next edges, at most `timeout_ns`; gives how many there are.
    ///
    /// # Errors
    /// When the kernel cannot wait at all.
    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno>;

    /// The `index`-th edge of the last wait.
    fn ready(&self, index: usize) -> Ready;
}
