use serde::{Deserialize, Serialize};

use crate::Reason;
use crate::outcome::kinds;

/// A printed figure and the values that it leaves possible: `1.23` may be anything from 1.225 to 1.235.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Printed {
    /// The figure itself.
    pub printed: f64,
    /// Smallest possible value.
    pub low: f64,
    /// Largest possible value.
    pub high: f64,
}

impl Printed {
    /// A figure that is known exactly, such as a count.
    pub fn exact(value: f64) -> Self {
        Self { printed: value, low: value, high: value }
    }

    /// Both ends times a factor that is not negative.
    pub fn scaled(self, factor: f64) -> Self {
        Self { printed: self.printed * factor, low: self.low * factor, high: self.high * factor }
    }

    /// Products of two figures that are not negative.
    pub fn times(self, other: Printed) -> Self {
        Self { printed: self.printed * other.printed, low: self.low * other.low, high: self.high * other.high }
    }

    /// Quotients of two figures that are not negative; the upper end is infinite where the divisor may be 0.
    pub fn over(self, other: Printed) -> Self {
        Self { printed: self.printed / other.printed, low: self.low / other.high, high: self.high / other.low }
    }
}

kinds! {
    /// Where published figures come from.
    AuditSource {
        /// Text of wrk.
        Wrk = "wrk",
        /// Text of wrk2.
        Wrk2 = "wrk2",
        /// Text of ApacheBench.
        Ab = "ab",
        /// Text of hey.
        Hey = "hey",
        /// Text of h2load.
        H2load = "h2load",
        /// Text or JSON of oha.
        Oha = "oha",
        /// End-of-test summary of k6, text or JSON.
        K6 = "k6",
        /// Report of vegeta, text or JSON.
        Vegeta = "vegeta",
        /// A table, a row for each result.
        Csv = "csv",
    }
}

kinds! {
    /// What made the requests come.
    AuditModel {
        /// Each connection sends when its last reply came.
        Closed = "closed",
        /// As closed, but a client may pause between requests, or be done with its share before others.
        ClosedWithPauses = "closed-with-pauses",
        /// Requests come at a rate, whatever the server does.
        Open = "open",
    }
}

/// A latency distribution as it was published, in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PublishedLatency {
    /// Arithmetic mean.
    pub mean: Option<Printed>,
    /// Standard deviation.
    pub stdev: Option<Printed>,
    /// Smallest value.
    pub min: Option<Printed>,
    /// Largest value.
    pub max: Option<Printed>,
    /// Quantiles as pairs (q, value), q from 0 to 1, ascending.
    pub quantiles: Vec<(f64, Printed)>,
}

/// One result as it was published, and what is known about how it came about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Published {
    /// What the result is of, as far as it is printed.
    pub name: String,
    /// Who printed it.
    pub source: AuditSource,
    /// What made the requests come.
    pub model: AuditModel,
    /// Connections; virtual users of k6.
    pub connections: Option<u64>,
    /// Requests that one connection may have in flight at once; none where the tool does not say.
    pub pipeline: Option<u64>,
    /// S: what the handler waits, in seconds.
    pub handler_delay_s: Option<f64>,
    /// W: requests that the server can work on at once.
    pub workers: Option<u64>,
    /// X: requests a second.
    pub rate_per_s: Option<Printed>,
    /// Whether the rate counts ok replies only.
    pub rate_is_of_ok: bool,
    /// T: time in which the requests were counted, in seconds.
    pub duration_s: Option<Printed>,
    /// Requests that ended.
    pub requests: Option<u64>,
    /// Of these, good ones, if printed on their own.
    pub ok: Option<u64>,
    /// Of these, bad ones, if printed on their own.
    pub errors: Option<u64>,
    /// All that failed: bad ones and those without a reply, however the source counts them.
    pub failed: Option<u64>,
    /// Of these, those that are not among the requests that ended.
    pub lost: u64,
    /// Time-outs that wrk counts; none of them is a failed request.
    pub timed_out: u64,
    /// Bytes received.
    pub bytes: Option<Printed>,
    /// Bytes received a second.
    pub bytes_per_s: Option<Printed>,
    /// Whether the bytes are of whole HTTP/1 replies, their heads included.
    pub bytes_have_heads: bool,
    /// Latencies in microseconds.
    pub latency_us: PublishedLatency,
}

impl Published {
    /// How many requests failed and of how many; none where one of them is not known.
    pub fn failed_of(&self) -> Option<(u64, u64)> {
        let from_ok = || Some(self.requests?.saturating_sub(self.ok?));
        let failed = self.failed.or(self.errors).or_else(from_ok)?;
        let all = self.requests.map(|requests| requests.saturating_add(self.lost))?;
        (failed <= all && all > 0).then_some((failed, all))
    }

    /// A result of which nothing is known yet.
    pub fn new(source: AuditSource, model: AuditModel) -> Self {
        Self {
            name: source.id().to_owned(),
            source,
            model,
            connections: None,
            pipeline: None,
            handler_delay_s: None,
            workers: None,
            rate_per_s: None,
            rate_is_of_ok: false,
            duration_s: None,
            requests: None,
            ok: None,
            errors: None,
            failed: None,
            lost: 0,
            timed_out: 0,
            bytes: None,
            bytes_per_s: None,
            bytes_have_heads: false,
            latency_us: PublishedLatency::default(),
        }
    }
}

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
        MeanLatency = "mean latency",
        /// Connections.
        Connections = "connections",
        /// Requests in flight on each of them.
        Pipeline = "requests in flight on each",
        /// How long the handler waits.
        HandlerDelay = "handler delay",
        /// How many requests the server works on at once.
        Workers = "workers",
        /// How long the load took.
        Duration = "duration",
        /// Requests.
        Requests = "requests",
        /// Requests, or how many there were for each second.
        RequestsOrRate = "requests or rate",
        /// Replies that were right.
        OkReplies = "ok replies",
        /// Requests that failed.
        Errors = "errors",
        /// Bytes of all replies.
        Bytes = "bytes",
        /// Arithmetic mean.
        Mean = "mean",
        /// Quantiles.
        Quantiles = "quantiles",
        /// Standard deviation.
        Deviation = "standard deviation",
        /// Largest latency, or quantiles.
        MaximumOrQuantiles = "maximum or quantiles",
        /// A latency of replies that did not fail.
        LatencyOfReplies = "a latency of replies that did not fail",
    }
}

/// One check, tried on one result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditNote {
    /// Which.
    pub check: AuditCheck,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// The arithmetic in figures, or why it could not be made.
    pub text: String,
    /// What is missing, where that is why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<AuditFigure>,
}

/// What the arithmetic says of one result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowAudit {
    /// The figures as they were read.
    pub published: Published,
    /// All checks, in the order of `AuditCheck::ALL`.
    pub checks: Vec<AuditNote>,
    /// What explains all of its contradictions, where that is known.
    pub cause: Option<Reason>,
    /// What does not contradict anything but should be known.
    pub remarks: Vec<Reason>,
    /// Whether more of its requests failed than may.
    pub failing: bool,
}

impl RowAudit {
    /// The checks that ended so.
    pub fn that(&self, outcome: AuditOutcome) -> impl Iterator<Item = &AuditNote> {
        self.checks.iter().filter(move |note| note.outcome == outcome)
    }

    /// Whether some figures cannot be true together.
    pub fn is_contradictory(&self) -> bool {
        self.that(AuditOutcome::Breach).next().is_some()
    }
}

/// What the arithmetic says of published results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// One entry for each result, in the order of the file.
    pub rows: Vec<RowAudit>,
    /// Remarks about the results together.
    pub remarks: Vec<Reason>,
}

impl Audit {
    /// Whether some figures of a result cannot be true together.
    pub fn is_contradictory(&self) -> bool {
        self.rows.iter().any(RowAudit::is_contradictory)
    }

    /// Whether the answer is bad: some figures cannot be true together, or more requests of a result failed than may.
    pub fn is_bad(&self) -> bool {
        self.is_contradictory() || self.rows.iter().any(|row| row.failing)
    }
}
