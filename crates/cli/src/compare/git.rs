//! What git is asked. It runs as everything does that bourdon starts: what it starts in its turn, a filter or a fetch, ends
//! with it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::ProcessEnd;
use reaper::{Ended, Question, Unanswered, ask};

use crate::exit::Failure;
use crate::home;

/// How long it may take to take a worktree off its books. Whoever pressed Ctrl-C waits for that.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lines that are shown of what git says went wrong: what is broken, and what follows from that.
const SHOWN_LINES: usize = 5;

/// What is kept of an answer that is held in memory: ten thousand names of branches.
const MOST_TEXT: usize = 1024 * 1024;

/// A repository, or a folder in one, that git is asked about.
#[derive(Debug, Clone)]
pub(super) struct Git<'a> {
    folder: PathBuf,
    stop: Option<&'a AtomicBool>,
}

/// Why git gives no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// It was stopped.
    Interrupted,
    /// The first lines of what it says, or why it cannot be run.
    Said(String),
    /// It was killed before it could say anything; how, and what to do about it.
    Killed(String),
    /// It says nothing; how it ended.
    Silent(String),
}

impl NoAnswer {
    /// As the end of the command; `explain` puts what git said into words.
    pub(super) fn or(self, explain: impl FnOnce(String) -> Failure) -> Failure {
        match self {
            NoAnswer::Interrupted => Failure::interrupted("interrupted; nothing was recorded"),
            NoAnswer::Killed(text) => Failure::usage(text),
            NoAnswer::Said(text) | NoAnswer::Silent(text) => explain(text),
        }
    }
}

impl<'a> Git<'a> {
    /// In a folder. Setting `stop` ends what is under way: a checkout takes as long as it takes.
    pub(super) fn of(folder: &Path, stop: &'a AtomicBool) -> Self {
        Self { folder: folder.to_owned(), stop: Some(stop) }
    }

    /// In a folder, when everything has been stopped already.
    pub(super) fn at_the_end(folder: &Path) -> Git<'static> {
        Git { folder: folder.to_owned(), stop: None }
    }

    /// In another folder.
    pub(super) fn elsewhere(&self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..self.clone() }
    }

    /// What git says on stdout, without its last line's end.
    pub(super) fn text<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<String, NoAnswer> {
        let mut text = Vec::new();
        self.hear(arguments, &mut |bytes| {
            text.extend_from_slice(&bytes[..bytes.len().min(MOST_TEXT - text.len())]);
        })?;
        // Its end of line, and not the space that a folder's name may end with.
        let text = String::from_utf8_lossy(&text);
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Gives `hear` what git says on stdout, however much that is. It finds the repository by the folder alone, and no hook
    /// of the repository runs: a checkout for a measurement is not an event in it. Nobody is there to be asked for a password.
    pub(super) fn hear<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        hear: &mut dyn FnMut(&[u8]),
    ) -> Result<(), NoAnswer> {
        let mut command: Vec<OsString> = ["git", "-C"].map(OsString::from).to_vec();
        command.push(self.folder.clone().into());
        command.extend(["-c", "core.hooksPath=/dev/null"].map(OsString::from));
        command.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        let executable = home::executable();
        let within = self.stop.is_none().then_some(PATIENCE);
        let question = Question { executable: &executable, command, within, stop: self.stop };
        let prepare = |git: &mut Command| {
            git.env("GIT_TERMINAL_PROMPT", "0");
        };
        let said = match ask(question, prepare, hear) {
            Ok(answer) => match answer.ended {
                Ended::Ran(ProcessEnd::Exited(0)) => return Ok(()),
                Ended::NotStarted(text) | Ended::Unguarded(text) => format!("git cannot be run: {text}"),
                Ended::Ran(end) if !matches!(end, ProcessEnd::Exited(_)) => {
                    return Err(NoAnswer::Killed(format!(
                        "git {end}, which says nothing of the repository; try again"
                    )));
                }
                Ended::Ran(status) => {
                    let errors = String::from_utf8_lossy(&answer.errors);
                    let lines: Vec<&str> = errors.lines().filter(|line| !line.trim().is_empty()).collect();
                    if lines.is_empty() {
                        return Err(NoAnswer::Silent(format!("git {status}")));
                    }
                    lines[..lines.len().min(SHOWN_LINES)].join("\n  ")
                }
            },
            Err(Unanswered::Stopped) => return Err(NoAnswer::Interrupted),
            Err(Unanswered::Late) => format!("git did not end within {} s", PATIENCE.as_secs()),
            Err(Unanswered::NotStarted(text)) => format!("git cannot be run: {text}"),
        };
        Err(NoAnswer::Said(said))
    }
}
