use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Accounting, Course, DelayCeiling, Failure, LimitCause, LongSilence, Mark, Measured, Metric, NotSent};

/// What shows a mark, in figures; shares are 0 to 1. `report` has the words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkCause {
    /// Why the throughput is only a lower bound.
    Limit(LimitCause),
    /// Response figures of which over a tenth may be the generator's lateness, in µs.
    Late(Vec<(Metric, f64)>),
    /// The generator stood still while requests came due or waited.
    Touched(Touched),
    /// The server gave no reply for long, and went on.
    Silence(LongSilence),
    /// The server ended connections that were to be kept.
    Reopened(Reopened),
    /// Connections that opened at a second attempt of the kernel, or a later one.
    OpenedLate {
        /// The quantile of the times to connect that shows it.
        metric: Metric,
        /// Its value, in µs.
        us: f64,
    },
    /// Connections completed nothing, or little of their time went into what they completed.
    Unserved {
        /// Connections that completed nothing.
        never: u64,
        /// All connections.
        connections: u64,
        /// Share of the connections' time in completed requests; null where that is enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        served_share: Option<f64>,
        /// What most of the rest went into.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        elsewhere: Option<SpentElsewhere>,
    },
    /// Requests never got a reply.
    Hung {
        /// How many.
        requests: u64,
        /// Whether each was on a connection of its own.
        one_each: bool,
        /// How long the oldest waited.
        oldest_s: f64,
        /// How long the slowest reply took.
        slowest_s: f64,
    },
    /// Requests that the end of a slice no longer waited for.
    NotDrained {
        /// How many.
        requests: u64,
        /// For how long it waits, in µs.
        waited_us: f64,
    },
    /// Completions per connection slot.
    CompletionsPerSlot(f64),
    /// The delay allows no more.
    Ceiling(DelayCeiling),
    /// What a rate is a share of.
    LowRate {
        /// The target that served least in its closed load.
        target: String,
        /// So many requests a second at least.
        per_s: f64,
    },
    /// CPU that a target used in slices of others.
    Spill {
        /// Of one CPU, the share in use over all of these slices, above 1 where it was several.
        cpus: f64,
    },
    /// Rounds of slices in which others took much CPU time, or kept the generator from its CPUs.
    BusyRounds {
        /// So many.
        busy: u32,
        /// All rounds.
        rounds: u32,
    },
    /// CPU time that others took.
    Taken {
        /// CPUs of the machine.
        cpus: u32,
        /// Share that the hypervisor took, where that is much.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steal_share: Option<f64>,
        /// Share that other processes used, where that is much.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others_share: Option<f64>,
    },
    /// Of a session: a target that differs from itself, with the ratio by each such metric.
    Itself(Vec<(String, Metric, Measured)>),
    /// What shows that a server was cold.
    Cold(Coldness),
    /// The levels of a window.
    Course(WindowCourse),
    /// By how much memory grew.
    Growth(Growth),
    /// Of a session: values rise or fall over its blocks.
    Drift {
        /// Blocks.
        blocks: usize,
        /// How likely chance makes a trend like this.
        p: f64,
    },
    /// Of a session: neighbouring blocks resemble each other.
    Correlated {
        /// Blocks.
        blocks: usize,
        /// Correlation of each block with the next.
        correlation: f64,
        /// The same by chance, on average.
        by_chance: f64,
        /// How likely chance makes one like this.
        p: f64,
    },
    /// Requests that failed.
    Failures(FailedRequests),
}

impl MarkCause {
    /// The mark that it shows.
    pub fn mark(&self) -> Mark {
        match self {
            MarkCause::Limit(_) => Mark::Generator,
            MarkCause::Late(_) => Mark::Lateness,
            MarkCause::Touched(_) => Mark::Standstill,
            MarkCause::Silence(_) => Mark::Silent,
            MarkCause::Reopened(_) => Mark::Reconnects,
            MarkCause::OpenedLate { .. } => Mark::Backlog,
            MarkCause::Unserved { .. } => Mark::Unserved,
            MarkCause::Hung { .. } => Mark::Hung,
            MarkCause::NotDrained { .. } => Mark::NotDrained,
            MarkCause::CompletionsPerSlot(_) => Mark::Thin,
            MarkCause::Ceiling(_) => Mark::AtCeiling,
            MarkCause::LowRate { .. } => Mark::LowRate,
            MarkCause::Spill { .. } => Mark::Spill,
            MarkCause::BusyRounds { .. } | MarkCause::Taken { .. } | MarkCause::Itself(_) => Mark::Noisy,
            MarkCause::Cold(_) => Mark::Cold,
            MarkCause::Course(course) => course.went.mark(),
            MarkCause::Growth(growth) if growth.levelled_off => Mark::LevelledOff,
            MarkCause::Growth(_) => Mark::Growing,
            MarkCause::Drift { .. } => Mark::Drift,
            MarkCause::Correlated { .. } => Mark::Correlated,
            MarkCause::Failures(_) => Mark::Errors,
        }
    }

    /// The same, read beside the mark that it was written with: where its figures alone could show several, it is that one.
    ///
    /// # Errors
    /// When it does not show that mark.
    pub(crate) fn beside(mut self, mark: Mark) -> Result<MarkCause, String> {
        match &mut self {
            MarkCause::Course(course) => course.went = Changed::from_id(mark.id()).unwrap_or(course.went),
            MarkCause::Growth(growth) => growth.levelled_off = mark == Mark::LevelledOff,
            _ => {}
        }
        let shown = self.mark();
        if shown == mark { Ok(self) } else { Err(format!("what was seen shows `{shown}`, not `{mark}`")) }
    }

    /// How much of it a launch has, where launches can be put in order by one figure: seconds, requests or a share.
    pub fn size(&self) -> Option<f64> {
        match self {
            MarkCause::Taken { steal_share, others_share, .. } => {
                steal_share.iter().chain(others_share).copied().reduce(f64::max)
            }
            MarkCause::Spill { cpus } => Some(*cpus),
            MarkCause::BusyRounds { busy, rounds } => Some(f64::from(*busy) / f64::from(*rounds)),
            MarkCause::Silence(silence) => Some(silence.length_s),
            MarkCause::Hung { requests, .. } | MarkCause::NotDrained { requests, .. } => Some(*requests as f64),
            _ => None,
        }
    }
}

/// Time of connections that was none of completed requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpentElsewhere {
    /// What most of it went into.
    pub what: Elsewhere,
    /// So much of the connections' time, 0 to 1.
    pub share: f64,
}

/// What connections' time went into that was none of completed requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elsewhere {
    /// Opening connections.
    Connecting,
    /// Requests that timed out.
    TimedOut,
    /// Requests without a whole reply.
    Unanswered,
}

/// What a standstill of the generator did to latency figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Touched {
    /// How often and for how many seconds in all it stood still; null where what limited the load tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stood: Option<(u64, f64)>,
    /// Requests that came due or waited in it.
    pub requests: u64,
    /// Requests in all.
    pub scheduled: u64,
    /// The figures, in µs.
    pub figures: Vec<TouchedFigure>,
}

/// A latency figure that a standstill of the generator changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TouchedFigure {
    /// Which.
    pub metric: Metric,
    /// Its value in µs; null where there are too few samples.
    pub us: Option<f64>,
    /// How much of it at least is not the generator's, in µs, where that is something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_us: Option<f64>,
}

/// Connections that a server ended, so that others had to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reopened {
    /// Connections that were to be kept.
    pub connections: u32,
    /// Connections that were opened.
    pub opened: u64,
    /// Replies.
    pub replies: u64,
    /// Connections that a reply said would be closed.
    pub said: u64,
    /// Those that were closed between requests without a word.
    pub idle: u64,
    /// Those that were closed in place of a reply.
    pub in_place: u64,
}

/// What shows that a server was cold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coldness {
    /// By which share it was faster in the second half of its windows than in the first.
    FasterBy {
        /// Over the launches.
        share: f64,
        /// At least.
        low: f64,
        /// At most.
        high: f64,
    },
    /// It had less load before the window than it says it needs.
    WarmUp {
        /// What it had, in seconds.
        given_s: f64,
        /// What it needs, in seconds.
        needed_s: f64,
    },
}

kinds! {
    /// How a launch went over its window that was not level.
    Changed {
        /// It became faster, and stayed so.
        WarmUp = "warm-up",
        /// It became slower, and stayed so.
        SlowDown = "slow-down",
        /// It changed up to the end.
        Unsteady = "unsteady",
    }
}

impl Changed {
    /// The same of a course; none of a level one.
    pub fn of(course: Course) -> Option<Changed> {
        match course {
            Course::Flat => None,
            Course::WarmUp => Some(Changed::WarmUp),
            Course::SlowDown => Some(Changed::SlowDown),
            Course::Unsteady => Some(Changed::Unsteady),
        }
    }

    fn mark(self) -> Mark {
        match self {
            Changed::WarmUp => Mark::WarmUp,
            Changed::SlowDown => Mark::SlowDown,
            Changed::Unsteady => Mark::Unsteady,
        }
    }
}

/// A cause that is read without its mark has the least that its figures say.
fn unsteady() -> Changed {
    Changed::Unsteady
}

/// How the figure that changed most went over a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowCourse {
    /// How it went; written as the mark that it shows.
    #[serde(skip, default = "unsteady")]
    pub went: Changed,
    /// The figure.
    pub metric: Metric,
    /// From which second of the window it was on which level, in its own unit.
    pub levels: Vec<(f64, f64)>,
    /// Seconds of the window before the part that counts as steady; null where no part does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_from_s: Option<f64>,
    /// Length of the window in seconds.
    pub window_s: f64,
}

/// By how much memory grew over a window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Whether it grew no more when the window ended; written as the mark that it shows.
    #[serde(skip)]
    pub levelled_off: bool,
    /// Bytes, from the end of the window's first second to that of its last.
    pub bytes: u64,
    /// The same for each reply of that time; null where it levelled off or none came.
    pub bytes_per_request: Option<f64>,
}

/// Requests that failed, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRequests {
    /// All that were due.
    pub scheduled: u64,
    /// Those that were turned away.
    pub not_sent: BTreeMap<NotSent, u64>,
    /// Those without a whole reply.
    pub failed: BTreeMap<Failure, u64>,
    /// Those whose reply had a wrong status.
    pub bad_status: u64,
    /// Those whose reply had a wrong body.
    pub bad_body: u64,
}

impl FailedRequests {
    /// Those in the books. What still waited for a connection at the end of an open load is the rate's doing, and what this machine could not
    /// send its own.
    pub fn of(books: &Accounting) -> Self {
        FailedRequests {
            scheduled: books.scheduled,
            not_sent: books.turned_away().collect(),
            failed: books.failed.clone(),
            bad_status: books.bad_status,
            bad_body: books.bad_body,
        }
    }
}
