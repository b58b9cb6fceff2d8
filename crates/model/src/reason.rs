use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Breach, Cure, Invariant, LimitCause, Mark, MarkCause, Metric, Shortfall, TrialStage};

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

macro_rules! whys {
    ($($kind:ident => $variant:ident,)*) => {
        $(impl From<$kind> for Why {
            fn from(seen: $kind) -> Self {
                Why::$variant(seen)
            }
        })*
    };
}

whys! {
    String => Text,
    LimitCause => Limit,
    MarkCause => Mark,
    DistrustCause => Distrusted,
}

codes! {
    Invariant => Invariant,
    Mark => Mark,
    TrialStage => Stage,
    LimitCode => LimitCode,
    Distrust => Distrust,
}

/// Why an open load is not only the null responder's; shares of its requests, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DistrustCause {
    /// Sent over 1 ms late by the generator.
    Late(f64),
    /// That waited for a connection, since the responder was slow.
    Waited(f64),
    /// Sent at all: the responder did not answer more.
    Sent(f64),
}

/// What was seen and what it means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// In words: those of a record, which somebody else's error may be part of.
    Text(String),
    /// What bounded a load.
    Limit(LimitCause),
    /// What shows a mark.
    Mark(MarkCause),
    /// The invariants that broke.
    Broken(Vec<Breach>),
    /// What a calibration does not trust.
    Distrusted(DistrustCause),
}

/// A reason with a stable code and what was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// Its kebab-case id stands in docs/METRICS.md.
    pub code: Code,
    /// What was seen and what it means.
    #[serde(flatten)]
    pub why: Why,
    /// The metrics that a mark is about; empty where it is about no one in particular.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// What would mend it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<Cure>,
}

impl Reason {
    /// A reason from a code and what was seen.
    pub fn new(code: impl Into<Code>, why: impl Into<Why>) -> Self {
        Self { code: code.into(), why: why.into(), metrics: Vec::new(), cure: None }
    }
}

impl LimitCause {
    /// What a reason of it is about.
    pub fn code(&self) -> Code {
        let code = match self {
            LimitCause::AtLeast(Shortfall::StoodStill { .. }) | LimitCause::Blind(_) => LimitCode::GeneratorStalled,
            LimitCause::AtLeast(_) => return Mark::Generator.into(),
            LimitCause::Ceiling(_) => return Mark::AtCeiling.into(),
            LimitCause::NothingRight { .. } => LimitCode::NothingRight,
            LimitCause::NothingDue { .. } => LimitCode::NothingDue,
            LimitCause::NoReply(_) => LimitCode::NoReply,
            LimitCause::TargetBusy(_) => LimitCode::TargetCpu,
            LimitCause::ServerBound { .. } => LimitCode::ServerBound,
            LimitCause::RateMissed { .. } => LimitCode::RateNotReached,
            LimitCause::RateSent { .. } => LimitCode::RateReached,
            LimitCause::Stopped { .. } | LimitCause::Behind { .. } => LimitCode::ServerBehind,
            LimitCause::Silence(_) => LimitCode::ServerSilent,
            LimitCause::Interrupted { .. } => LimitCode::Interrupted,
        };
        code.into()
    }
}

impl From<LimitCause> for Reason {
    fn from(cause: LimitCause) -> Self {
        Reason::new(cause.code(), cause)
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
