use model::{AuditModel, AuditSource, Published};

use super::number::{Rounding, bytes, count, number, quantile, time_us};
use super::{add_quantile, after};

/// The text of h2load. How many streams a client has open at once (`-m`) is not printed.
pub(super) fn read(text: &str) -> Published {
    let mut row = Published::new(AuditSource::H2load, AuditModel::Closed);
    row.rate_is_of_ok = true;
    let mut columns: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["spawning", "thread", _, clients, "total", "client(s).", ..] = words.as_slice() {
            let clients = count(clients).unwrap_or(0);
            row.connections = Some(row.connections.unwrap_or(0).saturating_add(clients));
            if line.ends_with("total requests") {
                // Each client has its share of them; one that is done falls idle while others go on.
                row.model = AuditModel::ClosedWithPauses;
            }
        } else if let Some(rest) = after(line, "finished in") {
            finished(&mut row, rest);
        } else if let Some(rest) = after(line, "requests:") {
            requests(&mut row, rest);
        } else if let Some(rest) = after(line, "traffic:") {
            row.bytes = rest.split_once('(').and_then(|(_, rest)| rest.split_once(')')).and_then(|(n, _)| number(n));
        } else if words.first() == Some(&"min") {
            columns = words;
        } else if let Some(rest) = after(line, "time for request:") {
            times(&mut row, &columns, rest);
        }
    }
    row
}

/// `1.00s, 130410.00 req/s, 11.69MB/s`.
fn finished(row: &mut Published, rest: &str) {
    let mut parts = rest.split(", ");
    row.duration_s = parts.next().and_then(|text| time_us(text, Rounding::Either)).map(|us| us.scaled(1e-6));
    row.rate_per_s = parts.next().and_then(|text| number(text.strip_suffix(" req/s")?));
    row.bytes_per_s = parts.next().and_then(|text| bytes(text.strip_suffix("/s")?));
}

/// `5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored, 0 timeout`.
fn requests(row: &mut Published, rest: &str) {
    for (number, name) in rest.split(", ").filter_map(|part| part.trim().split_once(' ')) {
        match name {
            "done" => row.requests = count(number),
            "succeeded" => row.ok = count(number),
            "failed" => row.errors = count(number),
            _ => {}
        }
    }
}

/// Times under their column heads; whole microseconds are cut off, not rounded.
fn times(row: &mut Published, columns: &[&str], rest: &str) {
    for (column, value) in columns.iter().zip(rest.split_whitespace()) {
        let value = time_us(value, Rounding::Either);
        match *column {
            "min" => row.latency_us.min = value,
            "max" => row.latency_us.max = value,
            "mean" => row.latency_us.mean = value,
            "sd" => row.latency_us.stdev = value,
            "+/-" => break,
            name => add_quantile(row, quantile(name), value),
        }
    }
}
