use crate::{TrialRecord, TrialSpec};

/// Progress of a run, as it leaves the lab.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a few events a second")]
pub enum Event<'a> {
    /// A target is being built, since no earlier build serves.
    Building {
        /// Its name, with its runtime.
        target: &'a str,
    },
    /// A target is left out.
    Absent {
        /// Its name.
        target: &'a str,
        /// What is missing and how to get it.
        reason: &'a str,
    },
    /// A target is loaded before the run, for its rate is a share of what it serves.
    SettlingRate {
        /// Its name.
        target: &'a str,
    },
    /// A target is not ready, and it is known why.
    Waiting {
        /// Its name.
        target: &'a str,
        /// What it does instead.
        seen: &'a str,
    },
    /// A trial begins.
    TrialStarted {
        /// What is launched.
        spec: TrialSpec,
        /// Its cell in words.
        label: &'a str,
        /// Trials done so far.
        done: usize,
        /// Trials expected at least.
        expected: usize,
    },
    /// A second of a trial's load has passed.
    Second {
        /// What it saw.
        interval: &'a crate::Interval,
    },
    /// A trial ended.
    TrialEnded {
        /// Its record.
        record: &'a TrialRecord,
    },
    /// The run ends before its time, because it lacks a target that could not be started.
    GivenUp {
        /// The block with which it ends.
        block: u32,
        /// The target.
        target: &'a str,
    },
    /// The run ended.
    Finished {
        /// Why no more trials are needed.
        reason: &'a str,
    },
}
