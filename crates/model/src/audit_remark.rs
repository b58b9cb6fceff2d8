use serde::{Deserialize, Serialize};

use crate::AuditSource;
use crate::outcome::kinds;

kinds! {
    /// What is worth knowing about figures that somebody published.
    Remark {
        /// Requests failed.
        FailedRequests = "failed-requests",
        /// Figures were printed that are not numbers.
        NotNumbers = "not-numbers",
        /// Requests timed out, which is not always a failure.
        TimeOuts = "time-outs",
        /// Samples were added that nobody measured.
        AddedSamples = "added-samples",
        /// Replies waited for a worker.
        WaitingForWorkers = "waiting-for-workers",
        /// Several quantiles are one value.
        EqualQuantiles = "equal-quantiles",
        /// A quantile needs more samples than there are.
        NotEstimable = "not-estimable",
        /// Rows are too close for their order to mean anything.
        Ties = "ties",
    }
}

/// What does not contradict anything in published figures, but should be known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AuditRemark {
    /// Requests failed.
    FailedRequests {
        /// How many.
        failed: u64,
        /// Of how many.
        requests: u64,
        /// The share that may, where more did.
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed: Option<f64>,
    },
    /// Figures were printed as `nan` or `inf`: their tool divided by nothing.
    NotNumbers {
        /// How many.
        not_numbers: u64,
    },
    /// Time-outs were printed that are not failed requests.
    TimeOuts {
        /// How many.
        time_outs: u64,
        /// By whom.
        source: AuditSource,
    },
    /// wrk added samples that nobody measured.
    AddedSamples {
        /// The latency above which it does.
        limit_us: f64,
        /// The longest latency.
        slowest_us: f64,
    },
    /// More requests are in the clock than can be worked on.
    WaitingForWorkers {
        /// X·R̄.
        in_clock: f64,
        /// W.
        workers: u64,
    },
    /// Neighbouring quantiles are the same to all their digits.
    EqualQuantiles {
        /// The lower q.
        low_q: f64,
        /// The higher one.
        high_q: f64,
        /// The value of both.
        us: f64,
    },
    /// There are too few samples for an interval around quantiles.
    NotEstimable {
        /// Samples.
        requests: u64,
        /// Each such q, with the samples that it needs.
        needed: Vec<(f64, u64)>,
    },
    /// Rates of many results are closer together than independent servers come.
    Ties {
        /// How many.
        tied: u64,
        /// Of how many.
        rates: u64,
        /// The share of the lowest by which they differ at most.
        spread: f64,
        /// The lowest of them.
        least_per_s: f64,
        /// The highest.
        most_per_s: f64,
    },
}

impl AuditRemark {
    /// Its kind.
    pub fn code(&self) -> Remark {
        match self {
            AuditRemark::FailedRequests { .. } => Remark::FailedRequests,
            AuditRemark::NotNumbers { .. } => Remark::NotNumbers,
            AuditRemark::TimeOuts { .. } => Remark::TimeOuts,
            AuditRemark::AddedSamples { .. } => Remark::AddedSamples,
            AuditRemark::WaitingForWorkers { .. } => Remark::WaitingForWorkers,
            AuditRemark::EqualQuantiles { .. } => Remark::EqualQuantiles,
            AuditRemark::NotEstimable { .. } => Remark::NotEstimable,
            AuditRemark::Ties { .. } => Remark::Ties,
        }
    }
}
