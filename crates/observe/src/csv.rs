use std::fmt::Write as _;

use model::{NS_PER_S, Sample};

/// The first row of samples as comma-separated values, with units.
pub const CSV_HEADER: &str = "at_s,cpu_user_s,cpu_system_s,rss_bytes,processes,threads,open_files,voluntary_switches,\
                      involuntary_switches,pss_bytes,established,time_wait,accept_queue,host_steal_s,host_busy_s,own_cpu_s\n";

/// Samples as comma-separated values, one row each under [`CSV_HEADER`]; an empty field was not looked at.
///
/// `at_s` counts from `start_ns`, the window's start, and is negative before it.
pub fn csv_rows(samples: &[Sample], start_ns: u64) -> String {
    let mut csv = String::new();
    for sample in samples {
        let at_s = (i128::from(sample.at_ns) - i128::from(start_ns)) as f64 / NS_PER_S as f64;
        // Writing to a String cannot fail.
        let _ = writeln!(
            csv,
            "{at_s:.6},{:.2},{:.2},{},{},{},{},{},{},{},{},{},{},{:.2},{:.2},{:.2}",
            sample.cpu_user_s,
            sample.cpu_system_s,
            sample.rss_bytes,
            sample.processes,
            sample.threads,
            optional(sample.open_files.map(u64::from)),
            optional(sample.voluntary_switches),
            optional(sample.involuntary_switches),
            optional(sample.pss_bytes),
            optional(sample.sockets.map(|sockets| sockets.established.into())),
            optional(sample.sockets.map(|sockets| sockets.time_wait.into())),
            optional(sample.sockets.map(|sockets| sockets.accept_queue.into())),
            sample.host_steal_s,
            sample.host_busy_s,
            sample.own_cpu_s,
        );
    }
    csv
}

fn optional(value: Option<u64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_a_sample_with_empty_fields_for_what_was_not_looked_at() {
        let sample =
            Sample { at_ns: 500_000_000, cpu_user_s: 1.25, rss_bytes: 4096, open_files: Some(7), ..Sample::default() };
        let csv = csv_rows(&[sample], 1_000_000_000);
        let mut lines = csv.lines();
        assert_eq!(CSV_HEADER.split(',').count(), 16);
        assert_eq!(lines.next(), Some("-0.500000,1.25,0.00,4096,0,0,7,,,,,,,0.00,0.00,0.00"));
        assert_eq!(lines.next(), None);
    }
}
