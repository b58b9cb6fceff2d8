//! How a target is asked beside the load: by one client that asks it and nobody else (it follows no redirect and no proxy),
//! waits no longer than it is told to for all of an answer, whatever drips, and takes no more bytes than it is told to.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use engine::{Advance, HeadCache, MAX_HEADERS, Reply, ReplyReader, TlsFailure, over_limit};
use httparse::Status;
use model::{ReplyExpectation, WrongReply, format_duration};

use crate::deadline::{Deadline, GoesOn, Until};
use crate::tls::Place;

/// Bytes received at once.
const BUFFER_BYTES: usize = 16 * 1024;

/// One request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Probe<'a> {
    /// Method; GET when empty.
    pub(crate) method: &'a str,
    /// Path and query.
    pub(crate) path: &'a str,
    /// Body.
    pub(crate) body: &'a [u8],
    /// What the reply must be.
    pub(crate) expect: ReplyExpectation,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The reply, already compared.
    pub(crate) reply: Reply,
    /// The value of each of its Content-Type lines.
    pub(crate) content_types: Vec<String>,
    /// Its body, without its framing.
    pub(crate) body: Vec<u8>,
    /// What came instead of what was expected; none where it came.
    pub(crate) wrong: Option<WrongReply>,
}

impl Answer {
    /// Whether the target did what it was asked to.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.reply.status)
    }
}

/// Asks one target, one request after the other.
pub(crate) struct Client<'a> {
    place: &'a Place,
    timeout: Duration,
    most_bytes: usize,
    /// Whether it asks for a connection to be kept, and keeps it.
    keeps: bool,
    deadline: Arc<Deadline<'a>>,
    kept: Option<Box<dyn Stream + 'a>>,
}

/// What bytes go through.
trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

impl<'a> Client<'a> {
    /// One that waits so long for all of an answer, which is so long at most.
    pub(crate) fn new(place: &'a Place, timeout: Duration, most_bytes: usize) -> Self {
        Self { place, timeout, most_bytes, keeps: false, deadline: Deadline::new(&|| true), kept: None }
    }

    /// The same, but it ends a wait soon after `goes_on`, which it asks before it begins and every [`crate::deadline::LOOK_EVERY`], says no.
    pub(crate) fn while_it(self, goes_on: GoesOn<'a>) -> Self {
        Self { deadline: Deadline::new(goes_on), ..self }
    }

    /// From now on it waits so long for all of an answer.
    pub(crate) fn wait_for(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// The same, but with one connection for all requests, if the target keeps it.
    pub(crate) fn keeping(self) -> Self {
        Self { keeps: true, ..self }
    }

    /// Sends one request and reads its reply.
    ///
    /// # Errors
    /// When the target cannot be reached, does not answer in time or before it is to stop, answers something else than HTTP, or
    /// too much.
    pub(crate) fn ask(&mut self, probe: &Probe<'_>) -> Result<Answer> {
        self.deadline.set(self.timeout);
        self.answer(probe).map_err(|error| match error.kind() {
            ErrorKind::TimedOut => {
                let within = format_duration(self.timeout.as_nanos() as u64);
                Error::new(ErrorKind::TimedOut, format!("no whole reply within {within}"))
            }
            _ => match TlsFailure::behind(&error) {
                Some(failure) => Error::new(ErrorKind::InvalidData, failure),
                None => error,
            },
        })
    }

    fn answer(&mut self, probe: &Probe<'_>) -> Result<Answer> {
        let request = self.request(probe);
        if let Some(kept) = self.kept.take() {
            match self.exchange(kept, &request, &probe.expect) {
                // It was closed while nobody asked.
                Err(error) if is_end(&error) => {}
                done => return done,
            }
        }
        let stream = self.connect()?;
        self.exchange(stream, &request, &probe.expect)
    }

    /// As the load sends it: no server is asked what the load would not ask of it.
    fn request(&self, probe: &Probe<'_>) -> Vec<u8> {
        let method = if probe.method.is_empty() { "GET" } else { probe.method };
        let connection = if self.keeps { "keep-alive" } else { "close" };
        let (path, address) = (probe.path, self.place.address);
        let content = match probe.body.len() {
            0 if method == "GET" => String::new(),
            length => format!("Content-Type: application/json\r\nContent-Length: {length}\r\n"),
        };
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: {connection}\r\n{content}\r\n");
        [head.as_bytes(), probe.body].concat()
    }

    fn connect(&self) -> Result<Box<dyn Stream + 'a>> {
        // Where the queue of the listener is full, another attempt is sooner than the kernel's second one.
        let stream = self.deadline.wait(|at_most| TcpStream::connect_timeout(&self.place.address, at_most))?;
        stream.set_nodelay(true)?;
        let stream = Until::new(stream, self.deadline.clone());
        Ok(match &self.place.secure {
            None => Box::new(stream),
            Some(secure) => Box::new(secure.over(stream).map_err(Error::other)?),
        })
    }

    fn exchange(
        &mut self,
        mut stream: Box<dyn Stream + 'a>,
        request: &[u8],
        expect: &ReplyExpectation,
    ) -> Result<Answer> {
        stream.write_all(request)?;
        stream.flush()?;
        let (mut reader, mut cache) = (ReplyReader::default(), HeadCache::default());
        let (mut taken, mut buffer) = (Vec::new(), [0; BUFFER_BYTES]);
        loop {
            let count = stream.read(&mut buffer)?;
            let mut left = &buffer[..count];
            let advance = match count {
                0 => reader.end(expect),
                _ => reader.advance(&mut left, expect, false, &mut cache),
            };
            taken.extend_from_slice(&buffer[..count - left.len()]);
            match advance {
                Advance::Complete(reply) => {
                    if self.keeps && reply.keep_alive && left.is_empty() {
                        self.kept = Some(stream);
                    }
                    return answer(reply, expect, &taken).ok_or_else(|| invalid("the reply is not HTTP"));
                }
                Advance::NeedMore if count == 0 => return Err(ErrorKind::UnexpectedEof.into()),
                Advance::NeedMore if taken.len() <= self.most_bytes => {}
                Advance::NeedMore => {
                    return Err(invalid(&format!("the reply is longer than {} bytes", self.most_bytes)));
                }
                Advance::Malformed => return Err(invalid(&malformed(&[&taken, left].concat()))),
            }
        }
    }
}

/// What is wrong with a reply that the reader does not take.
fn malformed(taken: &[u8]) -> String {
    match over_limit(taken) {
        Some(limit) => format!("the reply's head is over bourdon's limit of {limit}"),
        None => "the reply is not HTTP".to_owned(),
    }
}

/// Whether a connection had come to its end.
fn is_end(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

fn invalid(text: &str) -> Error {
    Error::new(ErrorKind::InvalidData, text)
}

/// What a reply says, all bytes of which these are; none where its head does not end within them.
fn answer(reply: Reply, expect: &ReplyExpectation, bytes: &[u8]) -> Option<Answer> {
    let (content_types, rest) = content(bytes)?;
    let known = reply.body_bytes.and_then(|length| usize::try_from(length).ok());
    let whole = known.map(|length| &rest[rest.len().saturating_sub(length)..]);
    let body = whole.map_or_else(|| unchunked(rest), <[u8]>::to_vec);
    let is_wrong = !reply.status_ok || !reply.body_ok;
    let expected = (expect.status, expect.body.as_deref());
    let wrong = is_wrong.then(|| WrongReply::new(expected, reply.status, Some((&body, 0))));
    Some(Answer { reply, content_types, body, wrong })
}

/// The Content-Type lines of the reply proper, behind the heads that announce it (RFC 9110 §15.2), and what follows its head.
fn content(mut bytes: &[u8]) -> Option<(Vec<String>, &[u8])> {
    loop {
        let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut head = httparse::Response::new(&mut fields);
        let Ok(Status::Complete(length)) = head.parse(bytes) else { return None };
        if !matches!(head.code, Some(100 | 102..=199)) {
            let lines = head.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("content-type"));
            let values = lines.map(|line| String::from_utf8_lossy(line.value.trim_ascii()).into_owned()).collect();
            return Some((values, &bytes[length..]));
        }
        bytes = &bytes[length..];
    }
}

/// What is in the chunks of a body that is known to be whole.
fn unchunked(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Status::Complete((start, length))) = httparse::parse_chunk_size(chunks)
        && let Ok(length @ 1..) = usize::try_from(length)
        && let Some(chunk) = chunks[start..].get(..length)
    {
        body.extend_from_slice(chunk);
        let rest = &chunks[start + length..];
        chunks = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or_default();
    }
    body
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;

    const OK: &str = "HTTP/1.1 200 OK\r\n";
    const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nContent-Type: a/hint\r\n\r\n";

    /// The longest reply that is taken here.
    const MOST_BYTES: usize = 256 * 1024;

    /// What a client makes of these bytes, which a server sends one piece after the other.
    fn answer_of(pieces: Vec<String>) -> Result<Answer> {
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
                // A client that has seen enough hangs up.
                let _ = pieces.iter().try_for_each(|piece| stream.write_all(piece.as_bytes()));
            });
            let place = Place::plain(address);
            Client::new(&place, Duration::from_secs(10), MOST_BYTES).ask(&Probe { path: "/", ..Probe::default() })
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
            assert_eq!(content(heads.as_bytes()).map(|(types, _)| types), Some(expected), "{heads}");
        }
        for cut in ["", HINTS, &OK[..9]] {
            assert_eq!(content(cut.as_bytes()), None, "{cut}");
        }
    }

    #[test]
    fn a_head_in_pieces_before_a_long_body_is_read() {
        let length = MOST_BYTES / 2;
        let head = format!("{HINTS}{OK}Content-Type: a/b\r\nContent-Length: {length}\r\n\r\n");
        let bytes = head.chars().map(String::from).chain(["x".repeat(length)]).collect();
        let answer = answer_of(bytes).unwrap();
        assert_eq!((answer.reply.status, answer.content_types), (200, vec!["a/b".to_owned()]));
    }

    #[test]
    fn what_has_no_end_is_refused() {
        for (head, part) in [(String::new(), HINTS), (format!("{OK}\r\n"), "x")] {
            let endless = head + &part.repeat((MOST_BYTES + 2 * BUFFER_BYTES) / part.len());
            let error = answer_of(vec![endless]).unwrap_err();
            assert_eq!(error.to_string(), format!("the reply is longer than {MOST_BYTES} bytes"));
        }
        let long = format!("{OK}X: {}", "x".repeat(MOST_BYTES));
        let most = format!("{OK}Content-Length: 0\r\n{}\r\n", "X: x\r\n".repeat(MAX_HEADERS - 1));
        assert!(answer_of(vec![most]).is_ok());
        let many = format!("{OK}{}\r\n", "X: x\r\n".repeat(MAX_HEADERS + 1));
        for (head, said) in [
            (long, "the reply's head is over bourdon's limit of 64 KiB"),
            (many, "the reply's head is over bourdon's limit of 256 lines"),
            ("SSH-2.0-OpenSSH\r\n\r\n".to_owned(), "the reply is not HTTP"),
        ] {
            let error = answer_of(vec![head]).unwrap_err();
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidData, said.to_owned()));
        }
    }

    #[test]
    fn a_body_is_given_without_its_framing() {
        let chunked = format!(
            "{HINTS}{OK}Transfer-Encoding: chunked\r\n\r\n6;x=\"1\"\r\nHello \r\n5\r\nworld\r\n0\r\nT: x\r\n\r\n"
        );
        for reply in [
            chunked.as_str(),
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHello worldand more",
            "HTTP/1.0 200 OK\r\n\r\nHello world",
        ] {
            let answer = answer_of(vec![reply.to_owned()]).unwrap();
            assert_eq!(answer.body, b"Hello world", "{reply}");
            assert!(answer.is_success() && answer.wrong.is_none());
        }
    }

    /// Answers on each connection as often as it keeps it; gives on how many connections it was asked.
    fn connections(keeps: bool, kept_for: usize) -> usize {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Place::plain(listener.local_addr().unwrap());
        let (asked, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (mut stream, asked) = (stream, asked.clone());
                std::thread::spawn(move || {
                    asked.send(()).unwrap();
                    for _ in 0..kept_for {
                        let Ok(1..) = stream.read(&mut [0; 1024]) else { return };
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").unwrap();
                    }
                });
            }
        });
        let client = Client::new(&place, Duration::from_secs(10), MOST_BYTES);
        let mut client = if keeps { client.keeping() } else { client };
        for _ in 0..6 {
            assert_eq!(client.ask(&Probe { path: "/", ..Probe::default() }).unwrap().body, b"hi");
        }
        told.try_iter().count()
    }

    #[test]
    fn a_connection_is_kept_as_long_as_the_target_keeps_it() {
        assert_eq!((connections(true, 100), connections(true, 2), connections(false, 100)), (1, 3, 6));
    }

    #[test]
    fn a_target_that_takes_a_request_and_stays_silent_is_said_to_give_no_reply() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Place::plain(listener.local_addr().unwrap());
        let mut client = Client::new(&place, Duration::from_millis(20), MOST_BYTES);
        let error = client.ask(&Probe { path: "/", ..Probe::default() }).unwrap_err();
        assert_eq!(error.to_string(), "no whole reply within 20ms");
    }

    #[test]
    fn only_what_has_content_says_so() {
        let place = Place::plain(([127, 0, 0, 1], 1).into());
        let client = Client::new(&place, Duration::from_secs(1), MOST_BYTES);
        let asked = |method, body| {
            String::from_utf8(client.request(&Probe { method, path: "/x", body, ..Probe::default() })).unwrap()
        };
        assert_eq!(asked("", b""), "GET /x HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n");
        assert!(asked("POST", b"{}").ends_with("Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"));
        assert!(asked("POST", b"").contains("Content-Length: 0"));
    }

    proptest! {
        #[test]
        fn no_chunks_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(unchunked(&bytes).len() <= bytes.len());
        }
    }
}
