//! What servers write in their folders, where each launch finds what those before it left.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ::report::format::bytes;
use model::{Plan, TrialRecord};
use walkdir::{DirEntry, WalkDir};

use crate::output::say;

/// Files looked at for each folder, at most: dependencies can be hundreds of thousands, and this is for a note.
const MOST_LOOKED_AT: usize = 200_000;
/// Files named for each folder, at most.
const MOST_NAMED: usize = 2;

/// Says which files in the folders of compared revisions were written after the first block of these launches. What the first one alone writes
/// (compiled code) is the same for all that come after it. The folder of the run itself may lie there, too.
pub(super) fn say_what_is_left(plan: &Plan, launches: &[TrialRecord], run: &Path) {
    let Some(asked) = plan.comparison.as_ref().filter(|asked| !asked.revisions.is_empty()) else { return };
    let first = launches.iter().map(|launch| launch.block).min();
    let later = launches.iter().filter(|launch| Some(launch.block) != first).map(|launch| launch.started_at).min();
    let Some(since) = later.map(SystemTime::from) else { return };
    let left = |name: &String| {
        let folder = &plan.target(name)?.launch.cwd;
        let files = written_since(folder, since, run);
        (!files.is_empty()).then(|| format!("{name} ({})", named(files)))
    };
    let left: Vec<String> = [&asked.old, &asked.new].into_iter().filter_map(left).collect();
    if !left.is_empty() {
        say(format!(
            "note: while the servers ran, files were written in the folder of {}. A server that reads such files finds what the launches \
             before it left: give each launch a place of its own then, as with --run 'sh -c \"exec ./server --data $(mktemp -d)\"'",
            left.join(" and of ")
        ));
    }
}

/// The files in a folder that were written since then, by their paths in it, with their sizes, but for what bourdon itself says. Links are not
/// followed.
fn written_since(folder: &Path, since: SystemTime, run: &Path) -> Vec<(PathBuf, u64)> {
    let (Ok(folder), Ok(run)) = (folder.canonicalize(), run.canonicalize()) else { return Vec::new() };
    let is_own = |entry: &DirEntry| entry.file_name() == ".git" || entry.path() == run;
    let all = WalkDir::new(&folder).same_file_system(true).into_iter().filter_entry(|entry| !is_own(entry));
    let said = said();
    let is_server_s = |about: &Metadata| about.is_file() && !said.contains(&(about.dev(), about.ino()));
    let written = |entry: DirEntry| {
        let about = entry.metadata().ok().filter(is_server_s)?;
        let path = entry.path().strip_prefix(&folder).ok()?.to_owned();
        (about.modified().ok()? >= since).then_some((path, about.len()))
    };
    all.take(MOST_LOOKED_AT).filter_map(Result::ok).filter_map(written).collect()
}

/// The files that stdout and stderr go to, by device and number.
fn said() -> Vec<(u64, u64)> {
    let about = [rustix::fs::fstat(std::io::stdout()), rustix::fs::fstat(std::io::stderr())];
    about.into_iter().flatten().map(|about| (about.st_dev, about.st_ino)).collect()
}

/// Some of the files with their sizes, the largest first.
fn named(mut files: Vec<(PathBuf, u64)>) -> String {
    files.sort_by(|(a, size_of_a), (b, size_of_b)| size_of_b.cmp(size_of_a).then_with(|| a.cmp(b)));
    let more = files.len().saturating_sub(MOST_NAMED);
    let shown = files.iter().take(MOST_NAMED).map(|(path, size)| format!("{} {}", path.display(), bytes(*size as f64)));
    let shown: Vec<String> = shown.chain((more > 0).then(|| format!("{more} more"))).collect();
    shown.join(", ")
}
