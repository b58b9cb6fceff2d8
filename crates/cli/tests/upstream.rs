//! `bourdon diagnose --upstream` through the real binary: how many round trips to what is behind it a request waits for.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use run_support::{Json, Lab, is_here};

/// Loads so short that a proof takes seconds.
const SHORT: [&str; 6] = ["--duration", "300ms", "--warm-up", "50ms", "--format", "json"];

/// Asks for each request so many times, one after another, on a connection for each client.
const SHOP: &str = "import os, socket, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

(host, port), times, local = sys.argv[1].rsplit(':', 1), int(sys.argv[2]), threading.local()

class Shop(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = 'HTTP/1.1', True

    def do_GET(self):
        if not hasattr(local, 'behind'):
            local.behind = socket.create_connection((host, int(port)))
        for _ in range(times):
            local.behind.sendall(b'?')
            local.behind.recv(1)
        self.send_response(200)
        self.send_header('Content-Length', '5')
        self.end_headers()
        self.wfile.write(b'hello')

    def log_message(self, *_):
        pass

ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Shop).serve_forever()
";

/// What answers each byte with one, as long as the test runs.
fn behind() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = |mut stream: std::net::TcpStream| {
        let _ = stream.set_nodelay(true);
        let mut byte = [0];
        while let Ok(1) = stream.read(&mut byte) {
            if stream.write_all(&byte).is_err() {
                break;
            }
        }
    };
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(move || serve(stream))));
    });
    address
}

fn diagnosed(lab: &Lab, run: &str, upstream: SocketAddr) -> Json {
    let upstream = upstream.to_string();
    lab.bourdon(&[&["diagnose", "--run", run, "--upstream", &upstream], &SHORT[..]].concat()).answers().json()
}

fn found(answer: &Json) -> Option<&Json> {
    let all = answer["findings"].as_array().unwrap();
    all.iter().find(|it| it["fault"].get("round-trips").is_some())
}

#[test]
fn round_trips_one_after_another_are_proved_with_their_number() {
    if !is_here("python3") {
        return;
    }
    let (lab, upstream) = (Lab::new().file("shop.py", SHOP), behind());
    // Where others use the machine, little is concluded, and rightly so.
    let answers = (0..3).map(|_| diagnosed(&lab, "python3 shop.py $UPSTREAM 5", upstream));
    let is_proved = |answer: &Json| found(answer).is_some_and(|found| found["sureness"] == "is");
    let answer = answers.into_iter().find(is_proved).expect("it came out in one of three");
    lab.nothing_is_left();
    let found = found(&answer).unwrap();
    let fault = &found["fault"]["round-trips"];
    let number = |of: &Json| of.as_f64().unwrap_or_else(|| panic!("{found}"));
    assert!((4.5..5.6).contains(&number(&fault["round_trips"]["estimate"])), "{found}");
    assert!((4.5..5.6).contains(&number(&fault["asked"])), "{found}");
    assert!(found["text"].as_str().unwrap().contains("round trips to what is behind the server"), "{found}");
}

#[test]
fn what_cannot_be_relayed_is_refused() {
    let lab = Lab::beside_others();
    let run = ["diagnose", "--run", "true", "--upstream"];
    lab.bourdon(&[&run[..], &["nowhere"]].concat()).exits(2).says(&["--upstream nowhere", "write HOST:PORT"]);
    let url = ["diagnose", "http://127.0.0.1:1/", "--upstream", "127.0.0.1:5432"];
    lab.bourdon(&url).exits(2).says(&["--upstream is about a server that is launched", "--run"]);
}
