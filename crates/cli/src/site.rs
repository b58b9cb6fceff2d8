//! `bourdon site RUN...`: recorded runs as pages for anybody's host.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ::report::format::counted;
use ::report::{SitePage, html_of_site, site_index};
use lab::{RunFolder, write_site};
use model::Judged;

use crate::answer;
use crate::args::SiteArgs;
use crate::exit::{Exit, Failure};
use crate::found::shipped_names;
use crate::output::{say, write_out};

/// The files of which a folder of a run has at least one: without the plan it cannot be read, and that is said.
const OF_RUN: [&str; 2] = ["plan.toml", "trials.jsonl"];

/// What the name of a run's folder begins with while it is being made.
const BEGUN: &str = ".unfinished-";

/// `bourdon site RUN... -o FOLDER`.
pub(crate) fn run(args: &SiteArgs) -> Result<Exit, Failure> {
    let mut names = BTreeSet::new();
    let (mut pages, mut files) = (Vec::new(), Vec::new());
    for folder in folders(&args.runs)? {
        let name = unused(&folder, &mut names);
        let outcome = match RunFolder::read(&folder) {
            Ok(record) => {
                let judged = answer::judge(&record);
                let page = html_of_site(&judged, &answer::timelines(&record, &folder));
                files.push((Path::new("runs").join(&name).join("report.html"), page));
                Ok(judged)
            }
            Err(error) => {
                say(format!("left out: {error}"));
                Err(error.to_string())
            }
        };
        pages.push(SitePage { name, outcome });
    }
    // What ships is what most visitors come for; of the rest the newest.
    pages.sort_by_key(|page| (!is_shipped(page), Reverse(page.begun_at())));
    let index = (PathBuf::from("index.html"), site_index(&pages, env!("CARGO_PKG_VERSION")));
    files.insert(0, index);
    let refused = |error| Failure::usage(format!("cannot write the site {}: {error}", args.output.display()));
    write_site(&args.output, &files).map_err(refused)?;
    let runs = counted(files.len() as u64 - 1, "run", "runs");
    write_out(&format!("{runs} in {}\n", args.output.join("index.html").display()))?;
    // What the runs found is on their pages, and no reason to keep these from being published.
    Ok(if files.len() > pages.len() { Exit::Good } else { Exit::Usage })
}

/// Whether a run is one of an experiment that comes with bourdon.
fn is_shipped(page: &SitePage) -> bool {
    matches!(&page.outcome, Ok(Judged::Run(analysis)) if shipped_names().contains(&analysis.name.as_str()))
}

/// The folders of runs that are meant, those within a folder by their names.
fn folders(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for folder in named {
        let unread = |error| Failure::usage(format!("cannot read {}: {error}", folder.display()));
        if folder.is_file() {
            let cure = "a site shows recorded runs; `bourdon report FILE --format html` makes the page of a saved load";
            return Err(Failure::usage(format!("{} is a file: {cure}", folder.display())));
        }
        if has(folder, OF_RUN[0]) {
            all.push(folder.clone());
            continue;
        }
        let (mut within, mut other) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(folder).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            if !entry.file_name().as_encoded_bytes().starts_with(BEGUN.as_bytes()) && entry.path().is_dir() {
                if is_run(&entry.path()) { &mut within } else { &mut other }.push(entry.path());
            }
        }
        if within.is_empty() && is_run(folder) {
            all.push(folder.clone());
            continue;
        }
        other.sort();
        for path in other {
            say(format!("left out: {} is not a run folder", path.display()));
        }
        if within.is_empty() {
            let cure = "name a run folder, or one that holds some";
            return Err(Failure::usage(format!("{} holds no recorded run: {cure}", folder.display())));
        }
        within.sort();
        all.extend(within);
    }
    Ok(all)
}

fn is_run(folder: &Path) -> bool {
    OF_RUN.iter().any(|file| has(folder, file))
}

/// Whether the folder has this file, or may not be entered: then what is wrong is said once it is read.
fn has(folder: &Path, file: &str) -> bool {
    match folder.join(file).metadata() {
        Ok(found) => found.is_file(),
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    }
}

/// As long as a folder's name may be in a site, in bytes: a number may follow it.
const LONGEST_NAME: usize = 200;

/// A name that stands in one line and leaves room for a number.
fn shown(name: &str) -> String {
    let in_line: String = name.chars().map(|each| if each.is_control() { '_' } else { each }).collect();
    in_line[..in_line.floor_char_boundary(LONGEST_NAME)].to_owned()
}

/// A name for the run's folder in the site that no other one has: its own, with that of the folder around it where another run is
/// called the same, or a number.
fn unused(folder: &Path, names: &mut BTreeSet<String>) -> String {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let named = |path: &Path| path.file_name().map(|name| shown(&name.to_string_lossy()));
    let name = named(&whole).unwrap_or_else(|| "run".to_owned());
    let around = whole.parent().and_then(named).map(|around| shown(&format!("{around}-{name}")));
    let numbered = (2..).map(|number: u32| format!("{name}-{number}"));
    let mut candidates = [name.clone()].into_iter().chain(around).chain(numbered);
    let free = candidates.find(|name| !names.contains(name)).unwrap_or_default();
    names.insert(free.clone());
    free
}
