use jiff::SignedDuration;

/// A duration that could not be understood; its text names the cure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DurationError {
    /// A bare number, and the same without an exponent: the unit is missing.
    #[error("`{0}` has no unit; write `{1}ms` or `{1}s`")]
    NoUnit(String, f64),
    /// Below zero.
    #[error("`{0}` is negative; a duration starts at 0ms")]
    Negative(String),
    /// No load, wait or delay takes so long, and sums of such would not fit where times are counted.
    #[error("`{0}` is longer than a year; a duration is that at most")]
    TooLong(String),
    /// Anything else.
    #[error("`{0}` is not a duration; write for instance `500us`, `10ms`, `1.5s` or `2m`")]
    Malformed(String),
}

/// Longest duration that is taken, in nanoseconds: a year.
pub(crate) const LONGEST_NS: u64 = 365 * 24 * 3_600 * 1_000_000_000;

/// Reads a duration such as `10ms`, `1.5s` or `2m` into nanoseconds.
///
/// # Errors
/// When the unit is missing, the value is negative or longer than a year, or the text is not a duration.
pub fn parse_duration(text: &str) -> Result<u64, DurationError> {
    let trimmed = text.trim();
    match trimmed.parse::<f64>() {
        Ok(number) if number < 0.0 => return Err(DurationError::Negative(text.to_owned())),
        // Longer than a year in milliseconds, the first unit that would be advised.
        Ok(number) if number.is_finite() && number * 1e6 > LONGEST_NS as f64 => {
            return Err(DurationError::TooLong(text.to_owned()));
        }
        Ok(number) if number.is_finite() => return Err(DurationError::NoUnit(text.to_owned(), number)),
        _ => {}
    }
    // To the parser a comma is a decimal point, to most who write one here it sets thousands apart: neither is guessed.
    let malformed = || DurationError::Malformed(text.to_owned());
    let parsed: SignedDuration =
        if trimmed.contains(',') { None } else { trimmed.parse().ok() }.ok_or_else(malformed)?;
    if parsed.is_negative() {
        return Err(DurationError::Negative(text.to_owned()));
    }
    let ns = u64::try_from(parsed.as_nanos()).unwrap_or(u64::MAX);
    if ns > LONGEST_NS { Err(DurationError::TooLong(text.to_owned())) } else { Ok(ns) }
}

/// Writes nanoseconds in the largest unit that needs no fraction: `1500ms`, `2s`, `0ms`.
pub fn format_duration(ns: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    if ns == 0 {
        return "0ms".to_owned();
    }
    match UNITS.iter().find(|(size, _)| ns.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{}{unit}", ns / size),
        None => format!("{ns}ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for (text, ns, canonical) in [
            ("10ms", 10_000_000, "10ms"),
            ("0ms", 0, "0ms"),
            ("0s", 0, "0ms"),
            ("1.5s", 1_500_000_000, "1500ms"),
            ("2m", 120_000_000_000, "120s"),
            ("250us", 250_000, "250us"),
        ] {
            assert_eq!(parse_duration(text), Ok(ns), "{text}");
            assert_eq!(format_duration(ns), canonical);
        }
    }

    #[test]
    fn a_bare_number_asks_for_its_unit() {
        assert_eq!(parse_duration("10"), Err(DurationError::NoUnit("10".into(), 10.0)));
        let refused = |text| parse_duration(text).unwrap_err().to_string();
        assert_eq!(refused("1e3"), "`1e3` has no unit; write `1000ms` or `1000s`");
        assert_eq!(refused("1e308"), "`1e308` is longer than a year; a duration is that at most");
        assert_eq!(parse_duration("-5"), Err(DurationError::Negative("-5".into())));
        assert_eq!(parse_duration("1,500ms"), Err(DurationError::Malformed("1,500ms".into())));
        assert_eq!(parse_duration("inf"), Err(DurationError::Malformed("inf".into())));
        assert_eq!(parse_duration("-5ms"), Err(DurationError::Negative("-5ms".into())));
        assert_eq!(parse_duration("18446744073s"), Err(DurationError::TooLong("18446744073s".into())));
        assert_eq!(parse_duration("8760h"), Ok(LONGEST_NS));
        assert_eq!(parse_duration("soon"), Err(DurationError::Malformed("soon".into())));
    }
}
