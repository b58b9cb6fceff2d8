//! What the endpoints do, and the four ways of not doing it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use super::http::{Answer, JSON, Request, TEXT, unescaped};
use crate::kind::Kind;
use crate::settings::Settings;

const MOST_PASSES: u64 = 100_000;

pub(super) struct Work {
    kind: Kind,
    delay: Duration,
    data_file: Option<PathBuf>,
    /// Requests that are being answered.
    in_flight: AtomicUsize,
    /// Digests by number of passes, of the first nonce each.
    first: Mutex<HashMap<u64, String>>,
}

impl Work {
    pub(super) fn new(settings: &Settings) -> Self {
        Work {
            kind: settings.kind,
            delay: settings.handler_delay,
            data_file: settings.data_file.clone(),
            in_flight: AtomicUsize::new(0),
            first: Mutex::default(),
        }
    }

    /// Answers a request; `thread` is the number of the thread that does.
    pub(super) fn answer(&self, request: &Request, thread: u64) -> Answer {
        let others = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let answer = self.route(request, thread, others);
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.kind == Kind::WrongType { answer.called("text/html") } else { answer }
    }

    fn route(&self, request: &Request, thread: u64, others: usize) -> Answer {
        let path: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
        match (request.method.as_str(), &path[..]) {
            ("GET", [""]) => Answer::ok(TEXT, "Welcome!\n"),
            ("GET", ["rest", "hello"]) => self.wait(others, "Hello world"),
            ("GET", ["index"]) => self.wait(others, "index\n"),
            ("GET", ["hello", name]) if !name.is_empty() => Answer::ok(TEXT, format!("hello, {}!\n", unescaped(name))),
            ("GET", ["user", id]) if !id.is_empty() => {
                let id = serde_json::Value::from(unescaped(id));
                Answer::ok(JSON, format!("{{\"id\":{id},\"name\":\"User\"}}"))
            }
            ("GET", ["ping"]) => Answer::ok(JSON, r#"{"message":"pong"}"#),
            ("POST", ["submit"]) => match serde_json::from_slice::<IgnoredAny>(&request.body) {
                Ok(_) => Answer::ok(JSON, request.body.clone()),
                Err(_) => Answer::error(400),
            },
            ("GET", ["hash"]) => self.hash(&request.query),
            ("GET", ["whoami"]) => Answer::ok(TEXT, format!("thread {thread}")),
            _ => Answer::error(404),
        }
    }

    /// Answers a request to the admin port.
    pub(super) fn admin(&self, request: &Request) -> Answer {
        match request.path.as_str() {
            "/metrics" => {
                let in_flight = self.in_flight.load(Ordering::Relaxed);
                Answer::ok(TEXT, format!("# TYPE requests_in_flight gauge\nrequests_in_flight {in_flight}\n"))
            }
            _ => Answer::error(404),
        }
    }

    fn wait(&self, others: usize, body: &str) -> Answer {
        let skips = self.kind == Kind::SkippedDelay && others > 0;
        if !self.delay.is_zero() && !skips {
            thread::sleep(self.delay);
        }
        Answer::ok(TEXT, body)
    }

    fn hash(&self, query: &str) -> Answer {
        let value = |name: &str| query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        let passes = value("n").and_then(|(_, n)| n.parse().ok()).filter(|n| (1..=MOST_PASSES).contains(n));
        let Some(passes) = passes else { return Answer::error(400) };
        let Some(file) = &self.data_file else { return Answer::error(503) };
        let Ok(data) = std::fs::read(file) else { return Answer::error(500) };
        let nonce = unescaped(value("nonce").map_or("", |(_, nonce)| nonce));
        let done = if self.kind == Kind::SkippedPasses { 1 } else { passes };
        let digest = || digest(&data, done, &nonce);
        if self.kind != Kind::CachedReply {
            return Answer::ok(TEXT, digest());
        }
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        Answer::ok(TEXT, first.entry(passes).or_insert_with(digest).clone())
    }
}

fn digest(data: &[u8], passes: u64, nonce: &str) -> String {
    let mut hash = Sha256::new();
    (0..passes).for_each(|_| hash.update(data));
    hash.update(nonce.as_bytes());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
