//! What a value that is typed on the command line must look like.

use model::{DurationError, parse_duration};

/// A length of time above zero, as it was typed.
pub(super) fn length_of_time(text: &str) -> Result<String, String> {
    parse_duration(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

pub(super) fn path(text: &str) -> Result<String, String> {
    let whole = text.starts_with('/') && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if whole { Ok(text.to_owned()) } else { Err("a path begins with `/` and has no spaces".to_owned()) }
}

pub(super) fn duration(text: &str) -> Result<u64, DurationError> {
    parse_duration(text)
}

pub(crate) fn positive_duration(text: &str) -> Result<u64, String> {
    match parse_duration(text) {
        Ok(0) => Err("must be above zero".to_owned()),
        other => other.map_err(|error| error.to_string()),
    }
}

pub(super) fn positive_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("a rate is a number of requests a second above zero, for instance 1000".to_owned()),
    }
}

pub(super) fn token(text: &str) -> Result<String, String> {
    let valid = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c));
    if valid { Ok(text.to_owned()) } else { Err(format!("`{text}` is no HTTP token")) }
}

pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("a header is written 'Name: value'")?;
    if value.contains(['\r', '\n']) {
        return Err("a header's value is one line".to_owned());
    }
    Ok((token(name.trim())?, value.trim().to_owned()))
}
