//! What an experiment shows of each suspect, and what it cannot tell.

use model::{Experiment, Suspect, WhyOpen};

use super::case::Case;
use super::reading::Reading;
use super::thresholds::{
    ACKNOWLEDGED_LATE_PER_S, BYTES_A_REQUEST, COMPUTES, CPU_FULL, FAILED_SHARE, FEWEST_ASKED, FEWEST_FOR_PIECES,
    FEWEST_SERVICE_TIMES, GENERATOR_FULL, GROWN_BYTES, GROWN_PIECES, HEAVY_S, LIMITED, LONG_FOR_A_REPLY,
    MANY_ROUND_TRIPS, PACED_CONNECTIONS, PATIENT, SLOW_ALONE, THROTTLED, WAITS_FOR_ALL,
};
use crate::statistics::{mean, share_interval};
use crate::thresholds::{ALLOWED_FAILURES, CLOSED_REPLIES, CLOSED_SHARE, CONFIDENCE, HELD_REPLIES};

/// What an experiment shows of a suspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// It looks as it would if it were there.
    Shows,
    /// It does not.
    Lacks,
    /// Something else would look the same, or hides it.
    CannotTell,
}

impl Sign {
    fn of(shows: bool) -> Sign {
        if shows { Sign::Shows } else { Sign::Lacks }
    }
}

/// What a reading shows of a suspect.
pub(super) fn sign(case: &Case<'_>, suspect: Suspect, reading: &Reading<'_>) -> Sign {
    if suspect != Suspect::Failures && reading.completed() == 0 {
        return Sign::CannotTell;
    }
    match suspect {
        Suspect::Limit => limit(case, reading),
        // Some had nothing, and nobody several replies: they may only have waited in line.
        Suspect::HeldWorkers if reading.unserved() > 0 && reading.most_served() < HELD_REPLIES => Sign::CannotTell,
        Suspect::HeldWorkers => Sign::of(is_held(reading)),
        Suspect::BlockedLoop => blocked(case, reading),
        Suspect::DelayedAck => match reading.experiment() {
            // After a pause the kernel acknowledges at once.
            Experiment::Paced { rate_per_s } if rate_per_s < ACKNOWLEDGED_LATE_PER_S * f64::from(PACED_CONNECTIONS) => {
                Sign::CannotTell
            }
            _ if !reading.is_short_and_near() => Sign::CannotTell,
            _ => Sign::of(reading.delayed_ack().is_some()),
        },
        Suspect::ClosedConnections => closed(reading),
        Suspect::Stalls => Sign::of(!reading.stalls().is_empty()),
        Suspect::MemoryGrowth if case.jvm => Sign::CannotTell,
        Suspect::MemoryGrowth | Suspect::ThreadGrowth | Suspect::FileGrowth => grown(case, suspect, reading),
        Suspect::RoundTrips => waits_for_many(case, reading),
        Suspect::Failures => Sign::of(is_unanswered(case, reading) || fails_often(reading)),
    }
}

/// Whether it gave no reply although it was asked for long enough, or none any more.
pub(super) fn is_unanswered(case: &Case<'_>, reading: &Reading<'_>) -> bool {
    let long_s = case.service_s().map_or(PATIENT * case.window_s(), |service_s| LONG_FOR_A_REPLY * service_s);
    let is_counted = matches!(reading.experiment(), Experiment::Burst { .. } | Experiment::Dose { .. });
    let none = !is_counted && reading.completed() == 0 && !reading.fails_at_once() && reading.window_s() >= long_s;
    none || reading.stopped_after_s().is_some()
}

/// Whether more fail than may: one of few may be an accident.
fn fails_often(reading: &Reading<'_>) -> bool {
    let (failed, of) = reading.failed();
    failed > 1 && share_interval(failed, of, CONFIDENCE).is_some_and(|share| share.low > FAILED_SHARE)
}

/// Whether the CPU of a single thread, or the generator, may be what bounds a load.
pub(super) fn is_full(case: &Case<'_>, reading: &Reading<'_>) -> bool {
    // That of a server which runs already is not seen: what is found of it says so.
    let lacked = reading.cpus_taken() + reading.throttled();
    let cpu = reading.cpus_used().map_or(case.asked.running.is_none(), |used| used + lacked >= CPU_FULL);
    cpu || reading.generator_busy() >= GENERATOR_FULL
}

/// Whether it is others, or the hypervisor, who took the CPU that may be what bounds a load, and not the server: what it shows of a limit is
/// looked at again.
pub(super) fn is_disturbed(reading: &Reading<'_>) -> bool {
    let taken = reading.cpus_taken();
    reading.cpus_used().is_some_and(|used| {
        let own = used + reading.throttled();
        own + taken >= CPU_FULL && taken > own
    })
}

/// Requests that a server works on at once, by Little's law: those in service, whatever waits in line before them.
pub(super) fn at_once(case: &Case<'_>, reading: &Reading<'_>) -> Option<f64> {
    Some(reading.per_s() * case.work_s()?)
}

/// Fewer at once than there are connections, while neither CPU nor generator is full. How many are at once is told by what one connection
/// alone is served, so that what it takes to open another, where the server ends each, is in both.
fn limit(case: &Case<'_>, reading: &Reading<'_>) -> Sign {
    let Some(alone) = case.first(Experiment::Crowd { connections: 1 }).filter(|alone| alone.per_s() > 0.0) else {
        return Sign::CannotTell;
    };
    let connections = f64::from(reading.cell.load.connections);
    let is_too_short = alone.service_s().is_none_or(|service_s| reading.window_s() < FEWEST_SERVICE_TIMES * service_s);
    if is_too_short || fails(alone) || fails(reading) {
        Sign::CannotTell
    } else if reading.per_s() / alone.per_s() >= LIMITED * connections {
        Sign::Lacks
    } else if is_full(case, reading) || reading.completed() == 0 {
        Sign::CannotTell
    } else {
        Sign::Shows
    }
}

/// Whether it is a closed load of more connections than that.
pub(super) fn is_crowd_above(reading: &Reading<'_>, most: u32) -> bool {
    matches!(reading.experiment(), Experiment::Crowd { connections } if connections > most)
}

/// Why no load of more connections than that tells whether there is a limit.
pub(super) fn why_no_limit(case: &Case<'_>, most: u32) -> WhyOpen {
    let too_short = |reading: &Reading<'_>| {
        reading.service_s().is_none_or(|service_s| reading.window_s() < FEWEST_SERVICE_TIMES * service_s)
    };
    // What one connection is served tells of no limit, whoever had the CPU meanwhile.
    let was_others = |reading: &Reading<'_>| is_crowd_above(reading, most.max(1)) && is_disturbed(reading);
    let failed = |reading: &Reading<'_>| (most == 0 || is_crowd_above(reading, most)) && fails(reading);
    match case.first(Experiment::Crowd { connections: 1 }) {
        None => WhyOpen::Void,
        Some(_) if case.counting().any(failed) => WhyOpen::Failing,
        Some(alone) if too_short(alone) => WhyOpen::Slow,
        Some(_) if case.counting().any(was_others) => WhyOpen::Others,
        Some(_) => WhyOpen::Busy,
    }
}

/// Whether so many requests fail that the good ones say little of the rest.
fn fails(reading: &Reading<'_>) -> bool {
    let (failed, of) = reading.failed();
    failed as f64 > ALLOWED_FAILURES * of as f64
}

/// Some connections had nothing while others had one reply after the other.
pub(super) fn is_held(reading: &Reading<'_>) -> bool {
    reading.unserved() > 0 && reading.most_served() >= HELD_REPLIES
}

/// Light requests wait for as long as a heavy one takes, and do not without it.
fn blocked(case: &Case<'_>, reading: &Reading<'_>) -> Sign {
    // Where a quota is used up everybody waits for more of it.
    if reading.throttled() >= THROTTLED {
        return Sign::CannotTell;
    }
    let (Some(heavy), Some(alone)) = (case.first(Experiment::Heavy), case.first(Experiment::Probes)) else {
        return Sign::CannotTell;
    };
    match (heavy.service_s(), alone.slowest_s(), reading.slowest_s()) {
        (Some(heavy_s), Some(alone_s), Some(beside_s)) if heavy_s >= HEAVY_S && alone_s < SLOW_ALONE * heavy_s => {
            Sign::of(beside_s >= WAITS_FOR_ALL * heavy_s)
        }
        _ => Sign::CannotTell,
    }
}

/// Whether a heavy request uses the CPU for as long as it takes; none where nobody sees it.
pub(super) fn computes(case: &Case<'_>) -> Option<bool> {
    let heavy = case.first(Experiment::Heavy)?;
    Some(heavy.cpu_s_per_request()? >= COMPUTES * heavy.service_s()?)
}

/// The share of replies that end their connection: of the connections that were opened the server ended so many by a reply, over the whole
/// load, and so many were opened for each reply of the window.
pub(super) fn closed_share(reading: &Reading<'_>) -> f64 {
    let kept = reading.cell.load.connections as f64;
    let opened = (reading.opened() as f64 - kept).max(1.0);
    let in_window = reading.opened_in_window() as f64;
    f64::min(reading.closed() as f64 / opened, 1.0) * f64::min(in_window / reading.completed().max(1) as f64, 1.0)
}

fn closed(reading: &Reading<'_>) -> Sign {
    if reading.completed() < CLOSED_REPLIES {
        return Sign::CannotTell;
    }
    Sign::of(closed_share(reading) >= CLOSED_SHARE)
}

/// Growth from the first dose to the fourth from which on it is looked at.
pub(super) fn least_growth(case: &Case<'_>, suspect: Suspect) -> f64 {
    let requests = 3.0 * case.dose().unwrap_or(0) as f64;
    if suspect == Suspect::MemoryGrowth { GROWN_BYTES.max(BYTES_A_REQUEST * requests) } else { GROWN_PIECES }
}

/// More is kept after four doses than after one.
fn grown(case: &Case<'_>, suspect: Suspect, reading: &Reading<'_>) -> Sign {
    let first = case.dose().and_then(|requests| case.first(Experiment::Dose { requests }));
    // A pool that grows with each request until it is full, and a limit that is reached, look like growth and like none.
    let is_few =
        suspect != Suspect::MemoryGrowth && case.dose().is_none_or(|requests| 4 * requests < FEWEST_FOR_PIECES);
    if is_few || fails(reading) || first.is_some_and(fails) {
        return Sign::CannotTell;
    }
    // Records of before that was looked at after a dose have the most of its load, which is another figure.
    if first.is_some_and(|first| first.is_looked_at_afterwards() != reading.is_looked_at_afterwards()) {
        return Sign::CannotTell;
    }
    match (first.and_then(|first| first.kept(suspect)), reading.kept(suspect)) {
        (Some(first), Some(last)) => Sign::of(last - first >= least_growth(case, suspect)),
        _ => Sign::CannotTell,
    }
}

/// How many round trips to what is behind the server a request waits for, by what it takes without the delay of each.
pub(super) fn round_trips(case: &Case<'_>, reading: &Reading<'_>) -> Option<f64> {
    let Experiment::Upstream { connections, delay_ns: delay_ns @ 1.. } = reading.experiment() else { return None };
    let near: Vec<f64> =
        case.valid(Experiment::Upstream { connections, delay_ns: 0 }).filter_map(Reading::service_s).collect();
    Some((reading.service_s()? - mean(&near)?) / (delay_ns as f64 / 1e9))
}

/// Whether the server asked what is behind it through the relay at all.
pub(super) fn asks(reading: &Reading<'_>) -> bool {
    reading.record.backend.is_some_and(|seen| seen.replies > 0)
}

fn waits_for_many(case: &Case<'_>, reading: &Reading<'_>) -> Sign {
    let few = reading.completed() < FEWEST_ASKED;
    match round_trips(case, reading) {
        Some(trips) if asks(reading) && !few && !fails(reading) => Sign::of(trips >= MANY_ROUND_TRIPS),
        _ => Sign::CannotTell,
    }
}
