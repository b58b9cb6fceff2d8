//! What kept the machine busy during a launch, and how far from what it was the launch could have been without.

use model::{Load, Metric};

use crate::launch::Launch;
use crate::others::{self, Shared};
use crate::slices;
use crate::thresholds::{MOST_LOST, SHARED_CORE_COST};

/// Whether a metric changes when something else uses the machine. A rate or a time does; so does how often a target is
/// preempted, and with a time-out slow replies become failures.
pub(crate) fn suffers(metric: Metric, load: &Load) -> bool {
    match metric {
        Metric::SwitchesPerRequest => true,
        Metric::Errors => load.timeout_ns.is_some(),
        _ => metric.is_timed(),
    }
}

/// Whether what a metric suffers from a disturbance has a bound. A single hold-up makes a tail; in an open load the
/// requests that come due meanwhile queue, which multiplies even the median's loss, while in a closed one nobody
/// asks before being answered. Nor has an open load's rate: what is served is what is due, so that its scatter says
/// nothing of the server, and what queued may time out.
pub(crate) fn is_bounded(metric: Metric, is_closed: bool) -> bool {
    match metric {
        Metric::P75 | Metric::P90 | Metric::P95 | Metric::P99 | Metric::P999 => false,
        Metric::SwitchesPerRequest | Metric::Errors => false,
        Metric::CpuPerRequest => true,
        // No load is on it yet.
        _ => is_closed || metric.is_before_load(),
    }
}

/// Whether noise may have made a metric look better as well as worse. A target that is held up finds several requests waiting
/// when it wakes, and one wake-up serves them all; any other metric of a disturbed launch could only have been better without.
pub(crate) fn goes_both_ways(metric: Metric) -> bool {
    matches!(metric, Metric::CpuPerRequest | Metric::SwitchesPerRequest)
}

/// By how much, as a logarithm, a disturbed launch could have been better, or worse where noise goes both ways. All that
/// others used may have fallen on the target or on the generator. Of the CPUs of a side a share s was taken then, or used beside
/// it, on the other threads of its cores and in its caches, so that as much could have been done as 1 ÷ (1 − s): but no more
/// than with the CPUs that the side left, and the CPU time that it used being worth as much more as it is without a
/// neighbour. CPU time is not wall-clock time: what is taken from a target is not charged to it, and only the neighbour counts.
pub(crate) fn could_be_off(launch: &Launch, metric: Metric) -> Option<f64> {
    let host = &launch.record.observation.as_ref()?.host;
    off(launch, metric, host.steal_share + host.others_share)
}

/// The same of a launch in rotation, without what fell on all that were alive with it: for what others used in its slices beyond
/// what they used in those of the launch in which that was least. Other launches are held against none.
pub(crate) fn could_be_off_alone(launch: &Launch, metric: Metric) -> Option<f64> {
    match &launch.rounds {
        Some(rounds) => {
            off(launch, metric, (slices::taken(slices::measured(&launch.record.slices)) - rounds.taken).max(0.0))
        }
        None => could_be_off(launch, metric),
    }
}

/// How much noise fell on a disturbed launch beside others like it: of those that the load went round among, which have the mark
/// together, what others took in its own slices.
pub(crate) fn fell_on(launch: &Launch) -> f64 {
    launch.rounds.as_ref().map_or(1.0, |_| slices::taken(slices::measured(&launch.record.slices)))
}

/// The same where others used so many CPUs.
pub(crate) fn beside(launch: &Launch, metric: Metric, cpus: f64) -> Option<f64> {
    let host = &launch.record.observation.as_ref()?.host;
    off(launch, metric, cpus / f64::from(host.cpus.max(1)))
}

fn off(launch: &Launch, metric: Metric, share: f64) -> Option<f64> {
    let sides = others::shared(share, launch.record.observation.as_ref()?, launch.measured()?);
    let of_side = |Shared { taken, busy }: Shared| {
        let used = if metric == Metric::CpuPerRequest { 1.0 } else { busy.min(1.0) };
        (1.0 / (1.0 - taken.min(MOST_LOST))).min(SHARED_CORE_COST / used).ln()
    };
    Some(sides.map(of_side).into_iter().fold(0.0, f64::max))
}
