//! What the slices of one launch come to: a value, a mark, an invariant, or that its load cannot be cut into slices.

mod felt;
mod unsliced;

use model::{Breach, Invariant, InvariantCheck, MarkCause, MarkNote, Measurement, Metric, Slice, SliceFigure};

pub(crate) use felt::{Woken, by_latency, felt, quantiles, woken};
pub(crate) use unsliced::{over_blocks, quiet, too_few_alone, unsettled, unsliced};

use crate::asked::Asked;
use crate::bounds;
use crate::thresholds::{SLICE_DRAIN_S, SPILL};

/// Those that count: all but the warm-up.
pub(crate) fn measured(slices: &[Slice]) -> impl Iterator<Item = &Slice> {
    slices.iter().filter(|slice| slice.round > 0)
}

/// In how many windows a launch was measured: each slice has its own, a load alone has one.
pub(crate) fn windows(slices: &[Slice]) -> f64 {
    measured(slices).count().max(1) as f64
}

/// Whether a server gave no reply in a slice, and left requests without one.
fn is_silent(slice: &Slice) -> bool {
    slice.replies == 0 && slice.not_drained > 0
}

/// How many such slices there are.
pub(crate) fn silent(slices: &[Slice]) -> usize {
    measured(slices).filter(|slice| is_silent(slice)).count()
}

/// The last slices of a server that gave no reply any more, over two of them and the turns of others between them, and left requests
/// without one; none where it did. One slice alone may be a pause.
fn silent_at_the_end(slices: &[Slice]) -> Option<(Vec<&Slice>, Vec<&Slice>)> {
    let mut all: Vec<&Slice> = measured(slices).collect();
    let last = all.iter().rev().take_while(|slice| is_silent(slice)).count();
    let silent = all.split_off(all.len() - last);
    (silent.len() >= 2 && !all.is_empty()).then_some((all, silent))
}

/// The round from which it was so.
pub(crate) fn silent_from(slices: &[Slice]) -> Option<u32> {
    silent_at_the_end(slices).map(|(_, silent)| silent[0].round)
}

/// After how many seconds of its slices it was so, and how many requests were left.
pub(crate) fn fell_silent_after(slices: &[Slice]) -> Option<(f64, u64)> {
    let (before, silent) = silent_at_the_end(slices)?;
    Some((before.iter().map(|slice| slice.window_s).sum(), model::sum(silent.iter().map(|slice| slice.not_drained))))
}

/// Whether the counts of slices tell a metric.
pub(crate) fn count(metric: Metric) -> bool {
    matches!(metric, Metric::Throughput | Metric::ElapsedPerRequest | Metric::CpuPerRequest)
}

/// What counts of some slices of a launch come to: of all their requests, for a mean over slices would take a burst for a slice among
/// many, and whoever does much at once for frugal. None where they do not tell this metric.
///
/// The CPU of a slice is all that the target used over its length, and what it put off until it was loaded again: that is its own, but
/// for the part of the requests that woke it. It is held against all replies of that time, for only at the edges is nothing in flight.
pub(crate) fn value<'a>(metric: Metric, slices: impl Iterator<Item = &'a Slice>) -> Option<f64> {
    let parts = |slice: &Slice| match metric {
        Metric::Throughput => Some((slice.ok as f64, slice.window_s)),
        Metric::ElapsedPerRequest => Some((slice.window_s * 1e6, slice.completed as f64)),
        Metric::CpuPerRequest => Some(((slice.cpu_s + slice.put_off_s()) * 1e6, slice.replies as f64)),
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

/// How many replies came over the whole length of the slices, and while their target was woken, for each that was measured; 1 of what
/// was not in slices.
pub(crate) fn replies_to_measured(slices: &[Slice]) -> f64 {
    let sum = |of: fn(&Slice) -> u64| model::sum(measured(slices).map(of)) as f64;
    let completed = sum(|slice| slice.completed);
    let with_prelude = |slice: &Slice| slice.replies + slice.prelude.as_ref().map_or(0, |prelude| prelude.replies);
    if completed > 0.0 { sum(with_prelude) / completed } else { 1.0 }
}

/// Garbage collections that are known to have come within the slices; none where the runtime does not tell. One that came while the
/// target idled met no request, and of older records, and a slice after which the runtime did not answer, nobody knows when they came.
pub(crate) fn collections(slices: &[Slice]) -> Option<f64> {
    let tells = measured(slices).any(|slice| slice.gc_count.or(slice.own_gc_count).is_some());
    tells.then(|| measured(slices).filter_map(|slice| slice.own_gc_count).sum())
}

/// For how long at most, as a share of these slices, the server may have stood still in those of others: where requests were left at the
/// end of one, until its next slice.
pub(crate) fn most_outlasted(slices: &[Slice]) -> f64 {
    let (outlasted_s, length_s) = measured(slices).fold((0.0, 0.0), |(outlasted_s, length_s), slice| {
        (outlasted_s + if slice.not_drained > 0 { slice.idle_s } else { 0.0 }, length_s + slice.length_s)
    });
    if length_s > 0.0 { outlasted_s / length_s } else { 0.0 }
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

/// Requests had no whole reply when the end of a slice was no longer waited for, the warm-up's among them.
pub(crate) fn not_drained(slices: &[Slice]) -> Option<MarkNote> {
    let requests = model::sum(slices.iter().map(|slice| slice.not_drained));
    (requests > 0).then(|| MarkNote::new(MarkCause::NotDrained { requests, waited_us: SLICE_DRAIN_S * 1e6 }))
}

/// The slices come to what was measured, and none has more than it can have. None where it was not in slices.
pub(crate) fn add_up(asked: &Asked<'_>, load: &Measurement, slices: &[Slice]) -> Option<InvariantCheck> {
    measured(slices).next()?;
    let breach = sums(load, slices)
        .or_else(|| measured(slices).find_map(|slice| too_much(asked, slice)))
        .or_else(|| measured(slices).find_map(unbalanced));
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

/// What does not balance in a slice of its own: over all of them two such could hide each other. Nothing of older records.
fn unbalanced(slice: &Slice) -> Option<Breach> {
    let books = || slice.accounting.as_ref()?.imbalance().map(Breach::Imbalance);
    slice.residence.as_ref().and_then(bounds::unequal).or_else(books)
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
