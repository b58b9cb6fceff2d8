use super::*;
use proptest::prelude::*;

fn expecting(body: &str) -> ReplyExpectation {
    ReplyExpectation { status: Some(200), body: Some(body.as_bytes().to_vec()) }
}

/// Feeds `parts` to one reader; gives all replies, whether it was malformed, and whether one is unfinished.
fn feed(parts: &[&[u8]], expect: &ReplyExpectation, head_only: bool) -> (Vec<Reply>, bool, bool) {
    let (mut reader, mut cache, mut replies) = (ReplyReader::default(), HeadCache::default(), Vec::new());
    for part in parts {
        let mut input = *part;
        loop {
            match reader.advance(&mut input, expect, head_only, &mut cache) {
                Advance::Complete(reply) => replies.push(reply),
                Advance::Malformed => return (replies, true, false),
                Advance::NeedMore => break,
            }
        }
    }
    let malformed = match reader.end(expect) {
        Advance::Complete(reply) => {
            replies.push(reply);
            false
        }
        end => end == Advance::Malformed,
    };
    (replies, malformed, !malformed && reader.begun())
}

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 11\r\n\r\nHello world";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\
    6;ext=\"a\"\r\nHello \r\n005\r\nworld\r\n0\r\nTrailer: x\r\n\r\n";
const CONTINUED: &[u8] =
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHello world";
const UNTIL_CLOSE: &[u8] = b"HTTP/1.0 200 OK\r\n\r\nHello world";

#[test]
fn every_framing_gives_the_same_reply_torn_at_every_byte() {
    for (text, keep_alive) in [(HELLO, true), (CHUNKED, true), (CONTINUED, true), (UNTIL_CLOSE, false)] {
        let whole = feed(&[text], &expecting("Hello world"), false);
        let reply = whole.0[0];
        assert!(reply.status_ok && reply.body_ok && reply.keep_alive == keep_alive, "{reply:?}");
        assert_eq!(reply.bytes, text.len() as u64);
        for at in 0..=text.len() {
            assert_eq!(feed(&[&text[..at], &text[at..]], &expecting("Hello world"), false), whole, "torn at {at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(feed(&bytes, &expecting("Hello world"), false), whole);
    }
}

#[test]
fn two_replies_in_one_read_are_two_replies() {
    let both = [HELLO, CHUNKED, HELLO].concat();
    let (replies, malformed, unfinished) = feed(&[&both], &expecting("Hello world"), false);
    assert_eq!((replies.len(), malformed, unfinished), (3, false, false));
    assert!(replies.iter().all(|reply| reply.body_ok));
}

#[test]
fn wrong_bodies_are_seen() {
    for body in ["Hello worle", "Hello worl", "Hello world!", "", "jello world"] {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let (replies, ..) = feed(&[text.as_bytes()], &expecting("Hello world"), false);
        assert!(replies[0].status_ok && !replies[0].body_ok, "{body}");
    }
}

#[test]
fn replies_without_a_body_end_with_their_head() {
    for status in ["204 No Content", "304 Not Modified"] {
        let text = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n");
        let (replies, _, unfinished) = feed(&[text.as_bytes()], &ReplyExpectation::default(), false);
        assert_eq!((replies.len(), unfinished), (1, false), "{status}");
    }
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    assert_eq!(feed(&[head], &ReplyExpectation::default(), true).0.len(), 1);
    assert_eq!(feed(&[head], &ReplyExpectation::default(), false).0.len(), 0);
}

/// RFC 9112 §6.3: a reply that has no body ends with its head, and needs no length to keep its connection.
#[test]
fn a_reply_without_a_body_needs_no_length_to_keep_its_connection() {
    let any = ReplyExpectation::default();
    for (text, head_only) in [
        ("HTTP/1.1 204 No Content\r\n\r\n", false),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true),
    ] {
        for at in 0..text.len() {
            let (replies, ..) = feed(&[&text.as_bytes()[..at], &text.as_bytes()[at..]], &any, head_only);
            assert!(replies.len() == 1 && replies[0].keep_alive, "{text:?} torn at {at}: {replies:?}");
        }
    }
    let closing = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    assert!(!feed(&[closing.as_bytes()], &any, false).0[0].keep_alive);
}

#[test]
fn what_is_no_reply_is_malformed() {
    let long_head = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "a".repeat(MAX_HEAD_BYTES));
    let long_size = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;{}", "a".repeat(5000));
    for text in [
        "HTTP/9.9 banana\r\n\r\n",
        "hello\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHello",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nHello",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nHello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
        long_head.as_str(),
        long_size.as_str(),
    ] {
        assert!(feed(&[text.as_bytes()], &ReplyExpectation::default(), false).1, "{:.60}", text);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(700).collect();
        assert!(feed(&bytes, &ReplyExpectation::default(), false).1, "torn {:.60}", text);
    }
}

#[test]
fn garbage_that_ends_with_its_connection_is_malformed_however_it_was_torn() {
    let garbage = b"\r\0garbage without a line's end";
    for at in 0..=garbage.len() {
        assert!(feed(&[&garbage[..at], &garbage[at..]], &ReplyExpectation::default(), false).1, "torn at {at}");
    }
}

#[test]
fn a_head_of_just_under_the_limit_is_read() {
    let text = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: {}\r\n\r\n", "a".repeat(MAX_HEAD_BYTES - 45));
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1000).collect();
    assert_eq!(feed(&bytes, &ReplyExpectation::default(), false).0.len(), 1);
}

proptest! {
    #[test]
    fn garbage_never_panics_and_memory_is_bounded(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20)) {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        feed(&parts, &expecting("Hello world"), false);
    }

    #[test]
    fn a_mutated_reply_never_panics(at in 0usize..150, byte: u8, cut in 0usize..150) {
        let mut text = CHUNKED.to_vec();
        let at = at % text.len();
        text[at] = byte;
        let cut = cut % text.len();
        let whole = feed(&[&text], &expecting("Hello world"), false);
        prop_assert_eq!(feed(&[&text[..cut], &text[cut..]], &expecting("Hello world"), false), whole);
    }
}
