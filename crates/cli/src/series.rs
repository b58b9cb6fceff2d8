//! `bourdon run all`: every shipped experiment in turn, and one page of verdicts.

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ::report::{Verdicts, verdict_counts, verdicts_json, verdicts_markdown};
use jiff::Zoned;
use jiff::civil::Date;
use lab::{RunFolder, create_folder_durably, create_new_folder_durably, keep_from_git, read_toml, write_toml};
use model::{Analysis, Judged};
use serde::{Deserialize, Serialize};

use crate::args::{GeneratorArgs, ReportFormat, RunArgs};
use crate::conduct::{self, Conducted};
use crate::exit::{Exit, Failure};
use crate::found;
use crate::interrupt::flag_on_interrupt;
use crate::output::{say, write_out};
use crate::progress::RunProgress;
use crate::ready;
use crate::resume::Opened;

/// The word that stands for every shipped experiment.
pub(crate) const ALL: &str = "all";

/// What a series was asked for, beside its runs.
const SERIES: &str = "series.toml";

/// The page over all of them.
const PAGE: &str = "verdicts.md";

/// Schema number of `series.toml`.
const SERIES_SCHEMA: &str = "bourdon.series/1";

/// What was asked of each run; those that are begun later are asked for the same.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Series {
    schema: String,
    experiments: Vec<String>,
    quick: bool,
    #[serde(default)]
    blocks: Option<u32>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    target: Vec<String>,
    #[serde(default)]
    allow_failures: Option<f64>,
    #[serde(default)]
    no_rotation: bool,
    #[serde(default)]
    generator: GeneratorArgs,
}

impl Series {
    /// Of every shipped experiment, as the arguments ask.
    fn of(args: &RunArgs) -> Self {
        Series {
            schema: SERIES_SCHEMA.to_owned(),
            experiments: found::shipped_names().into_iter().map(str::to_owned).collect(),
            quick: args.quick,
            blocks: args.blocks,
            seed: args.seed,
            target: args.target.clone(),
            allow_failures: args.allow_failures,
            no_rotation: args.no_rotation,
            generator: args.generator,
        }
    }

    /// The arguments of a run of it in `folder`; what is no matter of the series is as in those of today.
    fn args(&self, today: &RunArgs, folder: &Path) -> RunArgs {
        let Series { schema: _, experiments: _, quick, blocks, seed, target, allow_failures, no_rotation, generator } =
            self.clone();
        let asked = RunArgs { quick, blocks, seed, target, allow_failures, no_rotation, generator, ..today.clone() };
        RunArgs { runs: folder.to_owned(), ..asked }
    }
}

/// What came of one experiment.
struct Ended {
    name: String,
    outcome: Result<Analysis, String>,
    exit: Exit,
}

/// Whether a folder is one of a series.
pub(crate) fn is_one(folder: &Path) -> bool {
    folder.join(SERIES).is_file()
}

/// `bourdon run all`.
pub(crate) fn begin(args: &RunArgs) -> Result<Exit, Failure> {
    check_format(args)?;
    let stop = flag_on_interrupt()?;
    let series = Series::of(args);
    let folder = create(&args.runs, args.quick)?;
    write_toml(&folder.join(SERIES), &series).map_err(Failure::usage)?;
    conduct(args, &series, &folder, &stop)
}

/// A page is of one run.
fn check_format(args: &RunArgs) -> Result<(), Failure> {
    match args.shown.format {
        ReportFormat::Html => Err(Failure::usage("a page is of one run: each has its report.html in its folder")),
        ReportFormat::Text | ReportFormat::Markdown | ReportFormat::Json => Ok(()),
    }
}

/// `bourdon run --resume RUNS/DATE-all`.
pub(crate) fn resume(args: &RunArgs, folder: &Path) -> Result<Exit, Failure> {
    if args.blocks.is_some() {
        let cure = "name the folder of one of its runs";
        return Err(Failure::usage(format!("--blocks changes one run, and this is a folder of `{ALL}`: {cure}")));
    }
    check_format(args)?;
    let series: Series = read_toml(&folder.join(SERIES), &[SERIES_SCHEMA]).map_err(Failure::usage)?;
    let stop = flag_on_interrupt()?;
    conduct(args, &series, folder, &stop)
}

/// A folder of its own for the runs of a series.
fn create(runs: &Path, quick: bool) -> Result<PathBuf, Failure> {
    let name = format!("{}-{ALL}{}", Zoned::now().date(), if quick { "-quick" } else { "" });
    let is_new = !runs.exists();
    create_folder_durably(runs).map_err(|error| Failure::usage(format!("{}: {}", runs.display(), lab::why(&error))))?;
    if is_new {
        keep_from_git(runs);
    }
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = runs.join(format!("{name}{suffix}"));
        match create_new_folder_durably(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::usage(format!("{}: {error}", folder.display()))),
        }
    }
    unreachable!("there are more numbers than folders")
}

/// Held while this bourdon works on a series: of two, both would begin what is not there yet.
fn alone(folder: &Path) -> Result<File, Failure> {
    let path = folder.join(SERIES);
    let refused = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
    let file = File::open(&path).map_err(|error| refused(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(refused(&"another bourdon is at work on these runs; wait for its end, or interrupt it"))
        }
        Err(TryLockError::Error(error)) => Err(refused(&error)),
    }
}

fn conduct(args: &RunArgs, series: &Series, folder: &Path, stop: &AtomicBool) -> Result<Exit, Failure> {
    let _alone = alone(folder)?;
    let mut ended: Vec<Ended> = Vec::new();
    for (place, name) in series.experiments.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        say(format!("{} of {}: {name}", place + 1, series.experiments.len()));
        ended.push(match one(args, series, folder, name, stop) {
            Ok(run) => Ended { name: name.clone(), exit: run.exit(args.gate), outcome: of_claims(run.judged) },
            // What one experiment lacks does not stop the others.
            Err(failure) => Ended { name: name.clone(), exit: failure.exit(), outcome: Err(failure.to_string()) },
        });
        let pages: Vec<Verdicts> = ended.iter().map(Ended::verdicts).collect();
        RunFolder::write_document(folder, PAGE, &verdicts_markdown(&pages)).map_err(Failure::usage)?;
        say(ended.last().map(Ended::in_short).unwrap_or_default());
    }
    let pages: Vec<Verdicts> = ended.iter().map(Ended::verdicts).collect();
    write_out(&match args.shown.format {
        ReportFormat::Json => verdicts_json(&pages),
        ReportFormat::Text | ReportFormat::Markdown | ReportFormat::Html => verdicts_markdown(&pages),
    })?;
    if stop.load(Ordering::Relaxed) {
        conduct::say_interrupted(folder, args.nodes.nodes.as_ref().and(args.nodes.workers));
        return Ok(Exit::Interrupted);
    }
    Ok(ended.iter().map(|one| one.exit).min().unwrap_or(Exit::Good))
}

/// Begins an experiment, or resumes it where the folder has a run of it.
fn one(args: &RunArgs, series: &Series, folder: &Path, name: &str, stop: &AtomicBool) -> Result<Conducted, Failure> {
    let mut progress = RunProgress::new();
    let trial = match recorded(folder, name)? {
        Some(run) => Opened::of(&run, None)?.prepare(stop, &mut progress)?,
        None => {
            let args = series.args(args, folder);
            ready::begin(&args, ready::plan(&args, name)?, stop, &mut progress)?
        }
    };
    // Nobody may be there to mend what does not start.
    conduct::conduct(trial, true, stop, progress)
}

/// The run of an experiment in the folder of a series: `DATE-NAME`.
fn recorded(folder: &Path, name: &str) -> Result<Option<PathBuf>, Failure> {
    let unreadable = |error| Failure::usage(format!("{}: {error}", folder.display()));
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).and_then(Iterator::collect).map_err(unreadable);
    let ending = format!("-{name}");
    let mut runs: Vec<PathBuf> = entries?.into_iter().map(|entry: std::fs::DirEntry| entry.path()).collect();
    // Two experiments may end alike: what is before the name is a date.
    let is_dated = |name: &str| name.strip_suffix(&ending).is_some_and(|date| date.parse::<Date>().is_ok());
    runs.retain(|path| path.is_dir() && path.file_name().and_then(OsStr::to_str).is_some_and(is_dated));
    Ok(runs.into_iter().min())
}

/// What the page of verdicts shows of a record: its claims.
fn of_claims(judged: Judged) -> Result<Analysis, String> {
    match judged {
        Judged::Run(analysis) => Ok(*analysis),
        Judged::Comparison(_) => Err("its record is a comparison, not an experiment with claims".to_owned()),
        Judged::Soak(_) => Err("its record is a soak, not an experiment with claims".to_owned()),
        Judged::Diagnosis(_) => Err("its record is a diagnosis, not an experiment with claims".to_owned()),
    }
}

impl Ended {
    fn verdicts(&self) -> Verdicts<'_> {
        Verdicts { name: &self.name, outcome: self.outcome.as_ref().map_err(String::as_str) }
    }

    /// One line for stderr.
    fn in_short(&self) -> String {
        let Ok(analysis) = &self.outcome else { return format!("{}: not run", self.name) };
        format!("{}: {}", self.name, verdict_counts(analysis))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn run(words: &str) -> RunArgs {
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Run(args) => args,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_series_was_asked_for_holds_for_what_is_begun_after_it_was_resumed() {
        let asked = run(
            "bourdon run all --quick --target go-iris,go-net-http --blocks 7 --seed 3 --allow-failures 5% --threads 2 --spin --no-rotation",
        );
        let written = toml::to_string(&Series::of(&asked)).unwrap();
        let series: Series = toml::from_str(&written).unwrap();
        let resumed = series.args(&run("bourdon run --resume runs/x-all --gate"), Path::new("runs/x-all"));
        let of = |args: &RunArgs| {
            let RunArgs { quick, blocks, seed, target, allow_failures, no_rotation, generator, .. } = args.clone();
            (quick, blocks, seed, target, (allow_failures, no_rotation), generator.asked())
        };
        assert_eq!(of(&resumed), of(&asked));
        assert!(resumed.gate && resumed.runs == Path::new("runs/x-all"));
    }

    #[test]
    fn a_series_of_before_is_read() {
        let written = "schema = \"bourdon.series/1\"\nexperiments = [\"routing\"]\nquick = true\n";
        let series: Series = toml::from_str(written).unwrap();
        assert_eq!((series.target, series.allow_failures), (Vec::new(), None));
    }
}
