//! The replies, made once so that answering is a copy.

use crate::request::Page;

/// The head of [`Action::MalformedHead`](crate::Action::MalformedHead).
pub(crate) const MALFORMED: &[u8] = b"HTTP/9.9 banana\r\n\r\n";

const TEXT: &str = "text/plain";

/// One reply, ready to be sent.
pub(crate) struct Reply {
    bytes: Vec<u8>,
    head: usize,
}

impl Reply {
    fn new(status: &str, content_type: &str, body: &str, close: bool) -> Self {
        let connection = if close { "Connection: close\r\n" } else { "" };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nServer: specimen\r\nContent-Type: {content_type}\r\n\
             Content-Length: {length}\r\n{connection}\r\n"
        );
        Reply { head: head.len(), bytes: [head.as_bytes(), body.as_bytes()].concat() }
    }

    /// Head and body.
    pub(crate) fn whole(&self) -> &[u8] {
        &self.bytes
    }

    /// Head and body, each by itself.
    pub(crate) fn pieces(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(self.head)
    }

    /// The first half of the head.
    pub(crate) fn half_head(&self) -> &[u8] {
        &self.bytes[..self.head / 2]
    }

    /// The head and the first half of the body.
    pub(crate) fn half_body(&self) -> &[u8] {
        &self.bytes[..self.head + (self.bytes.len() - self.head) / 2]
    }
}

/// The same reply for a connection that stays open and for one that is closed after it.
struct Pair([Reply; 2]);

impl Pair {
    fn new(status: &str, content_type: &str, body: &str) -> Self {
        Pair([false, true].map(|close| Reply::new(status, content_type, body, close)))
    }

    /// A 204 without a length, and bytes behind it.
    fn no_content(behind: &str) -> Self {
        Pair([false, true].map(|close| {
            let connection = if close { "Connection: close\r\n" } else { "" };
            let head = format!("HTTP/1.1 204 No Content\r\nServer: specimen\r\n{connection}\r\n");
            Reply { head: head.len(), bytes: [head.as_bytes(), behind.as_bytes()].concat() }
        }))
    }

    fn get(&self, close: bool) -> &Reply {
        &self.0[usize::from(close)]
    }
}

/// Every reply a specimen can give.
pub(crate) struct Replies {
    proper: [Pair; Page::ALL.len()],
    wrong: [Pair; Page::ALL.len()],
    unavailable: Pair,
    no_content: Pair,
    body_after_no_content: Pair,
}

impl Replies {
    pub(crate) fn new() -> Self {
        Replies {
            proper: Page::ALL.map(|page| {
                let (status, content_type, body) = content(page);
                Pair::new(status, content_type, body)
            }),
            wrong: Page::ALL.map(|page| {
                let (status, content_type, body) = content(page);
                Pair::new(status, content_type, &"x".repeat(body.len()))
            }),
            unavailable: Pair::new("503 Service Unavailable", TEXT, "Service Unavailable\n"),
            no_content: Pair::no_content(""),
            body_after_no_content: Pair::no_content("Hello world"),
        }
    }

    /// The right answer.
    pub(crate) fn proper(&self, page: Page, close: bool) -> &Reply {
        self.proper[page as usize].get(close)
    }

    /// The right answer with another body of the same length.
    pub(crate) fn wrong(&self, page: Page, close: bool) -> &Reply {
        self.wrong[page as usize].get(close)
    }

    /// The 204.
    pub(crate) fn no_content(&self, close: bool) -> &Reply {
        self.no_content.get(close)
    }

    /// The 204 with a body behind it.
    pub(crate) fn body_after_no_content(&self, close: bool) -> &Reply {
        self.body_after_no_content.get(close)
    }

    /// The 503.
    pub(crate) fn unavailable(&self, close: bool) -> &Reply {
        self.unavailable.get(close)
    }
}

/// Status, content type and body of a page.
fn content(page: Page) -> (&'static str, &'static str, &'static str) {
    match page {
        Page::Hello => ("200 OK", TEXT, "Hello world"),
        Page::Welcome => ("200 OK", TEXT, "Welcome!\n"),
        Page::Missing => ("404 Not Found", TEXT, "Not Found\n"),
        Page::Ping => ("200 OK", "application/json", r#"{"message":"pong"}"#),
        Page::Malformed => ("400 Bad Request", TEXT, ""),
        Page::TooLarge => ("431 Request Header Fields Too Large", TEXT, ""),
        Page::Unsupported => ("501 Not Implemented", TEXT, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reply_is_fixed_to_the_byte() {
        let head = "HTTP/1.1 200 OK\r\nServer: specimen\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\n";
        let replies = Replies::new();
        let hello = replies.proper(Page::Hello, false);
        assert_eq!(hello.whole(), format!("{head}Hello world").as_bytes());
        assert_eq!(hello.half_body(), format!("{head}Hello").as_bytes());
        assert_eq!(hello.half_head(), &head.as_bytes()[..head.len() / 2]);
        assert_eq!(replies.wrong(Page::Hello, false).whole(), format!("{head}xxxxxxxxxxx").as_bytes());
    }

    #[test]
    fn a_closing_reply_says_so() {
        let replies = Replies::new();
        assert!(replies.proper(Page::Ping, true).whole().windows(17).any(|bytes| bytes == b"Connection: close"));
    }
}
