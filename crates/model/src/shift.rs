use serde::{Deserialize, Serialize};

use crate::{Cell, Measured, Withheld};

/// The latencies of one server as multiples of another's, percentile by percentile. They are shown and not judged: each interval
/// stands for itself, and none is adjusted for their number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// The conditions.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// The one; of a comparison the new server.
    pub a: String,
    /// The other.
    pub b: String,
    /// The percentiles that every launch of both has which counts, in ascending order.
    pub quantiles: Vec<QuantileShift>,
}

/// One latency quantile of two servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuantileShift {
    /// Share of the requests that took no longer, 0 to 1.
    pub q: f64,
    /// a ÷ b, paired within blocks where launches of one block belong together; without an interval where too few do.
    pub ratio: Measured,
    /// Requests beyond it, in the launch that has the fewest.
    pub beyond: u64,
    /// Whether there is a verdict about it, which stands whatever unfinished requests would have taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
    /// Whether it is a lower bound in a launch of either, because requests were unfinished.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub censored: bool,
    /// Why it proves nothing, where that is known of it or of the next one on either side by which servers are judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
}
