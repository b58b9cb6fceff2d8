use crate::{Addition, TrialRecord, TrialSpec};

/// What a planner wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// This is to be added to the plan, which the planner has done with its own copy, before it is asked again.
    Add(Vec<Addition>),
    /// These trials, in this order.
    Run(Vec<TrialSpec>),
    /// Nothing more, and why.
    Done(String),
}

/// Decides what comes next from the records so far: the same records always give the same answer, in whatever order they
/// came. What it makes of a record it keeps, so that each is judged once.
pub trait Planner {
    /// Takes a record.
    fn take(&mut self, trial: &TrialRecord);

    /// What comes next: trials of which no record was taken yet.
    fn next(&mut self) -> Next;

    /// How many trials there will be at least, for progress.
    fn expected_trials(&self) -> usize;
}
