//! What others would say of a case: one load of it by what it is consistent with, and of Node the rules of Clinic.js Doctor.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::BOURDON;
use crate::around::Server;
use crate::cases::Case;

/// Load of one look, and the heavy requests beside it where the case has some.
const LIGHT: [&str; 6] = ["-c", "50", "-d", "5s", "--format", "json"];
const HEAVY: [&str; 6] = ["-R", "2", "-d", "5s", "--format", "json"];

/// Clinic.js Doctor calls it the event loop from these delays on, in milliseconds: of the median, or of the longest.
const LOOP_MEDIAN_MS: f64 = 10.0;
const LOOP_LONGEST_MS: f64 = 100.0;

/// Collections, from so many milliseconds of a second on.
const COLLECTIONS_MS: f64 = 100.0;

/// Input and output, where nine tenths of the looks saw less than so much of a CPU used.
const CPU: f64 = 0.9;

/// What a load alone says, and what Clinic's rules do where the server is one of Node.
pub(crate) fn of(case: &Case, run: &str, upstream: Option<SocketAddr>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let looks = folder.path().join("looks.json");
    let mut words = vec!["env".to_owned(), format!("CLINIC={}", looks.display())];
    words.extend(upstream.map(|address| format!("UPSTREAM={address}")));
    words.extend(run.split_whitespace().map(str::to_owned));
    let server = Server::start(&words);
    let heavy = case.options.contains(&"--heavy").then(|| load(&server, "/heavy", &HEAVY));
    let output = load(&server, "/", &LIGHT).wait_with_output().unwrap();
    heavy.into_iter().for_each(|mut heavy| drop(heavy.wait()));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let consistent = answer["validity"]["suspicions"].as_array().into_iter().flatten();
    let passive: Vec<&str> = consistent.filter_map(suspect).collect();
    let clinic = if case.runtime == "node" { clinic(&looks) } else { Value::Null };
    json!({ "passive": passive, "clinic": clinic })
}

fn load(server: &Server, path: &str, options: &[&str]) -> Child {
    let mut command = Command::new(BOURDON);
    command.arg("load").arg(format!("http://{}{path}", server.address)).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The suspect that a load is consistent with.
fn suspect(said: &Value) -> Option<&str> {
    let name = said.as_object()?.keys().find(|name| *name != "text")?;
    Some(if name == "regular-stalls" { "stalls" } else { name })
}

/// One label, as Clinic gives it, by what the server saw of itself.
fn clinic(looks: &Path) -> Value {
    let Ok(text) = std::fs::read_to_string(looks) else { return Value::Null };
    let seen: Value = serde_json::from_str(&text).unwrap();
    let of = |key: &str| seen[key].as_f64().unwrap();
    json!(if of("collections_ms_in_a_second") >= COLLECTIONS_MS {
        "collections"
    } else if of("loop_median_ms") >= LOOP_MEDIAN_MS || of("loop_longest_ms") >= LOOP_LONGEST_MS {
        "event-loop"
    } else if of("cpu_p90") < CPU {
        "input-output"
    } else {
        "none"
    })
}

/// Whether a label of Clinic's may be meant for a fault.
pub(crate) fn may_mean(label: &str, suspect: &str) -> bool {
    match label {
        "event-loop" => ["blocked-loop", "stalls"].contains(&suspect),
        "input-output" => ["limit", "round-trips", "delayed-ack"].contains(&suspect),
        "collections" => suspect == "memory-growth",
        _ => false,
    }
}
