//! Targets under the same conditions, two by two, and the ranks that follow.

mod ranks;
#[cfg(test)]
mod tests;

use model::{Comparison, ComparisonVerdict, Mark, Measured, Metric, Withheld};

pub(crate) use ranks::group;

use crate::cells::{failing, is_censored, too_short_to_warm};
use crate::records::{Records, pairs};
use crate::statistics::{Interval, holm, mean, p_of_zero_mean, sign_interval, t_interval};
use crate::thresholds::BLOCKS_FOR_A_VERDICT;

/// The metrics by which targets are compared.
pub(crate) const COMPARED: [Metric; 4] = [Metric::Throughput, Metric::P99, Metric::CpuPerRequest, Metric::PeakMemory];

/// The comparisons of one metric under one set of conditions: one family for Holm's adjustment.
struct Family<'a> {
    records: &'a Records<'a>,
    metric: Metric,
}

/// One pair with its block log ratios, on its way to a verdict.
struct Pair {
    a: usize,
    b: usize,
    log_ratios: Vec<f64>,
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
        let with_ratios = |(a, b)| Pair { a, b, log_ratios: self.records.log_ratios(a, b, self.metric) };
        let found: Vec<Pair> =
            pairs(group).into_iter().map(with_ratios).filter(|pair| !pair.log_ratios.is_empty()).collect();
        let tested = |pair: &&Pair| pair.log_ratios.len() >= 2;
        let p_values: Vec<f64> =
            found.iter().filter(tested).filter_map(|pair| p_of_zero_mean(&pair.log_ratios)).collect();
        let mut adjusted = holm(&p_values).into_iter();
        found.iter().map(|pair| self.comparison(pair, if tested(&pair) { adjusted.next() } else { None })).collect()
    }

    fn comparison(&self, pair: &Pair, p_adjusted: Option<f64>) -> Comparison {
        let seen = self.records.comparison(pair, self.metric, p_adjusted);
        let doubt = doubt((self.records, pair.a), (self.records, pair.b), self.metric, seen.verdict);
        Comparison { verdict: if doubt.is_none() { seen.verdict } else { ComparisonVerdict::Inconclusive }, ..seen }
    }
}

/// What is known of two cells that takes back what their figures say of `a` against `b`.
pub(crate) fn doubt(
    a: (&Records, usize),
    b: (&Records, usize),
    metric: Metric,
    seen: ComparisonVerdict,
) -> Option<Withheld> {
    let is_worse = |side: &Side| match seen {
        ComparisonVerdict::Slower => side.first,
        ComparisonVerdict::Faster => !side.first,
        ComparisonVerdict::Same | ComparisonVerdict::Inconclusive => false,
    };
    let sides = [Side { at: a, first: true }, Side { at: b, first: false }];
    if seen == ComparisonVerdict::Inconclusive {
        return None;
    }
    sides.iter().find_map(|side| side.doubt(metric, seen, is_worse(side)))
}

/// One of two cells that are compared.
struct Side<'a> {
    at: (&'a Records<'a>, usize),
    first: bool,
}

impl Side<'_> {
    /// Why it cannot be the worse one, or the better one, or the same.
    fn doubt(&self, metric: Metric, seen: ComparisonVerdict, is_worse: bool) -> Option<Withheld> {
        let (records, cell) = self.at;
        let (is_same, latency) = (seen == ComparisonVerdict::Same, metric.is_latency());
        let of_rate = matches!(metric, Metric::Throughput | Metric::ElapsedPerRequest);
        let of_replies = of_rate || latency || matches!(metric, Metric::CpuPerRequest | Metric::SwitchesPerRequest);
        match metric {
            // Nobody knows what a server is like when warm that was not.
            _ if !metric.is_before_load() && too_short_to_warm(records, cell).is_some() => Some(Withheld::Cold),
            // What is only known to do at least so much can be the better one, but neither the worse one nor the same: in
            // its latencies a request that the busy generator had not yet looked at counts as being served.
            _ if (of_rate || latency) && (is_worse || is_same) && records.at_least(cell) => Some(Withheld::AtLeast),
            // A server at the ceiling was not slower than the delay allows: it can win or tie, never lose.
            _ if of_rate && is_worse && records.marked(cell, Mark::AtCeiling) => Some(Withheld::AtCeiling),
            // Without what the generator added, a quantile is lower than it was measured.
            _ if latency && (is_worse || is_same) && records.generators_doing(cell, metric) => Some(Withheld::Lateness),
            // A quantile that is only a lower bound can be the worse one, but neither the better one nor the same.
            _ if latency && !is_worse && records.valid(cell).any(is_censored) => Some(Withheld::Censored),
            // A failure may be cheap and quick: who fails can be the worse one, but neither the better one nor the same.
            _ if of_replies && !is_worse && failing(records, cell).bad => Some(Withheld::Failing),
            _ => None,
        }
    }
}

/// Whether a figure of a cell may be called the same as another one: else it has no rank either.
pub(crate) fn can_tie(records: &Records, cell: usize, metric: Metric) -> bool {
    Side { at: (records, cell), first: true }.doubt(metric, ComparisonVerdict::Same, false).is_none()
}

impl Records<'_> {
    /// A pair with what its figures alone say.
    fn comparison(&self, pair: &Pair, metric: Metric, p_adjusted: Option<f64>) -> Comparison {
        let interval = t_interval(&pair.log_ratios);
        let levels = |cell: usize| &self.plan.cells[cell].levels;
        let verdict = match (interval, p_adjusted) {
            (Some(log_ratio), Some(p)) if pair.log_ratios.len() >= BLOCKS_FOR_A_VERDICT => {
                seen(&log_ratio, p < self.significance(), self.plan.margin, metric.more_is_better())
            }
            _ => ComparisonVerdict::Inconclusive,
        };
        Comparison {
            metric,
            conditions: levels(pair.a).conditions(),
            a: levels(pair.a).target().to_owned(),
            b: levels(pair.b).target().to_owned(),
            ratio: Measured {
                estimate: mean(&pair.log_ratios).map(f64::exp),
                low: interval.map(|i| i.low.exp()),
                high: interval.map(|i| i.high.exp()),
                unit: "ratio".to_owned(),
            },
            sign_interval: sign_interval(&pair.log_ratios).map(|(low, high)| (low.exp(), high.exp())),
            p_adjusted,
            verdict,
        }
    }
}

/// The plan's twin against the cell that it repeats, by every metric that both have: one family, so that a quiet
/// session seldom looks noisy. What is known of the cell (a lower bound, a ceiling) takes no verdict back here, for
/// whatever tells a target from itself is noise.
pub(crate) fn compare_with_itself(records: &Records) -> Vec<Comparison> {
    let Some(cell) = records.plan.twin.filter(|cell| *cell < records.plan.cells.len()) else { return Vec::new() };
    let pair = |metric: &Metric| (*metric, Pair { a: cell, b: cell, log_ratios: records.twin_log_ratios(*metric) });
    let found: Vec<(Metric, Pair)> =
        COMPARED.iter().map(pair).filter(|(_, pair)| !pair.log_ratios.is_empty()).collect();
    let p_values: Vec<f64> = found.iter().filter_map(|(_, pair)| p_of_zero_mean(&pair.log_ratios)).collect();
    let mut adjusted = holm(&p_values).into_iter();
    let tested = |pair: &Pair| pair.log_ratios.len() >= 2;
    let compare = |(metric, pair): &(Metric, Pair)| {
        let p_adjusted = if tested(pair) { adjusted.next() } else { None };
        records.comparison(pair, *metric, p_adjusted)
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
