//! What the slices of one launch come to: a value, a mark, an invariant, or that its load cannot be cut into slices.

mod felt;

use model::{
    Breach, HalfCount, Invariant, InvariantCheck, MarkCause, MarkNote, Measurement, Metric, Slice, SliceFigure,
    UnslicedCause,
};

use crate::asked::Asked;
use crate::bounds;
use crate::statistics::{mean, t_interval_at};
use crate::thresholds::{
    SLICE_DRAIN_S, SLICE_REPLIES, SLOW_AFTER_IDLING, SLOW_AFTER_IDLING_CONFIDENCE, SLOW_AFTER_IDLING_MOST,
    SLOW_AFTER_IDLING_OPEN, SLOW_AFTER_IDLING_SLICES, SPILL,
};

pub(crate) use felt::felt;

/// Those that count: all but the warm-up.
pub(crate) fn measured(slices: &[Slice]) -> impl Iterator<Item = &Slice> {
    slices.iter().filter(|slice| slice.round > 0)
}

/// Whether the counts of slices tell a metric.
pub(crate) fn count(metric: Metric) -> bool {
    matches!(metric, Metric::Throughput | Metric::ElapsedPerRequest | Metric::CpuPerRequest)
}

/// What counts of some slices of a launch come to: of all their requests, for a mean over slices would take a burst for a slice among
/// many, and whoever does much at once for frugal. None where they do not tell this metric.
///
/// The CPU of a slice is all that the target used from its begin to that of its next one: what it put off is its own. It is held
/// against all replies of that time, for only at the edges is nothing in flight.
pub(crate) fn value<'a>(metric: Metric, slices: impl Iterator<Item = &'a Slice>) -> Option<f64> {
    let parts = |slice: &Slice| match metric {
        Metric::Throughput => Some((slice.ok as f64, slice.window_s)),
        Metric::ElapsedPerRequest => Some((slice.window_s * 1e6, slice.completed as f64)),
        Metric::CpuPerRequest => Some(((slice.cpu_s + slice.idle_cpu_s) * 1e6, slice.replies as f64)),
        _ => None,
    };
    let (mut part, mut whole) = (0.0, 0.0);
    for slice in slices {
        let (of_slice, by) = parts(slice)?;
        part += of_slice;
        whole += by;
    }
    (whole > 0.0).then(|| part / whole)
}

/// Garbage collections from the begin of each slice to that of the target's next; none where its runtime does not tell.
pub(crate) fn collections(slices: &[Slice]) -> Option<f64> {
    measured(slices).map(|slice| slice.gc_count).sum::<Option<f64>>().filter(|_| measured(slices).next().is_some())
}

/// How many CPUs a target used on average while others had their slices.
pub(crate) fn cpus_while_idle(slices: &[Slice]) -> f64 {
    let (cpu_s, idle_s) =
        measured(slices).fold((0.0, 0.0), |(cpu_s, idle_s), slice| (cpu_s + slice.idle_cpu_s, idle_s + slice.idle_s));
    if idle_s > 0.0 { cpu_s / idle_s } else { 0.0 }
}

/// How many CPUs the other targets used on average in these slices; none where one of them does not tell.
pub(crate) fn neighbours_cpus(slices: &[Slice]) -> Option<f64> {
    let cpu_s = measured(slices).map(|slice| slice.neighbours_cpu_s).sum::<Option<f64>>()?;
    let length_s: f64 = measured(slices).map(|slice| slice.length_s).sum();
    (length_s > 0.0).then(|| cpu_s / length_s)
}

/// Share (0 to 1) of all CPU time that the hypervisor and processes that are none of ours took, over these slices.
pub(crate) fn taken<'a>(slices: impl Iterator<Item = &'a Slice>) -> f64 {
    let (taken_s, length_s) = slices.fold((0.0, 0.0), |(taken_s, length_s), slice| {
        (taken_s + (slice.steal_share + slice.others_share) * slice.length_s, length_s + slice.length_s)
    });
    if length_s > 0.0 { taken_s / length_s } else { 0.0 }
}

/// The target used much CPU in slices of others.
pub(crate) fn spill(slices: &[Slice]) -> Option<MarkNote> {
    let cpus = cpus_while_idle(slices);
    (cpus > SPILL).then(|| MarkNote::new(MarkCause::Spill { cpus }))
}

/// What keeps the load from being cut into slices, as far as only these can tell: replies that outlast their end, too few in one
/// of them, connections that do not live from one to the next, or a server that is slow after it idled.
pub(crate) fn unsliced(asked: &Asked<'_>, load: &Measurement, slices: &[Slice]) -> Option<UnslicedCause> {
    let p99_us = load.latency_us.service.as_ref().and_then(|service| service.p99);
    let not_drained = model::sum(slices.iter().map(|slice| slice.not_drained));
    let waited_us = SLICE_DRAIN_S * 1e6;
    let too_few = measured(slices).find(|slice| slice.completed < SLICE_REPLIES);
    let (idle, said) = (load.connections.closed_idle, load.connections.closed_by_reply);
    match too_few {
        _ if slices.is_empty() => None,
        _ if not_drained > 0 || p99_us.is_some_and(|p99_us| p99_us > waited_us) => {
            Some(UnslicedCause::SlowDrain { p99_us, waited_us, not_drained })
        }
        _ if idle > 0 || said > 0 => Some(UnslicedCause::ConnectionsEnd { idle, said }),
        Some(slice) => {
            Some(UnslicedCause::FewReplies { round: slice.round, replies: slice.completed, needed: SLICE_REPLIES })
        }
        None => slow_after_idling(asked.is_closed(), slices),
    }
}

/// The server is slower in the first halves of its slices than in the second, by more than chance and a small change. None of too
/// few slices, and of records that do not tell halves.
fn slow_after_idling(is_closed: bool, slices: &[Slice]) -> Option<UnslicedCause> {
    let slower: Vec<f64> = measured(slices).map(first_half_to_second).collect::<Option<_>>()?;
    let (least, most) = (-SLOW_AFTER_IDLING_MOST.ln(), SLOW_AFTER_IDLING_MOST.ln());
    let bounded: Vec<f64> = slower.iter().map(|log| log.clamp(least, most)).collect();
    let shown = t_interval_at(&bounded, SLOW_AFTER_IDLING_CONFIDENCE)?;
    let limit = if is_closed { SLOW_AFTER_IDLING } else { SLOW_AFTER_IDLING_OPEN };
    let is_slow = shown.low > 0.0 && shown.estimate > limit.ln_1p();
    (is_slow && slower.len() >= SLOW_AFTER_IDLING_SLICES)
        .then(|| mean(&slower))
        .flatten()
        .map(|mean| UnslicedCause::SlowAfterIdling { slower: mean.exp_m1(), slices: slower.len() })
}

/// Logarithm of the mean service time of the first half over that of the second. Service times, for the number of replies also
/// depends on where bursts of them fall, and is that of the schedule under an open load. A half without a reply counts with its
/// length, which is the least that the next one took.
fn first_half_to_second(slice: &Slice) -> Option<f64> {
    let took_us = |half: &HalfCount| half.mean_service_us().unwrap_or(slice.window_s * 1e6 / 2.0);
    let [first, second] = slice.halves.as_ref()?.each_ref().map(took_us);
    (first > 0.0 && second > 0.0).then(|| (first / second).ln())
}

/// The slices come to what was measured, and none has more than it can have. None where it was not in slices.
pub(crate) fn add_up(asked: &Asked<'_>, load: &Measurement, slices: &[Slice]) -> Option<InvariantCheck> {
    measured(slices).next()?;
    let breach = sums(load, slices).or_else(|| measured(slices).find_map(|slice| too_much(asked, slice)));
    Some(InvariantCheck::new(Invariant::Slices, breach))
}

fn sums(load: &Measurement, slices: &[Slice]) -> Option<Breach> {
    let sum = |of: fn(&Slice) -> f64| measured(slices).map(of).sum::<f64>();
    let window = &load.in_window;
    let sides = [
        (SliceFigure::Completed, sum(|slice| slice.completed as f64), window.completed as f64),
        (SliceFigure::Ok, sum(|slice| slice.ok as f64), window.ok as f64),
        (SliceFigure::Window, sum(|slice| slice.window_s), load.window_s),
    ];
    // Seconds are sums of rounded figures.
    let differ = |a: f64, b: f64| (a - b).abs() > 1e-6 * a.abs().max(b.abs());
    let broken = sides.into_iter().find(|(_, slices, measured)| differ(*slices, *measured));
    broken.map(|(of, slices, measured)| Breach::SliceSum { of, slices, measured })
}

fn too_much(asked: &Asked<'_>, slice: &Slice) -> Option<Breach> {
    let allowed = || bounds::most_completions(asked.load.slots(), slice.window_s, asked.delay_s());
    let most = asked.ceiling_per_s().map_or(f64::INFINITY, |_| allowed());
    let parts = [
        (SliceFigure::Ok, slice.ok as f64, slice.completed as f64),
        (SliceFigure::Completed, slice.completed as f64, (slice.replies as f64).min(most)),
        (SliceFigure::Window, slice.window_s, slice.length_s * (1.0 + 1e-9)),
    ];
    let broken = parts.into_iter().find(|(_, part, whole)| part > whole);
    broken.map(|(of, part, whole)| Breach::SlicePart { round: slice.round, of, part, whole })
}

#[cfg(test)]
mod tests;
