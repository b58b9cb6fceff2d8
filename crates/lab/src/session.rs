use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Event, Next, Plan, Planner, TrialFailure, TrialRecord, TrialSpec, TrialStage};

use crate::error::LabError;
use crate::folder::RunFolder;
use crate::trial::{TrialTools, empty_record, run_trial};

/// A run under way: a plan, its folder, and what has been recorded so far.
pub struct Session<'a> {
    /// What is run.
    pub plan: &'a Plan,
    /// Where it is recorded.
    pub folder: &'a mut RunFolder,
    /// Trials recorded earlier, in a run that is resumed.
    pub done: Vec<TrialRecord>,
    /// What trials are made with.
    pub tools: TrialTools<'a>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEnd {
    /// All trials, the earlier ones first.
    pub trials: Vec<TrialRecord>,
    /// Whether it was stopped before the planner was content.
    pub interrupted: bool,
}

impl Session<'_> {
    /// Runs what `planner` asks for until it asks for nothing more or `stop` is set. Each trial is on disk before
    /// the next begins; a trial that was interrupted is not recorded, so that resuming runs it again.
    ///
    /// # Errors
    /// When the run folder cannot be written.
    pub fn run(
        mut self,
        planner: &dyn Planner,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<SessionEnd, LabError> {
        let mut broken = broken_targets(&self.done);
        loop {
            let specs = match planner.next(&self.done) {
                Next::Run(specs) => specs,
                Next::Done(reason) => {
                    on_event(Event::Finished { reason: &reason });
                    return Ok(SessionEnd { trials: self.done, interrupted: false });
                }
            };
            for spec in specs {
                let Some(record) = self.one(planner, spec, &broken, stop, on_event)? else {
                    return Ok(SessionEnd { trials: self.done, interrupted: true });
                };
                note_broken(&mut broken, &record);
                self.done.push(record);
                if self.plan.cells.iter().all(|cell| broken.contains_key(cell.levels.target())) {
                    on_event(Event::Finished { reason: "no target can be launched" });
                    return Ok(SessionEnd { trials: self.done, interrupted: false });
                }
            }
        }
    }

    /// Runs and records one trial; none when it was interrupted.
    fn one(
        &mut self,
        planner: &dyn Planner,
        spec: TrialSpec,
        broken: &BTreeMap<String, String>,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<Option<TrialRecord>, LabError> {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let cell = &self.plan.cells[spec.cell];
        let expected = planner.expected_trials().max(self.done.len() + 1);
        let label = format!("{}{}", cell.levels, if spec.twin { ", once more" } else { "" });
        on_event(Event::TrialStarted { spec, label: &label, done: self.done.len(), expected });
        let record = match broken.get(cell.levels.target()) {
            Some(why) => given_up(empty_record(cell, spec), why),
            None => {
                let id = spec.id();
                let output = self.folder.output_of(&id);
                let mut progress = |interval: &model::Interval| on_event(Event::Second { interval });
                let made = run_trial(self.plan, spec, self.tools, &output, stop, &mut progress);
                if made.interrupted {
                    return Ok(None);
                }
                self.folder.keep(&id, made.interval_log.as_deref(), &made.samples)?;
                made.record
            }
        };
        self.folder.append(&record)?;
        on_event(Event::TrialEnded { record: &record });
        Ok(Some(record))
    }
}

/// A target that could not be launched or got ready is not tried again: each try may last a minute.
fn note_broken(broken: &mut BTreeMap<String, String>, record: &TrialRecord) {
    if let Some(failure) = &record.failure
        && matches!(failure.stage, TrialStage::Launch | TrialStage::Ready)
    {
        broken.entry(record.levels.target().to_owned()).or_insert_with(|| failure.text.clone());
    }
}

fn broken_targets(done: &[TrialRecord]) -> BTreeMap<String, String> {
    let mut broken = BTreeMap::new();
    done.iter().for_each(|record| note_broken(&mut broken, record));
    broken
}

fn given_up(mut record: TrialRecord, why: &str) -> TrialRecord {
    let text = if why.starts_with("not tried again") { why.to_owned() } else { format!("not tried again: {why}") };
    record.failure = Some(TrialFailure { stage: TrialStage::Launch, text, output: String::new() });
    record
}
