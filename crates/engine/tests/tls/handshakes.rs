//! Handshakes that are resumed, refused, cut, or never end.

use std::io::{Read, Write};
use std::net::TcpStream;

use model::{Extent, NotSent, TlsFault};
use rustls::version;

use crate::{BODY, Served, certificate, load, load_tls, spec, support::MS};

#[test]
fn a_session_is_resumed_only_where_that_was_asked_for() {
    fn one_each(mut stream: Served) {
        let mut buffer = [0; 4096];
        if stream.read(&mut buffer).is_ok() {
            let reply = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len());
            stream.write_all(reply.as_bytes()).and_then(|()| stream.flush()).unwrap();
            stream.conn.send_close_notify();
            stream.flush().ok();
            while let Ok(1..) = stream.read(&mut buffer) {}
        }
    }
    // A burst of connections finds a ticket for each.
    let burst = load_tls(&[&version::TLS13], one_each, |spec| {
        (spec.keep_alive, spec.connections) = (false, 32);
        spec.extent = Extent::Requests { count: 320, within_ns: None };
        spec.tls.as_mut().unwrap().resumption = true;
    });
    let tls = burst.tls.unwrap();
    assert!(tls.handshakes == 320 && tls.resumed >= 288, "{tls:?}");
    for resumption in [false, true] {
        let measured = load_tls(&[&version::TLS13], one_each, |spec| {
            spec.keep_alive = false;
            spec.connections = 1;
            spec.extent = Extent::Requests { count: 20, within_ns: None };
            spec.tls.as_mut().unwrap().resumption = resumption;
        });
        assert_eq!(measured.accounting.ok, 20, "{:?}", measured.failures);
        let tls = measured.tls.unwrap();
        assert_eq!((tls.handshakes, tls.resumed), (20, if resumption { 19 } else { 0 }));
        assert_eq!(measured.latency_us.handshake.unwrap().count, 20);
    }
}

#[test]
fn whoever_does_not_speak_tls_fails_the_handshake_and_nothing_hangs() {
    let certified = certificate();
    let requests = Extent::Requests { count: 3, within_ns: None };
    let spec = |address| spec(address, &certified).with(|it| it.extent = requests);
    let plain = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    };
    let closes = |mut stream: TcpStream| drop(stream.read(&mut [0; 4096]));
    for (serve, fault) in [(plain as fn(TcpStream), Some(TlsFault::NotTls)), (closes, None)] {
        let measured = load(serve, spec);
        assert!(measured.accounting.not_sent[&NotSent::HandshakeFailed] > 0, "{:?}", measured.failures);
        let tls = measured.tls.unwrap();
        assert_eq!((tls.first_failure.is_some(), tls.first_fault), (true, fault));
    }
}

#[test]
fn a_handshake_that_never_ends_is_given_up_when_a_request_would_be() {
    let certified = certificate();
    let silent = |mut stream: TcpStream| while let Ok(1..) = stream.read(&mut [0; 4096]) {};
    let extent = Extent::Requests { count: 3, within_ns: None };
    let measured = load(silent, |address| {
        spec(address, &certified).with(|it| {
            it.extent = extent;
            it.timeout_ns = Some(50 * MS);
        })
    });
    assert_eq!((measured.accounting.not_sent[&NotSent::HandshakeFailed], measured.connections.opened), (3, 0));
    let tls = measured.tls.unwrap();
    assert!(tls.first_failure.unwrap().contains("in time"));
    assert_eq!(tls.first_fault, Some(TlsFault::Unanswered));
}

#[test]
fn what_comes_with_the_connection_is_looked_at() {
    let certified = certificate();
    let extent = Extent::Requests { count: 3, within_ns: None };
    let greets = |mut stream: TcpStream| {
        stream.write_all(b"220 hello\r\n").ok();
        while let Ok(1..) = stream.read(&mut [0; 4096]) {}
    };
    let measured = load(greets, |address| spec(address, &certified).with(|it| it.extent = extent));
    assert_eq!(measured.accounting.not_sent[&NotSent::HandshakeFailed], 3);
}

#[test]
fn a_reset_in_the_handshake_is_its_failure() {
    let certified = certificate();
    let extent = Extent::Requests { count: 3, within_ns: None };
    // A socket that is closed with unread bytes resets its connection.
    let resets = |stream: TcpStream| {
        let mut one = [0; 1];
        while matches!(stream.peek(&mut one), Ok(0)) {}
    };
    let measured = load(resets, |address| spec(address, &certified).with(|it| it.extent = extent));
    assert_eq!(measured.accounting.not_sent[&NotSent::HandshakeFailed], 3, "{:?}", measured.failures);
    assert!(measured.tls.unwrap().first_failure.unwrap().contains("in the handshake"));
}
