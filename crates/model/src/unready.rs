use std::fmt::{self, Display};
use std::net::SocketAddr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::TlsFault;

/// Why a program was not started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotStarted {
    /// What the system says.
    pub error: String,
    /// What in its command may be why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

/// Why a target that runs did not become ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotReady {
    /// What it did at last.
    pub seen: Instead,
    /// How long it had for something better, in nanoseconds; missing where no waiting mends what was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ns: Option<u64>,
    /// What in its command may be why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
}

/// What a target does instead of answering as it should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instead {
    /// It does not listen.
    Silent,
    /// It answers with a status that does not say that it is ready.
    Status {
        /// Asked for this path.
        path: String,
        /// Which.
        status: u16,
    },
    /// No whole reply comes in time.
    NoReply {
        /// Asked for this path.
        path: String,
        /// In so many nanoseconds.
        within_ns: u64,
    },
    /// Asking it fails.
    Failed {
        /// For this path.
        path: String,
        /// What the system, TLS or the reader of replies says.
        error: String,
        /// What that shows of its TLS, where it is the target that was heard.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<TlsFault>,
    },
    /// It listens elsewhere than on 127.0.0.1 with its port.
    Elsewhere {
        /// There.
        at: Vec<SocketAddr>,
        /// Its port.
        port: u16,
        /// Whether another program answers on that.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stranger: bool,
    },
}

/// What keeps the launch of a target waiting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// Its reaper was killed before it was ready, which says nothing about it, and it is launched again.
    Again,
    /// It is not ready, and has some time to become so.
    For {
        /// What it does instead.
        seen: Instead,
        /// How long it has in all, in nanoseconds.
        within_ns: u64,
    },
    /// In words, as earlier versions told it.
    #[serde(untagged)]
    Said(String),
}

/// What in the command of a target may be why it does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// It runs without a shell, and needs one.
    Shell(NeedsShell),
    /// It does not name the port.
    NoPort,
    /// It, or what it printed, names the files of a certificate that it was not given.
    NoCertificate,
    /// So many others ran at the same time, and it may not run beside them.
    Beside(u32),
    /// In words, as records of earlier versions have it.
    #[serde(untagged)]
    Said(String),
}

/// What in a command needs a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeedsShell {
    /// This word.
    Word(String),
    /// What sets variables before a program.
    Variables {
        /// All of that: `A=1 B=2`.
        set: String,
        /// The program.
        program: String,
        /// Whether the program has arguments.
        more: bool,
    },
}

/// What needs a shell. The errors of builds say so, too, and sentences of `report`; both name the option of one.
impl Display for NeedsShell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NeedsShell::Word(word) => write!(f, "it runs without a shell, and `{word}` needs one"),
            NeedsShell::Variables { set, program, more } => {
                let more = if *more { " …" } else { "" };
                write!(f, "it runs without a shell, and `{set}` needs one, or env: env {set} {program}{more}")
            }
        }
    }
}

/// Hints as they are written; in records of earlier versions there is one, in words.
pub(crate) fn read_hints<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Hint>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Said(String),
        Seen(Vec<Hint>),
    }
    Ok(match Written::deserialize(from)? {
        Written::Said(text) => vec![Hint::Said(text)],
        Written::Seen(hints) => hints,
    })
}
