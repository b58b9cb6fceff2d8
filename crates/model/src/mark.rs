use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Imbalance, Metric};

kinds! {
    /// An arithmetic truth that a result must satisfy; a breach makes the trial void.
    Invariant {
        /// The identities of the books.
        Accounting = "accounting",
        /// Little's law as an identity.
        InFlight = "in-flight",
        /// Rate and latency describe the same requests.
        Markov = "markov",
        /// No more completions than the handler delay allows.
        Ceiling = "ceiling",
        /// No reply with wrong content: body, framing, unasked bytes.
        Correctness = "correctness",
        /// The slices of a load come to what it measured, and none has more than it can have.
        Slices = "slices",
        /// The target used no more CPUs than it was given.
        Cpus = "cpus",
    }
}

/// One invariant, tried on one trial, or on those of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InvariantCheck {
    /// Which.
    pub invariant: Invariant,
    /// Whether it holds.
    pub holds: bool,
    /// The two sides where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breach: Option<Breach>,
    /// Of a cell, the trial in which it broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// Of a cell, how many trials it holds in, where it holds in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_in: Option<u32>,
}

impl InvariantCheck {
    /// Of one trial.
    pub fn new(invariant: Invariant, breach: Option<Breach>) -> Self {
        Self { invariant, holds: breach.is_none(), breach, trial: None, held_in: None }
    }
}

impl Breach {
    /// The invariant that it is one of.
    pub fn invariant(&self) -> Invariant {
        match self {
            Breach::Imbalance(_) => Invariant::Accounting,
            Breach::InFlight { .. } => Invariant::InFlight,
            Breach::TooLong { .. } => Invariant::Markov,
            Breach::Completions { .. } => Invariant::Ceiling,
            Breach::Content { .. } => Invariant::Correctness,
            Breach::SliceSum { .. } | Breach::SlicePart { .. } => Invariant::Slices,
            Breach::Cpus { .. } => Invariant::Cpus,
        }
    }
}

/// The two sides of an invariant that broke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Breach {
    /// The books do not balance.
    Imbalance(Imbalance),
    /// Little's identity does not hold.
    InFlight {
        /// Requests in flight over the window, in request-seconds.
        in_flight_s: f64,
        /// Time of all requests inside it.
        requests_s: f64,
    },
    /// A quantile, or the mean, is too long for the rate.
    TooLong {
        /// Which.
        metric: Metric,
        /// By what it is divided.
        divisor: f64,
        /// The least mean that follows from it, in µs.
        least_us: f64,
        /// The most that rate and connections allow, in µs.
        mean_us: f64,
    },
    /// There are more completions than a delay allows.
    Completions {
        /// All of the window.
        completed: u64,
        /// How many the delay allows.
        most: u64,
        /// The delay.
        delay_s: f64,
    },
    /// Content was wrong.
    Content {
        /// All replies.
        replies: u64,
        /// Those with a wrong body.
        bad_body: u64,
        /// Those that are not HTTP.
        malformed: u64,
        /// Those that no request had asked for.
        unasked: u64,
    },
    /// The slices of a load come to something else than it measured.
    SliceSum {
        /// What.
        of: SliceFigure,
        /// Over the slices.
        slices: f64,
        /// Of the load.
        measured: f64,
    },
    /// A slice has more of one than of another that it is a part of.
    SlicePart {
        /// Its round.
        round: u32,
        /// What there is too much of.
        of: SliceFigure,
        /// So much.
        part: f64,
        /// What it is a part of, in the same unit.
        whole: f64,
    },
    /// The target used CPUs that it was not given.
    Cpus {
        /// How many it used on average.
        used: f64,
        /// How many it was given.
        given: u32,
    },
}

kinds! {
    /// A figure that each slice of a load has.
    SliceFigure {
        /// Replies that completed while it was measured.
        Completed = "completed",
        /// Those that were as expected.
        Ok = "ok",
        /// Seconds that were measured.
        Window = "window_s",
    }
}

kinds! {
    /// Something a reader must know about a result; printed, never voiding.
    Mark {
        /// The generator, not the target, may have been the limit.
        Generator = "generator",
        /// The generator's lateness may be over a tenth of a response figure.
        Lateness = "lateness",
        /// A latency is the generator's, which stood still while requests came due or waited.
        Standstill = "standstill",
        /// Connections opened only once the kernel had asked again.
        Backlog = "backlog",
        /// Connections completed nothing, or much time is in requests that did not complete.
        Unserved = "unserved",
        /// The server gave no reply for half a second or more, and went on.
        Silent = "silent",
        /// Requests never got a reply, long after others had theirs.
        Hung = "hung",
        /// Requests had no whole reply when the end of a slice was no longer waited for.
        NotDrained = "not-drained",
        /// The server ended connections that were to be kept.
        Reconnects = "reconnects",
        /// Fewer than 30 completions per connection slot.
        Thin = "thin",
        /// The target used much CPU in slices of others.
        Spill = "spill",
        /// Throughput is at what the handler delay allows: servers cannot be ranked there.
        AtCeiling = "at-ceiling",
        /// Its rate is a share of what a closed load got at least: of what servers can do it may be less.
        LowRate = "low-rate",
        /// The machine was disturbed.
        Noisy = "noisy",
        /// It was still getting faster at the end of a window too short to tell its course.
        Cold = "cold",
        /// It became faster inside the window, and stayed so.
        WarmUp = "warm-up",
        /// It became slower inside the window, and stayed so.
        SlowDown = "slow-down",
        /// It changed up to the end of the window.
        Unsteady = "unsteady",
        /// Its memory grew, and still did when the window ended.
        Growing = "growing",
        /// Its memory grew inside the window, and levelled off.
        LevelledOff = "levelled-off",
        /// Of a session: its values drift from block to block.
        Drift = "drift",
        /// Of a session: neighbouring blocks resemble each other.
        Correlated = "correlated",
        /// Some replies were wrong or requests failed.
        Errors = "errors",
    }
}

kinds! {
    /// How a launch went over its window (Barrett et al., OOPSLA'17), from the best to the worst.
    Course {
        /// One level.
        Flat = "flat",
        /// It became faster, and stayed so.
        WarmUp = "warm-up",
        /// It became slower, and stayed so.
        SlowDown = "slow-down",
        /// It changed up to the end.
        Unsteady = "unsteady",
    }
}
