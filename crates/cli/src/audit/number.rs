//! Printed figures as the values that they leave possible.

use model::Printed;

/// How a tool shortens what it prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    /// To the nearest.
    Nearest,
    /// Sometimes to the nearest, sometimes downwards.
    Either,
}

/// A decimal number without a sign, and the worth of its last digit.
fn decimal(text: &str) -> Option<(f64, f64)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let well_formed = mantissa.starts_with(|c: char| c.is_ascii_digit())
        && mantissa.chars().all(|c| c.is_ascii_digit() || c == '.')
        && mantissa.len() <= 40;
    let exponent: i32 = exponent.parse().ok().filter(|e: &i32| well_formed && e.abs() <= 300)?;
    let decimals = mantissa.split_once('.').map_or(0, |(_, digits)| digits.len());
    let value: f64 = text.parse().ok()?;
    let step = 10_f64.powi(exponent - i32::try_from(decimals).ok()?);
    (value.is_finite() && step.is_finite()).then_some((value, step))
}

fn around(value: f64, step: f64, rounding: Rounding) -> Printed {
    let above = if rounding == Rounding::Nearest { step / 2.0 } else { step };
    Printed { printed: value, low: (value - step / 2.0).max(0.0), high: value + above }
}

/// A number such as `45913.24`, rounded to its last digit.
pub(super) fn number(text: &str) -> Option<Printed> {
    decimal(text).map(|(value, step)| around(value, step, Rounding::Nearest))
}

/// A whole number of things.
pub(super) fn count(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// How often a tool printed what is not a number in place of a figure: `-nan`, `-nan%`, `inf`.
pub(super) fn not_numbers(text: &str) -> u64 {
    let is_one = |word: &&str| {
        let word = word.trim_start_matches(['-', '+']).trim_end_matches([',', ';', ')']).to_ascii_lowercase();
        let unit = ["nan", "inf"].into_iter().find_map(|name| word.strip_prefix(name));
        unit.is_some_and(|unit| unit.is_empty() || unit == "%" || unit_us(unit).is_some())
    };
    text.split_whitespace().filter(is_one).count() as u64
}

/// Microseconds in a unit of time.
fn unit_us(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-3,
        "us" | "µs" | "μs" => 1.0,
        "ms" => 1e3,
        "s" | "sec" | "secs" | "seconds" => 1e6,
        "m" | "min" => 60e6,
        "h" => 3_600e6,
        _ => return None,
    })
}

/// A length of time in microseconds: `1.23ms`, `1.0003 secs`, or in parts as Go writes it, `1m0.5s`.
pub(super) fn time_us(text: &str, rounding: Rounding) -> Option<Printed> {
    let (mut rest, mut sum_us, mut step_us) = (text.trim(), 0.0, None);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let after = rest[digits..].trim_start();
        let unit = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let size_us = unit_us(&after[..unit])?;
        let (value, step) = decimal(&rest[..digits])?;
        sum_us += value * size_us;
        step_us = Some(step * size_us);
        rest = after[unit..].trim_start();
    }
    Some(around(sum_us, step_us?, rounding))
}

/// An amount of bytes by powers of 1024: `11.90MB`, `5.00 MiB`, `565000 bytes`.
pub(super) fn bytes(text: &str) -> Option<Printed> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = text[unit_at..].trim();
    let power = match unit.chars().next().map(|c| c.to_ascii_uppercase()) {
        None | Some('B') => 0,
        Some('K') => 1,
        Some('M') => 2,
        Some('G') => 3,
        Some('T') => 4,
        Some(_) => return None,
    };
    Some(number(&text[..unit_at])?.scaled(1024_f64.powi(power)))
}

/// A figure of a JSON document: printed with all its digits.
pub(super) fn exact(value: &serde_json::Value) -> Option<Printed> {
    value.as_f64().filter(|v| v.is_finite() && *v >= 0.0).map(Printed::exact)
}

/// The share that a name of a quantile means: `p99`, `p99.9`, `p999`, `99th`, `p(95)`, `50.000%`, `med`.
pub(super) fn quantile(name: &str) -> Option<f64> {
    if matches!(name, "med" | "median") {
        return Some(0.5);
    }
    let digits = name.trim_start_matches(['p', '(']).trim_end_matches([')', '%', 't', 'h']);
    let (value, _) = decimal(digits)?;
    // Three digits and more without a point are nines behind the second: p999 is 99.9 %.
    let is_long = name.starts_with('p') && digits.len() > 2 && !digits.contains('.') && digits != "100";
    let percent = if is_long { value / 10_f64.powi(i32::try_from(digits.len()).ok()? - 2) } else { value };
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn low_high(printed: Option<Printed>) -> (f64, f64) {
        let Printed { low, high, .. } = printed.unwrap();
        (low, high)
    }

    #[test]
    fn figures_leave_possible_what_rounds_to_them() {
        assert_eq!(low_high(number("45913.25")), (45913.245, 45913.255));
        assert_eq!(low_high(number("0")), (0.0, 0.5), "nothing here is below zero");
        assert_eq!(low_high(number("1.5e3")), (1450.0, 1550.0));
        assert_eq!(low_high(time_us("76us", Rounding::Either)), (75.5, 77.0));
        assert_eq!(low_high(time_us("1.5 secs", Rounding::Nearest)), (1.45e6, 1.55e6));
        assert_eq!(low_high(time_us("1m0.5s", Rounding::Nearest)), (60.45e6, 60.55e6));
        assert_eq!(low_high(time_us("24.25µs", Rounding::Nearest)), (24.245, 24.255));
        assert_eq!(low_high(bytes("2KB")), (1.5 * 1024.0, 2.5 * 1024.0));
    }

    #[test]
    fn what_is_no_figure_is_none() {
        for text in ["", "-1", "NaN", "inf", "1.2.3", "1e999", ".", "x", "٣"] {
            assert_eq!(number(text), None, "{text}");
        }
        for text in ["", "10", "1xs", "ms", "5 5", "1.0.0s"] {
            assert_eq!(time_us(text, Rounding::Nearest), None, "{text}");
        }
    }

    #[test]
    fn what_is_printed_in_place_of_a_number_is_counted() {
        assert_eq!(not_numbers("Latency -nan -nanus 0.00us -nan% rate: inf, (NaN)"), 4);
        assert_eq!(not_numbers("info: http://nan.example/ nano 12 -5 inf/s nanny"), 0);
    }

    #[test]
    fn names_of_quantiles() {
        for (name, q) in [
            ("p50", 0.5),
            ("p99", 0.99),
            ("p999", 0.999),
            ("p9999", 0.9999),
            ("p99.9", 0.999),
            ("99th", 0.99),
            ("p(95)", 0.95),
            ("med", 0.5),
            ("50.000%", 0.5),
            ("100%", 1.0),
            ("10%%", 0.1),
        ] {
            let read = quantile(name).unwrap();
            assert!((read - q).abs() < 1e-12, "{name}: {read}");
        }
        assert_eq!((quantile("pine"), quantile("p"), quantile("101%")), (None, None, None));
    }
}
