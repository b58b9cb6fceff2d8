//! How long a run was at work.

use model::{Load, Plan, TrialRecord};

use crate::thresholds::BESIDE_A_TRIAL_S;

/// The seconds during which a run was at work, an interruption left out; none without a trial.
///
/// A trial is followed by the next. Where that comes later than the one before it can have taken, the run was
/// interrupted in between, and only what its record tells counts: time to ready, warm-up and window.
pub(crate) fn time_at_work_s(plan: &Plan, trials: &[TrialRecord]) -> Option<f64> {
    let mut begun: Vec<&TrialRecord> = trials.iter().collect();
    begun.sort_by_key(|trial| trial.started_at);
    let last = begun.last()?;
    let until_next = |pair: &[&TrialRecord]| {
        let (taken_s, trial) = (pair[1].started_at.duration_since(pair[0].started_at).as_secs_f64(), pair[0]);
        let interrupted = taken_s > ready_within_s(plan, trial) + planned_s(plan, trial) + BESIDE_A_TRIAL_S;
        if interrupted { told_s(plan, trial) } else { taken_s }
    };
    Some(begun.windows(2).map(until_next).sum::<f64>() + told_s(plan, last))
}

/// What a trial's record tells of how long it took, or of how long its target was waited for.
fn told_s(plan: &Plan, trial: &TrialRecord) -> f64 {
    let warm_up_s = load(plan, trial).map_or(0.0, |load| load.warm_up_ns as f64 / 1e9);
    let loaded_s = trial.measurement.as_ref().map_or(0.0, |measured| warm_up_s + measured.window_s);
    let waited_ms = trial.failure.as_ref().and_then(|failure| failure.waited_ms).unwrap_or(0);
    trial.time_to_ready_ms.unwrap_or(waited_ms as f64) / 1e3 + loaded_s
}

fn load<'a>(plan: &'a Plan, trial: &TrialRecord) -> Option<&'a Load> {
    plan.cell(trial.cell).map(|cell| &cell.load)
}

/// Warm-up and window, as planned.
fn planned_s(plan: &Plan, trial: &TrialRecord) -> f64 {
    load(plan, trial).map_or(0.0, |load| load.warm_up_ns.saturating_add(load.window_ns()) as f64 / 1e9)
}

/// How long it took until the target was ready; where it never was, how long was waited for it at most.
fn ready_within_s(plan: &Plan, trial: &TrialRecord) -> f64 {
    let at_most_s =
        || plan.target(trial.levels.target()).map_or(0.0, |target| target.launch.ready_within_ns as f64 / 1e9);
    trial.time_to_ready_ms.map_or_else(at_most_s, |ready_ms| ready_ms / 1e3)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::testing::{Session, fail_at_launch};

    /// Trials of 0.08 s to ready, 1 s of warm-up and 10 s of window that began at these seconds.
    fn run(begun_s: &[f64]) -> (Plan, Vec<TrialRecord>) {
        let session = Session::new().cell("a", 100.0).blocks(begun_s.len() as u32);
        let mut trials = session.records();
        for (trial, began_s) in trials.iter_mut().zip(begun_s) {
            trial.started_at = Timestamp::from_nanosecond((began_s * 1e9) as i128).unwrap();
        }
        (session.plan(), trials)
    }

    fn at_work_s((plan, trials): &(Plan, Vec<TrialRecord>)) -> Option<f64> {
        let seconds = time_at_work_s(plan, trials);
        seconds.map(|seconds| (seconds * 1e3).round() / 1e3)
    }

    #[test]
    fn a_run_in_one_go_was_at_work_from_its_first_begin_to_its_last_end() {
        assert_eq!(at_work_s(&run(&[])), None);
        assert_eq!(at_work_s(&run(&[100.0])), Some(11.08));
        assert_eq!(at_work_s(&run(&[100.0, 112.0, 130.0])), Some(41.08));
    }

    #[test]
    fn an_interruption_does_not_count() {
        assert_eq!(at_work_s(&run(&[100.0, 112.0, 1800.0, 1812.0])), Some(12.0 + 11.08 + 12.0 + 11.08));
        let (plan, mut trials) = run(&[100.0, 112.0, 1800.0, 1812.0]);
        trials.reverse();
        assert_eq!(at_work_s(&(plan, trials)), Some(46.16), "in whatever order they come");
    }

    #[test]
    fn a_trial_that_failed_takes_as_long_as_is_waited_for_its_target() {
        let waited_s = model::READY_WITHIN_NS as f64 / 1e9 + 5.0;
        let (plan, mut trials) = run(&[100.0, 100.0 + waited_s]);
        fail_at_launch(&mut trials[0]);
        assert_eq!(at_work_s(&(plan, trials)), Some(waited_s + 11.08));
        let (plan, mut trials) = run(&[100.0, 5000.0]);
        fail_at_launch(&mut trials[0]);
        assert_eq!(at_work_s(&(plan.clone(), trials.clone())), Some(11.08), "its record tells of no time");
        trials[0].failure.as_mut().unwrap().waited_ms = Some(2_500);
        assert_eq!(at_work_s(&(plan, trials)), Some(13.58), "this one does");
    }
}
