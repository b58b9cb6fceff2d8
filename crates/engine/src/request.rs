use model::{HttpVersion, LoadSpec, Request};

/// The request's bytes, repeated as often as a connection may have in flight, so that a batch is one send.
pub(crate) struct RequestBatch {
    bytes: Vec<u8>,
    length: usize,
}

impl RequestBatch {
    pub(crate) fn new(spec: &LoadSpec) -> Self {
        let one = encode(&spec.request, spec.keep_alive);
        Self { length: one.len(), bytes: one.repeat(spec.pipeline.max(1) as usize) }
    }

    /// Bytes of one request.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The bytes of `count` requests, at most as many as the pipeline is deep.
    pub(crate) fn of(&self, count: usize) -> &[u8] {
        &self.bytes[..count * self.length]
    }

    /// The last `left` bytes of one request.
    pub(crate) fn tail(&self, left: usize) -> &[u8] {
        &self.bytes[self.length - left..self.length]
    }
}

fn encode(request: &Request, keep_alive: bool) -> Vec<u8> {
    let version = match request.version {
        HttpVersion::Http10 => "HTTP/1.0",
        HttpVersion::Http11 => "HTTP/1.1",
    };
    let mut head = format!("{} {} {version}\r\n", request.method, request.path);
    let given = |name: &str| request.headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
    let mut line = |name: &str, value: &str| {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    };
    if !given("host") {
        line("Host", &request.host);
    }
    if !given("connection") {
        match (request.version, keep_alive) {
            (HttpVersion::Http11, false) => line("Connection", "close"),
            (HttpVersion::Http10, true) => line("Connection", "keep-alive"),
            _ => {}
        }
    }
    let body_expected = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    if !given("content-length") && (body_expected || !request.body.is_empty()) {
        line("Content-Length", &request.body.len().to_string());
    }
    for (name, value) in &request.headers {
        line(name, value);
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&request.body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, version: HttpVersion) -> Request {
        Request {
            method: method.into(),
            path: "/a?b=1".into(),
            host: "127.0.0.1:80".into(),
            headers: vec![],
            body: vec![],
            version,
        }
    }

    fn text(request: &Request, keep_alive: bool) -> String {
        String::from_utf8(encode(request, keep_alive)).unwrap()
    }

    #[test]
    fn connection_life_is_said_where_it_is_not_the_default() {
        let new = request("GET", HttpVersion::Http11);
        assert_eq!(text(&new, true), "GET /a?b=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n");
        assert!(text(&new, false).contains("Connection: close\r\n"));
        let old = request("GET", HttpVersion::Http10);
        assert!(text(&old, true).contains("Connection: keep-alive\r\n"));
        assert!(!text(&old, false).contains("Connection"));
    }

    #[test]
    fn a_body_has_its_length_and_given_headers_win() {
        let mut post = request("POST", HttpVersion::Http11);
        assert!(text(&post, true).contains("Content-Length: 0\r\n"));
        post.body = b"{}".to_vec();
        post.headers = vec![("host".into(), "example".into()), ("X-Y".into(), "z".into())];
        let text = text(&post, true);
        assert!(text.ends_with("Content-Length: 2\r\nhost: example\r\nX-Y: z\r\n\r\n{}"), "{text}");
        assert!(!text.contains("127.0.0.1"));
    }
}
