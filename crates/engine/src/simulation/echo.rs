//! A second protocol, which shows that the loop needs no HTTP: several requests in flight on a connection by number, replies
//! in any order, a greeting before the first request, a limit that the peer sets, pings that want an answer, and a peer that says
//! when it takes no more requests on a connection.
//!
//! The client begins with [`GREETING`]. A frame is the length of what follows (4 bytes, the highest first), a [`Kind`]
//! (1 byte), a number (4 bytes) and a payload.

use std::sync::atomic::AtomicBool;

use model::{LoadSpec, ReplyExpectation, WrongReply};

use crate::collector::Passed;
use crate::draw::Draw;
use crate::in_flight::InFlight;
use crate::output::LoadOutput;
use crate::protocol::{Begun, Event, Protocol, Reply};
use crate::run::run_speaking;
use crate::session::{LoadError, RunOptions};

/// What a client says first.
pub const GREETING: &[u8] = b"echo\r\n";

/// Bytes of a frame before its payload.
pub const HEAD_BYTES: usize = 9;

/// The longest payload that a frame may have.
const MOST_PAYLOAD_BYTES: usize = 1024 * 1024;

/// Bytes of its own that a connection holds until they can be sent: whoever pings without end and takes nothing has left
/// the protocol.
const MOST_OWN_BYTES: usize = 4096;

/// What a frame means, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A request; its number is the client's choice.
    Ask = 1,
    /// The reply to the request of this number.
    Answer,
    /// The request of this number will not be answered.
    Drop,
    /// So many requests at once at most.
    Limit,
    /// The other side is to say [`Kind::Pong`] with the same number.
    Ping,
    /// The answer to [`Kind::Ping`].
    Pong,
    /// The server takes no more requests on the connection; those in flight are answered or dropped. Its number means nothing.
    Leave,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        use Kind::{Answer, Ask, Drop, Leave, Limit, Ping, Pong};
        [Ask, Answer, Drop, Limit, Ping, Pong, Leave].into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A frame's bytes.
pub fn frame(kind: Kind, number: u32, payload: &[u8]) -> Vec<u8> {
    let length = (HEAD_BYTES - 4 + payload.len()) as u32;
    [&length.to_be_bytes()[..], &[kind as u8], &number.to_be_bytes(), payload].concat()
}

/// The kind and number of the frame that begins with these bytes, and how long its payload is; none where there is none.
pub fn head(bytes: &[u8; HEAD_BYTES]) -> Option<(Kind, u32, usize)> {
    let [l0, l1, l2, l3, kind, n0, n1, n2, n3] = *bytes;
    let payload = (u32::from_be_bytes([l0, l1, l2, l3]) as usize).checked_sub(HEAD_BYTES - 4)?;
    let number = u32::from_be_bytes([n0, n1, n2, n3]);
    (payload <= MOST_PAYLOAD_BYTES).then_some((Kind::of(kind)?, number, payload))
}

/// As [`crate::run`], in this protocol.
///
/// # Errors
/// As [`crate::run`].
pub fn run(
    spec: &LoadSpec,
    options: RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<LoadOutput, LoadError> {
    run_speaking(Echo::new, spec, options, stop, progress)
}

/// The client's side, on the connections of one thread. A request is the body of one of the mix.
pub(crate) struct Echo<'a> {
    spec: &'a LoadSpec,
    draw: Draw,
    composed: Vec<u8>,
}

impl<'a> Echo<'a> {
    pub(crate) fn new(spec: &'a LoadSpec, thread: u32) -> Self {
        Self { spec, draw: Draw::new(&spec.mix, spec.seed, thread), composed: Vec::new() }
    }

    fn payload(&self, place: u32) -> &'a [u8] {
        &self.spec.mix.requests()[place as usize].request.body
    }

    fn compose(&mut self, number: u32, place: u32) {
        let payload = self.payload(place);
        self.composed.extend_from_slice(&frame(Kind::Ask, number, payload));
    }
}

/// What is remembered of one connection.
pub(crate) struct Talk {
    /// Number of its next request.
    next: u32,
    limit: Option<u32>,
    is_over: bool,
    own: Vec<u8>,
    /// The head of the frame that comes, as far as it has come.
    head: Vec<u8>,
    coming: Option<Coming>,
}

impl Default for Talk {
    fn default() -> Self {
        Self { next: 0, limit: None, is_over: false, own: GREETING.to_vec(), head: Vec::new(), coming: None }
    }
}

/// The frame whose payload comes.
struct Coming {
    kind: Kind,
    number: u32,
    length: usize,
    left: usize,
    /// Whether what has come of an answer is what was expected.
    matches: bool,
}

impl Coming {
    fn compare(&mut self, part: &[u8], expect: &ReplyExpectation) {
        if let Some(wanted) = &expect.body {
            let from = self.length - self.left;
            self.matches &= wanted.get(from..from + part.len()) == Some(part) && wanted.len() == self.length;
        }
    }

    fn reply(&self) -> Reply {
        let (body_bytes, bytes) = (Some(self.length as u64), (HEAD_BYTES + self.length) as u64);
        Reply {
            status: 200,
            status_ok: true,
            body_ok: self.matches,
            keep_alive: true,
            switches: false,
            body_bytes,
            bytes,
        }
    }
}

impl Talk {
    /// Takes what is there of the next frame's head; none where that is not all of it.
    fn read_head(&mut self, input: &mut &[u8]) -> Option<Result<Coming, ()>> {
        let (part, rest) = input.split_at(input.len().min(HEAD_BYTES - self.head.len()));
        self.head.extend_from_slice(part);
        *input = rest;
        let bytes = <&[u8; HEAD_BYTES]>::try_from(self.head.as_slice()).ok()?;
        let (kind, number, length) = match head(bytes) {
            Some(head) => head,
            None => return Some(Err(())),
        };
        self.head.clear();
        Some(Ok(Coming { kind, number, length, left: length, matches: true }))
    }

    /// What a whole frame means.
    fn complete(&mut self, coming: &Coming, asked: bool) -> Event {
        match coming.kind {
            Kind::Answer | Kind::Drop if !asked => Event::Unasked,
            Kind::Answer => Event::Reply(coming.number, coming.reply()),
            Kind::Drop => Event::Dropped(coming.number),
            Kind::Limit => {
                self.limit = Some(coming.number);
                Event::Nothing
            }
            Kind::Leave => {
                self.is_over = true;
                Event::Nothing
            }
            Kind::Ping if self.own.len() < MOST_OWN_BYTES => {
                self.own.extend_from_slice(&frame(Kind::Pong, coming.number, b""));
                Event::Nothing
            }
            _ => Event::Malformed,
        }
    }
}

impl Protocol for Echo<'_> {
    type Conversation = Talk;

    const ALPN: &'static [u8] = b"echo";

    const TALKS: bool = true;

    fn count(&self) -> usize {
        self.spec.mix.requests().len()
    }

    fn expectation(&self, place: u32) -> &ReplyExpectation {
        &self.spec.mix.requests()[place as usize].expect
    }

    fn room(talk: &Talk) -> usize {
        talk.limit.map_or(usize::MAX, |limit| limit as usize)
    }

    fn is_over(talk: &Talk) -> bool {
        talk.is_over
    }

    fn next(&mut self, talk: &Talk, count: usize) -> &[u8] {
        self.composed.clear();
        for ahead in 0..count as u32 {
            let place = self.draw.place(ahead.into());
            self.compose(talk.next.wrapping_add(ahead), place);
        }
        &self.composed
    }

    fn begin(&mut self, talk: &mut Talk) -> Begun {
        let (place, id) = (self.draw.take(), talk.next);
        talk.next = id.wrapping_add(1);
        Begun { place, id, length: HEAD_BYTES + self.payload(place).len() }
    }

    fn tail(&mut self, talk: &Talk, place: u32, left: usize) -> &[u8] {
        self.composed.clear();
        self.compose(talk.next.wrapping_sub(1), place);
        &self.composed[self.composed.len() - left..]
    }

    fn own(talk: &Talk) -> &[u8] {
        &talk.own
    }

    fn own_sent(talk: &mut Talk, bytes: usize) {
        talk.own.drain(..bytes);
    }

    fn advance(&mut self, talk: &mut Talk, in_flight: InFlight<'_>, input: &mut &[u8]) -> Event {
        let mut coming = match talk.coming.take() {
            Some(coming) => coming,
            None => match talk.read_head(input) {
                Some(Ok(coming)) => coming,
                Some(Err(())) => return Event::Malformed,
                None => return Event::Nothing,
            },
        };
        let asked = in_flight.numbered(coming.number);
        let (part, rest) = input.split_at(input.len().min(coming.left));
        *input = rest;
        if let (Kind::Answer, Some(asked)) = (coming.kind, asked) {
            coming.compare(part, self.expectation(asked.place));
        }
        coming.left -= part.len();
        if coming.left == 0 {
            return talk.complete(&coming, asked.is_some());
        }
        let event = match coming.kind {
            Kind::Answer => Event::Part(coming.number),
            _ => Event::Nothing,
        };
        talk.coming = Some(coming);
        event
    }

    fn end(&mut self, _talk: &mut Talk, _in_flight: InFlight<'_>) -> Event {
        Event::Nothing
    }

    fn held(talk: &Talk) -> &[u8] {
        &talk.head
    }

    fn refused(_talk: &Talk, input: &[u8]) -> WrongReply {
        WrongReply::refused(input)
    }
}
