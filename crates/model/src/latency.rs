use serde::{Deserialize, Serialize};

use crate::outcome::kinds;

/// Samples needed before a quantile is printed: the smallest n at which a two-sided 95 % interval from binomial
/// order statistics exists, n = ln 0.025 ÷ ln q, as pairs (q, n).
pub const REQUIRED_SAMPLES: [(f64, u64); 7] =
    [(0.5, 6), (0.75, 13), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3_688), (0.9999, 36_887)];

kinds! {
    /// What a distribution is of: requests, or connections.
    Members {
        /// Response time: of the open model.
        Due = "requests due in the window; those timed out, never sent or unfinished count with their age",
        /// Total time: of the closed model, with a connection for each request.
        Begun = "requests begun in the window; those timed out, never sent or unfinished count with their age",
        /// Service time.
        Sent = "requests sent for the window; those timed out or unfinished count with their age",
        /// Lateness.
        DueAndSent = "requests due in the window that were sent",
        /// Time to the first byte.
        Completed = "requests of the window with a complete reply",
        /// Time to connect.
        Connections = "connections opened, before the window too",
        /// Time of the handshake.
        Handshakes = "TLS handshakes, before the window too",
    }
}

/// One latency distribution in microseconds. A quantile that the number of samples cannot support is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Which requests this is about.
    pub population: Members,
    /// How many of `count` are right-censored: known only to have taken at least their age.
    pub censored: u64,
    /// Requests in the distribution, censored ones included.
    pub count: u64,
    /// Arithmetic mean, censored ones at their age.
    pub mean: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 75th percentile.
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// 99.99th percentile.
    pub p9999: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Smallest age among the censored: any figure at or above it is a lower bound, printed with "≥".
    pub exact_below: Option<f64>,
    /// Values above the histogram's range of one hour, recorded as one hour.
    pub saturated: u64,
}

impl LatencySummary {
    /// Whether `value` (µs), a quantile of this distribution, is only a lower bound.
    pub fn is_lower_bound(&self, value: f64) -> bool {
        self.exact_below.is_some_and(|limit| value >= limit)
    }

    /// The quantiles with their names, in ascending order.
    pub fn quantiles(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("p50", self.p50),
            ("p75", self.p75),
            ("p90", self.p90),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p999", self.p999),
            ("p9999", self.p9999),
        ]
    }
}

/// The distributions that are kept side by side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latencies {
    /// Open model: from the intended send to the complete reply. Absent in a closed model, where nothing is intended.
    pub response: Option<LatencySummary>,
    /// Closed model with a connection for each request: from the begin of connecting to the complete reply (what ab
    /// calls total). Absent elsewhere: the open model's response time has it, and a connection that is kept is no part
    /// of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<LatencySummary>,
    /// From the actual send to the complete reply.
    pub service: Option<LatencySummary>,
    /// Open model: actual send − intended send.
    pub lateness: Option<LatencySummary>,
    /// From the actual send to the first byte of the reply.
    pub first_byte: Option<LatencySummary>,
    /// From the start of connecting until the kernel is connected.
    pub connect: Option<LatencySummary>,
    /// Over TLS: from then until requests can be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<LatencySummary>,
}

impl Latencies {
    /// What a user feels: response time in the open model; in the closed one total time where each request opens a
    /// connection, else service time.
    pub fn felt(&self) -> Option<&LatencySummary> {
        self.response.as_ref().or(self.total.as_ref()).or(self.service.as_ref())
    }
}
