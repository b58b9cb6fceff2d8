//! `bourdon load` where the generator itself, or how the server treats connections, is what was measured.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::time::Duration;

use rustix::process::Signal;
use specimens::{Kind, Settings};
use support::{Closed, Ended, Specimen, bourdon, load, spawn};

// Being held up.

/// Two seconds of load, for 1.3 s of which bourdon is stopped.
fn held_up(arguments: &[&str]) -> Ended {
    let specimen = Specimen::of(Kind::Clean);
    let url = specimen.url();
    let run = spawn(&[&["load", &url, "--format", "json", "-d", "2s", "--warm-up", "0s"], arguments].concat());
    specimen.log_of(200);
    run.signal(Signal::STOP);
    // The standstill itself, of which the instrument must tell.
    std::thread::sleep(Duration::from_millis(1300));
    run.signal(Signal::CONT);
    run.end()
}

#[test]
fn a_closed_load_that_stood_still_is_a_lower_bound() {
    for connections in ["1", "100"] {
        let document = held_up(&["-c", connections]).document_with(0);
        assert_eq!((document.verdict(), document.codes()[0]), ("at_least", "generator-stalled"), "{document:?}");
        assert!(document.number("standstills/sum_s") > 0.5, "{document:?}");
    }
}

#[test]
fn an_open_load_that_stood_still_is_void_and_says_what_is_its_own_doing() {
    let document = held_up(&["-R", "1000", "-c", "20"]).document_with(3);
    assert_eq!((document.verdict(), document.codes()[0]), ("void", "generator-stalled"), "{document:?}");
    assert!(document.codes().contains(&"standstill"), "{document:?}");
    let late = document.count("accounting/sent_late/generator");
    assert!(late > 1000, "1.3 s at 1,000 a second: {document:?}");
    let [with, without] =
        ["latency_us/response/p90", "standstills/without_us/response/p90"].map(|path| document.number(path));
    assert!(without < with / 10.0, "{document:?}");
}

// Connections.

#[test]
fn a_204_without_a_length_keeps_its_connection() {
    let specimen = Specimen::always(Kind::NoContent);
    let document = load(&specimen.url(), &["-n", "400", "-c", "20", "--expect-status", "204"]).document_with(0);
    assert_eq!((document.count("accounting/ok"), document.count("connections/opened")), (400, 20));
    assert!(!document.codes().contains(&"reconnects"), "{document:?}");
}

#[test]
fn a_body_after_a_204_is_counted_each_time() {
    let specimen = Specimen::always(Kind::BodyAfterNoContent);
    let ended = load(&specimen.url(), &["-n", "100", "-c", "5", "--expect-status", "204"]);
    let counted = ended.document_with(1).count("connections/unasked_replies");
    assert_eq!(counted, 100, "wrong content, and a bad answer: {ended:?}");
}

/// What a person reads of 300 requests over 6 connections.
fn shown(kind: Kind, more: &[&str]) -> String {
    let specimen = Specimen::always(kind);
    let ended = bourdon(&[&["load", &specimen.url(), "-n", "300", "-c", "6"], more].concat());
    ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_server_that_closes_after_each_reply_is_told() {
    let silent = shown(Kind::IdleClose, &[]);
    assert!(
        silent.contains("the server closed the connection after each reply, or while it was idle, without saying so: "),
        "{silent}"
    );
    // The specimen closes after a reply to HTTP/1.0, and says so.
    let said = shown(Kind::Clean, &["--http", "1.0"]);
    assert!(said.contains("the server closed the connection after each reply: "), "{said}");
    let asked = shown(Kind::Clean, &["--no-keepalive"]);
    assert!(!asked.contains("closed the connection") && asked.contains("total time"), "{asked}");
}

#[test]
fn where_nobody_listens_cause_and_cure_are_all_that_is_said() {
    let ended = bourdon(&["load", &Closed::port().url(), "-d", "1h", "--warm-up", "100ms"]);
    assert_eq!((ended.status, ended.stdout.as_str(), ended.stderr.lines().count()), (Some(4), "", 1), "{ended:?}");
}

#[test]
fn a_request_that_times_out_holds_up_no_other() {
    let handler_delay = Duration::from_millis(400);
    let slow = Specimen::start(Settings { handler_delay, ..Settings::new(Kind::Clean) });
    let arguments = ["-R", "50", "-c", "20", "--timeout", "100ms", "-d", "1s", "--warm-up", "0s"];
    let document = load(&slow.url(), &arguments).document_with(1);
    // At most ten are under way at once, so that there always is a connection: the server is owed nothing.
    assert_eq!(document.count("accounting/not_sent/waiting-at-end"), 0, "{document:?}");
    assert_eq!(document.count("accounting/not_sent/paused-at-end"), 0, "{document:?}");
    assert!(document.count("accounting/sent") >= 45, "{document:?}");
}

#[test]
fn a_server_that_hangs_to_the_end_is_a_bad_answer() {
    let hangs = |stall_for| {
        let stall_at = Duration::from_millis(500);
        let server = Specimen::start(Settings { stall_at, stall_for, ..Settings::new(Kind::Stall) });
        load(&server.url(), &["-R", "200", "-c", "4", "-d", "4s", "--warm-up", "0s"])
    };
    let document = hangs(Duration::from_secs(20)).document_with(1);
    // At 200 a second, the number of its replies tells when the last of them came.
    let last_s = document.number("accounting/completed") / 200.0;
    let stopped_s = document.number("validity/failing/stopped_at_s");
    assert!((last_s - 0.1..last_s + 0.5).contains(&stopped_s), "{document:?}");
    // One that comes back has not stopped.
    let back = hangs(Duration::from_secs(2));
    assert!(back.stdout.contains("\"stopped_at_s\": null"), "{back:?}");
}
