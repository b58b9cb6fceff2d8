use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Cell, Measurement, Observation};

/// Schema number of a line of `trials.jsonl`.
pub const TRIAL_SCHEMA: &str = "bourdon.trial/2";

/// Those that are read, the newest first. The first has the load's seconds in `intervals`, where there are `steps` now.
pub const TRIAL_SCHEMAS: [&str; 2] = [TRIAL_SCHEMA, "bourdon.trial/1"];

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
    /// When it began, RFC 3339.
    #[serde(deserialize_with = "crate::read_moment")]
    pub started_at: Timestamp,
    /// From the launch to the first good answer, in milliseconds.
    pub time_to_ready_ms: Option<f64>,
    /// What the engine saw; null when the trial failed before the load.
    pub measurement: Option<Measurement>,
    /// What was seen of the target.
    pub observation: Option<Observation>,
    /// What went wrong, when something did.
    pub failure: Option<TrialFailure>,
}

impl TrialRecord {
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
        /// The process that guards the target was killed while it was under load, and the target with it: nothing was
        /// measured.
        Unguarded = "unguarded",
    }
}

/// Why a trial has no figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialFailure {
    /// Where it failed.
    pub stage: TrialStage,
    /// What happened.
    pub text: String,
    /// The last lines that the target wrote.
    pub output: String,
    /// For how long its target was waited for, in milliseconds; only of one that did not become ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
}

/// How servers of a cell ended under load; how many did is in `Failing`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Died {
    /// How many of its launches came up.
    pub of: u32,
    /// How the first of them ended.
    pub text: String,
    /// The last lines that it printed.
    pub printed: String,
}
