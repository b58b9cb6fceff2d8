//! The run folder: everything about one run, written so that a kill at any moment leaves what `report` reads and
//! `--resume` continues.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};

use model::{Environment, Plan, TrialRecord};
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;

use crate::durable::{rename_durably, write_durably};
use crate::error::LabError;

const PLAN: &str = "plan.toml";
const ENVIRONMENT: &str = "environment.json";
const TRIALS: &str = "trials.jsonl";

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

/// What is kept of a trial beside its record; empty where there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// Its histograms, second by second.
    pub interval_log: Vec<u8>,
    /// Its CPU profile as the target gave it.
    pub profile: Vec<u8>,
    /// What `perf` told of it instead, gzipped.
    pub perf: Vec<u8>,
    /// Its samples, as CSV.
    pub samples: String,
}

/// A run folder that is being written. Only one bourdon can hold it.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    trials: File,
}

impl RunFolder {
    /// Makes `runs/<name>`, with a number behind the name when it is taken. It appears under its name only once it
    /// holds its plan.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn create(runs: &Path, name: &str, plan: &Plan, environment: &Environment) -> Result<Self, LabError> {
        let unfinished = runs.join(format!(".unfinished-{}", std::process::id()));
        for folder in PER_TRIAL {
            let folder = unfinished.join(folder);
            std::fs::create_dir_all(&folder).map_err(LabError::file(&folder))?;
        }
        let written = toml::to_string(plan)
            .map_err(|error| LabError::Content { path: unfinished.join(PLAN), line: 0, text: error.to_string() })
            .and_then(|plan| write_whole(&unfinished.join(PLAN), plan.as_bytes()))
            .and_then(|()| write_whole(&unfinished.join(ENVIRONMENT), &json(environment)))
            .and_then(|()| File::create(unfinished.join(TRIALS)).map_err(LabError::file(&unfinished)));
        let moved = written.and_then(|trials| {
            lock(&trials, &unfinished)?;
            Ok(Self { path: claim_name(&unfinished, runs, name)?, trials })
        });
        if moved.is_err() {
            let _ = std::fs::remove_dir_all(&unfinished);
        }
        moved
    }

    /// Opens a recorded run to go on with it.
    ///
    /// # Errors
    /// When it is no run folder, is damaged, or another bourdon is writing to it.
    pub fn resume(path: &Path) -> Result<(Self, RunRecord), LabError> {
        if !path.join(PLAN).is_file() {
            return Err(LabError::NotARun { path: path.to_owned() });
        }
        let file = path.join(TRIALS);
        let mut trials = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&file)
            .map_err(LabError::file(&file))?;
        lock(&trials, path)?;
        let (record, whole_bytes) = read_record(path)?;
        // A line torn by a crash is no trial; it is cut off so that the next one begins on a line of its own.
        trials
            .set_len(whole_bytes)
            .and_then(|()| trials.seek(std::io::SeekFrom::End(0)))
            .map_err(LabError::file(&file))?;
        Ok((Self { path: path.to_owned(), trials }, record))
    }

    /// Reads a recorded run.
    ///
    /// # Errors
    /// When it is no run folder or is damaged.
    pub fn read(path: &Path) -> Result<RunRecord, LabError> {
        if !path.join(PLAN).is_file() {
            return Err(LabError::NotARun { path: path.to_owned() });
        }
        read_record(path).map(|(record, _)| record)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a trial that has ended, as one line in one write.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, trial: &TrialRecord) -> Result<(), LabError> {
        let mut line = json(trial);
        line.push(b'\n');
        self.trials.write_all(&line).map_err(LabError::file(self.path.join(TRIALS)))
    }

    /// Where a trial's target writes.
    pub fn output_of(&self, trial: &str) -> PathBuf {
        self.path.join("stderr").join(format!("{trial}.log"))
    }

    /// Keeps what belongs to a trial beside its record; what is empty gets no file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, trial: &str, kept: &Kept) -> Result<(), LabError> {
        let files = [
            ("histograms", "hlog", kept.interval_log.as_slice()),
            ("profiles", "pb.gz", &kept.profile),
            ("profiles", "perf.txt.gz", &kept.perf),
            ("samples", "csv", kept.samples.as_bytes()),
        ];
        for (folder, ending, content) in files.into_iter().filter(|(_, _, content)| !content.is_empty()) {
            let folder = self.path.join(folder);
            // A run that an earlier bourdon began has not every folder.
            std::fs::create_dir_all(&folder).map_err(LabError::file(&folder))?;
            write_whole(&folder.join(format!("{trial}.{ending}")), content)?;
        }
        Ok(())
    }

    /// Writes a document that is made from the record, such as `analysis.json`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_document(path: &Path, name: &str, text: &str) -> Result<(), LabError> {
        write_whole(&path.join(name), text.as_bytes())
    }
}

/// Gives the folder its name, or the next one that is free.
fn claim_name(unfinished: &Path, runs: &Path, name: &str) -> Result<PathBuf, LabError> {
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = runs.join(format!("{name}{suffix}"));
        if path.exists() {
            continue;
        }
        match rename_durably(unfinished, &path) {
            Ok(()) => return Ok(path),
            // Another bourdon took the name in between.
            Err(_) if path.exists() => {}
            Err(error) => return Err(LabError::file(&path)(error)),
        }
    }
    unreachable!("there is always a next number")
}

fn lock(file: &File, path: &Path) -> Result<(), LabError> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|_| LabError::Busy { path: path.to_owned() })
}

fn json(document: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(document).expect("our types have text keys, and writing to memory works")
}

fn write_whole(path: &Path, content: &[u8]) -> Result<(), LabError> {
    write_durably(path, content).map_err(LabError::file(path))
}

/// The record, and how many bytes of the trials' file are whole lines.
fn read_record(path: &Path) -> Result<(RunRecord, u64), LabError> {
    let text = std::fs::read_to_string(path.join(PLAN)).map_err(LabError::file(path.join(PLAN)))?;
    let plan = toml::from_str(&text).map_err(|error| {
        let before = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..before].lines().count().max(1);
        LabError::Content { path: path.join(PLAN), line, text: error.message().to_owned() }
    })?;
    let file = path.join(ENVIRONMENT);
    let environment = std::fs::read(&file).map_err(LabError::file(&file))?;
    let environment = parse(&environment, &file, 1)?;
    let (trials, whole_bytes) = read_trials(&path.join(TRIALS))?;
    Ok((RunRecord { plan, environment, trials }, whole_bytes))
}

fn read_trials(path: &Path) -> Result<(Vec<TrialRecord>, u64), LabError> {
    let Ok(file) = File::open(path) else { return Ok((Vec::new(), 0)) };
    let (mut reader, mut trials, mut whole_bytes) = (BufReader::new(file), Vec::new(), 0);
    for number in 1.. {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(LabError::file(path))?;
        if line.last() != Some(&b'\n') {
            break;
        }
        trials.push(parse(&line, path, number)?);
        whole_bytes += line.len() as u64;
    }
    Ok((trials, whole_bytes))
}

fn parse<T: DeserializeOwned>(bytes: &[u8], path: &Path, line: usize) -> Result<T, LabError> {
    serde_json::from_slice(bytes).map_err(|error| LabError::Content {
        path: path.to_owned(),
        line,
        text: error.to_string(),
    })
}
