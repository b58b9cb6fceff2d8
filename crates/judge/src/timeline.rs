//! Launches over time, put together for a page from what lies in different places of a record.

use std::collections::BTreeMap;

use model::{Interval, LatencyCounts, ObservedSecond, Slice, Timeline, TimelineStep, Trace, TraceLook, TrialRecord};

use crate::slices;

/// The launches of a record over time, by name: of two with the same name the later one, which counts. `traces` has what lies
/// beside the record, as far as that could be read; without it replies are not told by latency, except in slices.
pub fn timelines(trials: &[TrialRecord], traces: &BTreeMap<String, Trace>) -> Vec<Timeline> {
    let counted: BTreeMap<&str, &TrialRecord> = trials.iter().map(|trial| (trial.id.as_str(), trial)).collect();
    counted.into_values().filter_map(|trial| timeline(trial, traces.get(&trial.id))).collect()
}

fn timeline(trial: &TrialRecord, trace: Option<&Trace>) -> Option<Timeline> {
    let measured = trial.measurement.as_ref()?;
    let seen = trial.observation.as_ref().map_or(&[][..], |seen| &seen.seconds);
    let mut steps: Vec<TimelineStep> = measured.steps.iter().map(|step| with_seen(step, seen)).collect();
    to_their_ends(&mut steps, measured.window_s);
    let is_whole = trial.slices.is_empty();
    // Looks at a launch in slices are told in the time of its set, not in its own.
    match trace {
        Some(trace) if is_whole => trace_in(&mut steps, trace),
        _ => latencies_of_slices(&mut steps, &trial.slices),
    }
    let fault = trace.filter(|_| is_whole).and_then(|trace| trace.fault.clone());
    let stacks = trace.and_then(|trace| trace.stacks.clone());
    Some(Timeline { trial: trial.id.clone(), steps, stacks, fault })
}

/// The warm-up ends where the window begins: a record has it from a whole second on, however short it was.
fn with_seen(step: &Interval, seen: &[ObservedSecond]) -> TimelineStep {
    let seen = seen.iter().find(|seen| (seen.at_s - step.at_s).abs() < 0.01);
    TimelineStep {
        at_s: if step.at_s < 0.0 { -step.length_s } else { step.at_s },
        length_s: step.length_s,
        ok: step.ok,
        failures: step.failures(),
        p50_us: step.p50_us,
        p99_us: step.p99_us,
        exact_below_us: step.exact_below_us,
        cpu_s: seen.map(|seen| seen.cpu_s),
        memory_bytes: seen.map(|seen| seen.memory_bytes),
        gc_count: seen.and_then(|seen| seen.gc_count),
        gc_pause_ms: seen.and_then(|seen| seen.gc_pause_ms),
        ..TimelineStep::default()
    }
}

/// A step is recorded up to what came last in it. It lasts until the next one begins, or the window ends: where nothing came any
/// more the server was silent, not faster before. A whole second that is missing stays missing.
fn to_their_ends(steps: &mut [TimelineStep], window_s: f64) {
    let longest_s = steps.iter().filter(|step| !step.is_warm_up()).map(|step| step.length_s).fold(1.0, f64::max);
    let begins: Vec<f64> = steps.iter().skip(1).map(|step| step.at_s).chain([window_s]).collect();
    for (step, next_s) in steps.iter_mut().zip(begins) {
        let length_s = next_s - step.at_s;
        if !step.is_warm_up() && step.at_s < window_s && length_s > step.length_s && length_s < longest_s + 0.001 {
            step.length_s = length_s;
        }
    }
}

fn trace_in(steps: &mut [TimelineStep], trace: &Trace) {
    let within = |steps: &[TimelineStep], at_s: f64| {
        let begin = |step: &TimelineStep| step.at_s <= at_s + 0.001 && at_s < step.at_s + step.length_s - 0.001;
        steps.iter().rposition(begin)
    };
    for (at_s, counts) in &trace.latencies {
        if let Some(at) = within(steps, *at_s) {
            steps[at].latencies = sum(&steps[at].latencies, counts);
        }
    }
    for TraceLook { at_s, threads, established } in &trace.looks {
        let Some(at) = within(steps, *at_s).filter(|at| !steps[*at].is_warm_up()) else { continue };
        let step = &mut steps[at];
        step.threads = step.threads.max(Some(*threads));
        step.connections = step.connections.max(*established);
    }
}

fn sum(one: &LatencyCounts, other: &LatencyCounts) -> LatencyCounts {
    let mut all: BTreeMap<i16, u64> = one.iter().copied().collect();
    for (bucket, count) in other {
        let known = all.entry(*bucket).or_default();
        *known = known.saturating_add(*count);
    }
    all.into_iter().collect()
}

/// A step of the window is a slice there.
fn latencies_of_slices(steps: &mut [TimelineStep], of: &[Slice]) {
    let steps: Vec<&mut TimelineStep> = steps.iter_mut().filter(|step| !step.is_warm_up()).collect();
    let measured: Vec<&Slice> = slices::measured(of).collect();
    if steps.len() == measured.len() {
        for (step, slice) in steps.into_iter().zip(measured) {
            step.latencies = slices::by_latency(slice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Session, cut_in, feel};

    fn launch() -> TrialRecord {
        Session::new().cell("a", 1_000.0).blocks(1).records().remove(0)
    }

    fn of(trial: &TrialRecord, trace: Trace) -> Timeline {
        timelines(std::slice::from_ref(trial), &BTreeMap::from([(trial.id.clone(), trace)])).remove(0)
    }

    #[test]
    fn a_step_has_its_figures_as_they_were_recorded() {
        let trial = launch();
        let (measured, seen) = (trial.measurement.as_ref().unwrap(), trial.observation.as_ref().unwrap());
        let timeline = of(&trial, Trace::default());
        assert_eq!(timeline.steps.len(), measured.steps.len());
        for (step, recorded) in timeline.steps.iter().zip(&measured.steps) {
            assert_eq!((step.ok, step.failures), (recorded.ok, recorded.failures()));
            assert_eq!((step.p50_us, step.p99_us), (recorded.p50_us, recorded.p99_us));
            let seen = seen.seconds.iter().find(|seen| seen.at_s == recorded.at_s);
            assert_eq!((step.cpu_s, step.memory_bytes), (seen.map(|it| it.cpu_s), seen.map(|it| it.memory_bytes)));
        }
    }

    #[test]
    fn lines_and_looks_fall_into_the_step_in_which_they_lie_and_add_up() {
        let mut trial = launch();
        let measured = trial.measurement.as_mut().unwrap();
        measured.steps = [0.0, 2.0].map(|at_s| Interval { at_s, length_s: 2.0, ..Interval::default() }).to_vec();
        let looks = [(-1.0, 99, None), (0.5, 4, Some(10)), (1.9, 6, None), (2.5, 5, Some(20)), (9.0, 99, Some(99))];
        let looks = looks.map(|(at_s, threads, established)| TraceLook { at_s, threads, established });
        let latencies = vec![(0.0, vec![(40, 2), (41, 1)]), (1.0, vec![(41, 4)]), (2.0, vec![(60, 7)])];
        let timeline = of(&trial, Trace { latencies, looks: looks.to_vec(), ..Trace::default() });
        let shown: Vec<_> =
            timeline.steps.iter().map(|it| (it.latencies.clone(), it.threads, it.connections)).collect();
        assert_eq!(shown, [(vec![(40, 2), (41, 5)], Some(6), Some(10)), (vec![(60, 7)], Some(5), Some(20))]);
    }

    #[test]
    fn a_step_lasts_until_the_next_one_and_a_missing_second_stays_missing() {
        let mut trial = launch();
        let measured = trial.measurement.as_mut().unwrap();
        let steps = [(-1.0, 0.2), (0.0, 0.7), (1.0, 1.0), (3.0, 1.0), (4.0, 0.1)];
        measured.steps = steps.map(|(at_s, length_s)| Interval { at_s, length_s, ..Interval::default() }).to_vec();
        measured.window_s = 4.5;
        let shown: Vec<_> = of(&trial, Trace::default()).steps.iter().map(|it| (it.at_s, it.length_s)).collect();
        assert_eq!(shown, [(-0.2, 0.2), (0.0, 1.0), (1.0, 1.0), (3.0, 1.0), (4.0, 0.5)]);
    }

    #[test]
    fn a_slice_tells_its_own_latencies() {
        let mut trial = launch();
        cut_in(&mut trial, &[(0.25, 100), (0.25, 100)]);
        feel(&mut trial, |round| vec![if round == 1 { 100.0 } else { 1e3 }; 100]);
        let timeline = of(&trial, Trace { latencies: vec![(0.0, vec![(0, 1)])], ..Trace::default() });
        let within: Vec<_> = timeline.steps.iter().filter(|it| !it.is_warm_up()).map(|it| &it.latencies[..]).collect();
        let bucket = |us: f64| model::latency_bucket(us);
        assert_eq!(within, [&[(bucket(100.0), 100)][..], &[(bucket(1e3), 100)]]);
    }

    #[test]
    fn of_two_launches_with_one_name_the_later_is_shown() {
        let (first, mut second) = (launch(), launch());
        second.measurement.as_mut().unwrap().steps.truncate(2);
        let shown = timelines(&[first, second], &BTreeMap::new());
        assert_eq!(shown.iter().map(|it| it.steps.len()).collect::<Vec<_>>(), [2]);
    }
}
