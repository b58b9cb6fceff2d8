use serde::{Deserialize, Serialize};

use crate::ProcessEnd;

/// Why there is no CPU profile of a target, although one was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NoProfile {
    /// In words, as records of earlier versions have it.
    Said(String),
    /// What was seen.
    Seen {
        /// Why its runtime gave none; null where that was not asked, or gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pprof: Option<NoPprof>,
        /// Why `perf` took none; null where that was not asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        perf: Option<NoPerf>,
    },
}

/// Why the runtime of a target gave no CPU profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoPprof {
    /// It has no admin port, which would give one.
    NoAdminPort,
    /// It answers with this status.
    Status(u16),
    /// It answers with something else.
    SomethingElse,
    /// It does not answer: an error of the system.
    Unanswered(String),
    /// What it gave is not a profile: why.
    Unreadable(String),
}

/// Why `perf` took no CPU profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoPerf {
    /// The target has no process that it could look at.
    NoProcess,
    /// Nothing of the window was left for it.
    NoTime,
    /// It is not on PATH.
    NotInstalled,
    /// It cannot be started: why.
    NotStarted(String),
    /// The kernel does not let it look; at this level of `kernel.perf_event_paranoid`.
    NotAllowed(Option<i32>),
    /// It ended otherwise than well.
    Failed {
        /// How.
        how: ProcessEnd,
        /// The last line that it printed.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
    /// It did not end within so many seconds.
    Late(u64),
    /// What it told is not a profile: why.
    Unreadable(String),
    /// Nobody waited for it any more, or there was no thread to take it.
    GivenUp,
}

impl From<NoPprof> for NoProfile {
    fn from(why: NoPprof) -> Self {
        NoProfile::Seen { pprof: Some(why), perf: None }
    }
}

impl From<NoPerf> for NoProfile {
    fn from(why: NoPerf) -> Self {
        NoProfile::Seen { pprof: None, perf: Some(why) }
    }
}
