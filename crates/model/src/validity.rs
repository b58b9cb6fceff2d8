use serde::{Deserialize, Serialize};

use crate::{Reason, Suspicion};

/// Whether the instrument vouches for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It does.
    Valid,
    /// A closed run whose generator was the limit: the server is at least this fast.
    AtLeast,
    /// It does not.
    Void,
}

/// The instrument's word on one result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// The word.
    pub verdict: Verdict,
    /// Why; also for a valid closed run, where the reason says what the limit was.
    pub reasons: Vec<Reason>,
    /// What it is consistent with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspicions: Vec<Suspicion>,
    /// How the server did, which the instrument's word is not about.
    #[serde(default)]
    pub failing: Failing,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(crate) fn is_none(share: &f64) -> bool {
    *share == 0.0
}

/// How many requests failed against how many may, and whether what came back was right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failing {
    /// Requests that failed ÷ those that were due, 0 to 1.
    pub failed_share: f64,
    /// The share that may fail.
    pub allowed_share: f64,
    /// Replies with wrong content: another body, not HTTP, or bytes that no request had asked for.
    pub wrong_content: u64,
    /// Windows in which the server stopped answering.
    #[serde(skip_serializing_if = "is_zero")]
    pub stopped: u64,
    /// Seconds of the first such window after which no reply came any more, where requests failed to its end; none where
    /// it was served to the end.
    pub stopped_at_s: Option<f64>,
    /// Requests of all such windows without any answer: those that failed, and those that still waited, for a reply or to be
    /// sent. Only the first are in the share above.
    #[serde(skip_serializing_if = "is_zero")]
    pub unanswered: u64,
    /// Windows in which nothing was served at all, though the generator was there to see it.
    #[serde(skip_serializing_if = "is_zero")]
    pub unserved: u64,
    /// Share of the requests that were due, 0 to 1, that never got a reply, long after others had theirs: not among the failed.
    #[serde(skip_serializing_if = "is_none")]
    pub hung_share: f64,
    /// Those that hung, of a comparison under a closed load, ÷ the requests that this keeps in flight, 0 to 1: who waits there asks
    /// for nothing more.
    #[serde(skip_serializing_if = "is_none")]
    pub hung_clients_share: f64,
    /// Launches in which the server's process ended under load.
    #[serde(skip_serializing_if = "is_zero")]
    pub died: u64,
    /// Whether the answer is bad: more failed or hung than may, content was wrong, the server stopped answering or died, or nothing
    /// was served in a window.
    pub bad: bool,
}

impl Failing {
    /// Whether more failed than may, or failed and never got a reply, or more clients were left waiting.
    pub fn is_of_many(&self) -> bool {
        self.is_of_requests() || self.is_of_clients()
    }

    /// Whether more requests failed than may, or failed and never got a reply.
    pub fn is_of_requests(&self) -> bool {
        self.failed_share + self.hung_share > self.allowed_share
    }

    /// Whether more clients of a closed load were left waiting than requests may fail.
    pub fn is_of_clients(&self) -> bool {
        self.hung_clients_share > self.allowed_share
    }

    /// Whether a launch was silent: nothing was served in it, or the server stopped answering.
    pub fn is_of_silence(&self) -> bool {
        self.stopped_at_s.is_some() || self.unserved > 0
    }

    /// Whether it is bad, but for servers that died.
    pub fn is_of_replies(&self) -> bool {
        self.is_of_many() || self.wrong_content > 0 || self.is_of_silence()
    }
}
