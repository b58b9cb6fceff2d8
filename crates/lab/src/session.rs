use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Event, Next, Plan, Planner, TrialFailure, TrialRecord, TrialSpec, TrialStage};

use crate::error::LabError;
use crate::folder::RunFolder;
use crate::trial::{Told, TrialTools, empty_record, run_launch};

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
        let targets: BTreeSet<&str> = self.plan.cells.iter().map(|cell| cell.levels.target()).collect();
        loop {
            let specs = match planner.next(&self.done) {
                Next::Run(specs) => specs,
                Next::Done(reason) => {
                    on_event(Event::Finished { reason: &reason });
                    return Ok(SessionEnd { trials: self.done, interrupted: false });
                }
            };
            let together = |a: &TrialSpec, b: &TrialSpec| a.twin == b.twin && self.plan.same_launch(a.cell, b.cell);
            for launch in specs.chunk_by(together) {
                if !self.launch(planner, launch, &mut broken, stop, on_event)? {
                    return Ok(SessionEnd { trials: self.done, interrupted: true });
                }
                if targets.iter().all(|target| broken.contains_key(*target)) {
                    on_event(Event::Finished { reason: "no target can be launched" });
                    return Ok(SessionEnd { trials: self.done, interrupted: false });
                }
            }
        }
    }

    /// Makes and records the trials of one launch; false when it was interrupted, and then nothing is recorded.
    fn launch(
        &mut self,
        planner: &dyn Planner,
        specs: &[TrialSpec],
        broken: &mut BTreeMap<String, String>,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<bool, LabError> {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let (plan, done) = (self.plan, self.done.len());
        let expected = planner.expected_trials().max(done + specs.len());
        let mut begun = 0;
        let mut started = |spec: TrialSpec, on_event: &mut dyn FnMut(Event<'_>)| {
            let label = format!("{}{}", plan.cells[spec.cell].levels, if spec.twin { ", once more" } else { "" });
            on_event(Event::TrialStarted { spec, label: &label, done: done + begun, expected });
            begun += 1;
        };
        let target = specs.first().map_or("", |spec| plan.cells[spec.cell].levels.target());
        if let Some(why) = broken.get(target) {
            for spec in specs {
                started(*spec, on_event);
                self.record(given_up(empty_record(&plan.cells[spec.cell], *spec), why), on_event)?;
            }
            return Ok(true);
        }
        let output = self.folder.output_of(&specs.first().map(TrialSpec::id).unwrap_or_default());
        let mut tell = |told: Told<'_>| match told {
            Told::Trial(spec) => started(spec, on_event),
            Told::Second(interval) => on_event(Event::Second { interval }),
        };
        let Some(made) = run_launch(plan, specs, self.tools, &output, stop, &mut tell) else { return Ok(false) };
        for trial in made {
            self.folder.keep(&trial.record.id, &trial.kept)?;
            note_broken(broken, &trial.record);
            self.record(trial.record, on_event)?;
        }
        Ok(true)
    }

    fn record(&mut self, record: TrialRecord, on_event: &mut dyn FnMut(Event<'_>)) -> Result<(), LabError> {
        self.folder.append(&record)?;
        on_event(Event::TrialEnded { record: &record });
        self.done.push(record);
        Ok(())
    }
}

/// A target that could not be launched or got ready is not launched again: each try may last a minute.
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
    let text = format!("not launched again: {why}");
    record.failure = Some(TrialFailure { stage: TrialStage::NotTried, text, output: String::new() });
    record
}
