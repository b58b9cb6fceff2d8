use jiff::Zoned;
use serde::{Deserialize, Serialize};

use crate::Reason;

/// Schema number of the stored calibration and of `bourdon calibrate --format json`.
pub const CALIBRATION_SCHEMA: &str = "bourdon.calibration/1";

/// The instrument's own limits on one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Version of this document's shape.
    pub schema: String,
    /// When it was measured, RFC 3339 with offset.
    #[serde(with = "crate::moment::local")]
    pub measured_at: Zoned,
    /// The machine and the version of bourdon it holds for.
    pub instrument: Instrument,
    /// CPU of the null responder, none where it had to share the generator's.
    pub responder_cpu: Option<u32>,
    /// CPU of the generator.
    pub generator_cpu: u32,
    /// What the clock can tell.
    pub clock: ClockPrecision,
    /// By how much sleeping ends late, for several lengths of sleep.
    pub sleep: Vec<SleepError>,
    /// The fastest closed loads of one thread.
    pub ceilings: Vec<Ceiling>,
    /// Open loads of one thread that were tried, in that order.
    pub rates: Vec<RateStep>,
    /// What follows for the judgement of loads; none until it is judged, or where no open rate could be trusted.
    pub limits: Option<GeneratorLimits>,
    /// What went wrong at the lowest rate that cannot be trusted; none where every rate that was tried can.
    pub beyond: Option<Reason>,
}

/// What a calibration holds for: on another machine, kernel or version it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instrument {
    /// Version of bourdon.
    pub bourdon: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs online.
    pub cpus: u32,
    /// Kernel release.
    pub kernel: String,
}

/// Precision of the monotonic clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockPrecision {
    /// Readings made.
    pub readings: u64,
    /// What one reading costs, in nanoseconds.
    pub reading_ns: f64,
    /// The smallest step above zero between two readings, in nanoseconds.
    pub step_ns: u64,
    /// Readings that were earlier than the one before: 0, or the clock is broken.
    pub backward: u64,
}

/// By how much a sleep of one length ends late.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SleepError {
    /// Length asked for, in microseconds.
    pub asked_us: f64,
    /// Sleeps made.
    pub count: u64,
    /// Median lateness in microseconds.
    pub p50_us: f64,
    /// 99th percentile of lateness in microseconds.
    pub p99_us: f64,
    /// Largest lateness in microseconds.
    pub max_us: f64,
}

/// The fastest closed load of one generator thread against the null responder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// Connections.
    pub connections: u32,
    /// Requests in flight on each.
    pub pipeline: u16,
    /// Replies a second, every one checked.
    pub requests_per_s: f64,
    /// CPU of the generator for each reply, in microseconds; none without a reply.
    pub cpu_us_per_request: Option<f64>,
    /// Busy share of the generator thread.
    pub busy: f64,
}

impl Ceiling {
    /// Requests a second of a thread that is busy all the time: where the responder was the limit, what the thread had
    /// left is added in proportion.
    pub fn per_thread_per_s(&self) -> f64 {
        if self.busy > 0.0 { self.requests_per_s / self.busy.min(1.0) } else { 0.0 }
    }
}

/// One open load of one generator thread against the null responder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RateStep {
    /// Requests a second asked for.
    pub rate_per_s: f64,
    /// Requests due.
    pub scheduled: u64,
    /// Requests that left.
    pub sent: u64,
    /// Of these, those that left over 1 ms late because the generator was held up.
    pub late_generator: u64,
    /// Those that left late because no connection was free.
    pub late_no_connection: u64,
    /// Median lateness in microseconds.
    pub lateness_p50_us: Option<f64>,
    /// 99th percentile of lateness in microseconds.
    pub lateness_p99_us: Option<f64>,
    /// CPU of the generator for each reply, in microseconds; none without a reply.
    pub cpu_us_per_request: Option<f64>,
    /// Busy share of the generator thread.
    pub busy: f64,
}

/// What one generator thread can do, as the judgement of a load uses it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GeneratorLimits {
    /// Requests a second of a thread that does nothing else, one in flight on a connection.
    pub ceiling_per_s: f64,
    /// The same with requests pipelined.
    pub pipelined_ceiling_per_s: f64,
    /// The highest open rate, in requests a second, up to which what is measured is the server's.
    pub open_rate_per_s: f64,
}
