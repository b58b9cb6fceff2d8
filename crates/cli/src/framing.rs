//! Headers that would make a request other than what is sent, and requests too large to be sent together.

use model::{Mix, thousands};

/// Bytes of bodies that a connection may have in flight where requests are pipelined. Each thread holds as many, to send them
/// at once.
const MOST_PIPELINED: u64 = 64 << 20;

/// What is wrong with pipelining such requests so deep, with the cure, whose name for the depth is `depth_of`; none when
/// they fit.
pub(crate) fn too_much_at_once(mix: &Mix, pipeline: u16, depth_of: &str) -> Option<(String, String)> {
    let largest = mix.requests().iter().map(|one| one.request.body.len() as u64).max().unwrap_or(0);
    let together = largest.saturating_mul(pipeline.into());
    (pipeline > 1 && together > MOST_PIPELINED).then(|| {
        let message = format!(
            "{pipeline} requests at once with bodies of {} bytes are {} MiB, which each thread would hold; {} MiB is the \
             most",
            thousands(largest),
            thousands(together >> 20),
            MOST_PIPELINED >> 20
        );
        (message, format!("use a smaller body, or at most {depth_of}{}", (MOST_PIPELINED / largest).max(1)))
    })
}

/// Whether that is a method to measure with: an upper-case word, and no tunnel.
pub(crate) fn is_method(text: &str) -> bool {
    let is_word = text.starts_with(|c: char| c.is_ascii_uppercase());
    let is_word = is_word && text.chars().all(|c| c.is_ascii_uppercase() || c == '-');
    is_word && text != "CONNECT"
}

/// How a method is written that is none.
pub(crate) fn as_method(text: &str) -> String {
    match text.trim().to_ascii_uppercase() {
        connect if connect == "CONNECT" => "CONNECT would open a tunnel; use another method".to_owned(),
        upper if is_method(&upper) => format!("methods are upper-case words: `{upper}`"),
        _ => "methods are words of upper-case letters and hyphens, such as `POST`".to_owned(),
    }
}

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
    use model::{HttpVersion, ReplyExpectation, Request};

    use super::*;

    #[test]
    fn bodies_are_pipelined_as_deep_as_they_fit_into_memory() {
        let of = |bytes: usize, pipeline: u16| {
            let request = Request {
                method: "POST".into(),
                path: "/".into(),
                host: String::new(),
                headers: Vec::new(),
                body: vec![b'x'; bytes],
                version: HttpVersion::Http11,
            };
            too_much_at_once(&Mix::one(request, ReplyExpectation::default()), pipeline, "--pipeline ")
        };
        assert_eq!(of(4 << 20, 16), None);
        assert_eq!(of(60 << 20, 1), None, "one after the other");
        assert_eq!(of(0, 1024), None);
        let (message, cure) = of(4 << 20, 512).unwrap();
        assert!(message.starts_with("512 requests at once with bodies of 4,194,304 bytes are 2,048 MiB"), "{message}");
        assert_eq!(cure, "use a smaller body, or at most --pipeline 16");
        assert!(of(60 << 20, 2).unwrap().1.ends_with("--pipeline 1"));
    }

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
