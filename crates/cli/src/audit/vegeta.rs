use model::{AuditModel, AuditSource, Published};
use serde_json::Value;

use super::number::{Rounding, count, exact, number, quantile, time_us};
use super::{add_quantile, add_sorted_quantiles};

/// The text report of vegeta: `Latencies  [min, mean, 50, 90, 95, 99, max]  1.2ms, …`.
pub(super) fn read(text: &str) -> Published {
    let mut row = Published::new(AuditSource::Vegeta, AuditModel::Open);
    for line in text.lines() {
        let Some((title, rest)) = line.split_once('[') else { continue };
        let Some((names, values)) = rest.split_once(']') else { continue };
        let pairs = names.split(',').map(str::trim).zip(values.split(',').map(str::trim));
        match title.trim() {
            "Requests" => pairs.for_each(|(name, value)| match name {
                "total" => row.requests = count(value),
                "rate" => row.rate_per_s = number(value),
                _ => {}
            }),
            "Duration" => pairs.filter(|(name, _)| *name == "attack").for_each(|(_, value)| {
                row.duration_s = time_us(value, Rounding::Either).map(|us| us.scaled(1e-6));
            }),
            "Latencies" => pairs.for_each(|(name, value)| latency(&mut row, name, value)),
            "Status Codes" => {
                let codes = values.split_whitespace().filter_map(|pair| pair.split_once(':'));
                statuses(&mut row, codes.filter_map(|(code, n)| Some((code, count(n)?))));
            }
            _ => {}
        }
    }
    row
}

fn latency(row: &mut Published, name: &str, value: &str) {
    let value = time_us(value, Rounding::Either);
    match name {
        "min" => row.latency_us.min = value,
        "mean" => row.latency_us.mean = value,
        "max" => row.latency_us.max = value,
        name => add_quantile(row, quantile(name), value),
    }
}

/// Code 0 stands for requests without a reply.
fn statuses<'a>(row: &mut Published, codes: impl Iterator<Item = (&'a str, u64)>) {
    let (mut ok, mut errors) = (0_u64, 0_u64);
    for (code, replies) in codes {
        let into = if code.starts_with(['2', '3']) { &mut ok } else { &mut errors };
        *into = into.saturating_add(replies);
    }
    (row.ok, row.errors) = (Some(ok), Some(errors));
}

/// The JSON report of vegeta, times in nanoseconds.
pub(super) fn read_json(document: &Value) -> Published {
    let mut row = Published::new(AuditSource::Vegeta, AuditModel::Open);
    let time_us = |value: &Value| exact(value).map(|ns| ns.scaled(1e-3));
    row.requests = document["requests"].as_u64();
    row.rate_per_s = exact(&document["rate"]);
    row.duration_s = exact(&document["duration"]).map(|ns| ns.scaled(1e-9));
    let latencies = &document["latencies"];
    row.latency_us.min = time_us(&latencies["min"]);
    row.latency_us.mean = time_us(&latencies["mean"]);
    row.latency_us.max = time_us(&latencies["max"]);
    let quantiles = latencies.as_object().into_iter().flatten();
    add_sorted_quantiles(&mut row, quantiles.map(|(name, value)| (quantile(name), time_us(value))));
    if let Some(codes) = document["status_codes"].as_object() {
        statuses(&mut row, codes.iter().filter_map(|(code, n)| Some((code.as_str(), n.as_u64()?))));
    }
    row
}
