use std::fmt::Write;

use model::Interval;

/// The seconds of a load as CSV: a header with units, a line a second, warm-up at negative times. What could not be
/// estimated is empty; what is at or above `exact_below_us` is a lower bound.
pub fn load_csv(seconds: &[Interval]) -> String {
    let mut text = "at_s,length_s,sent,completed,ok,failed,p50_us,p99_us,max_us,exact_below_us\n".to_owned();
    for interval in seconds {
        let [p50, p99, max, exact] = [interval.p50_us, interval.p99_us, interval.max_us, interval.exact_below_us]
            .map(|us| us.map_or(String::new(), |us| format!("{us:.1}")));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:.0},{:.3},{},{},{},{},{p50},{p99},{max},{exact}",
            interval.at_s, interval.length_s, interval.sent, interval.completed, interval.ok, interval.failed
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_a_line_and_what_is_not_known_is_empty() {
        let warming = Interval { at_s: -1.0, length_s: 1.0, sent: 5, ..Interval::default() };
        let first = Interval {
            at_s: 0.0,
            length_s: 0.9996,
            completed: 4,
            ok: 3,
            sent: 6,
            failed: 1,
            p50_us: Some(51.25),
            p99_us: Some(102.0),
            max_us: Some(1e6),
            exact_below_us: Some(1e6),
            ..Interval::default()
        };
        assert_eq!(
            load_csv(&[warming, first]),
            "at_s,length_s,sent,completed,ok,failed,p50_us,p99_us,max_us,exact_below_us\n\
             -1,1.000,5,0,0,0,,,,\n\
             0,1.000,6,4,3,1,51.2,102.0,1000000.0,1000000.0\n"
        );
    }
}
