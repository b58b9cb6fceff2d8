use model::*;

/// Makes a trial one whose process never started.
pub(crate) fn fail_at_launch(trial: &mut TrialRecord) {
    trial.measurement = None;
    trial.observation = None;
    trial.time_to_ready_ms = None;
    trial.slices.clear();
    trial.failure = Some(TrialFailure::new(TrialStage::Launch, WhyFailed::Text("no such file".to_owned())));
}

/// How a server ended under load.
pub(crate) const DIED: TargetEnd =
    TargetEnd { how: ProcessEnd::Exited(3), when: EndedWhen::UnderLoad, hints: Vec::new() };

/// Makes a trial one whose server ended so.
pub(crate) fn die(trial: &mut TrialRecord) {
    let output = "out of memory".to_owned();
    trial.failure = Some(TrialFailure { output, ..TrialFailure::new(TrialStage::Died, DIED) });
}

/// Makes some replies of a trial wrong, evenly over its window.
pub(crate) fn wrong_replies(trial: &mut TrialRecord, wrong: u64) {
    let measured = trial.measurement.as_mut().unwrap();
    let all = measured.in_window.completed;
    let bytes_each = measured.in_window.ok_bytes / measured.in_window.ok;
    measured.accounting.ok -= wrong;
    measured.accounting.bad_body += wrong;
    measured.in_window.ok -= wrong;
    measured.in_window.ok_bytes -= wrong * bytes_each;
    measured.first_wrong = Some(WrongReply::new((None, Some(b"hi")), 200, Some((b"ho", 0))));
    let steps = measured.steps.iter_mut().filter(|step| step.at_s >= 0.0);
    take_evenly(wrong, all, steps.map(|step| (step.completed, &mut step.ok)));
    let mut slices: Vec<&mut Slice> = trial.slices.iter_mut().filter(|slice| slice.round > 0).collect();
    take_evenly(wrong, all, slices.iter_mut().map(|slice| (slice.completed, &mut slice.ok)));
    slices.into_iter().for_each(|slice| slice.failed += slice.completed - slice.ok);
}

/// Takes `wrong` of all replies from those of each part that are ok, in proportion to its replies.
fn take_evenly<'a>(wrong: u64, all: u64, parts: impl Iterator<Item = (u64, &'a mut u64)>) {
    let mut passed = 0;
    for (completed, ok) in parts {
        let until = |replies: u64| wrong * replies / all;
        *ok -= until(passed + completed) - until(passed);
        passed += completed;
    }
}

/// Leaves the course of a launch out, which would only cost time.
pub(crate) fn without_course(trial: &mut TrialRecord) {
    trial.measurement.iter_mut().for_each(|measured| measured.steps.clear());
    trial.observation.iter_mut().for_each(|seen| seen.seconds.clear());
}
