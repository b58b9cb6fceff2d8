//! How long a run was at work.

use model::{Plan, TrialRecord};

use crate::thresholds::{AFTER_A_LOAD_S, BETWEEN_TRIALS_S};

/// The seconds during which a run was at work, an interruption left out; none without a trial.
///
/// A trial is followed by the next. Where that begins long after the one before it ended, the run was interrupted in between,
/// which does not count.
pub(crate) fn time_at_work_s(plan: &Plan, trials: &[TrialRecord]) -> Option<f64> {
    let first = trials.first()?;
    let mut spans: Vec<Span> = trials.iter().map(|trial| Span::of(plan, trial, first)).collect();
    spans.sort_by(|a, b| a.begun_s.total_cmp(&b.begun_s));
    let last = spans.last()?;
    let until_next = |pair: &[Span]| {
        let until_s = pair[1].begun_s - pair[0].begun_s;
        let is_interrupted = until_s > pair[0].taken_s + pair[0].rest_s;
        if is_interrupted { pair[0].taken_s } else { until_s }
    };
    Some(spans.windows(2).map(until_next).sum::<f64>() + last.taken_s)
}

/// When a trial was made.
struct Span {
    /// Seconds of the clock on the wall, from one moment for all, until its target was launched, or until its load began where
    /// the target already ran.
    begun_s: f64,
    /// How long it took, as far as its record tells.
    taken_s: f64,
    /// What may pass before the next without an interruption.
    rest_s: f64,
}

impl Span {
    /// In records of earlier versions a trial begins when its target is ready, or is given up, and ends nobody knows when.
    fn of(plan: &Plan, trial: &TrialRecord, first: &TrialRecord) -> Self {
        let begun_s = trial.started_at.duration_since(first.started_at).as_secs_f64();
        if let Some(ended_at) = trial.ended_at {
            let taken_s = ended_at.duration_since(trial.started_at).as_secs_f64().max(0.0);
            return Self { begun_s, taken_s, rest_s: BETWEEN_TRIALS_S };
        }
        let waited_ms = trial.failure.as_ref().and_then(|failure| failure.waited_ms).map(|ms| ms as f64);
        let waited_s = trial.time_to_ready_ms.or(waited_ms).unwrap_or(0.0) / 1e3;
        let warm_up_s = plan.cell(trial.cell).map_or(0.0, |cell| cell.load.warm_up_ns as f64 / 1e9);
        let loaded_s = trial.measurement.as_ref().map_or(0.0, |measured| warm_up_s + measured.window_s);
        Self { begun_s: begun_s - waited_s, taken_s: waited_s + loaded_s, rest_s: AFTER_A_LOAD_S }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::testing::{Session, fail_at_launch};

    /// Trials of 0.08 s to ready, 1 s of warm-up and 10 s of window that began at these seconds, as earlier versions recorded them.
    fn run(begun_s: &[f64]) -> (Plan, Vec<TrialRecord>) {
        let session = Session::new().cell("a", 100.0).blocks(begun_s.len() as u32);
        let mut trials = session.records();
        for (trial, began_s) in trials.iter_mut().zip(begun_s) {
            trial.started_at = Timestamp::from_nanosecond((began_s * 1e9) as i128).unwrap();
            trial.ended_at = None;
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
    fn a_session_was_at_work_all_the_time() {
        let session = Session::new().cell("a", 100.0).cell("b", 100.0).blocks(6);
        assert_eq!(at_work_s(&(session.plan(), session.records())), Some(11.0 * 12.5 + 11.5));
    }

    #[test]
    fn an_interruption_does_not_count() {
        assert_eq!(at_work_s(&run(&[100.0, 112.0, 1800.0, 1812.0])), Some(12.0 + 11.08 + 12.0 + 11.08));
        let (plan, mut trials) = run(&[100.0, 112.0, 1800.0, 1812.0]);
        trials.reverse();
        assert_eq!(at_work_s(&(plan, trials)), Some(46.16), "in whatever order they come");
    }

    #[test]
    fn a_short_pause_does_not_count_where_the_record_tells_when_a_trial_ended() {
        let (plan, mut trials) = run(&[100.0, 112.0, 138.5, 150.5]);
        for trial in &mut trials {
            trial.ended_at = Some(trial.started_at + jiff::SignedDuration::from_millis(11_500));
        }
        assert_eq!(
            at_work_s(&(plan, trials)),
            Some(12.0 + 11.5 + 12.0 + 11.5),
            "15 s between the second and the third"
        );
    }

    #[test]
    fn the_wait_for_a_target_counts_once() {
        let (plan, mut trials) = run(&[100.0, 175.0]);
        fail_at_launch(&mut trials[1]);
        assert_eq!(at_work_s(&(plan.clone(), trials.clone())), Some(11.08), "its record tells of no time");
        trials[1].failure.as_mut().unwrap().waited_ms = Some(60_000);
        assert_eq!(at_work_s(&(plan.clone(), trials.clone())), Some(75.08), "of an earlier version: it began at 115");
        trials[1].ended_at = Some(trials[1].started_at + jiff::SignedDuration::from_secs(60));
        trials[0].ended_at = Some(trials[0].started_at + jiff::SignedDuration::from_secs(74));
        assert_eq!(at_work_s(&(plan, trials)), Some(135.0));
    }
}
