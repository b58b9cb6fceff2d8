//! What of a reply's head matters later, read by httparse, or known because it is the last one again.

use std::mem::MaybeUninit;

use httparse::{ParserConfig, Status};
use model::{HeadLimit, ReplyExpectation};

use crate::protocol::Reply;

/// Bytes a reply's head, or the trailers of one, may have. Servers refuse requests beyond 8 to 64 KiB; a reply
/// beyond it is not a reply.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Lines that a reply's head may have.
pub const MAX_HEADERS: usize = 256;

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// What of a head matters later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) framing: Framing,
    /// What version and headers say; a body that ends with its connection ends it whatever they say.
    pub(super) keep_alive: bool,
}

impl Head {
    /// Whether the reply has no body, whatever its framing says (RFC 9112 §6.3).
    pub(super) fn is_bodiless(self, head_only: bool) -> bool {
        head_only || matches!(self.status, 101 | 204 | 304)
    }

    /// Takes a reply whose head is the first `start` bytes of `input`, if all of it is there and says how long it is.
    pub(super) fn whole_reply(
        self,
        start: usize,
        input: &mut &[u8],
        expect: &ReplyExpectation,
        head_only: bool,
    ) -> Option<Reply> {
        let length = match self.framing {
            _ if self.status < 200 => return None,
            _ if self.is_bodiless(head_only) => 0,
            Framing::Length(length) => usize::try_from(length).ok()?,
            Framing::Chunked | Framing::UntilClose => return None,
        };
        let end = start.checked_add(length)?;
        let body = input.get(start..end)?;
        let body_ok = expect.body.as_ref().is_none_or(|wanted| wanted == body);
        *input = &input[end..];
        Some(self.reply(expect, body_ok, (Some(length as u64), end as u64)))
    }

    pub(super) fn reply(
        self,
        expect: &ReplyExpectation,
        body_ok: bool,
        (body_bytes, bytes): (Option<u64>, u64),
    ) -> Reply {
        let status_ok = expect.status.map_or((200..400).contains(&self.status), |wanted| self.status == wanted);
        Reply {
            status: self.status,
            status_ok,
            body_ok,
            keep_alive: self.keep_alive,
            switches: self.status == 101,
            body_bytes,
            bytes,
        }
    }
}

/// The last head seen on any connection of a thread, by its exact bytes: servers repeat themselves, and comparing
/// is cheaper than parsing.
#[derive(Debug, Default)]
pub struct HeadCache {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl HeadCache {
    /// The head with which `input` begins.
    pub(super) fn read(&mut self, input: &[u8]) -> Parsed {
        match self.head {
            Some(head) if input.starts_with(&self.bytes) => Parsed::Head(head, self.bytes.len()),
            _ => self.read_new(input),
        }
    }

    /// Parses a head that is not the last one. Out of line for the same reason as what reads a reply in parts.
    #[inline(never)]
    fn read_new(&mut self, input: &[u8]) -> Parsed {
        let parsed = parse_head(input);
        if let Parsed::Head(head, length) = parsed {
            self.bytes.clear();
            self.bytes.extend_from_slice(&input[..length]);
            self.head = Some(head);
        }
        parsed
    }
}

pub(super) enum Parsed {
    Head(Head, usize),
    Partial,
    Bad,
}

pub(super) fn parse_head(input: &[u8]) -> Parsed {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut response, input, &mut headers);
    match parsed {
        Ok(Status::Complete(length)) if length <= MAX_HEAD_BYTES => match interpret(&response) {
            Some(head) => Parsed::Head(head, length),
            None => Parsed::Bad,
        },
        Ok(Status::Partial) => Parsed::Partial,
        _ => Parsed::Bad,
    }
}

/// The limit that the head of a reply is over; none where it is over none, or the bytes do not begin with one.
pub fn over_limit(bytes: &[u8]) -> Option<HeadLimit> {
    let in_bytes = HeadLimit::Bytes(MAX_HEAD_BYTES as u32);
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    match ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut headers) {
        Err(httparse::Error::TooManyHeaders) => Some(HeadLimit::Lines(MAX_HEADERS as u32)),
        Ok(Status::Partial) => (bytes.len() > MAX_HEAD_BYTES).then_some(in_bytes),
        Ok(Status::Complete(length)) if length > MAX_HEAD_BYTES => Some(in_bytes),
        Ok(Status::Complete(length)) if matches!(response.code, Some(100 | 102..=199)) => over_limit(&bytes[length..]),
        _ => None,
    }
}

/// RFC 9112 §6.3: which of the headers decides how the body ends. None when they contradict each other.
fn interpret(response: &httparse::Response<'_, '_>) -> Option<Head> {
    let status = response.code?;
    let mut keep_alive = response.version == Some(1);
    let (mut length, mut chunked, mut coded) = (None, false, false);
    for header in response.headers.iter() {
        let value = header.value.trim_ascii();
        if header.name.eq_ignore_ascii_case("content-length") {
            let given = parse_length(value)?;
            if length.is_some_and(|before| before != given) {
                return None;
            }
            length = Some(given);
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            coded = true;
            chunked = last_token(value).eq_ignore_ascii_case(b"chunked");
        } else if header.name.eq_ignore_ascii_case("connection") {
            for token in value.split(|byte| *byte == b',') {
                match token.trim_ascii() {
                    token if token.eq_ignore_ascii_case(b"close") => keep_alive = false,
                    token if token.eq_ignore_ascii_case(b"keep-alive") => keep_alive = true,
                    _ => {}
                }
            }
        }
    }
    let framing = match (chunked, coded, length) {
        (true, ..) => Framing::Chunked,
        (false, true, _) | (false, false, None) => Framing::UntilClose,
        (false, false, Some(length)) => Framing::Length(length),
    };
    Some(Head { status, framing, keep_alive })
}

fn parse_length(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(value).ok()?.parse().ok())?
}

fn last_token(value: &[u8]) -> &[u8] {
    value.rsplit(|byte| *byte == b',').next().unwrap_or(value).trim_ascii()
}
