//! Golden files of `bourdon load`.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::Instrument;
use report::{Origin, load_json, load_text};
use support::loads::{self, Load, URL};
use support::{COLOURED, PLAIN, assert_tidy};

fn origin() -> Origin<'static> {
    let instrument = Instrument { bourdon: "0.1.0".into(), cpu: "a CPU".into(), cpus: 4, kernel: "6.1".into() };
    Origin { url: URL, started_at: "2026-11-20T10:00:00.000+01:00".into(), instrument }
}

fn text(load: &Load) -> String {
    let text = load_text(&load.spec, &load.validity, &load.measured, &load.measured.steps, URL, PLAIN);
    assert_tidy(&text, PLAIN.width);
    text
}

#[test]
fn closed_and_valid() {
    insta::assert_snapshot!(text(&loads::closed()));
}

#[test]
fn over_tls_with_a_certificate_that_nobody_looked_at() {
    insta::assert_snapshot!(text(&loads::insecure()));
}

#[test]
fn open_with_a_stall_and_unfinished_requests() {
    insta::assert_snapshot!(text(&loads::open_with_stall()));
}

#[test]
fn what_lowers_lateness_is_said_behind_its_figures() {
    let mut load = loads::open_with_stall();
    load.validity.reasons.push(model::Reason::new(model::Mark::Lateness, "p50 1.00 ms (lateness p95 400 µs)"));
    let text = text(&load).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("(lateness p95 400 µs); CPUs of its own, or --spin, lower it"), "{text}");
}

#[test]
fn footnotes_say_what_each_row_is_about() {
    let load = loads::open_with_stall();
    let shown = load_text(
        &load.spec,
        &load.validity,
        &load.measured,
        &load.measured.steps,
        URL,
        report::Style { verbose: true, ..PLAIN },
    );
    assert_tidy(&shown, PLAIN.width);
    for part in ["\n  lateness, 9,998 values: requests due in the window", "\n  – not estimable: too few samples\n"] {
        assert!(shown.contains(part) && !text(&load).contains(part), "{part} in {shown}");
    }
}

#[test]
fn the_seconds_of_a_load_are_seen_at_a_glance() {
    let mut load = loads::open_with_stall();
    let second = |at: u32, ok, p99_us, failed| model::Interval {
        at_s: f64::from(at),
        length_s: 1.0,
        ok,
        p99_us,
        failed,
        ..model::Interval::default()
    };
    load.measured.steps = (0..10).map(|at| second(at, 1_000, Some(1_400.0), 0)).collect();
    load.measured.steps[4] = second(4, 0, None, 98);
    load.measured.steps[5] = second(5, 1_890, Some(1_810_000.0), 0);
    insta::assert_snapshot!(text(&load));
}

#[test]
fn the_generators_own_waiting_is_not_what_users_would_have_seen() {
    let mut load = loads::open_with_stall();
    assert!(text(&load).contains("that users would have seen"));
    for mark in [model::Mark::Lateness, model::Mark::Standstill] {
        let about = |metric| model::Reason { metrics: vec![metric], ..model::Reason::new(mark, "it was") };
        load.validity.reasons.push(about(model::Metric::P50));
        assert!(text(&load).contains("that users would have seen"), "the p99 is the server's");
        load.validity.reasons.push(about(model::Metric::P99));
        assert!(!text(&load).contains("that users would have seen"));
        load.validity.reasons.truncate(1);
    }
}

#[test]
fn latencies_without_standstills_are_shown_where_these_made_a_figure() {
    let mut load = loads::open_with_stall();
    let without_us = load.measured.latency_us.clone();
    let stood = model::Standstills { count: 1, sum_s: 0.012, requests: 95, without_us, ..Default::default() };
    load.measured.standstills = Some(stood);
    assert!(!text(&load).contains("stood still:"), "{}", text(&load));
    load.validity.reasons.push(model::Reason::new(model::Mark::Standstill, "it did"));
    assert!(text(&load).contains("Without 95 requests that came due or waited while the generator stood still:"));
}

#[test]
fn nothing_is_no_lower_bound_and_a_short_window_is_said() {
    let mut load = loads::at_least();
    load.spec.extent = model::Extent::Requests { count: 50, within_ns: None };
    assert!(!text(&load).contains("so short a window"));
    load.measured.window_s = 0.03;
    assert!(text(&load).contains("all requests took 30.0 ms: so short a window says little"));
    assert!(text(&load).contains("≥ "));
    load.measured.in_window = model::WindowCount::default();
    assert!(!text(&load).contains("fast or faster") && !text(&load).contains("≥ 0"), "{}", text(&load));
}

#[test]
fn with_failures() {
    insta::assert_snapshot!(text(&loads::with_failures()));
}

#[test]
fn at_least() {
    insta::assert_snapshot!(text(&loads::at_least()));
}

#[test]
fn void() {
    insta::assert_snapshot!(text(&loads::void()));
}

#[test]
fn no_reply() {
    insta::assert_snapshot!(text(&loads::no_reply()));
}

#[test]
fn coloured() {
    let load = loads::void();
    insta::assert_snapshot!(load_text(&load.spec, &load.validity, &load.measured, &load.measured.steps, URL, COLOURED));
}

#[test]
fn a_narrow_terminal_changes_lines_not_words() {
    let load = loads::with_failures();
    let style = report::Style { colour: false, width: 60, verbose: false };
    let narrow = load_text(&load.spec, &load.validity, &load.measured, &load.measured.steps, URL, style);
    let words = |text: &str| text.split_whitespace().filter(|w| *w != "·").map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&text(&load)));
}

#[test]
fn json_of_a_closed_load() {
    let load = loads::closed();
    insta::assert_snapshot!(load_json(&load.spec, &load.validity, &load.measured, &load.measured.steps, &origin()));
}

#[test]
fn json_of_an_open_load() {
    let load = loads::open_with_stall();
    insta::assert_snapshot!(load_json(&load.spec, &load.validity, &load.measured, &load.measured.steps, &origin()));
}

#[test]
fn json_is_one_document_whose_books_balance() {
    let load = loads::with_failures();
    let text = load_json(&load.spec, &load.validity, &load.measured, &load.measured.steps, &origin());
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "bourdon.load/1");
    assert_eq!(document["generator"]["threads"], 2);
    assert_eq!(document["validity"]["verdict"], "valid");
    let books = &document["accounting"];
    let total = |of: &serde_json::Value| of.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    let number = |name: &str| books[name].as_u64().unwrap();
    assert_eq!(number("scheduled"), number("sent") + total(&books["not_sent"]));
    assert_eq!(number("sent"), number("completed") + total(&books["failed"]) + number("in_flight_at_end"));
    let idle = loads::no_reply();
    let text = load_json(&idle.spec, &idle.validity, &idle.measured, &idle.measured.steps, &origin());
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(document["generator"]["cpu_us_per_request"].is_null() && document["latency_us"]["service"].is_null());
}
