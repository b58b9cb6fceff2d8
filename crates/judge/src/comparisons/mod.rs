//! Targets under the same conditions, two by two, and the ranks that follow.

mod ranks;
#[cfg(test)]
mod tests;

use model::{Comparison, ComparisonVerdict, Measured, Metric, Unit, Withheld};

pub(crate) use ranks::{choose_leaders, group};

use crate::cells::too_short_to_warm;
use crate::guard::{self, Doubt, MARKS, Side};
use crate::pair::{self, LaunchSelection};
use crate::records::{Records, pairs};
use crate::statistics::{Interval, LogRatio, holm, mean, paired, sign_interval};

/// The metrics by which targets are compared.
pub(crate) const COMPARED: [Metric; 5] =
    [Metric::Throughput, Metric::P99, Metric::CpuPerRequest, Metric::PeakMemory, Metric::TimeToReady];

/// The metrics by which a target is held against itself: those of its load.
const UNDER_LOAD: [Metric; 4] = [Metric::Throughput, Metric::P99, Metric::CpuPerRequest, Metric::PeakMemory];

/// The comparisons of one metric under one set of conditions: one family for Holm's adjustment.
struct Family<'a> {
    records: &'a Records<'a>,
    metric: Metric,
}

/// One pair with its block log ratios and their mean, on its way to a verdict.
struct Pair {
    a: usize,
    b: usize,
    log_ratios: Vec<f64>,
    /// None of under two blocks.
    found: Option<LogRatio>,
}

/// Every pair of targets under every set of conditions, by each metric that both have.
pub(crate) fn compare(records: &Records) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for group in records.plan.by_conditions() {
        for metric in COMPARED {
            comparisons.extend(Family { records, metric }.compare(&group));
        }
    }
    comparisons
}

impl Family<'_> {
    fn compare(&self, group: &[usize]) -> Vec<Comparison> {
        let all = pairs(group).into_iter().map(|(a, b)| self.pair(a, b));
        let found: Vec<Pair> = all.filter(|pair| !pair.log_ratios.is_empty()).collect();
        let p_values: Vec<f64> = found.iter().filter_map(|pair| Some(pair.found?.p)).collect();
        let mut adjusted = holm(&p_values).into_iter();
        found.iter().map(|pair| self.comparison(pair, pair.found.and_then(|_| adjusted.next()))).collect()
    }

    fn pair(&self, a: usize, b: usize) -> Pair {
        let log_ratios = self.records.log_ratios(a, b, self.metric);
        Pair { a, b, log_ratios, found: self.held(a, b).change(self.metric, self.records.confidence()) }
    }

    fn held(&self, a: usize, b: usize) -> pair::Pair<'_> {
        let (new, old) = ((self.records, a), (self.records, b));
        let (margin, among_targets) = (self.records.plan.margin, false);
        pair::Pair { new, old, paired: true, alike: false, margin, drift: 0.0, among_targets }
    }

    fn comparison(&self, pair: &Pair, p_adjusted: Option<f64>) -> Comparison {
        let (records, metric) = (self.records, self.metric);
        let found = records.comparison(pair, metric, p_adjusted);
        let verdict = found.verdict;
        let (a, b) = ((records, pair.a), (records, pair.b));
        let held = self.held(pair.a, pair.b);
        let confidence = records.confidence();
        let adjusted = |within: Option<LogRatio>| {
            let p = within.zip(pair.found).zip(p_adjusted).map(|((within, plain), p)| within.adjusted_like(&plain, p));
            records.verdict(metric, within, p)
        };
        let judge = |doubts: &[Doubt]| adjusted(held.within(metric, (LaunchSelection::All, doubts), confidence));
        let noise = || held.noise(metric, (verdict, 0.0), confidence, |within| adjusted(within) == verdict);
        let withheld = match verdict {
            ComparisonVerdict::Inconclusive => None,
            _ => held.incomparable(metric).or_else(|| doubt([a, b], metric, verdict, judge)).or_else(noise),
        };
        match withheld {
            Some(_) => Comparison { verdict: ComparisonVerdict::Inconclusive, withheld, seen: Some(verdict), ..found },
            None => found,
        }
    }
}

/// What is known of two cells that takes back what their figures say. `judge` says what these come to at the worst that
/// some doubts allow: a verdict stands if that is the same.
pub(crate) fn doubt<V: PartialEq>(
    cells: [(&Records, usize); 2],
    metric: Metric,
    seen: V,
    judge: impl Fn(&[Doubt]) -> V,
) -> Option<Withheld> {
    // Nobody knows what a server is like when warm that was not.
    if cells.into_iter().any(|(records, cell)| is_cold(records, cell, metric)) {
        return Some(Withheld::Cold);
    }
    if judge(&MARKS) == seen {
        return None;
    }
    let is_open = |doubt: &Doubt| is_open_of_either(cells, metric, *doubt);
    let alone = MARKS.into_iter().find(|doubt| judge(&[*doubt]) != seen);
    alone.or_else(|| MARKS.into_iter().find(is_open)).map(Doubt::withheld)
}

/// Whether a doubt leaves a figure of either of two cells open that are compared.
pub(crate) fn is_open_of_either(cells: [(&Records, usize); 2], metric: Metric, doubt: Doubt) -> bool {
    let [(_, a), (_, b)] = cells;
    let sides = [Side::beside(a, b), Side::beside(b, a)];
    cells.into_iter().zip(sides).any(|((records, _), side)| guard::is_open(records, side, metric, doubt))
}

/// Whether a cell had less load than it says it needs for this metric to be a warm server's.
pub(crate) fn is_cold(records: &Records, cell: usize, metric: Metric) -> bool {
    !metric.is_before_load() && too_short_to_warm(records, cell).is_some()
}

/// Whether a figure of a cell may be called the same as another one, for what is in doubt of it is less than the margin:
/// else it has no rank either.
pub(crate) fn can_tie(records: &Records, cell: usize, metric: Metric) -> bool {
    !is_cold(records, cell, metric) && guard::openness(records, Side::alone(cell), metric, &MARKS) <= band(records)
}

/// Whether memory of two cells counts unlike things, by more than the margin: then they do not tie where no difference is seen.
fn counts_unlike(records: &Records, [a, b]: [usize; 2], metric: Metric) -> bool {
    let is_open = |cell, other| {
        guard::openness(records, Side::beside(cell, other), metric, &[Doubt::SharedMemory]) > band(records)
    };
    is_open(a, b) || is_open(b, a)
}

/// The margin as a logarithm.
fn band(records: &Records) -> f64 {
    records.plan.margin.ln_1p()
}

impl Records<'_> {
    /// A pair with what its figures alone say.
    fn comparison(&self, pair: &Pair, metric: Metric, p_adjusted: Option<f64>) -> Comparison {
        let interval = pair.found.map(|found| found.interval);
        let levels = |cell: usize| &self.plan.cells[cell].levels;
        Comparison {
            metric,
            conditions: levels(pair.a).conditions(),
            a: levels(pair.a).target().to_owned(),
            b: levels(pair.b).target().to_owned(),
            ratio: Measured {
                estimate: mean(&pair.log_ratios).map(f64::exp),
                low: interval.map(|i| i.low.exp()),
                high: interval.map(|i| i.high.exp()),
                unit: Unit::Ratio,
            },
            sign_interval: sign_interval(&pair.log_ratios).map(|(low, high)| (low.exp(), high.exp())),
            p_adjusted,
            verdict: self.verdict(metric, pair.found, p_adjusted),
            withheld: None,
            seen: None,
        }
    }

    /// What a ratio says, its interval that of the level of the tests and its p value adjusted.
    fn verdict(&self, metric: Metric, found: Option<LogRatio>, p_adjusted: Option<f64>) -> ComparisonVerdict {
        match (found, p_adjusted) {
            (Some(found), Some(p)) if self.are_enough(found.blocks) => {
                seen(&found.interval, p < self.significance(), self.plan.margin, metric.more_is_better())
            }
            _ => ComparisonVerdict::Inconclusive,
        }
    }
}

/// The plan's twins against the cells that they repeat, by every metric that both have: one family, so that a quiet
/// session seldom looks noisy. What is known of the cell (a lower bound, a ceiling) takes no verdict back here, for
/// whatever tells a target from itself is noise.
pub(crate) fn compare_with_itself(records: &Records) -> Vec<Comparison> {
    let Some(cell) = records.plan.twin.filter(|cell| *cell < records.plan.cells.len()) else { return Vec::new() };
    let pair = |metric: &Metric| {
        let log_ratios = records.twin_log_ratios(*metric);
        let found = paired(&log_ratios, records.confidence());
        (*metric, Pair { a: cell, b: cell, log_ratios, found })
    };
    let found: Vec<(Metric, Pair)> =
        UNDER_LOAD.iter().map(pair).filter(|(_, pair)| !pair.log_ratios.is_empty()).collect();
    let p_values: Vec<f64> = found.iter().filter_map(|(_, pair)| Some(pair.found?.p)).collect();
    let mut adjusted = holm(&p_values).into_iter();
    let names: Vec<&str> = [records.plan.twin, records.plan.twin_in_turn]
        .into_iter()
        .flatten()
        .map(|cell| records.plan.cells[cell].levels.target())
        .collect();
    let itself = names.join(", ");
    let compare = |(metric, pair): &(Metric, Pair)| Comparison {
        a: itself.clone(),
        b: itself.clone(),
        ..records.comparison(pair, *metric, pair.found.and_then(|_| adjusted.next()))
    };
    found.iter().map(compare).collect()
}

/// What the figures alone say: the same when the whole interval lies within the margin, which is symmetric for
/// ratios (1 ÷ (1 + margin) to 1 + margin); else different when it excludes 1 and Holm's adjusted p agrees.
pub(crate) fn seen(log_ratio: &Interval, differs: bool, margin: f64, more_is_better: bool) -> ComparisonVerdict {
    let band = margin.ln_1p();
    if log_ratio.low >= -band && log_ratio.high <= band {
        return ComparisonVerdict::Same;
    }
    let excludes_one = log_ratio.low > 0.0 || log_ratio.high < 0.0;
    if !excludes_one || !differs {
        return ComparisonVerdict::Inconclusive;
    }
    if (log_ratio.estimate > 0.0) == more_is_better { ComparisonVerdict::Faster } else { ComparisonVerdict::Slower }
}
