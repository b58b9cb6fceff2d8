use model::{AuditModel, AuditSource, Published};

use super::number::{Rounding, bytes, count, number, quantile, time_us};
use super::{add_quantile, after};

/// The text of hey, and of oha, which followed it.
pub(super) fn read(text: &str, source: AuditSource) -> Published {
    let mut row = Published::new(source, AuditModel::Closed);
    let (mut section, mut tally) = ("", Tally::default());
    for line in text.lines() {
        let trimmed = line.trim();
        if !line.starts_with([' ', '\t', '[']) && trimmed.contains(':') {
            section = trimmed;
        }
        if section.starts_with("Summary") {
            summary(&mut row, trimmed);
        } else if section.starts_with("Status code") {
            tally.status(trimmed);
        } else if section.starts_with("Error") {
            tally.error(trimmed);
        } else if section.contains("distribution")
            && !section.contains("first byte")
            && let Some((name, value)) = trimmed.split_once(" in ")
        {
            add_quantile(&mut row, quantile(name), time_us(value, Rounding::Nearest));
        }
    }
    tally.enter(&mut row);
    row
}

fn summary(row: &mut Published, line: &str) {
    let time = |text| time_us(text, Rounding::Nearest);
    if let Some(duration) = after(line, "Total:") {
        row.duration_s = time(duration).map(|us| us.scaled(1e-6));
    } else if let Some(slowest) = after(line, "Slowest:") {
        row.latency_us.max = time(slowest);
    } else if let Some(fastest) = after(line, "Fastest:") {
        row.latency_us.min = time(fastest);
    } else if let Some(average) = after(line, "Average:") {
        row.latency_us.mean = time(average);
    } else if let Some(rate) = after(line, "Requests/sec:") {
        row.rate_per_s = number(rate);
    } else if let Some(total) = after(line, "Total data:") {
        row.bytes = bytes(total);
    } else if let Some(flow) = after(line, "Size/sec:") {
        row.bytes_per_s = bytes(flow);
    }
}

/// Replies by status and errors by cause, which these tools print instead of a total.
#[derive(Default)]
pub(super) struct Tally {
    any: bool,
    ok: u64,
    errors: u64,
}

impl Tally {
    /// So many replies with a status, which is good from 200 to 399.
    pub(super) fn add_status(&mut self, status: &str, replies: u64) {
        self.any = true;
        let into = if status.starts_with(['2', '3']) { &mut self.ok } else { &mut self.errors };
        *into = into.saturating_add(replies);
    }

    /// So many requests without a reply.
    pub(super) fn add_errors(&mut self, errors: u64) {
        self.any = true;
        self.errors = self.errors.saturating_add(errors);
    }

    /// `[200] 51950 responses`, behind a tab.
    fn status(&mut self, line: &str) {
        let status = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let replies = status.and_then(|(status, rest)| Some((status, count(rest.split_whitespace().next()?)?)));
        if let Some((status, replies)) = replies {
            self.add_status(status, replies);
        }
    }

    /// `[12] connection refused`, behind a tab.
    fn error(&mut self, line: &str) {
        let number = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some(errors) = number.and_then(|(number, _)| count(number)) {
            self.add_errors(errors);
        }
    }

    /// Their sum is the number of requests; it is not a figure of its own that could contradict them.
    pub(super) fn enter(self, row: &mut Published) {
        row.failed = self.any.then_some(self.errors);
        row.requests = self.any.then(|| self.ok.saturating_add(self.errors));
    }
}
