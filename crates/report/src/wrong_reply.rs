//! What was expected and what came.

use model::{Excerpt, TlsSign, WrongReply};

use crate::format::counted;

/// `expected "Hello world" (11 bytes), got "Hello w0rld" (11 bytes), first difference at byte 7`.
pub fn sentence(wrong: &WrongReply) -> String {
    let Some(status) = wrong.status else {
        if let Some(limit) = wrong.over_limit {
            return format!("expected an HTTP reply, got one whose head is over bourdon's limit of {limit}");
        }
        let what = match wrong.speaks_tls {
            Some(TlsSign::Record) => "a TLS record".to_owned(),
            Some(TlsSign::Said) | None => body(wrong.body.as_ref()),
        };
        return format!("expected an HTTP reply, got {what}{}", https(wrong));
    };
    let status_is_wrong = wrong.expected_status.map_or(!(200..400).contains(&status), |wanted| wanted != status);
    if status_is_wrong {
        let wanted = wrong.expected_status.map_or("a status of 2xx or 3xx".to_owned(), |wanted| wanted.to_string());
        let got = format!("{status:03}{}", odd(status));
        let body = body(wrong.body.as_ref());
        return format!("expected {wanted}, got {got} with {body}{}{}", https(wrong), if_meant(wrong, status));
    }
    let at = wrong.differs_at.map_or(String::new(), |at| format!(", first difference at byte {at}"));
    format!("expected {}, got {}{at}", body(wrong.expected_body.as_ref()), body(wrong.body.as_ref()))
}

/// What is odd about a status, whoever expected which: RFC 9110, sections 15.2.2 and 15.
fn odd(status: u16) -> &'static str {
    match status {
        101 => " (switching protocols, for which nobody asked: nothing more can be asked on such a connection)",
        100..=599 => "",
        _ => " (no HTTP status: these are 100 to 599)",
    }
}

/// The cure where a port that speaks TLS was asked without.
fn https(wrong: &WrongReply) -> &'static str {
    if wrong.speaks_tls.is_some() { "; this port speaks TLS: try https://" } else { "" }
}

/// What to ask for where an error of the client's, as the server sees it, is the reply that is meant.
fn if_meant(wrong: &WrongReply, status: u16) -> String {
    // 200 is what a comparison expects of GET where nobody says another one.
    let is_usual = wrong.expected_status.is_none_or(|wanted| wanted == 200);
    match is_usual && wrong.speaks_tls.is_none() && (400..500).contains(&status) {
        true => format!(
            "; if that is right, ask for it: --expect-status {status} (in an experiment expect_status = {status})"
        ),
        false => String::new(),
    }
}

fn body(excerpt: Option<&Excerpt>) -> String {
    let Some(excerpt) = excerpt else { return "a body that came in several parts, of which none is kept".to_owned() };
    if excerpt.bytes == 0 {
        return "an empty body".to_owned();
    }
    let from = if excerpt.from > 0 { format!(" from byte {}", excerpt.from) } else { String::new() };
    format!("\"{}\"{from} ({})", excerpt.text, counted(excerpt.bytes, "byte", "bytes"))
}

#[cfg(test)]
mod tests {
    use model::HeadLimit;

    use super::*;

    #[test]
    fn expected_stands_against_received() {
        let wrong = WrongReply::new((None, Some(b"Hello world")), 200, Some((b"Hello w0rld", 0)));
        let said = "expected \"Hello world\" (11 bytes), got \"Hello w0rld\" (11 bytes), first difference at byte 7";
        assert_eq!(sentence(&wrong), said);
        let wrong = WrongReply::new((None, None), 503, Some((b"gone\n", 0)));
        assert_eq!(sentence(&wrong), "expected a status of 2xx or 3xx, got 503 with \"gone\\n\" (5 bytes)");
        let wrong = WrongReply::new((None, None), 404, Some((b"", 0)));
        let meant = "; if that is right, ask for it: --expect-status 404 (in an experiment expect_status = 404)";
        assert!(sentence(&wrong).ends_with(meant), "{}", sentence(&wrong));
        let asked = WrongReply::new((Some(204), None), 404, Some((b"", 0)));
        assert_eq!(sentence(&asked), "expected 204, got 404 with an empty body");
        let wrong = WrongReply::new((Some(204), None), 200, None);
        assert_eq!(
            sentence(&wrong),
            "expected 204, got 200 with a body that came in several parts, of which none is kept"
        );
        let got = |status| sentence(&WrongReply::new((None, None), status, Some((b"", 0))));
        assert!(got(101).contains("got 101 (switching protocols, for which nobody asked"), "{}", got(101));
        for status in [0, 99, 999] {
            assert!(got(status).contains(&format!("got {status:03} (no HTTP status: ")), "{}", got(status));
        }
        let cure = "; this port speaks TLS: try https://";
        let alert = sentence(&WrongReply::not_http(b"\x15\x03\x01\x00\x02\x02\x46", None));
        assert_eq!(alert, format!("expected an HTTP reply, got a TLS record{cure}"));
        let go = WrongReply::new((None, None), 400, Some((b"Client sent an HTTP request to an HTTPS server.\n", 0)));
        assert!(sentence(&go).ends_with(cure), "{}", sentence(&go));
        let bytes = sentence(&WrongReply::not_http(b"\x1b[2J", None));
        assert_eq!(bytes, "expected an HTTP reply, got \"\\u{1b}[2J\" (4 bytes)");
        let long = sentence(&WrongReply::not_http(b"HTTP/1.1 200 OK\r\n", Some(HeadLimit::Lines(256))));
        assert_eq!(long, "expected an HTTP reply, got one whose head is over bourdon's limit of 256 lines");
    }
}
