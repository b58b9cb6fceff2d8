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

/// How long the targets of these trials are left alone after their loads: in the first launch of each that is recorded with it, for each does
/// in all of them the same.
pub(crate) fn length(plan: &Plan, specs: &[TrialSpec], done: &[TrialRecord]) -> Duration {
    let rested = |trial: &&TrialRecord| trial.observation.as_ref().is_some_and(|seen| seen.rest.is_some());
    let is_known = |spec: &TrialSpec| done.iter().filter(rested).any(|trial| trial.cell == spec.cell);
    let asked = plan.comparison.as_ref().filter(|_| specs.iter().any(|spec| spec.block > 0 && !is_known(spec)));
    asked.map_or(Duration::ZERO, |asked| Duration::from_nanos(asked.rest_ns))
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

/// Looks at one at rest.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    last: Option<Sample>,
    seen: Rest,
}

impl Looks {
    pub(crate) fn add(&mut self, now: Sample) {
        let cpu_s = |sample: &Sample| sample.cpu_user_s + sample.cpu_system_s;
        if let Some(before) = self.last.replace(now) {
            let length_s = now.at_ns.saturating_sub(before.at_ns) as f64 / 1e9;
            let has_children = now.processes.max(before.processes) > 1 && now.started != before.started;
            self.seen.unwaited |= now.unwaited && !before.unwaited || now.ignores_children && has_children;
            // What ended and was waited for is credited in whole ticks.
            self.seen.steps.push(RestStep { length_s, cpu_s: (cpu_s(&now) - cpu_s(&before)).max(0.0) });
        }
    }

    /// It is over; `ended` is whether the target was, too.
    pub(crate) fn end(&mut self, ended: bool) {
        self.seen.ended = ended;
    }

    /// What was seen; none of one that was not looked at.
    pub(crate) fn seen(self) -> Option<Rest> {
        self.last.is_some().then_some(self.seen)
    }
}

/// Leaves one alone that had its launch to itself, and watches it; none of one of which nobody sees anything, or where it was cut short.
pub(crate) fn watch(running: &mut dyn Running, length: Duration, stop: &AtomicBool) -> Option<Rest> {
    let family = running.family()?;
    let mut sampler = Sampler::new(family, None, &ProcSource::default(), Arc::new(MonotonicClock));
    let mut looks = Looks::default();
    let is_whole = leave_alone(length, stop, || looks.add(sampler.sample()));
    looks.end(running.ended().is_some());
    looks.seen().filter(|_| is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(looks: impl IntoIterator<Item = Sample>) -> Rest {
        let mut all = Looks::default();
        looks.into_iter().for_each(|look| all.add(look));
        all.end(false);
        all.seen().unwrap()
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
        assert!(!rest.ended && !rest.unwaited);
        assert_eq!(Looks::default().seen(), None);
    }

    #[test]
    fn children_that_nobody_waits_for_are_told_and_not_what_was_so_before_or_was_inherited() {
        let ignoring = |at_ms, processes, started| {
            let look = look(at_ms, 1.0);
            Sample { ignores_children: true, processes, started: Some(started), ..look }
        };
        assert!(!seen([ignoring(0, 1, 7), ignoring(50, 1, 8)]).unwaited, "it has none");
        assert!(seen([ignoring(0, 2, 7), ignoring(50, 1, 8)]).unwaited);
        assert!(!seen([ignoring(0, 4, 7), ignoring(50, 4, 7)]).unwaited, "none came");
        let unwaited = |at_ms, unwaited| Sample { unwaited, ..look(at_ms, 1.0) };
        assert!(seen([unwaited(0, false), unwaited(50, true)]).unwaited);
        assert!(!seen([unwaited(0, true), unwaited(50, true)]).unwaited, "that was under load");
    }
}
