use model::{AuditModel, AuditSource, Printed, Published};

use super::number::{Rounding, bytes, count, number, quantile, time_us};
use super::{add_quantile, after};

/// What its first line begins with.
pub(super) const FIRST_LINE: &str = "This is ApacheBench";

/// Lines that each of its results has. The percentages end with 100 %.
const ALWAYS: [&str; 9] = [
    "Concurrency Level:",
    "Time taken for tests:",
    "Complete requests:",
    "Failed requests:",
    "Total transferred:",
    "Requests per second:",
    "Time per request:",
    "Transfer rate:",
    "Total:",
];

/// The lines that a whole output has and this one lacks.
pub(super) fn missing(text: &str) -> Vec<&'static str> {
    let has = |line: &str| text.lines().any(|found| found.trim_start().starts_with(line));
    // Of a single request there are no percentages, of none no times either.
    let rows = ["50%", "100%"];
    let percentages = has("Percentage of the requests") || rows.iter().any(|row| has(row));
    let expected = ALWAYS.into_iter().chain(rows.into_iter().filter(|_| percentages));
    let times = has("Connection Times") || has("Processing:") || percentages;
    expected.filter(|line| !has(line) && (*line != "Total:" || times)).collect()
}

/// The text of ApacheBench. Its connection times are in whole milliseconds.
pub(super) fn read(text: &str) -> Published {
    let mut row = Published::new(AuditSource::Ab, AuditModel::Closed);
    row.bytes_have_heads = true;
    let (mut host, mut port, mut path) = ("", "", "");
    let (mut bad_status, mut other_length) = (0, 0);
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Server", "Hostname:", name] => host = name,
            ["Server", "Port:", number] => port = number,
            ["Document", "Path:", document] => path = document,
            ["Concurrency", "Level:", connections] => row.connections = count(connections),
            ["Complete", "requests:", requests] => row.requests = count(requests),
            ["Failed", "requests:", errors] => row.errors = count(errors),
            ["Non-2xx", "responses:", replies] => bad_status = count(replies).unwrap_or(0),
            ["(Connect:", .., "Length:", by_length, "Exceptions:", _] => {
                other_length = count(by_length.trim_end_matches(',')).unwrap_or(0);
            }
            ["Requests", "per", "second:", rate, ..] => row.rate_per_s = number(rate),
            ["Total:", min, mean, stdev, _, max] => {
                row.latency_us.min = milliseconds(min);
                row.latency_us.mean = milliseconds(mean);
                row.latency_us.stdev = milliseconds(stdev);
                row.latency_us.max = milliseconds(max);
            }
            [name, value, ..] if name.ends_with('%') => add_quantile(&mut row, quantile(name), milliseconds(value)),
            _ => {}
        }
        if let Some(duration) = after(line, "Time taken for tests:") {
            row.duration_s = time_us(duration, Rounding::Nearest).map(|us| us.scaled(1e-6));
        } else if let Some(total) = after(line, "Total transferred:") {
            row.bytes = bytes(total);
        } else if let Some(flow) = after(line, "Transfer rate:") {
            row.bytes_per_s = flow.split_whitespace().next().and_then(number).map(|kib| kib.scaled(1024.0));
        }
    }
    // Another length than the first reply's is a failure to ab alone, and another status none.
    row.failed = row.errors.map(|failed| failed.saturating_sub(other_length).saturating_add(bad_status));
    if !host.is_empty() {
        row.name = format!("http://{host}:{port}{path}");
    }
    row
}

fn milliseconds(text: &str) -> Option<Printed> {
    number(text).map(|ms| ms.scaled(1e3))
}
