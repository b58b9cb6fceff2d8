use crate::{TrialRecord, TrialSpec};

/// What a planner wants next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// These trials, in this order.
    Run(Vec<TrialSpec>),
    /// Nothing more, and why.
    Done(String),
}

/// Decides which trials come next from what is known so far; the same records always give the same answer.
pub trait Planner {
    /// The next trials, none of which is among `done`.
    fn next(&self, done: &[TrialRecord]) -> Next;

    /// How many trials there will be at least, for progress.
    fn expected_trials(&self) -> usize;
}
