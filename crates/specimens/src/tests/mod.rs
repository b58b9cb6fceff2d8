//! Specimens as a client sees them, against their log.
#![allow(clippy::unwrap_used)]

mod kinds;
mod model;
mod protocol;
mod timing;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use crate::{Action, Entry, Kind, LogSink, Server, Settings, clock, start};

/// Long enough that only a test that failed gets there.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a client got for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Reply {
        status: u16,
        body: String,
    },
    /// FIN, after these bytes.
    Eof(String),
    /// RST, after these bytes.
    Reset(String),
}

struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    fn new(server: &Server) -> Client {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { stream, read: Vec::new() }
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    fn get(&mut self, path: &str) -> Seen {
        self.send(&request(path));
        self.seen()
    }

    /// Says that no more will be sent.
    fn finish(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// The next reply, or how the connection ended.
    fn seen(&mut self) -> Seen {
        let mut chunk = [0; 4096];
        loop {
            if let Some(reply) = self.reply() {
                return reply;
            }
            let end = match self.stream.read(&mut chunk) {
                Ok(0) => Seen::Eof,
                Ok(count) => {
                    self.read.extend_from_slice(&chunk[..count]);
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::ConnectionReset => Seen::Reset,
                Err(error) => panic!("{error} after {:?}", String::from_utf8_lossy(&self.read)),
            };
            return end(String::from_utf8(std::mem::take(&mut self.read)).unwrap());
        }
    }

    fn reply(&mut self) -> Option<Seen> {
        let mut fields = [httparse::EMPTY_HEADER; 16];
        let mut head = httparse::Response::new(&mut fields);
        let Ok(httparse::Status::Complete(start)) = head.parse(&self.read) else { return None };
        let status = head.code.unwrap();
        let length = head.headers.iter().find(|field| field.name == "Content-Length").map(|field| field.value);
        let end = start + length.map_or(0, |length| str::from_utf8(length).unwrap().parse::<usize>().unwrap());
        let body = String::from_utf8(self.read.get(start..end)?.to_vec()).unwrap();
        self.read.drain(..end);
        Some(Seen::Reply { status, body })
    }
}

fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: specimen\r\n\r\n")
}

fn reply(status: u16, body: &str) -> Seen {
    Seen::Reply { status, body: body.to_owned() }
}

fn hello() -> Seen {
    reply(200, "Hello world")
}

fn pong() -> Seen {
    reply(200, r#"{"message":"pong"}"#)
}

/// The head of the reply to `/rest/hello`.
const HEAD: &str = "HTTP/1.1 200 OK\r\nServer: specimen\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\n";

fn run(settings: Settings) -> Server {
    start(settings, LogSink::Memory).unwrap()
}

/// A server that shows its defect on every request.
fn always(kind: Kind) -> Server {
    run(Settings { every: 1, ..Settings::new(kind) })
}

fn clean() -> Server {
    run(Settings::new(Kind::Clean))
}

/// Connection and action of each entry.
fn plain(log: &[Entry]) -> Vec<(u64, Action)> {
    log.iter().map(|entry| (entry.connection, entry.action)).collect()
}

/// Waits for an entry that the client cannot see the effect of.
fn await_entries(server: &Server, count: usize) {
    let start = clock::now();
    while server.log().len() < count {
        assert!(since(start) < PATIENCE, "{:?}", server.log());
        thread::yield_now();
    }
}

/// How long ago `start` was, a reading of [`clock::now`].
fn since(start: u64) -> Duration {
    Duration::from_nanos(clock::now() - start)
}
