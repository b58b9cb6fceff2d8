//! Servers that would keep a careless client busy for ever: the load ends on time with its books balanced.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{RunOptions, run};
use model::{Arrivals, Failure, LoadModel, LoadSpec, Measurement, Mix, NotSent, ReplyExpectation};
use support::{MS, request};

fn spec(address: SocketAddr) -> LoadSpec {
    support::spec(LoadModel::Closed, 3, 200 * MS).with(|it| {
        it.address = address;
        it.mix = Mix::one(request("GET", "/", b""), ReplyExpectation::default());
    })
}

/// Answers each connection on a thread of its own with `serve`, and loads that.
fn load(serve: fn(TcpStream), change: impl FnOnce(&mut LoadSpec)) -> Measurement {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = spec(listener.local_addr().unwrap());
    change(&mut spec);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || serve(stream));
        }
    });
    let measured = run(&spec, RunOptions::default(), &AtomicBool::new(false), &mut |_| {}).unwrap().measurement;
    assert_eq!(measured.accounting.imbalance(), None);
    measured
}

#[test]
fn a_body_without_end_does_not_hold_up_the_end_of_the_load() {
    fn endless(mut stream: TcpStream) {
        let _ = stream.read(&mut [0; 1024]);
        let mut ok = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").is_ok();
        while ok {
            ok = stream.write_all(&[b'x'; 64 * 1024]).is_ok();
        }
    }
    let measured = load(endless, |_| {});
    assert_eq!(measured.accounting.in_flight_at_end, 3, "{:?}", measured.accounting);
}

#[test]
fn a_server_that_says_nothing_leaves_its_requests_in_flight() {
    fn silent(mut stream: TcpStream) {
        while !matches!(stream.read(&mut [0; 1024]), Ok(0) | Err(_)) {}
    }
    let measured = load(silent, |_| {});
    assert_eq!((measured.accounting.sent, measured.accounting.in_flight_at_end), (3, 3));
    assert_eq!(measured.connections.never_served, 3);
}

#[test]
fn a_server_that_closes_at_once_is_backed_off_from() {
    let measured = load(drop, |_| {});
    let books = &measured.accounting;
    assert_eq!(books.completed, 0);
    assert!(measured.connections.opened < 100, "pauses of 10 ms: {:?}", measured.connections);
}

#[test]
fn a_server_that_resets_everything_is_in_the_books() {
    fn resets(stream: TcpStream) {
        // Closing with a linger of nothing sends a reset.
        rustix::net::sockopt::set_socket_linger(&stream, Some(std::time::Duration::ZERO)).unwrap();
        let _ = stream.peek(&mut [0]);
    }
    let measured = load(resets, |_| {});
    let books = &measured.accounting;
    assert!(books.failed[&Failure::ResetBeforeReply] > 0 && books.completed == 0, "{books:?}");
}

#[test]
fn a_reply_that_drips_holds_nothing_up() {
    fn drips(mut stream: TcpStream) {
        let _ = stream.read(&mut [0; 1024]);
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n".iter().chain(std::iter::repeat(&b'x'));
        stream.set_nodelay(true).unwrap();
        for byte in reply {
            if stream.write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::yield_now();
        }
    }
    let measured = load(drips, |_| {});
    assert_eq!((measured.accounting.sent, measured.accounting.completed), (3, 0), "{:?}", measured.accounting);
}

#[test]
fn a_server_that_vanishes_leaves_refusals() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = spec(listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut streams: Vec<TcpStream> = (0..3).map(|_| listener.accept().unwrap().0).collect();
        for stream in &mut streams {
            let _ = stream.read(&mut [0; 1024]);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
        // With its socket gone every further attempt to connect is refused.
    });
    let measured = run(&spec, RunOptions::default(), &AtomicBool::new(false), &mut |_| {}).unwrap().measurement;
    server.join().unwrap();
    let books = &measured.accounting;
    assert_eq!((books.imbalance(), books.ok), (None, 3), "{books:?}");
    assert!(books.not_sent[&NotSent::Refused] > 0, "{books:?}");
}

#[test]
fn a_reply_that_nobody_asked_for_ends_its_connection() {
    fn eager(mut stream: TcpStream) {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(&b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".repeat(2));
        let _ = stream.read(&mut [0; 1024]);
    }
    let measured = load(eager, |_| {});
    assert!(measured.connections.unasked_replies > 0, "{:?}", measured.connections);
    assert!(measured.accounting.ok > 0);
}

#[test]
fn a_reply_before_the_whole_request_is_a_reply() {
    fn too_large(mut stream: TcpStream) {
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    }
    let measured = load(too_large, |spec| {
        let mut one = spec.mix.first().clone();
        one.request.method = "POST".into();
        one.request.body = vec![b'x'; 20_000_000];
        spec.mix = Mix::one(one.request, one.expect);
    });
    let books = &measured.accounting;
    assert!(books.bad_status > 10 * books.failed_total(), "{books:?}");
}

#[test]
fn a_time_out_ends_no_request_before_its_time() {
    fn prompt(mut stream: TcpStream) {
        let mut buffer = [0; 1024];
        while stream.read(&mut buffer).is_ok_and(|count| count > 0) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    }
    let measured = load(prompt, |spec| {
        spec.model = LoadModel::Open { rate_per_s: 2000.0, arrivals: Arrivals::Constant };
        spec.timeout_ns = Some(60_000 * MS);
    });
    assert_eq!(measured.accounting.failed_total(), 0, "{:?}", measured.accounting);
    assert_eq!(measured.connections.opened, 3);
}

#[test]
fn stopping_during_the_warm_up_does_not_wait_for_the_window() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = spec(listener.local_addr().unwrap()).with(|it| it.warm_up_ns = 3_600_000 * MS);
    let stop = AtomicBool::new(false);
    let measured = std::thread::scope(|scope| {
        let loaded = scope.spawn(|| run(&spec, RunOptions::default(), &stop, &mut |_| {}).unwrap().measurement);
        // The first request has come: the load is under way.
        let mut accepted = listener.accept().unwrap().0;
        let _ = accepted.read(&mut [0; 1024]);
        stop.store(true, Ordering::Relaxed);
        loaded.join().unwrap()
    });
    assert!(measured.interrupted);
    assert_eq!(measured.accounting.scheduled, 0, "nothing of the warm-up counts");
}

#[test]
fn stopping_while_the_last_replies_are_awaited_cuts_no_window() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let spec = spec(listener.local_addr().unwrap());
    let stop = AtomicBool::new(false);
    let measured = std::thread::scope(|scope| {
        let loaded = scope.spawn(|| run(&spec, RunOptions::default(), &stop, &mut |_| {}).unwrap().measurement);
        let mut accepted = listener.accept().unwrap().0;
        let _ = accepted.read(&mut [0; 1024]);
        // The window of 200 ms began before its first request, and nobody replies.
        std::thread::sleep(std::time::Duration::from_millis(300));
        stop.store(true, Ordering::Relaxed);
        loaded.join().unwrap()
    });
    assert!(!measured.interrupted && measured.window_s >= 0.2, "{measured:?}");
    assert_eq!(measured.accounting.in_flight_at_end, 3);
}
