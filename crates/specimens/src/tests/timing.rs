//! Delays, slots and the stall. Only lower bounds that hold by construction.

use super::*;

/// Sends one request on each of `count` connections at once and waits for all replies.
fn at_once(server: &Server, count: usize) -> Duration {
    let mut clients: Vec<_> = (0..count).map(|_| Client::new(server)).collect();
    let start = clock::now();
    for client in &mut clients {
        client.send(&request("/rest/hello"));
    }
    for client in &mut clients {
        assert_eq!(client.seen(), hello());
    }
    since(start)
}

#[test]
fn slots_limit_what_runs_side_by_side() {
    let handler_delay = Duration::from_millis(20);
    for (kind, delays) in [(Kind::Clean, 1), (Kind::Serialised, 5), (Kind::Pool, 3)] {
        let server = run(Settings { handler_delay, workers: 2, ..Settings::new(kind) });
        assert!(at_once(&server, 5) >= handler_delay * delays, "{kind}");
        assert_eq!(server.stop().len(), 5);
    }
}

#[test]
fn some_replies_are_late_and_those_behind_them_on_their_connection_come_after_them() {
    let handler_delay = Duration::from_millis(20);
    let server = run(Settings { handler_delay, every: 3, ..Settings::new(Kind::LateReplies) });
    let mut client = Client::new(&server);
    let mut late = |requests: usize| {
        let start = clock::now();
        client.send(&request("/rest/hello").repeat(requests));
        (0..requests).for_each(|_| assert_eq!(client.seen(), hello()));
        since(start) >= handler_delay
    };
    assert!([late(1), late(1), late(1)][2], "the third one");
    assert!(late(7), "the sixth and the ninth are among these");
    drop(client);
    assert_eq!(plain(&server.stop()), [(1, Action::Reply); 10]);
}

#[test]
fn pings_do_not_wait_for_others() {
    let server = run(Settings { handler_delay: PATIENCE, ..Settings::new(Kind::Serialised) });
    let mut busy = Client::new(&server);
    busy.send(&request("/rest/hello"));
    assert_eq!(Client::new(&server).get("/ping"), pong());
    drop(busy);
    assert_eq!(server.stop(), []);
}

#[test]
fn a_client_that_left_gets_no_entry_but_keeps_its_slot() {
    let handler_delay = Duration::from_millis(300);
    let server = run(Settings { handler_delay, ..Settings::new(Kind::Serialised) });
    let (mut leaves, mut stays) = (Client::new(&server), Client::new(&server));
    let start = clock::now();
    leaves.send(&request("/rest/hello"));
    assert_eq!(stays.get("/ping"), pong());
    drop(leaves);
    assert_eq!(stays.get("/ping"), pong());
    assert_eq!(stays.get("/rest/hello"), hello());
    assert!(since(start) >= handler_delay * 2);
    assert_eq!(plain(&server.stop()), [(2, Action::Reply)]);
}

#[test]
fn a_stall_stops_everything_once() {
    let stall_for = Duration::from_millis(100);
    let server = run(Settings { stall_at: Duration::ZERO, stall_for, ..Settings::new(Kind::Stall) });
    let mut client = Client::new(&server);
    assert_eq!(client.get("/ping"), pong());
    let start = clock::now();
    // The stall is due as soon as the first request is answered, before anything else is read.
    assert_eq!(client.get("/rest/hello"), hello());
    assert_eq!(client.get("/ping"), pong());
    assert!(since(start) >= stall_for);
    for _ in 0..10 {
        assert_eq!(client.get("/rest/hello"), hello());
    }
    assert_eq!(plain(&server.stop()), [(1, Action::Reply); 11]);
}
