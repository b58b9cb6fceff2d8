//! HTTP/1: replies come in the order of the requests.

mod head;
mod reply;
mod request;

use model::{LoadSpec, ReplyExpectation, WrongReply};

pub use head::{HeadCache, MAX_HEAD_BYTES, MAX_HEADERS, over_limit};
pub use reply::{Advance, ReplyReader};
use request::Requests;
pub(crate) use request::encoded;

use crate::connection::Connection;
use crate::in_flight::InFlight;
use crate::protocol::{Begun, Event, Protocol};

/// Of thousands of connections each has gone cold when its next reply comes.
const _: () = assert!(size_of::<Connection<ReplyReader>>() == 64);

/// HTTP/1.0 and 1.1 on the connections of one thread.
pub(crate) struct Http1<'a> {
    requests: Requests<'a>,
    cache: HeadCache,
}

impl<'a> Http1<'a> {
    pub(crate) fn new(spec: &'a LoadSpec, thread: u32) -> Self {
        Self { requests: Requests::new(spec, thread), cache: HeadCache::default() }
    }
}

/// Every request's number: replies have none.
const ONLY: u32 = 0;

impl Protocol for Http1<'_> {
    type Conversation = ReplyReader;

    const ALPN: &'static [u8] = b"http/1.1";

    fn count(&self) -> usize {
        self.requests.count()
    }

    fn expectation(&self, place: u32) -> &ReplyExpectation {
        self.requests.get(place).expect
    }

    fn next(&mut self, _reader: &ReplyReader, count: usize) -> &[u8] {
        self.requests.next(count)
    }

    fn begin(&mut self, _reader: &mut ReplyReader) -> Begun {
        let (place, length) = self.requests.take();
        Begun { place, id: ONLY, length }
    }

    fn tail(&mut self, _reader: &ReplyReader, place: u32, left: usize) -> &[u8] {
        self.requests.tail(place, left)
    }

    #[inline(always)]
    fn advance(&mut self, reader: &mut ReplyReader, in_flight: InFlight<'_>, input: &mut &[u8]) -> Event {
        let Some(oldest) = in_flight.oldest() else { return Event::Unasked };
        let asked = self.requests.get(oldest.place);
        match reader.advance(input, asked.expect, asked.head_only, &mut self.cache) {
            Advance::NeedMore => Event::Part(ONLY),
            Advance::Complete(reply) => Event::Reply(ONLY, reply),
            Advance::Malformed => Event::Malformed,
        }
    }

    fn end(&mut self, reader: &mut ReplyReader, in_flight: InFlight<'_>) -> Event {
        let Some(oldest) = in_flight.oldest() else { return Event::Nothing };
        match reader.end(self.requests.get(oldest.place).expect) {
            Advance::NeedMore => Event::Nothing,
            Advance::Complete(reply) => Event::Reply(ONLY, reply),
            Advance::Malformed => Event::Malformed,
        }
    }

    fn ends_with_connection(reader: &ReplyReader) -> bool {
        reader.ends_with_connection()
    }

    fn held(reader: &ReplyReader) -> &[u8] {
        reader.held()
    }

    fn refused(reader: &ReplyReader, input: &[u8]) -> WrongReply {
        WrongReply::not_http(input, over_limit(reader.held()).or_else(|| over_limit(input)))
    }
}
