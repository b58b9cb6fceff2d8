//! What is spoken on a connection, as the loop sees it: requests become bytes, and bytes become events. A protocol does no
//! I/O and reads no clock.
//!
//! HTTP/1 is one (`http1`); another, with several requests in flight by number and replies in any order, is in `simulation`.

use model::{ReplyExpectation, WrongReply};

use crate::in_flight::InFlight;

/// A complete reply, already compared with what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Whether status and framing are as expected.
    pub status_ok: bool,
    /// Whether the body is as expected; true when nothing was asked of it.
    pub body_ok: bool,
    /// Whether the connection may serve another request.
    pub keep_alive: bool,
    /// Whether something else is spoken on the connection from here on: it is left, which is not the server's doing.
    pub switches: bool,
    /// So many of the last bytes that were taken for it are its body, one behind the other; unknown of one in parts.
    pub body_bytes: Option<u64>,
    /// Bytes of head and body as they came, framing included.
    pub bytes: u64,
}

/// What came of some bytes. The number is the request's, as [`Protocol::begin`] gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// Nothing that the loop need know of, or that it asks about: its room, whether it is over.
    Nothing,
    /// A part of the reply to a request, and not its last.
    Part(u32),
    /// The reply to a request is complete.
    Reply(u32, Reply),
    /// The peer will not answer a request; its connection lives on.
    Dropped(u32),
    /// This answers no request.
    Unasked,
    /// This is not of the protocol.
    Malformed,
}

/// A request of which the kernel has taken the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begun {
    /// Its place in the mix.
    pub(crate) place: u32,
    /// Its number on its connection. Where replies come in the order of the requests, one number serves for all.
    pub(crate) id: u32,
    /// All its bytes.
    pub(crate) length: usize,
}

/// What one thread speaks on all its connections.
pub(crate) trait Protocol {
    /// What is remembered of one connection. It lies in the connection's cache line: 8 bytes cost nothing.
    type Conversation: Default;

    /// Its name in the TLS handshake (RFC 7301).
    const ALPN: &'static [u8];

    /// Whether it has more to say than requests.
    const TALKS: bool = false;

    /// How many different requests there are.
    fn count(&self) -> usize;

    /// What the reply to the request at a place of the mix must be.
    fn expectation(&self, place: u32) -> &ReplyExpectation;

    /// Requests that the peer takes on a connection at once, as far as is known.
    #[inline]
    fn room(_conversation: &Self::Conversation) -> usize {
        usize::MAX
    }

    /// Whether the peer takes no more requests on a connection, for good and whatever [`Protocol::room`] says: it is closed once
    /// none is in flight. The loop asks after what came.
    #[inline]
    fn is_over(_conversation: &Self::Conversation) -> bool {
        false
    }

    /// The bytes of the next `count` requests on a connection. They are not begun by that.
    fn next(&mut self, conversation: &Self::Conversation, count: usize) -> &[u8];

    /// Begins the next request on a connection.
    fn begin(&mut self, conversation: &mut Self::Conversation) -> Begun;

    /// The last `left` bytes of the request that was begun last on a connection, from this place of the mix.
    fn tail(&mut self, conversation: &Self::Conversation, place: u32, left: usize) -> &[u8];

    /// What goes to the peer before the next request: a greeting, an acknowledgement.
    fn own(_conversation: &Self::Conversation) -> &[u8] {
        &[]
    }

    /// So many bytes of [`Protocol::own`] were taken.
    fn own_sent(_conversation: &mut Self::Conversation, _bytes: usize) {}

    /// Takes bytes from `input`, which is not empty, up to the next event; where it is [`Event::Nothing`] or
    /// [`Event::Part`], all that can be taken.
    fn advance(&mut self, conversation: &mut Self::Conversation, in_flight: InFlight<'_>, input: &mut &[u8]) -> Event;

    /// The connection has ended: the reply that ends with it, if there is one.
    fn end(&mut self, conversation: &mut Self::Conversation, in_flight: InFlight<'_>) -> Event;

    /// Whether the reply that has begun ends with its connection, so that only then it can be found wrong.
    #[inline]
    fn ends_with_connection(_conversation: &Self::Conversation) -> bool {
        false
    }

    /// Bytes that wait for those that belong to them; bounded, whatever comes.
    fn held(conversation: &Self::Conversation) -> &[u8];

    /// What is told of bytes that are not of the protocol; `input` is what came last.
    fn refused(conversation: &Self::Conversation, input: &[u8]) -> WrongReply;
}
