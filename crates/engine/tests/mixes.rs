//! A load of several requests over a simulated server.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use engine::simulation::SimulatedServer;
use model::{LoadModel, Mix, NS_PER_S, ReplyExpectation, WeightedRequest};
use support::{MS, hello, measure, open, request, spec};

/// A GET, a POST with a body, a HEAD and a long GET: requests of four lengths, of which three have replies with a body.
fn four(bodies: [&str; 4]) -> Mix {
    let one = |(index, body): (usize, &str)| {
        let (method, path) = [("GET", "/a"), ("POST", "/b"), ("HEAD", "/c"), ("GET", "/a/long/way/to/go")][index];
        let request = request(method, path, if method == "POST" { &[b'p'; 300] } else { b"" });
        let body = (method != "HEAD").then(|| body.as_bytes().to_vec());
        WeightedRequest {
            request,
            expect: ReplyExpectation { status: Some(200), body },
            weight: [4.0, 3.0, 2.0, 1.0][index],
        }
    };
    Mix::of(bodies.into_iter().enumerate().map(one).collect()).unwrap()
}

const BODIES: [&str; 4] = ["first", "second", "", "fourth and longest"];

#[test]
fn each_reply_of_a_mix_is_compared_with_what_its_own_request_expects() {
    for (pipeline, takes, model) in [
        (1, usize::MAX, LoadModel::Closed),
        (16, usize::MAX, LoadModel::Closed),
        (16, 7, LoadModel::Closed),
        (16, 7, open(5000.0)),
    ] {
        let with = spec(model, 5, NS_PER_S).with(|it| {
            it.pipeline = pipeline;
            it.mix = four(BODIES);
        });
        // What the HEAD's reply says of its length is true of a GET and has no body here.
        let mut server = SimulatedServer { takes, ..SimulatedServer::of(MS, &BODIES) };
        server.replies[2] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".to_vec();
        let measured = measure(&with, server);
        let books = &measured.accounting;
        assert!(books.completed >= 4000, "{books:?}");
        assert_eq!((books.ok, books.failed_total(), books.in_flight_at_end), (books.sent, 0, 0), "{books:?}");
        let counted: Vec<u64> = measured.by_request.iter().map(|count| count.completed).collect();
        assert_eq!((counted.len(), counted.iter().sum::<u64>()), (4, books.completed));
        for (count, share) in counted.iter().zip([0.4, 0.3, 0.2, 0.1]) {
            let seen = *count as f64 / books.completed as f64;
            assert!((seen - share).abs() < 0.03, "{counted:?}");
        }
    }
}

#[test]
fn a_reply_to_another_request_has_a_bad_body() {
    let with = spec(LoadModel::Closed, 5, NS_PER_S).with(|it| {
        it.pipeline = 16;
        it.mix = four(BODIES);
    });
    // The second and the fourth are mixed up.
    let mut server = SimulatedServer::of(MS, &[BODIES[0], BODIES[3], BODIES[2], BODIES[1]]);
    server.replies[2] = b"HTTP/1.1 204 No Content\r\n\r\n".to_vec();
    let measured = measure(&with, server);
    let (books, counted) = (&measured.accounting, &measured.by_request);
    let wrong: Vec<bool> = counted.iter().map(|count| count.wrong > 0).collect();
    assert_eq!(wrong, [false, true, true, true]);
    assert!(counted[1..].iter().all(|count| count.wrong == count.completed), "{counted:?}");
    assert_eq!(books.bad_body, counted[1].wrong + counted[3].wrong);
    assert_eq!((books.bad_status, measured.bad_statuses[&204]), (counted[2].wrong, counted[2].wrong));
    assert_eq!(books.ok, counted[0].completed);
}

#[test]
fn a_single_request_is_counted_by_the_books_alone() {
    assert_eq!(measure(&spec(LoadModel::Closed, 10, NS_PER_S), hello(MS)).by_request, []);
}
