//! Proofs: experiments in an order that ends as it began, of which some change what is suspected by two doses, and one changes something
//! else.

use model::{Experiment, ServerFault, Unproved, WhyOpen};

use super::case::Case;
use super::reading::Reading;
use super::signs::is_disturbed;

/// What is known of a suspect that is likely to be there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Examined {
    /// What it would be, by the figures so far.
    pub(super) fault: ServerFault,
    /// The readings that show it, by their places among the records.
    pub(super) by: Vec<usize>,
    pub(super) stands: Stands,
    /// What would tell more of it, where it is proved.
    pub(super) more: Option<Experiment>,
}

/// How the proof stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stands {
    /// This is the next experiment.
    Wants(Experiment),
    Proved,
    Unproved(Unproved),
    Refuted(WhyOpen),
}

impl Examined {
    pub(super) fn new(fault: ServerFault, by: &[&Reading<'_>], stands: Stands) -> Examined {
        let mut by: Vec<usize> = by.iter().map(|reading| reading.place).collect();
        by.sort_unstable();
        by.dedup();
        Examined { fault, by, stands, more: None }
    }
}

/// The readings of a proof as far as it has come, each later than the one before, and what comes next.
pub(super) struct Steps<'c, 'a> {
    pub(super) made: Vec<&'c Reading<'a>>,
    pub(super) next: Option<Stands>,
}

impl<'c, 'a> Steps<'c, 'a> {
    pub(super) fn of(case: &'c Case<'a>, order: &[Experiment]) -> Self {
        Self::made_of(case, order, |_| true)
    }

    /// The same of those alone in which others left the CPU to the server.
    pub(super) fn undisturbed(case: &'c Case<'a>, order: &[Experiment]) -> Self {
        Self::made_of(case, order, |reading| !is_disturbed(reading))
    }

    fn made_of(case: &'c Case<'a>, order: &[Experiment], counts: impl Fn(&Reading<'a>) -> bool) -> Self {
        let (mut made, mut left) = (Vec::new(), order.iter());
        let mut wanted = left.next();
        for reading in case.counting().filter(|reading| counts(reading)) {
            if wanted == Some(&reading.experiment()) {
                made.push(reading);
                wanted = left.next();
            }
        }
        let next = wanted.map(|experiment| {
            if !case.allows(*experiment) {
                Stands::Unproved(Unproved::NoOverload)
            } else if case.in_vain(*experiment) {
                Stands::Unproved(Unproved::Void)
            } else if case.in_vain_unless(*experiment, |reading| reading.valid && counts(reading)) {
                Stands::Unproved(Unproved::Others)
            } else {
                Stands::Wants(*experiment)
            }
        });
        Steps { made, next }
    }

    /// Those of one experiment.
    pub(super) fn all(&self, experiment: Experiment) -> Vec<&'c Reading<'a>> {
        self.made.iter().copied().filter(|reading| reading.experiment() == experiment).collect()
    }
}

/// Whether two figures are equal but for a share.
pub(super) fn are_equal(one: f64, other: f64, but_for: f64) -> bool {
    one > 0.0 && other > 0.0 && (one / other).ln().abs() <= (1.0 + but_for).ln()
}
