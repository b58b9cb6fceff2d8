use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

use crate::{Mix, Tls};

/// Who decides when the next request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
pub enum LoadModel {
    /// Each connection sends when its last reply came.
    Closed,
    /// Requests arrive at a rate, whatever the server does.
    Open {
        /// Arrivals a second over all connections, among [`crate::RATES_PER_S`].
        rate_per_s: f64,
        /// How arrivals are spaced.
        arrivals: Arrivals,
    },
}

/// Spacing of arrivals in the open model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Equal distances.
    Constant,
    /// Independent exponential distances, from a seed.
    Poisson,
}

/// When a load ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// After a window of so many nanoseconds.
    Window(u64),
    /// After exactly so many requests.
    Requests {
        /// How many.
        count: u64,
        /// Give up after so many nanoseconds; none waits for the last reply.
        within_ns: Option<u64>,
    },
}

/// HTTP version of the request line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpVersion {
    /// HTTP/1.0: no keep-alive unless the server offers it.
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/1.1.
    #[serde(rename = "1.1")]
    Http11,
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

/// Everything the engine needs to know about one load: resolved, no invalid mix left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// Where the connections go.
    pub address: SocketAddr,
    /// What is sent and what must come back.
    #[serde(flatten)]
    pub mix: Mix,
    /// Closed or open.
    pub model: LoadModel,
    /// Connections over all threads, at least 1 and at least `threads`.
    pub connections: u32,
    /// Requests in flight on one connection at most; 1 means no pipelining.
    pub pipeline: u16,
    /// Whether a connection serves more than one request.
    pub keep_alive: bool,
    /// Time without a complete reply after which a request is given up; none unless asked for.
    pub timeout_ns: Option<u64>,
    /// Load before the window, not measured.
    pub warm_up_ns: u64,
    /// Closed model: the connections begin evenly over so many nanoseconds, not all at once. At most the warm-up.
    #[serde(default)]
    pub start_spread_ns: u64,
    /// Length of what is measured.
    pub extent: Extent,
    /// Generator threads, at least 1.
    pub threads: u32,
    /// CPUs for the generator's threads, in turn; empty leaves them to the kernel.
    pub cpus: Vec<u32>,
    /// Seed of Poisson arrivals, and of which request of a mix comes when.
    pub seed: u64,
    /// Addresses that connections come from, in turn; empty leaves it to the kernel. Each brings its own ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<IpAddr>,
    /// How the connections are secured; plain when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Whether a thread watches the clock instead of sleeping until the next request is due: it burns its CPU.
    #[serde(default)]
    pub spin: bool,
}
