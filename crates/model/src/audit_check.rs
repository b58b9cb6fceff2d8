use serde::{Deserialize, Serialize};

use crate::Printed;
use crate::outcome::kinds;

kinds! {
    /// What published figures must satisfy to be true together. Formulas and sources: docs/AUDIT.md.
    AuditCheck {
        /// X·R̄ ≤ N.
        InFlight = "in-flight",
        /// X·R̄ ≥ 0.9·N in a closed load without pauses.
        Unserved = "unserved",
        /// N ÷ X ≥ (1 − q)·Q(q).
        Markov = "markov",
        /// Completions ≤ N·(T ÷ (S − 1 ms) + 1).
        Ceiling = "ceiling",
        /// Completions ≤ W·(T ÷ (S − 1 ms) + 1).
        Workers = "workers",
        /// No latency is below S − 1 ms.
        Delay = "delay",
        /// Minimum, quantiles and maximum ascend, with the mean between the ends.
        Order = "order",
        /// The mean lies where the quantiles allow it.
        Mean = "mean",
        /// The standard deviation fits mean, quantiles and extremes.
        Spread = "spread",
        /// Requests ÷ duration = rate.
        Rate = "rate",
        /// Ok + errors = requests.
        Accounting = "accounting",
        /// Bytes ÷ duration = bytes a second, and no reply is shorter than HTTP allows.
        Bytes = "bytes",
    }
}

kinds! {
    /// How a check ended.
    AuditOutcome {
        /// No values within the rounding satisfy it.
        Breach = "breach",
        /// Some values within the rounding satisfy it.
        Holds = "holds",
        /// It could not be checked: a figure is missing, or it does not apply.
        NotMade = "not-made",
    }
}

kinds! {
    /// What a check needs of a result.
    AuditFigure {
        /// Requests for each second.
        Rate = "rate",
        /// Mean latency.
        MeanLatency = "mean-latency",
        /// Connections.
        Connections = "connections",
        /// Requests in flight on each of them.
        Pipeline = "pipeline",
        /// How long the handler waits.
        HandlerDelay = "handler-delay",
        /// How many requests the server works on at once.
        Workers = "workers",
        /// How long the load took.
        Duration = "duration",
        /// Requests.
        Requests = "requests",
        /// Requests, or how many there were for each second.
        RequestsOrRate = "requests-or-rate",
        /// Replies that were right.
        OkReplies = "ok-replies",
        /// Requests that failed.
        Errors = "errors",
        /// Bytes of all replies.
        Bytes = "bytes",
        /// Arithmetic mean.
        Mean = "mean",
        /// Quantiles.
        Quantiles = "quantiles",
        /// Standard deviation.
        Deviation = "standard-deviation",
        /// Largest latency, or quantiles.
        MaximumOrQuantiles = "maximum-or-quantiles",
        /// A latency of replies that did not fail.
        LatencyOfReplies = "latency-of-replies",
    }
}

/// One check, tried on one result.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditNote {
    /// Which.
    pub check: AuditCheck,
    /// What it came to.
    pub result: AuditResult,
}

impl AuditNote {
    /// How it ended.
    pub fn outcome(&self) -> AuditOutcome {
        match self.result {
            AuditResult::Breach(_) => AuditOutcome::Breach,
            AuditResult::Holds(_) => AuditOutcome::Holds,
            AuditResult::NotMade(_) => AuditOutcome::NotMade,
        }
    }
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AuditResult {
    /// No values within the rounding satisfy it.
    Breach(AuditSides),
    /// Some values within the rounding satisfy it.
    Holds(AuditSides),
    /// It could not be checked.
    NotMade(NotMade),
}

/// The two sides of a check in figures, with the bound that was used. Latencies are in microseconds, other times in
/// seconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AuditSides {
    /// Requests in the clock, and the connections that hold them.
    InFlight(InFlightSides),
    /// The share of the connections' time that was spent in requests.
    Served(ServedSides),
    /// The mean that rate and connections allow, and the one that a quantile asks for.
    Markov(MarkovSides),
    /// Requests that were completed, and those that a delay allows.
    Completions(CompletionSides),
    /// The lowest latency, and the delay of the handler.
    Delayed {
        /// The lowest of the latencies.
        lowest: LatencyFigure,
        /// S − early, which it cannot be below.
        least_us: f64,
        /// S.
        delay_s: f64,
        /// By how much a timer may fire early.
        early_s: f64,
    },
    /// Latencies in the order that they must have; of a breach, the two that have not.
    Ordered {
        /// Ascending, with the mean at the end where it is one of more than two.
        order: Vec<LatencyFigure>,
    },
    /// The mean, and what the quantiles allow.
    Between(MeanSides),
    /// A standard deviation that fits.
    Fits {
        /// The standard deviation.
        stdev_us: f64,
    },
    /// A standard deviation that is larger than minimum, mean and maximum allow.
    TooWide {
        /// The standard deviation.
        stdev_us: f64,
        /// The most that it can be.
        most_us: f64,
    },
    /// A quantile that is further from the mean than the standard deviation allows.
    TooFar {
        /// Which quantile.
        q: f64,
        /// Its value.
        quantile_us: f64,
        /// The mean.
        mean_us: f64,
        /// How far apart they can be.
        most_us: f64,
    },
    /// A rate, and requests ÷ duration.
    Rate {
        /// Requests that it counts.
        requests: u64,
        /// T.
        duration_s: f64,
        /// Requests ÷ T.
        quotient_per_s: Printed,
        /// The rate as it was published.
        rate_per_s: f64,
    },
    /// The books.
    Books {
        /// Good ones.
        ok: u64,
        /// Bad ones.
        errors: u64,
        /// All.
        requests: u64,
    },
    /// Bytes, against their rate and against the replies; of a breach, what is broken alone.
    Bytes {
        /// Bytes ÷ duration.
        #[serde(skip_serializing_if = "Option::is_none")]
        flow: Option<ByteFlow>,
        /// Bytes of each reply.
        #[serde(skip_serializing_if = "Option::is_none")]
        reply: Option<ReplyBytes>,
    },
}

/// Requests in the clock, and the connections that hold them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct InFlightSides {
    /// X.
    pub rate_per_s: f64,
    /// R̄.
    pub mean_us: f64,
    /// X·R̄.
    pub in_clock: Printed,
    /// N.
    pub slots: f64,
    /// The most that X·R̄ may be.
    pub most: f64,
    /// What `most` has beyond N, where that was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Allowance>,
}

/// The share of the connections' time that was spent in requests, and the least of a closed load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ServedSides {
    /// X.
    pub rate_per_s: f64,
    /// R̄.
    pub mean_us: f64,
    /// N.
    pub slots: f64,
    /// X·R̄ ÷ N.
    pub share: Printed,
    /// The least that it may be.
    pub least: f64,
    /// By how much less that is for requests that cross the edges of the window.
    pub edges: f64,
}

/// The mean that rate and connections allow, and the one that a quantile asks for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MarkovSides {
    /// N.
    pub slots: f64,
    /// X.
    pub rate_per_s: f64,
    /// N ÷ X at its largest.
    pub most_us: f64,
    /// The quantile that asks for most.
    pub q: f64,
    /// (1 − q)·Q(q) at its smallest.
    pub least_us: f64,
    /// What was allowed beyond N ÷ X, where that was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Allowance>,
}

/// Requests that were completed, and those that a delay allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CompletionSides {
    /// Requests.
    pub completed: f64,
    /// Connections × pipeline, or workers.
    pub slots: f64,
    /// S.
    pub delay_s: f64,
    /// By how much a timer may fire early.
    pub early_s: f64,
    /// T at its largest.
    pub window_s: f64,
    /// Where T comes from.
    #[serde(flatten)]
    pub window: CountedIn,
    /// slots·(T ÷ (S − early) + 1).
    pub most: f64,
    /// The share of `most` that was allowed beyond it, where that was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<f64>,
}

/// The mean, and what the quantiles allow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanSides {
    /// The mean.
    pub mean_us: Printed,
    /// The least that the quantiles allow.
    pub least_us: f64,
    /// The most that quantiles and maximum allow; null where there is no maximum.
    pub most_us: Option<f64>,
    /// The share of a bound that was allowed beyond it, where that was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<f64>,
}

/// What was allowed beyond a bound, as shares of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Allowance {
    /// For what tools do not resolve.
    pub slack: f64,
    /// For requests that cross the edges of the window.
    pub edges: f64,
}

impl Allowance {
    /// The bound with what is allowed beyond it.
    pub fn beyond(self, bound: f64) -> f64 {
        bound * (1.0 + self.slack + self.edges)
    }
}

/// Where the time comes from in which completions were counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "window", rename_all = "kebab-case")]
pub enum CountedIn {
    /// It was given.
    Given,
    /// It is requests ÷ rate.
    FromRate {
        /// The rate.
        rate_per_s: f64,
    },
    /// It is the shortest that the figures allow.
    Shortest,
}

/// A figure of a latency distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyFigure {
    /// Which.
    pub figure: LatencyPoint,
    /// Its value as it was published.
    pub us: f64,
}

/// A point of a latency distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyPoint {
    /// The smallest value.
    Min,
    /// The quantile at this q.
    Quantile(f64),
    /// The mean.
    Mean,
    /// The largest value.
    Max,
}

/// Bytes ÷ duration, and what was published for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ByteFlow {
    /// Bytes.
    pub bytes: f64,
    /// T.
    pub duration_s: f64,
    /// Bytes ÷ T.
    pub quotient_per_s: Printed,
    /// Bytes a second as they were published.
    pub bytes_per_s: f64,
}

/// Bytes of each reply, and of the shortest that there can be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReplyBytes {
    /// On average.
    pub bytes: f64,
    /// Of the shortest HTTP/1 reply.
    pub shortest: f64,
}

/// Why a check could not be made.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum NotMade {
    /// Figures are not given.
    Missing {
        /// Which.
        missing: Vec<AuditFigure>,
    },
    /// A figure is 0, or may be.
    Zero,
    /// It does not apply to an open load.
    OpenLoad,
    /// It does not apply where clients may pause between requests, or be done before others.
    Pauses,
    /// More requests are in flight than connections can hold, which is another check's to say.
    TooManyInFlight,
    /// A delay that cannot be told from a timer that fires early.
    ShortDelay {
        /// By how much a timer may.
        early_s: f64,
    },
    /// The rounding of the mean leaves room for anything.
    Coarse {
        /// The mean.
        mean_us: Printed,
    },
    /// Nothing that is given must be above or below anything else.
    Unordered {
        /// What is given beside a mean.
        only: Option<LatencyPoint>,
        /// Whether a mean is.
        mean: bool,
    },
    /// Bytes alone: neither bytes a second nor whole replies and their number.
    BytesAlone,
}
