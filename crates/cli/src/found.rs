//! Experiments and targets, found by name.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::Target;

use crate::bounded;
use crate::exit::Failure;
use crate::experiment::{self, Source};
use crate::home::places;

/// Experiments that come with bourdon, by name.
const SHIPPED: [(&str, &str); 20] = [
    ("business-latency", include_str!("../../../experiments/business-latency.toml")),
    ("timeouts", include_str!("../../../experiments/timeouts.toml")),
    ("memory-under-concurrency", include_str!("../../../experiments/memory-under-concurrency.toml")),
    ("io-models", include_str!("../../../experiments/io-models.toml")),
    ("sustained-rate", include_str!("../../../experiments/sustained-rate.toml")),
    ("worker-pools", include_str!("../../../experiments/worker-pools.toml")),
    ("routing", include_str!("../../../experiments/routing.toml")),
    ("execution-units", include_str!("../../../experiments/execution-units.toml")),
    ("one-timeout", include_str!("../../../experiments/one-timeout.toml")),
    ("many-paths", include_str!("../../../experiments/many-paths.toml")),
    ("json-rendering", include_str!("../../../experiments/json-rendering.toml")),
    ("collector-and-memory", include_str!("../../../experiments/collector-and-memory.toml")),
    ("memory-in-flight", include_str!("../../../experiments/memory-in-flight.toml")),
    ("digest-code", include_str!("../../../experiments/digest-code.toml")),
    ("kinds-of-work", include_str!("../../../experiments/kinds-of-work.toml")),
    ("one-heavy-request", include_str!("../../../experiments/one-heavy-request.toml")),
    ("slow-dependency", include_str!("../../../experiments/slow-dependency.toml")),
    ("processors", include_str!("../../../experiments/processors.toml")),
    ("network-delay", include_str!("../../../experiments/network-delay.toml")),
    // Last, for its connections leave no local port to others for a minute.
    ("many-clients", include_str!("../../../experiments/many-clients.toml")),
];

/// The names of the shipped experiments.
pub(crate) fn shipped_names() -> Vec<&'static str> {
    SHIPPED.iter().map(|(name, _)| *name).collect()
}

/// How deep below `targets/` a target's folder may lie: targets/LANGUAGE/NAME.
const TARGET_DEPTH: u32 = 2;

/// An experiment as it was found.
pub(crate) struct Found {
    pub(crate) source: Source,
    /// Short name, for the run's folder.
    pub(crate) folder: PathBuf,
}

/// Reads an experiment: a file, or the name of a shipped one.
pub(crate) fn experiment(named: &str) -> Result<Found, Failure> {
    let path = Path::new(named);
    let shipped = SHIPPED.iter().find(|(name, _)| *name == named);
    if let (false, Some((name, text))) = (path.is_file(), shipped) {
        let source = Source { name: format!("{name}.toml"), text: (*text).to_owned() };
        return Ok(Found { source, folder: PathBuf::from(".") });
    }
    if path.join("plan.toml").exists() {
        let run = path.display();
        return Err(Failure::usage(format!(
            "{run} is a recorded run, and not an experiment file; show it with bourdon report {run}, or resume it with \
             --resume {run}"
        )));
    }
    let text = bounded::read_text(path).map_err(|error| {
        if error.kind() == ErrorKind::InvalidData {
            return no_experiment(named);
        }
        let near = experiment::nearest(named, shipped_names());
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let names = shipped_names().join(", ");
        Failure::usage(format!("cannot read {named}: {error}; {near}shipped experiments are: {names}"))
    })?;
    if !is_experiment(path) && text.parse::<toml::Table>().is_err() {
        return Err(no_experiment(named));
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    Ok(Found { source: Source { name: named.to_owned(), text }, folder })
}

/// Whether a path is that of a TOML file.
pub(crate) fn is_experiment(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml") && path.is_file()
}

fn no_experiment(named: &str) -> Failure {
    Failure::usage(format!(
        "{named} is not an experiment file: that is a TOML file with a question, a [load] and a [[target]] for each \
         server, whose `run` is the command that launches it; shipped experiments are: {}",
        shipped_names().join(", ")
    ))
}

/// Every target in the places of an experiment; the first of a name counts.
pub(crate) fn targets(beside: &Path) -> Result<Vec<Target>, Failure> {
    let mut found: Vec<Target> = Vec::new();
    for place in places(beside) {
        let mut files = Vec::new();
        collect(&place.join("targets"), TARGET_DEPTH, &mut files);
        files.sort();
        for file in files {
            let target = read_target(&file)?;
            if !found.iter().any(|known| known.name == target.name) {
                found.push(target);
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn collect(folder: &Path, depth: u32, files: &mut Vec<PathBuf>) {
    let file = folder.join("target.toml");
    if file.is_file() {
        files.push(file);
        return;
    }
    if depth == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
        collect(&entry.path(), depth - 1, files);
    }
}

fn read_target(file: &Path) -> Result<Target, Failure> {
    let name = file.display().to_string();
    let text = bounded::read_text(file).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
    experiment::target(&Source { name, text }, &folder).map_err(Failure::from)
}
