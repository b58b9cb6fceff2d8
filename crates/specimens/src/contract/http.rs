//! As much of HTTP/1.1 as the contract needs.

use std::io::{self, Read};
use std::net::TcpStream;

/// The longest head and body in bytes.
const HEAD_LIMIT: usize = 64 * 1024;
const BODY_LIMIT: usize = 1024 * 1024;

pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const JSON: &str = "application/json";

/// A whole request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without its query, escapes as they came.
    pub(super) path: String,
    pub(super) query: String,
    pub(super) body: Vec<u8>,
    /// Whether the connection ends after it.
    pub(super) close: bool,
}

/// What a connection brings next.
pub(super) enum Incoming {
    Request(Request),
    /// Something that cannot be answered but with this status.
    Refused(u16),
    End,
}

/// The requests of one connection.
pub(super) struct Reader<'a> {
    stream: &'a TcpStream,
    input: Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> Self {
        Reader { stream, input: Vec::new() }
    }

    pub(super) fn next(&mut self) -> io::Result<Incoming> {
        let (mut request, head, length) = loop {
            match parse(&self.input) {
                Ok(Some(parsed)) => break parsed,
                Ok(None) if self.input.len() > HEAD_LIMIT => return Ok(Incoming::Refused(431)),
                Ok(None) => {}
                Err(status) => return Ok(Incoming::Refused(status)),
            }
            if !self.more()? {
                return Ok(Incoming::End);
            }
        };
        if length > BODY_LIMIT {
            return Ok(Incoming::Refused(413));
        }
        while self.input.len() < head + length {
            if !self.more()? {
                return Ok(Incoming::End);
            }
        }
        request.body = self.input[head..head + length].to_vec();
        self.input.drain(..head + length);
        Ok(Incoming::Request(request))
    }

    fn more(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 * 1024];
        let count = self.stream.read(&mut buffer)?;
        self.input.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }
}

/// The request whose head stands at the start, with the lengths of its head and its body; none of half a head.
fn parse(input: &[u8]) -> Result<Option<(Request, usize, usize)>, u16> {
    let mut fields = [httparse::EMPTY_HEADER; 128];
    let mut head = httparse::Request::new(&mut fields);
    let httparse::Status::Complete(used) = head.parse(input).map_err(|_| 400u16)? else { return Ok(None) };
    let (path, query) = head.path.unwrap_or_default().split_once('?').unwrap_or((head.path.unwrap_or_default(), ""));
    let mut request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: Vec::new(),
        close: head.version == Some(0),
    };
    let mut length = 0;
    for field in head.headers.iter() {
        let value = str::from_utf8(field.value).map_err(|_| 400u16)?.trim();
        match field.name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().map_err(|_| 400u16)?,
            "transfer-encoding" => return Err(501),
            "connection" => request.close |= value.to_ascii_lowercase().contains("close"),
            _ => {}
        }
    }
    Ok(Some((request, used, length)))
}

/// What is sent back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    content_type: &'static str,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn ok(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Answer { status: 200, content_type, body: body.into() }
    }

    pub(super) fn error(status: u16) -> Self {
        Answer { status, content_type: TEXT, body: reason(status).into() }
    }

    /// The same under another Content-Type.
    pub(super) fn called(self, content_type: &'static str) -> Self {
        Answer { content_type, ..self }
    }

    pub(super) fn bytes(&self, close: bool) -> Vec<u8> {
        let Answer { status, content_type, body } = self;
        let connection = if close { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{connection}\r\n",
            reason(*status),
            body.len()
        );
        [head.as_bytes(), body].concat()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable: DATA_FILE is not set",
        _ => "Internal Server Error",
    }
}

/// A text with its percent escapes undone; what is not an escape stays.
pub(super) fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let escape = after.get(..2).and_then(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok());
        let (byte, left) = match escape {
            Some(byte) if *first == b'%' => (byte, &after[2..]),
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = left;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_whole_or_not_at_all() {
        let text = "POST /a/b?c=d HTTP/1.1\r\nContent-Length: 3\r\nConnection: Close\r\n\r\nxyz";
        let (request, head, body) = parse(text.as_bytes()).unwrap().unwrap();
        let expected =
            Request { method: "POST".into(), path: "/a/b".into(), query: "c=d".into(), body: Vec::new(), close: true };
        assert_eq!((request, head, body), (expected, text.len() - 3, 3));
        assert_eq!(parse(&text.as_bytes()[..30]), Ok(None));
        assert_eq!(parse(b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), Err(400));
        assert_eq!(parse(b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), Err(501));
    }

    #[test]
    fn escapes_are_undone() {
        for (text, expected) in [("a%20b", "a b"), ("%C3%BC", "ü"), ("100%", "100%"), ("%zz", "%zz"), ("", "")] {
            assert_eq!(unescaped(text), expected);
        }
    }
}
