//! The whole loop against a peer that may do anything, in virtual time: whatever comes, the load ends on time with its
//! books balanced. `fuzz/` looks further with the same means.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use engine::simulation::{Act, Connecting, Script, follow};
use model::{
    Arrivals, Extent, HeadLimit, LoadModel, LoadSpec, Measurement, Mix, NotSent, ReplyExpectation, Side, Tls, Trust,
    WeightedRequest,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use rustix::io::Errno;
use support::{MS, request};

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nHello world";

/// Replies and parts of replies, some of which follow each other.
const TEXTS: [&[u8]; 10] = [
    HELLO,
    b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"6;ext=\"a\"\r\nHello \r\n",
    b"5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nHello world",
    b"HTTP/1.1 200 O",
    b"\r\0garbage",
];

fn spec(model: LoadModel, connections: u32) -> LoadSpec {
    support::spec(model, connections, 100 * MS)
}

/// A short GET, a HEAD and a POST, of which the GET expects the reply that scripts give.
fn mix() -> Mix {
    let one = |request, body: Option<&[u8]>| WeightedRequest {
        request,
        expect: ReplyExpectation { status: Some(200), body: body.map(<[u8]>::to_vec) },
        weight: 1.0,
    };
    let all = vec![
        one(request("GET", "/", b""), Some(b"Hello world")),
        one(request("HEAD", "/a/longer/path", b""), None),
        one(request("POST", "/", &[b'p'; 100]), Some(b"Another body")),
    ];
    Mix::of(all).unwrap()
}

fn tls() -> Tls {
    Tls { server_name: "x".into(), trust: Trust::Anyone, resumption: false }
}

/// Follows the script; the load must end on time with its books balanced and Little's identity intact.
fn measure(spec: &LoadSpec, script: Script) -> Measurement {
    let (output, over_ns) = follow(spec, script).unwrap();
    let measured = output.measurement;
    assert_eq!((over_ns, measured.accounting.imbalance()), (0, None), "{:?}", measured.accounting);
    let residence = measured.residence;
    let difference = (residence.in_flight_s - residence.requests_s).abs();
    assert!(difference <= 1e-6 + 1e-9 * residence.requests_s, "Little's identity: {residence:?}");
    measured
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let text = prop_oneof![
        6 => select(&TEXTS[..]).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0usize..70_000).prop_map(|(byte, count)| vec![byte; count]),
    ];
    let slot = 0u32..4;
    let act = prop_oneof![
        8 => (slot.clone(), text).prop_map(|(slot, text)| Act::Bytes(slot, text)),
        4 => (0u64..30).prop_map(|ms| Act::Pass(ms * MS)),
        1 => slot.clone().prop_map(Act::Close),
        1 => slot.clone().prop_map(Act::Reset),
        1 => slot.prop_map(Act::Drain),
    ];
    vec(act, 0..60)
}

fn scripts() -> impl Strategy<Value = Script> {
    use Connecting::{Hangs, Opens, Refused, RefusedAtOnce};
    let connects = vec(select(vec![Opens, Opens, Opens, Refused, RefusedAtOnce, Hangs]), 0..5);
    let sends = vec(select(vec![usize::MAX, 0, 1, 20, 37, 100]), 0..5);
    let parts = (connects, sends, acts(), any::<bool>());
    parts.prop_map(|(connects, sends, acts, behind_tls)| Script {
        connects,
        sends,
        acts,
        behind_tls,
        ..Script::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_a_peer_does_the_load_ends_on_time_and_its_books_balance(
        script in scripts(),
        rate in prop::option::of(1.0f64..2000.0),
        connections in 1u32..5,
        pipeline in 1u16..5,
        keep_alive: bool,
        timeout_ms in prop::option::of(1u64..60),
        count in prop::option::of(1u64..100),
        mixed: bool,
    ) {
        let model = rate.map_or(LoadModel::Closed, |rate_per_s| LoadModel::Open { rate_per_s, arrivals: Arrivals::Poisson });
        let within = Some(100 * MS);
        let spec = spec(model, connections).with(|it| {
            it.pipeline = if keep_alive { pipeline } else { 1 };
            it.keep_alive = keep_alive;
            it.timeout_ns = timeout_ms.map(|ms| ms * MS);
            it.extent = count.map_or(Extent::Window(100 * MS), |count| Extent::Requests { count, within_ns: within });
            if mixed {
                it.mix = mix();
            }
            it.tls = script.behind_tls.then(tls);
        });
        let measured = measure(&spec, script);
        let counted: u64 = measured.by_request.iter().map(|count| count.completed).sum();
        prop_assert_eq!(counted, if mixed { measured.accounting.completed } else { 0 });
        prop_assert!(count.is_none_or(|count| measured.accounting.scheduled <= count));
    }
}

/// Some beginnings of TLS records: an alert, a handshake that is cut, one that is longer than may be.
const RECORDS: [&[u8]; 6] = [
    b"\x15\x03\x03\x00\x02\x02\x28",
    b"\x15\x03\x03\x00\x02\x01\x00",
    b"\x16\x03\x03\x00\x40\x02\x00\x00\x3c",
    b"\x16\x03\x03\xff\xff",
    b"\x16\x03\x03\x00\x05\x02\xff\xff\xffa",
    b"\x17\x03\x03\x00\x10",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whoever_speaks_no_tls_ends_no_handshake_and_holds_nothing_up(
        script in scripts(),
        records in vec((0u32..4, select(&RECORDS[..])), 0..10),
        rate in prop::option::of(1.0f64..2000.0),
        keep_alive: bool,
    ) {
        let model = rate.map_or(LoadModel::Closed, |rate_per_s| LoadModel::Open { rate_per_s, arrivals: Arrivals::Poisson });
        let acts = records.into_iter().map(|(slot, record)| Act::Bytes(slot, record.to_vec())).chain(script.acts);
        let script = Script { acts: acts.collect(), behind_tls: false, ..script };
        let spec = spec(model, 3).with(|it| {
            it.keep_alive = keep_alive;
            it.tls = Some(tls());
        });
        let measured = measure(&spec, script);
        prop_assert_eq!((measured.accounting.sent, measured.connections.opened), (0, 0));
        prop_assert_eq!(measured.tls.unwrap().handshakes, 0);
    }
}

#[test]
fn a_connect_that_never_ends_leaves_its_requests_waiting() {
    let open = LoadModel::Open { rate_per_s: 1000.0, arrivals: Arrivals::Constant };
    let script = Script { connects: vec![Connecting::Hangs], ..Script::default() };
    let books = measure(&spec(open, 2), script).accounting;
    assert_eq!((books.scheduled, books.not_sent[&NotSent::WaitingAtEnd]), (100, 100));
}

#[test]
fn after_a_time_out_the_next_request_goes_at_once() {
    let slow = |model| spec(model, 1).with(|it| it.timeout_ns = Some(10 * MS));
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    // A time-out is noticed a thirty-second late.
    assert_eq!(measure(&slow(LoadModel::Closed), Script::default()).accounting.sent, 10);
    let books = measure(&slow(open), Script::default()).accounting;
    assert!(books.sent >= 9 && !books.not_sent.contains_key(&NotSent::PausedAtEnd), "{books:?}");
}

/// A server that dies after a millisecond: its connections end, and no further one opens.
fn dies(connections: u32) -> Script {
    let opened = std::iter::repeat_n(Connecting::Opens, connections as usize);
    let connects = opened.chain(std::iter::repeat_n(Connecting::Refused, 1000)).collect();
    let acts = std::iter::once(Act::Pass(MS)).chain((0..connections).map(Act::Reset)).collect();
    Script { connects, acts, ..Script::default() }
}

#[test]
fn what_is_due_while_a_server_refuses_is_refused_and_not_left_over() {
    let open = LoadModel::Open { rate_per_s: 1000.0, arrivals: Arrivals::Constant };
    let many = measure(&spec(open, 50), dies(50));
    assert!(many.accounting.not_sent[&NotSent::Refused] >= 90, "{:?}", many.accounting);
    assert_eq!(many.accounting.not_sent.len(), 1, "nothing is left over: {:?}", many.accounting);
    assert!(many.connections.connect_failed <= 300, "10, 20, 40 … ms, and one for each request: {many:?}");
    // Two connections make an attempt every 10 ms each; what that leaves over would have been refused as well.
    let few = measure(&spec(open, 2), dies(2));
    let books = &few.accounting;
    assert!((15..=25).contains(&books.not_sent[&NotSent::Refused]), "{books:?}");
    assert!(books.not_sent[&NotSent::TurnedAwayAtEnd] >= 70 && books.not_sent.len() == 2, "{books:?}");
    assert!(books.error_share() == 1.0 - books.ok as f64 / books.scheduled as f64, "{books:?}");
}

#[test]
fn attempts_that_no_request_asks_for_are_ever_rarer() {
    let seldom = LoadModel::Open { rate_per_s: 10.0, arrivals: Arrivals::Constant };
    let counts = measure(&spec(seldom, 4), dies(4)).connections;
    assert!(counts.connect_failed <= 4 * 4, "pauses of 10, 20, 40 … ms: {counts:?}");
    assert_eq!(counts.connect_errno, Some(111), "ECONNREFUSED: {counts:?}");
}

#[test]
fn a_request_torn_by_the_kernel_is_one_request() {
    let pass = Act::Pass(MS);
    let acts = vec![pass.clone(), Act::Drain(0), pass.clone(), Act::Drain(0), pass, Act::Bytes(0, HELLO.to_vec())];
    let script = Script { sends: vec![10, 0, 10, 1000], acts, ..Script::default() };
    let extent = Extent::Requests { count: 1, within_ns: Some(100 * MS) };
    let books = measure(&spec(LoadModel::Closed, 1).with(|it| it.extent = extent), script).accounting;
    assert_eq!((books.scheduled, books.sent, books.ok), (1, 1, 1));
}

#[test]
fn the_rest_of_a_torn_request_that_was_answered_early_still_leaves() {
    // The server answers the first request after ten of its bytes. What is left of it goes before the next one.
    let pass = Act::Pass(MS);
    let early = Act::Bytes(0, HELLO.to_vec());
    let acts = vec![pass.clone(), early.clone(), pass.clone(), Act::Drain(0), pass.clone(), Act::Drain(0), pass, early];
    let post = WeightedRequest { request: request("POST", "/", &[b'p'; 100]), ..mix().first().clone() };
    let all_posts = Mix::of(vec![post.clone(), post]).unwrap();
    let extent = Extent::Requests { count: 2, within_ns: Some(100 * MS) };
    let script = Script { sends: vec![10, 0, 1000, 1000, 1000], acts, ..Script::default() };
    let with = spec(LoadModel::Closed, 1).with(|it| {
        it.extent = extent;
        it.mix = all_posts;
    });
    let books = measure(&with, script).accounting;
    assert_eq!((books.scheduled, books.sent, books.ok), (2, 2, 2));
}

#[test]
fn an_edge_of_a_connection_that_is_gone_is_not_taken_for_its_successor() {
    // Both edges are fetched by one wait: the send that follows the reply meets the reset, so that the second edge finds
    // the connection's successor.
    let acts = vec![Act::Pass(MS), Act::Bytes(0, HELLO.to_vec()), Act::Reset(0), Act::Pass(200 * MS)];
    let connects = vec![Connecting::Opens, Connecting::Hangs];
    let measured = measure(&spec(LoadModel::Closed, 1), Script { connects, acts, ..Script::default() });
    assert_eq!((measured.accounting.ok, measured.connections.opened), (1, 1));
}

/// What the connections did over 100 ms in which these bytes came, one piece a millisecond.
fn connections(keep_alive: bool, pieces: &[&[u8]]) -> model::ConnectionCounts {
    let one = |piece: &&[u8]| [Act::Pass(MS), Act::Bytes(0, piece.to_vec())];
    let acts = pieces.iter().flat_map(one).collect();
    measure(&spec(LoadModel::Closed, 1).with(|it| it.keep_alive = keep_alive), Script { acts, ..Script::default() })
        .connections
}

#[test]
fn bytes_that_nobody_asked_for_are_counted_whatever_they_follow() {
    let no_content = b"HTTP/1.1 204 No Content\r\n\r\n";
    let twice = [HELLO, HELLO].concat();
    let with_body = [&no_content[..], b"Hello world"].concat();
    for (bytes, unasked) in [(HELLO, 0), (&no_content[..], 0), (&twice[..], 3), (&with_body[..], 3)] {
        for keep_alive in [true, false] {
            let counts = connections(keep_alive, &[bytes; 3]);
            assert_eq!(
                counts.unasked_replies,
                unasked,
                "{:?}, keep-alive {keep_alive}",
                String::from_utf8_lossy(bytes)
            );
            let opened = if keep_alive { 1 + unasked } else { 4 };
            assert_eq!(counts.opened, opened, "{:?}, keep-alive {keep_alive}", String::from_utf8_lossy(bytes));
        }
    }
}

#[test]
fn a_connection_that_ends_with_its_reply_is_told_from_one_that_is_closed_while_idle() {
    let closing: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 11\r\n\r\nHello world";
    let said = connections(true, &[closing; 3]);
    assert_eq!((said.opened, said.closed_by_reply, said.closed_idle), (4, 3, 0));
    let asked = connections(false, &[closing; 3]);
    assert_eq!((asked.opened, asked.closed_by_reply, asked.closed_idle), (4, 0, 0), "it was asked for");
    let switching: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
    let switched = connections(true, &[switching; 3]);
    assert_eq!((switched.opened, switched.closed_by_reply, switched.closed_idle), (4, 0, 0), "it was left");
    let acts = vec![Act::Pass(MS), Act::Bytes(0, HELLO.to_vec()), Act::Pass(MS), Act::Close(0)];
    let seldom = LoadModel::Open { rate_per_s: 10.0, arrivals: Arrivals::Constant };
    let silent = measure(&spec(seldom, 1), Script { acts, ..Script::default() });
    let counts = silent.connections;
    assert_eq!((counts.opened, counts.closed_by_reply, counts.closed_idle), (2, 0, 1));
}

#[test]
fn a_wrong_reply_without_a_body_is_known_to_have_none() {
    let first_wrong = |reply: &[u8]| {
        let acts = vec![Act::Pass(1_000_000), Act::Bytes(0, reply.to_vec())];
        let (output, _) = follow(&spec(LoadModel::Closed, 1), Script { acts, ..Script::default() }).unwrap();
        output.measurement.first_wrong.unwrap()
    };
    for reply in [
        &b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"[..],
        b"HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let wrong = first_wrong(reply);
        assert_eq!((wrong.status, wrong.body.map(|body| body.bytes)), (Some(401), Some(0)));
    }
    let in_pieces = b"HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n";
    assert_eq!(first_wrong(in_pieces).body, None);
}

#[test]
fn a_wrong_reply_that_ends_with_its_connection_is_kept_with_what_came_of_it() {
    let pass = || Act::Pass(MS);
    let first_wrong = |acts: Vec<Act>| {
        let script = Script { acts: [vec![pass()], acts].concat(), ..Script::default() };
        measure(&spec(LoadModel::Closed, 2), script).first_wrong
    };
    let begun = |slot, body: &str| Act::Bytes(slot, format!("HTTP/1.0 200 OK\r\n\r\n{body}").into_bytes());
    let right = vec![begun(0, "Hello "), pass(), Act::Bytes(0, b"world".to_vec()), pass(), Act::Close(0), pass()];
    assert_eq!(first_wrong(right.clone()), None);
    // Another connection's reply comes in between, and is the first that is known to be wrong.
    let two = vec![begun(0, "Hello "), begun(1, "Good "), Act::Bytes(1, b"bye".to_vec()), pass(), Act::Close(1)];
    let wrong = first_wrong(
        [right.clone(), vec![begun(1, "Good "), Act::Bytes(1, b"bye".to_vec())], vec![Act::Close(1)]].concat(),
    );
    let wrong = wrong.unwrap();
    let text = |excerpt: &Option<model::Excerpt>| excerpt.as_ref().map(|excerpt| excerpt.text.clone());
    assert_eq!(text(&wrong.body).as_deref(), Some("Good bye"));
    assert_eq!((text(&wrong.expected_body).as_deref(), wrong.differs_at), (Some("Hello world"), Some(0)));
    // Of several that have begun one is kept.
    assert_eq!(first_wrong(two).map(|wrong| wrong.body), Some(None));
    let cut = first_wrong(vec![Act::Bytes(0, b"HTTP/1.1 \r\0".to_vec()), Act::Close(0)]).unwrap();
    assert_eq!(cut.status, None);
}

/// Nobody knows how long a request would have taken that was reset: its age says nothing of a latency, unlike that of one
/// still awaited.
#[test]
fn what_a_peer_resets_is_in_no_distribution() {
    let (wait, reply) = (Act::Pass(5 * MS), Act::Bytes(0, HELLO.to_vec()));
    let acts = vec![wait.clone(), reply.clone(), Act::Pass(20 * MS), Act::Reset(0), wait.clone(), reply, wait];
    let measured = measure(&spec(LoadModel::Closed, 1), Script { acts, ..Script::default() });
    let books = &measured.accounting;
    assert_eq!((books.failed[&model::Failure::ResetBeforeReply], books.completed, books.in_flight_at_end), (1, 2, 1));
    let service = measured.latency_us.service.unwrap();
    assert_eq!((service.count, service.censored), (3, 1));
}

#[test]
fn a_send_that_this_machine_forbids_is_its_own_doing_and_not_the_servers() {
    let open = LoadModel::Open { rate_per_s: 1_000.0, arrivals: Arrivals::Constant };
    for (model, errno, kind) in [
        (LoadModel::Closed, Errno::PERM, NotSent::Forbidden),
        (LoadModel::Closed, Errno::NOBUFS, NotSent::OutOfMemory),
        (open, Errno::NOMEM, NotSent::OutOfMemory),
    ] {
        let script = Script { send_error: Some(errno.raw_os_error()), ..Script::default() };
        let measured = measure(&spec(model, 2), script);
        let (books, connections) = (&measured.accounting, &measured.connections);
        assert!(books.not_sent[&kind] > 1 && books.sent == 0, "{books:?}");
        assert!(books.not_sent.keys().all(|kind| kind.side() == Side::Us), "{books:?}");
        assert_eq!((connections.closed_idle, connections.connect_failed), (0, 0), "{connections:?}");
    }
}

/// A server whose reply has more lines in its head than are taken, and one whose head does not end.
#[test]
fn a_head_over_a_limit_is_kept_with_the_limit() {
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: x\r\n".repeat(257));
    let long = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(70_000));
    let (lines, bytes) = (Some(HeadLimit::Lines(256)), Some(HeadLimit::Bytes(64 * 1024)));
    for (reply, limit) in [(many.as_str(), lines), (&long, bytes), ("SSH-2.0-OpenSSH\r\n\r\n", None)] {
        for piece in [reply.len(), 1_000] {
            let pieces = reply.as_bytes().chunks(piece).map(|piece| Act::Bytes(0, piece.to_vec()));
            let acts: Vec<Act> = pieces.flat_map(|bytes| [Act::Pass(MS / 10), bytes]).collect();
            let (output, _) = follow(&spec(LoadModel::Closed, 1), Script { acts, ..Script::default() }).unwrap();
            let wrong = output.measurement.first_wrong.unwrap();
            assert_eq!((wrong.status, wrong.over_limit), (None, limit), "{wrong:?}");
        }
    }
}

#[test]
fn a_peer_that_refuses_at_once_leaves_what_was_due_in_the_books() {
    let with = spec(LoadModel::Closed, 2).with(|it| it.keep_alive = false);
    let connects = vec![Connecting::Hangs, Connecting::Refused];
    let (output, _) = follow(&with, Script { connects, ..Script::default() }).unwrap();
    let books = output.measurement.accounting;
    assert!(books.imbalance().is_none() && books.not_sent.contains_key(&NotSent::Refused), "{books:?}");
}
