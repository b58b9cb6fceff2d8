//! What kept the machine busy during a launch, and how far from what it was the launch could have been without.

use model::{Load, Metric};

use crate::launch::Launch;
use crate::others;
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
        Metric::P90 | Metric::P99 | Metric::P999 | Metric::SwitchesPerRequest | Metric::Errors => false,
        Metric::CpuPerRequest => true,
        _ => is_closed,
    }
}

/// Whether noise may have made a metric look better as well as worse. A target that is held up finds several requests waiting
/// when it wakes, and one wake-up serves them all; any other metric of a disturbed launch could only have been better without.
pub(crate) fn goes_both_ways(metric: Metric) -> bool {
    matches!(metric, Metric::CpuPerRequest | Metric::SwitchesPerRequest)
}

/// By how much, as a logarithm, a disturbed launch could have been better, or worse where noise goes both ways: the whole disturbance was taken from the
/// target or from the generator, of whose CPUs the share s was lost, so that as much could have been done as 1 ÷ (1 − s). CPU
/// time is not wall-clock time: what is taken from a target is not charged to it.
pub(crate) fn could_be_off(launch: &Launch, metric: Metric) -> Option<f64> {
    let lost = others::most_lost(launch.record.observation.as_ref()?, launch.record.measurement.as_ref()?);
    let by_the_clock = -(1.0 - lost.min(MOST_LOST)).ln();
    Some(if metric == Metric::CpuPerRequest { by_the_clock.min(SHARED_CORE_COST.ln()) } else { by_the_clock })
}
