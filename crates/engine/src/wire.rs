use model::TlsUse;
use rustix::io::Errno;

/// The error of a connection on which the peer refused what had been agreed on before it said anything else: under TLS 1.3
/// a client has done with the handshake before the server has looked at its part.
pub(crate) const REFUSED: Errno = Errno::KEYREJECTED;

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

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The kernel is connected to the peer, and both have still to agree on how they talk.
    Handshaking,
    /// Requests can be sent.
    Open,
}

/// What one receive brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Bytes for the protocol; 0 is the end, unless more may be there.
    pub bytes: usize,
    /// Whether more may be there that no edge will report.
    pub more: bool,
}

/// Edges that one wait reports at most; more stay where they are until the next.
pub(crate) const EDGES_PER_WAIT: usize = 512;

/// The connections of one generator thread, by slot. Nothing blocks but [`Wire::wait`].
///
/// Readiness is edge-triggered: an edge is reported once, and a receive says whether more may be there.
pub trait Wire {
    /// Begins to connect a closed slot; each step towards its end is reported as writable.
    ///
    /// # Errors
    /// When the kernel refuses at once; the slot stays closed.
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno>;

    /// How far connecting has come, and a step further where one can be made; to be asked whenever the slot is writable,
    /// until it is open.
    ///
    /// # Errors
    /// Why it failed: `PROTO` when the peers could not agree. The slot is still to be closed.
    fn progress(&mut self, slot: u32) -> Result<Progress, Errno>;

    /// Sends; gives how many bytes were taken.
    ///
    /// # Errors
    /// `AGAIN` when it takes none now, else the connection is lost.
    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno>;

    /// Sends on what was taken and not yet sent; to be called when the slot is writable.
    ///
    /// # Errors
    /// The connection is lost.
    #[inline]
    fn flush(&mut self, _slot: u32) -> Result<(), Errno> {
        Ok(())
    }

    /// Receives into the buffer.
    ///
    /// # Errors
    /// `AGAIN` when nothing is there, `PROTO` when what came is not a message of the wire's protocol, [`REFUSED`] when the peer
    /// refuses the handshake after all, `CONNABORTED` when the end came without the one that the protocol has; but for `AGAIN` the connection is lost.
    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<Received, Errno>;

    /// Closes a slot; closing a closed one is nothing.
    fn close(&mut self, slot: u32);

    /// Waits for the next edges, at most `timeout_ns`; gives how many there are.
    ///
    /// # Errors
    /// When the kernel cannot wait at all.
    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno>;

    /// The `index`-th edge of the last wait.
    fn ready(&self, index: usize) -> Ready;

    /// What came of TLS on it since it was told to forget; none on a plain one.
    fn tls(&self) -> Option<TlsUse> {
        None
    }

    /// Begins to count anew what comes of TLS.
    fn forget_tls(&mut self) {}
}
