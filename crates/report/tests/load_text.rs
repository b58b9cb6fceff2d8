//! Golden files of `bourdon load`.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{Instrument, LateCause, LimitCause, MarkCause, MarkNote, Metric, Reason};
use report::{Origin, asked_load, load_json, load_text};
use support::loads::{self, Load, URL};
use support::{COLOURED, PLAIN, assert_tidy};

fn origin() -> Origin<'static> {
    let instrument = Instrument { bourdon: "0.1.0".into(), cpu: "a CPU".into(), cpus: 4, kernel: "6.1".into() };
    Origin {
        url: URL,
        started_at: "2026-11-20T10:00:00+01:00".parse().unwrap(),
        instrument,
        merged: &[],
        partial: None,
        not_one_load: None,
        part: None,
    }
}

/// That this response figure may be the generator's.
fn lateness(metric: Metric) -> Reason {
    let late = MarkCause::Late(vec![(metric, 1_000.0)]);
    Reason::from(MarkNote { metrics: vec![metric], ..MarkNote::new(late) })
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
    load.validity.reasons.push(lateness(Metric::P50));
    let text = text(&load).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(
            "over a tenth of p50 1.00 ms may be the generator's own lateness; CPUs of its own, or --spin, lower it"
        ),
        "{text}"
    );
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
    for part in [
        "\n  lateness, 30,000 values: requests due in the window that were sent",
        "\n  – not estimable: too few samples\n",
    ] {
        assert!(shown.contains(part) && !text(&load).contains(part), "{part} in {shown}");
    }
}

#[test]
fn beside_failures_without_a_time_the_largest_and_the_mean_are_bounds() {
    let mut load = loads::closed();
    load.measured.latency_us.service = load.measured.latency_us.service.map(|it| it.beside(1_000));
    let text = text(&load);
    let row = text.lines().find(|line| line.starts_with("service time")).unwrap_or_default();
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert!(cells[3] == "–" && cells[5].starts_with("≥ ") && cells[6].starts_with("≥ "), "{row}");
    assert!(text.contains("≥ at least: 1,000 requests failed without a time"), "{text}");
}

#[test]
fn the_generators_own_waiting_is_not_what_users_would_have_seen() {
    let mut load = loads::open_with_stall();
    assert!(text(&load).contains("The p99 that users would have seen: at least 1.81 s"));
    load.validity.reasons.push(lateness(Metric::P50));
    assert!(text(&load).contains("The p99 that users would have seen"), "the p99 is the server's");
    assert!(!text(&load).contains("the generator's own, which caused"), "what was late had no connection");
    load.measured.accounting.sent_late = [(LateCause::NoConnection, 62), (LateCause::Generator, 328)].into();
    let line = text(&load).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "hides the waiting; much of it may be the generator's own, which caused 328 of 390 late sends.";
    assert!(line.contains(said), "{line}");
    load.validity.reasons.push(lateness(Metric::P99));
    load.validity.reasons.push(lateness(Metric::P999));
    assert!(!text(&load).contains("that users would have seen"));
}

#[test]
fn a_standstill_suppresses_no_figure_that_is_the_same_without_it() {
    let mut load = loads::open_with_stall();
    let mark = Reason::said(model::Mark::Standstill, "it stood still".to_owned());
    load.validity.reasons.push(mark.about(vec![model::Metric::P99]));
    let without_us = load.measured.latency_us.clone();
    load.measured.standstills =
        Some(model::Standstills { count: 1, sum_s: 0.1, without_us, wakes_off: true, ..Default::default() });
    assert!(text(&load).contains("The p99 that users would have seen: at least 1.81 s"), "{}", text(&load));
    let without = &mut load.measured.standstills.as_mut().unwrap().without_us;
    without.response.as_mut().unwrap().p99 = Some(900_000.0);
    let shown = text(&load).replace('\n', " ");
    let both = "seen: at least 900 ms without the generator's own standstills, at least 1.81 s with them. Timed";
    assert!(shown.contains(both), "{shown}");
    let without = &mut load.measured.standstills.as_mut().unwrap().without_us;
    without.response.as_mut().unwrap().p99 = Some(1_900_000.0);
    assert!(text(&load).contains("users would have seen: at least 1.81 s. Timed"), "what never left is not in it");
    let without = &mut load.measured.standstills.as_mut().unwrap().without_us;
    without.response.as_mut().unwrap().p99 = Some(2_400.0);
    assert!(!text(&load).contains("The p99 that users would have seen"), "it was the generator alone");
}

#[test]
fn the_gap_is_told_of_the_figure_that_has_it() {
    let mut load = loads::open_with_stall();
    let latencies = &mut load.measured.latency_us;
    latencies.service.as_mut().unwrap().p99 = Some(1_810_000.0);
    latencies.response.as_mut().unwrap().p90 = Some(800_000.0);
    let shown = text(&load).replace('\n', " ");
    assert!(shown.contains("The p90 that users would have seen: 800 ms. Timed from the send: 1.60 ms"), "{shown}");
}

#[test]
fn a_quantile_that_failures_hide_is_not_known() {
    let load = loads::open_that_dies();
    let words = text(&load).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("response time – – – –"), "{words}");
    let note = "– not known: 75 % of the requests failed, and those have no response time";
    assert!(words.contains(note) && !words.contains("that users would have seen"), "{words}");
    let json: serde_json::Value = serde_json::from_str(&load_json(
        asked_load(&load.spec),
        &load.validity,
        &load.measured,
        &load.measured.steps,
        &origin(),
    ))
    .unwrap();
    let response = &json["latency_us"]["response"];
    assert!(response["p50"].is_null() && response["failed"].as_u64() > Some(500), "{response}");
}

#[test]
fn requests_that_hang_are_said_with_what_failed() {
    let shown = text(&loads::open_with_hung(100)).split_whitespace().collect::<Vec<_>>().join(" ");
    let hung = "hung: 3 requests, one on each of 3 connections, never got a whole reply in up to 3.01 s; the slowest reply took \
                10.0 ms; --timeout would count it as failed the rate of 100 a second was sent";
    assert!(shown.contains(hung), "{shown}");
    let load = loads::open_with_hung(100);
    let json = load_json(asked_load(&load.spec), &load.validity, &load.measured, &load.measured.steps, &origin());
    assert!(json.contains("\"awaited\": [") && json.contains("\"cure\": \"time-out\""), "{json}");
    let shown = text(&loads::open_with_hung(50)).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("--timeout would count it as failed (2 % of the requests, over the 1 % allowed)"),
        "{shown}"
    );
    assert!(loads::open_with_hung(50).validity.failing.bad && !loads::open_with_hung(100).validity.failing.bad);
}

#[test]
fn what_is_bad_is_said_at_the_top_where_only_requests_of_the_warm_up_were_answered() {
    let hung = loads::open_with_hung(50);
    let mut measured = hung.measured.clone();
    let left = measured.accounting.in_flight_at_end;
    measured.accounting =
        model::Accounting { scheduled: left, sent: left, in_flight_at_end: left, ..model::Accounting::default() };
    let load = Load::judged(hung.spec, measured.clone());
    assert!(load.validity.failing.bad && measured.in_window.completed > 0);
    assert!(top(&load).contains("hung: "), "{}", text(&load));
    let books = &mut measured.accounting;
    books.in_flight_at_end = 0;
    books.failed = [(model::Failure::TimedOut, left)].into();
    let load = Load::judged(load.spec, measured);
    assert!(load.validity.failing.bad);
    assert!(top(&load).contains("errors: 100 % of the requests failed"), "{}", text(&load));
}

/// What is shown before the load that was asked for.
fn top(load: &Load) -> String {
    text(load).split("GET ").next().unwrap().to_owned()
}

#[test]
fn a_server_that_was_silent_is_said_before_anything_else() {
    let stalled = loads::open_with_stall();
    let mut unbalanced = stalled.measured.clone();
    unbalanced.accounting.ok -= 7;
    let void = Load::judged(stalled.spec.clone(), unbalanced);
    assert_eq!(void.validity.verdict, model::Verdict::Void);
    for load in [stalled, void] {
        let shown = text(&load);
        let said = "The server gave no whole reply for 2.20 s, from 4.00 s to 6.20 s of the window.\n";
        assert!(shown.starts_with(said), "{shown}");
        assert_eq!(shown.matches("no whole reply for").count(), 1);
    }
}

#[test]
fn latencies_without_standstills_are_shown_where_these_made_a_figure() {
    let mut load = loads::open_with_stall();
    let without_us = load.measured.latency_us.clone();
    let stood =
        model::Standstills { count: 1, sum_s: 0.012, requests: 95, without_us, wakes_off: true, ..Default::default() };
    load.measured.standstills = Some(stood);
    assert!(!text(&load).contains("not counting"), "{}", text(&load));
    assert!(text(&load).contains("stood still once, for 12.0 ms"), "{}", text(&load));
    load.validity.reasons.push(Reason::said(model::Mark::Standstill, "it stood still".to_owned()));
    let shown = text(&load).replace('\n', " ");
    let title = "At least, not counting the generator's pauses, which held up 95 requests:";
    assert!(shown.contains(title), "{shown}");
    assert_eq!(text(&load).matches("stood still").count(), 1, "it is told once");
    let mut silent = load.clone();
    silent.measured.accounting.completed = 0;
    assert!(!text(&silent).contains("At least, not counting"), "nothing was ever worked off: {}", text(&silent));
    load.measured.standstills.as_mut().unwrap().wakes_off = false;
    assert!(!text(&load).contains("At least, not counting"), "nobody knows what is left: {}", text(&load));
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
fn a_load_that_was_stopped_in_its_warm_up_has_no_figures_to_show() {
    let Load { spec, mut measured, .. } = loads::no_reply();
    (measured.interrupted, measured.window_s) = (true, 0.0);
    let load = Load::judged(spec, measured);
    assert_eq!(text(&load), "The load was stopped in its warm-up: nothing was measured.\n");
}

#[test]
fn a_port_that_speaks_tls_is_named_where_nothing_came_back() {
    let mut load = loads::no_reply();
    load.measured.first_wrong = Some(model::WrongReply::not_http(b"\x15\x03\x01\x00\x02\x02\x46", None));
    let words: Vec<String> = text(&load).split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("this port speaks TLS: try https://"), "{}", text(&load));
}

#[test]
fn a_long_url_loses_its_middle() {
    let load = loads::closed();
    let url = format!("http://h/{}?end", "x".repeat(100_000));
    let shown = load_text(&load.spec, &load.validity, &load.measured, &[], &url, PLAIN);
    assert!(shown.len() < 3_000 && shown.contains("?end"), "{}", shown.len());
}

#[test]
fn where_no_reply_was_right_only_that_is_said() {
    let mut load = loads::with_failures();
    let reason = Reason::from(LimitCause::NothingRight { bad_status: 2, bad_body: 0 });
    load.validity.reasons = vec![reason];
    let said = text(&load);
    assert!(!said.contains("no reply was right") && !said.contains("limit"), "{said}");
    assert!(said.contains("of the requests failed"), "{said}");
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
    insta::assert_snapshot!(load_json(
        asked_load(&load.spec),
        &load.validity,
        &load.measured,
        &load.measured.steps,
        &origin()
    ));
}

#[test]
fn json_of_an_open_load() {
    let load = loads::open_with_stall();
    insta::assert_snapshot!(load_json(
        asked_load(&load.spec),
        &load.validity,
        &load.measured,
        &load.measured.steps,
        &origin()
    ));
}

#[test]
fn json_is_one_document_whose_books_balance() {
    let load = loads::with_failures();
    let text = load_json(asked_load(&load.spec), &load.validity, &load.measured, &load.measured.steps, &origin());
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], "bourdon.load/2");
    assert_eq!(document["generator"]["threads"], 1);
    assert_eq!(document["validity"]["verdict"], "valid");
    let books = &document["accounting"];
    let total = |of: &serde_json::Value| of.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    let number = |name: &str| books[name].as_u64().unwrap();
    assert_eq!(number("scheduled"), number("sent") + total(&books["not_sent"]));
    assert_eq!(number("sent"), number("completed") + total(&books["failed"]) + number("in_flight_at_end"));
    let idle = loads::no_reply();
    let text = load_json(asked_load(&idle.spec), &idle.validity, &idle.measured, &idle.measured.steps, &origin());
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(document["generator"]["cpu_us_per_request"].is_null() && document["latency_us"]["service"].is_null());
}
