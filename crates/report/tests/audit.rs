//! Golden files of what `bourdon audit` can say. No tool printed all of it: the figures are made up so that each check and each remark is
//! made. What it says of real outputs is golden in `crates/cli/tests/audit.rs`.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{AuditModel, AuditOutcome, AuditSource, Printed, Published};
use report::{audit_text, remark_words};
use support::{COLOURED, PLAIN, assert_tidy};

fn printed(value: f64, step: f64) -> Option<Printed> {
    Some(Printed { printed: value, low: value - step / 2.0, high: value + step / 2.0 })
}

fn sound(name: &str) -> Published {
    let mut published = Published::new(AuditSource::Csv, AuditModel::Closed);
    published.name = name.to_owned();
    published.rate_per_s = printed(600_000.0, 1.0);
    (published.requests, published.duration_s) = (Some(6_000_000), printed(10.0, 0.1));
    published
}

/// Every figure that a check may ask for, and all of them hold.
fn whole() -> Published {
    let mut published = Published::new(AuditSource::Csv, AuditModel::Closed);
    published.name = "whole".to_owned();
    (published.connections, published.pipeline, published.workers) = (Some(100), Some(1), Some(99));
    published.handler_delay_s = Some(0.009);
    published.rate_per_s = printed(9_900.0, 100.0);
    published.duration_s = printed(10.0, 0.1);
    (published.requests, published.ok, published.errors) = (Some(99_000), Some(99_000), Some(0));
    (published.bytes, published.bytes_per_s) = (printed(99e6, 1e6), printed(9.9e6, 1e5));
    published.bytes_have_heads = true;
    let latency = &mut published.latency_us;
    (latency.mean, latency.stdev) = (printed(10_150.0, 10.0), printed(1_500.0, 10.0));
    (latency.min, latency.max) = (printed(8_500.0, 10.0), printed(30_000.0, 10.0));
    latency.quantiles = vec![(0.5, printed(9_900.0, 10.0).unwrap()), (0.999, printed(15_000.0, 10.0).unwrap())];
    published
}

/// The same figures, of another load each.
fn broken() -> Published {
    let mut published = Published { name: "broken".to_owned(), ..whole() };
    (published.connections, published.workers) = (Some(1), Some(2));
    published.handler_delay_s = Some(0.015);
    (published.ok, published.errors) = (Some(99_000), Some(1_000));
    (published.bytes, published.duration_s) = (printed(99e4, 1e4), printed(5.0, 0.1));
    let latency = &mut published.latency_us;
    (latency.mean, latency.stdev) = (printed(40_150.0, 10.0), printed(100.0, 10.0));
    latency.quantiles.swap(0, 1);
    (latency.quantiles[0].0, latency.quantiles[1].0) = (0.5, 0.999);
    published
}

#[test]
fn one_sound_result_in_colour() {
    insta::assert_snapshot!(audit_text(&judge::audit(vec![sound("one")]), COLOURED));
}

#[test]
fn every_check_in_its_words() {
    let text = |published: Published, outcome: AuditOutcome, made: usize| {
        let audit = judge::audit(vec![published]);
        assert_eq!(audit.rows[0].that(outcome).count(), made, "{audit:#?}");
        audit_text(&audit, PLAIN)
    };
    let text = text(whole(), AuditOutcome::Holds, 12) + "\n" + &text(broken(), AuditOutcome::Breach, 11);
    assert_tidy(&text, PLAIN.width);
    insta::assert_snapshot!(text);
}

/// What every remark about one result is made of.
fn remarkable() -> Published {
    let mut published = Published { source: AuditSource::Wrk, name: "remarkable".to_owned(), ..whole() };
    (published.requests, published.ok, published.errors) = (Some(990), Some(890), Some(100));
    (published.duration_s, published.timed_out, published.not_numbers) = (printed(0.1, 0.001), 7, 3);
    published.latency_us.quantiles =
        vec![(0.95, printed(9_900.0, 10.0).unwrap()), (0.999, printed(9_900.0, 10.0).unwrap())];
    published
}

#[test]
fn every_remark_in_its_words() {
    let audit = judge::audit(vec![remarkable()]);
    let remarks: Vec<_> = audit.rows[0].remarks.iter().chain(&audit.rows[0].cause).collect();
    assert_eq!(remarks.len(), 7, "{remarks:#?}");
    let ties = judge::audit((0..5).map(|_| sound("one")).collect()).remarks;
    let words: Vec<_> = remarks.into_iter().chain(&ties).map(remark_words).collect();
    insta::assert_snapshot!(words.join("\n"));
}
