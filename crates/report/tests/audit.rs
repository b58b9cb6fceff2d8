//! Golden files of `bourdon audit`.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{
    Audit, AuditCheck, AuditFigure, AuditModel, AuditNote, AuditOutcome, AuditSource, Printed, Published, Reason,
    RowAudit,
};
use report::{audit_json, audit_text};
use support::{COLOURED, PLAIN, assert_tidy};

fn printed(value: f64, step: f64) -> Option<Printed> {
    Some(Printed { printed: value, low: value - step / 2.0, high: value + step / 2.0 })
}

fn no_delay() -> AuditNote {
    let note = note(AuditCheck::Ceiling, AuditOutcome::NotMade, "not given: handler delay");
    AuditNote { missing: vec![AuditFigure::HandlerDelay], ..note }
}

fn note(check: AuditCheck, outcome: AuditOutcome, text: &str) -> AuditNote {
    AuditNote { check, outcome, text: text.to_owned(), missing: Vec::new() }
}

fn contradictory() -> RowAudit {
    let mut published = Published::new(AuditSource::Wrk, AuditModel::Closed);
    published.name = "http://127.0.0.1:8080/".to_owned();
    (published.connections, published.pipeline) = (Some(10), Some(1));
    published.rate_per_s = printed(45_913.24, 0.01);
    published.requests = Some(45_962);
    published.duration_s = printed(1.0, 0.01);
    published.latency_us.mean = printed(493.5, 0.01);
    published.latency_us.max = printed(5_590.0, 10.0);
    published.latency_us.quantiles =
        vec![(0.5, printed(111.0, 0.01).unwrap()), (0.999, printed(4_130.0, 10.0).unwrap())];
    let checks = vec![
        note(
            AuditCheck::InFlight,
            AuditOutcome::Breach,
            "X·R̄ = 45,913/s × 494 µs = 22.7 > N = 10: more requests in flight than connections can hold",
        ),
        note(AuditCheck::Order, AuditOutcome::Holds, "p50, p99.9, max, mean are in order"),
        no_delay(),
    ];
    let cause = Some(Reason::new(model::Remark::AddedSamples, "wrk adds samples that nobody measured"));
    RowAudit { published, checks, cause, remarks: Vec::new(), failing: false }
}

fn sound(name: &str) -> RowAudit {
    let mut published = Published::new(AuditSource::Csv, AuditModel::Closed);
    published.name = name.to_owned();
    published.rate_per_s = printed(600_000.0, 1.0);
    let checks = vec![
        note(AuditCheck::Rate, AuditOutcome::Holds, "6,000,000 ÷ 10.0 s = 600,000/s, printed 600,000/s"),
        no_delay(),
        note(AuditCheck::InFlight, AuditOutcome::NotMade, "not given: mean latency"),
    ];
    RowAudit { published, checks, cause: None, remarks: Vec::new(), failing: false }
}

fn table() -> Audit {
    let mut bad = contradictory();
    bad.published.name = "bad".to_owned();
    bad.published.source = AuditSource::Csv;
    bad.remarks.extend(bad.cause.take());
    let remarks = vec![Reason::new(model::Remark::Ties, "6 of 9 rates lie within 2 % of each other")];
    Audit { rows: vec![sound("one"), bad, sound("two")], remarks }
}

#[test]
fn one_result() {
    let audit = Audit { rows: vec![contradictory()], remarks: Vec::new() };
    let text = audit_text(&audit, PLAIN);
    assert_tidy(&text, PLAIN.width);
    insta::assert_snapshot!(text);
}

#[test]
fn one_sound_result_in_colour() {
    insta::assert_snapshot!(audit_text(&Audit { rows: vec![sound("one")], remarks: Vec::new() }, COLOURED));
}

#[test]
fn a_table_shows_what_is_remarkable() {
    let text = audit_text(&table(), PLAIN);
    assert_tidy(&text, PLAIN.width);
    insta::assert_snapshot!(text);
}

#[test]
fn json() {
    insta::assert_snapshot!(audit_json(&Audit { rows: vec![contradictory()], remarks: Vec::new() }));
}
