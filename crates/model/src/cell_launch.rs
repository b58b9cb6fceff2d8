//! The launches of a cell one by one, as an analysis has them.

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Course, Measured, Metric};

kinds! {
    /// What becomes of a launch.
    LaunchUse {
        /// Its figures count.
        Counts = "counts",
        /// It is void, or it failed.
        Void = "void",
        /// Its block is set aside because the machine was busy.
        SetAside = "set-aside",
    }
}

/// One launch of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellLaunch {
    /// Its name in the run folder.
    pub id: String,
    /// Its block.
    pub block: u32,
    /// Whether it is the second launch of its cell in the block, by which the session's noise is known: it is in no figure of the
    /// cell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twin: bool,
    /// What becomes of it.
    #[serde(rename = "use")]
    pub used: LaunchUse,
    /// Ok replies a second; null where nothing was measured.
    pub throughput: Option<f64>,
    /// Share of its requests that went wrong, 0 to 1; null where nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<f64>,
    /// The peak of its memory in the window, in bytes; null where nobody saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// Its memory before any load, in bytes; null where nobody saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_at_rest_bytes: Option<u64>,
    /// What users would have seen.
    pub latency: LaunchLatency,
    /// Its slices that were measured, in order; none where it had the load to itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<LaunchSlice>,
    /// How it went over its window; null where that was too short to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<LaunchCourse>,
}

/// How a launch went over its window, by the figure that went worst.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchCourse {
    /// Which course.
    pub course: Course,
    /// The figure that went so.
    pub metric: Metric,
    /// Its levels in the metric's unit, each with the second of the window from which it lasts.
    pub levels: Vec<(f64, f64)>,
    /// Length of the window in seconds.
    pub window_s: f64,
}

impl CellLaunch {
    /// The quantile at `q` in microseconds, where it is known.
    pub fn quantile_us(&self, q: f64) -> Option<f64> {
        self.latency.quantiles.iter().find(|known| known.q == q).map(|known| known.us)
    }
}

/// The latencies of a launch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchLatency {
    /// Requests in the distribution.
    pub count: u64,
    /// The quantiles that these support, in ascending order.
    pub quantiles: Vec<Quantile>,
    /// Smallest age in microseconds among requests without a reply: a quantile from there on is a lower bound. Null without one.
    pub exact_below_us: Option<f64>,
}

impl LaunchLatency {
    /// Whether `us`, a quantile of it, is only a lower bound.
    pub fn is_lower_bound(&self, us: f64) -> bool {
        self.exact_below_us.is_some_and(|limit| us >= limit)
    }
}

/// A quantile of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// Share of the requests that took no longer, 0 to 1.
    pub q: f64,
    /// The time in microseconds.
    pub us: f64,
}

/// A quantile over the launches of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellQuantile {
    /// Share of the requests that took no longer, 0 to 1.
    pub q: f64,
    /// The time over launches.
    pub us: Measured,
}

/// A slice of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LaunchSlice {
    /// Its round, from 1.
    pub round: u32,
    /// Ok replies a second; null where nothing was measured.
    pub throughput: Option<f64>,
    /// 99th percentile of what users would have seen, in microseconds; null where too few requests were measured.
    pub p99_us: Option<f64>,
}
