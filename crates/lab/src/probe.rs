use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use engine::{Advance, HeadCache, MAX_HEAD_BYTES, MonotonicClock, Reply, ReplyReader};
use httparse::Status;
use model::{Clock, ReplyExpectation, WrongReply};

use crate::tls::Place;

/// One request, sent on a connection of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Probe<'a> {
    /// Method; GET when empty.
    pub(crate) method: &'a str,
    /// Path and query.
    pub(crate) path: &'a str,
    /// Body.
    pub(crate) body: &'a [u8],
    /// What the reply must be; it is compared, never kept.
    pub(crate) expect: ReplyExpectation,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The reply, already compared.
    pub(crate) reply: Reply,
    /// The value of each of its Content-Type lines.
    pub(crate) content_types: Vec<String>,
    /// What came instead of what was expected; none where it came, or where it was too long to be kept.
    pub(crate) wrong: Option<WrongReply>,
}

/// Largest reply a probe takes.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Headers a reply may have: as many as the reply reader takes.
const MOST_HEADERS: usize = 256;

/// Sends one request and reads its reply.
///
/// # Errors
/// When the server cannot be reached, does not answer within `timeout`, or answers something else than HTTP.
pub(crate) fn send(place: &Place, probe: &Probe<'_>, timeout: Duration) -> std::io::Result<Answer> {
    let deadline_ns = MonotonicClock.now_ns() + timeout.as_nanos() as u64;
    let address = place.address;
    let stream = Until { stream: TcpStream::connect_timeout(&address, timeout)?, deadline_ns };
    let method = if probe.method.is_empty() { "GET" } else { probe.method };
    let (path, length) = (probe.path, probe.body.len());
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    let request = [head.as_bytes(), probe.body].concat();
    match &place.secure {
        None => exchange(stream, &request, &probe.expect),
        Some(secure) => exchange(secure.over(stream).map_err(std::io::Error::other)?, &request, &probe.expect),
    }
}

/// A connection that ends at a moment: what drips for ever must not keep anybody waiting.
struct Until {
    stream: TcpStream,
    deadline_ns: u64,
}

impl Until {
    fn left(&self) -> std::io::Result<Option<Duration>> {
        match self.deadline_ns.saturating_sub(MonotonicClock.now_ns()) {
            0 => Err(ErrorKind::TimedOut.into()),
            ns => Ok(Some(Duration::from_nanos(ns))),
        }
    }
}

impl Read for Until {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Until {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

fn exchange(mut stream: impl Read + Write, request: &[u8], expect: &ReplyExpectation) -> std::io::Result<Answer> {
    stream.write_all(request)?;
    stream.flush()?;
    let (mut reader, mut cache) = (ReplyReader::default(), HeadCache::default());
    let (mut taken, mut buffer, mut start) = (0, [0; 16 * 1024], Vec::new());
    loop {
        let count = stream.read(&mut buffer)?;
        taken += count;
        // The reply reader keeps no head; this is as much as it takes for one.
        start.extend_from_slice(&buffer[..count.min(MAX_HEAD_BYTES - start.len())]);
        let advance = match count {
            0 => reader.end(expect),
            _ => reader.advance(&mut &buffer[..count], expect, false, &mut cache),
        };
        match advance {
            Advance::Complete(reply) => {
                let content_types = content_types(&start).ok_or_else(|| invalid("the reply's heads are too long"))?;
                let wrong = (!reply.status_ok || !reply.body_ok).then(|| wrong(expect, &reply, &start, taken));
                return Ok(Answer { reply, content_types, wrong });
            }
            Advance::NeedMore if count == 0 => return Err(ErrorKind::UnexpectedEof.into()),
            Advance::NeedMore if taken < MOST_BYTES => {}
            _ => return Err(invalid("the reply is not HTTP")),
        }
    }
}

/// What came, of which `start` is kept: its body where that is all of it.
fn wrong(expect: &ReplyExpectation, reply: &Reply, start: &[u8], taken: usize) -> WrongReply {
    let length = reply.body_bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let body = length.filter(|length| taken == start.len() && *length <= taken).map(|length| &start[taken - length..]);
    WrongReply::new((expect.status, expect.body.as_deref()), reply.status, body.map(|body| (body, 0)))
}

fn invalid(text: &str) -> std::io::Error {
    std::io::Error::new(ErrorKind::InvalidData, text)
}

/// The Content-Type lines of the reply proper, behind the heads that announce it (RFC 9110 §15.2); none if its head does
/// not end within `start`.
fn content_types(mut start: &[u8]) -> Option<Vec<String>> {
    loop {
        let mut fields = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut fields);
        let Ok(Status::Complete(length)) = head.parse(start) else { return None };
        if !matches!(head.code, Some(100 | 102..=199)) {
            let lines = head.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("content-type"));
            return Some(lines.map(|line| String::from_utf8_lossy(line.value.trim_ascii()).into_owned()).collect());
        }
        start = &start[length..];
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const OK: &str = "HTTP/1.1 200 OK\r\n";
    const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nContent-Type: a/hint\r\n\r\n";

    /// What a probe makes of these bytes, which a server sends one piece after the other.
    fn answer_of(pieces: Vec<String>) -> std::io::Result<Answer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_nodelay(true).unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    request.push(byte[0]);
                }
                // A probe that has seen enough hangs up.
                let _ = pieces.iter().try_for_each(|piece| stream.write_all(piece.as_bytes()));
            });
            send(&Place::plain(address), &Probe { path: "/", ..Probe::default() }, Duration::from_secs(10))
        })
    }

    #[test]
    fn the_content_type_is_that_of_the_reply_proper() {
        for (heads, expected) in [
            (format!("{OK}content-TYPE:  text/plain \r\nServer: x\r\n\r\nContent-Type: body"), vec!["text/plain"]),
            (format!("{OK}Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n"), vec!["a/b", "c/d"]),
            (format!("{OK}X-Content-Type: a/b\r\n\r\n"), vec![]),
            (format!("{HINTS}{HINTS}{OK}Content-Type: a/b\r\n\r\n"), vec!["a/b"]),
            (format!("{HINTS}{OK}\r\n"), vec![]),
            (HINTS.replace("103 Early Hints", "101 Switching Protocols"), vec!["a/hint"]),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(content_types(heads.as_bytes()), Some(expected), "{heads}");
        }
        for cut in ["", HINTS, &OK[..9]] {
            assert_eq!(content_types(cut.as_bytes()), None, "{cut}");
        }
    }

    #[test]
    fn a_head_in_pieces_before_a_long_body_is_read() {
        let length = 2 * MAX_HEAD_BYTES;
        let head = format!("{HINTS}{OK}Content-Type: a/b\r\nContent-Length: {length}\r\n\r\n");
        let bytes = head.chars().map(String::from).chain(["x".repeat(length)]).collect();
        let answer = answer_of(bytes).unwrap();
        assert_eq!((answer.reply.status, answer.content_types), (200, vec!["a/b".to_owned()]));
    }

    #[test]
    fn heads_without_end_are_refused() {
        let hints = HINTS.repeat(MAX_HEAD_BYTES / HINTS.len() + 1);
        let error = answer_of(vec![hints, format!("{OK}Content-Length: 0\r\n\r\n")]).unwrap_err();
        assert_eq!(error.to_string(), "the reply's heads are too long");
        let error = answer_of(vec![format!("{OK}X: {}", "x".repeat(2 * MAX_HEAD_BYTES))]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}
