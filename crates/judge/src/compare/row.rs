//! What two cells say of each other by one metric, and what that is evidence of.

use model::{CompareRow, ComparisonVerdict, Measured, Metric, Scale, Withheld};

use crate::cells::measured;
use crate::comparisons::{doubt, seen};
use crate::guard::Doubt;
use crate::pair::{Launches, Pair};
use crate::statistics::{Interval, LogRatio};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, CONFIDENCE};

impl Pair<'_> {
    /// The row of a metric.
    pub(super) fn row(&self, metric: Metric, found: Option<LogRatio>, p_adjusted: Option<f64>) -> CompareRow {
        let [old, new] = self.values(metric).map(|values| measured(&values, metric.unit()));
        let (verdict, withheld) = self.judged(metric, found, p_adjusted);
        let interval = found.map(|found| found.interval);
        // One launch of each has a change as well, and nothing to say how sure it is.
        let alone = |measured: Measured, of: &dyn Fn(f64, f64) -> f64| Measured {
            estimate: measured.estimate.or_else(|| {
                let value = of(new.estimate?, old.estimate?);
                (value.is_finite() && !self.has_zero(metric)).then_some(value)
            }),
            ..measured
        };
        let (ratio, difference) = match metric.scale() {
            Scale::Ratio => {
                (alone(of_interval(interval.map(|of| of.map(f64::exp)), "ratio"), &|new, old| new / old), None)
            }
            Scale::Difference => {
                let difference = alone(of_interval(interval, metric.unit()), &|new, old| new - old);
                (of_interval(None, "ratio"), Some(difference))
            }
        };
        let conditions = self.new.0.plan.cells[self.new.1].levels.conditions();
        CompareRow {
            metric,
            conditions,
            old,
            new,
            ratio,
            difference,
            p_adjusted,
            verdict,
            withheld,
            needs_blocks: None,
        }
    }

    /// The verdict; where the figures alone would give another one, why it is held back.
    fn judged(
        &self,
        metric: Metric,
        found: Option<LogRatio>,
        p_adjusted: Option<f64>,
    ) -> (ComparisonVerdict, Option<Withheld>) {
        if let some @ Some(_) = self.incomparable(metric) {
            return (ComparisonVerdict::Inconclusive, some);
        }
        let verdict = self.verdict(metric, found, p_adjusted);
        match self.withheld(metric, (found, p_adjusted), verdict) {
            None => (verdict, None),
            some => (ComparisonVerdict::Inconclusive, some),
        }
    }

    /// What the figures alone say.
    fn verdict(&self, metric: Metric, found: Option<LogRatio>, p: Option<f64>) -> ComparisonVerdict {
        let (Some(found), Some(p)) = (found, p) else { return ComparisonVerdict::Inconclusive };
        if found.blocks < BLOCKS_FOR_A_VERDICT {
            return ComparisonVerdict::Inconclusive;
        }
        seen(&found.interval, p < self.significance(), self.margin(metric), metric.more_is_better())
    }

    /// Why what the figures say is not evidence, where it is not.
    fn withheld(
        &self,
        metric: Metric,
        (found, p_adjusted): (Option<LogRatio>, Option<f64>),
        verdict: ComparisonVerdict,
    ) -> Option<Withheld> {
        if verdict == ComparisonVerdict::Inconclusive {
            return None;
        }
        // One test of a family, whichever launches it rests on: Holm makes as much of its p value.
        let adjusted = |within: Option<LogRatio>| {
            let p = within.zip(found).zip(p_adjusted).map(|((within, plain), p)| within.adjusted_like(&plain, p));
            self.verdict(metric, within, p)
        };
        let judge = |doubts: &[Doubt]| adjusted(self.within(metric, (Launches::All, doubts), CONFIDENCE));
        doubt([self.new, self.old], metric, verdict, judge).or_else(|| {
            let stands = |within: Option<LogRatio>| adjusted(within) == verdict;
            (!self.withstands_noise(metric, verdict, CONFIDENCE, stands)).then_some(Withheld::Disturbed)
        })
    }
}

fn of_interval(interval: Option<Interval>, unit: &str) -> Measured {
    Measured {
        estimate: interval.map(|of| of.estimate),
        low: interval.map(|of| of.low),
        high: interval.map(|of| of.high),
        unit: unit.to_owned(),
    }
}
