//! What a value that is typed on the command line must look like.

use std::borrow::Cow;
use std::num::{IntErrorKind, ParseIntError};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use model::{DurationError, parse_duration};

use crate::framing::{as_method, is_method};

/// A bare number is seconds here, as other load generators read it. An experiment file, which is read again after
/// months, has to name the unit.
fn with_unit(text: &str) -> Cow<'_, str> {
    let is_bare = text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_bare { Cow::Owned(format!("{text}s")) } else { Cow::Borrowed(text) }
}

/// The seed that was given, else one that nobody can know beforehand, short enough to be typed again.
pub(crate) fn seed(given: Option<u64>) -> u64 {
    given.unwrap_or_else(|| fastrand::u32(..).into())
}

pub(super) fn path(text: &str) -> Result<String, String> {
    let whole = text.starts_with('/') && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if whole { Ok(text.to_owned()) } else { Err("a path begins with `/` and has no spaces".to_owned()) }
}

pub(super) fn duration(text: &str) -> Result<u64, DurationError> {
    parse_duration(&with_unit(text))
}

pub(crate) fn positive_duration(text: &str) -> Result<u64, String> {
    match duration(text) {
        Ok(0) => Err("must be above zero".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

/// How long servers are watched after a load: what a minute does not show is not waited for.
pub(super) fn rest(text: &str) -> Result<u64, String> {
    const USEFUL_NS: RangeInclusive<u64> = 500_000_000..=60_000_000_000;
    let found = duration(text).map_err(|error| error.to_string())?;
    match found == 0 || USEFUL_NS.contains(&found) {
        true => Ok(found),
        false => Err("must be from 500ms to a minute, or 0".to_owned()),
    }
}

/// The window of a calibration's load: in a shorter one even the null responder has no reply now and then.
pub(super) fn calibration_window(text: &str) -> Result<u64, String> {
    const LEAST_NS: u64 = 10_000_000;
    let found = positive_duration(text)?;
    (found >= LEAST_NS).then_some(found).ok_or_else(|| "must be 10ms at least, and says more from 1s on".to_owned())
}

/// How long a load is measured: in less than a millisecond most servers have no reply, and nothing is said of them.
pub(super) fn window(text: &str) -> Result<u64, String> {
    const LEAST_NS: u64 = 1_000_000;
    let found = positive_duration(text)?;
    (found >= LEAST_NS).then_some(found).ok_or_else(|| "must be 1ms at least, and says more from 1s on".to_owned())
}

/// A number of things of which there must be one.
pub(crate) fn at_least_one<N: FromStr<Err = ParseIntError> + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    match text.parse::<N>() {
        Ok(number) if number >= N::from(1) => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err("is more than there can be".to_owned()),
        _ => Err("must be a whole number of 1 or more".to_owned()),
    }
}

/// A share, `5%` or `0.05`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, whole) = text.trim().strip_suffix('%').map_or((text.trim(), 1.0), |number| (number.trim(), 100.0));
    match number.parse::<f64>().map(|number| number / whole) {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share is written `5%` or `0.05`, from 0 to 1".to_owned()),
    }
}

/// A share between none and all, so that something is the same and something is not.
pub(super) fn margin(text: &str) -> Result<f64, String> {
    let between = |share: &f64| *share > 0.0 && *share < 1.0;
    share(text).ok().filter(between).ok_or_else(|| "a margin is written `5%` or `0.05`, above 0 and below 1".to_owned())
}

/// Requests a second: `1000`, `1.5k`, `2M`.
pub(super) fn positive_rate(text: &str) -> Result<f64, String> {
    let (number, times) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |number| (number, 1e6)),
    };
    match number.parse::<f64>().map(|number| number * times) {
        Ok(rate) if model::RATES_PER_S.contains(&rate) => Ok(rate),
        _ => Err(
            "a rate is from 0.001 to 10M requests a second, for instance 1000, 1.5k or 2M; leave it out for a closed load"
                .to_owned(),
        ),
    }
}

pub(super) fn method(text: &str) -> Result<String, String> {
    if is_method(text) { Ok(text.to_owned()) } else { Err(as_method(text)) }
}

fn token(text: &str) -> Result<String, String> {
    let valid = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c));
    if valid { Ok(text.to_owned()) } else { Err(format!("`{text}` is not an HTTP token")) }
}

pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is written 'Name: value'")?;
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err("a header's value is one line without control characters".to_owned());
    }
    Ok((token(name.trim())?, value.trim().to_owned()))
}

/// A file to write to. `-` is stdout elsewhere, and would be a file of that name here.
pub(crate) fn file_name(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => {
            Err("`-` is not stdout here; name a file (--format json prints the whole document on stdout)".to_owned())
        }
        "" => Err("the name of the file is empty; name a file".to_owned()),
        _ => Ok(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_numbers_are_seconds() {
        for (text, ns) in [("10", 10_000_000_000), ("1.5", 1_500_000_000), ("0", 0), ("10ms", 10_000_000)] {
            assert_eq!(duration(text), Ok(ns), "{text}");
        }
        for text in ["", ".", "1.2.3", "-1", "1e3", "ten"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_window_has_a_least_length_and_a_number_its_own_reason() {
        assert_eq!(window("1ms"), Ok(1_000_000));
        assert!(window("1ns").is_err_and(|why| why.contains("1ms at least")));
        assert_eq!(at_least_one::<u32>("4294967295"), Ok(u32::MAX));
        assert!(at_least_one::<u32>("4294967296").is_err_and(|why| why == "is more than there can be"));
        for text in ["0", "-1", "x", ""] {
            assert!(at_least_one::<u32>(text).is_err_and(|why| why.contains("whole number")), "{text}");
        }
    }

    #[test]
    fn rates_may_be_thousands_and_millions() {
        for (text, rate) in [("5k", 5_000.0), ("1.5k", 1_500.0), ("2M", 2e6), ("0.5", 0.5), ("5K", 5_000.0)] {
            assert_eq!(positive_rate(text), Ok(rate), "{text}");
        }
        for text in ["k", "5m", "5kk", "-1k", "0k", "", "nan", "1e9", "1e18", "1e-11", "inf"] {
            assert!(positive_rate(text).is_err(), "{text}");
        }
    }
}
