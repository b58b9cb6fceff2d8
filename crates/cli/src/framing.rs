//! Headers that would make a request other than what is sent.

/// What is wrong with the headers of a request with such a body, with the cure; none when they fit.
pub(crate) fn fault(headers: &[(String, String)], body: &[u8]) -> Option<String> {
    let named = |name: &'static str| headers.iter().filter(move |(header, _)| header.eq_ignore_ascii_case(name));
    let bytes = body.len().to_string();
    if let Some((_, value)) = named("content-length").find(|(_, value)| *value != bytes) {
        return Some(format!("`Content-Length: {value}`, but the body has {bytes} bytes; leave the header out"));
    }
    if named("transfer-encoding").next().is_some() {
        return Some("a body is sent whole, with its length; leave the header Transfer-Encoding out".to_owned());
    }
    let twice = ["content-length", "host", "authorization"].into_iter().find(|name| named(name).count() > 1);
    twice.map(|name| format!("the header `{name}` is given twice; a request has one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_must_fit_the_body_and_each_other() {
        let said = |headers: &[(&str, &str)]| {
            let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            fault(&headers, b"abc").unwrap_or_default()
        };
        assert_eq!(said(&[("Content-Length", "3"), ("X-A", "1"), ("X-A", "2")]), "");
        for wrong in ["4", "+3", "0x3", "3, 3", ""] {
            assert!(said(&[("content-length", wrong)]).contains("the body has 3 bytes"), "{wrong}");
        }
        assert!(said(&[("Transfer-Encoding", "chunked")]).contains("leave the header Transfer-Encoding out"));
        assert!(said(&[("Host", "a"), ("host", "b")]).contains("`host` is given twice"));
    }
}
