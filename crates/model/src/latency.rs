use serde::{Deserialize, Serialize};

use crate::outcome::kinds;

/// Samples needed before a quantile is printed: the smallest n at which a two-sided 95 % interval from binomial
/// order statistics exists, n = ln 0.025 ÷ ln q, as pairs (q, n).
pub const REQUIRED_SAMPLES: [(f64, u64); 7] =
    [(0.5, 6), (0.75, 13), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3_688), (0.9999, 36_887)];

kinds! {
    /// What a distribution is of: requests, or connections. Records and documents of earlier versions say it in a sentence.
    Members {
        /// Response time: of the open model.
        Due = "due" | "requests due in the window; those timed out, never sent or unfinished count with their age",
        /// Total time: of the closed model, with a connection for each request.
        Begun = "begun" | "requests begun in the window; those timed out, never sent or unfinished count with their age",
        /// Service time.
        Sent = "sent" | "requests sent for the window; those timed out or unfinished count with their age",
        /// Lateness.
        DueAndSent = "due-and-sent" | "requests due in the window that were sent",
        /// Time to the first byte.
        Completed = "completed" | "requests of the window with a complete reply",
        /// Time to connect.
        Connections = "connections" | "connections opened, before the window too",
        /// Time of the handshake.
        Handshakes = "handshakes" | "TLS handshakes, before the window too",
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One latency distribution in microseconds. A quantile that the number of samples cannot support is null, and so is one above
/// which fewer requests would lie than failed without a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Which requests this is about.
    pub population: Members,
    /// How many of `count` are right-censored: known only to have taken at least their age.
    pub censored: u64,
    /// Requests in the distribution, censored ones included.
    pub count: u64,
    /// Requests beside these that failed and so have no time: refused, reset, closed. None of the figures is of them. Older records
    /// do not say, and have the refused at their age.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
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
    /// The same beside so many requests that failed without a time.
    pub fn beside(self, failed: u64) -> Self {
        let of = Self { failed, ..self };
        let known = |q: f64, us: Option<f64>| us.filter(|_| !of.is_lost(q));
        Self {
            p50: known(0.5, of.p50),
            p75: known(0.75, of.p75),
            p90: known(0.9, of.p90),
            p95: known(0.95, of.p95),
            p99: known(0.99, of.p99),
            p999: known(0.999, of.p999),
            p9999: known(0.9999, of.p9999),
            ..of
        }
    }

    /// Share of all requests that failed without a time, 0 to 1.
    pub fn failed_share(&self) -> f64 {
        self.failed as f64 / (self.failed as f64 + self.count as f64).max(1.0)
    }

    /// Whether the quantile at `q` is not known because more requests failed than lie above it.
    pub fn is_lost(&self, q: f64) -> bool {
        // 1 − 0.9 is a little less than a tenth.
        self.failed_share() > 1.0 - q + 1e-9
    }

    /// Whether `value` (µs), a quantile of this distribution, is only a lower bound.
    pub fn is_lower_bound(&self, value: f64) -> bool {
        self.exact_below.is_some_and(|limit| value >= limit)
    }

    /// The most that the quantile at `q` (0 to 1) may truly be, in µs; none without a bound, and where nothing is censored. Whatever
    /// the censored ones took in the end, among the values up to a rank no more of them are than there are in all: so as many
    /// ranks further up lies no less.
    pub fn at_most(&self, q: f64) -> Option<f64> {
        let with_all = q + self.censored as f64 / self.count.max(1) as f64;
        let known = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999].into_iter().zip(self.quantiles());
        let further = known.filter_map(|(at, (_, us))| us.filter(|_| at >= with_all)).next();
        further.or(self.max.filter(|_| with_all <= 1.0)).filter(|_| self.censored > 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_earlier_versions_said_in_a_sentence_is_read() {
        let read = |text: &str| serde_json::from_str::<Members>(&format!("\"{text}\"")).unwrap();
        assert_eq!(read("requests due in the window that were sent"), Members::DueAndSent);
        assert_eq!(read(Members::Sent.id()), Members::Sent);
    }

    const US: Option<f64> = Some(50_000.0);

    /// Of 900 requests that all took as long.
    fn alike() -> LatencySummary {
        LatencySummary {
            population: Members::Due,
            censored: 0,
            count: 900,
            failed: 0,
            mean: US,
            min: US,
            p50: US,
            p75: US,
            p90: US,
            p95: US,
            p99: US,
            p999: US,
            p9999: None,
            max: US,
            exact_below: None,
            saturated: 0,
        }
    }

    #[test]
    fn however_long_what_was_unfinished_would_have_taken_a_quantile_lies_as_many_ranks_further_up_at_most() {
        let latencies = |censored| LatencySummary {
            censored,
            count: 10_000,
            p99: Some(99.0),
            p999: Some(999.0),
            max: Some(1e4),
            ..alike()
        };
        assert_eq!(latencies(0).at_most(0.99), None, "none is");
        assert_eq!([1, 90].map(|censored| latencies(censored).at_most(0.99)), [Some(999.0); 2]);
        assert_eq!([91, 100].map(|censored| latencies(censored).at_most(0.99)), [Some(1e4); 2]);
        assert_eq!(latencies(101).at_most(0.99), None, "all that lie above it may be");
        assert_eq!(latencies(400).at_most(0.95), Some(99.0));
    }

    #[test]
    fn a_quantile_is_not_known_where_more_failed_than_lie_above_it() {
        let (us, all) = (US, alike());
        assert_eq!(all.clone().beside(0), all);
        let beside = all.clone().beside(100);
        assert_eq!((beside.p50, beside.p90, beside.p95, beside.p99), (us, us, None, None), "one in ten failed");
        assert_eq!((beside.failed, beside.mean, beside.max), (100, us, us));
        let most = all.beside(2_100);
        assert_eq!((most.p50, most.failed_share()), (None, 0.7));
    }
}
