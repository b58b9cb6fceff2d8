//! Revisions of the user's repository, each checked out in a folder of its own that goes when the comparison ends.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use lab::Held;
use model::{ComparedRevision, Draft, Plan, RevisionContent, counted};
use sha2::{Digest, Sha256};

use super::git::{Git, NoAnswer};
use crate::args::CompareArgs;
use crate::exit::Failure;
use crate::experiment::nearest;
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

/// What a revision was checked out into.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checkout<'a> {
    /// What it was checked out of.
    pub(super) repository: &'a Path,
    /// All of it.
    pub(super) root: &'a Path,
    /// The folder in it where the server is run.
    pub(super) folder: &'a Path,
}

/// What a target is built from.
#[derive(Debug)]
pub(super) struct BuiltFrom<'a> {
    /// Its name in the plan.
    pub(super) target: &'a str,
    /// The folder where it is run.
    pub(super) folder: &'a Path,
    /// All of its revision, as it really lies.
    pub(super) root: PathBuf,
}

impl Checkout<'_> {
    /// Whether a path leads to what is the repository's and not the checkout's.
    pub(super) fn is_left_by(&self, path: &Path) -> bool {
        lab::is_of_another(path, self.repository, self.root)
    }
}

/// The revisions of a comparison. Dropping it removes what was checked out.
#[derive(Debug)]
pub(crate) struct Revisions {
    repository: PathBuf,
    /// The working directory, from the repository's own folder.
    within: PathBuf,
    worktrees: Vec<Held>,
    pub(crate) all: Vec<Revision>,
}

impl Revisions {
    /// Checks out each of `named` beside the repository that the working directory lies in, which is left as it is.
    ///
    /// # Errors
    /// When there is no git, no repository, or no such revision, or `stop` is set; nothing is left behind then.
    pub(crate) fn check_out(named: &[String], stop: &AtomicBool) -> Result<Self, Failure> {
        let here = Git::of(Path::new("."), stop);
        let say = |asked: &str| here.text(["rev-parse", asked]).map_err(|why| why.or(no_repository));
        let (repository, within) = (PathBuf::from(say("--show-toplevel")?), PathBuf::from(say("--show-prefix")?));
        let git = here.elsewhere(&repository);
        let mut revisions = Self::of(repository, within);
        let content = |name: &String| content(name, &here, &git);
        let contents: Vec<_> = named.iter().map(content).collect::<Result<_, _>>()?;
        warn_of_uncommitted(named, &here);
        warn_of_untracked(named, &here);
        for (name, content) in named.iter().zip(contents) {
            let folder = revisions.folder(&content, &git, None)?;
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

    /// Checks out anew what the targets of a recorded comparison are made of; with it the plan that knows where.
    ///
    /// # Errors
    /// When a commit is gone, the working tree is not what it was, or `stop` is set.
    pub(crate) fn restore(
        plan: &Plan,
        recorded: &[ComparedRevision],
        stop: &AtomicBool,
    ) -> Result<(Option<Self>, Plan), Failure> {
        let mut plan = plan.clone();
        let Some(first) = recorded.first() else { return Ok((None, plan)) };
        let git = Git::of(&first.repository, stop);
        let mut revisions = Self::of(first.repository.clone(), first.within.clone());
        for ComparedRevision { target, content, .. } in recorded {
            if let RevisionContent::WorkingTree(before) = content
                && *before != state(&git)?
            {
                let repository = revisions.repository.display();
                return Err(Failure::usage(format!(
                    "the working tree of {repository} has changed since the comparison began; put it back as it was, or \
                     start a new comparison"
                )));
            }
            // Where it was before, for compilers write that into what they build.
            let before = plan.targets.iter().find(|known| known.name == *target);
            let before = before.and_then(|known| known.launch.cwd.ancestors().nth(first.within.components().count()));
            let folder = revisions.folder(content, &git, before)?;
            let there = |draft: &mut Draft| {
                for target in draft.targets.iter_mut().filter(|known| known.name == *target) {
                    target.launch.cwd.clone_from(&folder);
                    target.build.iter_mut().for_each(|build| build.cwd.clone_from(&folder));
                }
            };
            plan = plan.with(there).map_err(Failure::usage)?;
        }
        Ok((Some(revisions), plan))
    }

    /// What was checked out: all but the working tree.
    pub(super) fn checkouts(&self) -> Vec<Checkout<'_>> {
        let depth = self.within.components().count();
        let commits = self.all.iter().filter(|it| matches!(it.content, RevisionContent::Commit(_)));
        let folders = commits.map(|revision| &*revision.folder);
        let rooted = folders.filter_map(|folder| Some((folder.ancestors().nth(depth)?, folder)));
        rooted.map(|(root, folder)| Checkout { repository: &self.repository, root, folder }).collect()
    }

    /// Refuses commands that name what they launch by where it lies: it is the same for every revision.
    pub(super) fn refuse_what_is_of_neither(&self, args: &CompareArgs) -> Result<(), Failure> {
        let is_of_repository = |word: &str| {
            let (named, found) = (Path::new(word), Path::new(word).canonicalize());
            named.starts_with(&self.repository) || found.is_ok_and(|path| path.starts_with(&self.repository))
        };
        let launched = args.run.iter().map(|command| (command, true));
        for (command, is_launched) in launched.chain(args.build.iter().map(|command| (command, false))) {
            let words = words(command);
            let is_of_neither = |(place, word): &(usize, &String)| {
                let path = Path::new(word.as_str());
                // What the build of one revision puts there, that of the other overwrites.
                let is_one =
                    lab::is_program(path) || *place == 0 && is_launched && !word.contains('$') && !path.exists();
                let is_elsewhere = path.is_absolute() && is_one || is_launched && self.is_shared(word);
                is_elsewhere && (is_launched || is_of_repository(word))
            };
            let Some((_, word)) = words.iter().enumerate().find(is_of_neither) else { continue };
            if !words.iter().any(|word| self.is_of_each(word, !args.build.is_empty())) {
                return Err(Failure::usage(format!(
                    "{word} is one program, whichever revision is launched; write what is of each revision as it lies in its folder \
                     (./server), and what only runs it by its name (python3)"
                )));
            }
            if is_of_repository(word) {
                say(format!("note: both revisions run the same {word}"));
            }
        }
        Ok(())
    }

    /// Whether each revision has a program or a folder of its own there, or may be about to build one: what runs it may be one for both, such as the
    /// interpreter of a virtual environment.
    fn is_of_each(&self, word: &str, is_built: bool) -> bool {
        let is_place = !word.starts_with('-') && !word.contains('$') && word.contains(['/', '.']);
        let is_own = |revision: &Revision| {
            let path = revision.folder.join(word);
            path.is_dir() || lab::is_program(&path) || is_built && is_place && !path.exists()
        };
        Path::new(word).is_relative() && !self.is_shared(word) && self.all.iter().all(is_own)
    }

    /// Whether the same file lies there for revisions in different folders, by a symbolic link: the Python of a virtual environment, or a server
    /// that is one for both.
    fn is_shared(&self, word: &str) -> bool {
        let found = |revision: &Revision| revision.folder.join(word).canonicalize().ok().filter(|path| path.is_file());
        let [first, second] = &self.all[..] else { return false };
        let is_there = Path::new(word).is_relative() && first.folder != second.folder;
        is_there && found(first).is_some_and(|path| found(second) == Some(path))
    }

    /// The repository, where one of them is its working tree and that is not what it was any more.
    pub(crate) fn changed(&self, stop: &AtomicBool) -> Option<&Path> {
        let git = Git::of(&self.repository, stop);
        let is_other = |revision: &Revision| match &revision.content {
            RevisionContent::WorkingTree(before) => state(&git).is_ok_and(|now| now != *before),
            RevisionContent::Commit(_) => false,
        };
        self.all.iter().any(is_other).then_some(&*self.repository)
    }

    /// Where each lies, by the names of the targets that are built there; none of two that are one commit.
    pub(super) fn built<'a>(&'a self, targets: [&'a str; 2]) -> Option<[BuiltFrom<'a>; 2]> {
        let [first, second] = &self.all[..] else { return None };
        let depth = self.within.components().count();
        let of = |revision: &'a Revision, target: &'a str| {
            let root = revision.folder.ancestors().nth(depth)?.canonicalize().ok()?;
            Some(BuiltFrom { target, folder: &revision.folder, root })
        };
        let [old, new] = targets;
        (first.content != second.content).then_some([of(first, old)?, of(second, new)?])
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

    /// The folder of a revision that corresponds to the working directory; a commit is checked out for it, where it was before if that is possible.
    fn folder(&mut self, content: &RevisionContent, git: &Git<'_>, before: Option<&Path>) -> Result<PathBuf, Failure> {
        let RevisionContent::Commit(commit) = content else { return Ok(self.repository.join(&self.within)) };
        let place = home::build_cache()?.with_file_name("revisions");
        let unusable =
            |error: &dyn std::error::Error| Failure::usage(format!("cannot check out in {}: {error}", place.display()));
        lab::create_folder_durably(&place).map_err(|error| unusable(&error))?;
        if self.worktrees.is_empty() {
            // What killed bourdons have left.
            lab::sweep(&place, |_| true, reaper::remove_folder);
            forget_missing(&place, git);
        }
        let held = match before {
            Some(before) => Held::make_again(&place, before),
            None => Held::make(&place, ""),
        };
        let held = held.map_err(|error| unusable(&error))?;
        let folder = held.path().to_owned();
        self.worktrees.push(held);
        let add = ["worktree", "add", "--detach", "--quiet"].map(OsStr::new);
        git.text(add.into_iter().chain([folder.as_os_str(), OsStr::new(commit)]))
            .map_err(|why| why.or(|said| Failure::usage(format!("git cannot check out {commit}: {said}"))))?;
        if self.worktrees.len() == 1 && folder.join(".gitmodules").exists() {
            say(
                "note: the repository has submodules, whose folders are empty in a checkout; --build can fetch them (git submodule update --init)",
            );
        }
        Ok(folder.join(&self.within))
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        for folder in &self.worktrees {
            remove(&self.repository, folder.path());
        }
    }
}

/// The words of a command, and of a command within it (`sh -c '...'`).
pub(super) fn words(command: &str) -> Vec<String> {
    let words = shlex::split(command).unwrap_or_else(|| vec![command.to_owned()]);
    words.iter().flat_map(|word| word.split_whitespace()).map(str::to_owned).collect()
}

/// The files that a name stands for, seen from `here`.
fn content(named: &str, here: &Git<'_>, repository: &Git<'_>) -> Result<RevisionContent, Failure> {
    if named == WORKING_TREE {
        return state(repository).map(RevisionContent::WorkingTree);
    }
    commit(named, here).map(RevisionContent::Commit)
}

/// A digest of what git tracks in the working tree: the commit that it is based on, and what differs from that.
fn state(repository: &Git<'_>) -> Result<String, Failure> {
    let mut digest = Sha256::new();
    for asked in
        [&["rev-parse", "HEAD"][..], &["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", "HEAD"]]
    {
        let heard = repository.hear(asked, &mut |bytes| digest.update(bytes));
        heard.map_err(|why| why.or(|said| unreadable(WORKING_TREE, &said)))?;
    }
    Ok(digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// The full name of a commit.
fn commit(named: &str, here: &Git<'_>) -> Result<String, Failure> {
    let asked = |name: &str| here.text(["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
    let commit = |name: &str| asked(&format!("{}^{{commit}}", name.trim()));
    // A message that is searched for (`:/text`) takes whatever stands behind it, so that what is found is asked for its commit.
    let found = commit(named).or_else(|why| if named.starts_with(":/") { commit(&asked(named)?) } else { Err(why) });
    // Of a name that it does not know it says nothing.
    if let Err(NoAnswer::Said(said)) = &found {
        return Err(unreadable(named, said));
    }
    let unknown = |_| {
        let branches = here.text(["branch", "--format=%(refname:short)"]).unwrap_or_default();
        let branches: Vec<&str> = branches.lines().filter(|name| !name.starts_with('(')).collect();
        let hint = nearest(named, branches).map_or(String::new(), |name| format!("; is it `{name}`?"));
        Failure::usage(format!(
            "unknown revision `{named}`{hint} (name a branch, a tag or a commit, or `{WORKING_TREE}` for the working tree)"
        ))
    };
    found.map_err(|why| why.or(unknown))
}

/// HEAD without its uncommitted changes is seldom what somebody means who has made some.
fn warn_of_uncommitted(named: &[String], here: &Git<'_>) {
    let mut files = 0;
    let mut count = |bytes: &[u8]| files += bytes.iter().filter(|byte| **byte == b'\n').count();
    let told = here.hear(["status", "--porcelain", "--untracked-files=no"], &mut count);
    if told.is_ok() && files > 0 && !named.iter().any(|name| name == WORKING_TREE) {
        let files = counted(files as u64, "file", "files");
        say(format!(
            "note: uncommitted changes in {files} take no part; --rev {WORKING_TREE} compares the working tree as it is"
        ));
    }
}

/// What git does not track (data, settings) the working tree has and a checkout lacks: the two may start from different things.
fn warn_of_untracked(named: &[String], here: &Git<'_>) {
    let (trees, commits): (Vec<&String>, Vec<&String>) = named.iter().partition(|name| *name == WORKING_TREE);
    let (false, [commit, ..]) = (trees.is_empty(), &commits[..]) else { return };
    let others = here.text(["ls-files", "--others", "--directory", "--no-empty-directory"]).unwrap_or_default();
    let names: Vec<&str> = others.lines().filter(|name| *name != "runs/").collect();
    let (shown, more) = names.split_at(names.len().min(3));
    if !shown.is_empty() {
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        say(format!(
            "note: the checkout of {commit} has nothing that git does not track ({}{more} in the working tree); where the server keeps \
             data or settings there, or the build what it made before, the two do different work",
            shown.join(", ")
        ));
    }
}

/// Takes a checked-out folder away, from git's books too, whatever state it is in.
fn remove(repository: &Path, folder: &Path) {
    reaper::remove_folder(folder);
    forget(folder, &Git::at_the_end(repository));
}

/// Takes the checkouts that are no longer there from git's books, as far as they lay in `place`: what else git remembers,
/// such as one on a disk that is not mounted, is the user's.
fn forget_missing(place: &Path, git: &Git<'_>) {
    // Git knows them by their real paths.
    let Ok(place) = place.canonicalize() else { return };
    let listed = git.text(["worktree", "list", "--porcelain"]).unwrap_or_default();
    let folders = listed.lines().filter_map(|line| line.strip_prefix("worktree ")).map(Path::new);
    folders
        .filter(|folder| folder.parent() == Some(place.as_path()) && !folder.exists())
        .for_each(|folder| forget(folder, git));
}

/// Takes a folder that is gone from git's books. Who was killed within a checkout has left it locked.
fn forget(folder: &Path, git: &Git<'_>) {
    let words = ["worktree", "remove", "--force", "--force"].map(OsStr::new);
    let _ = git.text(words.into_iter().chain([folder.as_os_str()]));
}

fn no_repository(said: String) -> Failure {
    Failure::usage(format!("--rev needs a git repository here: {said}"))
}

fn unreadable(named: &str, said: &str) -> Failure {
    Failure::usage(format!("git cannot read `{named}`: {said}"))
}
