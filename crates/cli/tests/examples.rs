//! The experiments that are shipped or shown, and what a machine without their toolchains makes of them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use std::process::Command;

use run_support::{Json, Lab, is_here, names, repository};

/// An experiment on a target for which the compiler is missing.
const MISSING: &str = r#"
question = "What remains without a compiler?"
load = { path = "/rest/hello", expect_body = "Hello world" }
trials = { warm_up = "10ms", window = "50ms", blocks = 6 }

[vary]
target = ["go-net-http"]
handler_delay = ["0ms", "5ms"]
connections = 10

[[claim]]
name = "is-quick"
says = "It is quick."
expect = "throughput(go-net-http, handler_delay = 5ms) > 10"
"#;
const MISSING_TARGET: &str = r#"
name = "go-net-http"
title = "net/http"
toolchain = { command = "no-such-compiler", version = "no-such-compiler --version", get = "https://example.org/get" }
build.run = "no-such-compiler -o $TARGET_BIN"
launch = { run = "$TARGET_BIN", ready = "/ping" }
settings.handler_delay = { env = "HANDLER_DELAY", type = "duration", default = "0ms" }
"#;

#[test]
fn without_any_toolchain_specimens_stand_in() {
    let lab = Lab::new().experiment(MISSING).file("targets/go/net-http/target.toml", MISSING_TARGET);
    let nowhere = lab.path().join("nothing-here").display().to_string();
    let lab = lab.env("PATH", nowhere);
    let cure = "go-net-http: `no-such-compiler` is not on PATH; get it from https://example.org/get";
    let run = lab.run(&["--blocks", "1"]).exits(0);
    let run = run.says(&[cure, "running on bourdon's own specimens instead"]);
    run.shows(&["Absent: go-net-http", "https://example.org/get", "not testable here", "specimen:clean"]);
    let (record, analysis) = (lab.record(), lab.record().analysis());
    record.is_whole(1, 4);
    assert_eq!(names(&analysis["absent"], "name"), ["go-net-http"]);
    assert_eq!(analysis["claims"][0]["verdict"], "not-testable");
    ["specimen:clean", "specimen:serialised"].iter().for_each(|target| record.all_measured(target, 2));
}

#[test]
fn no_specimen_stands_in_for_a_router() {
    let mixed =
        "question = \"Which?\"\nload.mix = { file = \"routes.txt\", set = \"s\" }\nvary.target = \"go-net-http\"\n";
    let lab = Lab::new().experiment(mixed).file("routes.txt", "s GET /a\ns GET /b\n");
    let lab = lab.file("targets/go/net-http/target.toml", MISSING_TARGET);
    lab.run(&[]).exits(4).says(&["no-such-compiler", "no specimen has routes to stand in for it"]);
    assert!(lab.records().is_empty(), "nothing was launched");
}

#[test]
fn a_shipped_experiment_is_known_by_its_name_wherever_one_is() {
    let lab = Lab::new().env("PATH", "").env("BOURDON_HOME", repository().display().to_string());
    let mut running = lab.start(&["run", "business-latency", "--quick", "--blocks", "1"]);
    let record = running.until("the run's folder", || lab.records().pop());
    running.interrupt();
    running.end().exits(130).says(&["`go` is not on PATH; get it from", "specimens instead"]);
    assert!(record.name().ends_with("business-latency"), "{record:?}");
    lab.nothing_is_left();
}

#[test]
fn the_example_of_a_server_of_ones_own_works() {
    if !is_here("python3") {
        return;
    }
    let lab = Lab::new();
    let example = repository().join("examples/own-server/own-server.toml");
    lab.bourdon(&["run", example.to_str().unwrap(), "--quick", "--blocks", "1"]).exits(0);
    lab.nothing_is_left();
    let record = lab.record();
    let trials = record.trials().len() / 2;
    ["mine", "mine-tuned"].iter().for_each(|target| record.all_measured(target, trials));
    // One of the two ends connections, so that its slices, and nothing else, were made in vain.
    let analysis = record.analysis();
    let void: Vec<&Json> = analysis["void_trials"].as_array().unwrap().iter().collect();
    assert_eq!(void.len(), 2, "{void:#?}");
    assert!(void.iter().all(|trial| trial["reason"]["code"] == "connections-end"), "{void:#?}");
}

#[test]
fn the_experiment_in_the_readme_works_as_it_stands_there() {
    if !is_here("python3") {
        return;
    }
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, after) = readme.split_once("```toml\n").unwrap();
    let (experiment, _) = after.split_once("```").unwrap();
    let server = std::fs::read_to_string(repository().join("examples/own-server/server.py")).unwrap();
    let lab = Lab::new().experiment(experiment).file("server.py", server);
    let shown = lab.run(&["--quick", "--blocks", "1"]).exits(0);
    shown.shows(&[
        "Does keeping connections open make my server faster?",
        "mine-tuned",
        "tuned server is at least a fifth",
    ]);
    lab.nothing_is_left();
}

/// The repository of the README, and its question. A disturbed window of 150 ms may have too little CPU time for one figure and
/// too few requests for another; every other row has its ratio.
#[test]
fn the_readme_s_branch_can_be_asked_about() {
    if !is_here("python3") {
        return;
    }
    let lab = Lab::new();
    let shop = lab.path().join("shop");
    let script = repository().join("examples/branch/make.sh");
    assert!(Command::new("sh").arg(script).arg(&shop).status().unwrap().success());
    let sides = ["compare", "--run", "python3 server.py", "--rev", "main", "--rev", "feature", "--format", "json"];
    let load = ["--duration", "150ms", "--warm-up", "50ms", "--blocks", "3", "-c", "4"];
    let document = lab.bourdon_in(&shop, &[&sides[..], &load].concat()).exits(0).json();
    let is_told = |row: &Json| match row["withheld"].as_str() {
        Some("little-cpu") => row["metric"] == "cpu_per_request",
        Some("few-requests") => row["metric"] == "p99",
        _ => row["ratio"]["estimate"].is_number(),
    };
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.len() >= 6 && rows.iter().all(is_told), "{document:#}");
    lab.nothing_is_left();
}
