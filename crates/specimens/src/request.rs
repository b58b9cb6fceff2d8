//! Finding requests in a stream of bytes.

use std::mem::MaybeUninit;

use httparse::{Error, Header, Status};

/// The longest accepted head in bytes, line feeds included.
pub(crate) const HEAD_LIMIT: usize = 64 * 1024;

/// The most header fields a head may have.
const FIELD_LIMIT: usize = 128;

/// What a request is answered with when nothing is wrong with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    Hello,
    Welcome,
    Missing,
    Ping,
    Malformed,
    TooLarge,
    Unsupported,
}

impl Page {
    pub(crate) const ALL: [Page; 7] =
        [Page::Hello, Page::Welcome, Page::Missing, Page::Ping, Page::Malformed, Page::TooLarge, Page::Unsupported];

    /// Whether the request is delayed, logged and subject to the defect.
    pub(crate) fn counted(self) -> bool {
        matches!(self, Page::Hello | Page::Welcome | Page::Missing)
    }

    fn of(target: &str) -> Page {
        match target.split_once('?').map_or(target, |(path, _)| path) {
            "/rest/hello" => Page::Hello,
            "/" => Page::Welcome,
            "/ping" => Page::Ping,
            _ => Page::Missing,
        }
    }
}

/// A request to act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Job {
    /// What it is answered with.
    pub(crate) page: Page,
    /// Whether the connection ends after it.
    pub(crate) close: bool,
    /// Whether it is, or was, in its handler delay.
    pub(crate) delayed: bool,
}

/// What the bytes at the start of a request are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// Not yet a whole head.
    Partial,
    /// A head of `head` bytes, followed by a body of `body` bytes.
    Head { job: Job, head: usize, body: u64 },
    /// Something that cannot be answered but with this page.
    Refused(Page),
}

/// Looks for a request at the start of `data`, of which the first `seen` bytes were found partial
/// before.
pub(crate) fn parse(data: &[u8], seen: usize) -> Parsed {
    // A head that comes byte by byte would otherwise be parsed as many times as it has bytes.
    let parsed =
        if seen > 0 && !ends_head(&data[seen.saturating_sub(3)..]) { Parsed::Partial } else { parse_head(data) };
    let length = match parsed {
        Parsed::Partial => data.len(),
        Parsed::Head { head, .. } => head,
        Parsed::Refused(_) => 0,
    };
    if length > HEAD_LIMIT { Parsed::Refused(Page::TooLarge) } else { parsed }
}

fn ends_head(tail: &[u8]) -> bool {
    tail.windows(2).any(|two| two == b"\n\n") || tail.windows(3).any(|three| three == b"\n\r\n")
}

fn parse_head(data: &[u8]) -> Parsed {
    let mut fields = [const { MaybeUninit::uninit() }; FIELD_LIMIT];
    let mut request = httparse::Request::new(&mut []);
    match request.parse_with_uninit_headers(data, &mut fields) {
        Ok(Status::Partial) => Parsed::Partial,
        Ok(Status::Complete(head)) => accept(&request, head),
        Err(Error::TooManyHeaders) => Parsed::Refused(Page::TooLarge),
        Err(_) => Parsed::Refused(Page::Malformed),
    }
}

fn accept(request: &httparse::Request<'_, '_>, head: usize) -> Parsed {
    // Their replies have no body whatever their head says; none of the defects would be visible.
    if matches!(request.method, Some("HEAD" | "CONNECT")) {
        return Parsed::Refused(Page::Unsupported);
    }
    let (page, close) = (Page::of(request.path.unwrap_or_default()), request.version == Some(0));
    let mut job = Job { page, close, delayed: false };
    let mut body = None;
    for field in request.headers.iter() {
        match read_field(field, &mut job, body) {
            Ok(length) => body = length,
            Err(page) => return Parsed::Refused(page),
        }
    }
    Parsed::Head { job, head, body: body.unwrap_or(0) }
}

/// Applies one header field; returns the length of the body known so far.
fn read_field(field: &Header<'_>, job: &mut Job, body: Option<u64>) -> Result<Option<u64>, Page> {
    if field.name.eq_ignore_ascii_case("content-length") {
        let length = body_length(field.value).ok_or(Page::Malformed)?;
        return if body.is_none_or(|before| before == length) { Ok(Some(length)) } else { Err(Page::Malformed) };
    }
    if field.name.eq_ignore_ascii_case("transfer-encoding") {
        return Err(Page::Unsupported);
    }
    if field.name.eq_ignore_ascii_case("connection") {
        job.close |= field.value.split(|&b| b == b',').any(|word| word.trim_ascii().eq_ignore_ascii_case(b"close"));
    }
    Ok(body)
}

fn body_length(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    // Integer parsing would also take a sign.
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(text: &str) -> Page {
        match parse(text.as_bytes(), 0) {
            Parsed::Head { job, head, .. } => {
                assert_eq!(head, text.len());
                job.page
            }
            Parsed::Refused(page) => page,
            Parsed::Partial => panic!("partial: {text:?}"),
        }
    }

    fn closes(text: &str) -> bool {
        matches!(parse(text.as_bytes(), 0), Parsed::Head { job: Job { close: true, .. }, .. })
    }

    #[test]
    fn paths_lead_to_pages() {
        assert_eq!(page("GET /rest/hello HTTP/1.1\r\nHost: a\r\n\r\n"), Page::Hello);
        assert_eq!(page("GET /ping?now HTTP/1.1\r\n\r\n"), Page::Ping);
        assert_eq!(page("\r\nPOST / HTTP/1.0\n\n"), Page::Welcome);
        assert_eq!(page("GET /index HTTP/1.1\r\n\r\n"), Page::Missing);
        assert_eq!(page("HEAD / HTTP/1.1\r\n\r\n"), Page::Unsupported);
        assert_eq!(page("PRI * HTTP/2.0\r\n\r\n"), Page::Malformed);
        assert_eq!(page("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), Page::Unsupported);
    }

    #[test]
    fn the_last_request_of_a_connection_is_known() {
        assert!(closes("GET / HTTP/1.0\r\n\r\n"));
        assert!(closes("GET / HTTP/1.1\r\nconnection: foo, CLOSE\r\n\r\n"));
        assert!(!closes("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n"));
        assert!(!closes("GET / HTTP/1.1\r\nConnection: closed\r\n\r\n"));
    }

    #[test]
    fn lengths_are_digits_and_agree() {
        let body = |lengths: &[&str]| {
            let fields: String = lengths.iter().map(|length| format!("Content-Length: {length}\r\n")).collect();
            match parse(format!("POST / HTTP/1.1\r\n{fields}\r\n").as_bytes(), 0) {
                Parsed::Head { body, .. } => Some(body),
                _ => None,
            }
        };
        assert_eq!(body(&[]), Some(0));
        assert_eq!(body(&["12", "12"]), Some(12));
        for lengths in [&["12", "13"][..], &["+1"], &["-1"], &[""], &["1x"], &["99999999999999999999"]] {
            assert_eq!(body(lengths), None, "{lengths:?}");
        }
    }

    #[test]
    fn long_heads_are_refused_whole_or_partial() {
        let head = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(HEAD_LIMIT));
        assert_eq!(parse(head.as_bytes(), 0), Parsed::Refused(Page::TooLarge));
        assert_eq!(parse(format!("{head}\r\n\r\n").as_bytes(), 0), Parsed::Refused(Page::TooLarge));
        let many = "A: b\r\n".repeat(FIELD_LIMIT + 1);
        assert_eq!(page(&format!("GET / HTTP/1.1\r\n{many}\r\n")), Page::TooLarge);
    }

    proptest! {
        #[test]
        fn tearing_changes_nothing(cut in 1usize..60, line_end in "\r?\n") {
            let text = format!("GET /rest/hello HTTP/1.1{line_end}Host: somewhere.example{line_end}{line_end}");
            let cut = cut.min(text.len() - 1);
            prop_assert_eq!(parse(&text.as_bytes()[..cut], 0), Parsed::Partial);
            prop_assert_eq!(parse(text.as_bytes(), cut), parse(text.as_bytes(), 0));
        }

        #[test]
        fn no_bytes_panic(data in proptest::collection::vec(any::<u8>(), 0..200), seen in 0usize..200) {
            let _ = parse(&data, seen.min(data.len()));
        }
    }
}
