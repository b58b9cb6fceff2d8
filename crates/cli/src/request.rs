//! From the options about a request to a request.

use std::path::Path;

use model::{Request, may_be_a_credential};

use crate::args::RequestArgs;
use crate::exit::Failure;
use crate::{bounded, framing};

/// The status of a good reply where nothing else is known of it.
pub(crate) const OK: u16 = 200;

/// The request for a path, with further headers behind those that were given; its host is to be filled in.
pub(crate) fn request(
    args: &RequestArgs,
    path: &str,
    further: impl IntoIterator<Item = (String, String)>,
) -> Result<Request, Failure> {
    let default_method = if args.body.is_some() { "POST" } else { "GET" };
    let body = args.body.as_deref().map(text_or_file).transpose()?.unwrap_or_default();
    let headers: Vec<(String, String)> = args.headers.iter().cloned().chain(further).collect();
    if let Some(fault) = framing::fault(&headers, &body) {
        return Err(Failure::usage(fault));
    }
    let method = args.method.clone().unwrap_or_else(|| default_method.to_owned());
    Ok(Request { method, headers, body, ..Request::get(path) })
}

/// A text as it was given, or what a file holds that is named behind an `@`.
pub(crate) fn text_or_file(given: &str) -> Result<Vec<u8>, Failure> {
    let Some(path) = given.strip_prefix('@') else { return Ok(given.as_bytes().to_vec()) };
    if path.is_empty() {
        return Err(Failure::usage("`@` has no file name behind it; write @FILE, or leave the @ out to give a text"));
    }
    bounded::read(Path::new(path), bounded::MOST_BODY).map_err(|error| {
        Failure::usage(format!(
            "cannot read {path}: {error}; name a file after the @, or leave the @ out to give a text"
        ))
    })
}

/// A command line as it may be shown to others: without the values of headers that may be credentials.
pub(crate) fn without_credentials(line: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_header = false;
    let shown = |word: String| {
        // Behind flags without a value, as in `-kHName: value`.
        let short = word
            .find('H')
            .filter(|at| word.starts_with('-') && word[1..*at].chars().all(|flag| flag == 'k' || flag == 'v'));
        let (before, header) = match (is_header, word.strip_prefix("--header="), short) {
            (true, ..) => ("", word.as_str()),
            (false, Some(header), _) => ("--header=", header),
            (false, None, Some(at)) => word.split_at(at + 1),
            (false, None, None) => ("", ""),
        };
        is_header = !is_header && (word == "--header" || short.is_some() && header.is_empty());
        match header.split_once(':') {
            Some((name, _)) if may_be_a_credential(name.trim()) => format!("{before}{name}: …"),
            _ => word,
        }
    };
    line.map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_shown_without_credentials() {
        let of = |line: &[&str]| without_credentials(line.iter().map(|word| (*word).to_owned())).join(" ");
        assert_eq!(
            of(&["bourdon", "compare", "-H", "Authorization: a", "-b", "x: y"]),
            "bourdon compare -H Authorization: … -b x: y"
        );
        assert_eq!(
            of(&["-HX-Key: a", "--header=Cookie:a", "-kH", "X-Key:a", "-kHX-Key:a"]),
            "-HX-Key: … --header=Cookie: … -kH X-Key: … -kHX-Key: …"
        );
        assert_eq!(of(&["--header", "Accept: text/html", "-H", "broken"]), "--header Accept: text/html -H broken");
    }
}
