//! `bourdon diagnose` through the real binary: what was put into a server is found, proved and sized; what cannot be known is said.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod run_support;

use run_support::{Json, Lab};

/// Loads so short that a proof takes seconds: of a server that mostly waits they are long enough.
const SHORT: [&str; 4] = ["--duration", "600ms", "--warm-up", "100ms"];

/// Three workers that take 30 ms for each request.
const POOL: [&str; 6] = ["diagnose", "specimen:pool", "--set", "HANDLER_DELAY=30ms", "--set", "WORKERS=3"];

fn fault<'a>(answer: &'a Json, name: &str) -> &'a Json {
    let all = answer["findings"].as_array().unwrap();
    all.iter().find(|found| found["fault"].get(name).is_some()).unwrap_or_else(|| panic!("no {name}: {answer:#}"))
}

fn why_open<'a>(answer: &'a Json, suspect: &str) -> &'a str {
    let all = answer["open"].as_array().unwrap();
    all.iter().find(|open| open["suspect"] == suspect).and_then(|open| open["why"].as_str()).unwrap_or("it is known")
}

/// What is found by one of three: where others use the machine, little is concluded, and rightly so.
fn proved(lab: &Lab, name: &str, asked: &[&str]) -> Json {
    found(lab, (name, "is"), asked)
}

fn found(lab: &Lab, (name, sureness): (&str, &str), asked: &[&str]) -> Json {
    let ask = |_| lab.bourdon(asked).answers().json();
    let is_found = |answer: &Json| {
        let all = answer["findings"].as_array().unwrap();
        all.iter().any(|found| found["sureness"] == sureness && found["fault"].get(name).is_some())
    };
    (0..3).map(ask).find(is_found).unwrap_or_else(|| panic!("{name}: {sureness} came out in none of three"))
}

#[test]
fn a_pool_is_proved_with_its_exact_size_and_judged_again_from_its_record() {
    let lab = Lab::new();
    let answer = proved(&lab, "limit", &[&POOL[..], &SHORT[..], &["--format", "json"]].concat());
    lab.nothing_is_left();
    let found = fault(&answer, "limit");
    assert_eq!((&found["sureness"], &found["fault"]["limit"]["exactly"]), (&"is".into(), &3.into()), "{answer:#}");
    assert!(found["text"].as_str().unwrap().contains("3 requests at once"), "{found}");
    assert_eq!(answer["findings"].as_array().unwrap().len(), 1, "{answer:#}");
    assert_eq!((&answer["ended"], why_open(&answer, "blocked-loop")), (&"complete".into(), "no-heavy"));
    let run = lab.records().pop().unwrap();
    assert_eq!(run.analysis(), answer);
    let path = run.path().to_string_lossy().into_owned();
    assert_eq!(lab.bourdon(&["report", &path, "--format", "json"]).answers().json(), answer);
    lab.bourdon(&["report", &path]).answers().shows(&[
        "The server works on 3 requests at once",
        "proved by",
        "to change",
    ]);
    assert!(run.text("report.html").contains("The server works on 3 requests at once"));
    assert!(run.text("report.md").contains("The server works on 3 requests at once"));
}

#[test]
fn what_there_is_no_time_to_prove_is_only_consistent() {
    let lab = Lab::new();
    let asked = [&POOL[..], &SHORT[..], &["--within", "5s", "--format", "json"]].concat();
    let answer = found(&lab, ("limit", "consistent-with"), &asked);
    let found = fault(&answer, "limit");
    assert_eq!(
        (&found["sureness"], &found["unproved"]),
        (&"consistent-with".into(), &"out-of-time".into()),
        "{answer:#}"
    );
    assert_eq!((&answer["ended"], why_open(&answer, "memory-growth")), (&"out-of-time".into(), "out-of-time"));
}

#[test]
fn one_that_is_interrupted_is_resumed_to_the_same_end() {
    let lab = Lab::new();
    let mut started = lab.start(&[&POOL[..], &SHORT[..], &["--seed", "1"]].concat());
    started.says("to prove or refute a limit of requests at once");
    started.interrupt();
    started.end().exits(130).says(&["interrupted; what was measured is kept"]);
    lab.nothing_is_left();
    let run = lab.record();
    let made = run.lines();
    let path = run.path().to_string_lossy().into_owned();
    let answer = lab.bourdon(&["run", "--resume", &path, "--format", "json"]).answers().json();
    assert_eq!(answer["ended"], "complete", "{answer:#}");
    assert!(made > 0 && run.lines() > made, "{made}");
}

#[test]
fn a_server_that_ends_under_load_is_a_finding_with_its_last_words() {
    let server = "let left = 300; require('http').createServer((_, reply) => { \
        if (--left == 0) { console.error('fatal: no luck left'); process.exit(3); } reply.end('ok'); \
        }).listen(process.env.PORT, '127.0.0.1')";
    let lab = Lab::new().file("server.js", server);
    let asked = [&["diagnose", "--run", "node server.js"], &SHORT[..]].concat();
    lab.bourdon(&asked).exits(1).shows(&["The server ended under load", "exited with status 3", "fatal: no luck left"]);
    lab.nothing_is_left();
}

#[test]
fn a_server_that_cuts_requests_off_or_answers_what_is_no_reply_is_told_with_how() {
    for (answers, kind) in
        [("ask.socket.destroy()", "closed-before-reply"), ("ask.socket.end('garbage\\r\\n\\r\\n')", "malformed")]
    {
        let server = format!(
            "let good = 20; require('http').createServer((ask, reply) => {{ \
             if (good-- > 0) reply.end('ok'); else {answers}; }}).listen(process.env.PORT, '127.0.0.1')"
        );
        let lab = Lab::new().file("server.js", &server);
        let asked = [&["diagnose", "--run", "node server.js", "--format", "json"], &SHORT[..]].concat();
        let answer = lab.bourdon(&asked).exits(1).json();
        let how = &fault(&answer, "failures")["fault"]["failures"]["how"]["failed"];
        assert!(how[kind].as_u64().is_some_and(|count| count > 0), "{kind}: {answer:#}");
        lab.nothing_is_left();
    }
}

#[test]
fn what_cannot_be_diagnosed_is_refused_with_a_cure() {
    let lab = Lab::beside_others();
    lab.bourdon(&["diagnose", "specimen:poll"]).exits(2).says(&["unknown target `specimen:poll`", "--run 'COMMAND'"]);
    lab.bourdon(&["diagnose", "specimen:pool", "--set", "WORKERS"]).exits(2).says(&["write NAME=VALUE"]);
    lab.bourdon(&["diagnose"]).exits(2).says(&["<URL|TARGET>"]);
    lab.bourdon(&["diagnose", "--run", "false"]).exits(4).says(&["exited with status 1"]);
    lab.nothing_is_left();
}

#[test]
fn a_server_that_runs_already_is_spared_and_less_is_said_of_it() {
    let lab = Lab::new().env("PORT", "0").env("EVERY", "1");
    let mut server = lab.start(&["specimen", "split-reply"]);
    let line = server.says("listens on 127.0.0.1:");
    let address = line.split_whitespace().last().unwrap().to_owned();
    let url = format!("http://{address}/");
    let asked = ["diagnose", &url, "-R", "60", "--duration", "300ms", "--format", "json"];
    let answer = lab.bourdon(&asked).answers().json();
    let found = fault(&answer, "delayed-ack");
    assert_eq!(
        (&found["sureness"], &found["unproved"]),
        (&"consistent-with".into(), &"no-overload".into()),
        "{answer:#}"
    );
    assert_eq!((why_open(&answer, "limit"), why_open(&answer, "memory-growth")), ("no-overload", "not-launched"));
    let rates: Vec<f64> =
        answer["tried"].as_array().unwrap().iter().filter_map(|it| it["requests_per_s"].as_f64()).collect();
    assert!(!rates.is_empty() && rates.iter().all(|rate| *rate < 66.0), "{answer:#}");
    let spared =
        lab.bourdon(&["diagnose", &url, "-R", "20", "--duration", "300ms", "--format", "json"]).answers().json();
    assert_eq!((&spared["findings"], why_open(&spared, "delayed-ack")), (&Json::Array(Vec::new()), "no-overload"));
    proved(&lab, "delayed-ack", &["diagnose", &url, "--overload", "--duration", "300ms", "--format", "json"]);
    server.interrupt();
    server.end();
    lab.bourdon(&["diagnose", &url]).exits(4);
    lab.bourdon(&["diagnose", "http://192.0.2.1/"]).exits(2).says(&["not this machine", "--other-host"]);
    lab.nothing_is_left();
}

#[test]
fn a_server_that_gives_no_reply_is_waited_for_and_told() {
    let server = "require('http').createServer((request, reply) => { if (request.url == '/up') reply.end('up'); }) \
        .listen(process.env.PORT, '127.0.0.1')";
    let lab = Lab::new().file("server.js", server);
    let asked = ["diagnose", "--run", "node server.js", "--ready", "/up", "-d", "300ms", "--warm-up", "50ms"];
    let shown = lab.bourdon(&asked).exits(1).shows(&["The server gives no reply: it was asked for 1.5 s"]);
    assert!(!shown.stdout.contains("Looked for and not found"), "{}", shown.stdout);
    lab.nothing_is_left();
}
