//! `bourdon soak` through the real binary: what a server keeps is found and measured, and what can be known so far is said whenever it ends.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{Json, Lab};

fn trend<'a>(answer: &'a Json, of: &str) -> &'a Json {
    let all = answer["trends"].as_array().unwrap();
    all.iter().find(|trend| trend["of"] == of).unwrap_or_else(|| panic!("nothing of {of}: {answer:#}"))
}

/// As short as a soak may be, to a server that is asked far less than it could be.
const SHORT: [&str; 6] = ["--for", "40s", "-R", "3000", "--format", "json"];

#[test]
fn what_a_server_keeps_of_each_request_is_measured_and_judged_again_from_its_record() {
    let lab = Lab::new();
    let asked = [&["soak", "specimen:leaking", "--set", "KEEP=4080", "--gate"], &SHORT[..]].concat();
    let answered = lab.bourdon(&asked).exits(1);
    lab.nothing_is_left();
    let answer = answered.json();
    let memory = trend(&answer, "memory");
    assert_eq!((&memory["verdict"], &answer["ended"]), (&"grows".into(), &"complete".into()), "{answer:#}");
    // The allocator adds 16 bytes to each, and the list of them 16.
    let each = memory["per_request"]["estimate"].as_f64().unwrap();
    assert!((3_900.0..4_400.0).contains(&each), "{each}");
    assert!(["threads", "files", "unclosed"].iter().all(|of| trend(&answer, of)["verdict"] == "steady"), "{answer:#}");
    let run = lab.record();
    assert_eq!(run.analysis(), answer);
    let path = run.path().to_string_lossy().into_owned();
    assert_eq!(lab.bourdon(&["report", &path, "--format", "json"]).answers().json(), answer);
    let says = ["of memory of each request", "on again"];
    lab.bourdon(&["report", &path]).answers().shows(&says);
    assert!(says.iter().all(|says| run.text("report.html").contains(says) && run.text("report.md").contains(says)));
}

#[test]
fn one_that_is_interrupted_says_what_it_knows_and_is_whole() {
    let lab = Lab::new();
    let mut started = lab.start(&["soak", "specimen:clean", "--for", "10m", "-R", "100"]);
    started.says("cycle 1 of 30");
    started.interrupt();
    started.end().exits(130).shows(&["too short to tell", "interrupted"]);
    lab.nothing_is_left();
    let run = lab.record();
    assert_eq!((run.lines(), &run.analysis()["ended"]), (1, &"unfinished".into()));
    let path = run.path().to_string_lossy().into_owned();
    lab.bourdon(&["report", &path]).answers().shows(&["too short to tell"]);
    // Its server is gone: another one would have kept other things.
    lab.bourdon(&["run", "--resume", &path]).answers();
    assert_eq!(run.lines(), 1);
}

#[test]
fn a_server_that_ends_is_told_with_its_last_words() {
    let server = "let left = 900; require('http').createServer((_, reply) => { \
        if (--left == 0) { console.error('fatal: no luck left'); process.exit(3); } reply.end('ok'); \
        }).listen(process.env.PORT, '127.0.0.1')";
    let lab = Lab::new().file("server.js", server);
    let asked = ["soak", "--run", "node server.js", "--for", "40s", "-R", "300"];
    lab.bourdon(&asked).exits(1).shows(&["The server ended after", "exited with status 3", "fatal: no luck left"]);
    lab.nothing_is_left();
}

#[test]
fn what_cannot_be_soaked_is_refused_with_a_cure() {
    let lab = Lab::beside_others();
    let refused = |words: &[&str], says: &[&str]| drop(lab.bourdon(&[&["soak"], words].concat()).exits(2).says(says));
    refused(&["specimen:leak"], &["unknown target `specimen:leak`"]);
    refused(&["specimen:clean", "--for", "10s"], &["must be 40s at least"]);
    refused(&["specimen:clean", "--rule", "errors=1%"], &["unknown rule `errors`", "failed, established"]);
    refused(&["specimen:clean", "--rule", "failed"], &["write NAME=MOST"]);
    refused(&["specimen:clean", "--rule", "established=-1"], &["0 or more"]);
    refused(&["specimen:clean", "--share", "0"], &["above zero"]);
    refused(&[], &["<TARGET>"]);
    lab.bourdon(&["soak", "--run", "false"]).exits(4).says(&["exited with status 1"]);
    lab.nothing_is_left();
}
