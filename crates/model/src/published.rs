use serde::{Deserialize, Serialize};

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
    /// Figures that were printed as `nan` or `inf`, and are none.
    pub not_numbers: u64,
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
            not_numbers: 0,
            latency_us: PublishedLatency::default(),
        }
    }
}
