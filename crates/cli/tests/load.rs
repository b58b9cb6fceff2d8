//! `bourdon load` from outside: the program itself against servers whose every action is known.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use rustix::process::Signal;
use specimens::{Action, Kind, Settings};
use support::{Closed, Document, Recorder, Replay, Specimen, bourdon, load, spawn, wait_until};

// Books.

#[test]
fn every_count_is_what_the_server_did() {
    for seed in 1..=3 {
        let specimen = Specimen::start(Settings { seed, ..Settings::new(Kind::Mixed) });
        let arguments = "-n 2000 -c 100 --timeout 300ms --expect-status 200 --expect-body".split(' ');
        let arguments: Vec<&str> = arguments.chain(["Hello world"]).collect();
        let document = load(&specimen.url(), &arguments).document_with(1);
        let actions = specimen.actions(document.count("accounting/sent"));
        let did = |action| actions.count(action);
        let expected = [
            ("scheduled", 2000),
            ("sent", actions.requests()),
            ("ok", did(Action::Reply)),
            ("bad_body", did(Action::WrongBody)),
            ("bad_status", did(Action::Unavailable)),
            ("failed/reset-before-reply", did(Action::ResetBeforeReply)),
            ("failed/closed-before-reply", did(Action::CloseBeforeReply)),
            ("failed/reset-in-reply", did(Action::ResetInReply)),
            ("failed/closed-in-reply", did(Action::CloseInReply) + did(Action::ShortBody)),
            ("failed/malformed", did(Action::MalformedHead)),
            ("failed/timed-out", did(Action::NoAnswer)),
            ("in_flight_at_end", 0),
        ];
        let counted = expected.map(|(name, _)| (name, document.count(&format!("accounting/{name}"))));
        assert_eq!(counted, expected, "seed {seed}");
        assert_eq!(document.sum("accounting/not_sent"), 0, "seed {seed}");
        let closed_idle = document.count("connections/closed_idle");
        // Of the connections that were closed while idle, those that were not needed again may not have been noticed.
        let possible = actions.closed_idle.saturating_sub(100)..=actions.closed_idle;
        assert!(possible.contains(&closed_idle), "seed {seed}: {closed_idle} is not in {possible:?}");
    }
}

#[test]
fn a_refused_request_was_not_sent() {
    let closed = Closed::port();
    let document = load(&closed.url(), &["-n", "100", "-c", "20"]).document_with(4);
    for (path, expected) in [
        ("accounting/scheduled", 100),
        ("accounting/sent", 0),
        ("accounting/not_sent/refused", 100),
        ("connections/opened", 0),
        // The connections that were to be opened before the load, and one attempt for each request.
        ("connections/connect_failed", 120),
        ("connections/never_served", 20),
        ("connections/completed_max", 0),
    ] {
        assert_eq!(document.count(path), expected, "{path}");
    }
    assert_eq!(document.codes(), ["no-reply"]);
    assert_eq!(document.get("failures/0/side"), "server");
}

#[test]
fn the_same_seed_schedules_the_same_requests() {
    let specimen = Specimen::of(Kind::Clean);
    let scheduled = |seed: &str| {
        let poisson = ["-R", "2000", "--arrivals", "poisson", "-d", "250ms", "--warm-up", "0s", "--seed", seed];
        load(&specimen.url(), &poisson).document().count("accounting/scheduled")
    };
    let twice = [scheduled("7"), scheduled("7")];
    assert_eq!(twice[0], twice[1]);
    assert_ne!(twice[0], 500, "exactly the mean is a chance of one in fifty");
}

// Replies that are wrong.

/// `-n 200` against a specimen: its ok and wrong replies.
fn replies(url: &str, status: i32, arguments: &[&str]) -> [u64; 3] {
    let document = load(url, &[&["-n", "200"], arguments].concat()).document_with(status);
    ["ok", "bad_status", "bad_body"].map(|name| document.count(&format!("accounting/{name}")))
}

#[test]
fn a_wrong_reply_is_a_bad_answer() {
    let body = ["--expect-body", "Hello world"];
    let wrong = Specimen::start(Settings { every: 10, ..Settings::new(Kind::WrongBody) });
    assert_eq!(replies(&wrong.url(), 1, &body), [180, 0, 20]);
    assert_eq!(replies(&wrong.url(), 0, &[]), [200, 0, 0], "nothing was asked of the body");
    drop(wrong);
    let unavailable = Specimen::start(Settings { every: 4, ..Settings::new(Kind::Unavailable) });
    assert_eq!(replies(&unavailable.url(), 1, &body), [150, 50, 0], "a wrong status is not a wrong body too");
    assert_eq!(replies(&unavailable.url(), 1, &["--expect-status", "503"]), [50, 150, 0]);
}

#[test]
fn more_failures_than_may_are_a_bad_answer_and_one_in_a_hundred_is_not() {
    for (kind, every, arguments, status) in [
        (Kind::Unavailable, 2, &[][..], 1),
        (Kind::Unavailable, 200, &[], 0),
        (Kind::Unavailable, 200, &["--allow-failures", "0%"], 1),
        (Kind::Unavailable, 2, &["--allow-failures", "60%"], 0),
        (Kind::ResetBeforeReply, 3, &[], 1),
        (Kind::ResetBeforeReply, 200, &[], 0),
        // Wrong content is not excused by any share.
        (Kind::MalformedHead, 200, &["--allow-failures", "100%"], 1),
        (Kind::RepeatedReply, 200, &["--allow-failures", "100%"], 1),
    ] {
        let specimen = Specimen::start(Settings { every, ..Settings::new(kind) });
        let document = load(&specimen.url(), &[&["-n", "400", "-c", "4"], arguments].concat()).document_with(status);
        assert_eq!(document.get("validity/failing/bad"), &(status == 1), "{kind}, every {every}, {arguments:?}");
        if kind == Kind::RepeatedReply {
            assert_eq!(document.count("validity/failing/wrong_content"), document.count("connections/unasked_replies"));
        }
    }
    let refused = bourdon(&["load", "http://127.0.0.1:1/", "--allow-failures", "much"]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
}

#[test]
fn the_first_wrong_reply_is_shown_against_what_was_expected() {
    let specimen = Specimen::of(Kind::WrongBody);
    let ended = bourdon(&["load", &specimen.url(), "-n", "100", "--expect-body", "Hello world"]);
    let line = ended.stdout.lines().find(|line| line.contains("first wrong reply")).unwrap_or_default().to_owned();
    assert!(line.contains("expected \"Hello world\" (11 bytes), got \"xxxxxxxxxxx\" (11 bytes)"), "{ended:?}");
    let document = load(&specimen.url(), &["-n", "100", "--expect-body", "Hello world"]).document_with(1);
    assert_eq!((document.count("first_wrong/differs_at"), document.count("first_wrong/status")), (0, 200));
    drop(specimen);
    let unavailable = Specimen::start(Settings { every: 2, ..Settings::new(Kind::Unavailable) });
    let document = load(&unavailable.url(), &["-n", "100"]).document_with(1);
    assert_eq!(document.get("first_wrong/body/text"), "Service Unavailable\\n", "escaped for people");
    drop(unavailable);
    let malformed = Specimen::of(Kind::MalformedHead);
    let document = load(&malformed.url(), &["-n", "100"]).document_with(1);
    assert!(document.get("first_wrong/status").is_null());
    assert!(document.get("first_wrong/body/text").as_str().unwrap().starts_with("HTTP/9.9 banana"));
    drop(malformed);
    let clean = load(&Specimen::of(Kind::Clean).url(), &["-n", "100"]).document();
    assert!(clean.get("first_wrong").is_null());
}

#[test]
fn replies_that_wait_for_an_acknowledgement_are_suspected_and_a_quick_one_proves_it() {
    let specimen = Specimen::start(Settings { every: 1, ..Settings::new(Kind::SplitReply) });
    let asked = ["-n", "60", "-c", "2"];
    let slow = load(&specimen.url(), &asked);
    assert!(slow.document().get("validity/suspicions/0/delayed-ack").is_object());
    let said = bourdon(&[&["load", &specimen.url()], &asked[..]].concat());
    let words = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("consistent with a server that writes") && words.contains("--quick-ack"), "{said:?}");
    let quick = load(&specimen.url(), &[&asked[..], &["--quick-ack"]].concat());
    assert!(quick.document().get("validity/suspicions").is_null());
    let took = |document: &Document| document.get("latency_us/service/p50").as_f64().unwrap();
    assert!(took(&quick.document()) < took(&slow.document()) / 4.0, "{quick:?}");
    drop(specimen);
    let whole = load(&Specimen::of(Kind::Clean).url(), &asked).document();
    assert!(whole.get("validity/suspicions").is_null());
}

#[test]
fn where_nobody_listens_the_load_ends_with_its_warm_up() {
    for how in [&[][..], &["--no-keepalive"], &["-R", "500"], &["-t", "2"]] {
        let closed = Closed::port();
        let arguments = [&["-d", "1h", "--warm-up", "100ms", "-c", "4"], how].concat();
        let ended = load(&closed.url(), &arguments);
        let document = ended.document_with(4);
        assert_eq!((document.codes()[0], document.count("connections/opened")), ("no-reply", 0), "{how:?}");
        assert!(ended.stderr.contains("no connection to 127.0.0.1:"), "{ended:?}");
        assert!(ended.stderr.contains(" attempts: connection refused, ECONNREFUSED (111); is the"), "{ended:?}");
    }
}

#[test]
fn a_headline_says_how_many_failed() {
    let specimen = Specimen::start(Settings { every: 2, ..Settings::new(Kind::Unavailable) });
    let ended = bourdon(&["load", &specimen.url(), "-n", "400"]);
    let said = "errors: 50 % of the requests failed, over the 1 % allowed: 200 with a wrong status";
    assert!(ended.stdout.lines().take(3).any(|line| line.trim() == said), "{}", ended.stdout);
}

#[test]
fn a_good_reply_is_what_was_expected() {
    let specimen = Specimen::of(Kind::Clean);
    let missing = specimen.url().replace("/rest/hello", "/rest/goodbye");
    let document = load(&missing, &["-n", "200"]).document_with(1);
    assert_eq!(document.count("bad_statuses/404"), 200, "and which status it was is told");
    assert_eq!(replies(&missing, 1, &[]), [0, 200, 0]);
    assert_eq!(replies(&missing, 0, &["--expect-status", "404"]), [200, 0, 0]);
    assert_eq!(replies(&specimen.url(), 1, &["--expect-status", "404"]), [0, 200, 0]);
    assert_eq!(replies(&specimen.url(), 1, &["--expect-body", "Hello worl"]), [0, 0, 200], "a prefix is another body");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    std::fs::write(&file, "Hello world").unwrap();
    assert_eq!(replies(&specimen.url(), 0, &["--expect-body", &format!("@{}", file.display())]), [200, 0, 0]);
}

// A stall.

const STALL_S: f64 = 0.3;
const STALL_RATE: f64 = 500.0;

/// A second of load at a constant rate, in which the server stops for 300 ms; the document, and what the server's log
/// says the response times were.
fn stalled(connections: &str) -> (Document, Replay) {
    let times = Duration::from_secs_f64(STALL_S);
    let specimen = Specimen::start(Settings { stall_at: times, stall_for: times, ..Settings::new(Kind::Stall) });
    let rate = STALL_RATE.to_string();
    let arguments = ["-R", &rate, "-d", "1s", "--warm-up", "0s", "-c", connections];
    let document = load(&specimen.url(), &arguments).document();
    // A machine that is very busy may not send them all; these are then known by their age.
    let sent = document.count("accounting/sent") as usize;
    let replay = Replay::of(&specimen.log_of(sent), 500, STALL_RATE);
    (document, replay)
}

#[test]
fn a_stall_is_felt_by_every_request_that_was_due_in_it() {
    let (document, replay) = stalled("20");
    assert_eq!(document.count("accounting/scheduled"), 500);
    assert_eq!(document.count("latency_us/response/count"), 500);
    // 150 requests came due while the server stood still, and only the first 20 found a connection free.
    assert!(document.count("accounting/sent_late/no-connection") >= 120, "{document:?}");
    // A request is due every 2 ms, so one of them waits for all but 2 ms; histograms keep three digits.
    assert!(document.latency_s("response/max") >= STALL_S - 0.005, "{document:?}");
    for (name, q) in [("p90", 0.90), ("p95", 0.95), ("p99", 0.99)] {
        let (measured, expected) = (document.latency_s(&format!("response/{name}")), replay.quantile_s(q));
        let allowed = (0.03 * expected).max(0.015);
        assert!((measured - expected).abs() <= allowed, "{name}: {measured} s, by the log {expected} s");
    }
}

#[test]
fn the_service_time_hides_the_stall_that_the_response_time_shows() {
    // Two requests of 500 are in flight when the server stops: the naive p99 knows nothing of it.
    let (document, _) = stalled("2");
    let (response, service) = (document.latency_s("response/p99"), document.latency_s("service/p99"));
    assert!(response > 3.0 * service, "response p99 {response} s, service p99 {service} s");
}

// Protocols and ways of sending.

#[test]
fn spinning_spends_the_cpu_that_sleeping_saves() {
    let specimen = Specimen::of(Kind::Clean);
    let busy = |more: &[&str]| {
        let arguments = ["-R", "200", "-c", "4", "-d", "500ms", "--warm-up", "0s"];
        let document = load(&specimen.url(), &[&arguments, more].concat()).document();
        document.number("generator/busiest_thread")
    };
    let (asleep, awake) = (busy(&[]), busy(&["--spin"]));
    assert!(awake > 2.0 * asleep, "asleep {asleep}, awake {awake}");
}

#[test]
fn seconds_come_as_csv() {
    let specimen = Specimen::of(Kind::Clean);
    let ended = bourdon(&["load", &specimen.url(), "-n", "50", "-c", "5", "--format", "csv"]);
    let (head, rest) = ended.stdout.split_once('\n').unwrap();
    assert!(head.starts_with("at_s,length_s,sent,completed,ok,failed,"), "{head}");
    let ok: u64 = rest.lines().map(|line| line.split(',').nth(4).unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(ok, 50, "{rest}");
}

#[test]
fn every_way_of_sending_is_counted_right() {
    const EACH: u64 = 300;
    let specimen = Specimen::of(Kind::Clean);
    let mut acted = 0;
    for (arguments, opened) in [
        ("-c 6", 6),
        ("-c 6 --no-keepalive", EACH),
        ("-c 6 --http 1.0 --no-keepalive", EACH),
        // The specimen closes after a reply to HTTP/1.0, whatever the client would like.
        ("-c 6 --http 1.0", EACH),
        ("-c 6 --pipeline 8", 6),
        ("-c 6 -X POST -b {}", 6),
        ("-c 6 -H Accept:text/html -H X-Trace:7", 6),
        ("-c 7 -t 2", 7),
        ("-c 5 -t 3 --pipeline 4", 5),
        ("-c 5 -t 2 --no-keepalive", EACH),
        ("-c 6 -R 2000", 6),
        ("-c 7 -t 2 -R 2000 --arrivals poisson", 7),
        ("-c 6 -R 2000 --no-keepalive", EACH),
        ("-c 6 -R 2000 --pipeline 8", 6),
        ("-c 6 --source 127.0.0.1,127.0.0.2,127.0.0.3", 6),
        ("-c 6 -R 2000 --spin", 6),
    ] {
        let given: Vec<&str> = arguments.split(' ').chain(["-n", "300", "--expect-body", "Hello world"]).collect();
        let ended = load(&specimen.url(), &given);
        let document = ended.document();
        let counts = ["accounting/scheduled", "accounting/ok", "connections/opened", "connections/connect_failed"];
        assert_eq!(counts.map(|path| document.count(path)), [EACH, EACH, opened, 0], "{arguments}: {document:?}");
        assert_eq!(document.count("connections/unasked_replies"), 0, "{arguments}");
        assert_eq!(document.get("latency_us/response").is_null(), !arguments.contains("-R"), "{arguments}");
        // On a machine that is busy with other things an open rate may be missed; the books are right all the same.
        let void_rate =
            ["rate-not-reached", "generator-stalled"].contains(&document.codes()[0]) && arguments.contains("-R");
        assert_eq!(ended.status, Some(if void_rate { 3 } else { 0 }), "{arguments}: {document:?}");
        acted += EACH;
        assert_eq!(specimen.actions(acted).count(Action::Reply), acted, "{arguments}");
    }
}

/// What the recorder got when it was loaded with 20 requests, all answered well.
fn recorded(arguments: &[&str]) -> (Recorder, Vec<String>) {
    let recorder = Recorder::start();
    let document = load(&recorder.url(), &[&["-n", "20", "-c", "3"], arguments].concat()).document_with(0);
    let requests = recorder.requests();
    assert_eq!(document.count("accounting/ok"), 20, "{document:?}");
    assert_eq!(requests.len(), 20);
    assert!(requests.iter().all(|request| *request == requests[0]), "{requests:?}");
    (recorder, requests)
}

#[test]
fn requests_are_what_was_asked_for_to_the_byte() {
    let (recorder, requests) = recorded(&["-X", "POST", "-b", "{\"a\": 1}", "-H", "X-Trace:  7 "]);
    let head = format!("POST /rest/hello HTTP/1.1\r\nHost: {}\r\n", recorder.authority());
    assert_eq!(requests[0], format!("{head}Content-Length: 8\r\nX-Trace: 7\r\n\r\n{{\"a\": 1}}"));
    let (recorder, requests) = recorded(&[]);
    assert_eq!(requests[0], format!("GET /rest/hello HTTP/1.1\r\nHost: {}\r\n\r\n", recorder.authority()));
}

#[test]
fn a_reply_to_head_is_complete_without_its_body() {
    let (_, requests) = recorded(&["-X", "HEAD"]);
    assert!(requests[0].starts_with("HEAD /rest/hello HTTP/1.1\r\n"), "{requests:?}");
}

// Servers that fail altogether.

#[test]
fn a_server_that_never_answers_holds_no_run_up() {
    let specimen = Specimen::always(Kind::NeverAnswers);
    let document = load(&specimen.url(), &["-c", "10", "-d", "500ms", "--warm-up", "0s"]).document_with(1);
    assert_eq!(document.codes()[0], "no-reply");
    assert_eq!(document.count("accounting/in_flight_at_end"), 10, "{document:?}");
    assert_eq!(document.count("latency_us/service/censored"), 10, "known by their age alone");
    assert_eq!(specimen.actions(10).count(Action::NoAnswer), 10);
}

#[test]
fn a_server_that_resets_everything_holds_no_run_up() {
    let specimen = Specimen::always(Kind::ResetBeforeReply);
    let document = load(&specimen.url(), &["-c", "10", "-d", "500ms", "--warm-up", "0s"]).document_with(1);
    let resets = document.count("accounting/failed/reset-before-reply");
    assert_eq!(document.codes()[0], "no-reply");
    assert_eq!((resets, document.count("accounting/sent")), (document.count("accounting/scheduled"), resets));
    assert_eq!(specimen.actions(resets).count(Action::ResetBeforeReply), resets);
}

#[test]
fn a_server_that_vanishes_holds_no_run_up() {
    let specimen = Specimen::of(Kind::Clean);
    let url = specimen.url();
    let arguments = ["load", &url, "--format", "json", "-c", "10", "-d", "1s", "--warm-up", "0s"];
    let run = spawn(&arguments);
    specimen.log_of(50);
    let stopped = specimen.stop();
    let replies = stopped.log.len() as u64;
    let document = run.end().document();
    let [completed, ok, refused] =
        ["completed", "ok", "not_sent/refused"].map(|name| document.count(&format!("accounting/{name}")));
    assert!((1..=replies).contains(&ok), "{ok} ok, {replies} sent");
    assert_eq!(completed, ok, "what it did answer was right");
    assert!(refused > 0, "{document:?}");
}

/// Its connections are tried again ever more seldom, so that few requests fail.
#[test]
fn a_server_that_dies_is_a_bad_answer_however_few_requests_failed() {
    let specimen = Specimen::of(Kind::Clean);
    let url = specimen.url();
    let arguments = ["load", &url, "-c", "2", "-d", "4s", "--warm-up", "0s", "--allow-failures", "100%"];
    let run = spawn(&arguments);
    specimen.log_of(50);
    let _stopped = specimen.stop();
    let said = run.end();
    assert_eq!(said.status, Some(1), "{said:?}");
    let first = said.stdout.lines().next().unwrap_or_default();
    let is_told = first.starts_with("The server stopped answering after ") && first.contains(" of the window of 4 s: ");
    assert!(is_told, "{said:?}");
}

// Being stopped.

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    for signal in [Signal::INT, Signal::TERM] {
        let specimen = Specimen::of(Kind::Clean);
        let url = specimen.url();
        let run = spawn(&["load", &url, "--format", "json", "-c", "10", "-d", "60s", "--warm-up", "0s"]);
        specimen.log_of(100);
        run.signal(signal);
        let document = run.end().document_with(130);
        assert_eq!(document.get("interrupted"), true);
        assert!(document.codes().contains(&"interrupted"), "{document:?}");
        assert!(document.number("window_s") < 60.0);
        assert!(document.count("accounting/ok") >= 90, "all that were answered but the last few: {document:?}");
        let acted = specimen.actions(document.count("accounting/sent"));
        assert_eq!(acted.count(Action::Reply), document.count("accounting/sent"));
    }
}

#[test]
fn what_was_saved_is_said_also_where_it_was_stopped_and_so_short_a_window_says_little() {
    let specimen = Specimen::of(Kind::Clean);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.json");
    let (url, name) = (specimen.url(), file.to_str().unwrap());
    let ended = bourdon(&["load", &url, "-d", "100ms", "--warm-up", "0s", "-o", name]);
    assert!(ended.stderr.contains(&format!("saved in {name}\n")), "{ended:?}");
    assert!(ended.stdout.contains("the window was 100 ms: so short a window says little"), "{ended:?}");
    std::fs::remove_file(&file).unwrap();
    drop(specimen);
    // Another, whose log says when this load has begun.
    let specimen = Specimen::of(Kind::Clean);
    let url = specimen.url();
    let run = spawn(&["load", &url, "-d", "60s", "--warm-up", "0s", "-o", name]);
    specimen.log_of(100);
    run.signal(Signal::INT);
    let ended = run.end();
    assert!(ended.stderr.contains(&format!("saved in {name}\n")) && file.is_file(), "{ended:?}");
}

#[test]
fn a_second_interrupt_ends_the_program_at_once() {
    let specimen = Specimen::always(Kind::NeverAnswers);
    let mut run = spawn(&["load", &specimen.url(), "-d", "60s"]);
    specimen.log_of(1);
    wait_until("its end", || {
        run.signal(Signal::INT);
        run.has_ended().then_some(())
    });
    let ended = run.end();
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(130), ""), "{ended:?}");
}
