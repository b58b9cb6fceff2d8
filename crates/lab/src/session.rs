use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Addition, Event, NS_PER_S, Next, Plan, Planner, Together, TrialRecord, TrialSpec, TrialStage, WhyFailed};

use crate::error::LabError;
use crate::record::RunFolder;
use crate::rest;
use crate::together::{Launching, run_together};
use crate::trial::{LaunchEvent, TrialOutput, TrialTools, cell_of, empty_record, given_up, run_launch};

/// A session that is carried out, which is a run under way: a plan, its folder, and what has been recorded so far.
pub struct Session<'a> {
    /// What is run.
    pub plan: Plan,
    /// Where it is recorded.
    pub folder: &'a mut RunFolder,
    /// Trials recorded earlier, in a run that is resumed.
    pub done: Vec<TrialRecord>,
    /// What trials are made with.
    pub tools: TrialTools<'a>,
    /// Whether it goes on with the other targets when one of them has never started.
    pub keep_going: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEnd {
    /// The plan with all that was added to it.
    pub plan: Plan,
    /// All trials, the earlier ones first.
    pub trials: Vec<TrialRecord>,
    /// Whether it was stopped before the planner was content.
    pub interrupted: bool,
    /// The target without which it did not go on, where there is one.
    pub unstarted: Option<Unstarted>,
}

/// A target that did not become ready.
#[derive(Debug, Clone, PartialEq)]
pub struct Unstarted {
    /// Its name.
    pub target: String,
    /// Why.
    pub why: WhyFailed,
    /// Whether it was started all the same, and ended under a load that was needed before the first block.
    pub started: bool,
}

impl Session<'_> {
    /// Runs what `planner` asks for until it asks for nothing more or `stop` is set. Each trial is on disk before
    /// the next begins; a trial that was interrupted is not recorded, so that resuming runs it again.
    ///
    /// A target that has never started ends the run with its first block: every block that follows would lack it, and
    /// what is not in the same blocks cannot be compared. Before the blocks, where it is found what all have in common, each
    /// target is needed. A comparison ends so, too, when one of its two does not start any more; at once where all of its time to get ready has passed,
    /// for the other may take as long, and is compared with nothing. Resuming launches again, in
    /// the same blocks, what has not started since, and what failed before them: whoever resumes has mended it.
    ///
    /// # Errors
    /// When the run folder cannot be written or is not what was written, or what bourdon itself needs for a launch is missing: that launch is not
    /// recorded, so that resuming makes it.
    pub fn run(
        mut self,
        planner: &mut dyn Planner,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<SessionEnd, LabError> {
        let begun = Event::Begun { recorded: self.done.len(), untold: self.folder.untold().to_vec() };
        self.tell(begun, on_event);
        let (mut trials, done) = not_started_since(std::mem::take(&mut self.done));
        self.done = done;
        let ended = self.launches(planner, stop, on_event)?;
        trials.append(&mut self.done);
        let (interrupted, unstarted) = match ended {
            Ending::Done => (false, None),
            Ending::Interrupted => (true, None),
            Ending::Without(unstarted) => (false, Some(unstarted)),
        };
        Ok(SessionEnd { plan: self.plan, trials, interrupted, unstarted })
    }

    fn launches(
        &mut self,
        planner: &mut dyn Planner,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Ending, LabError> {
        let targets: BTreeSet<String> = self.plan.cells.iter().map(|cell| cell.levels.target().to_owned()).collect();
        let mut broken = Broken::new();
        self.done.iter().for_each(|trial| planner.take(trial));
        loop {
            let before = self.done.len();
            let specs = match planner.next() {
                Next::Add(additions) => {
                    additions.into_iter().try_for_each(|addition| self.add(addition, on_event))?;
                    continue;
                }
                Next::Run(specs) => {
                    if !self.launch_each(planner, &specs, &mut broken, stop, on_event)? {
                        return Ok(Ending::Interrupted);
                    }
                    specs
                }
                Next::Rotate(together) => {
                    if !self.rotate(planner, &together, &mut broken, stop, on_event)? {
                        return Ok(Ending::Interrupted);
                    }
                    together.trials
                }
                Next::Done(reason) => {
                    self.tell(Event::Finished { reason }, on_event);
                    return Ok(Ending::Done);
                }
            };
            let (block, all) = (specs.first().map_or(0, |spec| spec.block), broken.len() == targets.len());
            let unstarted = if block == 0 && !all { self.failed_since(before) } else { self.unstarted(&broken, all) };
            if let Some(unstarted) = unstarted {
                self.tell(Event::GivenUp { block, target: unstarted.target.clone() }, on_event);
                return Ok(Ending::Without(unstarted));
            }
        }
    }

    /// Makes trials, those of one launch together, until no target starts any more; false when it was interrupted.
    fn launch_each(
        &mut self,
        planner: &mut dyn Planner,
        specs: &[TrialSpec],
        broken: &mut Broken,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<bool, LabError> {
        let plan = self.plan.clone();
        let together = |a: &TrialSpec, b: &TrialSpec| a.twin == b.twin && plan.same_launch(a.cell, b.cell);
        for launch in specs.chunk_by(together) {
            if !self.launch(planner, launch, broken, stop, on_event)? {
                return Ok(false);
            }
            if plan.cells.iter().all(|cell| broken.contains_key(cell.levels.target())) || self.waited_in_vain() {
                break;
            }
        }
        Ok(true)
    }

    /// Adds something to the plan, for good before anything is done with it.
    fn add(&mut self, addition: Addition, on_event: &mut dyn FnMut(&Event)) -> Result<(), LabError> {
        let plan = self.plan.adding(&addition).map_err(LabError::Addition)?;
        self.folder.add(&addition)?;
        self.plan = plan;
        self.tell(Event::Added { addition }, on_event);
        Ok(())
    }

    /// The target without which there is no use in going on; `all` are broken or some. A comparison of two needs both to
    /// the end.
    fn unstarted(&self, broken: &Broken, all: bool) -> Option<Unstarted> {
        let never = if broken.is_empty() { Vec::new() } else { never_started(&self.done) };
        let needed =
            |target: &String| all || self.plan.comparison.is_some() || !self.keep_going && never.contains(target);
        let (target, why) = broken.iter().find(|(target, _)| needed(target))?;
        Some(Unstarted { target: target.clone(), why: why.clone(), started: false })
    }

    /// Whether one of the two of a comparison was just waited for to the end.
    fn waited_in_vain(&self) -> bool {
        let failed = self.done.last().and_then(|trial| Some((trial, trial.failure.as_ref()?)));
        let Some((trial, failure)) = failed.filter(|_| self.plan.comparison.is_some()) else { return false };
        let within_ms = self.plan.target(trial.levels.target()).map(|target| target.launch.ready_within_ns / 1_000_000);
        failure.stage == TrialStage::Ready && failure.waited_ms.zip(within_ms).is_some_and(|(waited, of)| waited >= of)
    }

    /// The first target that failed in one of the trials from this one on, unless the run continues with the others.
    fn failed_since(&self, from: usize) -> Option<Unstarted> {
        let needed = self.plan.comparison.is_some() || !self.keep_going;
        let mut failed = self.done[from..].iter().filter_map(|trial| Some((trial, trial.failure.as_ref()?)));
        let (trial, failure) = failed.next().filter(|_| needed)?;
        let target = trial.levels.target().to_owned();
        Some(Unstarted { target, why: failure.why.clone(), started: trial.is_up() })
    }

    /// Makes and records the trials of one launch; false when it was interrupted, and then nothing is recorded.
    fn launch(
        &mut self,
        planner: &mut dyn Planner,
        specs: &[TrialSpec],
        broken: &mut Broken,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<bool, LabError> {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        self.folder.check()?;
        let (plan, tools) = (self.plan.clone(), self.tools);
        let mut begun = self.begun(&*planner, specs.len());
        let target = specs.first().map_or("", |spec| cell_of(&plan, spec).levels.target());
        if let Some(why) = broken.get(target) {
            for spec in specs {
                self.tell(begun.started(*spec), on_event);
                let record = given_up(empty_record(cell_of(&plan, spec), *spec), why);
                self.record(planner, record, on_event)?;
            }
            return Ok(true);
        }
        let output = self.folder.output_of(&specs.first().map(TrialSpec::id).unwrap_or_default());
        let rest = rest::length(&plan, specs, false, &self.done);
        let mut telling = Telling::new(self.folder, on_event, begun, stop);
        let made = run_launch(&plan, specs, tools, (&output, rest), stop, &mut |told| telling.tell(told));
        for record in telling.into_kept()? {
            planner.take(&record);
            self.done.push(record);
        }
        self.keep(planner, made, broken, on_event)
    }

    /// Makes and records the trials of launches that live together; false when it was interrupted, and then nothing is
    /// recorded.
    fn rotate(
        &mut self,
        planner: &mut dyn Planner,
        together: &Together,
        broken: &mut Broken,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<bool, LabError> {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        self.folder.check()?;
        let (plan, tools) = (self.plan.clone(), self.tools);
        let launching = |spec: &TrialSpec| Launching {
            spec: *spec,
            output: self.folder.output_of(&spec.id()),
            barred: broken.get(cell_of(&plan, spec).levels.target()).cloned(),
        };
        let launches: Vec<Launching> = together.trials.iter().map(launching).collect();
        let rest = rest::length(&plan, &together.trials, true, &self.done);
        let begun = self.begun(&*planner, launches.len());
        let mut telling = Telling::new(self.folder, on_event, begun, stop);
        let made = run_together(&plan, &launches, (&together.turns, rest), tools, stop, &mut |told| telling.tell(told));
        self.keep(planner, made, broken, on_event)
    }

    fn begun(&self, planner: &dyn Planner, more: usize) -> Begun {
        let done = self.done.len();
        Begun { plan: self.plan.clone(), done, expected: planner.expected_trials().max(done + more) }
    }

    /// Records what came of a launch, or of several; false where they were interrupted, of which nothing is kept.
    fn keep(
        &mut self,
        planner: &mut dyn Planner,
        made: Result<Option<Vec<TrialOutput>>, LabError>,
        broken: &mut Broken,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<bool, LabError> {
        let Some(made) = made.inspect_err(|_| self.folder.forget_all())? else {
            self.folder.forget_all();
            return Ok(false);
        };
        for trial in made {
            if trial.record.measurement.is_none() {
                self.folder.forget(&trial.record.id);
            }
            self.folder.keep(&trial.record.id, &trial.kept)?;
            note_broken(broken, &trial.record);
            self.record(planner, trial.record, on_event)?;
        }
        Ok(true)
    }

    fn tell(&mut self, event: Event, on_event: &mut dyn FnMut(&Event)) {
        self.folder.tell(&event);
        on_event(&event);
    }

    /// The record is told before it is on disk: what was told is brought there with it.
    fn record(
        &mut self,
        planner: &mut dyn Planner,
        record: TrialRecord,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<(), LabError> {
        append(self.folder, &record, on_event)?;
        planner.take(&record);
        self.done.push(record);
        Ok(())
    }
}

fn append(folder: &mut RunFolder, record: &TrialRecord, on_event: &mut dyn FnMut(&Event)) -> Result<(), LabError> {
    let event = Event::TrialEnded { record: Box::new(record.clone()) };
    folder.tell(&event);
    folder.append(record)?;
    on_event(&event);
    Ok(())
}

/// Trials that begin, one after the other.
struct Begun {
    plan: Plan,
    /// Trials done, or begun before the next.
    done: usize,
    expected: usize,
}

impl Begun {
    fn started(&mut self, spec: TrialSpec) -> Event {
        let again = if spec.twin { ", once more" } else { "" };
        let label = format!("{}{again}", cell_of(&self.plan, &spec).levels);
        self.done += 1;
        Event::TrialStarted { trial: spec.id(), spec, label, done: self.done - 1, expected: self.expected }
    }
}

/// Makes events of what a launch tells, and keeps what belongs into files of their own.
struct Telling<'a> {
    folder: &'a mut RunFolder,
    on_event: &'a mut dyn FnMut(&Event),
    begun: Begun,
    /// Ends the launch.
    stop: &'a AtomicBool,
    /// What was recorded while its launch went on, or why it cannot be.
    kept: Result<Vec<TrialRecord>, LabError>,
}

impl<'a> Telling<'a> {
    fn new(folder: &'a mut RunFolder, on_event: &'a mut dyn FnMut(&Event), begun: Begun, stop: &'a AtomicBool) -> Self {
        Telling { folder, on_event, begun, stop, kept: Ok(Vec::new()) }
    }

    /// What was recorded while its launch went on.
    fn into_kept(self) -> Result<Vec<TrialRecord>, LabError> {
        self.kept
    }

    /// Records a trial of a launch that goes on, unless an earlier one could not be.
    fn keep(&mut self, trial: TrialOutput) {
        let Ok(kept) = &mut self.kept else { return };
        let written = self.folder.keep(&trial.record.id, &trial.kept);
        match written.and_then(|()| append(self.folder, &trial.record, self.on_event)) {
            Ok(()) => kept.push(trial.record),
            // What follows could not be recorded either.
            Err(error) => {
                self.stop.store(true, Ordering::Relaxed);
                self.kept = Err(error);
            }
        }
    }

    fn tell(&mut self, told: LaunchEvent<'_>) {
        let event = match told {
            LaunchEvent::Waiting(target, seen) => Event::Waiting { target: target.to_owned(), seen },
            LaunchEvent::Left(target, folder) => {
                Event::Left { target: target.to_owned(), folder: folder.to_string_lossy().into_owned() }
            }
            LaunchEvent::Trial(spec) => self.begun.started(spec),
            LaunchEvent::Made(trial) => return self.keep(*trial),
            LaunchEvent::Second(spec, second) => {
                let trial = spec.id();
                self.folder.second(&trial, second);
                Event::Second { trial, second: second.clone() }
            }
            LaunchEvent::Samples(spec, samples, start_ns) => {
                let trial = spec.id();
                self.folder.samples(&trial, samples, start_ns);
                let Some(sample) = samples.last() else { return };
                let at_s = (i128::from(sample.at_ns) - i128::from(start_ns)) as f64 / NS_PER_S as f64;
                Event::Look { trial, at_s, sample: *sample }
            }
        };
        self.folder.tell(&event);
        (self.on_event)(&event);
    }
}

/// How a session ended.
enum Ending {
    /// The planner asks for nothing more.
    Done,
    Interrupted,
    /// A target is missing without which it does not go on.
    Without(Unstarted),
}

/// Targets that are not launched again until the run is resumed, with the reason.
type Broken = BTreeMap<String, WhyFailed>;

/// A target that could not be launched or got ready is not launched again: each try may last a minute.
fn note_broken(broken: &mut Broken, record: &TrialRecord) {
    if let Some(failure) = &record.failure
        && matches!(failure.stage, TrialStage::Launch | TrialStage::Ready)
    {
        broken.entry(record.levels.target().to_owned()).or_insert_with(|| failure.why.clone());
    }
}

/// Parts the trials after which their target has not started, themselves included, and those that failed before the blocks,
/// from all others.
fn not_started_since(done: Vec<TrialRecord>) -> (Vec<TrialRecord>, Vec<TrialRecord>) {
    let mut last_started: BTreeMap<String, usize> = BTreeMap::new();
    for (index, trial) in done.iter().enumerate().filter(|(_, trial)| trial.is_up()) {
        last_started.insert(trial.levels.target().to_owned(), index);
    }
    let is_since =
        |index, trial: &TrialRecord| last_started.get(trial.levels.target()).is_none_or(|last| index > *last);
    let mut parts = (Vec::new(), Vec::new());
    for (index, trial) in done.into_iter().enumerate() {
        let failed_before = trial.block == 0 && trial.failure.is_some();
        if failed_before || is_since(index, &trial) { parts.0.push(trial) } else { parts.1.push(trial) }
    }
    parts
}

/// The targets that have records, none of them of a launch that got ready.
fn never_started(done: &[TrialRecord]) -> Vec<String> {
    let mut targets: BTreeMap<&str, bool> = BTreeMap::new();
    for trial in done {
        *targets.entry(trial.levels.target()).or_default() |= trial.is_up();
    }
    targets.into_iter().filter(|(_, started)| !started).map(|(target, _)| target.to_owned()).collect()
}
