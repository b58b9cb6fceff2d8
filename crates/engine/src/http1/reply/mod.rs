//! Reads HTTP/1 replies: bytes in, events out, no I/O. Any byte sequence ends in a reply, a wish for more, or
//! "malformed"; memory per connection is bounded by [`MAX_HEAD_BYTES`].

use httparse::Status;
use model::ReplyExpectation;

use super::head::{Framing, Head, HeadCache, MAX_HEAD_BYTES, Parsed, parse_head};
use crate::protocol::Reply;

/// Bytes the line of a chunk's size may have, extensions included.
const MAX_CHUNK_LINE_BYTES: usize = 4 * 1024;

/// What came of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// All input is taken, the reply goes on.
    NeedMore,
    /// One reply is complete; the rest of the input belongs to the next.
    Complete(Reply),
    /// This is not an HTTP reply.
    Malformed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    Fixed { left: u64 },
    ChunkSize,
    ChunkData { left: u64 },
    ChunkEnd,
    Trailers { seen: usize },
    UntilClose,
}

/// Reads the replies of one connection, one after the other. It is small, and a reply that comes whole with the head of
/// the last one leaves it alone: of thousands of connections each is out of the cache when its reply comes.
#[derive(Debug, Default)]
pub struct ReplyReader {
    /// Made for the first reply that did not come like that.
    part: Option<Box<Part>>,
}

/// A reply of which a part has been read; between replies, none of the next.
#[derive(Debug)]
struct Part {
    phase: Phase,
    torn: Vec<u8>,
    head: Head,
    bytes: u64,
    body_length: u64,
    body_matches: bool,
}

impl Default for Part {
    fn default() -> Self {
        let head = Head { status: 0, framing: Framing::Length(0), keep_alive: true };
        Self { phase: Phase::Head, torn: Vec::new(), head, bytes: 0, body_length: 0, body_matches: true }
    }
}

impl ReplyReader {
    /// Whether some bytes of a reply have come and not all.
    pub fn begun(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.begun())
    }

    /// Bytes that wait here for the rest of a torn head or line; bounded, whatever comes.
    pub fn held(&self) -> &[u8] {
        self.part.as_ref().map_or(&[], |part| &part.torn)
    }

    /// Whether what has begun is a reply that ends with its connection.
    pub fn ends_with_connection(&self) -> bool {
        self.part.as_ref().is_some_and(|part| part.phase == Phase::UntilClose)
    }

    /// Forgets everything, for a new connection.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Takes bytes from `input` until one reply is complete or none are left. `head_only` says that the request
    /// was HEAD, whose reply has no body whatever its head says.
    // The loop calls it in one place, and its result is another's by then.
    #[inline(always)]
    pub fn advance(
        &mut self,
        input: &mut &[u8],
        expect: &ReplyExpectation,
        head_only: bool,
        cache: &mut HeadCache,
    ) -> Advance {
        if !self.begun()
            && let Parsed::Head(head, length) = cache.read(input)
            && let Some(reply) = head.whole_reply(length, input, expect, head_only)
        {
            return Advance::Complete(reply);
        }
        self.part.get_or_insert_default().advance(input, expect, head_only, cache)
    }

    /// The connection has ended: completes the reply that ends with it, wants more of one that does not, or finds that
    /// what has come so far is not an HTTP reply.
    pub fn end(&mut self, expect: &ReplyExpectation) -> Advance {
        self.part.as_mut().map_or(Advance::NeedMore, |part| part.end(expect))
    }
}

impl Part {
    fn begun(&self) -> bool {
        self.bytes > 0
    }

    /// Out of line: a whole reply does not come here, and its way should not save registers for this one.
    #[inline(never)]
    fn advance(
        &mut self,
        input: &mut &[u8],
        expect: &ReplyExpectation,
        head_only: bool,
        cache: &mut HeadCache,
    ) -> Advance {
        loop {
            if input.is_empty() {
                return Advance::NeedMore;
            }
            let step = match self.phase {
                Phase::Head => self.read_head(input, head_only, cache),
                Phase::Fixed { left } => self.read_body(input, expect, left, |left| Phase::Fixed { left }),
                Phase::ChunkData { left } => self.read_body(input, expect, left, |left| Phase::ChunkData { left }),
                Phase::UntilClose => self.read_body(input, expect, u64::MAX, |_| Phase::UntilClose),
                Phase::ChunkSize => self.read_chunk_size(input),
                Phase::ChunkEnd => self.read_line(input, 2).map(|line| line.map(|text| self.end_chunk(&text))),
                Phase::Trailers { seen } => self.read_trailer(input, seen),
            };
            match step {
                Ok(Some(Step::Continue)) => {}
                Ok(Some(Step::End)) => return Advance::Complete(self.complete(expect)),
                Ok(Some(Step::Bad)) | Err(TooLong) => return Advance::Malformed,
                Ok(None) => return Advance::NeedMore,
            }
        }
    }

    fn end(&mut self, expect: &ReplyExpectation) -> Advance {
        match self.phase {
            Phase::UntilClose => Advance::Complete(self.complete(expect)),
            Phase::Head if matches!(parse_head(&self.torn), Parsed::Bad) => Advance::Malformed,
            _ => Advance::NeedMore,
        }
    }

    fn complete(&mut self, expect: &ReplyExpectation) -> Reply {
        let body_ok =
            expect.body.as_ref().is_none_or(|body| self.body_matches && self.body_length == body.len() as u64);
        let is_whole = self.head.framing != Framing::Chunked || self.body_length == 0;
        let body_bytes = is_whole.then_some(self.body_length);
        let reply = self.head.reply(expect, body_ok, (body_bytes, self.bytes));
        (self.phase, self.bytes, self.body_length, self.body_matches) = (Phase::Head, 0, 0, true);
        reply
    }

    fn read_head(&mut self, input: &mut &[u8], head_only: bool, cache: &mut HeadCache) -> StepResult {
        let (head, used) = if self.torn.is_empty() {
            match cache.read(input) {
                Parsed::Head(head, length) => (head, length),
                Parsed::Partial => return self.tear(input, MAX_HEAD_BYTES),
                Parsed::Bad => return Ok(Some(Step::Bad)),
            }
        } else {
            let before = self.torn.len();
            // Without a line's end there is nothing new for the parser: a byte a second must not cost a parse each.
            let worth_parsing = input.contains(&b'\n');
            let room = (MAX_HEAD_BYTES + 1).saturating_sub(before).min(input.len());
            self.torn.extend_from_slice(&input[..room]);
            match if worth_parsing { parse_head(&self.torn) } else { Parsed::Partial } {
                Parsed::Head(head, length) => {
                    self.torn = Vec::new();
                    (head, length - before)
                }
                Parsed::Partial => {
                    self.bytes += room as u64;
                    *input = &input[room..];
                    return if self.torn.len() > MAX_HEAD_BYTES { Err(TooLong) } else { Ok(None) };
                }
                Parsed::Bad => return Ok(Some(Step::Bad)),
            }
        };
        self.bytes += used as u64;
        *input = &input[used..];
        Ok(Some(self.begin_body(head, head_only)))
    }

    fn begin_body(&mut self, head: Head, head_only: bool) -> Step {
        // 1xx but 101 announces the reply proper (RFC 9110 §15.2).
        if (100..200).contains(&head.status) && head.status != 101 {
            return Step::Continue;
        }
        self.head = head;
        if head.status == 101 {
            self.head.keep_alive = false;
        }
        match head.framing {
            _ if head.is_bodiless(head_only) => return Step::End,
            Framing::Length(0) => return Step::End,
            Framing::Length(left) => self.phase = Phase::Fixed { left },
            Framing::Chunked => self.phase = Phase::ChunkSize,
            Framing::UntilClose => {
                self.phase = Phase::UntilClose;
                self.head.keep_alive = false;
            }
        }
        Step::Continue
    }

    fn read_body(
        &mut self,
        input: &mut &[u8],
        expect: &ReplyExpectation,
        left: u64,
        go_on: fn(u64) -> Phase,
    ) -> StepResult {
        let count = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
        let (body, rest) = input.split_at(count);
        *input = rest;
        self.compare(body, expect);
        self.bytes += count as u64;
        let left = left - count as u64;
        if left > 0 {
            self.phase = go_on(left);
            return Ok(Some(Step::Continue));
        }
        if let Phase::ChunkData { .. } = self.phase {
            self.phase = Phase::ChunkEnd;
            return Ok(Some(Step::Continue));
        }
        Ok(Some(Step::End))
    }

    fn compare(&mut self, body: &[u8], expect: &ReplyExpectation) {
        if let Some(wanted) = &expect.body {
            let from = usize::try_from(self.body_length).unwrap_or(usize::MAX);
            let part = wanted.get(from..from.saturating_add(body.len()));
            self.body_matches &= part == Some(body);
        }
        self.body_length += body.len() as u64;
    }

    fn read_chunk_size(&mut self, input: &mut &[u8]) -> StepResult {
        let Some(line) = self.read_line(input, MAX_CHUNK_LINE_BYTES)? else { return Ok(None) };
        self.phase = match httparse::parse_chunk_size(&line) {
            Ok(Status::Complete((_, 0))) => Phase::Trailers { seen: 0 },
            Ok(Status::Complete((_, left))) => Phase::ChunkData { left },
            _ => return Ok(Some(Step::Bad)),
        };
        Ok(Some(Step::Continue))
    }

    fn end_chunk(&mut self, line: &[u8]) -> Step {
        self.phase = Phase::ChunkSize;
        if matches!(line, b"\r\n" | b"\n") { Step::Continue } else { Step::Bad }
    }

    fn read_trailer(&mut self, input: &mut &[u8], seen: usize) -> StepResult {
        let Some(line) = self.read_line(input, MAX_HEAD_BYTES - seen)? else { return Ok(None) };
        if matches!(line.as_slice(), b"\r\n" | b"\n") {
            return Ok(Some(Step::End));
        }
        self.phase = Phase::Trailers { seen: seen + line.len() };
        Ok(Some(Step::Continue))
    }

    /// Takes one line, its end included, of at most `limit` bytes; what is torn waits in `torn`.
    fn read_line(&mut self, input: &mut &[u8], limit: usize) -> Result<Option<Vec<u8>>, TooLong> {
        let end = input.iter().position(|byte| *byte == b'\n').map_or(input.len(), |at| at + 1);
        if self.torn.len() + end > limit {
            return Err(TooLong);
        }
        self.torn.extend_from_slice(&input[..end]);
        self.bytes += end as u64;
        *input = &input[end..];
        Ok(self.torn.ends_with(b"\n").then(|| std::mem::take(&mut self.torn)))
    }

    fn tear(&mut self, input: &mut &[u8], limit: usize) -> StepResult {
        if input.len() > limit {
            return Err(TooLong);
        }
        self.torn.extend_from_slice(input);
        self.bytes += input.len() as u64;
        *input = &[];
        Ok(None)
    }
}

enum Step {
    Continue,
    End,
    Bad,
}

struct TooLong;

type StepResult = Result<Option<Step>, TooLong>;

#[cfg(test)]
mod tests;
