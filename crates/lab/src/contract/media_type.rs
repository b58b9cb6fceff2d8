//! Whether a Content-Type means what the contract says, however it is spelt (RFC 9110 §8.3.1).

/// What is wrong with a reply's Content-Type, of which these are the lines.
pub(super) fn breach(lines: &[String], wanted: &str) -> Option<String> {
    match lines {
        [] => Some(format!("the reply has no Content-Type; it should be {wanted}")),
        [line] if meaning(line) == meaning(wanted) => None,
        _ => {
            let seen: Vec<String> = lines.iter().map(|line| format!("{line:?}")).collect();
            Some(format!("Content-Type is {}, not {wanted}", seen.join(" and ")))
        }
    }
}

/// The media type and its parameters, in the one spelling that they are compared in. Of the contract's only parameter,
/// `charset`, the value too is the same in upper and lower case.
fn meaning(text: &str) -> (String, Vec<String>) {
    let mut parts = text.split(';').map(|part| part.trim_matches([' ', '\t']).to_ascii_lowercase());
    let media_type = parts.next().unwrap_or_default();
    let mut parameters: Vec<String> = parts.filter(|part| !part.is_empty()).map(unquoted).collect();
    parameters.sort();
    (media_type, parameters)
}

fn unquoted(parameter: String) -> String {
    let value = |quoted: &str| quoted.strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
    match parameter.split_once('=').map(|(name, quoted)| (name, value(quoted))) {
        Some((name, Some(value))) => format!("{name}={value}"),
        _ => parameter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "text/plain; charset=utf-8";
    const JSON: &str = "application/json";

    fn breach_of(lines: &[&str], wanted: &str) -> Option<String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        breach(&lines, wanted)
    }

    #[test]
    fn a_spelling_that_means_the_same_is_none() {
        for line in [
            TEXT,
            "text/plain;charset=UTF-8",
            "Text/Plain ; Charset=utf-8",
            "text/plain;\tcharset=\"utf-8\"",
            "text/plain; charset=\"UTF-8\" ;",
        ] {
            assert_eq!(breach_of(&[line], TEXT), None, "{line}");
        }
        for line in [JSON, "Application/JSON", "application/json;", " application/json "] {
            assert_eq!(breach_of(&[line], JSON), None, "{line}");
        }
    }

    #[test]
    fn another_type_is_one() {
        for line in [
            "",
            "text/plain",
            "text/html; charset=utf-8",
            "text/plain; charset=us-ascii",
            "text/plain; charset=utf8",
            "text/plain; charset = utf-8",
            "text/plain; charset=\"utf-8",
            "text/plain; charset='utf-8'",
            "text/plain; charset=utf-8; format=flowed",
            "text/plain; charset=utf-8; charset=utf-8",
            "text/plain, charset=utf-8",
            "charset=utf-8",
        ] {
            assert_eq!(breach_of(&[line], TEXT), Some(format!("Content-Type is {line:?}, not {TEXT}")));
        }
        for line in ["text/json", "application/json; charset=utf-8", "application/problem+json", TEXT] {
            assert_eq!(breach_of(&[line], JSON), Some(format!("Content-Type is {line:?}, not {JSON}")));
        }
    }

    #[test]
    fn none_and_two_are_one_each() {
        assert_eq!(
            breach_of(&[], JSON).as_deref(),
            Some("the reply has no Content-Type; it should be application/json")
        );
        let twice = "Content-Type is \"application/json\" and \"application/json\", not application/json";
        assert_eq!(breach_of(&[JSON, JSON], JSON).as_deref(), Some(twice));
    }
}
