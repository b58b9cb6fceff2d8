use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Cure, Invariant, Mark, Metric, TrialStage};

kinds! {
    /// What bounded a load, or ended it.
    LimitCode {
        /// No request got a complete reply.
        NoReply = "no-reply",
        /// No request came due in the window.
        NothingDue = "nothing-due",
        /// Replies came, and not one was right.
        NothingRight = "nothing-right",
        /// The generator itself stood still.
        GeneratorStalled = "generator-stalled",
        /// The target's CPUs were the limit.
        TargetCpu = "target-cpu",
        /// The server, or the connections, was the limit.
        ServerBound = "server-bound",
        /// The generator did not send the rate that was asked.
        RateNotReached = "rate-not-reached",
        /// The rate that was asked was sent.
        RateReached = "rate-reached",
        /// The server did not keep up with the rate.
        ServerBehind = "server-behind",
        /// The server gave no reply for a second or more.
        ServerSilent = "server-silent",
        /// The load was stopped before its end.
        Interrupted = "interrupted",
    }
}

kinds! {
    /// Why an open load of a calibration is not only the null responder's.
    Distrust {
        /// The generator sent late.
        GeneratorLate = "generator-late",
        /// The responder was too slow.
        Responder = "responder",
    }
}

/// What a reason is about. Every id is there once, so that an id alone tells which of these it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Code {
    /// An invariant that broke.
    Invariant(Invariant),
    /// A mark.
    Mark(Mark),
    /// Where a trial failed.
    Stage(TrialStage),
    /// What bounded a load.
    LimitCode(LimitCode),
    /// What a calibration does not trust.
    Distrust(Distrust),
}

impl Code {
    /// The id used in JSON and in the documentation.
    pub fn id(self) -> &'static str {
        match self {
            Code::Invariant(code) => code.id(),
            Code::Mark(code) => code.id(),
            Code::Stage(code) => code.id(),
            Code::LimitCode(code) => code.id(),
            Code::Distrust(code) => code.id(),
        }
    }
}

macro_rules! codes {
    ($($kind:ident => $variant:ident,)*) => {
        $(impl From<$kind> for Code {
            fn from(code: $kind) -> Self {
                Code::$variant(code)
            }
        })*
    };
}

codes! {
    Invariant => Invariant,
    Mark => Mark,
    TrialStage => Stage,
    LimitCode => LimitCode,
    Distrust => Distrust,
}

/// A reason with a stable code and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Its kebab-case id stands in docs/METRICS.md.
    pub code: Code,
    /// What was seen and what it means.
    pub text: String,
    /// The metrics that a mark is about; empty where it is about no one in particular.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// What would mend it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<Cure>,
}

impl Reason {
    /// A reason from a code and its sentence.
    pub fn new(code: impl Into<Code>, text: impl Into<String>) -> Self {
        Self { code: code.into(), text: text.into(), metrics: Vec::new(), cure: None }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all() -> Vec<Code> {
        let mut all: Vec<Code> = Invariant::ALL.iter().copied().map(Code::from).collect();
        all.extend(Mark::ALL.iter().copied().map(Code::from));
        all.extend(TrialStage::ALL.iter().copied().map(Code::from));
        all.extend(LimitCode::ALL.iter().copied().map(Code::from));
        all.extend(Distrust::ALL.iter().copied().map(Code::from));
        all
    }

    #[test]
    fn an_id_alone_tells_the_code_and_is_what_records_have() {
        let ids: BTreeSet<&str> = all().into_iter().map(Code::id).collect();
        assert_eq!(ids.len(), all().len(), "each id once");
        for code in all() {
            let written = format!("code = \"{}\"\ntext = \"\"\n", code.id());
            let reason: Reason = toml::from_str(&written).unwrap();
            assert_eq!(reason.code, code);
            assert_eq!(toml::to_string(&reason).unwrap(), written);
        }
        assert!(toml::from_str::<Reason>("code = \"banana\"\ntext = \"\"").is_err());
    }
}
