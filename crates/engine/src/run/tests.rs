use std::net::TcpListener;

use model::{Extent, HttpVersion, Load, LoadModel, Mix, NS_PER_S, ReplyExpectation, Request, WrongReply};

use super::*;
use crate::in_flight::InFlight;
use crate::protocol::{Begun, Event};

/// HTTP/1, whose threads from this one on fall over their first request.
struct Falling<'a, const FROM: u32> {
    http: Http1<'a>,
    thread: u32,
}

impl<'a, const FROM: u32> Falling<'a, FROM> {
    fn new(spec: &'a LoadSpec, thread: u32) -> Self {
        Falling { http: Http1::new(spec, thread), thread }
    }
}

type Conversation = <Http1<'static> as Protocol>::Conversation;

impl<const FROM: u32> Protocol for Falling<'_, FROM> {
    type Conversation = Conversation;

    const ALPN: &'static [u8] = Http1::ALPN;

    fn count(&self) -> usize {
        self.http.count()
    }

    fn expectation(&self, place: u32) -> &ReplyExpectation {
        self.http.expectation(place)
    }

    fn next(&mut self, conversation: &Conversation, count: usize) -> &[u8] {
        self.http.next(conversation, count)
    }

    fn begin(&mut self, conversation: &mut Conversation) -> Begun {
        assert!(self.thread < FROM, "a test has this thread fall");
        self.http.begin(conversation)
    }

    fn tail(&mut self, conversation: &Conversation, place: u32, left: usize) -> &[u8] {
        self.http.tail(conversation, place, left)
    }

    fn advance(&mut self, conversation: &mut Conversation, in_flight: InFlight<'_>, input: &mut &[u8]) -> Event {
        self.http.advance(conversation, in_flight, input)
    }

    fn end(&mut self, conversation: &mut Conversation, in_flight: InFlight<'_>) -> Event {
        self.http.end(conversation, in_flight)
    }

    fn held(conversation: &Conversation) -> &[u8] {
        Http1::held(conversation)
    }

    fn refused(conversation: &Conversation, input: &[u8]) -> WrongReply {
        Http1::refused(conversation, input)
    }
}

/// The others would go on for a day.
#[test]
fn a_thread_that_is_lost_under_load_ends_the_load_of_the_others() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let request = Request {
        method: "GET".into(),
        path: "/".into(),
        host: "localhost".into(),
        headers: vec![],
        body: vec![],
        version: HttpVersion::Http11,
    };
    let load = Load {
        mix: Mix::one(request, ReplyExpectation::default()),
        model: LoadModel::Closed,
        connections: 2,
        pipeline: 1,
        keep_alive: true,
        timeout_ns: None,
        network_delay_ns: 0,
        warm_up_ns: 0,
        extent: Extent::Window(24 * 3600 * NS_PER_S),
    };
    let spec = LoadSpec {
        load,
        address: silent.local_addr().unwrap(),
        tls: None,
        sources: vec![],
        start_spread_ns: 0,
        threads: 2,
        cpus: vec![],
        spin: false,
        quick_ack: false,
        seed: 1,
    };
    let stop = AtomicBool::new(false);
    let one = run_speaking(Falling::<1>::new, &spec, RunOptions::default(), &stop, &mut |_| {});
    let both = run_speaking(Falling::<0>::new, &spec, RunOptions::default(), &stop, &mut |_| {});
    assert!(matches!([&one, &both], [Err(LoadError::Panicked), Err(LoadError::Panicked)]), "{one:?} {both:?}");
}
