use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{
    Breach, Cure, Invariant, LimitCause, Mark, MarkCause, MarkNote, Metric, NotReady, NotStarted, Shortfall, TargetEnd,
    TrialStage, Unsliced, UnslicedCause, WhyFailed,
};

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
    /// What keeps a load from being cut into slices.
    Unsliced(Unsliced),
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
            Code::Unsliced(code) => code.id(),
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
    LimitCause => Limit,
    MarkCause => Mark,
    DistrustCause => Distrusted,
    TargetEnd => Ended,
    UnslicedCause => Unsliced,
}

codes! {
    Invariant => Invariant,
    Mark => Mark,
    TrialStage => Stage,
    LimitCode => LimitCode,
    Distrust => Distrust,
    Unsliced => Unsliced,
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
    /// In words, as records of earlier versions have it, or where a record has nothing to show.
    Text(String),
    /// What bounded a load.
    Limit(LimitCause),
    /// What shows a mark.
    Mark(MarkCause),
    /// The invariants that broke.
    Broken(Vec<Breach>),
    /// What a calibration does not trust.
    Distrusted(DistrustCause),
    /// The program of a target was not started.
    NotStarted(NotStarted),
    /// A target ran, and did not become ready.
    NotReady(Box<NotReady>),
    /// How a target ended.
    Ended(TargetEnd),
    /// Of a target that was not launched again: why it did not start before.
    NotAgain(Box<WhyFailed>),
    /// What keeps a load from being cut into slices.
    Unsliced(UnslicedCause),
}

/// What was seen, and what that is about. It is written with its code; where what was seen says another, as records of
/// earlier versions may, that of what was seen counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Reason {
    /// What it is about, where what was seen does not say it: words do not, nor does the end of a process.
    stated: Code,
    /// What was seen and what it means.
    pub why: Why,
    /// The metrics that a mark is about; empty where it is about no one in particular.
    pub metrics: Vec<Metric>,
    /// What would mend it, where that is known.
    pub cure: Option<Cure>,
}

/// A reason as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    code: Code,
    #[serde(flatten)]
    why: Why,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<Metric>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cure: Option<Cure>,
}

impl From<Reason> for Written {
    fn from(reason: Reason) -> Self {
        Written { code: reason.code(), why: reason.why, metrics: reason.metrics, cure: reason.cure }
    }
}

impl TryFrom<Written> for Reason {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { code, why, metrics, cure } = written;
        let why = match (why, code) {
            (Why::Mark(cause @ (MarkCause::Course(_) | MarkCause::Growth(_))), Code::Mark(mark)) => {
                Why::Mark(cause.beside(mark)?)
            }
            (why, _) => why,
        };
        Ok(Self { metrics, cure, ..Self::new(code, why) })
    }
}

impl Reason {
    fn new(code: impl Into<Code>, why: Why) -> Self {
        Self { stated: why.code().unwrap_or_else(|| code.into()), why, metrics: Vec::new(), cure: None }
    }

    /// A reason in words, which are about this.
    pub fn said(about: impl Into<Code>, text: String) -> Self {
        Self::new(about, Why::Text(text))
    }

    /// Why a trial failed, and where.
    pub fn failed(stage: TrialStage, why: WhyFailed) -> Self {
        Self::new(stage, why.into())
    }

    /// The first broken invariant, with the breaches of all; none where there are none.
    pub fn broken(breaches: Vec<Breach>) -> Option<Self> {
        let invariant = breaches.first()?.invariant();
        Some(Self::new(invariant, Why::Broken(breaches)))
    }

    /// Its kebab-case id stands in docs/METRICS.md.
    pub fn code(&self) -> Code {
        self.why.code().unwrap_or(self.stated)
    }

    /// The same about these metrics.
    #[must_use]
    pub fn about(self, metrics: Vec<Metric>) -> Self {
        Self { metrics, ..self }
    }

    /// The same with what would mend it.
    #[must_use]
    pub fn with_cure(self, cure: Option<Cure>) -> Self {
        Self { cure, ..self }
    }
}

impl Why {
    /// What it is about, where that follows from what was seen.
    pub fn code(&self) -> Option<Code> {
        match self {
            Why::Limit(cause) => Some(cause.code()),
            Why::Mark(cause) => Some(cause.mark().into()),
            Why::Broken(breaches) => breaches.first().map(|first| first.invariant().into()),
            Why::Distrusted(cause) => Some(cause.code().into()),
            Why::Unsliced(cause) => Some(cause.code().into()),
            Why::Text(_) | Why::NotStarted(_) | Why::NotReady(_) | Why::Ended(_) | Why::NotAgain(_) => None,
        }
    }
}

impl DistrustCause {
    /// What it makes doubtful.
    pub fn code(self) -> Distrust {
        match self {
            DistrustCause::Late(_) => Distrust::GeneratorLate,
            DistrustCause::Waited(_) | DistrustCause::Sent(_) => Distrust::Responder,
        }
    }
}

impl From<MarkNote> for Reason {
    fn from(note: MarkNote) -> Self {
        let MarkNote { cause, metrics, cure, launches: _, arm: _ } = note;
        Self { metrics, cure, ..Self::new(cause.mark(), Why::Mark(cause)) }
    }
}

impl From<DistrustCause> for Reason {
    fn from(cause: DistrustCause) -> Self {
        Self::new(cause.code(), cause.into())
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

impl From<WhyFailed> for Why {
    fn from(why: WhyFailed) -> Self {
        match why {
            WhyFailed::Text(text) => Why::Text(text),
            WhyFailed::NotStarted(why) => Why::NotStarted(why),
            WhyFailed::NotReady(why) => Why::NotReady(why),
            WhyFailed::Ended(end) => Why::Ended(end),
            WhyFailed::NotAgain(why) => Why::NotAgain(why),
        }
    }
}

impl From<UnslicedCause> for Reason {
    fn from(cause: UnslicedCause) -> Self {
        Reason::new(cause.code(), cause.into())
    }
}

impl From<LimitCause> for Reason {
    fn from(cause: LimitCause) -> Self {
        Reason::new(cause.code(), cause.into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Changed, Growth, Imbalance, NoReplySeen, TlsFailed, WindowCourse};

    fn all() -> Vec<Code> {
        let mut all: Vec<Code> = Invariant::ALL.iter().copied().map(Code::from).collect();
        all.extend(Mark::ALL.iter().copied().map(Code::from));
        all.extend(TrialStage::ALL.iter().copied().map(Code::from));
        all.extend(LimitCode::ALL.iter().copied().map(Code::from));
        all.extend(Distrust::ALL.iter().copied().map(Code::from));
        all.extend(Unsliced::ALL.iter().copied().map(Code::from));
        all
    }

    #[test]
    fn an_id_alone_tells_the_code_and_is_what_records_have() {
        let ids: BTreeSet<&str> = all().into_iter().map(Code::id).collect();
        assert_eq!(ids.len(), all().len(), "each id once");
        for code in all() {
            let written = format!("code = \"{}\"\ntext = \"\"\n", code.id());
            let reason: Reason = toml::from_str(&written).unwrap();
            assert_eq!(reason.code(), code);
            assert_eq!(toml::to_string(&reason).unwrap(), written);
        }
        assert!(toml::from_str::<Reason>("code = \"banana\"\ntext = \"\"").is_err());
    }

    fn grew(levelled_off: bool) -> MarkCause {
        MarkCause::Growth(Growth { levelled_off, bytes: 7, bytes_per_request: None })
    }

    #[test]
    fn the_code_follows_from_what_was_seen_whatever_is_written_beside_it() {
        let thin = "code = \"growing\"\n\n[mark]\ncompletions_per_slot = 2.0\n";
        let read: Reason = toml::from_str(thin).unwrap();
        assert_eq!(read.code(), Mark::Thin.into());
        assert_eq!(toml::to_string(&read).unwrap(), thin.replace("growing", "thin"));
        let books = toml::from_str::<Reason>("code = \"markov\"\nbroken = [{ imbalance = \"sent 4\" }]").unwrap();
        assert_eq!(books.code(), Invariant::Accounting.into());
    }

    #[test]
    fn what_the_code_alone_tells_is_read_from_it() {
        for (levelled_off, mark) in [(false, Mark::Growing), (true, Mark::LevelledOff)] {
            let reason = Reason::from(MarkNote::new(grew(levelled_off)));
            let written = toml::to_string(&reason).unwrap();
            assert!(
                written.starts_with(&format!("code = \"{mark}\"")) && !written.contains("levelled_off"),
                "{written}"
            );
            assert_eq!(toml::from_str::<Reason>(&written).unwrap(), reason);
            let other = written.replacen(mark.id(), "warm-up", 1);
            assert!(toml::from_str::<Reason>(&other).is_err(), "memory shows no course");
        }
        for went in Changed::ALL.iter().copied() {
            let course =
                WindowCourse { went, metric: Metric::P99, levels: vec![], steady_from_s: None, window_s: 10.0 };
            let note = MarkNote::new(MarkCause::Course(course));
            let written = toml::to_string(&note).unwrap();
            assert!(written.contains(&format!("mark = \"{went}\"")) && !written.contains("went"), "{written}");
            assert_eq!(toml::from_str::<MarkNote>(&written).unwrap(), note);
        }
    }

    #[test]
    fn a_note_whose_mark_is_not_what_it_shows_is_refused() {
        let note = |mark: Mark| toml::from_str::<MarkNote>(&format!("mark = \"{mark}\"\n[spill]\ncpus = 0.5"));
        assert_eq!(note(Mark::Spill).unwrap().mark(), Mark::Spill);
        assert!(note(Mark::Thin).is_err());
    }

    #[test]
    fn what_earlier_versions_wrote_in_words_is_read() {
        let tls = "code = \"no-reply\"\n[limit.no-reply]\nnot_sent = {}\nfailed = {}\nawaited = 0\nsent_before = 0\n\
                   seen = { tls-failed = \"expired\" }";
        let Why::Limit(LimitCause::NoReply(found)) = toml::from_str::<Reason>(tls).unwrap().why else { panic!() };
        let failed = TlsFailed { fault: None, why: "expired".to_owned() };
        assert_eq!(found.seen, Some(NoReplySeen::TlsFailed(failed)));
        let books = "code = \"accounting\"\nbroken = [{ imbalance = \"sent 4\" }]";
        let said = Breach::Imbalance(Imbalance::Said("sent 4".to_owned()));
        assert_eq!(toml::from_str::<Reason>(books).unwrap().why, Why::Broken(vec![said]));
    }
}
