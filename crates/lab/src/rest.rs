//! What a target does once its load is over and nobody asks it anything: it may be work that it put off until then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::MonotonicClock;
use model::{Clock, Plan, Rest, RestStep, Sample, TrialRecord, TrialSpec};
use observe::{ProcSource, Sampler};

use crate::deadline::look_until;
use crate::launch::Running;

/// How often a target is looked at meanwhile.
const STEP: Duration = Duration::from_millis(50);

/// How long the targets of these trials, which rotate or not, are left alone after each of their loads: until each was once watched to the
/// end after such a one, for each does in all of these the same.
pub(crate) fn length(plan: &Plan, specs: &[TrialSpec], rotate: bool, done: &[TrialRecord]) -> Duration {
    let Some(asked) = &plan.comparison else { return Duration::ZERO };
    let asked = Duration::from_nanos(asked.rest_ns);
    let rested = |trial: &&TrialRecord| {
        let rest = trial.observation.as_ref().and_then(|seen| seen.rest.as_ref());
        trial.slices.is_empty() != rotate && rest.is_some_and(|rest| rest.is_whole(asked.as_secs_f64()))
    };
    let is_known = |spec: &TrialSpec| done.iter().filter(rested).any(|trial| trial.cell == spec.cell);
    if specs.iter().any(|spec| spec.block > 0 && !is_known(spec)) { asked } else { Duration::ZERO }
}

/// Leaves all targets alone for so long, and has them looked at now and then; false where that was cut short.
pub(crate) fn leave_alone(length: Duration, stop: &AtomicBool, mut look: impl FnMut()) -> bool {
    let end_ns = MonotonicClock.now_ns() + length.as_nanos() as u64;
    let mut is_over = || {
        look();
        (MonotonicClock.now_ns() >= end_ns).then_some(())
    };
    look_until(STEP, &mut is_over, || !stop.load(Ordering::Relaxed)).is_some()
}

/// Looks at a target at rest, by a sampler that knows nothing of its load: who ended under it hides nothing.
pub(crate) struct Watcher {
    sampler: Sampler,
    looks: Looks,
}

impl Watcher {
    /// Of one that runs, from now on; none where nobody can look at it.
    pub(crate) fn of(running: &dyn Running) -> Option<Self> {
        let sampler = Sampler::new(running.family()?, None, &ProcSource::default(), Arc::new(MonotonicClock));
        let mut watcher = Self { sampler: sampler.without_memory(), looks: Looks::default() };
        watcher.look();
        Some(watcher)
    }

    pub(crate) fn look(&mut self) {
        self.looks.add(self.sampler.sample());
    }

    /// Leaves it alone for so long; false where that was cut short.
    pub(crate) fn leave_alone(&mut self, length: Duration, stop: &AtomicBool) -> bool {
        leave_alone(length, stop, || self.look())
    }

    /// What was seen; `ended` is whether the target has ended meanwhile.
    pub(crate) fn end(self, ended: bool) -> Rest {
        Rest { ended, ..self.looks.seen }
    }
}

#[derive(Default)]
struct Looks {
    last: Option<Sample>,
    seen: Rest,
}

impl Looks {
    fn add(&mut self, now: Sample) {
        let cpu_s = |sample: &Sample| sample.cpu_user_s + sample.cpu_system_s;
        if let Some(before) = self.last.replace(now) {
            let length_s = now.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
            // Whose child a process was that came and went between two looks nobody knows.
            self.seen.unwaited |= now.unwaited || now.ignores_children && now.started != before.started;
            // What ended and was waited for is credited in whole ticks.
            self.seen.steps.push(RestStep { length_s, cpu_s: (cpu_s(&now) - cpu_s(&before)).max(0.0) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(looks: impl IntoIterator<Item = Sample>) -> Rest {
        let mut all = Looks::default();
        looks.into_iter().for_each(|look| all.add(look));
        all.seen
    }

    fn look(at_ms: u64, cpu_s: f64) -> Sample {
        Sample { at_ns: at_ms * 1_000_000, cpu_user_s: cpu_s, processes: 1, started: Some(7), ..Sample::default() }
    }

    #[test]
    fn what_was_used_is_told_from_look_to_look() {
        // The last look lacks what a process used that nobody waited for.
        let rest = seen([look(0, 5.0), look(50, 5.02), look(110, 5.02), look(160, 4.0)]);
        let steps: Vec<(f64, f64)> = rest.steps.iter().map(|step| (step.length_s, step.cpu_s)).collect();
        assert_eq!(steps.len(), 3);
        assert!((steps[0].1 - 0.02).abs() < 1e-9 && steps[0].0 == 0.05 && steps[1] == (0.06, 0.0) && steps[2].1 == 0.0);
        assert!(!rest.unwaited);
    }

    #[test]
    fn children_that_nobody_waits_for_are_told() {
        let ignoring = |at_ms, started| Sample { ignores_children: true, started: Some(started), ..look(at_ms, 1.0) };
        assert!(seen([ignoring(0, 7), ignoring(50, 8)]).unwaited, "it may have come and gone in between");
        assert!(!seen([ignoring(0, 7), ignoring(50, 7)]).unwaited, "none came");
        assert!(seen([look(0, 1.0), Sample { unwaited: true, ..look(50, 1.0) }]).unwaited);
        assert!(!seen([look(0, 1.0), Sample { started: Some(8), ..look(50, 1.0) }]).unwaited, "it waits for its own");
    }
}
