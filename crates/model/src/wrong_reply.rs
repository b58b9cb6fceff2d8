use serde::{Deserialize, Serialize};

/// Most bytes of a body that are kept.
const KEPT_BYTES: usize = 200;

/// Bytes kept before the first difference, where that is beyond what is kept of the beginning.
const BEFORE_DIFFERENCE: usize = 40;

/// The first reply of a load that was not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrongReply {
    /// Its status; null where it was not HTTP.
    pub status: Option<u16>,
    /// The status that was expected; null where any 2xx or 3xx would have done.
    pub expected_status: Option<u16>,
    /// Its body as far as it came in one piece with its end; null where nothing of it did.
    pub body: Option<Excerpt>,
    /// The body that was expected; null where none was asked for.
    pub expected_body: Option<Excerpt>,
    /// The first byte of the body, from 0, that is another one or missing; null where they agree or are not known.
    pub differs_at: Option<u64>,
    /// The limit that its head is over; none where it is over none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_limit: Option<HeadLimit>,
    /// What shows that the port speaks TLS, where it was asked without; none where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaks_tls: Option<TlsSign>,
}

/// How a port that was asked without TLS shows that it speaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TlsSign {
    /// It sent a TLS record: an alert, or a part of a handshake.
    Record,
    /// It answered 400 and said so, as Go and nginx do.
    Said,
}

impl TlsSign {
    /// A record begins with its kind and the version's major number: RFC 8446, section 5.1.
    fn of_bytes(bytes: &[u8]) -> Option<TlsSign> {
        [[21, 3], [22, 3]].iter().any(|begin| bytes.starts_with(begin)).then_some(TlsSign::Record)
    }

    fn of_reply(status: u16, body: &[u8]) -> Option<TlsSign> {
        let has = |said: &&[u8]| body.windows(said.len()).any(|part| part == *said);
        let said: [&[u8]; 2] = [b"an HTTPS server", b"to HTTPS port"];
        (status == 400 && said.iter().any(has)).then_some(TlsSign::Said)
    }
}

/// What bourdon takes of a reply's head at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeadLimit {
    /// So many lines.
    Lines(u32),
    /// So many bytes.
    Bytes(u32),
}

impl std::fmt::Display for HeadLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HeadLimit::Lines(lines) => write!(f, "{lines} lines"),
            HeadLimit::Bytes(bytes) => write!(f, "{} KiB", bytes / 1024),
        }
    }
}

/// A part of some bytes, fit for people: what cannot be printed is escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// Length of all of them.
    pub bytes: u64,
    /// Where the part begins.
    pub from: u64,
    /// The part.
    pub text: String,
}

impl Excerpt {
    fn new(all: &[u8], missing_before: usize, around: Option<usize>) -> Self {
        let at = around.filter(|at| *at >= KEPT_BYTES).map_or(0, |at| at - BEFORE_DIFFERENCE);
        let from = at.saturating_sub(missing_before).min(all.len());
        let part = &all[from..all.len().min(from + KEPT_BYTES)];
        let text = String::from_utf8_lossy(part).escape_debug().to_string();
        Excerpt { bytes: (all.len() + missing_before) as u64, from: (from + missing_before) as u64, text }
    }
}

impl WrongReply {
    /// A reply with this status and what came of its body: its last bytes, before which so many are not known any more.
    pub fn new(expected: (Option<u16>, Option<&[u8]>), status: u16, body: Option<(&[u8], usize)>) -> Self {
        let (expected_status, expected_body) = expected;
        let differs_at = expected_body.zip(body).and_then(|(wanted, (got, missing))| {
            let wanted = wanted.get(missing..).unwrap_or_default();
            let same = wanted.iter().zip(got).take_while(|(a, b)| a == b).count();
            (same < wanted.len() || same < got.len()).then_some(missing + same)
        });
        WrongReply {
            status: Some(status),
            expected_status,
            body: body.map(|(got, missing)| Excerpt::new(got, missing, differs_at)),
            expected_body: expected_body.map(|wanted| Excerpt::new(wanted, 0, differs_at)),
            differs_at: differs_at.map(|at| at as u64),
            over_limit: None,
            speaks_tls: body.and_then(|(got, _)| TlsSign::of_reply(status, got)),
        }
    }

    /// Bytes that are not an HTTP reply, or one whose head is over a limit.
    pub fn not_http(bytes: &[u8], over_limit: Option<HeadLimit>) -> Self {
        WrongReply { over_limit, speaks_tls: TlsSign::of_bytes(bytes), ..WrongReply::refused(bytes) }
    }

    /// Bytes that are not a reply in whatever was spoken.
    pub fn refused(bytes: &[u8]) -> Self {
        WrongReply {
            status: None,
            expected_status: None,
            body: Some(Excerpt::new(bytes, 0, None)),
            expected_body: None,
            differs_at: None,
            over_limit: None,
            speaks_tls: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found_and_shown() {
        let wrong = WrongReply::new((None, Some(b"Hello world")), 200, Some((b"Hello w0rld", 0)));
        assert_eq!((wrong.differs_at, wrong.body.unwrap().text.as_str()), (Some(7), "Hello w0rld"));
        let cut = WrongReply::new((None, Some(b"Hello world")), 200, Some((b"Hello", 0)));
        assert_eq!(cut.differs_at, Some(5));
        let tail = WrongReply::new((None, Some(b"Hello world")), 200, Some((b"w0rld", 6)));
        assert_eq!((tail.differs_at, tail.body.map(|body| (body.bytes, body.from))), (Some(7), Some((11, 6))));
        let status = WrongReply::new((Some(204), None), 200, Some((b"x", 0)));
        assert_eq!((status.differs_at, status.expected_body), (None, None));
    }

    #[test]
    fn a_port_that_speaks_tls_is_known_by_a_record_or_by_what_it_says() {
        let bytes = |bytes| WrongReply::not_http(bytes, None).speaks_tls;
        assert_eq!(bytes(b"\x15\x03\x01\x00\x02\x02\x46"), Some(TlsSign::Record));
        assert_eq!((bytes(b"\x15"), bytes(b"\x17\x03\x01")), (None, None));
        let said = |status, body: &[u8]| WrongReply::new((None, None), status, Some((body, 0))).speaks_tls;
        let go = b"Client sent an HTTP request to an HTTPS server.\n";
        assert_eq!((said(400, go), said(500, go), said(400, b"")), (Some(TlsSign::Said), None, None));
    }

    #[test]
    fn what_is_kept_is_bounded_and_fit_for_a_terminal() {
        let mut got = vec![b'a'; 10_000];
        got[5_000] = 0x1b;
        let wrong = WrongReply::new((None, Some(&[b'a'; 10_000])), 200, Some((&got, 0)));
        let body = wrong.body.unwrap();
        assert_eq!((wrong.differs_at, body.from, body.bytes), (Some(5_000), 4_960, 10_000));
        assert!(body.text.contains("\\u{1b}") && body.text.len() < 300, "{body:?}");
        let hostile = WrongReply::not_http("\u{202e}\r\n\u{7}\"".as_bytes(), None).body.unwrap().text;
        assert!(hostile.chars().all(|c| c.is_ascii_graphic()), "{hostile}");
    }
}
