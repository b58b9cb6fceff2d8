use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{BackendUse, Cell, Measurement, Observation, Slice, WhyFailed, sum};

/// How often a server that was launched is asked whether it is ready, in milliseconds: it may have been ready for that much longer.
pub const READY_EVERY_MS: u64 = 2;

/// Schema number of a line of `trials.jsonl`.
pub const TRIAL_SCHEMA: &str = "bourdon.trial/3";

/// Those that are read, the newest first. The second has no `slices`, and why a trial failed in words alone; the first has the
/// load's seconds in `intervals`, where there are `steps` now.
pub const TRIAL_SCHEMAS: [&str; 3] = [TRIAL_SCHEMA, "bourdon.trial/2", "bourdon.trial/1"];

/// One launch that a planner asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrialSpec {
    /// Block, from 1; 0 for what comes before the blocks.
    pub block: u32,
    /// Place within the block, from 1.
    pub position: u32,
    /// Number of the cell, see [`crate::Draft::cell`].
    pub cell: usize,
    /// Whether it is the second launch of that cell in its block, see [`crate::Plan::twin`].
    pub twin: bool,
}

impl TrialSpec {
    /// The trial's name in the run folder; of two that have the same, the later was made in the place of the other.
    pub fn id(&self) -> String {
        format!("b{:02}-c{:02}{}", self.block, self.cell + 1, if self.twin { "-twin" } else { "" })
    }
}

/// What came of one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Version of this document's shape.
    pub schema: String,
    /// Name in the run folder.
    pub id: String,
    /// Block, from 1.
    pub block: u32,
    /// Place within the block, from 1.
    pub position: u32,
    /// Index into the plan's cells.
    pub cell: usize,
    /// Whether it is the second launch of that cell in its block, by which the target is measured against itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twin: bool,
    /// The levels of that cell.
    #[serde(rename = "where")]
    pub levels: Cell,
    /// When its target was launched, or its load began where the target already ran, RFC 3339. In records without an end it is
    /// when the target was ready, or was given up.
    #[serde(deserialize_with = "crate::read_moment")]
    pub started_at: Timestamp,
    /// When it was over, RFC 3339: its load, and of the last one of a launch its target. Records of earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// From the launch to the first good answer, in milliseconds.
    pub time_to_ready_ms: Option<f64>,
    /// What the engine saw; null when the trial failed before the load.
    pub measurement: Option<Measurement>,
    /// What the engine saw of the load beside it; none where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Measurement>,
    /// What the server did that its handlers asked; none where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<BackendUse>,
    /// What was seen of the target.
    pub observation: Option<Observation>,
    /// What went wrong, when something did.
    pub failure: Option<TrialFailure>,
    /// The slices of one whose load went round among several targets: what was seen of it is over these alone, without the
    /// warm-up. None where it had the load to itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
}

impl TrialRecord {
    /// The launch that was asked for.
    pub fn spec(&self) -> TrialSpec {
        TrialSpec { block: self.block, position: self.position, cell: self.cell, twin: self.twin }
    }

    /// Replies of any kind while its target was observed: in the window, or over the whole length of each slice but the warm-up.
    pub(crate) fn replies_seen(&self) -> u64 {
        match &self.measurement {
            Some(measured) if self.slices.is_empty() => measured.in_window.completed,
            _ => sum(self.slices.iter().filter(|slice| slice.round > 0).map(|slice| slice.replies)),
        }
    }

    /// Whether its target got ready.
    pub fn is_up(&self) -> bool {
        let unready = [TrialStage::Launch, TrialStage::Ready, TrialStage::NotTried];
        self.failure.as_ref().is_none_or(|failure| !unready.contains(&failure.stage))
    }

    /// Whether somebody took away what guarded its target under load: it says nothing about that.
    pub fn lost_its_guard(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.stage == TrialStage::Unguarded)
    }

    /// How its target ended under load, where it did.
    pub fn died(&self) -> Option<&TrialFailure> {
        self.failure.as_ref().filter(|failure| failure.stage == TrialStage::Died)
    }
}

kinds! {
    /// Where a trial failed.
    TrialStage {
        /// The process could not be started.
        Launch = "launch",
        /// It exited, or did not answer in time.
        Ready = "ready",
        /// It was not launched, because its target had not started before.
        NotTried = "not-tried",
        /// The load could not be made; only records of earlier bourdons have it, for that is not a trial.
        Load = "load",
        /// The target died while it was under load.
        Died = "died",
        /// The process that guards the target was killed or told to end while it was under load, and the target with
        /// it: nothing was measured.
        Unguarded = "unguarded",
    }
}

/// Why a trial has no figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialFailure {
    /// Where it failed.
    pub stage: TrialStage,
    /// What happened.
    #[serde(flatten)]
    pub why: WhyFailed,
    /// The last lines that the target wrote.
    pub output: String,
    /// For how long its target was waited for, in milliseconds; only of one that did not become ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
}

impl TrialFailure {
    /// One of which nothing else is known.
    pub fn new(stage: TrialStage, why: impl Into<WhyFailed>) -> Self {
        Self { stage, why: why.into(), output: String::new(), waited_ms: None }
    }
}

/// How servers of a cell ended under load; how many did is in `Failing`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Died {
    /// How many of its launches came up.
    pub of: u32,
    /// How the first of them ended.
    #[serde(flatten)]
    pub why: WhyFailed,
    /// The last lines that it printed.
    pub printed: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EndedWhen, Hint, Instead, NeedsShell, NotReady, NotStarted, ProcessEnd, TargetEnd};

    #[test]
    fn a_failure_is_read_as_it_was_written_also_where_it_was_in_words() {
        let end = TargetEnd {
            how: ProcessEnd::Exited(3),
            when: EndedWhen::BeforeReady,
            hints: vec![Hint::Said("why?".to_owned())],
        };
        for (why, written) in [
            (
                WhyFailed::from(end.clone()),
                "[ended]\nwhen = \"before-ready\"\nhints = [\"why?\"]\n\n[ended.how]\nexited = 3\n",
            ),
            (
                WhyFailed::NotAgain(Box::new(WhyFailed::Ended(TargetEnd { hints: Vec::new(), ..end }))),
                "[not_again.ended]\nwhen = \"before-ready\"\n\n[not_again.ended.how]\nexited = 3\n",
            ),
            (
                WhyFailed::Text("it exited with status 3 under load".to_owned()),
                "text = \"it exited with status 3 under load\"\n",
            ),
        ] {
            let failure = TrialFailure::new(TrialStage::Died, why);
            let text = toml::to_string(&failure).unwrap();
            assert_eq!(toml::from_str::<TrialFailure>(&text).unwrap(), failure, "{text}");
            assert!(text.ends_with(written) || text.contains(written), "{text}");
            let earlier = text.replace("hints = [\"why?\"]", "hint = \"why?\"");
            assert_eq!(toml::from_str::<TrialFailure>(&earlier).unwrap(), failure, "{earlier}");
        }
    }

    #[test]
    fn why_a_launch_failed_is_read_as_it_was_written() {
        let hints = || vec![Hint::Shell(NeedsShell::Word("&&".to_owned())), Hint::NoPort, Hint::NoCertificate];
        let at = vec!["[::1]:80".parse().unwrap(), "127.0.0.1:81".parse().unwrap()];
        let seen = Instead::Elsewhere { at, port: 80, stranger: false };
        let not_started = NotStarted { error: "No such file".to_owned(), hints: hints() };
        for why in [
            WhyFailed::from(not_started.clone()),
            WhyFailed::NotAgain(Box::new(not_started.into())),
            NotReady { seen, within_ns: Some(1), hints: hints() }.into(),
            NotReady { seen: Instead::Silent, within_ns: None, hints: Vec::new() }.into(),
        ] {
            let failure = TrialFailure::new(TrialStage::Ready, why);
            let text = serde_json::to_string(&failure).unwrap();
            assert_eq!(serde_json::from_str::<TrialFailure>(&text).unwrap(), failure, "{text}");
        }
    }
}
