//! Revisions of the user's repository, each checked out in a folder of its own that goes when the comparison ends.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::exit::Failure;
use crate::home;
use crate::output::say;

/// Stands for the working directory as it is, uncommitted changes included.
pub(crate) const WORKING_TREE: &str = ".";

/// One revision, ready to be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Revision {
    /// As it was typed.
    pub(crate) named: String,
    /// Abbreviated commit; none for the working tree.
    pub(crate) commit: Option<String>,
    /// Where its files are: the folder that corresponds to the working directory.
    pub(crate) folder: PathBuf,
}

/// The revisions of a comparison. Dropping it removes what was checked out.
#[derive(Debug)]
pub(crate) struct Revisions {
    repository: PathBuf,
    worktrees: Vec<PathBuf>,
    pub(crate) all: Vec<Revision>,
}

impl Revisions {
    /// Checks out each of `named` beside the repository that the working directory lies in, which is left as it is.
    ///
    /// # Errors
    /// When there is no git, no repository, or no such revision; nothing is left behind then.
    pub(crate) fn check_out(named: &[String]) -> Result<Self, Failure> {
        let here = Path::new(".");
        let repository = PathBuf::from(git(here, ["rev-parse", "--show-toplevel"]).map_err(no_repository)?);
        let prefix = git(here, ["rev-parse", "--show-prefix"]).map_err(no_repository)?;
        let place = home::build_cache()?.with_file_name("revisions");
        forget_the_dead(&repository, &place);
        let mut revisions = Revisions { repository, worktrees: Vec::new(), all: Vec::new() };
        let commits: Vec<Option<String>> = named.iter().map(|name| commit(name)).collect::<Result<_, _>>()?;
        warn_of_uncommitted(named);
        for (index, (name, commit)) in named.iter().zip(commits).enumerate() {
            let folder = match &commit {
                None => std::env::current_dir().map_err(Failure::usage)?,
                Some(commit) => {
                    revisions.add(&place.join(format!("{}-{index}", std::process::id())), commit)?.join(&prefix)
                }
            };
            if !folder.is_dir() {
                return Err(Failure::usage(format!(
                    "revision `{name}` has no folder {prefix}; start from one that both have"
                )));
            }
            let commit = commit.map(|commit| commit.chars().take(10).collect());
            revisions.all.push(Revision { named: name.clone(), commit, folder });
        }
        Ok(revisions)
    }

    fn add(&mut self, folder: &Path, commit: &str) -> Result<PathBuf, Failure> {
        self.worktrees.push(folder.to_owned());
        git(
            &self.repository,
            [
                "worktree".as_ref(),
                "add".as_ref(),
                "--detach".as_ref(),
                "--quiet".as_ref(),
                folder.as_os_str(),
                OsStr::new(commit),
            ],
        )
        .map_err(|said| Failure::usage(format!("git cannot check out {commit}: {said}")))?;
        Ok(folder.to_owned())
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        for folder in &self.worktrees {
            remove(&self.repository, folder);
        }
    }
}

/// The full name of a commit; none for the working tree.
fn commit(named: &str) -> Result<Option<String>, Failure> {
    if named == WORKING_TREE {
        return Ok(None);
    }
    let wanted = format!("{named}^{{commit}}");
    let found = git(Path::new("."), ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
    found.map(Some).map_err(|_| {
        let branches = git(Path::new("."), ["branch", "--format=%(refname:short)"]).unwrap_or_default();
        let branches: Vec<&str> = branches.lines().filter(|name| !name.starts_with('(')).collect();
        let nearest = branches.iter().min_by_key(|name| strsim::levenshtein(named, name));
        let hint = nearest.map_or(String::new(), |name| format!("; is it `{name}`?"));
        Failure::usage(format!(
            "`{named}` is no revision of this repository{hint} (name a branch, a tag or a commit, or `{WORKING_TREE}` for the working tree)"
        ))
    })
}

/// HEAD without its uncommitted changes is seldom what somebody means who has made some.
fn warn_of_uncommitted(named: &[String]) {
    let changed = git(Path::new("."), ["status", "--porcelain", "--untracked-files=no"]).unwrap_or_default();
    if !changed.is_empty() && !named.iter().any(|name| name == WORKING_TREE) {
        let files = changed.lines().count();
        let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        say(format!(
            "note: uncommitted changes in {files} take no part; --rev {WORKING_TREE} compares the working tree as it is"
        ));
    }
}

/// Removes what a killed bourdon has left: folders are named after the process that made them.
fn forget_the_dead(repository: &Path, place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let alive = name.split('-').next().is_some_and(|pid| Path::new("/proc").join(pid).exists());
        if !alive {
            remove(repository, &entry.path());
        }
    }
}

/// Takes a checked-out folder away, from git's books too, whatever state it is in.
fn remove(repository: &Path, folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
    let _ = git(repository, ["worktree", "prune"]);
}

fn no_repository(said: String) -> Failure {
    Failure::usage(format!("--rev needs a git repository here: {said}"))
}

/// What git says on stdout, without its last line's end; on failure the first line of what it says on stderr.
fn git<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Result<String, String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("git cannot be run: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr).lines().next().unwrap_or("git failed").to_owned())
    }
}
