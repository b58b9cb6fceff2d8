//! What each kind does to a request, and what its log says of it.

use super::*;

/// Asks once and compares what is seen and logged.
fn shows(kind: Kind, seen: &Seen, actions: &[Action]) {
    let server = always(kind);
    let mut client = Client::new(&server);
    assert_eq!(client.get("/ping"), pong());
    assert_eq!(client.get("/rest/hello"), *seen, "{kind}");
    drop(client);
    let expected: Vec<_> = actions.iter().map(|&action| (1, action)).collect();
    assert_eq!(plain(&server.stop()), expected, "{kind}");
}

#[test]
fn proper_replies() {
    for kind in
        [Kind::Clean, Kind::Serialised, Kind::Pool, Kind::Stall, Kind::Deferred, Kind::Restless, Kind::SlowAfterIdle]
    {
        shows(kind, &hello(), &[Action::Reply]);
    }
}

#[test]
fn single_defects() {
    let half_head = HEAD[..HEAD.len() / 2].to_owned();
    let half_body = format!("{HEAD}Hello");
    shows(Kind::WrongBody, &reply(200, "xxxxxxxxxxx"), &[Action::WrongBody]);
    shows(Kind::ResetBeforeReply, &Seen::Reset(String::new()), &[Action::ResetBeforeReply]);
    shows(Kind::CloseBeforeReply, &Seen::Eof(String::new()), &[Action::CloseBeforeReply]);
    shows(Kind::ResetInReply, &Seen::Reset(half_body.clone()), &[Action::ResetInReply]);
    shows(Kind::CloseInReply, &Seen::Eof(half_head), &[Action::CloseInReply]);
    shows(Kind::ShortBody, &Seen::Eof(half_body), &[Action::ShortBody]);
    shows(Kind::MalformedHead, &Seen::Eof("HTTP/9.9 banana\r\n\r\n".to_owned()), &[Action::MalformedHead]);
    shows(Kind::Unavailable, &reply(503, "Service Unavailable\n"), &[Action::Unavailable]);
}

#[test]
fn a_204_has_no_body_or_one_that_it_cannot_have() {
    shows(Kind::NoContent, &reply(204, ""), &[Action::NoContent]);
    let server = always(Kind::BodyAfterNoContent);
    let mut client = Client::new(&server);
    assert_eq!(client.get("/rest/hello"), reply(204, ""));
    client.finish();
    assert_eq!(client.seen(), Seen::Eof("Hello world".to_owned()));
}

#[test]
fn pages() {
    let server = clean();
    let mut client = Client::new(&server);
    assert_eq!(client.get("/"), reply(200, "Welcome!\n"));
    assert_eq!(client.get("/index"), reply(404, "Not Found\n"));
    assert_eq!(client.get("/rest/hello?name=x"), hello());
    assert_eq!(plain(&server.stop()), [(1, Action::Reply); 3]);
}

#[test]
fn a_repeated_reply_comes_twice() {
    let server = run(Settings { every: 1, ..Settings::new(Kind::RepeatedReply) });
    let mut client = Client::new(&server);
    assert_eq!([client.get("/rest/hello"), client.seen()], [hello(), hello()]);
    assert_eq!(server.stop().len(), 1);
}

#[test]
fn every_third_and_pings_do_not_count() {
    let server = run(Settings { every: 3, ..Settings::new(Kind::Unavailable) });
    let mut client = Client::new(&server);
    for number in 1..=9 {
        assert_eq!(client.get("/ping"), pong());
        let expected = if number % 3 == 0 { reply(503, "Service Unavailable\n") } else { hello() };
        assert_eq!(client.get("/rest/hello"), expected);
    }
    assert_eq!(server.stop().len(), 9);
}

#[test]
fn never_answers_keeps_the_connection() {
    let server = always(Kind::NeverAnswers);
    let mut client = Client::new(&server);
    client.send(&request("/rest/hello"));
    await_entries(&server, 1);
    client.send(&request("/ping"));
    client.finish();
    assert_eq!(client.seen(), Seen::Eof(String::new()));
    assert_eq!(plain(&server.stop()), [(1, Action::NoAnswer)]);
}

#[test]
fn idle_close_follows_the_reply() {
    let server = always(Kind::IdleClose);
    let mut client = Client::new(&server);
    assert_eq!(client.get("/rest/hello"), hello());
    assert_eq!(client.seen(), Seen::Eof(String::new()));
    drop(client);
    assert_eq!(plain(&server.stop()), [(1, Action::Reply), (1, Action::IdleClose)]);
}

#[test]
fn a_request_that_races_with_the_idle_close_is_logged() {
    let server = always(Kind::IdleClose);
    let mut client = Client::new(&server);
    assert_eq!(client.get("/rest/hello"), hello());
    client.send(&request("/rest/hello"));
    assert_eq!(client.seen(), Seen::Eof(String::new()));
    await_entries(&server, 3);
    assert_eq!(plain(&server.stop()), [(1, Action::Reply), (1, Action::IdleClose), (1, Action::CloseBeforeReply)]);
}

#[test]
fn pipelined_requests_behind_an_idle_close_are_logged() {
    for delay in [0, 1] {
        let handler_delay = Duration::from_millis(delay);
        let server = run(Settings { every: 1, handler_delay, ..Settings::new(Kind::IdleClose) });
        let mut client = Client::new(&server);
        client.send(&[request("/"), request("/ping"), request("/"), request("/")].concat());
        assert_eq!(client.seen(), reply(200, "Welcome!\n"));
        assert_eq!(client.seen(), Seen::Eof(String::new()));
        await_entries(&server, 4);
        let late = Action::CloseBeforeReply;
        assert_eq!(plain(&server.stop()), [(1, Action::Reply), (1, Action::IdleClose), (1, late), (1, late)]);
    }
}

#[test]
fn defects_come_after_the_delay() {
    let delay = Duration::from_millis(20);
    for kind in [Kind::ResetBeforeReply, Kind::CloseInReply, Kind::MalformedHead, Kind::IdleClose] {
        let server = run(Settings { every: 1, handler_delay: delay, ..Settings::new(kind) });
        let mut client = Client::new(&server);
        let start = clock::now();
        let _ = client.get("/rest/hello");
        assert!(since(start) >= delay);
        assert!(!server.stop().is_empty());
    }
}

#[test]
fn an_orderly_close_destroys_nothing_and_answers_nothing() {
    let server = always(Kind::ShortBody);
    let mut client = Client::new(&server);
    client.send(&[request("/rest/hello"), request("/rest/hello")].concat());
    await_entries(&server, 1);
    // The server has closed. Were it to reset now, the half reply would be lost.
    client.send(&request("/rest/hello").repeat(1000));
    assert_eq!(client.seen(), Seen::Eof(format!("{HEAD}Hello")));
    assert_eq!(plain(&server.stop()), [(1, Action::ShortBody)]);
}

#[test]
fn entries_lie_between_send_and_receive() {
    let server = clean();
    let mut client = Client::new(&server);
    for _ in 0..50 {
        let before = clock::now();
        client.get("/");
        let after = clock::now();
        let entry = *server.log().last().unwrap();
        assert!(before <= entry.at_ns && entry.at_ns <= after);
    }
}

#[test]
fn a_log_file_is_complete_while_the_server_runs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let settings = Settings { every: 2, ..Settings::new(Kind::Unavailable) };
    let server = start(settings, LogSink::File(path.clone())).unwrap();
    let mut client = Client::new(&server);
    for _ in 0..3 {
        client.get("/");
    }
    // The reply to this one is written in a later turn of the loop than those before it.
    client.get("/ping");
    let text = std::fs::read_to_string(&path).unwrap();
    let entries: Vec<_> = text.lines().map(|line| Entry::from_line(line).unwrap()).collect();
    assert_eq!(plain(&entries), [(1, Action::Reply), (1, Action::Unavailable), (1, Action::Reply)]);
    assert_eq!(server.stop(), []);
    assert!(start(Settings::new(Kind::Clean), LogSink::File(directory.path().into())).is_err());
}

#[test]
fn stopping_closes_everything() {
    let server = clean();
    let mut client = Client::new(&server);
    assert_eq!(client.get("/ping"), pong());
    let address = server.address();
    drop(server);
    assert_eq!(client.seen(), Seen::Eof(String::new()));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn the_contract_is_kept_on_one_connection_and_ends_with_the_server() {
    let server = run(Settings { data_file: Some("/dev/null".into()), ..Settings::new(Kind::Contract) });
    let mut client = Client::new(&server);
    assert_eq!(client.get("/hello/J%C3%BCrg"), reply(200, "hello, Jürg!\n"));
    assert_eq!(client.get("/user/a%22b%3C"), reply(200, r#"{"id":"a\"b<","name":"User"}"#));
    // The SHA-256 of nothing.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(client.get("/hash?n=3&nonce="), reply(200, empty));
    assert_eq!(client.get("/hash?n=100001"), reply(400, "Bad Request"));
    client.send("POST /submit HTTP/1.1\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
    assert_eq!(client.seen(), reply(200, r#"{"a":1}"#));
    client.send("POST /submit HTTP/1.1\r\nContent-Length: 1\r\n\r\n{");
    assert_eq!(client.seen(), reply(400, "Bad Request"));
    assert_eq!(client.get("/nothing/here"), reply(404, "Not Found"));
    assert_eq!(server.stop(), [], "it keeps no log");
    assert_eq!(client.seen(), Seen::Eof(String::new()));
}

#[test]
fn a_connection_that_nobody_uses_is_closed() {
    let server = run(Settings { idle_for: Duration::from_millis(50), ..Settings::new(Kind::IdleTimeout) });
    let mut client = Client::new(&server);
    let start = clock::now();
    assert_eq!(client.get("/rest/hello"), hello());
    assert_eq!(client.seen(), Seen::Eof(String::new()));
    assert!(since(start) >= Duration::from_millis(50));
    assert_eq!(plain(&server.stop()), [(1, Action::Reply), (1, Action::IdleClose)]);
}
