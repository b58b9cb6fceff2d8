//! The steps of a window by which its course is told: as they were recorded, but slices put together to about a second each.

use std::ops::Range;

use model::{Interval, Measurement, Metric, ObservedSecond, Slice};

use crate::slices;

/// The whole steps inside the window; the warm-up before it is not measured, and the last one may be cut short. Of what was measured
/// in slices they have quantiles only where these are given.
pub(crate) fn whole(measured: &Measurement, slices: &[Slice]) -> Vec<Interval> {
    let inside = |step: &&Interval| step.at_s >= 0.0 && step.at_s + step.length_s <= measured.window_s + 0.01;
    // A record may have a step for each second of a day.
    let steps: Vec<Interval> = measured.steps.iter().filter(inside).copied().collect();
    if are_slices(&steps) {
        let slices: Vec<&Slice> = slices::measured(slices).collect();
        let slices = Some(slices).filter(|slices| slices.len() == steps.len());
        let of = |part: Range<usize>| together(&steps[part.clone()], slices.as_ref().map(|slices| &slices[part]));
        return by_seconds(&steps).map(of).collect();
    }
    let step_s = steps.iter().map(|step| step.length_s).fold(1.0, f64::max).round();
    steps.into_iter().filter(|step| step.length_s > step_s - 0.01).collect()
}

/// The same, each with what was seen of the target meanwhile, and without quantiles of slices.
pub(crate) fn with_seen(measured: &Measurement, seen: &[ObservedSecond]) -> Vec<(Interval, ObservedSecond)> {
    let at = |at_s: f64| seen.iter().position(|seen| (seen.at_s - at_s).abs() < 0.01);
    let meanwhile = |step: &Interval| {
        let end_s = step.at_s + step.length_s - 0.01;
        let mut parts = seen[at(step.at_s)?..].iter().take_while(|part| part.at_s < end_s);
        let first = *parts.next()?;
        // Memory is that at the end.
        Some(parts.fold(first, |sum, part| ObservedSecond {
            length_s: sum.length_s + part.length_s,
            cpu_s: sum.cpu_s + part.cpu_s,
            memory_bytes: part.memory_bytes,
            ..sum
        }))
    };
    whole(measured, &[]).into_iter().filter_map(|step| Some((step, meanwhile(&step)?))).collect()
}

/// Seconds begin at whole seconds of the window, slices where the ones before them end.
fn are_slices(steps: &[Interval]) -> bool {
    steps.iter().any(|step| (step.at_s - step.at_s.round()).abs() > 1e-6)
}

/// Consecutive slices, as many as there are begun seconds in all, and none of them divided.
fn by_seconds(slices: &[Interval]) -> impl Iterator<Item = Range<usize>> {
    let length_s: f64 = slices.iter().map(|slice| slice.length_s).sum();
    let count = slices.len();
    let steps = (length_s.ceil() as usize).clamp(1, count);
    (0..steps).map(move |step| step * count / steps..(step + 1) * count / steps)
}

/// One step of several: counts add up, and a quantile is that of all their requests, as that of a launch is.
fn together(slices: &[Interval], felt: Option<&[&Slice]>) -> Interval {
    let sum = |of: fn(&Interval) -> u64| model::sum(slices.iter().map(of));
    let [p50_us, p99_us] = felt.map_or([None; 2], |slices| slices::quantiles(slices, [Metric::P50, Metric::P99]));
    Interval {
        length_s: slices.iter().map(|slice| slice.length_s).sum(),
        completed: sum(|slice| slice.completed),
        ok: sum(|slice| slice.ok),
        sent: sum(|slice| slice.sent),
        failed: sum(|slice| slice.failed),
        p50_us,
        p99_us,
        max_us: slices.iter().filter_map(|slice| slice.max_us).reduce(f64::max),
        ..slices[0]
    }
}

#[cfg(test)]
mod tests {
    use model::{Course, Mark, MarkCause, TrialRecord};

    use super::*;
    use crate::testing::{Session, cell_plan, cut_in, feel, slice};
    use crate::trial::{TrialJudgement, check_trial};

    /// A launch of 40 slices of a fifth more or less than a quarter of a second, with so many replies a second and so many MiB at
    /// the end, by the share of the window that has passed.
    fn rotated(rate: impl Fn(f64) -> f64, mebibytes: impl Fn(f64) -> f64) -> TrialRecord {
        let mut trial = Session::new().cell("a", 1_000.0).noise(0.0).blocks(1).records().remove(0);
        let mut rng = fastrand::Rng::with_seed(1);
        let share = |number: usize| number as f64 / 40.0;
        let part = |number| {
            let (length_s, p99_us) = (0.2 + 0.1 * rng.f64(), 2e3 * (0.9 + 0.2 * rng.f64()));
            ((length_s, (rate(share(number)) * length_s).round() as u64), p99_us)
        };
        let (parts, p99s_us): (Vec<(f64, u64)>, Vec<f64>) = (0..40).map(part).unzip();
        cut_in(&mut trial, &parts);
        let (measured, seen) = (trial.measurement.as_mut().unwrap(), trial.observation.as_mut().unwrap());
        let steps = measured.steps.iter_mut().filter(|step| step.at_s >= 0.0);
        for (number, (step, seen)) in steps.zip(&mut seen.seconds).enumerate() {
            step.p99_us = Some(p99s_us[number]);
            seen.memory_bytes = (mebibytes(share(number)) * f64::from(1 << 20)) as u64;
            seen.cpu_s = step.completed as f64 * 3e-4;
        }
        trial
    }

    fn judged(trial: &TrialRecord) -> (Option<Course>, Vec<Mark>, TrialJudgement) {
        let judgement = check_trial(&cell_plan("a", &[], 10, 0), None, trial);
        let marks = judgement.marks.iter().map(|note| note.mark()).collect();
        (judgement.went.as_ref().map(|went| went.course), marks, judgement)
    }

    #[test]
    fn slices_make_steps_of_about_a_second_that_lose_nothing() {
        let trial = rotated(|_| 1_000.0, |_| 20.0);
        let (measured, seen) = (trial.measurement.unwrap(), trial.observation.unwrap().seconds);
        let steps = with_seen(&measured, &seen);
        assert_eq!(steps.len(), measured.window_s.ceil() as usize);
        assert!(steps.iter().all(|(step, _)| (0.5..1.2).contains(&step.length_s)), "{steps:?}");
        let completed = model::sum(steps.iter().map(|(step, _)| step.completed));
        assert_eq!(completed, measured.in_window.completed);
        for (step, seen) in &steps {
            assert!((step.length_s - seen.length_s).abs() < 1e-9 && step.at_s == seen.at_s);
            assert!((seen.cpu_s - step.completed as f64 * 3e-4).abs() < 1e-9, "{step:?}, {seen:?}");
        }
    }

    #[test]
    fn the_course_of_a_launch_in_slices_is_told() {
        let (course, marks, _) = judged(&rotated(|_| 1_000.0, |_| 20.0));
        assert_eq!((course, marks), (Some(Course::Flat), vec![]));
        let (course, marks, judgement) = judged(&rotated(|part| if part < 0.5 { 1_000.0 } else { 800.0 }, |_| 20.0));
        assert_eq!((course, marks), (Some(Course::SlowDown), vec![Mark::SlowDown]));
        assert_eq!(report::note_words(&judgement.marks[0]), "requests/s: 1,000 from second 0, 800 from second 4.7");
        let (course, marks, _) = judged(&rotated(|part| if part < 0.3 { 800.0 } else { 1_000.0 }, |_| 20.0));
        assert_eq!((course, marks), (Some(Course::WarmUp), vec![Mark::WarmUp]));
    }

    #[test]
    fn a_quantile_of_a_step_is_that_of_all_its_requests() {
        let mut trial = rotated(|_| 2_000.0, |_| 20.0);
        // One slice of each four has a pause.
        feel(&mut trial, |round| (0..500).map(|at| if round % 4 == 0 && at < 40 { 30e3 } else { 1e3 }).collect());
        let steps = whole(trial.measurement.as_ref().unwrap(), &trial.slices);
        assert_eq!(steps.len(), 10);
        for step in &steps {
            let off = [(step.p50_us, 1e3), (step.p99_us, 30e3)].map(|(us, known)| us.unwrap() / known - 1.0);
            assert!(off.iter().all(|off| off.abs() < 0.002), "{step:?}");
        }
        slice(&mut trial, 6).felt = None;
        let steps = whole(trial.measurement.as_ref().unwrap(), &trial.slices);
        assert_eq!(steps.iter().filter(|step| step.p99_us.is_none()).count(), 1, "as of an older record");
    }

    #[test]
    fn a_leak_of_a_launch_in_slices_grows_by_all_of_its_requests() {
        let trial = rotated(|_| 1_000.0, |part| 20.0 + 22.0 * part);
        let (course, marks, judgement) = judged(&trial);
        assert_eq!((course, marks), (Some(Course::Flat), vec![Mark::Growing]));
        let MarkCause::Growth(growth) = &judgement.marks[0].cause else { panic!("{judgement:?}") };
        // From the end of the first step on; for each ten requests in a window there was one in its lead-in, and one that woke it.
        let steps = whole(trial.measurement.as_ref().unwrap(), &[]);
        let replies = 1.2 * model::sum(steps[1..].iter().map(|step| step.completed)) as f64;
        let off = growth.bytes_per_request.unwrap() * replies / growth.bytes as f64 - 1.0;
        assert!(off.abs() < 0.02, "{growth:?}, {replies}");
    }
}
