use serde::{Deserialize, Serialize};

use crate::outcome::kinds;

kinds! {
    /// HTTP version of the request line.
    HttpVersion {
        /// HTTP/1.0: no keep-alive unless the server offers it.
        Http10 = "1.0",
        /// HTTP/1.1.
        Http11 = "1.1",
    }
}

/// What a reply must be to count as ok. With both absent: status 2xx or 3xx and right framing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyExpectation {
    /// The exact status.
    pub status: Option<u16>,
    /// The exact body.
    pub body: Option<Vec<u8>>,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Method, for instance `GET`.
    pub method: String,
    /// Path and query, starting with `/`.
    pub path: String,
    /// Value of the Host header.
    pub host: String,
    /// Further headers, in order.
    pub headers: Vec<(String, String)>,
    /// Body; sent with a Content-Length when not empty.
    pub body: Vec<u8>,
    /// Version of the request line.
    pub version: HttpVersion,
}

impl Request {
    /// A GET without headers or host; that is filled in at launch.
    pub fn get(path: &str) -> Request {
        Request {
            method: "GET".to_owned(),
            path: path.to_owned(),
            host: String::new(),
            headers: Vec::new(),
            body: Vec::new(),
            version: HttpVersion::Http11,
        }
    }
}
