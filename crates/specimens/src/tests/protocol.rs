//! HTTP as spoken by odd and hostile clients.

use super::*;

#[test]
fn torn_requests() {
    let server = clean();
    let mut client = Client::new(&server);
    for _ in 0..2 {
        for byte in request("/rest/hello").chars() {
            client.send(&byte.to_string());
        }
        assert_eq!(client.seen(), hello());
    }
    assert_eq!(server.stop().len(), 2);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for delay in [0, 5] {
        let server = run(Settings { handler_delay: Duration::from_millis(delay), ..Settings::new(Kind::Clean) });
        let mut client = Client::new(&server);
        let third = request("/index");
        let (start, rest) = third.split_at(10);
        client.send(&format!("{}{}{start}", request("/rest/hello"), request("/ping")));
        assert_eq!(client.seen(), hello());
        assert_eq!(client.seen(), pong());
        client.send(rest);
        assert_eq!(client.seen(), reply(404, "Not Found\n"));
    }
}

#[test]
fn bodies_are_skipped() {
    let server = clean();
    let mut client = Client::new(&server);
    let body = "GET / HTTP/1.1\r\n\r\n".repeat(10_000);
    let post = format!("POST /rest/hello HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    client.send(&format!("{post}{body}{}", request("/")));
    assert_eq!(client.seen(), hello());
    assert_eq!(client.seen(), reply(200, "Welcome!\n"));
    client.send(&post);
    client.send(&body[1..]);
    assert_eq!(server.log().len(), 2);
    client.send("x");
    assert_eq!(client.seen(), hello());
}

#[test]
fn the_client_decides_when_to_close() {
    for text in ["GET /rest/hello HTTP/1.0\r\n\r\n", "GET /rest/hello HTTP/1.1\r\nConnection: close\r\n\r\n"] {
        let server = clean();
        let mut client = Client::new(&server);
        client.send(&[text, text].concat());
        assert_eq!(client.seen(), hello());
        assert_eq!(client.seen(), Seen::Eof(String::new()));
        assert_eq!(server.stop().len(), 1);
    }
}

#[test]
fn refusals_are_not_logged() {
    let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(100 * 1024));
    let endless = "a".repeat(100 * 1024);
    let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    for (text, status) in [
        (long.as_str(), 431),
        (&endless, 431),
        ("\r\n\r\nGET /\u{0} HTTP/1.1\r\n\r\n", 400),
        ("HEAD / HTTP/1.1\r\n\r\n", 501),
        (chunked, 501),
    ] {
        let server = always(Kind::ResetBeforeReply);
        let mut client = Client::new(&server);
        client.send(text);
        assert_eq!(client.seen(), reply(status, ""));
        assert_eq!(client.seen(), Seen::Eof(String::new()));
        assert_eq!(server.stop(), []);
    }
}

#[test]
fn a_refusal_waits_for_its_turn() {
    let server = run(Settings { handler_delay: Duration::from_millis(5), ..Settings::new(Kind::Clean) });
    let mut client = Client::new(&server);
    client.send(&format!("{}nonsense\r\n\r\n", request("/")));
    assert_eq!(client.seen(), reply(200, "Welcome!\n"));
    assert_eq!(client.seen(), reply(400, ""));
    assert_eq!(client.seen(), Seen::Eof(String::new()));
}

#[test]
fn odd_bytes_after_an_idle_close_do_no_harm() {
    let server = always(Kind::IdleClose);
    let mut client = Client::new(&server);
    assert_eq!(client.get("/"), reply(200, "Welcome!\n"));
    for text in ["GET / HTTP/1.1\r\nA: b\r\n", "\u{0}", "x", "\r\n\r\n"] {
        client.send(text);
    }
    client.finish();
    drop(client);
    assert_eq!(Client::new(&server).get("/ping"), pong());
}

#[test]
fn a_client_that_does_not_read_is_not_read_from() {
    let server = clean();
    let mut client = Client::new(&server);
    let ping = request("/ping");
    let many = ping.repeat(10_000);
    client.stream.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
    let mut sent = 0;
    // Goes on until the server stops reading; how soon is up to the kernel's buffers.
    while let Ok(count) = client.stream.write(&many.as_bytes()[sent % ping.len()..]) {
        sent += count;
        assert!(sent < 1 << 30);
    }
    assert_eq!(Client::new(&server).get("/ping"), pong());
    for _ in 0..sent / ping.len() {
        assert_eq!(client.seen(), pong());
    }
    client.send(&ping[sent % ping.len()..]);
    assert_eq!(client.seen(), pong());
}

#[test]
fn more_requests_than_the_queue_holds() {
    let server = run(Settings { handler_delay: Duration::from_millis(1), ..Settings::new(Kind::Clean) });
    let mut client = Client::new(&server);
    client.send(&request("/").repeat(5000));
    for _ in 0..5000 {
        assert_eq!(client.seen(), reply(200, "Welcome!\n"));
    }
    assert_eq!(server.stop().len(), 5000);
}

#[test]
fn many_connections() {
    let server = clean();
    let mut clients: Vec<_> = (0..200).map(|_| Client::new(&server)).collect();
    for client in &mut clients {
        client.send(&request("/"));
    }
    for client in &mut clients {
        assert_eq!(client.seen(), reply(200, "Welcome!\n"));
    }
    clients.retain(|client| client.stream.local_addr().unwrap().port() % 2 == 0);
    for client in &mut clients {
        assert_eq!(client.get("/rest/hello"), hello());
    }
    assert_eq!(server.stop().len(), 200 + clients.len());
}
