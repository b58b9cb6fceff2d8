use std::borrow::Borrow;
use std::fmt::Display;

use model::{Measured, Unit};
pub use model::{counted, thousands, times};

/// How much CPU a figure takes.
pub(crate) const LEAST_CPU: &str = "10 ms, or 0.1 s where it is counted in the kernel's ticks of 10 ms";

/// Three significant digits, but never fewer than all digits before the point: `0.0106`, `9.30`, `12.1`, `9,294`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value < 0.0 {
        return format!("-{}", number(-value));
    }
    match exponent(value) {
        _ if value == 0.0 => "0".to_owned(),
        2.. => thousands(value.round() as u64),
        exponent @ -4..2 => format!("{value:.*}", (2 - exponent) as usize),
        _ => format!("{value:.2e}"),
    }
}

/// The power of ten of a value once it is rounded to three significant digits.
fn exponent(value: f64) -> i32 {
    let scientific = format!("{value:.2e}");
    scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// A duration given in microseconds, in the unit that reads best: `31.0 µs`, `12.1 ms`, `1.02 s`.
pub fn duration_us(us: f64) -> String {
    let (value, unit) = duration_parts(us);
    format!("{value} {unit}")
}

fn duration_parts(us: f64) -> (String, &'static str) {
    let rounded_thousands = exponent(us.abs()).div_euclid(3);
    match rounded_thousands {
        _ if us == 0.0 => ("0".to_owned(), "µs"),
        // A hundredth of a nanosecond is not measured: 100 ns is what histograms resolve.
        i32::MIN..0 => (format!("{us:.1}"), "µs"),
        0 => (number(us), "µs"),
        1 => (number(us / 1e3), "ms"),
        _ => (number(us / 1e6), "s"),
    }
}

/// A long time as people say it: `41 s`, `3 min 41 s`, `2 h 5 min`.
pub fn elapsed(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A length of time in seconds without needless digits: `10 s`, `9.87 s`, `500 ms`.
pub fn seconds(seconds: f64) -> String {
    let (value, unit) = duration_parts(seconds * 1e6);
    format!("{} {unit}", without_zeros(&value))
}

/// Memory, by powers of 1024: `312 KiB`, `14.2 MiB`.
pub fn bytes(value: f64) -> String {
    scaled(value, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB"])
}

/// A flow of bytes, by powers of 1000: `6.41 MB/s`.
pub fn bytes_per_s(value: f64) -> String {
    scaled(value, 1000.0, ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

fn scaled(value: f64, step: f64, units: [&str; 5]) -> String {
    let (mut value, mut unit) = (value, 0);
    while value.abs() >= step - 0.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    // There is no part of a byte.
    let text = if unit == 0 { thousands(value.max(0.0).round() as u64) } else { number(value) };
    format!("{text} {}", units[unit])
}

/// A share as a percentage: `92 %`, `1.3 %`, `0.6 %`, `0.02 %`. What is not nothing is never shown as 0, and what is
/// not all never as 100.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        0.0 => "0 %".to_owned(),
        0.0..0.005 => "<0.01 %".to_owned(),
        0.005..0.995 => format!("{} %", without_zeros(&format!("{percent:.2}"))),
        0.995..9.95 => format!("{} %", without_zeros(&format!("{percent:.1}"))),
        99.5..99.95 => format!("{percent:.1} %"),
        99.95..100.0 => ">99.9 %".to_owned(),
        _ => format!("{percent:.0} %"),
    }
}

/// A share with as many decimals as tell it from a limit that it is beyond: `1.04 %` beside a limit of 1 %.
pub(crate) fn percent_beside(share: f64, limit: f64) -> String {
    let apart = (2..=6).map(|places| format!("{} %", at_most_decimals(share * 100.0, places)));
    let written = percent(share);
    if written != percent(limit) || share == limit {
        return written;
    }
    apart.into_iter().find(|text| *text != written).unwrap_or(written)
}

/// So many decimals: `0.950`, of what is known to so many and no more.
pub fn decimals(value: f64, places: usize) -> String {
    format!("{value:.places$}")
}

/// At most so many decimals, without zeros at the end: `99.9`.
pub(crate) fn at_most_decimals(value: f64, places: usize) -> String {
    without_zeros(&decimals(value, places)).to_owned()
}

/// A change, with its sign: `+5.1`, `-0.3`; nothing has none.
pub(crate) fn signed(value: f64, places: usize) -> String {
    let shown = format!("{value:+.places$}");
    match shown.strip_prefix(['-', '+']) {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => shown,
    }
}

/// A decimal number without zeros at its end that say nothing.
fn without_zeros(decimal: &str) -> &str {
    if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.') } else { decimal }
}

/// Counts by kind, those above zero: `12 timed-out, 3 refused`.
pub(crate) fn kinds<K: Display, N: Borrow<u64>>(counts: impl IntoIterator<Item = (K, N)>) -> String {
    let counts = counts.into_iter().map(|(kind, number)| (kind, *number.borrow())).filter(|(_, number)| *number > 0);
    let parts: Vec<String> = counts.map(|(kind, number)| format!("{} {kind}", thousands(number))).collect();
    parts.join(", ")
}

/// A value with its unit.
pub fn quantity(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Us => duration_us(value),
        Unit::Ms => duration_us(value * 1e3),
        Unit::Bytes => bytes(value),
        Unit::Share => percent(value),
        Unit::None | Unit::Ratio => number(value),
        other => format!("{} {other}", number(value)),
    }
}

/// A value that is round, as at the ticks of an axis: all of its digits, and of what is counted without its name: `0.05`,
/// `1.005`, `20 %`, `2 ms`, `10,000`.
pub(crate) fn tick(value: f64, unit: Unit) -> String {
    let (step, names): (f64, &[&str]) = match unit {
        Unit::Us => (1e3, &["µs", "ms", "s"]),
        Unit::Ms => (1e3, &["ms", "s"]),
        Unit::Bytes => (1024.0, &["B", "KiB", "MiB", "GiB", "TiB"]),
        Unit::Share => return format!("{} %", all_digits(value * 100.0)),
        _ => return all_digits(value),
    };
    let (mut value, mut at) = (value, 0);
    while value.abs() >= step && at + 1 < names.len() {
        (value, at) = (value / step, at + 1);
    }
    format!("{} {}", all_digits(value), names[at])
}

/// A number that has few digits as it is.
fn all_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        0.000_1..1e3 => at_most_decimals(value, 6),
        _ => without_zeros(&number(value)).to_owned(),
    }
}

/// A change in per cent that is round: `+10 %`, `-2.5 %`, `0 %`.
pub(crate) fn signed_tick(share: f64) -> String {
    format!("{} %", without_zeros(&signed(share * 100.0, 2)))
}

/// A value with its interval: `0.01066 (0.01060 to 0.01072)`; none when nothing was estimated.
///
/// The three have as many decimals as two significant digits of the interval's width need, so that a bound near a
/// threshold is seen to be on one side of it.
pub fn measured(value: &Measured) -> Option<String> {
    measured_of(value, "")
}

/// The same with ` of` something behind the estimate.
pub(crate) fn measured_of(value: &Measured, of: &str) -> Option<String> {
    let (estimate, unit) = (value.estimate?, value.unit);
    let (Some(low), Some(high)) = (value.low, value.high) else {
        return Some(format!("{}{of}", quantity(estimate, unit)));
    };
    if matches!(unit, Unit::Us | Unit::Ms | Unit::Bytes | Unit::Share) {
        let [estimate, low, high] = [estimate, low, high].map(|value| quantity(value, unit));
        return Some(format!("{estimate}{of} ({low} to {high})"));
    }
    // A width of nothing asks for digits that nobody measured: five significant ones at most.
    let decimals = (1 - exponent(high - low)).max(2 - exponent(estimate)).min(4 - exponent(estimate)).clamp(0, 9);
    let decimals = decimals as usize;
    let shown = |value: f64| if estimate.abs() >= 100.0 { number(value) } else { format!("{value:.decimals$}") };
    let unit = if matches!(unit, Unit::None | Unit::Ratio) { String::new() } else { format!(" {unit}") };
    Some(format!("{}{unit}{of} ({} to {})", shown(estimate), shown(low), shown(high)))
}

/// Half widths up to here are shown as ±: an interval on a log scale is then even to a twentieth of itself.
const EVEN: f64 = 0.1;

/// What three significant digits resolve, at worst.
const RESOLVED: f64 = 0.001;

/// The interval beside its estimate: `± 0.6 %`, or where it is wide, and so not even, `(1,870 to 4,193)`; none when
/// there is no interval.
pub fn plus_minus(value: &Measured) -> Option<String> {
    spread(value).map(|(Spread::Even(text) | Spread::Ends(text))| text)
}

/// An interval in words, by its shape.
pub(crate) enum Spread {
    /// `± 0.6 %`.
    Even(String),
    /// `(1,870 to 4,193)`.
    Ends(String),
}

/// The interval beside its estimate; none when there is none.
pub(crate) fn spread(value: &Measured) -> Option<Spread> {
    let half = value.relative_half_width()?;
    Some(match half {
        // Launches that agree to the last digit agree to what a count or a histogram's bucket resolves.
        0.0 => Spread::Even(format!("± <{}", percent(RESOLVED))),
        0.0..0.000_5 => Spread::Even(format!("± {}", percent(half))),
        0.000_5..EVEN => Spread::Even(format!("± {:.1} %", half * 100.0)),
        _ => {
            let end = |end: f64| match value.unit {
                Unit::Us | Unit::Ms | Unit::Bytes | Unit::Share => quantity(end, value.unit),
                // The estimate has the unit.
                _ => number(end),
            };
            Spread::Ends(format!("({} to {})", end(value.low?), end(value.high?)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits_or_all_before_the_point() {
        for (value, text) in [
            (0.0, "0"),
            (0.010_52, "0.0105"),
            (0.010_66, "0.0107"),
            (0.999_6, "1.00"),
            (9.3, "9.30"),
            (9.996, "10.0"),
            (99.96, "100"),
            (9_294.4, "9,294"),
            (1_234_567.8, "1,234,568"),
            (-12.34, "-12.3"),
            (0.000_012_34, "1.23e-5"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn a_share_beyond_a_limit_is_told_from_it() {
        for (share, limit, text) in [
            (0.010_4, 0.01, "1.04 %"),
            (0.010_004, 0.01, "1.0004 %"),
            (0.01, 0.01, "1 %"),
            (0.023, 0.01, "2.3 %"),
            (0.480_1, 0.48, "48.01 %"),
            (1.0, 0.01, "100 %"),
        ] {
            assert_eq!(percent_beside(share, limit), text, "{share}");
        }
    }

    #[test]
    fn durations_choose_their_unit_after_rounding() {
        for (us, text) in [
            (0.0, "0 µs"),
            (0.34, "0.3 µs"),
            (31.0, "31.0 µs"),
            (999.4, "999 µs"),
            (999.6, "1.00 ms"),
            (12_100.0, "12.1 ms"),
            (999_900.0, "1.00 s"),
            (1_020_000.0, "1.02 s"),
            (3_600_000_000.0, "3,600 s"),
        ] {
            assert_eq!(duration_us(us), text, "{us}");
        }
    }

    #[test]
    fn long_times() {
        for (s, text) in [(41.2, "41 s"), (221.0, "3 min 41 s"), (7_512.0, "2 h 5 min")] {
            assert_eq!(elapsed(s), text);
        }
        for (s, text) in [(10.0, "10 s"), (9.874, "9.87 s"), (0.5, "500 ms"), (1.5, "1.5 s"), (100.0, "100 s")] {
            assert_eq!(seconds(s), text);
        }
    }

    #[test]
    fn bytes_and_flows() {
        for (value, text) in [(0.0, "0 B"), (1_023.0, "1,023 B"), (1_024.0, "1.00 KiB"), (14_889_779.2, "14.2 MiB")] {
            assert_eq!(bytes(value), text);
        }
        assert_eq!(bytes_per_s(6_410_000.0), "6.41 MB/s");
        assert_eq!(bytes_per_s(999.7), "1.00 kB/s");
    }

    #[test]
    fn shares_never_round_to_nothing_or_to_all() {
        for (share, text) in [
            (0.0, "0 %"),
            (0.000_001, "<0.01 %"),
            (0.000_2, "0.02 %"),
            (0.001_3, "0.13 %"),
            (0.006, "0.6 %"),
            (0.05, "5 %"),
            (0.013, "1.3 %"),
            (0.923, "92 %"),
            (0.997, "99.7 %"),
            (0.999_9, ">99.9 %"),
            (1.0, "100 %"),
            (1.31, "131 %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }

    #[test]
    fn ticks_have_no_needless_digits() {
        for (value, unit, text) in [
            (0.05, Unit::Ratio, "0.05"),
            (1.0, Unit::Ratio, "1"),
            (1.001, Unit::Ratio, "1.001"),
            (10_000.0, Unit::RequestsPerS, "10,000"),
            (2_000.0, Unit::Us, "2 ms"),
            (1_005.0, Unit::Us, "1.005 ms"),
            (1_500.0, Unit::Ms, "1.5 s"),
            (3.0 * 1_048_576.0, Unit::Bytes, "3 MiB"),
            (0.2, Unit::Share, "20 %"),
            (0.0, Unit::Bytes, "0 B"),
        ] {
            assert_eq!(tick(value, unit), text);
        }
        let changes = [0.1, -0.025, 0.0, -1e-9, 4.0].map(signed_tick);
        assert_eq!(changes, ["+10 %", "-2.5 %", "0 %", "0 %", "+400 %"]);
    }

    #[test]
    fn values_with_their_uncertainty() {
        let value = |estimate, low, high, unit| Measured { estimate, low, high, unit };
        let ratio = value(Some(0.010_66), Some(0.010_596), Some(0.010_724), Unit::Ratio);
        assert_eq!(measured(&ratio).as_deref(), Some("0.01066 (0.01060 to 0.01072)"));
        assert_eq!(plus_minus(&ratio).as_deref(), Some("± 0.6 %"));
        let wide = value(Some(10_200.0), Some(6_121.0), Some(16_995.0), Unit::Us);
        assert_eq!(plus_minus(&wide).as_deref(), Some("(6.12 ms to 17.0 ms)"));
        let near = value(Some(0.998_6), Some(0.989_6), Some(1.007_6), Unit::Ratio);
        assert_eq!(measured(&near).as_deref(), Some("0.999 (0.990 to 1.008)"));
        let threads = value(Some(150.0), Some(149.4), Some(150.6), Unit::Threads);
        assert_eq!(measured(&threads).as_deref(), Some("150 threads (149 to 151)"));
        let exact = value(Some(4_999.0), Some(4_998.0), Some(5_000.0), Unit::RequestsPerS);
        assert_eq!(plus_minus(&exact).as_deref(), Some("± 0.02 %"));
        let alike = value(Some(1_000.0), Some(1_000.0), Some(1_000.0), Unit::RequestsPerS);
        assert_eq!(plus_minus(&alike).as_deref(), Some("± <0.1 %"), "never nothing");
        let bare = value(Some(12_100.0), None, None, Unit::Us);
        assert_eq!((measured(&bare).as_deref(), plus_minus(&bare)), (Some("12.1 ms"), None));
        assert_eq!(measured(&value(None, None, None, Unit::Us)), None);
        assert_eq!(quantity(9_214.0, Unit::RequestsPerS), "9,214 requests/s");
        assert_eq!(counted(1, "launch", "launches"), "1 launch");
        assert_eq!(counted(36, "launch", "launches"), "36 launches");
    }
}
