//! CPU profiles by `perf`, from the outside: the real binary and real servers, and a script in the place of `perf`.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use run_support::{FILE, Json, Lab, repository};

/// One server, with a profile and without. It has no admin port.
const PROFILED: &str = r#"
question = "Where does the time go?"
load = { path = "/rest/hello", expect_body = "Hello world", connections = 4 }
trials = { warm_up = "10ms", window = "200ms", blocks = 1 }
profile = { functions = ["tcp_"] }

[vary]
target = "specimen:clean"
profile = [false, true]
"#;

/// Stands in for perf: records until it is told to end, then tells what was captured of a real one.
const RECORDS: &str = r#"
case $1 in
record)
    echo "$@" >>"$here/asked"
    while [ "$1" != -o ]; do shift; done
    : >"$2"
    exec sleep 600 ;;
script) exec cat "$here/captured" ;;
esac
"#;

/// A lab with an experiment and a `perf` that does this.
fn with_perf(experiment: &str, perf: &str) -> Lab {
    let captured = repository().join("crates/observe/tests/profiles/axum.perf.txt");
    let lab = Lab::new()
        .experiment(experiment)
        .file("bin/captured", std::fs::read_to_string(captured).unwrap())
        .file("bin/perf", format!("#!/bin/sh\nhere=${{0%/*}}\n{perf}"));
    let bin = lab.path().join("bin");
    std::fs::set_permissions(bin.join("perf"), Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    lab.env("PATH", path)
}

/// What was observed in the trial that asked for a profile.
fn profiled(lab: &Lab) -> Json {
    let trials = lab.record().trials();
    let trial = trials.iter().find(|trial| trial["where"]["profile"] == "true").unwrap();
    assert!(trial["failure"].is_null() && !trial["measurement"].is_null(), "it counts: {trial}");
    trial["observation"].clone()
}

#[test]
fn a_server_that_has_no_profile_to_give_has_one_by_perf() {
    let lab = with_perf(PROFILED, RECORDS);
    lab.run(&[]).exits(0).shows(&["Profile of specimen:clean by perf (", "; the functions asked for "]);
    lab.nothing_is_left();
    let seen = profiled(&lab);
    assert_eq!(seen["profile"]["by"], "perf");
    assert!(seen["no_profile"].is_null());
    let record = lab.record();
    assert_eq!(record.files_in("profiles"), 1, "the other cell has none");
    assert!(record.has("profiles/b01-c02.perf.txt.gz"));
    assert_eq!(record.analysis()["cells"][1]["profile"]["by"][0], "perf");
    let asked = std::fs::read_to_string(lab.path().join("bin/asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "one trial asks for one: {asked}");
    let process = asked.trim().rsplit_once(" -p ").unwrap().1;
    assert!(process.split(',').all(|pid| pid.parse::<u32>().is_ok()), "{asked}");
}

#[test]
fn without_perf_it_is_said_how_to_get_it() {
    let lab = Lab::new().experiment(PROFILED).file("bin/nothing", "");
    let path = lab.path().join("bin").display().to_string();
    let lab = lab.env("PATH", path);
    lab.run(&[]).exits(0).shows(&["No profile of specimen:clean: the target gives no CPU profile: "]);
    assert_eq!(profiled(&lab)["no_profile"]["perf"], "not-installed");
    let why = lab.record().analysis()["cells"][1]["profile"]["no_profile"].clone();
    assert_eq!(why["perf"], "not-installed");
    assert!(why["text"].as_str().unwrap().contains("; `perf` is not on PATH: install linux-perf"), "{why}");
    assert_eq!(lab.record().files_in("profiles"), 0);
}

#[test]
fn a_perf_that_fails_is_told_by_its_last_line() {
    let fails = |said: &str| {
        let lab = with_perf(PROFILED, &format!("echo '{said}' >&2; exit 255"));
        lab.run(&[]).exits(0);
        lab.nothing_is_left();
        assert_eq!(lab.record().files_in("profiles"), 0);
        profiled(&lab)["no_profile"]["perf"].clone()
    };
    let failed = serde_json::json!({"how": {"exited": 255}, "said": "no room for the ring buffer"});
    assert_eq!(fails("Error:\nno room for the ring buffer")["failed"], failed);
    let why = fails("Access is limited.\nperf_event_paranoid setting is 4:\n  -1: Allow all");
    assert!(why.get("not-allowed").is_some(), "{why}");
}

#[test]
fn what_perf_records_and_cannot_tell_is_no_profile() {
    let lab = with_perf(PROFILED, &RECORDS.replace("exec cat \"$here/captured\"", "echo 'bad file' >&2; exit 1"));
    lab.run(&[]).exits(0);
    lab.nothing_is_left();
    let why = profiled(&lab)["no_profile"]["perf"]["failed"].clone();
    assert_eq!(why, serde_json::json!({"how": {"exited": 1}, "said": "bad file"}));
}

#[test]
fn perf_ends_with_bourdon_however_that_ends() {
    let begin = || {
        let lab = with_perf(&PROFILED.replace("200ms", "60s").replace("[false, true]", "true"), RECORDS);
        let mut running = lab.start(&["run", FILE]);
        running.until("perf", || lab.path().join("bin/asked").exists().then_some(()));
        (lab, running)
    };
    let (lab, mut interrupted) = begin();
    interrupted.interrupt();
    interrupted.end().exits(130);
    lab.nothing_is_left();
    drop(lab);
    let (lab, killed) = begin();
    killed.kill();
    lab.nothing_is_left();
}
