//! What targets used of a CPU while others had their slices: it may have cost those, and may be no part of what requests cost.

use model::{Metric, Slice};

use super::{Range, noise};
use crate::launch::Launch;
use crate::marks;
use crate::put_off::PutOff;
use crate::slices;
use crate::statistics::mean;
use crate::thresholds::{
    NEVER_DONE, SPILL, TOUCHED_PART, WAITING_OPEN, WAITING_RATIO, WAITING_RATIO_OPEN, WAKING, WAKING_ALIKE,
    WAKING_APART,
};

/// What a figure of a launch of which less is better could be without what targets used of a CPU in slices of others, as a share of
/// what was seen: without its neighbours in its own slices, and with what it did itself in theirs done in its own.
pub(super) fn range(launch: &Launch, of: (Metric, f64), is_closed: bool) -> Range {
    beside_neighbours(launch, of, is_closed).times(put_off(launch, of, is_closed))
}

/// Without its neighbours.
fn beside_neighbours(launch: &Launch, (metric, value): (Metric, f64), is_closed: bool) -> Range {
    match &launch.rounds {
        Some(rounds) if suffers(metric) && is_tail(metric, is_closed) => {
            let neighbours_s = |slice: &Slice| slice.neighbours_cpu_s.unwrap_or(rounds.spill * slice.length_s);
            Range { low: (1.0 - held_up_us(launch, metric, neighbours_s) / value).max(0.0), high: 1.0 }
        }
        Some(rounds) if suffers(metric) && rounds.spill > 0.0 => {
            // As others than targets would have cost it.
            let most = noise::beside(launch, metric, rounds.spill).map_or(f64::INFINITY, f64::exp);
            let done = done_by_neighbours(launch, rounds.spill);
            let high = match metric {
                Metric::CpuPerRequest if done > SPILL => most.max(1.0 + done),
                _ if noise::goes_both_ways(metric) => most,
                _ => 1.0,
            };
            Range { low: 1.0 / most, high }
        }
        _ => Range::exactly(1.0),
    }
}

/// What neighbours used of a CPU in its slices, for each second that it used itself: they may have done its work, as who shares a process
/// with it does, or who is asked by it.
fn done_by_neighbours(launch: &Launch, spill: f64) -> f64 {
    let own_s = sum(launch, |slice| slice.cpu_s);
    let neighbours_s = sum(launch, |slice| slice.neighbours_cpu_s.unwrap_or(spill * slice.length_s));
    if own_s > 0.0 { neighbours_s / own_s } else { 0.0 }
}

/// With what it put off. What a target does in slices of others its requests may have left behind: alone it would do that between
/// them. Or it does so whether it is asked or not, and then did it that the more, the more others it waited for. What requests cost
/// has all of it, and may be without; of what they take it has nothing. Who was busy for much of that time may have had more to do.
pub(crate) fn put_off(launch: &Launch, (metric, value): (Metric, f64), is_closed: bool) -> Range {
    let is_done = slices::cpus_while_idle(&launch.record.slices) <= NEVER_DONE;
    match metric {
        Metric::CpuPerRequest => {
            Range { low: 1.0 / (1.0 + share_put_off(launch)), high: if is_done { 1.0 } else { f64::INFINITY } }
        }
        metric if suffers(metric) && metric != Metric::GcPause && !is_done => Range { low: 1.0, high: f64::INFINITY },
        _ => with_this_in_its_slices(launch, (metric, value), is_closed, Slice::put_off_s),
    }
}

/// What a figure of which less is better could be, as a share of what was seen, had the target done under load what it put off.
pub(super) fn with_all_done((metric, value): (Metric, f64), is_closed: bool, put_off: PutOff) -> Range {
    let high = match metric {
        Metric::CpuPerRequest => put_off.most_cpu(),
        Metric::GcPause => 1.0,
        metric if !suffers(metric) => 1.0,
        metric if is_tail(metric, is_closed) => put_off.most_of_tail(metric, value),
        _ => put_off.most_time(),
    };
    Range { low: 1.0, high }
}

/// With what waking it took beyond what those requests cost in its slices, which counts nowhere. What it does because it idled it
/// would not do alone; but what recurs by the clock, and then waits for the next request, falls into that time, too, and of a period
/// between a slice and a turn never into a slice.
///
/// Its requests may have waited for it without a CPU being used. Who renews in each prelude does so no more often than once in a slice
/// and its prelude: of a quantile all of these requests are taken in; and of a closed load, whose connections wait all the
/// time, a mean and a rate have all that was waited.
///
/// `apart` is how much more waking took this target than another of the same turns, where two are compared.
pub(super) fn waking(launch: &Launch, of: (Metric, f64), is_closed: bool, apart: Option<Apart>) -> Range {
    let waited = match of.0 {
        // What is waited for without a CPU costs none.
        Metric::CpuPerRequest | Metric::GcPause => 1.0,
        metric if metric.quantile().is_some() => launch.woken.as_ref().map_or(1.0, |woken| woken.ratio(metric)),
        metric if suffers(metric) && (is_closed || metric == Metric::Mean) => {
            1.0 + waiting_in_doubt(launch, is_closed, apart)
        }
        _ => 1.0,
    };
    let used = match of.0 {
        Metric::CpuPerRequest => Range { low: 1.0, high: 1.0 + waking_in_doubt(launch, apart) },
        _ => {
            let (all, excess_s) = (share_of_waking(launch), excess_s(launch));
            let part = if all > 0.0 { waking_in_doubt(launch, apart) / all } else { 0.0 };
            with_this_in_its_slices(launch, of, is_closed, |slice| part * excess_s(slice))
        }
    };
    // What used a CPU may have kept nobody waiting, and what was waited for may have used none.
    used.times(Range { low: 1.0, high: waited.max(1.0) })
}

/// Whether waking a target took more than threads and caches take that wake, as far as the metric goes.
pub(super) fn is_woken_at_a_price(launch: &Launch, metric: Metric, is_closed: bool, apart: Option<Apart>) -> bool {
    let ratio = if is_closed { WAITING_RATIO } else { WAITING_RATIO_OPEN };
    let is_longer = || launch.woken.as_ref().is_some_and(|woken| woken.ratio(metric) > ratio);
    let has_waited = || waiting_in_doubt(launch, is_closed, apart) > WAKING_APART || is_longer();
    let is_much = metric == Metric::CpuPerRequest || share_of_waking(launch) > WAKING;
    is_much && waking_in_doubt(launch, apart) > WAKING_APART || metric != Metric::CpuPerRequest && has_waited()
}

/// What of its CPU is in doubt because of what waking it took, as a share. Of two that are compared it is what it took more than the other, for a
/// ratio of the two has that much in it, unless it took one of them more than caches ever did; else all of it, where it is much.
fn waking_in_doubt(launch: &Launch, apart: Option<Apart>) -> f64 {
    let share = share_of_waking(launch);
    let all = if share > WAKING { share } else { 0.0 };
    apart.and_then(|apart| apart.cpu.in_doubt()).unwrap_or(all)
}

/// What its requests may have waited because of what waking it took, as a share, by the same rules; nothing where that is little.
fn waiting_in_doubt(launch: &Launch, is_closed: bool, apart: Option<Apart>) -> f64 {
    let share = share_of_waiting(launch);
    if share <= if is_closed { WAKING } else { WAITING_OPEN } {
        return 0.0;
    }
    apart.and_then(|apart| apart.waiting.in_doubt()).unwrap_or(share)
}

/// What waking takes a target of two that are compared, beside the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    /// CPU, as a share of what its slices used.
    cpu: Beside,
    /// What requests waited, as a share of what all in its slices waited.
    waiting: Beside,
}

/// Shares that targets of the same turns have, as means over their launches.
#[derive(Debug, Clone, Copy)]
struct Beside {
    own: f64,
    least: f64,
    most: f64,
}

impl Apart {
    /// Of the launches of a target and of all in the same turns, its own among them.
    pub(super) fn of(own: &[&Launch], all: &[Vec<&Launch>]) -> Option<Self> {
        let beside = |share: fn(&Launch) -> f64| {
            // What scatters around nothing is nothing.
            let of = |launches: &[&Launch]| {
                mean(&launches.iter().map(|it| share(it)).collect::<Vec<_>>()).map(|mean| mean.max(0.0))
            };
            let shares: Vec<f64> = all.iter().map(|launches| of(launches)).collect::<Option<_>>()?;
            let (least, most) = (shares.iter().copied().reduce(f64::min)?, shares.iter().copied().reduce(f64::max)?);
            Some(Beside { own: of(own)?, least, most })
        };
        Some(Self { cpu: beside(waking_share)?, waiting: beside(waiting_share)? })
    }
}

impl Beside {
    /// By how much the target's own is above the least; none where caches never took one of them as much.
    fn in_doubt(self) -> Option<f64> {
        (self.most <= WAKING_ALIKE).then_some(self.own - self.least)
    }
}

/// How long requests that woke a target waited beyond what others did, as a share of what all in its slices waited.
pub(crate) fn share_of_waiting(launch: &Launch) -> f64 {
    waiting_share(launch).max(0.0)
}

/// CPU seconds that waking a target took beyond what those requests cost in its slices, for each second that it used in these.
pub(crate) fn share_of_waking(launch: &Launch) -> f64 {
    waking_share(launch).max(0.0)
}

/// The same; below nothing where they waited less.
fn waiting_share(launch: &Launch) -> f64 {
    launch.woken.as_ref().map_or(0.0, |woken| woken.waited_share)
}

/// The same; below nothing where they cost less.
fn waking_share(launch: &Launch) -> f64 {
    let own_s = sum(launch, |slice| slice.cpu_s);
    if own_s > 0.0 { sum(launch, excess_s(launch)) / own_s } else { 0.0 }
}

/// The same of one slice, in seconds; below nothing where they cost less.
fn excess_s(launch: &Launch) -> impl Fn(&Slice) -> f64 + use<> {
    let replies = sum(launch, |slice| slice.replies as f64);
    let each_s = if replies > 0.0 { sum(launch, |slice| slice.cpu_s) / replies } else { 0.0 };
    move |slice| slice.prelude.as_ref().map_or(0.0, |prelude| prelude.cpu_s - prelude.replies as f64 * each_s)
}

/// What a figure that takes time and of which less is better would be, as a share of what was seen, had a target done in its slices
/// what took it so many seconds of CPU outside of each.
fn with_this_in_its_slices(
    launch: &Launch,
    (metric, value): (Metric, f64),
    is_closed: bool,
    outside_s: impl Fn(&Slice) -> f64,
) -> Range {
    match metric {
        // It collects when it does, and is not asked by whom.
        Metric::GcPause => Range::exactly(1.0),
        _ if !suffers(metric) => Range::exactly(1.0),
        _ if is_tail(metric, is_closed) => {
            Range { low: 1.0, high: 1.0 + held_up_us(launch, metric, outside_s) / value }
        }
        // All requests wait for all of it, at most.
        _ => {
            let length_s = sum(launch, |slice| slice.length_s);
            let outside_s = sum(launch, outside_s).max(0.0);
            Range { low: 1.0, high: if length_s > 0.0 { 1.0 + outside_s / length_s } else { 1.0 } }
        }
    }
}

fn suffers(metric: Metric) -> bool {
    metric.is_timed() && !metric.is_before_load()
}

/// Whether a single hold-up makes the figure.
fn is_tail(metric: Metric, is_closed: bool) -> bool {
    metric.is_latency() && !noise::is_bounded(metric, is_closed)
}

/// For how long, in microseconds, more requests than a quantile leaves above itself may have been held up by what was used of a CPU in
/// or after each slice. Nobody knows when, so that one request may have waited for all of it, and others for none; but none for more.
fn held_up_us(launch: &Launch, metric: Metric, used_s: impl Fn(&Slice) -> f64) -> f64 {
    let slices = || slices::measured(&launch.record.slices);
    let mut used: Vec<f64> = slices().map(|slice| used_s(slice).max(0.0)).collect();
    used.sort_by(|a, b| b.total_cmp(a));
    let mut may_be_held_up_s = TOUCHED_PART * marks::share_above(metric) * sum(launch, |slice| slice.length_s);
    let is_too_much = |used_s: &f64| {
        may_be_held_up_s -= used_s;
        may_be_held_up_s < 0.0
    };
    1e6 * used.into_iter().find(is_too_much).unwrap_or(0.0)
}

/// How much CPU a target used in slices of others for each second that it used in its own.
pub(crate) fn share_put_off(launch: &Launch) -> f64 {
    let (own_s, idle_s) = (sum(launch, |slice| slice.cpu_s), sum(launch, Slice::put_off_s));
    if own_s > 0.0 { idle_s / own_s } else { 0.0 }
}

fn sum(launch: &Launch, of: impl Fn(&Slice) -> f64) -> f64 {
    slices::measured(&launch.record.slices).map(of).sum()
}
