//! Revisions of the user's repository, each checked out in a folder of its own that goes when the comparison ends.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use model::{ComparedRevision, Plan, RevisionContent};
use sha2::{Digest, Sha256};

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
    /// Its files.
    pub(crate) content: RevisionContent,
    /// Where they are: the folder that corresponds to the working directory.
    pub(crate) folder: PathBuf,
}

/// The revisions of a comparison. Dropping it removes what was checked out.
#[derive(Debug)]
pub(crate) struct Revisions {
    repository: PathBuf,
    /// The working directory, from the repository's own folder.
    within: PathBuf,
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
        let within = PathBuf::from(git(here, ["rev-parse", "--show-prefix"]).map_err(no_repository)?);
        let mut revisions = Self::of(repository, within);
        let contents: Vec<_> = named.iter().map(|name| revisions.content(name)).collect::<Result<_, _>>()?;
        warn_of_uncommitted(named);
        for (name, content) in named.iter().zip(contents) {
            let folder = revisions.folder(&content)?;
            if !folder.is_dir() {
                let within = revisions.within.display();
                return Err(Failure::usage(format!(
                    "revision `{name}` has no folder {within}; start from one that both have"
                )));
            }
            revisions.all.push(Revision { named: name.clone(), content, folder });
        }
        Ok(revisions)
    }

    /// Checks out anew what the targets of a recorded comparison are made of, and tells its plan where.
    ///
    /// # Errors
    /// When a commit is gone, or the working tree is not what it was.
    pub(crate) fn restore(plan: &mut Plan, recorded: &[ComparedRevision]) -> Result<Option<Self>, Failure> {
        let Some(first) = recorded.first() else { return Ok(None) };
        let mut revisions = Self::of(first.repository.clone(), first.within.clone());
        for ComparedRevision { target, content, .. } in recorded {
            if let RevisionContent::WorkingTree(before) = content
                && *before != state(&revisions.repository)?
            {
                let repository = revisions.repository.display();
                return Err(Failure::usage(format!(
                    "the working tree of {repository} has changed since the comparison began; put it back as it was, or \
                     compare anew"
                )));
            }
            let folder = revisions.folder(content)?;
            for target in plan.targets.iter_mut().filter(|known| known.name == *target) {
                target.launch.cwd.clone_from(&folder);
                target.build.iter_mut().for_each(|build| build.cwd.clone_from(&folder));
            }
        }
        Ok(Some(revisions))
    }

    /// What a plan has to know of them to be resumed; `targets` are their names in it.
    pub(crate) fn recorded(&self, targets: [&str; 2]) -> Vec<ComparedRevision> {
        let recorded = |(revision, target): (&Revision, &str)| ComparedRevision {
            target: target.to_owned(),
            repository: self.repository.clone(),
            within: self.within.clone(),
            content: revision.content.clone(),
        };
        self.all.iter().zip(targets).map(recorded).collect()
    }

    fn of(repository: PathBuf, within: PathBuf) -> Self {
        Revisions { repository, within, worktrees: Vec::new(), all: Vec::new() }
    }

    /// The files that a name stands for.
    fn content(&self, named: &str) -> Result<RevisionContent, Failure> {
        if named == WORKING_TREE {
            return state(&self.repository).map(RevisionContent::WorkingTree);
        }
        commit(named).map(RevisionContent::Commit)
    }

    /// The folder of a revision that corresponds to the working directory; a commit is checked out for it.
    fn folder(&mut self, content: &RevisionContent) -> Result<PathBuf, Failure> {
        let RevisionContent::Commit(commit) = content else { return Ok(self.repository.join(&self.within)) };
        let place = home::build_cache()?.with_file_name("revisions");
        if self.worktrees.is_empty() {
            forget_the_dead(&self.repository, &place);
        }
        let folder = place.join(format!("{}-{}", std::process::id(), self.worktrees.len()));
        self.worktrees.push(folder.clone());
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
        Ok(folder.join(&self.within))
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        for folder in &self.worktrees {
            remove(&self.repository, folder);
        }
    }
}

/// A digest of what git tracks in the working tree: the commit that it is based on, and what differs from that.
fn state(repository: &Path) -> Result<String, Failure> {
    let say = |arguments: &[&str]| git(repository, arguments).map_err(no_repository);
    let head = say(&["rev-parse", "HEAD"])?;
    let changed = say(&["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", "HEAD"])?;
    let digest = Sha256::digest(format!("{head}\n{changed}"));
    Ok(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// The full name of a commit.
fn commit(named: &str) -> Result<String, Failure> {
    let wanted = format!("{named}^{{commit}}");
    let found = git(Path::new("."), ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
    found.map_err(|_| {
        let branches = git(Path::new("."), ["branch", "--format=%(refname:short)"]).unwrap_or_default();
        let branches: Vec<&str> = branches.lines().filter(|name| !name.starts_with('(')).collect();
        let nearest = branches.iter().min_by_key(|name| strsim::levenshtein(named, name));
        let hint = nearest.map_or(String::new(), |name| format!("; is it `{name}`?"));
        Failure::usage(format!(
            "unknown revision `{named}`{hint} (name a branch, a tag or a commit, or `{WORKING_TREE}` for the working tree)"
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

/// What git says on stdout, without its last line's end; on failure the first line of what it says on stderr. It finds
/// the repository by the folder alone, and no hook of the repository runs: a checkout for a measurement is no event in it.
fn git<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Result<String, String> {
    let mut git = Command::new("git");
    // Git sets these for its hooks. With them a checkout elsewhere would go through the index of a commit under way.
    local_variables().iter().for_each(|name| {
        git.env_remove(name);
    });
    git.arg("-C").arg(folder).args(["-c", "core.hooksPath=/dev/null"]).args(arguments);
    said_by(git)
}

/// The environment variables that tie git to one repository, as git itself lists them.
fn local_variables() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut git = Command::new("git");
        git.args(["rev-parse", "--local-env-vars"]);
        said_by(git).unwrap_or_default().lines().map(str::to_owned).collect()
    })
}

fn said_by(mut git: Command) -> Result<String, String> {
    let output = git.stdin(Stdio::null()).output().map_err(|error| format!("git cannot be run: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr).lines().next().unwrap_or("git failed").to_owned())
    }
}
