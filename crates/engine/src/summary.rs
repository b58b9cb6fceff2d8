use hdrhistogram::Histogram;
use model::{LatencySummary, Members, REQUIRED_SAMPLES};

use crate::second::{MAX_TICKS, TICK_NS, add_to, count_of, histogram, record_ticks};

/// Ticks as microseconds.
pub(crate) fn micros(ticks: u64) -> f64 {
    ticks as f64 * TICK_NS as f64 / 1e3
}

/// A quantile of what a histogram holds, in its own unit: no more than the largest, and none of what is empty.
pub(crate) fn quantile(all: &Histogram<u64>, q: f64) -> Option<u64> {
    (!all.is_empty()).then(|| all.value_at_quantile(q).min(all.max()))
}

/// The summary of a distribution and of the ages of what never ended; none when both are empty.
///
/// A censored request took at least its age. Ordered together, every quantile below the smallest age is exact, and
/// every other a lower bound: that limit is `exact_below`.
pub(crate) fn summarise(
    observed: &Histogram<u64>,
    censored: Option<&Histogram<u64>>,
    population: Members,
) -> Option<LatencySummary> {
    let censored = censored.filter(|ages| !ages.is_empty());
    let joined = censored.map(|ages| {
        let mut all = observed.clone();
        add_to(&mut all, ages);
        all
    });
    let all = joined.as_ref().unwrap_or(observed);
    if all.is_empty() {
        return None;
    }
    let supported = |index: usize| {
        let (q, needed) = REQUIRED_SAMPLES[index];
        quantile(all, q).filter(|_| all.len() >= needed).map(micros)
    };
    Some(LatencySummary {
        population,
        censored: censored.map_or(0, Histogram::len),
        count: all.len(),
        failed: 0,
        mean: Some(all.mean() * TICK_NS as f64 / 1e3),
        min: Some(micros(all.min())),
        p50: supported(0),
        p75: supported(1),
        p90: supported(2),
        p95: supported(3),
        p99: supported(4),
        p999: supported(5),
        p9999: supported(6),
        max: Some(micros(all.max())),
        exact_below: censored.map(|ages| micros(ages.min())),
        saturated: count_of(all, MAX_TICKS),
    })
}

/// What a histogram holds, with `less` instead of `whole`.
pub(crate) fn instead(all: &Histogram<u64>, whole: &Histogram<u64>, less: &Histogram<u64>) -> Histogram<u64> {
    let mut rest = without(all, whole);
    add_to(&mut rest, less);
    rest
}

/// All but some of what a histogram holds; of a value that it holds less often, none is left.
fn without(all: &Histogram<u64>, some: &Histogram<u64>) -> Histogram<u64> {
    let mut rest = histogram();
    for value in all.iter_recorded() {
        let at = value.value_iterated_to();
        let left = value.count_at_value().saturating_sub(count_of(some, at));
        // None of a value would still count as the largest.
        if left > 0 {
            record_ticks(&mut rest, at, left);
        }
    }
    rest
}

/// Jain's fairness index (Σx)² ÷ (n·Σx²), 1 when all are equal; none when nothing was served (Jain, Chiu, Hawe 1984).
pub(crate) fn jain(counts: &[u64]) -> Option<f64> {
    let sum: f64 = counts.iter().map(|count| *count as f64).sum();
    let squares: f64 = counts.iter().map(|count| (*count as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (counts.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second::record;
    use proptest::prelude::*;

    fn filled(ns: &[u64]) -> Histogram<u64> {
        let mut filled = histogram();
        ns.iter().for_each(|value| record(&mut filled, *value));
        filled
    }

    #[test]
    fn what_is_taken_off_leaves_the_rest_whatever_was_taken() {
        let all = filled(&[1_000, 1_000, 50_000_000]);
        assert_eq!(without(&all, &filled(&[1_000, 50_000_000])), filled(&[1_000]));
        assert_eq!(without(&all, &filled(&[7_000, 1_000])), filled(&[1_000, 50_000_000]), "one that it does not hold");
        assert_eq!(without(&all, &filled(&[204_700])), all, "nor the longest that it has room for");
        assert_eq!(without(&filled(&[]), &all), filled(&[]), "less than none is none");
    }

    #[test]
    fn quantiles_need_their_samples() {
        let summary = summarise(&filled(&[1_000_000; 400]), None, Members::Completed).unwrap();
        assert!((summary.p99.unwrap() - 1000.0).abs() < 1.0);
        assert_eq!((summary.p999, summary.p9999), (None, None));
        assert_eq!(summarise(&filled(&[]), None, Members::Completed), None);
    }

    #[test]
    fn censored_ages_turn_what_lies_above_them_into_lower_bounds() {
        let observed = filled(&[1_000_000; 300]);
        let summary = summarise(&observed, Some(&filled(&[500_000_000; 100])), Members::Sent).unwrap();
        assert_eq!((summary.count, summary.censored), (400, 100));
        assert!(!summary.is_lower_bound(summary.p50.unwrap()));
        assert!(summary.is_lower_bound(summary.p99.unwrap()));
    }

    #[test]
    fn over_an_hour_is_recorded_as_an_hour_and_counted() {
        let saturated = |longest_ns| {
            let summary = summarise(&filled(&[longest_ns, 1_000]), None, Members::Completed);
            summary.map(|it| (it.saturated, it.max.unwrap().round()))
        };
        assert_eq!(saturated(5_000_000_000_000), saturated(3_600_000_000_000));
        assert_eq!(saturated(5_000_000_000_000).unwrap().0, 1);
        assert_eq!(saturated(204_700), Some((0, 205.0)), "the longest that it has room for");
    }

    #[test]
    fn jain_knows_equal_from_unequal() {
        assert_eq!(jain(&[5, 5, 5]), Some(1.0));
        assert_eq!(jain(&[9, 0, 0]), Some(1.0 / 3.0));
        assert_eq!(jain(&[0, 0]), None);
    }

    proptest! {
        #[test]
        fn merging_histograms_is_recording_everything_in_one(
            left in prop::collection::vec(0u64..10_000_000_000, 0..200),
            right in prop::collection::vec(0u64..10_000_000_000, 1..200),
        ) {
            let mut merged = filled(&left);
            add_to(&mut merged, &filled(&right));
            let together = filled(&[left, right].concat());
            prop_assert_eq!(summarise(&merged, None, Members::Completed), summarise(&together, None, Members::Completed));
        }
    }
}
