use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::unready::read_hints;
use crate::{Hint, NotReady, NotStarted};

/// Names of the signals, from 1: those of Linux, which are the same on every machine that it is used on today.
const SIGNALS: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// How a process that ran came to its end: a server, a build, `perf`, git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessEnd {
    /// It exited with this status.
    Exited(i32),
    /// A signal ended it.
    Killed {
        /// Its number.
        signal: i32,
        /// Whether the kernel wrote its memory to a file.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        core_dumped: bool,
    },
    /// The process that guards it came to such an end, and it with that.
    Unguarded(GuardEnd),
    /// Nobody says.
    Unknown,
}

/// How the process that guards another came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuardEnd {
    /// It exited with this status.
    Exited(i32),
    /// This signal ended it.
    Killed(i32),
    /// Somebody told it to end, and it ended what it guards.
    Told,
    /// Nobody says: somebody killed all that could.
    Unknown,
}

impl ProcessEnd {
    /// Whether somebody took away what guarded it. That says nothing of it, unless it did so itself.
    pub fn is_unguarded(self) -> bool {
        matches!(self, ProcessEnd::Unguarded(_))
    }
}

/// What it did, behind its name. The errors of builds and of git say so, too, and sentences of `report`.
impl Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ProcessEnd::Exited(status) => write!(f, "exited with status {status}"),
            ProcessEnd::Killed { signal, core_dumped } => {
                write!(f, "was ended by {}{}", named(signal), if core_dumped { " and dumped core" } else { "" })
            }
            ProcessEnd::Unguarded(end) => write!(f, "lost its reaper ({end})"),
            ProcessEnd::Unknown => f.write_str("ended, and its reaper does not say how"),
        }
    }
}

impl Display for GuardEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            GuardEnd::Exited(status) => write!(f, "which exited with status {status}"),
            GuardEnd::Killed(signal) => write!(f, "which was ended by {}", named(signal)),
            GuardEnd::Told => f.write_str("somebody told it to end"),
            GuardEnd::Unknown => f.write_str("somebody killed it"),
        }
    }
}

/// `signal 9 (SIGKILL)`
fn named(signal: i32) -> String {
    let name = usize::try_from(signal - 1).ok().and_then(|index| SIGNALS.get(index));
    format!("signal {signal}{}", name.map_or(String::new(), |name| format!(" ({name})")))
}

/// How a target ended that was launched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetEnd {
    /// How its process did.
    pub how: ProcessEnd,
    /// When.
    pub when: EndedWhen,
    /// What in its command may be why.
    #[serde(default, alias = "hint", deserialize_with = "read_hints", skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

/// When a target ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedWhen {
    /// Before it was ready.
    BeforeReady,
    /// Before a load of its launch that was not the first, or before its first slice of one.
    BeforeLoad,
    /// While others that were alive with it had the load.
    BetweenSlices,
    /// Under load.
    UnderLoad,
}

/// Why a target was not loaded, or not to the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyFailed {
    /// In words, as records of earlier versions have it.
    Text(String),
    /// Its program was not started.
    NotStarted(NotStarted),
    /// It ran, and did not become ready.
    NotReady(Box<NotReady>),
    /// It ended.
    Ended(TargetEnd),
    /// It was not launched again, since it had not started before: why that was.
    NotAgain(Box<WhyFailed>),
}

impl From<NotStarted> for WhyFailed {
    fn from(why: NotStarted) -> Self {
        WhyFailed::NotStarted(why)
    }
}

impl From<NotReady> for WhyFailed {
    fn from(why: NotReady) -> Self {
        WhyFailed::NotReady(Box::new(why))
    }
}

impl From<TargetEnd> for WhyFailed {
    fn from(end: TargetEnd) -> Self {
        WhyFailed::Ended(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_end_was_is_said_behind_a_name() {
        let killed = |signal, core_dumped| ProcessEnd::Killed { signal, core_dumped };
        for (end, said) in [
            (ProcessEnd::Exited(3), "exited with status 3"),
            (killed(9, false), "was ended by signal 9 (SIGKILL)"),
            (killed(11, true), "was ended by signal 11 (SIGSEGV) and dumped core"),
            (killed(31, false), "was ended by signal 31 (SIGSYS)"),
            (killed(40, false), "was ended by signal 40"),
            (killed(0, false), "was ended by signal 0"),
            (ProcessEnd::Unguarded(GuardEnd::Killed(9)), "lost its reaper (which was ended by signal 9 (SIGKILL))"),
            (ProcessEnd::Unguarded(GuardEnd::Exited(1)), "lost its reaper (which exited with status 1)"),
            (ProcessEnd::Unguarded(GuardEnd::Told), "lost its reaper (somebody told it to end)"),
            (ProcessEnd::Unguarded(GuardEnd::Unknown), "lost its reaper (somebody killed it)"),
            (ProcessEnd::Unknown, "ended, and its reaper does not say how"),
        ] {
            assert_eq!(end.to_string(), said);
            assert_eq!(end.is_unguarded(), said.starts_with("lost its reaper"));
        }
    }
}
