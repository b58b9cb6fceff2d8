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
            (row.lost, row.timed_out) = socket_errors(lost);
        } else if let Some(rate) = after(line, "Requests/sec:") {
            row.rate_per_s = number(rate);
        } else if let Some(flow) = after(line, "Transfer/sec:") {
            row.bytes_per_s = bytes(flow);
        }
    }
    row.failed = Some(row.errors.unwrap_or(0).saturating_add(row.lost));
    row
}

/// `connect 0, read 12, write 0, timeout 3`: requests that are not among those that ended, and time-outs.
///
/// A time-out is not a failed request. wrk 4 counts one for each complete reply that took longer than `--timeout`, after
/// it has counted that reply as a request (`response_complete` in its wrk.c). At each of its looks wrk2 counts one for
/// each connection whose last request began longer ago than that (`check_timeouts`), and still takes the reply.
fn socket_errors(text: &str) -> (u64, u64) {
    let kinds = text.split(',').filter_map(|part| {
        let (kind, number) = part.trim().split_once(' ')?;
        Some((kind, count(number)?))
    });
    kinds.fold((0, 0), |(lost, timed_out), (kind, number)| match kind {
        "timeout" => (lost, number.saturating_add(timed_out)),
        _ => (number.saturating_add(lost), timed_out),
    })
}
