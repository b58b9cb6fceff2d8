use model::*;

/// Makes a trial one whose process never started.
pub(crate) fn fail_at_launch(trial: &mut TrialRecord) {
    trial.measurement = None;
    trial.observation = None;
    trial.time_to_ready_ms = None;
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

/// Makes some replies of a trial wrong.
pub(crate) fn wrong_replies(trial: &mut TrialRecord, wrong: u64) {
    let measured = trial.measurement.as_mut().unwrap();
    measured.accounting.ok -= wrong;
    measured.accounting.bad_body += wrong;
    measured.in_window.ok -= wrong;
}
