use model::{AuditModel, AuditSource, Published};

use super::number::{Rounding, bytes, count, number, quantile, time_us};
use super::{add_quantile, after};

/// The text of wrk and of wrk2.
pub(super) fn read(text: &str, source: AuditSource) -> Published {
    let model = if source == AuditSource::Wrk2 { AuditModel::Open } else { AuditModel::Closed };
    let mut row = Published::new(source, model);
    row.bytes_have_heads = true;
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Running", _, "test", "@", url, ..] => row.name = (*url).to_owned(),
            [_, "threads", "and", connections, "connections"] => row.connections = count(connections),
            ["Latency", mean, stdev, max, _] => {
                let time = |text| time_us(text, Rounding::Nearest);
                row.latency_us.mean = time(mean);
                row.latency_us.stdev = time(stdev);
                row.latency_us.max = time(max);
            }
            [name, value] if name.ends_with('%') => {
                add_quantile(&mut row, quantile(name), time_us(value, Rounding::Nearest));
            }
            [requests, "requests", "in", duration, read, "read"] => {
                row.requests = count(requests);
                row.duration_s = time_us(duration.trim_end_matches(','), Rounding::Nearest).map(|us| us.scaled(1e-6));
                row.bytes = bytes(read);
            }
            _ => {}
        }
        if let Some(errors) = after(line, "Non-2xx or 3xx responses:") {
            row.errors = count(errors);
        } else if let Some(lost) = after(line, "Socket errors:") {
            row.lost = socket_errors(lost);
        } else if let Some(rate) = after(line, "Requests/sec:") {
            row.rate_per_s = number(rate);
        } else if let Some(flow) = after(line, "Transfer/sec:") {
            row.bytes_per_s = bytes(flow);
        }
    }
    row.failed = Some(row.errors.unwrap_or(0).saturating_add(row.lost));
    row
}

/// `connect 0, read 12, write 0, timeout 3`: none of these is among the requests.
fn socket_errors(text: &str) -> u64 {
    let counts = text.split(',').filter_map(|part| count(part.trim().split_once(' ')?.1));
    counts.fold(0, u64::saturating_add)
}
