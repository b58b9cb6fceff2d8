//! What users would have seen in some slices of a launch: the distribution of these together.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::{LatencyCounts, Measurement, Metric, Slice, TICK_NS, latency_counts, read_histogram};

use super::measured;
use crate::thresholds::TOLD_APART;

/// The felt latencies of these rounds of a launch, in microseconds. None where histograms do not tell them: those of all rounds do not
/// come to what was measured, as in older records, or requests failed, of which nobody knows the round. Nor does anybody of those that
/// never had a reply: where these could change a quantile, were all of them of these rounds and longer than any other, none is told,
/// and with any of them no mean.
pub(crate) fn felt(
    load: &Measurement,
    slices: &[Slice],
    counts: impl Fn(u32) -> bool,
) -> Option<BTreeMap<Metric, f64>> {
    let whole = load.latency_us.felt().filter(|felt| felt.failed == 0)?;
    let (mut kept, mut replies) = (empty()?, 0);
    for slice in measured(slices) {
        let Some(of_slice) = slice.felt.as_deref().map(read_histogram) else { continue };
        let of_slice = of_slice?;
        replies += of_slice.len();
        if counts(slice.round) {
            kept.add(&of_slice).ok()?;
        }
    }
    (replies.saturating_add(whole.censored) == whole.count).then_some(())?;
    let mut figures = BTreeMap::new();
    for &metric in Metric::ALL {
        let Some(us) = of(&kept, metric) else { continue };
        match metric.quantile() {
            _ if whole.censored == 0 => _ = figures.insert(metric, us),
            // No launch has slices enough for it.
            _ if metric == Metric::P999 => {}
            Some(q) if longest(&kept, q, whole.censored)? <= us * (1.0 + TOLD_APART) => _ = figures.insert(metric, us),
            Some(_) => return None,
            None => {}
        }
    }
    Some(figures)
}

/// What a quantile would be, in microseconds, with so many more requests that took longer than all of these; none where it would be one
/// of them.
fn longest(all: &Histogram<u64>, q: f64, more: u64) -> Option<f64> {
    let rank = (q * all.len().saturating_add(more) as f64).ceil();
    let within = rank / all.len() as f64;
    (within <= 1.0).then(|| all.value_at_quantile(within).min(all.max()) as f64 * TICK_NS as f64 / 1e3)
}

/// Quantiles of the felt latency over these slices, in microseconds, of what had a reply. None of too few, and where a slice does not
/// tell, as in older records.
pub(crate) fn quantiles<const N: usize>(slices: &[&Slice], metrics: [Metric; N]) -> [Option<f64>; N] {
    let merged = merged(slices);
    metrics.map(|metric| of(merged.as_ref()?, metric))
}

/// How long those waited that woke a target, beside those of its slices.
#[derive(Debug, Clone)]
pub(crate) struct Woken {
    /// What they waited beyond what others did, as a share of all that others waited; below nothing where it was less.
    pub(crate) waited_share: f64,
    /// Quantiles of the felt latency of both together ÷ those of the slices alone.
    ratios: BTreeMap<Metric, f64>,
}

impl Woken {
    /// By which factor a quantile is longer with those that woke the target; of another metric 1.
    pub(crate) fn ratio(&self, metric: Metric) -> f64 {
        self.ratios.get(&metric).copied().unwrap_or(1.0)
    }
}

/// The same of all slices of a launch that count. None where these or the loads that woke it do not tell, as in older records.
pub(crate) fn woken(slices: &[Slice]) -> Option<Woken> {
    let in_slices = merged(&measured(slices).collect::<Vec<_>>())?;
    let mut before = empty()?;
    for prelude in measured(slices).map(|slice| slice.prelude.as_ref()) {
        prelude
            .and_then(|prelude| prelude.felt.as_deref())
            .map_or(Some(()), |felt| before.add(read_histogram(felt)?).ok())?;
    }
    let waited = in_slices.mean() * in_slices.len() as f64;
    if before.is_empty() || waited <= 0.0 {
        return None;
    }
    let waited_share = (before.mean() - in_slices.mean()) * before.len() as f64 / waited;
    let mut both = in_slices.clone();
    both.add(&before).ok()?;
    let quantiles = Metric::ALL.iter().filter(|metric| metric.quantile().is_some());
    let ratio = |metric: &Metric| Some((*metric, of(&both, *metric)? / of(&in_slices, *metric)?));
    Some(Woken { waited_share, ratios: quantiles.filter_map(ratio).collect() })
}

/// The replies of a slice by felt latency; none where it does not tell.
pub(crate) fn by_latency(slice: &Slice) -> LatencyCounts {
    slice.felt.as_deref().and_then(read_histogram).map_or_else(LatencyCounts::new, |felt| latency_counts(&felt))
}

fn merged(slices: &[&Slice]) -> Option<Histogram<u64>> {
    let mut all = empty()?;
    for slice in slices.iter().filter(|slice| slice.completed > 0) {
        all.add(read_histogram(slice.felt.as_deref()?)?).ok()?;
    }
    Some(all)
}

/// As the engine has it of a whole load.
fn of(all: &Histogram<u64>, metric: Metric) -> Option<f64> {
    if all.is_empty() || all.len() < metric.required_samples().unwrap_or(1) {
        return None;
    }
    match metric.quantile() {
        Some(q) => Some(all.value_at_quantile(q).min(all.max()) as f64 * TICK_NS as f64 / 1e3),
        None => (metric == Metric::Mean).then(|| all.mean() * TICK_NS as f64 / 1e3),
    }
}

/// One that makes room for what is added to it.
fn empty() -> Option<Histogram<u64>> {
    Histogram::new(3).ok()
}

#[cfg(test)]
mod tests;
