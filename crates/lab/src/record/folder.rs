//! The run folder: everything about one run, written so that a kill at any moment leaves what `report` reads and
//! `--resume` continues.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use model::{
    Addition, Draft, ENVIRONMENT_SCHEMA, Environment, Event, LoadSecond, PLAN_SCHEMAS, Plan, Sample, TRIAL_SCHEMAS,
    TrialRecord,
};

use super::additions;
use super::journal::{self, Journal};
use super::owned::{Owned, cut_torn_line, lock};
use super::read_trace;
use super::trace::{self, Trace};
use crate::document::{self, from_json, read_json, read_toml, to_json, write_toml};
use crate::durable::{UNFINISHED, create_folder_durably, keep_from_git, sync_folder, write_durably};
use crate::error::LabError;
use crate::held::{Held, sweep};

const PLAN: &str = "plan.toml";
const ENVIRONMENT: &str = "environment.json";
const TRIALS: &str = "trials.jsonl";

/// Bytes of a trial's line at most: a day's trial of the first version has some 20 MB. A damaged file must not fill the
/// memory.
const MOST_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// Folders with one file a trial.
const PER_TRIAL: [&str; 4] = ["histograms", "profiles", "samples", "stderr"];

/// What a run folder holds, read back.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The resolved plan.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// The trials that ended, in the order in which they ended.
    pub trials: Vec<TrialRecord>,
}

impl RunRecord {
    /// The trials that count: of two for one launch the one that was recorded later.
    pub fn counted(&self) -> impl Iterator<Item = &TrialRecord> {
        let last: BTreeMap<&str, &TrialRecord> = self.trials.iter().map(|trial| (trial.id.as_str(), trial)).collect();
        last.into_values()
    }
}

/// What is kept of a trial beside its record once it has ended; empty where there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// Its CPU profile as the target gave it.
    pub profile: Vec<u8>,
    /// What `perf` told of it instead, gzipped.
    pub perf: Vec<u8>,
}

/// A run folder that is being written. Only one bourdon can hold it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// The plan and the machine, which nobody writes to any more.
    written: [Owned; 2],
    additions: Option<Owned>,
    trials: Owned,
    events: Journal,
    /// Recorded trials of whose end the events do not tell.
    untold: Vec<String>,
    /// What is written of the trials of a launch while it runs.
    traces: Vec<Trace>,
}

impl RunFolder {
    /// Makes `runs/<name>`, with a number behind the name when it is taken. It appears under its name only once it
    /// holds its plan.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn create(runs: &Path, name: &str, plan: &Plan, environment: &Environment) -> Result<Self, LabError> {
        let is_new = !runs.exists();
        create_folder_durably(runs).map_err(LabError::file(runs))?;
        sweep(runs, |name| name.starts_with(UNFINISHED), reaper::remove_folder);
        let unfinished = Held::make(runs, UNFINISHED).map_err(LabError::file(runs))?;
        // The name that it has until then is gone when somebody reads of it.
        let folder = furnish(unfinished.path(), plan, environment).map_err(|error| error.within(&runs.join(name)))?;
        let path = claim_name(unfinished.path(), runs, name)?;
        if is_new {
            keep_from_git(runs);
        }
        Ok(folder.at(path))
    }

    /// Opens a recorded run to resume it.
    ///
    /// # Errors
    /// When it is not a run folder, is damaged, or another bourdon is writing to it.
    pub fn resume(path: &Path) -> Result<(Self, RunRecord), LabError> {
        read_plan(path)?;
        let file = path.join(TRIALS);
        let mut recorded = open_trials(&file, OpenOptions::new().read(true).append(true))?;
        lock(&recorded, &file, path)?;
        // Once more: who held the lock may have added to the plan, or raised its blocks.
        let (plan, environment) = read_plan(path)?;
        let trials = read_trials(&recorded, &file, &plan)?;
        // A line torn by a crash is not a trial; it is cut off so that the next one begins on a line of its own.
        cut_torn_line(&mut recorded).map_err(LabError::file(&file))?;
        remove_unfinished(path);
        make_per_trial(path)?;
        let mut folder = Self::held(path, recorded)?;
        folder.untold = journal::untold(path, &trials)?;
        Ok((folder, RunRecord { plan, environment, trials }))
    }

    /// A run folder with all its files, whose trials are held for writing.
    fn held(path: &Path, trials: File) -> Result<Self, LabError> {
        Ok(Self {
            path: path.to_owned(),
            written: [Owned::read_only(&path.join(PLAN))?, Owned::read_only(&path.join(ENVIRONMENT))?],
            additions: additions::open(path)?,
            trials: Owned::of(&path.join(TRIALS), trials)?,
            events: Journal::open(path)?,
            untold: Vec::new(),
            traces: Vec::new(),
        })
    }

    /// The same where it has another name now; nothing was added to its plan yet.
    fn at(self, path: PathBuf) -> Self {
        let written = self.written.map(|file| file.at(&path));
        Self { written, trials: self.trials.at(&path), events: self.events.at(&path), path, ..self }
    }

    /// Reads a recorded run, which may still be under way.
    ///
    /// # Errors
    /// When it is not a run folder or is damaged.
    pub fn read(path: &Path) -> Result<RunRecord, LabError> {
        read_plan(path)?;
        let file = path.join(TRIALS);
        let recorded = open_trials(&file, OpenOptions::new().read(true))?;
        // The trials of now alone: a plan that is read after that has all of their cells, whatever is added meanwhile.
        let now_bytes = recorded.metadata().map_err(LabError::file(&file))?.len();
        let (plan, environment) = read_plan(path)?;
        let trials = read_trials(recorded.take(now_bytes), &file, &plan)?;
        Ok(RunRecord { plan, environment, trials })
    }

    /// What lies beside the records of these trials, by name.
    pub fn traces(path: &Path, trials: &[TrialRecord]) -> BTreeMap<String, model::Trace> {
        trials.iter().map(|trial| (trial.id.clone(), read_trace::trace(path, trial))).collect()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts another plan in the place of the one that was recorded.
    ///
    /// # Errors
    /// When it cannot be written; the recorded one holds then.
    pub fn replace_plan(&mut self, plan: &Plan) -> Result<(), LabError> {
        let path = self.path.join(PLAN);
        write_toml(&path, plan)?;
        self.written[0] = Owned::read_only(&path)?;
        Ok(())
    }

    /// Records what a planner adds to the plan. Once this returns, a power cut does not undo it.
    ///
    /// # Errors
    /// When it cannot be written, or the file is no longer what was written.
    pub fn add(&mut self, addition: &Addition) -> Result<(), LabError> {
        let file = match self.additions.take() {
            Some(file) => file,
            None => additions::begin(&self.path)?,
        };
        let file = self.additions.insert(file);
        file.add(&additions::line(addition))?;
        file.sync()
    }

    /// Recorded trials of whose end `events.jsonl` does not tell, by name: its end was cut off, or it was removed.
    pub fn untold(&self) -> &[String] {
        &self.untold
    }

    /// Tells what happens, in a line of `events.jsonl`. Where that fails, [`Self::check`] and [`Self::verify`] say so.
    pub fn tell(&mut self, event: &Event) {
        self.events.tell(event);
    }

    /// Writes down a second of a trial's load.
    pub(crate) fn second(&mut self, trial: &str, second: &LoadSecond) {
        self.trace(trial).second(second);
    }

    /// Writes down samples of a trial's target; times count from `start_ns`.
    pub(crate) fn samples(&mut self, trial: &str, samples: &[Sample], start_ns: u64) {
        self.trace(trial).samples(samples, start_ns);
    }

    fn trace(&mut self, trial: &str) -> &mut Trace {
        let place = self.traces.iter().position(|trace| trace.trial == trial).unwrap_or_else(|| {
            self.traces.push(Trace::new(&self.path, trial));
            self.traces.len() - 1
        });
        &mut self.traces[place]
    }

    /// Forgets what was written of a trial whose load says nothing.
    pub(crate) fn forget(&mut self, trial: &str) {
        self.traces.retain(|trace| trace.trial != trial);
    }

    /// Forgets what was written of trials that are not to be recorded.
    pub(crate) fn forget_all(&mut self) {
        self.traces.clear();
    }

    /// Adds a trial that has ended, as one line in one write. Once this returns, a power cut does not undo it, nor what
    /// was told before; where that could not be written, the trial is recorded all the same.
    ///
    /// # Errors
    /// When it cannot be written, or the file is no longer what was written.
    pub fn append(&mut self, trial: &TrialRecord) -> Result<(), LabError> {
        self.events.sync();
        let mut line = to_json(trial);
        line.push(b'\n');
        self.trials.add(&line)?;
        self.trials.sync()
    }

    /// Whether the record is still what was written, as far as names and lengths tell, and all that was told is in it.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&mut self) -> Result<(), LabError> {
        self.owned().try_for_each(Owned::check)?;
        self.events.check()
    }

    /// The same, byte for byte.
    ///
    /// # Errors
    /// When it cannot be read, or somebody changed it.
    pub fn verify(&mut self) -> Result<(), LabError> {
        self.owned().try_for_each(Owned::verify)?;
        self.events.verify()
    }

    /// What is judged.
    fn owned(&self) -> impl Iterator<Item = &Owned> {
        self.written.iter().chain(&self.additions).chain([&self.trials])
    }

    /// Where a trial's target writes.
    pub fn output_of(&self, trial: &str) -> PathBuf {
        self.path.join("stderr").join(format!("{trial}.log"))
    }

    /// Keeps what belongs to a trial beside its record; what is empty gets no file. It is on disk before the record is,
    /// with what the target wrote and what was written of the trial while it ran.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&mut self, trial: &str, kept: &Kept) -> Result<(), LabError> {
        let files = [("profiles", "pb.gz", &kept.profile), ("profiles", "perf.txt.gz", &kept.perf)];
        // A folder that was moved is not begun anew: what lies in it could not be resumed.
        self.trials.check()?;
        trace::remove(&self.path, trial)?;
        if let Some(place) = self.traces.iter().position(|trace| trace.trial == trial) {
            self.traces.swap_remove(place).finish()?;
        }
        for (folder, ending, content) in files.into_iter().filter(|(_, _, content)| !content.is_empty()) {
            let folder = self.path.join(folder);
            // A run that an earlier bourdon began lacks some of the folders.
            create_folder_durably(&folder).map_err(LabError::file(&folder))?;
            let file = folder.join(format!("{trial}.{ending}"));
            write_durably(&file, content).map_err(LabError::file(&file))?;
        }
        self.sync_output(trial)
    }

    fn sync_output(&self, trial: &str) -> Result<(), LabError> {
        let output = self.output_of(trial);
        match document::open(&output, OpenOptions::new().read(true)) {
            // It was not launched, or wrote under the name of an earlier trial on its ladder.
            Err(error) if error.is_missing() => Ok(()),
            opened => opened?
                .sync_all()
                .and_then(|()| sync_folder(&self.path.join("stderr")))
                .map_err(LabError::file(&output)),
        }
    }

    /// Writes a document that is made from the record, such as `analysis.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_document(path: &Path, name: &str, text: &str) -> Result<(), LabError> {
        let path = path.join(name);
        write_durably(&path, text.as_bytes()).map_err(LabError::file(&path))
    }
}

/// Makes a run folder under a name that it does not keep, and holds it.
fn furnish(unfinished: &Path, plan: &Plan, environment: &Environment) -> Result<RunFolder, LabError> {
    make_per_trial(unfinished)?;
    write_toml(&unfinished.join(PLAN), plan)?;
    let (described, recorded) = (unfinished.join(ENVIRONMENT), unfinished.join(TRIALS));
    write_durably(&described, &to_json(environment)).map_err(LabError::file(&described))?;
    write_durably(&recorded, b"").map_err(LabError::file(&recorded))?;
    let trials = OpenOptions::new().read(true).append(true).open(&recorded).map_err(LabError::file(&recorded))?;
    lock(&trials, &recorded, unfinished)?;
    RunFolder::held(unfinished, trials)
}

/// Makes the folders with one file a trial, as far as they are missing.
fn make_per_trial(path: &Path) -> Result<(), LabError> {
    let make = |folder: PathBuf| create_folder_durably(&folder).map_err(LabError::file(&folder));
    PER_TRIAL.iter().try_for_each(|folder| make(path.join(folder)))
}

/// Gives the folder its name, or the next one that is free.
fn claim_name(unfinished: &Path, runs: &Path, name: &str) -> Result<PathBuf, LabError> {
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = runs.join(format!("{name}{suffix}"));
        if path.exists() {
            continue;
        }
        match std::fs::rename(unfinished, &path) {
            Ok(()) => return sync_folder(runs).map(|()| path).map_err(LabError::file(runs)),
            // Another bourdon took the name in between.
            Err(_) if path.exists() => {}
            Err(error) => return Err(LabError::file(&path)(error)),
        }
    }
    unreachable!("there is always a next number")
}

/// Removes the files that a killed bourdon was writing; `.unfinished` is what they ended in once.
fn remove_unfinished(run: &Path) {
    for folder in PER_TRIAL.iter().map(|folder| run.join(folder)).chain([run.to_owned()]) {
        for (path, name) in entries(&folder) {
            if name.starts_with(UNFINISHED) || name.ends_with(".unfinished") {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = (PathBuf, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned()))
}

fn read_plan(path: &Path) -> Result<(Plan, Environment), LabError> {
    let draft: Draft = read_toml(&path.join(PLAN), &PLAN_SCHEMAS).map_err(|error| match error {
        error if error.is_missing() && !path.exists() => LabError::NotThere { path: path.to_owned() },
        error if error.is_missing() => LabError::NotARun { path: path.to_owned() },
        other => other,
    })?;
    let plan = draft.resolve().map_err(|fault| LabError::Plan { path: path.join(PLAN), fault })?;
    let environment = read_json(&path.join(ENVIRONMENT), &[ENVIRONMENT_SCHEMA]);
    Ok((additions::read(path, plan)?, environment.map_err(missing(&path.join(ENVIRONMENT)))?))
}

/// Opens the trials' file.
fn open_trials(file: &Path, options: &mut OpenOptions) -> Result<File, LabError> {
    document::open(file, options).map_err(missing(file))
}

/// A file that each run folder has from the moment it has its name: without one it is damaged.
fn missing(file: &Path) -> impl Fn(LabError) -> LabError + use<'_> {
    |error| match error {
        error if error.is_missing() => LabError::Missing { path: file.to_owned() },
        other => other,
    }
}

/// Why a trial cannot be one of this plan, where it cannot: its figures would be judged by the conditions of another.
fn stranger(trial: &TrialRecord, plan: &Plan) -> Option<String> {
    let (number, cells) = (trial.cell.saturating_add(1), plan.cells.len());
    let Some(cell) = plan.cell(trial.cell) else {
        return Some(format!(
            "a trial of cell {number}, and plan.toml has {cells}: it was cut, or is that of another run; restore it from a copy"
        ));
    };
    let TrialRecord { id, levels, .. } = trial;
    let fault = if *levels != cell.levels {
        format!("`where` of {id} is {levels}, and cell {number} of plan.toml is {}", cell.levels)
    } else if *id != trial.spec().id() {
        format!("`id` is {id}, and what it says of its block and cell makes {}", trial.spec().id())
    } else if trial.block > most_blocks(plan) {
        let (block, most) = (trial.block, plan.blocks.max);
        format!("block {block} of {id}, where plan.toml has {most}, is more than are ever made again")
    } else {
        return None;
    };
    Some(format!("{fault}: one of them was changed, or is of another run; restore it from a copy"))
}

/// More launches than a soak or a diagnosis has of one cell, whose plans ask for a single block.
const MOST_OF_A_CELL: u32 = 1_000;

/// The last block that a run can have come to, those included that were made again for others.
fn most_blocks(plan: &Plan) -> u32 {
    let of_plan = plan.blocks.max.max(plan.blocks.min).max(1);
    of_plan.saturating_add(plan.repeats).saturating_mul(2).saturating_add(MOST_OF_A_CELL)
}

/// The trials of a file, up to what stands behind its last newline.
fn read_trials(file: impl Read, path: &Path, plan: &Plan) -> Result<Vec<TrialRecord>, LabError> {
    let (mut reader, mut trials) = (BufReader::new(file), Vec::new());
    for number in 1.. {
        let mut line = Vec::new();
        reader.by_ref().take(MOST_LINE_BYTES).read_until(b'\n', &mut line).map_err(LabError::file(path))?;
        if line.len() as u64 == MOST_LINE_BYTES {
            return Err(document::content(
                path,
                number,
                "this line is longer than any trial's: the file is damaged".to_owned(),
            ));
        }
        if line.last() != Some(&b'\n') {
            break;
        }
        let trial: TrialRecord = from_json(&line, &TRIAL_SCHEMAS, path, number)?;
        if let Some(fault) = stranger(&trial, plan) {
            return Err(document::content(path, number, fault));
        }
        if let Some(fault) = trial.fault() {
            let cure = "it was damaged, or written by something else; restore it from a copy";
            return Err(document::content(path, number, format!("{fault}; {cure}")));
        }
        trials.push(trial);
    }
    Ok(trials)
}
