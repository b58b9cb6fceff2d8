use model::{AuditModel, AuditSource, Published};
use serde_json::Value;

use super::number::{Rounding, count, exact, number, quantile, time_us};
use super::{add_quantile, add_sorted_quantiles, after};

/// The end-of-test summary of k6. A virtual user is a connection as long as its script sends one request at a time; it
/// may pause between two, and does its own work there.
pub(super) fn read(text: &str) -> Published {
    let mut row = Published::new(AuditSource::K6, AuditModel::ClosedWithPauses);
    for line in text.lines().map(str::trim) {
        if let Some(script) = after(line, "script:") {
            row.name = script.to_owned();
        } else if line.starts_with("* ") && line.contains("iterations/s for") {
            row.model = AuditModel::Open;
        }
        // `http_reqs......................: 15761  15445.034595/s`
        let Some((name, rest)) = line.split_once(':') else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        match name.trim_end_matches('.') {
            "http_req_duration" => words.iter().filter_map(|word| word.split_once('=')).for_each(|(name, value)| {
                latency(&mut row, name, value);
            }),
            "http_reqs" => {
                row.requests = words.first().and_then(|text| count(text));
                row.rate_per_s = words.get(1).and_then(|text| number(text.strip_suffix("/s")?));
            }
            "http_req_failed" => failed(&mut row, &words),
            "vus_max" => row.connections = words.first().and_then(|text| count(text)),
            _ => {}
        }
    }
    row
}

/// k6 cuts digits off.
fn latency(row: &mut Published, name: &str, value: &str) {
    let value = time_us(value, Rounding::Either);
    match name {
        "min" => row.latency_us.min = value,
        "avg" => row.latency_us.mean = value,
        "max" => row.latency_us.max = value,
        name => add_quantile(row, quantile(name), value),
    }
}

/// `0.00% 0 out of 201`, or in older versions `0.00% ✓ 0 ✗ 201`, where ✓ counts what failed.
fn failed(row: &mut Published, words: &[&str]) {
    match words {
        [_, errors, "out", "of", all] => {
            row.errors = count(errors);
            row.ok = count(all).zip(row.errors).and_then(|(all, errors)| all.checked_sub(errors));
        }
        [_, "✓", errors, "✗", ok] => (row.errors, row.ok) = (count(errors), count(ok)),
        _ => {}
    }
}

/// The document of `--summary-export`, or of a script's `handleSummary`, which nests figures in `values`; times in
/// milliseconds. It does not say what made the requests come.
pub(super) fn read_json(document: &Value) -> Published {
    let mut row = Published::new(AuditSource::K6, AuditModel::ClosedWithPauses);
    let metric = |name: &str| {
        let metric = &document["metrics"][name];
        if metric["values"].is_object() { &metric["values"] } else { metric }
    };
    let time_us = |value: &Value| exact(value).map(|ms| ms.scaled(1e3));
    row.requests = metric("http_reqs")["count"].as_u64();
    row.rate_per_s = exact(&metric("http_reqs")["rate"]);
    row.connections = metric("vus_max")["value"].as_u64();
    row.errors = metric("http_req_failed")["passes"].as_u64();
    row.ok = metric("http_req_failed")["fails"].as_u64();
    let duration = metric("http_req_duration");
    row.latency_us.min = time_us(&duration["min"]);
    row.latency_us.mean = time_us(&duration["avg"]);
    row.latency_us.max = time_us(&duration["max"]);
    let quantiles = duration.as_object().into_iter().flatten();
    add_sorted_quantiles(&mut row, quantiles.map(|(name, value)| (quantile(name), time_us(value))));
    row
}
