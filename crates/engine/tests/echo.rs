//! A protocol that is not HTTP through the same loop, in virtual time and over real sockets: several requests in flight on
//! a connection, whose replies come in any order.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine::RunOptions;
use engine::simulation::echo::{self, GREETING, HEAD_BYTES, Kind, frame};
use engine::simulation::{Act, Language, Script, SimulatedServer, follow};
use model::{Extent, Failure, LoadModel, LoadSpec, Measurement, Mix, ReplyExpectation, Tls, Trust, WeightedRequest};
use proptest::prelude::*;
use support::{MS, checked, measure, open, request};

fn ask(body: &[u8]) -> WeightedRequest {
    let expect = ReplyExpectation { status: Some(200), body: Some(body.to_vec()) };
    WeightedRequest { request: request("POST", "/", body), expect, weight: 1.0 }
}

/// A load of requests that ask for what they send.
fn spec(model: LoadModel, connections: u32, pipeline: u16) -> LoadSpec {
    support::spec(model, connections, 1000 * MS).with(|it| {
        it.mix = Mix::of(vec![ask(b"one"), ask(b""), ask(&[b'x'; 3000])]).unwrap();
        it.pipeline = pipeline;
    })
}

/// One that says what it was sent, after a millisecond.
fn server() -> SimulatedServer {
    let replies = vec![b"one".to_vec(), Vec::new(), vec![b'x'; 3000]];
    SimulatedServer { language: Language::Echo, replies, ..SimulatedServer::new(MS, "") }
}

fn tls() -> Tls {
    Tls { server_name: "x".into(), trust: Trust::Anyone, resumption: false }
}

#[test]
fn who_is_slow_holds_nobody_up() {
    // Every tenth request takes ten times as long. Eight at a time, of which no other waits for it.
    let slow = Some((10, 9 * MS));
    for tls in [None, Some(tls())] {
        let with = spec(LoadModel::Closed, 1, 8).with(|it| it.tls = tls);
        let measured = measure(&with, SimulatedServer { slow, ..server() });
        let (books, service) = (&measured.accounting, measured.latency_us.service.unwrap());
        assert_eq!(books.completed, books.ok);
        assert!((service.p50.unwrap() - 1000.0).abs() < 10.0, "{service:?}");
        assert!((service.p95.unwrap() - 10_000.0).abs() < 100.0, "{service:?}");
        // Little: 8 at once, of 1.9 ms on average.
        assert!((books.completed as f64 / (8.0 / 0.0019) - 1.0).abs() < 0.02, "{books:?}");
        assert!(measured.by_request.iter().all(|one| one.completed > 0 && one.wrong == 0), "{:?}", measured.by_request);
    }
}

#[test]
fn an_open_load_keeps_its_times_whatever_order_replies_have() {
    let measured = measure(&spec(open(2000.0), 2, 16), SimulatedServer { slow: Some((7, 3 * MS)), ..server() });
    let books = &measured.accounting;
    assert_eq!((books.scheduled, books.ok, books.sent_late.len()), (2000, 2000, 0), "{books:?}");
    assert!((measured.latency_us.response.unwrap().p50.unwrap() - 1000.0).abs() < 10.0);
}

#[test]
fn the_peer_says_how_many_requests_it_takes_and_is_answered_when_it_asks() {
    let says_first = [frame(Kind::Limit, 2, b""), frame(Kind::Ping, 7, b"")].concat();
    let measured = measure(&spec(LoadModel::Closed, 3, 8), SimulatedServer { says_first, ..server() });
    // Two at a time on each of three connections, a millisecond each.
    let completed = measured.accounting.completed;
    assert!((5950..=6018).contains(&completed), "{completed}");
}

#[test]
fn a_connection_for_each_request_greets_each_time() {
    let measured = measure(&spec(LoadModel::Closed, 2, 1).with(|it| it.keep_alive = false), server());
    let books = &measured.accounting;
    assert!(books.ok > 1000 && books.ok + 4 >= measured.connections.opened, "{books:?}, {:?}", measured.connections);
}

#[test]
fn a_request_that_the_peer_drops_fails_alone() {
    let extent = Extent::Requests { count: 4, within_ns: Some(100 * MS) };
    let with = spec(LoadModel::Closed, 1, 4).with(|it| {
        it.extent = extent;
        it.mix = Mix::of(vec![ask(b"one")]).unwrap();
    });
    let half = frame(Kind::Answer, 3, b"one");
    let acts = vec![
        Act::Pass(MS),
        Act::Bytes(0, frame(Kind::Answer, 2, b"one")),
        Act::Bytes(0, frame(Kind::Drop, 1, b"")),
        Act::Bytes(0, half[..10].to_vec()),
        Act::Pass(MS),
        Act::Bytes(0, half[10..].to_vec()),
        Act::Bytes(0, frame(Kind::Answer, 0, b"two")),
    ];
    let script = Script { acts, language: Language::Echo, ..Script::default() };
    let measured = follow(&with, script).unwrap().0.measurement;
    let books = &measured.accounting;
    assert_eq!((books.ok, books.bad_body, books.failed.get(&Failure::ResetBeforeReply)), (2, 1, Some(&1)), "{books:?}");
    assert_eq!(measured.connections.opened, 1);
    let wrong = measured.first_wrong.unwrap();
    assert_eq!((wrong.body.unwrap().text, wrong.expected_body.unwrap().text), ("two".to_owned(), "one".to_owned()));
    // Its first byte came a millisecond before its last.
    assert!((measured.latency_us.first_byte.unwrap().max.unwrap() - 2000.0).abs() < 10.0);
}

#[test]
fn what_nobody_asked_for_ends_the_connection() {
    for stranger in [frame(Kind::Answer, 9, b""), frame(Kind::Drop, 9, b""), vec![0; 9], vec![0xff; 9]] {
        let acts = vec![Act::Pass(MS), Act::Bytes(0, stranger.clone()), Act::Pass(MS)];
        let with = spec(LoadModel::Closed, 1, 2).with(|it| it.extent = Extent::Window(100 * MS));
        let script = Script { acts, language: Language::Echo, ..Script::default() };
        let measured = checked(follow(&with, script).unwrap().0.measurement);
        assert_eq!(measured.accounting.failed[&Failure::Malformed], 2, "{stranger:?}");
    }
}

#[test]
fn pings_without_end_grow_nothing() {
    let pings = frame(Kind::Ping, 1, b"").repeat(10_000);
    let acts = vec![Act::Pass(MS), Act::Bytes(0, pings), Act::Pass(MS)];
    let with = spec(LoadModel::Closed, 1, 1).with(|it| it.extent = Extent::Window(100 * MS));
    let script = Script { acts, sends: vec![0], language: Language::Echo, ..Script::default() };
    let measured = checked(follow(&with, script).unwrap().0.measurement);
    assert_eq!(measured.first_wrong.map(|wrong| wrong.status), Some(None), "that is not the protocol");
}

/// A load of the shortest request for a tenth of a second, over a peer that does this.
fn over(with: LoadSpec, acts: Vec<Act>) -> Measurement {
    let with = with.with(|it| {
        it.extent = Extent::Window(100 * MS);
        it.mix = Mix::of(vec![ask(b"one")]).unwrap();
    });
    checked(follow(&with, Script { acts, language: Language::Echo, ..Script::default() }).unwrap().0.measurement)
}

#[test]
fn a_peer_that_takes_its_leave_answers_what_is_in_flight_and_is_asked_nothing_more_on_that_connection() {
    let leave = || Act::Bytes(0, frame(Kind::Leave, 0, b""));
    let answer = |number| Act::Bytes(0, frame(Kind::Answer, number, b"one"));
    let pass = || Act::Pass(MS);
    let acts = vec![pass(), answer(0), pass(), leave(), pass(), answer(2), pass(), answer(1), pass()];
    let measured = over(spec(LoadModel::Closed, 1, 2), acts.clone());
    let (books, connections) = (&measured.accounting, &measured.connections);
    // Two at a time, and one more in the first one's place; what is in flight at the end was sent on the second connection.
    assert_eq!((books.sent, books.ok, books.in_flight_at_end, books.failed.len()), (5, 3, 2, 0), "{books:?}");
    assert_eq!((connections.opened, connections.closed_by_reply, connections.closed_idle), (2, 1, 0));
    let unanswered = over(spec(LoadModel::Closed, 1, 2), [&acts[..4], &[pass(), Act::Close(0)]].concat());
    assert_eq!(unanswered.accounting.failed.values().sum::<u64>(), 2, "{:?}", unanswered.accounting);
}

#[test]
fn a_connection_that_idles_when_its_peer_takes_its_leave_is_replaced_and_no_request_fails() {
    // One each 50 ms; the peer leaves between the first two and never closes the connection.
    let acts = vec![
        Act::Pass(MS),
        Act::Bytes(0, frame(Kind::Answer, 0, b"one")),
        Act::Pass(MS),
        Act::Bytes(0, frame(Kind::Leave, 0, b"")),
        Act::Pass(60 * MS),
        Act::Bytes(0, frame(Kind::Answer, 0, b"one")),
    ];
    let measured = over(spec(open(20.0), 1, 4), acts);
    let (books, connections) = (&measured.accounting, &measured.connections);
    assert_eq!((books.scheduled, books.ok, books.failed.len()), (2, 2, 0), "{books:?}");
    assert_eq!((connections.opened, connections.closed_by_reply, connections.closed_idle), (2, 1, 0));
}

#[test]
fn who_takes_leave_of_each_connection_and_serves_nothing_is_asked_for_others_ever_more_seldom() {
    let opened = |model, says_first: Vec<u8>| {
        measure(&spec(model, 1, 2), SimulatedServer { says_first, ..server() }).connections.opened
    };
    let leave = frame(Kind::Leave, 0, b"");
    // Two requests are on their way when it is heard. Pauses of 10, 20, … 640 ms.
    let dropped = [leave.clone(), frame(Kind::Drop, 0, b""), frame(Kind::Drop, 1, b"")].concat();
    assert_eq!(opened(LoadModel::Closed, dropped), 7);
    // Nothing is in flight yet, and a request that is due waits for the shortest pause at most.
    assert!((2..=100).contains(&opened(open(200.0), leave.clone())));
    assert!(opened(LoadModel::Closed, leave) > 500, "this one serves two on each");
}

/// Frames whole and cut, of numbers that may be in flight.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    use Kind::{Answer, Ask, Drop, Leave, Limit, Ping};
    let kind = prop::sample::select(vec![Answer, Answer, Answer, Answer, Drop, Leave, Limit, Ping, Ask]);
    let body = prop::sample::select(vec![b"one".to_vec(), Vec::new(), vec![b'x'; 3000], b"else".to_vec()]);
    let whole = (kind, 0u32..12, body).prop_map(|(kind, number, body)| frame(kind, number, &body));
    prop_oneof![
        6 => whole.clone(),
        2 => (whole, any::<prop::sample::Index>()).prop_map(|(bytes, at)| bytes[..at.index(bytes.len())].to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_a_peer_does_the_load_ends_on_time_and_its_books_balance(
        acts in prop::collection::vec(prop_oneof![
            8 => (0u32..4, pieces()).prop_map(|(slot, bytes)| Act::Bytes(slot, bytes)),
            4 => (0u64..30).prop_map(|ms| Act::Pass(ms * MS)),
            1 => (0u32..4).prop_map(Act::Close),
            1 => (0u32..4).prop_map(Act::Reset),
            2 => (0u32..4).prop_map(Act::Drain),
        ], 0..60),
        sends in prop::collection::vec(prop::sample::select(vec![usize::MAX, 0, 1, 5, 37, 1000]), 0..5),
        rate in prop::option::of(1.0f64..2000.0),
        (connections, pipeline) in (1u32..5, 1u16..9),
        keep_alive: bool,
        timeout_ms in prop::option::of(1u64..60),
        behind_tls: bool,
    ) {
        let with = spec(rate.map_or(LoadModel::Closed, open), connections, if keep_alive { pipeline } else { 1 }).with(|it| {
            it.extent = Extent::Window(100 * MS);
            it.keep_alive = keep_alive;
            it.timeout_ns = timeout_ms.map(|ms| ms * MS);
            it.tls = behind_tls.then(tls);
        });
        let script = Script { acts, sends, behind_tls, language: Language::Echo, ..Script::default() };
        let (output, over_ns) = follow(&with, script).unwrap();
        prop_assert_eq!(over_ns, 0);
        checked(output.measurement);
    }
}

/// Reads frames as they come and answers those that came together in the opposite order.
fn answer_backwards(mut stream: TcpStream, most: &AtomicUsize) {
    let (mut held, mut buffer) = (Vec::new(), [0; 64 * 1024]);
    stream.set_nodelay(true).unwrap();
    let mut greeting = [0; GREETING.len()];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(greeting, GREETING);
    let hello = [frame(Kind::Ping, 3, b"are you there?"), frame(Kind::Limit, 8, b"")].concat();
    stream.write_all(&hello).unwrap();
    loop {
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => held.extend_from_slice(&buffer[..count]),
            _ => return,
        }
        let mut asked = Vec::new();
        while let Some(head) = held.first_chunk::<HEAD_BYTES>() {
            let (kind, number, payload) = echo::head(head).unwrap();
            let Some(whole) = held.get(HEAD_BYTES..HEAD_BYTES + payload) else { break };
            if kind == Kind::Ask {
                asked.push(frame(Kind::Answer, number, whole));
            }
            held.drain(..HEAD_BYTES + payload);
        }
        most.fetch_max(asked.len(), Ordering::Relaxed);
        asked.reverse();
        if stream.write_all(&asked.concat()).is_err() {
            return;
        }
    }
}

#[test]
fn real_sockets_carry_it_as_well() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let seen = seen.clone();
            std::thread::spawn(move || answer_backwards(stream, &seen));
        }
    });
    for model in [LoadModel::Closed, open(2000.0)] {
        let with = spec(model, 4, 8).with(|it| {
            it.address = address;
            it.threads = 2;
            it.extent = Extent::Requests { count: 1000, within_ns: None };
        });
        let stop = std::sync::atomic::AtomicBool::new(false);
        let measured: Measurement =
            checked(echo::run(&with, RunOptions::default(), &stop, &mut |_| {}).unwrap().measurement);
        assert_eq!((measured.accounting.ok, measured.connections.opened), (1000, 4), "{:?}", measured.accounting);
    }
    assert!(most.load(Ordering::Relaxed) > 1, "some came together, and were answered backwards");
}
