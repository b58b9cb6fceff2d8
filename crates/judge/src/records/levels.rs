//! The levels of the tests behind verdicts.

use super::Records;
use crate::thresholds::{SIGNIFICANCE, SIGNIFICANCE_OF_LATER_LOOKS, SIGNIFICANCE_WHEN_STOPPED};

impl Records<'_> {
    /// Level of the tests behind a verdict: stricter where the number of blocks followed from what they showed, and stricter
    /// each time that more of them were asked for after a look.
    pub(crate) fn significance(&self) -> f64 {
        match self.plan.blocks_before.len() {
            0 if self.plan.blocks.max > self.plan.blocks.min => SIGNIFICANCE_WHEN_STOPPED,
            0 => SIGNIFICANCE,
            raises => after_raises(raises),
        }
    }

    /// The levels of this look and of those before together: how often at most one of them is wrong where the first is wrong
    /// as often as a test at 5 %.
    pub(crate) fn all_looks(&self) -> f64 {
        let raises = 1..=self.plan.blocks_before.len();
        SIGNIFICANCE + raises.map(after_raises).sum::<f64>()
    }

    /// Confidence of the interval behind a verdict, which is the one that is shown. It is made to hold the truth in 95 % of runs: one that ends
    /// as soon as it is precise ends where the scatter looks small, and one that goes on until there is a verdict where it does not, so that
    /// an interval at 95 % would hold it more seldom (docs/STATISTICS.md).
    pub(crate) fn confidence(&self) -> f64 {
        1.0 - self.significance()
    }

    /// That level once more blocks will have been asked for.
    pub(crate) fn significance_after_a_raise(&self) -> f64 {
        after_raises(self.plan.blocks_before.len() + 1)
    }
}

/// The level of a look at a run after so many raises: half of what the looks before it left.
fn after_raises(raises: usize) -> f64 {
    SIGNIFICANCE_OF_LATER_LOOKS / 2_f64.powi(raises.min(MOST_RAISES) as i32)
}

/// Raises after which the level falls no more: nothing is found at a millionth of it.
const MOST_RAISES: usize = 20;
