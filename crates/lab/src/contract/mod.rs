//! Proves that a target honours the contract (targets/CONTRACT.md), so that equal work is compared.

mod digests;
mod kinds;
mod media_type;
mod under_load;
mod ways;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::MonotonicClock;
use fastrand::Rng;
use model::{Clock, Factor, ReplyExpectation, Target, WrongReply};

use crate::client::{Answer, Client, Probe};
use crate::furnish::data;
use crate::launch::{Running, Unlaunched};
use crate::tls::Place;

/// The delay that is asked of the handlers: long against a request without one, short for a person.
const DELAY: Duration = Duration::from_millis(100);

/// A timer may fire so much early.
const EARLY: Duration = Duration::from_millis(1);

/// How often an undelayed path is asked before it counts as delayed: a busy machine may hold up a few.
const TRIES: u32 = 5;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Largest reply that is taken.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The Content-Type of the contract's texts.
const TEXT: &str = "text/plain; charset=utf-8";

/// And of its JSON.
const JSON: &str = "application/json";

/// That of JSON as many frameworks make it.
const JSON_IN_UTF8: &str = "application/json; charset=utf-8";

/// One point of the contract, tried on one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The endpoint that it is about, as the contract names it.
    pub endpoint: &'static str,
    /// The point, in words.
    pub name: String,
    /// What was seen instead; none when it holds.
    pub breach: Option<ContractBreach>,
}

/// What was seen instead of what the contract says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractBreach {
    /// In words.
    pub seen: String,
    /// The reply, where one was wrong.
    pub wrong: Option<WrongReply>,
}

impl From<String> for ContractBreach {
    fn from(seen: String) -> Self {
        ContractBreach { seen, wrong: None }
    }
}

/// Starts what a check is about with these settings in its environment, and with an admin server where that is asked for.
pub type Launch<'a> = &'a mut dyn FnMut(&BTreeMap<String, String>, bool) -> Result<Box<dyn Running>, Unlaunched>;

/// Launches a target and checks every point of the contract that is about what it serves. From `seed` comes what no
/// target can have prepared for.
///
/// # Errors
/// When it cannot be launched.
pub fn check_contract(
    target: &Target,
    launch: Launch<'_>,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<Check>, Unlaunched> {
    let settings = BTreeMap::from([("HANDLER_DELAY".to_owned(), format!("{}ms", DELAY.as_millis()))]);
    let running = launch(&settings, true)?;
    let place =
        &Place::new(running.address(), running.tls()).map_err(|error| Unlaunched::Prevented(error.to_string()))?;
    let mut checks = bodies(place);
    checks.extend(delays(place, target));
    checks.extend(digests::digests(place, &data(), seed));
    checks.extend(refusals(place));
    checks.extend(metrics(running.as_ref()));
    let (address, tls) = (running.address(), running.tls());
    checks.extend(under_load::under_load((address, tls), target, &data(), seed, stop));
    running.stop();
    checks.extend(ways::other_ways(target, launch, seed)?);
    checks.retain(|check| target.serves(check.endpoint));
    checks.extend(ways::where_it_listens(launch)?);
    Ok(checks)
}

/// What a framework makes of the values behind the two endpoints of JSON.
const RENDERED: [(&str, &str, &str); 2] =
    [("/user/:id", "/user/42", r#"{"id":"42","name":"User"}"#), ("/ping", "/ping", r#"{"message":"pong"}"#)];

/// What is wrong with a body that a framework made: it may end it with a newline, and name the charset.
fn rendered(place: &Place, path: &str, wanted: &str) -> Option<ContractBreach> {
    let ended = format!("{wanted}\n");
    let as_it_is = |body: &str, content_type: &str| {
        let probe = Probe { path, expect: expecting(200, Some(body)), ..Probe::default() };
        ask(place, &probe, Some(content_type))
    };
    let mut others = [wanted, &ended].into_iter().flat_map(|body| [JSON, JSON_IN_UTF8].map(|kind| (body, kind)));
    let (body, kind) = others.next()?;
    let first = as_it_is(body, kind)?;
    others.all(|(body, kind)| as_it_is(body, kind).is_some()).then_some(first)
}

/// Eight letters and digits.
fn word(rng: &mut Rng) -> String {
    (0..8).map(|_| rng.alphanumeric()).collect()
}

fn expecting(status: u16, body: Option<&str>) -> ReplyExpectation {
    ReplyExpectation { status: Some(status), body: body.map(|text| text.as_bytes().to_vec()) }
}

/// What the contract says of a reply; none where the contract leaves it free.
#[derive(Debug, Clone, Copy)]
struct Wanted<'a> {
    status: u16,
    content_type: Option<&'a str>,
    body: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn text(body: &'a str) -> Self {
        Wanted { status: 200, content_type: Some(TEXT), body: Some(body) }
    }

    fn json(body: &'a str) -> Self {
        Wanted { status: 200, content_type: Some(JSON), body: Some(body) }
    }

    /// A handler's refusal: a text that is its own.
    fn refusal(status: u16) -> Self {
        Wanted { status, content_type: Some(TEXT), body: None }
    }

    fn status(status: u16) -> Self {
        Wanted { status, content_type: None, body: None }
    }

    fn expectation(&self) -> ReplyExpectation {
        expecting(self.status, self.body)
    }
}

/// Sends one request; gives what is wrong with its reply, whose Content-Type may be any where none is named.
fn ask(place: &Place, probe: &Probe<'_>, content_type: Option<&str>) -> Option<ContractBreach> {
    match Client::new(place, TIMEOUT, MOST_BYTES).ask(probe) {
        Err(error) => Some(error.to_string().into()),
        // Which status or body came is for the wrong reply to say.
        Ok(Answer { reply, wrong, .. }) if !reply.status_ok => {
            Some(ContractBreach { seen: "wrong status".to_owned(), wrong })
        }
        Ok(Answer { reply, wrong, .. }) if !reply.body_ok => {
            Some(ContractBreach { seen: "wrong body".to_owned(), wrong })
        }
        Ok(Answer { content_types, .. }) => media_type::breach(&content_types, content_type?).map(ContractBreach::from),
    }
}

fn reply(place: &Place, endpoint: &'static str, path: &str, wanted: Wanted<'_>) -> Check {
    let probe = Probe { path, expect: wanted.expectation(), ..Probe::default() };
    let gives = wanted.body.map_or(format!("status {}", wanted.status), |body| format!("{body:?}"));
    Check { endpoint, name: format!("GET {path} gives {gives}"), breach: ask(place, &probe, wanted.content_type) }
}

fn submit(place: &Place, sent: &str, wanted: Wanted<'_>) -> Check {
    let probe = Probe { method: "POST", path: "/submit", body: sent.as_bytes(), expect: wanted.expectation() };
    let does = match wanted.body {
        Some(_) => "echoes its JSON".to_owned(),
        None => format!("gives status {} for {sent:?}", wanted.status),
    };
    let breach = ask(place, &probe, wanted.content_type);
    Check { endpoint: "/submit", name: format!("POST /submit {does}"), breach }
}

fn bodies(place: &Place) -> Vec<Check> {
    let json = r#"{"name":"bourdon","numbers":[1,2.50,-3e4],"text":"\u00e9 \"q\""}"#;
    vec![
        reply(place, "/", "/", Wanted::text("Welcome!\n")),
        reply(place, "/rest/hello", "/rest/hello", Wanted::text("Hello world")),
        reply(place, "/index", "/index", Wanted::text("index\n")),
        reply(place, "/hello/:name", "/hello/bourdon", Wanted::text("hello, bourdon!\n")),
        reply(place, "/user/:id", "/user/42", Wanted::json(r#"{"id":"42","name":"User"}"#)),
        reply(place, "/ping", "/ping", Wanted::json(r#"{"message":"pong"}"#)),
        reply(place, "/whoami", "/whoami", Wanted { status: 200, content_type: Some(TEXT), body: None }),
        submit(place, json, Wanted::json(json)),
    ]
}

fn refusals(place: &Place) -> Vec<Check> {
    vec![
        reply(place, "/", "/nothing/here", Wanted::status(404)),
        reply(place, "/rest/hello", "/rest", Wanted::status(404)),
        reply(place, "/user/:id", "/user", Wanted::status(404)),
        reply(place, "/hash", "/hash?n=0", Wanted::refusal(400)),
        reply(place, "/hash", "/hash?n=many", Wanted::refusal(400)),
        submit(place, "{broken", Wanted::refusal(400)),
    ]
}

/// The shortest of several waits for a good reply, or why there was none.
fn shortest(place: &Place, path: &str) -> Result<Duration, Box<ContractBreach>> {
    let probe = Probe { path, expect: expecting(200, None), ..Probe::default() };
    let timed = |_| {
        let start_ns = MonotonicClock.now_ns();
        let breach = ask(place, &probe, None);
        let waited = Duration::from_nanos(MonotonicClock.now_ns() - start_ns);
        breach.map_or(Ok(waited), |breach| Err(Box::new(breach)))
    };
    let waits: Result<Vec<Duration>, Box<ContractBreach>> = (0..TRIES).map(timed).collect();
    waits.map(|waits| waits.into_iter().min().unwrap_or_default())
}

/// The delay is kept where it belongs; a target without the setting promises none.
fn delays(place: &Place, target: &Target) -> Vec<Check> {
    if !target.settings.contains_key(Factor::HandlerDelay.id()) {
        return Vec::new();
    }
    let check = |endpoint, name, keeps: fn(Duration) -> bool| {
        let breach = match shortest(place, endpoint) {
            Ok(shortest) if keeps(shortest) => None,
            Ok(shortest) => Some(format!("answered after {shortest:.1?}").into()),
            Err(breach) => Some(*breach),
        };
        Check { endpoint, name, breach }
    };
    let waits = |path| check(path, format!("GET {path} really waits {DELAY:?}"), |shortest| shortest + EARLY >= DELAY);
    let ping = check("/ping", "GET /ping does not wait".to_owned(), |shortest| shortest < DELAY);
    vec![waits("/rest/hello"), waits("/index"), ping]
}

fn metrics(running: &dyn Running) -> Option<Check> {
    let place = &Place::plain(running.admin_address()?);
    let probe = Probe { path: "/metrics", expect: expecting(200, None), ..Probe::default() };
    let (name, breach) = ("ADMIN_PORT /metrics answers".to_owned(), ask(place, &probe, None));
    Some(Check { endpoint: "/metrics", name, breach })
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use model::LaunchRecipe;

    use super::*;

    /// Where a server says this on each connection, and nothing else.
    fn saying(reply: &'static str) -> Place {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Place::plain(listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                // A client that is gone has seen enough.
                let _ = stream.read(&mut [0; 1024]).and_then(|_| stream.write_all(reply.as_bytes()));
            }
        });
        place
    }

    /// What the points of the delay break there.
    fn breaches(reply: &'static str) -> Vec<Option<ContractBreach>> {
        let place = saying(reply);
        let launch: LaunchRecipe = toml::from_str("run = [\"x\"]\ncwd = \"/\"\nready = \"/ping\"").unwrap();
        let mut target = Target::of("it", launch);
        let delay = toml::from_str("env = \"HANDLER_DELAY\"\ntype = \"duration\"\ndefault = \"0ms\"").unwrap();
        target.settings.insert(Factor::HandlerDelay.id().to_owned(), delay);
        delays(&place, &target).into_iter().map(|check| check.breach).collect()
    }

    #[test]
    fn a_framework_may_end_its_json_with_a_newline_and_name_its_charset() {
        let of = |reply| rendered(&saying(reply), "/ping", r#"{"message":"pong"}"#).map(|breach| breach.seen);
        let good =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"message\":\"pong\"}";
        let iris = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 19\r\n\r\n\
                    {\"message\":\"pong\"}\n";
        assert_eq!((of(good), of(iris)), (None, None));
        let spaced =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n{\"message\": \"pong\"}";
        let text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 18\r\n\r\n{\"message\":\"pong\"}";
        assert_eq!(of(spaced).as_deref(), Some("wrong body"));
        assert!(of(text).is_some_and(|seen| seen.contains("text/plain")));
    }

    #[test]
    fn a_server_that_fails_has_neither_waited_nor_answered_at_once() {
        for (reply, seen) in [("", "end of file"), ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "wrong status")] {
            let breaches = breaches(reply);
            assert_eq!(breaches.len(), 3);
            for breach in breaches {
                assert!(breach.as_ref().is_some_and(|breach| breach.seen.contains(seen)), "{reply:?}: {breach:?}");
            }
        }
    }
}
