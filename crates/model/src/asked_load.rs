use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Extent, HttpVersion, LoadModel, NS_PER_S};

/// What was asked of a load by itself, as its document keeps it: `load` of `bourdon.load/2`. What the first versions of
/// `bourdon.load/1` did not write is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskedLoad {
    /// Who decides when the next request is sent.
    #[serde(flatten)]
    pub model: LoadModel,
    /// Method of the request.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Version of the request line.
    pub http: Option<HttpVersion>,
    /// Further headers, each with its name and its value, null where it may be a credential.
    pub headers: Option<Vec<(String, Option<String>)>>,
    /// Length of the body that was sent.
    pub body_bytes: u64,
    /// What a reply had to be.
    pub expect: Option<AskedReply>,
    /// Connections.
    pub connections: u32,
    /// Requests in flight on a connection, at most.
    pub pipeline: u16,
    /// Whether connections were to be kept.
    pub keep_alive: bool,
    /// How connections were to be secured; none where they were not.
    pub tls: Option<AskedTls>,
    /// After how long a request was abandoned; none where that was not asked for.
    pub timeout_s: Option<f64>,
    /// Load before the window.
    pub warm_up_s: f64,
    /// How long was to be measured; none where a number of requests was.
    pub window_s: Option<f64>,
    /// How many requests were to be measured; none where a time was.
    pub requests: Option<u64>,
    /// Threads of the generator.
    pub threads: u32,
    /// The CPUs to which they were bound; empty for any.
    pub cpus: Vec<u32>,
    /// Whether they polled.
    pub spin: Option<bool>,
    /// Whether what the server sent was acknowledged at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick_ack: bool,
    /// From which arrivals and what is drawn of a mix follow.
    pub seed: u64,
}

/// What a reply had to be; null where it could be anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedReply {
    /// Its status.
    pub status: Option<u16>,
    /// The length of its body.
    pub body_bytes: Option<u64>,
    /// SHA-256 of its body, in hexadecimal digits.
    pub body_sha256: Option<String>,
}

/// How connections were to be secured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedTls {
    /// The name that the certificate had to be for.
    pub server_name: String,
    /// Whose word on it was taken.
    pub trust: TrustKind,
    /// Whether sessions were resumed.
    pub resumption: bool,
}

kinds! {
    /// Whose word on a certificate is taken, without the authorities themselves.
    TrustKind {
        /// That of the authorities which the machine trusts.
        System = "system",
        /// That of authorities that were named.
        Authorities = "authorities",
        /// Nobody's: any certificate will do.
        Anyone = "anyone",
    }
}

impl AskedLoad {
    /// After how long a request was abandoned, in nanoseconds.
    pub fn timeout_ns(&self) -> Option<u64> {
        self.timeout_s.map(ns)
    }

    /// Load before the window, in nanoseconds.
    pub fn warm_up_ns(&self) -> u64 {
        ns(self.warm_up_s)
    }

    /// When it was to end; none where it does not say.
    pub fn extent(&self) -> Option<Extent> {
        let counted = self.requests.map(|count| Extent::Requests { count, within_ns: None });
        counted.or(self.window_s.map(|window_s| Extent::Window(ns(window_s))))
    }
}

fn ns(seconds: f64) -> u64 {
    (seconds * NS_PER_S as f64).round() as u64
}

/// Headers whose values are kept: none of them carries a credential. Of every other header only the name is, for nobody
/// knows by its name what a header of somebody's own carries.
const KEPT_VALUES: [&str; 17] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-type",
    "expect",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "pragma",
    "range",
    "transfer-encoding",
    "user-agent",
];

/// Whether the value of a header is not to be shown.
pub fn may_be_a_credential(header: &str) -> bool {
    !KEPT_VALUES.iter().any(|kept| header.eq_ignore_ascii_case(kept))
}
