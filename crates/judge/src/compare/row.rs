//! What two cells say of each other by one metric, and what that is evidence of.

use model::{CompareRow, ComparisonVerdict, Measured, Metric, Quiet, Scale, Unit, Withheld};

use super::needed::AtLast;
use crate::comparisons::{doubt, seen};
use crate::guard::{Doubt, MARKS};
use crate::pair::{LaunchSelection, Pair};
use crate::records::Records;
use crate::statistics::{Interval, LogRatio, mean, t_interval_at};

/// What a metric says.
struct Found {
    verdict: ComparisonVerdict,
    withheld: Option<Withheld>,
    /// What its figures alone say, where that is withheld.
    seen: Option<ComparisonVerdict>,
}

impl Pair<'_> {
    /// The row of a metric.
    pub(crate) fn row(&self, metric: Metric, p_adjusted: Option<f64>) -> CompareRow {
        // The means that the change is of, so that the two agree.
        let [(old, _), (new, _)] = [self.old, self.new];
        let mean_of = |records: &Records, values: &[f64]| match metric.scale() {
            Scale::Ratio => records.measured(values, metric.unit()),
            Scale::Difference => {
                let interval = t_interval_at(values, records.confidence());
                Measured { estimate: mean(values), ..of_interval(interval, metric.unit()) }
            }
        };
        let [of_old, of_new] = self.compared(metric);
        let (old, new) = (mean_of(old, &of_old), mean_of(new, &of_new));
        let change = self.change(metric, self.confidence());
        let Found { verdict, withheld, seen } = self.judged(metric, change, p_adjusted);
        let interval = change.map(|found| found.interval);
        // One launch of each has a change as well, and nothing to say how sure it is.
        let alone = |measured: Measured, of: &dyn Fn(f64, f64) -> f64| Measured {
            estimate: measured.estimate.or_else(|| {
                let value = of(new.estimate?, old.estimate?);
                (value.is_finite() && self.is_measured(metric) && !self.has_zero(metric)).then_some(value)
            }),
            ..measured
        };
        let (ratio, difference) = match metric.scale() {
            Scale::Ratio => {
                (alone(of_interval(interval.map(|of| of.map(f64::exp)), Unit::Ratio), &|new, old| new / old), None)
            }
            Scale::Difference => {
                let difference = alone(of_interval(interval, metric.unit()), &|new, old| new - old);
                (of_interval(None, Unit::Ratio), Some(difference))
            }
        };
        CompareRow {
            metric,
            conditions: self.place(),
            old,
            new,
            blocks: Some(self.blocks(metric) as u32),
            ratio,
            difference,
            p_adjusted,
            open_as_one_of: None,
            verdict,
            withheld_of: withheld.map_or(Vec::new(), |why| self.sides(metric, why)),
            quiet: withheld.filter(|why| why.is_noise()).and_then(|_| self.quiet(metric)),
            in_doubt: withheld.and_then(|why| self.in_doubt(metric, why)),
            withheld,
            seen,
            needs_blocks: None,
        }
    }

    /// The verdict; where the figures alone would give another one, why it is held back.
    fn judged(&self, metric: Metric, found: Option<LogRatio>, p_adjusted: Option<f64>) -> Found {
        let verdict = self.verdict(metric, found, p_adjusted);
        let open = ComparisonVerdict::Inconclusive;
        if self.have_none(metric) {
            return Found { verdict: ComparisonVerdict::Same, withheld: None, seen: None };
        }
        if self.gives_nothing(metric) {
            return Found { verdict: ComparisonVerdict::Slower, withheld: None, seen: None };
        }
        if let withheld @ Some(_) = self.incomparable(metric) {
            return Found { verdict: open, withheld, seen: None };
        }
        if verdict == open {
            let enough = found.filter(|found| self.is_enough(found));
            let withheld = enough.and_then(|_| self.open_for_good(metric, |at_last| self.is_open(metric, at_last)));
            return Found { verdict, withheld, seen: None };
        }
        match self.withheld(metric, (found, p_adjusted), verdict) {
            None => Found { verdict, withheld: None, seen: None },
            withheld => Found { verdict: open, withheld, seen: Some(verdict) },
        }
    }

    /// Whether the new one gave none of what more is better of, in any launch, and the old one some in each: there is no ratio, and no
    /// doubt either.
    pub(super) fn gives_nothing(&self, metric: Metric) -> bool {
        let [(old, of_old), (new, of_new)] = [self.old, self.new];
        let (old, new) = (old.values(of_old, metric), new.values(of_new, metric));
        let enough = self.old.0.are_enough(old.len()) && self.new.0.are_enough(new.len());
        let none = new.iter().all(|value| *value <= 0.0) && old.iter().all(|value| *value > 0.0);
        metric.more_is_better() && enough && none
    }

    /// Whether neither had any, in any launch, of what less is better of: there is no ratio, and none is worse.
    pub(super) fn have_none(&self, metric: Metric) -> bool {
        let none = |(records, cell): (&Records, usize)| {
            let values = records.values(cell, metric);
            records.are_enough(values.len()) && values.iter().all(|value| *value == 0.0)
        };
        metric.scale() == Scale::Ratio && !metric.more_is_better() && none(self.old) && none(self.new)
    }

    /// Whether a change that is known to lie in an interval, however many launches there are, gives no verdict.
    pub(super) fn is_open(&self, metric: Metric, at_last: &AtLast) -> bool {
        let says = |at_last: &Interval| seen(at_last, true, self.margin(metric), metric.more_is_better());
        says(&at_last.apart) == ComparisonVerdict::Inconclusive && says(&at_last.alike) != ComparisonVerdict::Same
    }

    /// What the figures alone say.
    fn verdict(&self, metric: Metric, found: Option<LogRatio>, p: Option<f64>) -> ComparisonVerdict {
        let (Some(found), Some(p)) = (found, p) else { return ComparisonVerdict::Inconclusive };
        if !self.is_enough(&found) {
            return ComparisonVerdict::Inconclusive;
        }
        let differs = p < self.significance();
        if differs && found.interval.low > 0.0 && self.never_had(metric) {
            return ComparisonVerdict::Slower;
        }
        seen(&found.interval, differs, self.margin(metric), metric.more_is_better())
    }

    /// Whether an open figure has a verdict by itself, without what Holm makes of the others that are tested with it.
    pub(super) fn is_open_for_the_others(&self, row: &CompareRow) -> bool {
        let is_open = row.verdict == ComparisonVerdict::Inconclusive && row.withheld.is_none();
        let by_itself = || {
            let found = self.change(row.metric, self.confidence());
            let p = found.as_ref().map(|found| found.p);
            self.verdict(row.metric, found, p)
        };
        is_open && by_itself() != ComparisonVerdict::Inconclusive
    }

    /// Whether the old one had none in any launch of what is compared by its difference: who fails now and never did is worse, however
    /// small that share.
    fn never_had(&self, metric: Metric) -> bool {
        let (old, of_old) = self.old;
        metric.scale() == Scale::Difference && old.values(of_old, metric).iter().all(|value| *value == 0.0)
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
        let judge = |doubts: &[Doubt]| adjusted(self.within(metric, (LaunchSelection::All, doubts), self.confidence()));
        let doubted = || doubt([self.new, self.old], metric, verdict, judge);
        doubted().or_else(|| {
            let stands = |within: Option<LogRatio>| adjusted(within) == verdict;
            self.noise(metric, (verdict, 0.0), self.confidence(), stands)
        })
    }

    /// The change as far as all that is in doubt leaves it open, where it is held back for some of that and it is further than its
    /// interval.
    pub(super) fn in_doubt(&self, metric: Metric, why: Withheld) -> Option<Measured> {
        let launches = match why {
            Withheld::Rounds => LaunchSelection::WithEveryRound,
            _ if MARKS.iter().any(|doubt| doubt.withheld() == why) => LaunchSelection::All,
            _ => return None,
        };
        let shown = self.change(metric, self.confidence())?.interval;
        let open = self.within(metric, (launches, &MARKS), self.confidence())?.interval;
        let (low, high) = (open.low.min(shown.low), open.high.max(shown.high));
        let is_ratio = metric.scale() == Scale::Ratio;
        let as_shown = |value: f64| if is_ratio { value.exp() } else { value };
        let bound = |value: f64| value.is_finite().then(|| as_shown(value));
        let unit = if is_ratio { Unit::Ratio } else { metric.unit() };
        let measured = Measured { estimate: Some(as_shown(shown.estimate)), low: bound(low), high: bound(high), unit };
        (low < shown.low || high > shown.high).then_some(measured)
    }

    /// What the launches alone show that nothing disturbed.
    pub(super) fn quiet(&self, metric: Metric) -> Option<Quiet> {
        let found = self.within(metric, (LaunchSelection::Undisturbed, &[]), self.confidence())?;
        let ratio = of_interval(Some(found.interval.map(f64::exp)), Unit::Ratio);
        Some(Quiet { blocks: found.blocks as u32, ratio })
    }
}

fn of_interval(interval: Option<Interval>, unit: Unit) -> Measured {
    Measured {
        estimate: interval.map(|of| of.estimate),
        low: interval.map(|of| of.low),
        high: interval.map(|of| of.high),
        unit,
    }
}
