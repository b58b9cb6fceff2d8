//! A straight line through points of which some are far off, and how well its slope is known.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::statistics::{Interval, lag_one_autocorrelation};
use crate::thresholds::CONFIDENCE;

/// The median of the slopes between any two points (Theil, 1950; Sen, 1968), with its intercept. None without two different places.
pub(super) fn theil_sen(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let mut slopes = slopes(points);
    let slope = median(&mut slopes)?;
    let mut left: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    Some((slope, median(&mut left)?))
}

/// The slope with its 95 % interval: the slopes between two points whose places in their order are as far from the middle as Kendall's S may
/// be by chance (Sen, 1968). Its variance, n·(n-1)·(2n+5)÷18, is as much larger as the points depend on those before them: by the factor of Hamed
/// and Rao (1998), which they have for correlations of ranks, with those of the values, each a power of the first, and what so few points
/// hide of that given back (Marriott and Pope, 1954). An adaptation, held against simulation. None under four points.
pub(super) fn slope(points: &[(f64, f64)]) -> Option<Interval> {
    let (slope, intercept) = theil_sen(points).filter(|_| points.len() >= 4)?;
    let left: Vec<f64> = points.iter().map(|(x, y)| y - slope * x - intercept).collect();
    let n = points.len() as f64;
    let depends = depends(&left);
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * inflation(points.len(), depends);
    let chance = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0) * variance.sqrt();
    let mut slopes = slopes(points);
    slopes.sort_by(f64::total_cmp);
    let middle = slopes.len() as f64 / 2.0;
    // Where so few points leave it open, there is no bound.
    let at =
        |place: f64, open: f64| if place < 0.0 { open } else { slopes.get(place as usize).copied().unwrap_or(open) };
    let low = at((middle - chance / 2.0).floor() - 1.0, f64::NEG_INFINITY);
    let high = at((middle + chance / 2.0).ceil(), f64::INFINITY);
    Some(Interval { estimate: slope, low, high })
}

/// By how much values depend on those before them, 0 to 0.95: their first autocorrelation, with what so few of them hide of it given back
/// (Marriott and Pope, 1954).
pub(super) fn depends(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    lag_one_autocorrelation(values).map_or(0.0, |one| (one + (1.0 + 4.0 * one) / n).clamp(0.0, 0.95))
}

/// How many times as large the variance of S is of n points whose k-th correlation is the k-th power of the first.
fn inflation(points: usize, first: f64) -> f64 {
    let n = points as f64;
    let of = |k: usize| {
        let left = n - k as f64;
        left * (left - 1.0) * (left - 2.0) * first.powi(k as i32)
    };
    1.0 + 2.0 / (n * (n - 1.0) * (n - 2.0)) * (1..points).map(of).sum::<f64>()
}

/// The slopes between any two points that do not stand at the same place.
fn slopes(points: &[(f64, f64)]) -> Vec<f64> {
    let pairs = points.iter().enumerate().flat_map(|(at, a)| points[at + 1..].iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a.0 != b.0).map(|(a, b)| (b.1 - a.1) / (b.0 - a.0)).collect()
}

/// The middle of some values, whose order changes.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let (middle, is_odd) = (values.len() / 2, values.len() % 2 == 1);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| !is_odd);
    Some(lower.map_or(*upper, |lower| f64::midpoint(lower, *upper)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::normal;

    /// By hand: the ten slopes are 0.7, 0.95, 0.95, 1.03, 1.2, 1.2, 7.25, 9.27, 13.55 and 25.9.
    #[test]
    fn the_slope_is_the_median_one_and_one_outlier_does_not_turn_it() {
        let points: Vec<(f64, f64)> =
            [1.0, 2.2, 2.9, 4.1, 30.0].into_iter().enumerate().map(|(x, y)| (x as f64, y)).collect();
        let (slope, _) = theil_sen(&points).unwrap();
        assert!((slope - 1.2).abs() < 1e-9, "{slope}");
        assert_eq!(theil_sen(&points[..1]), None);
    }

    /// Cycles whose noise is white, or depends on that of the cycle before by half: the interval must hold the slope that was put in.
    #[test]
    fn the_interval_covers() {
        const SESSIONS: usize = 2_000;
        let mut rng = fastrand::Rng::with_seed(7);
        for (cycles, depends) in [(8, 0.0), (16, 0.0), (48, 0.0), (16, 0.5), (48, 0.5)] {
            let covered = (0..SESSIONS).filter(|_| {
                let mut noise = 0.0;
                let mut point = |x: usize| {
                    noise = depends * noise + normal(&mut rng);
                    (x as f64, 0.3 * x as f64 + noise)
                };
                let points: Vec<(f64, f64)> = (0..cycles).map(&mut point).collect();
                slope(&points).is_some_and(|interval| interval.low <= 0.3 && 0.3 <= interval.high)
            });
            let share = covered.count() as f64 / SESSIONS as f64;
            let least = if depends > 0.0 { 0.9 } else { 0.935 };
            assert!(share >= least, "{cycles} cycles that depend by {depends}: {share}");
        }
    }
}
