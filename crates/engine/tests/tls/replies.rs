//! What comes over TLS: every reply, however it is cut, and what must not be taken for one.

use std::io::{Read, Write};

use model::{Extent, Failure, LoadSpec, Mix, ReplyExpectation};
use rustls::version;

use crate::{BODY, Served, answer, load_tls, support::MS};

#[test]
fn every_reply_comes_through_and_what_was_agreed_on_is_told() {
    for (version, name) in [(&version::TLS13, "TLS 1.3"), (&version::TLS12, "TLS 1.2")] {
        let measured = load_tls(&[version], |mut stream| answer(&mut stream, BODY, usize::MAX), |_| {});
        assert_eq!(measured.accounting.ok, 200, "{:?}", measured.failures);
        let tls = measured.tls.unwrap();
        assert_eq!((tls.handshakes, tls.resumed, tls.failed), (4, 0, 0));
        assert_eq!((tls.version.as_deref(), tls.alpn.as_deref()), (Some(name), Some("http/1.1")));
        let latencies = measured.latency_us;
        assert_eq!((latencies.connect.unwrap().count, latencies.handshake.unwrap().count), (4, 4));
    }
}

#[test]
fn replies_in_pieces_long_replies_and_pipelines_come_through() {
    let piecemeal = load_tls(&[&version::TLS13], |mut stream| answer(&mut stream, BODY, 7), |_| {});
    assert_eq!(piecemeal.accounting.ok, 200);

    const LONG: usize = 700_000;
    let long = |mut stream: Served| answer(&mut stream, &"x".repeat(LONG), usize::MAX);
    let measured = load_tls(&[&version::TLS13], long, |spec| {
        spec.extent = Extent::Requests { count: 20, within_ns: None };
        spec.mix = Mix::one(
            spec.mix.requests()[0].request.clone(),
            ReplyExpectation { status: Some(200), body: Some("x".repeat(LONG).into()) },
        );
    });
    assert_eq!(measured.accounting.ok, 20);

    let deep =
        load_tls(&[&version::TLS13], |mut stream| answer(&mut stream, BODY, usize::MAX), |spec| spec.pipeline = 8);
    assert_eq!(deep.accounting.ok, 200);
}

#[test]
fn a_body_larger_than_the_kernel_takes_at_once_is_sent_whole() {
    const LONG: usize = 3_000_000;
    /// Reads slowly at first, so that the client has to wait until it may send on.
    fn count(mut stream: Served) {
        let (mut read, mut buffer, mut head) = (0, vec![0; 16 * 1024], None);
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let end = || buffer[..count].windows(4).position(|four| four == b"\r\n\r\n");
            read += count;
            head = head.or_else(|| end().map(|at| at + 4));
            if head.is_some_and(|head| read == head + LONG) {
                let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len());
                stream.write_all(reply.as_bytes()).and_then(|()| stream.flush()).unwrap();
                (read, head) = (0, None);
            }
        }
    }
    let measured = load_tls(&[&version::TLS13], count, |spec| {
        spec.extent = Extent::Requests { count: 8, within_ns: None };
        let mut request = spec.mix.requests()[0].request.clone();
        (request.method, request.body) = ("POST".into(), vec![b'y'; LONG]);
        spec.mix = Mix::one(request, spec.mix.requests()[0].expect.clone());
    });
    assert_eq!(measured.accounting.ok, 8, "{:?}", measured.failures);
}

/// Answers before the body has come, and closes.
fn answers_early(mut stream: Served) {
    if stream.read(&mut [0; 4096]).is_ok() {
        let reply = b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(reply).and_then(|()| stream.flush()).unwrap();
        stream.conn.send_close_notify();
        stream.flush().ok();
    }
}

#[test]
fn a_reply_before_the_whole_request_is_a_reply_over_tls_too() {
    let measured = load_tls(&[&version::TLS13], answers_early, |spec| {
        spec.extent = Extent::Requests { count: 12, within_ns: None };
        let mut request = spec.mix.requests()[0].request.clone();
        (request.method, request.body) = ("POST".into(), vec![b'y'; 8_000_000]);
        spec.mix = Mix::one(request, ReplyExpectation { status: Some(413), body: None });
    });
    let books = &measured.accounting;
    // What the kernel took is never called unsent, and no request is sent twice for one that was booked.
    assert_eq!((books.scheduled, books.sent), (12, 12), "{books:?}");
    assert_eq!(measured.connections.closed_idle, 0, "{books:?}");
}

#[test]
fn a_stream_that_was_cut_is_no_reply_that_ends_with_its_connection() {
    fn until_close(mut stream: Served, goodbye: bool) {
        if stream.read(&mut [0; 4096]).is_ok() {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n\r\n{BODY}").as_bytes()).unwrap();
            if goodbye {
                stream.conn.send_close_notify();
            }
            stream.flush().ok();
            stream.sock.shutdown(std::net::Shutdown::Write).ok();
            while let Ok(1..) = stream.sock.read(&mut [0; 4096]) {}
        }
    }
    let some = |spec: &mut LoadSpec| spec.extent = Extent::Requests { count: 6, within_ns: None };
    let whole = load_tls(&[&version::TLS13], |stream| until_close(stream, true), some);
    assert_eq!(whole.accounting.ok, 6, "{:?}", whole.accounting);
    let cut = load_tls(&[&version::TLS13], |stream| until_close(stream, false), some);
    assert_eq!((cut.accounting.ok, cut.accounting.failed[&Failure::ClosedInReply]), (0, 6));
}

#[test]
fn what_was_decrypted_before_rubbish_is_a_reply() {
    fn then_rubbish(mut stream: Served) {
        let mut buffer = [0; 4096];
        if stream.read(&mut buffer).is_ok() {
            let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len());
            let mut bytes = Vec::new();
            stream.conn.writer().write_all(reply.as_bytes()).unwrap();
            while stream.conn.wants_write() {
                stream.conn.write_tls(&mut bytes).unwrap();
            }
            bytes.extend_from_slice(&[0x55; 100]);
            stream.sock.write_all(&bytes).unwrap();
            while let Ok(1..) = stream.sock.read(&mut buffer) {}
        }
    }
    let measured = load_tls(&[&version::TLS13], then_rubbish, |spec| spec.extent = Extent::Window(200 * MS));
    assert!(measured.accounting.ok > 0, "{:?}", measured.accounting);
    assert!(measured.tls.unwrap().failed > 0);
}

#[test]
fn rubbish_between_records_is_a_bad_reply() {
    fn then_rubbish(mut stream: Served) {
        let mut buffer = [0; 4096];
        if stream.read(&mut buffer).is_ok() {
            stream.sock.write_all(&[0x55; 100]).unwrap();
            while let Ok(1..) = stream.sock.read(&mut buffer) {}
        }
    }
    let measured = load_tls(&[&version::TLS13], then_rubbish, |spec| spec.extent = Extent::Window(200 * MS));
    assert!(measured.accounting.failed[&Failure::Malformed] > 0, "{:?}", measured.accounting);
    assert_eq!(measured.accounting.ok, 0);
}
