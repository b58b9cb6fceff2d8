//! How a load went over its seconds, a row of small bars for each figure.

use model::Interval;

use crate::format::{counted, number};
use crate::page::unbroken;
use crate::words::latency;

/// Fewer seconds than these are told by the totals.
const LEAST_SECONDS: usize = 3;
/// More cells than these are not read one by one.
const MOST_CELLS: usize = 60;
/// A second cut shorter than this share of one has too few requests to stand beside the others.
const WHOLE: f64 = 0.5;

/// Neighbouring seconds of the window, in one cell.
#[derive(Default)]
struct Part {
    length_s: f64,
    ok: u64,
    failed: u64,
    /// The highest of its seconds.
    p99_us: Option<f64>,
    /// Whether one of these rests on requests without a reply.
    is_bound: bool,
}

/// A label with its bars and what they range over: `rate`, `▇▇█▁  12 to 1,020 requests/s`. Bars begin at zero, and a
/// second without a figure is blank. Nothing of a window of a few seconds.
pub(crate) fn sparks(intervals: &[Interval], width: usize) -> Vec<(&'static str, String)> {
    let seconds: Vec<&Interval> = intervals.iter().filter(|it| it.at_s >= 0.0 && it.length_s >= WHOLE).collect();
    if seconds.len() < LEAST_SECONDS {
        return Vec::new();
    }
    let each = seconds.len().div_ceil(width.clamp(1, MOST_CELLS));
    let parts: Vec<Part> = seconds.chunks(each).map(Part::of).collect();
    let mut rows = vec![("rate", rate(&parts))];
    // Of loads that are put together nobody knows it.
    if parts.iter().any(|part| part.p99_us.is_some()) {
        rows.push(("p99", p99(&parts)));
    }
    let failed = model::sum(parts.iter().map(|part| part.failed));
    if failed > 0 {
        let within = seconds.iter().filter(|it| it.failures() > 0).count() as u64;
        let of = counted(seconds.len() as u64, "second", "seconds");
        // A rate, and no number: what failed in these seconds is not what was due in them, which the books count.
        let failures: Vec<Option<f64>> = parts.iter().map(|part| Some(part.failed as f64 / part.length_s)).collect();
        let text = format!("{} requests/s, in {within} of {of}", range(&failures, number));
        rows.push(("failures", row(failures, &text)));
    }
    rows
}

impl Part {
    fn of(seconds: &[&Interval]) -> Self {
        seconds.iter().fold(Part::default(), |part, second| Part {
            length_s: part.length_s + second.length_s,
            ok: part.ok.saturating_add(second.ok),
            failed: part.failed.saturating_add(second.failures()),
            p99_us: [part.p99_us, second.p99_us].into_iter().flatten().reduce(f64::max),
            is_bound: part.is_bound || second.p99_us.is_some_and(|us| second.is_lower_bound(us)),
        })
    }
}

fn rate(parts: &[Part]) -> String {
    let rates: Vec<Option<f64>> = parts.iter().map(|part| Some(part.ok as f64 / part.length_s)).collect();
    let text = format!("{} requests/s", range(&rates, number));
    row(rates, &text)
}

fn p99(parts: &[Part]) -> String {
    let p99s: Vec<Option<f64>> = parts.iter().map(|part| part.p99_us).collect();
    let is_bound = |us| parts.iter().any(|part| part.is_bound && part.p99_us == Some(us));
    let text = range(&p99s, |us| latency(us, is_bound(us)));
    row(p99s, &text)
}

/// `1.2 ms to 1.81 s`, or one of the two where both are shown the same.
fn range(values: &[Option<f64>], shown: impl Fn(f64) -> String) -> String {
    let values = || values.iter().copied().flatten();
    match (values().reduce(f64::min).map(&shown), values().reduce(f64::max).map(&shown)) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(only), _) => only,
        _ => "–".to_owned(),
    }
}

/// Bars of an eighth to a whole line, then what they range over.
fn row(values: Vec<Option<f64>>, text: &str) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = values.iter().copied().flatten().fold(0.0, f64::max);
    let bar = |value: &Option<f64>| match value {
        Some(value) if most > 0.0 => BARS[((value / most * 8.0).ceil() as usize).clamp(1, 8) - 1],
        Some(_) => BARS[0],
        None => ' ',
    };
    let bars: String = values.iter().map(bar).collect();
    format!("{} {text}", unbroken(&bars))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(at_s: f64, ok: u64, p99_us: Option<f64>, failed: u64) -> Interval {
        Interval { at_s, length_s: 1.0, completed: ok, ok, p99_us, failed, ..Interval::default() }
    }

    #[test]
    fn a_stall_is_seen_where_it_was() {
        let seconds = [
            second(-1.0, 9_999, None, 0),
            second(0.0, 1_000, Some(1_200.0), 0),
            second(1.0, 0, None, 0),
            second(2.0, 2_000, Some(1_810_000.0), 98),
            second(3.0, 1_000, Some(1_300.0), 0),
            Interval { length_s: 0.1, ..second(4.0, 1, Some(1.0), 0) },
        ];
        let rows = sparks(&seconds, 100);
        assert_eq!(rows[0], ("rate", "▄▁█▄ 0 to 2,000 requests/s".to_owned()));
        assert_eq!(rows[1], ("p99", "▁\u{a0}█▁ 1.20 ms to 1.81 s".to_owned()));
        assert_eq!(rows[2], ("failures", "▁▁█▁ 0 to 98.0 requests/s, in 1 of 4 seconds".to_owned()));
        assert!(sparks(&seconds[..3], 100).is_empty(), "two seconds of the window");
    }

    #[test]
    fn a_p99_that_rests_on_requests_without_a_reply_is_a_bound() {
        let timed_out = Interval { exact_below_us: Some(150_000.0), ..second(1.0, 190, Some(155_000.0), 10) };
        let seconds = [second(0.0, 200, Some(11_300.0), 0), timed_out, second(2.0, 200, Some(12_000.0), 0)];
        assert_eq!(sparks(&seconds, 100)[1], ("p99", "▁█▁ 11.3 ms to ≥ 155 ms".to_owned()));
    }

    #[test]
    fn a_wrong_reply_is_a_failure_as_it_is_in_the_exit_status() {
        let wrong = Interval { completed: 100, ..second(1.0, 40, Some(1.0), 5) };
        let rows = sparks(&[second(0.0, 100, Some(1.0), 0), wrong, second(2.0, 100, Some(1.0), 0)], 100);
        assert_eq!(rows[2], ("failures", "▁█▁ 0 to 65.0 requests/s, in 1 of 3 seconds".to_owned()));
    }

    #[test]
    fn a_long_load_has_several_seconds_in_a_cell() {
        let seconds: Vec<Interval> = (0..3_600).map(|at| second(f64::from(at), 10, Some(5.0), 0)).collect();
        let [(_, rate), (_, p99)] = &sparks(&seconds, 1_000)[..] else { panic!("nothing failed") };
        assert_eq!(
            (rate.as_str(), p99.as_str()),
            (&*format!("{} 10.0 requests/s", "█".repeat(60)), &*format!("{} 5.00 µs", "█".repeat(60)))
        );
        assert!(sparks(&seconds, 0)[0].1.starts_with("█ 10.0"));
    }
}
