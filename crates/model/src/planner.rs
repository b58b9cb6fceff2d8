use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Addition, DiagnosisEnd, Fault, Metric, NotServed, SoakEnd, TrialRecord, TrialSpec};

/// What a planner wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// This is to be added to the plan, which the planner has done with its own copy, before it is asked again.
    Add(Vec<Addition>),
    /// These trials, in this order.
    Run(Vec<TrialSpec>),
    /// These trials, all alive together. Their cells share their conditions and keep their connections; none of them delays its
    /// network, is profiled, counts who serves, or stands on a ladder.
    Rotate(Together),
    /// Nothing more, and why.
    Done(Done),
}

/// Launches that live together, and the turns among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// Each launch's trial, in the order in which they are launched.
    pub trials: Vec<TrialSpec>,
    /// The turns, in order.
    pub turns: Vec<Turn>,
}

/// One launch's turn to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Which of the launches, from 0.
    pub launch: usize,
    /// Round, from 1; 0 of the warm-up, which counts nowhere.
    pub round: u32,
    /// How long it is under load before what is measured begins at least, in nanoseconds.
    pub lead_in_ns: u64,
    /// How long is measured, in nanoseconds.
    pub window_ns: u64,
    /// From which its arrivals follow.
    pub seed: u64,
}

/// Why no more trials are needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Done {
    /// There are so many blocks as were planned.
    Planned {
        /// So many.
        blocks: u32,
        /// Beside those that were set aside; missing where there are none.
        #[serde(default, skip_serializing_if = "is_none")]
        aside: u32,
    },
    /// There are as many blocks as may be.
    Capped {
        /// So many.
        blocks: u32,
        /// Beside those that were set aside; missing where there are none.
        #[serde(default, skip_serializing_if = "is_none")]
        aside: u32,
        /// What is known by then; null where that is not to be said.
        known: Option<Known>,
    },
    /// What was asked is known.
    Precise {
        /// After so many blocks.
        blocks: u32,
        /// What.
        known: Known,
        /// The half width that was asked for.
        asked: f64,
    },
    /// Further blocks would show the same.
    InVain {
        /// Targets of which not one reply was right.
        wrong: Vec<String>,
        /// Targets that died in every launch.
        died: Vec<String>,
        /// Targets that served nothing in any launch.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        silent: Vec<String>,
    },
    /// A rate is a share of what none of these targets serves.
    NoRate(BTreeMap<String, NotServed>),
    /// A calibration knows what can be trusted.
    Calibrated,
    /// A diagnosis ends.
    Diagnosed(DiagnosisEnd),
    /// A soak ends.
    Soaked(SoakEnd),
    /// A load failed without which nothing follows from the others.
    LoadFailed {
        /// The trial that made it.
        trial: String,
    },
    /// What is to be added would keep the plan from being carried out.
    Unsound(Fault),
    /// In words, as earlier versions recorded it.
    #[serde(untagged)]
    Said(String),
}

fn is_none(blocks: &u32) -> bool {
    *blocks == 0
}

/// How well figures are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// The figures.
    pub metrics: Vec<Metric>,
    /// Half the width of the widest interval, as a share.
    pub half_width: f64,
}

/// Decides what comes next from the records so far: the same records in the same order always give the same answer. What it makes of a record it keeps, so that each is judged once.
pub trait Planner {
    /// Takes a record.
    fn take(&mut self, trial: &TrialRecord);

    /// What comes next: trials of which no record was taken yet.
    fn next(&mut self) -> Next;

    /// How many trials there will be at least, for progress.
    fn expected_trials(&self) -> usize;
}
