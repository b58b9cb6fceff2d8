//! Proves that a target honours the contract (targets/CONTRACT.md), so that equal work is compared.

mod digests;
mod under_load;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::MonotonicClock;
use fastrand::Rng;
use model::{Clock, ReplyExpectation, Runtime, Target, TrialFailure};
use sha2::{Digest, Sha256};

use crate::launch::{LaunchSpec, Launcher, Running};
use crate::probe::{self, Probe};

/// The delay that is asked of the handlers: long against a request without one, short for a person.
const DELAY: Duration = Duration::from_millis(100);

/// A timer may fire so much early.
const EARLY: Duration = Duration::from_millis(1);

/// How often an undelayed path is asked before it counts as delayed: a busy machine may hold up a few.
const TRIES: u32 = 5;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of the file that `/hash` reads.
const DATA_BYTES: usize = 64 * 1024;

/// One point of the contract, tried on one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The endpoint that it is about, as the contract names it.
    pub endpoint: &'static str,
    /// The point, in words.
    pub name: String,
    /// What was seen instead; none when it holds.
    pub breach: Option<String>,
}

/// Launches a target, built with one of its runtimes, and tries every point of the contract that is about what it
/// serves. `folder` takes its output; from `seed` comes what no target can have prepared for.
///
/// # Errors
/// When it cannot be launched.
pub fn check_contract(
    target: &Target,
    runtime: &Runtime,
    binary: Option<&Path>,
    launcher: &dyn Launcher,
    folder: &Path,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Vec<Check>, TrialFailure> {
    let settings = BTreeMap::from([("HANDLER_DELAY".to_owned(), format!("{}ms", DELAY.as_millis()))]);
    let spec = LaunchSpec {
        target,
        binary,
        runtime,
        settings: &settings,
        cpus: &[],
        output: &folder.join(format!("{}.log", target.name)),
    };
    let running = launcher.launch(&spec, stop)?;
    let mut checks = bodies(running.address());
    checks.extend(delays(running.address(), target));
    checks.extend(digests::digests(running.address(), &data(), seed));
    checks.extend(refusals(running.address()));
    checks.extend(metrics(running.as_ref()));
    checks.extend(under_load::under_load(running.address(), target, &data(), seed, stop));
    running.stop();
    checks.retain(|check| target.serves(check.endpoint));
    Ok(checks)
}

/// The file that `/hash` reads, in the folder that each launch has to itself.
pub(crate) const DATA_FILE: &str = "data";

/// The bytes of the file that `/hash` reads, which no compression or guess gives: a chain of digests.
pub(crate) fn data() -> Vec<u8> {
    let mut data = Vec::with_capacity(DATA_BYTES);
    let mut block = Sha256::digest(b"bourdon");
    while data.len() < DATA_BYTES {
        data.extend_from_slice(&block);
        block = Sha256::digest(block);
    }
    data
}

/// Eight letters and digits.
fn word(rng: &mut Rng) -> String {
    (0..8).map(|_| rng.alphanumeric()).collect()
}

fn expecting(status: u16, body: Option<&str>) -> ReplyExpectation {
    ReplyExpectation { status: Some(status), body: body.map(|text| text.as_bytes().to_vec()) }
}

/// Sends one request; gives what is wrong with its reply.
fn ask(address: SocketAddr, probe: &Probe<'_>) -> Option<String> {
    match probe::send(address, probe, TIMEOUT) {
        Err(error) => Some(error.to_string()),
        Ok(reply) if !reply.status_ok => Some(format!("status {}", reply.status)),
        Ok(reply) if !reply.body_ok => Some("another body".to_owned()),
        Ok(_) => None,
    }
}

fn reply(address: SocketAddr, endpoint: &'static str, path: &str, status: u16, body: Option<&str>) -> Check {
    let wanted = body.map_or(format!("status {status}"), |body| format!("{body:?}"));
    let breach = ask(address, &Probe { path, expect: expecting(status, body), ..Probe::default() });
    Check { endpoint, name: format!("GET {path} gives {wanted}"), breach }
}

fn submit(address: SocketAddr, sent: &str, status: u16, body: Option<&str>) -> Check {
    let probe = Probe { method: "POST", path: "/submit", body: sent.as_bytes(), expect: expecting(status, body) };
    let wanted =
        if body.is_some() { "echoes its JSON".to_owned() } else { format!("gives status {status} for {sent:?}") };
    Check { endpoint: "/submit", name: format!("POST /submit {wanted}"), breach: ask(address, &probe) }
}

fn bodies(address: SocketAddr) -> Vec<Check> {
    let json = r#"{"name":"bourdon","numbers":[1,2.50,-3e4],"text":"\u00e9 \"q\""}"#;
    vec![
        reply(address, "/", "/", 200, Some("Welcome!\n")),
        reply(address, "/rest/hello", "/rest/hello", 200, Some("Hello world")),
        reply(address, "/index", "/index", 200, Some("index\n")),
        reply(address, "/hello/:name", "/hello/bourdon", 200, Some("hello, bourdon!\n")),
        reply(address, "/user/:id", "/user/42", 200, Some(r#"{"id":"42","name":"User"}"#)),
        reply(address, "/ping", "/ping", 200, Some(r#"{"message":"pong"}"#)),
        reply(address, "/whoami", "/whoami", 200, None),
        submit(address, json, 200, Some(json)),
    ]
}

fn refusals(address: SocketAddr) -> Vec<Check> {
    vec![
        reply(address, "/", "/nothing/here", 404, None),
        reply(address, "/rest/hello", "/rest", 404, None),
        reply(address, "/user/:id", "/user", 404, None),
        reply(address, "/hash", "/hash?n=0", 400, None),
        reply(address, "/hash", "/hash?n=many", 400, None),
        submit(address, "{broken", 400, None),
    ]
}

fn timed(address: SocketAddr, path: &str) -> Duration {
    let start_ns = MonotonicClock.now_ns();
    let _ = ask(address, &Probe { path, ..Probe::default() });
    Duration::from_nanos(MonotonicClock.now_ns() - start_ns)
}

/// The delay is kept where it belongs; a target without the setting promises none.
fn delays(address: SocketAddr, target: &Target) -> Vec<Check> {
    if !target.settings.contains_key("handler_delay") {
        return Vec::new();
    }
    let waits = ["/rest/hello", "/index"].map(|path| {
        let shortest = (0..TRIES).map(|_| timed(address, path)).min().unwrap_or_default();
        let breach = (shortest + EARLY < DELAY).then(|| format!("answered after {shortest:.1?}"));
        Check { endpoint: path, name: format!("GET {path} really waits {DELAY:?}"), breach }
    });
    let shortest = (0..TRIES).map(|_| timed(address, "/ping")).min().unwrap_or_default();
    let breach = (shortest >= DELAY).then(|| format!("answered after {shortest:.1?}"));
    let ping = Check { endpoint: "/ping", name: "GET /ping does not wait".to_owned(), breach };
    waits.into_iter().chain([ping]).collect()
}

fn metrics(running: &dyn Running) -> Option<Check> {
    let address = running.admin_address()?;
    let breach = ask(address, &Probe { path: "/metrics", expect: expecting(200, None), ..Probe::default() });
    Some(Check { endpoint: "/metrics", name: "ADMIN_PORT /metrics answers".to_owned(), breach })
}
