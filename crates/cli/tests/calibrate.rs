//! `bourdon calibrate`, and what the other commands make of what it kept.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use run_support::{Json, Lab, Outcome, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use specimens::{Kind, LogSink, Settings};

const KEPT: &str = "state/bourdon/calibration.json";

fn kept(lab: &Lab) -> Json {
    serde_json::from_str(&std::fs::read_to_string(lab.path().join(KEPT)).unwrap()).unwrap()
}

/// A lab whose machine was calibrated; `change` is made to what was kept.
fn calibrated(change: impl FnOnce(&mut Json)) -> Lab {
    static MADE: OnceLock<Json> = OnceLock::new();
    let make = || Lab::new().bourdon(&["calibrate", "--duration", "20ms", "--format", "json"]).json();
    let mut calibration = MADE.get_or_init(make).clone();
    change(&mut calibration);
    Lab::new().file(KEPT, calibration.to_string())
}

/// What `bourdon load` says of a clean server.
fn load(lab: &Lab, args: &[&str]) -> Json {
    let server = specimens::start(Settings::new(Kind::Clean), LogSink::None).unwrap();
    let url = format!("http://{}/rest/hello", server.address());
    lab.bourdon(&[&["load", &url, "--format", "json", "-d", "200ms", "--warm-up", "0s"], args].concat()).json()
}

fn first_reason(document: &Json) -> &Json {
    &document["validity"]["reasons"][0]
}

/// The rate up to which the calibration trusts the generator, where the load says that its own is higher.
fn trusted_per_s(document: &Json) -> Option<f64> {
    first_reason(document)["limit"]["rate-sent"]["trusted_per_s"].as_f64()
}

/// The highest rate, below any at which two attempts failed, at which two held; by what docs/METHOD.md says of an attempt.
fn trusted(rates: &[Json]) -> Option<f64> {
    let holds = |step: &Json| {
        let [due, sent, late, waited] =
            ["scheduled", "sent", "late_generator", "late_no_connection"].map(|count| step[count].as_f64().unwrap());
        sent >= 0.999 * due && late + waited <= 0.01 * due
    };
    let mut attempts: BTreeMap<u64, [usize; 2]> = BTreeMap::new();
    for step in rates {
        attempts.entry(step["rate_per_s"].as_f64().unwrap() as u64).or_default()[usize::from(holds(step))] += 1;
    }
    let sound = attempts.into_iter().take_while(|(_, [failed, _])| *failed < 2);
    sound.filter(|(_, [_, held])| *held >= 2).last().map(|(rate_per_s, _)| rate_per_s as f64)
}

#[test]
fn what_is_measured_is_printed_and_kept() {
    let lab = Lab::new();
    // Long enough that somebody is served however busy the machine is.
    let outcome = lab.bourdon(&["calibrate", "--duration", "100ms", "--format", "json"]);
    lab.nothing_is_left();
    let document = outcome.json();
    assert_eq!(document["schema"], "bourdon.calibration/1");
    let rates = document["rates"].as_array().unwrap();
    assert!(rates.len() >= 2 && rates[0]["rate_per_s"] == 1_000.0, "{document}");
    // On a machine that is too busy no rate can be trusted, and the status says so.
    let trusted = trusted(rates);
    assert_eq!(document["limits"]["open_rate_per_s"].as_f64(), trusted, "{document}");
    assert_eq!(outcome.status, Some(if trusted.is_some() { 0 } else { 3 }), "{outcome:?}");
    match trusted {
        Some(_) => assert_eq!(document, kept(&lab)),
        None => assert!(!lab.path().join(KEPT).exists(), "what says nothing is not kept"),
    }
    assert_eq!(document["clock"]["backward"], 0);
    let sleeps: Vec<f64> =
        document["sleep"].as_array().unwrap().iter().map(|s| s["asked_us"].as_f64().unwrap()).collect();
    assert_eq!(sleeps, [50.0, 1_000.0, 10_000.0]);
    let ceilings = document["ceilings"].as_array().unwrap();
    let shapes: Vec<(u64, u64)> =
        ceilings.iter().map(|it| (it["connections"].as_u64().unwrap(), it["pipeline"].as_u64().unwrap())).collect();
    assert_eq!(shapes, [(100, 1), (1_000, 1), (100, 16)]);
    assert!(ceilings.iter().any(|it| it["requests_per_s"].as_f64().unwrap() > 0.0), "{document}");
}

#[test]
fn a_load_is_judged_by_what_was_kept() {
    let limits = serde_json::json!({ "ceiling_per_s": 20.0, "pipelined_ceiling_per_s": 20.0, "open_rate_per_s": 10.0 });
    let lab = calibrated(|calibration| calibration["limits"] = limits);
    let open = load(&lab, &["-R", "200"]);
    assert!(trusted_per_s(&open).is_some_and(|rate| (10.0..11.0).contains(&rate)), "{}", first_reason(&open));
    let closed = load(&lab, &["-c", "1"]);
    assert_eq!(closed["validity"]["verdict"], "at_least", "{}", first_reason(&closed));
}

#[test]
fn a_calibration_of_another_machine_says_nothing() {
    let lab = calibrated(|calibration| {
        calibration["limits"] =
            serde_json::json!({ "ceiling_per_s": 20.0, "pipelined_ceiling_per_s": 20.0, "open_rate_per_s": 10.0 });
        calibration["instrument"]["kernel"] = "another".into();
    });
    let ended = lab.bourdon(&["load", "http://127.0.0.1:1/", "-n", "1", "-d", "10ms"]);
    ended.says(&["was made on another machine or kernel", "make another with bourdon calibrate"]);
    let open = load(&lab, &["-R", "200"]);
    assert_eq!(trusted_per_s(&open), None, "{}", first_reason(&open));
}

#[test]
fn a_calibration_that_found_nothing_to_trust_is_told_to_who_relies_on_it() {
    let lab = calibrated(|calibration| calibration["limits"] = Json::Null);
    let ended = lab.bourdon(&["load", "http://127.0.0.1:1/", "-n", "1", "-d", "10ms"]);
    let said = ended.stderr.matches("found no open rate that can be trusted").count();
    assert_eq!(said, 1, "{}", ended.stderr);
}

#[test]
fn interrupted_it_keeps_nothing_and_leaves_nothing() {
    let lab = Lab::new();
    let mut started = lab.start(&["calibrate", "--duration", "30s"]);
    started.until("the null responder", || lab.alive().iter().any(|it| it.contains("specimen")).then_some(()));
    started.interrupt();
    started.end().exits(130).says(&["nothing was kept"]);
    assert!(!lab.path().join(KEPT).exists());
    lab.nothing_is_left();
}

#[test]
fn a_null_responder_that_ends_is_told_and_nothing_is_kept() {
    let lab = Lab::new();
    let mut started = lab.start(&["calibrate", "--duration", "1s"]);
    let responder = started.until("the null responder", || {
        let is_it = |it: &String| it.trim_end().ends_with(" specimen clean") && !it.contains("reaper");
        lab.alive().into_iter().find(is_it)?.split_once(':')?.0.parse().ok().and_then(Pid::from_raw)
    });
    kill_process(responder, Signal::KILL).unwrap();
    started.end().exits(4).says(&["the null responder: it was ended by signal 9 (SIGKILL)"]);
    assert!(!lab.path().join(KEPT).exists());
    lab.nothing_is_left();
}

/// A calibration in `lab` that found a rate to trust. A busy machine gets five tries; where all fail, that is said.
fn calibrate(lab: &Lab, args: &[&str]) -> Option<Outcome> {
    let arguments = [&["calibrate", "--duration", "20ms"], args].concat();
    let found = (0..5).map(|_| lab.bourdon(&arguments)).find(|outcome| outcome.status != Some(3));
    if found.is_none() {
        eprintln!("NOT RUN: the machine is too busy for a rate that can be trusted");
    }
    found
}

#[test]
fn what_cannot_be_kept_is_printed_and_what_is_missing_is_said_before_and_after() {
    let lab = Lab::new().env("XDG_STATE_HOME", "/dev/null/state");
    let Some(outcome) = calibrate(&lab, &["--format", "json"]) else { return };
    assert_eq!(outcome.json()["schema"], "bourdon.calibration/1");
    let outcome = outcome.exits(2);
    let (before, after) = outcome.stderr.split_once("clock and sleeps").unwrap();
    for said in [before, after] {
        assert!(said.contains("/dev/null/state/bourdon") && said.contains("XDG_STATE_HOME"), "{said}");
    }
}

#[test]
fn a_calibration_whose_last_step_fails_is_printed_and_leaves_nothing_unfinished() {
    // A folder where the file belongs.
    let lab = Lab::new().file("state/bourdon/calibration.json/x", "");
    let Some(outcome) = calibrate(&lab, &[]) else { return };
    outcome.exits(2).says(&["not kept in", "calibration.json: "]).shows(&["lock"]);
    let left = std::fs::read_dir(lab.path().join("state/bourdon")).unwrap().count();
    assert_eq!(left, 1, "something unfinished is left");
}

#[test]
fn a_calibration_of_another_schema_takes_no_part_and_that_is_said() {
    let lab = calibrated(|calibration| {
        calibration["schema"] = "bourdon.calibration/2".into();
        calibration["limits"] =
            serde_json::json!({ "ceiling_per_s": 20.0, "pipelined_ceiling_per_s": 20.0, "open_rate_per_s": 10.0 });
    });
    let server = specimens::start(Settings::new(Kind::Clean), LogSink::None).unwrap();
    let url = format!("http://{}/rest/hello", server.address());
    let outcome = lab.bourdon(&["load", &url, "--format", "json", "-d", "200ms", "-R", "200"]);
    let outcome = outcome.says(&["unknown schema `bourdon.calibration/2`", "bourdon calibrate"]);
    assert_eq!(trusted_per_s(&outcome.json()), None);
}

#[test]
fn what_a_killed_calibration_leaves_goes_with_the_next() {
    let lab = Lab::new();
    let mut started = lab.start(&["calibrate", "--duration", "30s"]);
    started.until("the null responder", || lab.alive().iter().any(|it| it.contains("specimen")).then_some(()));
    started.kill();
    let left = wait_until("the end of what it started", || {
        let mut left = std::fs::read_dir(lab.temporary()).unwrap().map(|entry| entry.unwrap().path());
        left.next().filter(|_| lab.alive().is_empty() && left.next().is_none())
    });
    std::fs::File::open(&left).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    lab.bourdon(&["calibrate", "--duration", "20ms"]);
    lab.nothing_is_left();
}

#[test]
fn what_cannot_be_printed_is_kept() {
    let lab = Lab::new();
    let to_a_full_device = ["sh", "-c", "exec \"$0\" \"$@\" > /dev/full"];
    let outcome = lab.bourdon_under(&to_a_full_device, &["calibrate", "--duration", "20ms"]).exits(2);
    // On a machine that is too busy no rate can be trusted: that is said, and nothing is kept.
    assert_eq!(outcome.stderr.contains("\nkept in "), lab.path().join(KEPT).exists(), "{outcome:?}");
    outcome.says(&["cannot write to stdout", "kept"]);
}
