//! The life of the target: how it refuses to start, and how it stops.

#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

/// Held by whoever needs a port to stay free, for the kernel may give it to another test's listener meanwhile, and by
/// whoever starts a process: until that has become the target, it holds a copy of every listener of this one.
static PORTS: Mutex<()> = Mutex::new(());

fn start(environment: &[(&str, &str)]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rust-axum"));
    command.env_clear().envs(environment.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Ended with this status after this one line, which has these parts.
fn refused(output: &Output, status: i32, parts: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
}

fn connect(port: u16) -> TcpStream {
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(_) => std::thread::yield_now(), // it does not listen yet
        }
    }
}

#[test]
fn a_bad_setting_is_said_in_one_line() {
    let _alone = PORTS.lock();
    refused(&start(&[("PORT", "x")]).wait_with_output().unwrap(), 2, &["rust-axum: PORT=\"x\""]);
}

#[test]
fn a_taken_port_is_said_in_one_line() {
    let _alone = PORTS.lock();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let other = if port == "1025" { "1026" } else { "1025" };
    let admin = start(&[("PORT", other), ("ADMIN_PORT", &port)]).wait_with_output().unwrap();
    refused(&admin, 1, &["rust-axum: ADMIN_PORT=", "already in use"]);
    refused(&start(&[("PORT", &port)]).wait_with_output().unwrap(), 1, &["rust-axum: PORT=", "already in use"]);
}

#[test]
fn a_stop_lets_a_request_in_flight_end() {
    let _alone = PORTS.lock();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = start(&[("PORT", &port.to_string()), ("HANDLER_DELAY", "300ms")]);
    let mut stream = connect(port);
    // The server answers the first request once it has read both, for they arrive together.
    stream.write_all(b"GET /ping HTTP/1.1\r\nHost: a\r\n\r\nGET /index HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut first = [0; 1];
    stream.read_exact(&mut first).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let mut replies = String::new();
    stream.read_to_string(&mut replies).unwrap();
    assert!(replies.ends_with("index\n"), "{replies}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), vec![], vec![]));
}
