//! Results that `bourdon load -o FILE` saved, read as what they are: one launch each of a server under one load.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use lab::RunRecord;
use model::{Environment, Extent, Instrument, NS_PER_S, TRIAL_SCHEMA, TrialRecord, format_duration};
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Table;

use crate::args::CompareArgs;
use crate::calibrate;
use crate::exit::Failure;
use crate::experiment::Source;

/// Largest file that is read: the seconds of a month.
const LONGEST: u64 = 64 << 20;

/// What a load's server is called where a target needs a name.
const SERVER: &str = "server";

/// The saved loads of one side, made into the record of a run.
pub(super) struct Side {
    pub(super) record: RunRecord,
    /// What was asked of each.
    asked: Value,
    /// When each began, in order.
    started: Vec<String>,
}

/// One file.
#[derive(Deserialize)]
struct Saved {
    schema: String,
    #[serde(default)]
    started_at: String,
    #[serde(default)]
    instrument: Instrument,
    load: Value,
    #[serde(flatten)]
    measured: Value,
}

/// Whether a path leads to a saved load, or to a folder of some, rather than to a recorded run.
pub(super) fn are_there(path: &Path) -> bool {
    path.is_file() || (path.is_dir() && !path.join("plan.toml").exists() && !files_in(path).is_empty())
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json") && path.is_file());
    files.sort();
    files
}

impl Side {
    /// The loads of one side: a file, or all files of a folder that end in `.json`.
    ///
    /// # Errors
    /// When one cannot be read, or asked for another load than the others.
    pub(super) fn read(args: &CompareArgs, path: &Path) -> Result<Side, Failure> {
        let files = if path.is_dir() { files_in(path) } else { vec![path.to_owned()] };
        let mut all: Vec<(PathBuf, Saved)> =
            files.into_iter().map(|file| Ok((file.clone(), saved(&file)?))).collect::<Result<_, Failure>>()?;
        all.sort_by(|a, b| a.1.started_at.cmp(&b.1.started_at));
        let Some((first_file, first)) = all.first() else { return Err(foreign(path, "it holds no saved load")) };
        for (file, one) in &all[1..] {
            let (a, b) = (first_file.display(), file.display());
            if let Some(difference) = difference(&first.load, &one.load) {
                return Err(Failure::usage(format!(
                    "{a} and {b} are on one side and asked for different loads ({difference}); keep them apart"
                )));
            }
            if first.instrument != one.instrument {
                return Err(Failure::usage(format!(
                    "{a} and {b} are on one side and were measured by different versions of bourdon or on different \
                     machines; keep them apart"
                )));
            }
        }
        let mut plan = plan(args, path, &first.load, all.len())?;
        if let Some(count) = first.load["requests"].as_u64() {
            plan.cells.iter_mut().for_each(|cell| cell.load.extent = Extent::Requests { count, within_ns: None });
        }
        // Loads that were made here are judged by what was found of the generator here.
        if first.instrument == calibrate::instrument() {
            plan.generator.limits = calibrate::stored_limits();
        }
        let plan = plan.resolve().map_err(|fault| foreign(path, &fault.to_string()))?;
        let trials = all.iter().zip(1..).map(|((file, one), block)| trial(file, one, block, &plan));
        Ok(Side {
            asked: first.load.clone(),
            started: all.iter().map(|(_, one)| one.started_at.clone()).collect(),
            record: RunRecord { trials: trials.collect::<Result<_, _>>()?, environment: environment(first), plan },
        })
    }

    /// What was asked of the two sides and is in no plan: what was sent, what had to come back, and the generator's
    /// threads. What one of them does not say is not known, and no difference.
    pub(super) fn differences(&self, new: &Side) -> Vec<String> {
        let said = |key: &str| {
            let (before, after) = (self.asked.get(key)?, new.asked.get(key)?);
            (before != after).then(|| format!("{key}: {before}, then {after}"))
        };
        ["http", "headers", "body_bytes", "expect", "tls", "threads", "spin"].into_iter().filter_map(said).collect()
    }

    /// Whether the loads were taken in turn: the first of both, the second of both, and so on.
    pub(super) fn in_turn(&self, other: &Side) -> bool {
        let pairs: Vec<[&String; 2]> = self.started.iter().zip(&other.started).map(|(a, b)| [a, b]).collect();
        let apart = |pair: &[[&String; 2]]| pair[0].iter().max() < pair[1].iter().min();
        self.started.len() == other.started.len() && pairs.len() > 1 && pairs.windows(2).all(apart)
    }
}

fn saved(path: &Path) -> Result<Saved, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let mut text = String::new();
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    if text.len() as u64 > LONGEST {
        return Err(foreign(path, "it is larger than 64 MiB"));
    }
    let place = |error: serde_json::Error| format!("line {}, column {} is not of one", error.line(), error.column());
    let saved: Saved = serde_json::from_str(&text).map_err(|error| foreign(path, &place(error)))?;
    if saved.schema != report::LOAD_SCHEMA {
        return Err(foreign(path, &format!("its schema is `{}`, not `{}`", saved.schema, report::LOAD_SCHEMA)));
    }
    Ok(saved)
}

fn foreign(path: &Path, why: &str) -> Failure {
    Failure::usage(format!("{} is not a saved load: {why}; save one with bourdon load -o FILE", path.display()))
}

/// The first thing that two loads did not ask for alike.
fn difference(a: &Value, b: &Value) -> Option<String> {
    let keys = a.as_object()?.keys().filter(|key| *key != "seed");
    keys.into_iter().find(|key| a[*key] != b[*key]).map(|key| format!("{key}: {} and {}", a[key], b[key]))
}

/// The load as an experiment like any other, with one target and a block for each file.
fn plan(args: &CompareArgs, path: &Path, load: &Value, blocks: usize) -> Result<model::Draft, Failure> {
    let text = experiment(load, args.margin(), blocks)
        .ok_or_else(|| foreign(path, "it does not say what was asked for"))?
        .to_string();
    let source = Source { name: path.display().to_string(), text };
    super::plan(args, &source, &[], Path::new("."))
}

fn experiment(asked: &Value, margin: &str, blocks: usize) -> Option<Table> {
    let time = |key: &str| Some(format_duration((asked[key].as_f64()? * NS_PER_S as f64).round().max(0.0) as u64));
    let mut load = Table::new();
    load.insert("path".into(), asked["path"].as_str()?.into());
    load.insert("method".into(), asked["method"].as_str()?.into());
    load.insert("keep_alive".into(), asked["keep_alive"].as_bool()?.into());
    for key in ["connections", "pipeline"] {
        load.insert(key.into(), asked[key].as_i64()?.into());
    }
    if let Some(rate) = asked["rate_per_s"].as_f64() {
        load.insert("model".into(), "open".into());
        load.insert("rate".into(), rate.into());
        load.insert("arrivals".into(), asked["arrivals"].as_str()?.into());
    }
    if let Some(timeout) = time("timeout_s") {
        load.insert("timeout".into(), timeout.into());
    }
    let mut trials = Table::new();
    trials.insert("warm_up".into(), time("warm_up_s")?.into());
    // An exact number of requests has no window that was asked for; the plan gets the number afterwards.
    trials.insert("window".into(), time("window_s").unwrap_or("1s".to_owned()).into());
    trials.insert("blocks".into(), (blocks as i64).into());
    trials.insert("repeats".into(), 0.into());
    let target = Table::from_iter([("name".to_owned(), SERVER.into()), ("run".to_owned(), toml::Value::from(SERVER))]);
    let vary = Table::from_iter([("target".to_owned(), toml::Value::Array(vec![SERVER.into()]))]);
    Some(Table::from_iter([
        ("question".to_owned(), toml::Value::from("Which is faster?")),
        ("margin".to_owned(), margin.into()),
        ("load".to_owned(), load.into()),
        ("trials".to_owned(), trials.into()),
        ("vary".to_owned(), vary.into()),
        ("target".to_owned(), vec![target].into()),
    ]))
}

/// A file as a launch. What the document calls otherwise than a trial does is renamed.
fn trial(path: &Path, saved: &Saved, block: u32, plan: &model::Plan) -> Result<TrialRecord, Failure> {
    let mut measured = saved.measured.clone();
    let threads = measured["generator"]["thread_use"].take();
    measured["generator"] = json!({ "threads": threads });
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let record = json!({
        "schema": TRIAL_SCHEMA, "id": name, "block": block, "position": 1, "cell": 0,
        "where": plan.cells[0].levels, "started_at": saved.started_at, "time_to_ready_ms": null,
        "measurement": measured, "observation": null, "failure": null,
    });
    serde_json::from_value(record).map_err(|error| foreign(path, &error.to_string()))
}

fn environment(saved: &Saved) -> Environment {
    let Instrument { bourdon, cpu, cpus, kernel } = saved.instrument.clone();
    Environment { started_at: saved.started_at.clone(), bourdon, cpu, cpus, kernel, ..Environment::default() }
}
