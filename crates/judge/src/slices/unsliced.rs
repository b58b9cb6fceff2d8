//! What keeps a load from being cut into slices, by what its slices show.

use model::{HalfCount, Measurement, NotSent, Observation, Prelude, Slice, TrialRecord, UnslicedCause};

use super::{measured, neighbours_cpus, silent_from};
use crate::asked::Asked;
use crate::hung;
use crate::others;
use crate::statistics::{mean, t_interval_at};
use crate::thresholds::{
    ALLOWED_FAILURES, DEAR_AFTER_IDLING, DEAR_AFTER_IDLING_OPEN, EDGES_BY_CHANCE, FALLS_BEHIND, HALVES_CONFIDENCE,
    HALVES_MOST, HALVES_SLICES, ROUND_TAKEN, ROUNDS_LEFT_OUT, SLICE_DRAIN_S, SLICE_REPLIES, SLOW_AFTER_IDLING,
    SLOW_AFTER_IDLING_OPEN, SPILL, UNSETTLED,
};

/// What keeps the load from being cut into slices, as far as only these can tell: replies that outlast their end, too few in one
/// of them, connections that do not live from one to the next, or a server that is slow after it idled. What is left or missing in
/// slices in which others had the CPUs says nothing of the server, unless it is far older than any reply: that round does not count, or
/// the block was disturbed.
pub(crate) fn unsliced(
    asked: &Asked<'_>,
    load: &Measurement,
    observed: Option<&Observation>,
    slices: &[Slice],
) -> Option<UnslicedCause> {
    let p99_us = load.latency_us.service.as_ref().and_then(|service| service.p99);
    let is_quiet = |slice: &&Slice| !is_busy(load, observed, slice);
    let quiet: Vec<&Slice> = measured(slices).filter(is_quiet).collect();
    let left = model::sum(slices.iter().filter(is_quiet).map(|slice| slice.not_drained));
    let not_drained = left.max(hung::in_slices(load));
    let waited_us = SLICE_DRAIN_S * 1e6;
    let is_slow = p99_us.is_some_and(|p99_us| p99_us > waited_us) && !are_busy(load, observed, slices);
    let too_few = quiet.iter().find(|slice| slice.completed < SLICE_REPLIES);
    let ended = |whole: u64, before: fn(&Prelude) -> u64| {
        model::sum(slices.iter().filter_map(|slice| slice.prelude.as_ref()).map(before).chain([whole]))
    };
    let idle = ended(load.connections.closed_idle, |prelude| prelude.closed_idle);
    let said = ended(load.connections.closed_by_reply, |prelude| prelude.closed_by_reply);
    match too_few {
        _ if slices.is_empty() => None,
        _ if not_drained > 0
            && let Some(round) = silent_from(slices) =>
        {
            Some(UnslicedCause::FellSilent { round, not_drained })
        }
        _ if not_drained > 0 || is_slow => Some(UnslicedCause::SlowDrain { p99_us, waited_us, not_drained }),
        _ if idle > 0 || said > 0 => Some(UnslicedCause::ConnectionsEnd { idle, said }),
        _ if fails_after_idling(&quiet).is_some() => fails_after_idling(&quiet),
        Some(slice) => {
            Some(UnslicedCause::FewReplies { round: slice.round, replies: slice.completed, needed: SLICE_REPLIES })
        }
        None => slow_after_idling(asked.is_closed(), slices).or_else(|| {
            dear_after_idling(asked.is_closed(), slices).filter(|_| observed.is_some_and(|seen| seen.by_clock))
        }),
    }
}

/// More requests fail than may while the server is woken, and twice as large a share as in its slices: what counts nowhere would hide
/// them.
fn fails_after_idling(slices: &[&Slice]) -> Option<UnslicedCause> {
    let preludes = || slices.iter().filter_map(|slice| slice.prelude.as_ref());
    let failed = model::sum(preludes().map(|prelude| prelude.failed));
    let replies = model::sum(preludes().map(|prelude| prelude.replies));
    // At least so many, for a wrong reply is counted in both.
    let share = |failed: u64, replies: u64| failed as f64 / replies.saturating_add(failed).max(1) as f64;
    let in_slices = share(
        model::sum(slices.iter().map(|slice| slice.failed)),
        model::sum(slices.iter().map(|slice| slice.replies)),
    );
    (share(failed, replies) > ALLOWED_FAILURES && share(failed, replies) > 2.0 * in_slices)
        .then_some(UnslicedCause::FailsAfterIdling { failed, replies })
}

/// The slices of a launch that count and in which others had not the CPUs.
pub(crate) fn quiet<'a>(load: Option<&'a Measurement>, trial: &'a TrialRecord) -> impl Iterator<Item = &'a Slice> {
    let observed = trial.observation.as_ref();
    let is_quiet = move |slice: &&Slice| load.is_some_and(|load| !is_busy(load, observed, slice));
    measured(&trial.slices).filter(is_quiet)
}

/// Whether others had the CPUs in a slice.
fn is_busy(load: &Measurement, observed: Option<&Observation>, slice: &Slice) -> bool {
    let taken = slice.steal_share + slice.others_share;
    observed.is_some_and(|seen| others::of_the_smaller_side(taken, seen, load) > ROUND_TAKEN)
}

/// Whether they had them in so many slices that these make what is known of all: then the launch is noisy, and its block repeated.
fn are_busy(load: &Measurement, observed: Option<&Observation>, slices: &[Slice]) -> bool {
    let busy = measured(slices).filter(|slice| is_busy(load, observed, slice)).count() as f64;
    busy > ROUNDS_LEFT_OUT * measured(slices).count() as f64
}

/// Each slice begins without a queue, and of a server that rested. That a load needs longer to settle than a slice lasts: requests
/// take ever longer within it; or of an open one fewer were answered than came due.
pub(crate) fn unsettled(
    asked: &Asked<'_>,
    load: &Measurement,
    observed: Option<&Observation>,
    slices: &[Slice],
) -> Option<UnslicedCause> {
    measured(slices).next()?;
    match asked.is_closed() {
        true => slower_at_last(slices, SLOW_AFTER_IDLING, HalfCount::mean_service_us),
        false => {
            let behind = falls_behind(load, slices).filter(|_| !are_busy(load, observed, slices));
            behind.or_else(|| slower_at_last(slices, UNSETTLED, HalfCount::mean_felt_us))
        }
    }
}

/// What some slices show, asked in one way.
type OfSlices<'a> = &'a dyn Fn(&[Slice]) -> Option<UnslicedCause>;

/// What the slices of several blocks of one server show together, where each launch has too few to show it alone: by all of them more
/// than chance and the limit, and of two blocks the mean of each more than the limit.
pub(crate) fn over_blocks(is_closed: bool, blocks: &[&[Slice]]) -> Option<UnslicedCause> {
    let all: Vec<Slice> = blocks.concat();
    let slower_at_last = |slices: &[Slice]| match is_closed {
        true => slower_at_last(slices, SLOW_AFTER_IDLING, HalfCount::mean_service_us),
        false => slower_at_last(slices, UNSETTLED, HalfCount::mean_felt_us),
    };
    let slow = |slices: &[Slice]| slow_after_idling(is_closed, slices);
    let dear = |slices: &[Slice]| dear_after_idling(is_closed, slices);
    let ways: [OfSlices<'_>; 3] = [&slow, &dear, &slower_at_last];
    let shown = |way: &OfSlices<'_>| {
        // Of few slices so often that they are enough for the mean to be asked.
        let shows = |slices: &&&[Slice]| way(&[**slices; HALVES_SLICES].concat()).is_some();
        way(&all).filter(|_| blocks.iter().filter(shows).count() > 1)
    };
    ways.iter().find_map(shown)
}

/// What [`over_blocks`] needs of a launch; nothing of one that has enough to show it alone.
pub(crate) fn too_few_alone(observed: Option<&Observation>, slices: &[Slice]) -> Vec<Slice> {
    let all: Vec<&Slice> = measured(slices).collect();
    let by_clock = observed.is_some_and(|seen| seen.by_clock);
    // What each reply took is of no use here, and is large.
    let lean = |slice: &&Slice| Slice {
        felt: None,
        prelude: slice.prelude.clone().filter(|_| by_clock).map(|prelude| Prelude { felt: None, ..prelude }),
        ..(**slice).clone()
    };
    if all.len() < HALVES_SLICES { all.iter().map(lean).collect() } else { Vec::new() }
}

/// Fewer replies came while it was measured than requests came due, by more than a small change and more than chance at the edges
/// of the slices. In the steady state as many are in flight at the end of a slice as at its begin.
fn falls_behind(load: &Measurement, slices: &[Slice]) -> Option<UnslicedCause> {
    let books = &load.accounting;
    let waiting = books.not_sent.get(&NotSent::WaitingAtEnd).copied().unwrap_or(0);
    // What failed has no reply, and what the generator itself did not send says nothing of the server.
    let due = (books.sent + waiting).saturating_sub(books.failed_total());
    let replies = load.in_window.completed;
    let short = due.saturating_sub(replies) as f64;
    let in_flight = load.residence.in_flight_s / load.window_s;
    let by_chance = EDGES_BY_CHANCE * (2.0 * measured(slices).count() as f64 * in_flight).sqrt();
    (short > FALLS_BEHIND * due as f64 && short > by_chance).then_some(UnslicedCause::FallsBehind { due, replies })
}

/// Requests took longer in the second halves of the slices than in the first. Of an open load from when they were due: where few
/// connections are the queue, what is sent takes no longer.
fn slower_at_last(slices: &[Slice], limit: f64, mean_us: fn(&HalfCount) -> Option<f64>) -> Option<UnslicedCause> {
    let (mean, slices) = longer(slices, limit, |slice| first_to_second(slice, mean_us).map(|log| -log))?;
    Some(UnslicedCause::Unsettled { slower: mean, slices })
}

/// The server is slower in the first halves of its slices than in the second. Service times, for the number of replies also
/// depends on where bursts of them fall, and is that of the schedule under an open load. Where neighbours used CPUs in its slices it
/// may have been slow for them: its launch alone tells.
pub(super) fn slow_after_idling(is_closed: bool, slices: &[Slice]) -> Option<UnslicedCause> {
    let limit = if is_closed { SLOW_AFTER_IDLING } else { SLOW_AFTER_IDLING_OPEN };
    let (slower, count) = longer(slices, limit, |slice| first_to_second(slice, HalfCount::mean_service_us))?;
    let neighbours_cpus = neighbours_cpus(slices).filter(|cpus| *cpus > SPILL);
    Some(UnslicedCause::SlowAfterIdling { slower, slices: count, neighbours_cpus })
}

/// Requests cost much more CPU when the server is woken than in the slice that follows: what it then finds to do (a cache or a token
/// that has run out) may go on in its slice, where it would be done far more often than alone.
pub(super) fn dear_after_idling(is_closed: bool, slices: &[Slice]) -> Option<UnslicedCause> {
    let limit = if is_closed { DEAR_AFTER_IDLING } else { DEAR_AFTER_IDLING_OPEN };
    let woken = |slice: &Slice| {
        let prelude = slice.prelude.as_ref()?;
        let ratio = (prelude.cpu_s / prelude.replies as f64) / (slice.cpu_s / slice.replies as f64);
        Some(ratio.ln()).filter(|log| log.is_finite())
    };
    let (dearer, slices) = longer(slices, limit, woken)?;
    Some(UnslicedCause::DearAfterIdling { dearer, slices })
}

/// By what share one part of the slices is slower, or dearer, than another, and how many slices that is the mean of, where it is more
/// than chance and this limit. None of too few slices that tell, as in older records.
fn longer(slices: &[Slice], limit: f64, log_ratio: impl Fn(&Slice) -> Option<f64>) -> Option<(f64, usize)> {
    let slower: Vec<f64> = measured(slices).filter_map(log_ratio).collect();
    let bounded: Vec<f64> = slower.iter().map(|log| log.clamp(-HALVES_MOST.ln(), HALVES_MOST.ln())).collect();
    let shown = t_interval_at(&bounded, HALVES_CONFIDENCE)?;
    let is_slow = shown.low > 0.0 && shown.estimate > limit.ln_1p() && slower.len() >= HALVES_SLICES;
    is_slow.then(|| mean(&slower)).flatten().map(|mean| (mean.exp_m1(), slower.len()))
}

/// Logarithm of the mean time of the first half over that of the second. A half without a reply counts with its length, which is the
/// least that the next one took.
fn first_to_second(slice: &Slice, mean_us: fn(&HalfCount) -> Option<f64>) -> Option<f64> {
    let took_us = |half: &HalfCount| mean_us(half).unwrap_or(slice.window_s * 1e6 / 2.0);
    let [first, second] = slice.halves.as_ref()?.each_ref().map(took_us);
    (first > 0.0 && second > 0.0).then(|| (first / second).ln())
}
