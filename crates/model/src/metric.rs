use crate::outcome::kinds;
use crate::{LatencySummary, TrialRecord};
use serde::{Deserialize, Serialize};

kinds! {
    /// A figure of one trial, usable in claims and comparisons.
    Metric {
        /// Ok replies a second.
        Throughput = "throughput",
        /// Mean felt latency, µs.
        Mean = "mean",
        /// Median felt latency, µs.
        P50 = "p50",
        /// 90th percentile, µs.
        P90 = "p90",
        /// 99th percentile, µs.
        P99 = "p99",
        /// 99.9th percentile, µs.
        P999 = "p999",
        /// Target's CPU per completed request, µs.
        CpuPerRequest = "cpu_per_request",
        /// Peak resident memory, bytes.
        PeakMemory = "peak_memory",
        /// Share of requests that went wrong, 0 to 1.
        Errors = "errors",
        /// From launch to the first good answer, ms.
        TimeToReady = "time_to_ready",
    }
}

/// CPU seconds from which a figure per request is given. The kernel counts user and system time in ticks of 10 ms, so
/// the difference of two readings is off by up to 20 ms: a fifth of this, and an eighth or less of most windows.
pub const LEAST_CPU_S: f64 = 0.1;

impl Metric {
    /// The metric of that name.
    pub fn from_id(id: &str) -> Option<Metric> {
        Metric::ALL.iter().copied().find(|metric| metric.id() == id)
    }

    /// Unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Throughput => "requests/s",
            Metric::Errors => "share",
            Metric::PeakMemory => "bytes",
            Metric::TimeToReady => "ms",
            _ => "us",
        }
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        self == Metric::Throughput
    }

    /// Its value in a trial; none where the trial does not support it.
    pub fn value(self, trial: &TrialRecord) -> Option<f64> {
        let measured = trial.measurement.as_ref()?;
        let felt = |pick: fn(&LatencySummary) -> Option<f64>| measured.latency_us.felt().and_then(pick);
        match self {
            Metric::Throughput => Some(measured.requests_per_s()),
            Metric::Mean => felt(|l| l.mean),
            Metric::P50 => felt(|l| l.p50),
            Metric::P90 => felt(|l| l.p90),
            Metric::P99 => felt(|l| l.p99),
            Metric::P999 => felt(|l| l.p999),
            Metric::CpuPerRequest => {
                let completed = measured.in_window.completed;
                let used_s = trial.observation.as_ref()?.cpu_s();
                (completed > 0 && used_s >= LEAST_CPU_S).then(|| used_s * 1e6 / completed as f64)
            }
            Metric::PeakMemory => trial.observation.as_ref().map(|o| o.peak_memory_bytes as f64),
            Metric::Errors => Some(measured.accounting.error_share()),
            Metric::TimeToReady => trial.time_to_ready_ms,
        }
    }
}
