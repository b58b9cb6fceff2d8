//! What a target does once its load is over and nobody asks it anything: it may be work that it put off until then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, Plan, Rest, Sample, TrialSpec};
use observe::{ProcSource, Sampler};

use crate::deadline::look_until;
use crate::launch::Running;

/// How often it is seen meanwhile whether it is to end.
const STEP: Duration = Duration::from_millis(50);

/// How long the target of a trial is left alone after it: in the first block, for so does one target as the other, and in each the same.
pub(crate) fn length(plan: &Plan, spec: &TrialSpec) -> Duration {
    let asked = plan.comparison.as_ref().filter(|_| spec.block == 1);
    asked.map_or(Duration::ZERO, |asked| Duration::from_nanos(asked.rest_ns))
}

/// Leaves all targets alone for so long; false where that was cut short.
pub(crate) fn leave_alone(length: Duration, stop: &AtomicBool) -> bool {
    let end_ns = MonotonicClock.now_ns() + length.as_nanos() as u64;
    let is_over = || (MonotonicClock.now_ns() >= end_ns).then_some(());
    look_until(STEP, is_over, || !stop.load(Ordering::Relaxed)).is_some()
}

/// What was used between two looks at one.
pub(crate) fn between(begin: &Sample, end: &Sample) -> Rest {
    let cpu_s = |sample: &Sample| sample.cpu_user_s + sample.cpu_system_s;
    Rest {
        length_s: end.at_ns.saturating_sub(begin.at_ns) as f64 / 1e9,
        // What ended and was waited for is credited in whole ticks.
        cpu_s: (cpu_s(end) - cpu_s(begin)).max(0.0),
    }
}

/// Leaves one alone that had its launch to itself, and watches it; none of one that ends, or of which nobody sees anything.
pub(crate) fn watch(running: &mut dyn Running, length: Duration, stop: &AtomicBool) -> Option<Rest> {
    let family = running.family()?;
    let mut sampler = Sampler::new(family, None, &ProcSource::default(), Arc::new(MonotonicClock));
    let begin = sampler.sample();
    let is_whole = leave_alone(length, stop);
    let end = sampler.sample();
    (is_whole && running.ended().is_none()).then(|| between(&begin, &end))
}
