//! What targets used of a CPU while others had their slices: it may have cost those, and may be no part of what requests cost.

use model::{Metric, Slice};

use super::{Range, noise};
use crate::launch::Launch;
use crate::marks;
use crate::slices;
use crate::thresholds::{PUT_OFF, SPILL, TOUCHED_PART};

/// What a figure of a launch could be without what targets used of a CPU in slices of others, as a share of what was seen: its
/// neighbours in its own slices, and it in theirs.
pub(super) fn range(launch: &Launch, (metric, value): (Metric, f64), is_closed: bool) -> Range {
    let is_spilt_on = metric.is_timed() && !metric.is_before_load();
    let neighbours = match &launch.rounds {
        Some(rounds) if is_spilt_on && metric.is_latency() && !noise::is_bounded(metric, is_closed) => {
            let held_up_us = 1e6 * held_up_s(launch, rounds.spill, TOUCHED_PART * marks::share_above(metric));
            Range { low: (1.0 - held_up_us / value).max(0.0), high: 1.0 }
        }
        Some(rounds) if is_spilt_on && rounds.spill > SPILL => {
            // As others than targets would have cost it.
            let most = noise::beside(launch, metric, rounds.spill).map_or(f64::INFINITY, f64::exp);
            Range { low: 1.0 / most, high: if noise::goes_both_ways(metric) { most } else { 1.0 } }
        }
        _ => Range::exactly(1.0),
    };
    neighbours.times(without_what_was_put_off(launch, metric))
}

/// For how long, in seconds, neighbours may have held up more than this share of the requests. Nobody knows when in a slice they
/// used a CPU, so that one request may have waited for all of it, and others for none; but none for more.
fn held_up_s(launch: &Launch, evenly: f64, share: f64) -> f64 {
    let slices = || slices::measured(&launch.record.slices);
    let used_s = |slice: &Slice| slice.neighbours_cpu_s.unwrap_or(evenly * slice.length_s);
    let mut used: Vec<f64> = slices().map(used_s).collect();
    used.sort_by(|a, b| b.total_cmp(a));
    let mut may_be_held_up_s = share * slices().map(|slice| slice.length_s).sum::<f64>();
    let is_too_much = |used_s: &f64| {
        may_be_held_up_s -= used_s;
        may_be_held_up_s < 0.0
    };
    used.into_iter().find(is_too_much).unwrap_or(0.0)
}

/// Without what it used itself in slices of others: its requests may have left it behind, and then they cost it, or it may do so
/// whether it is asked or not, and then it did that the more, the more others it waited for.
fn without_what_was_put_off(launch: &Launch, metric: Metric) -> Range {
    let put_off = put_off(launch).filter(|_| metric == Metric::CpuPerRequest);
    Range { low: 1.0 / (1.0 + put_off.unwrap_or(0.0)), high: 1.0 }
}

/// How much CPU a target used in slices of others for each second that it used in its own, where that is much.
pub(crate) fn put_off(launch: &Launch) -> Option<f64> {
    let sum = |of: fn(&Slice) -> f64| slices::measured(&launch.record.slices).map(of).sum::<f64>();
    let (own_s, idle_s) = (sum(|slice| slice.cpu_s), sum(|slice| slice.idle_cpu_s));
    (idle_s > PUT_OFF * own_s).then(|| idle_s / own_s)
}
