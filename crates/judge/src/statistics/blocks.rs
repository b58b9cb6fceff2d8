//! Tests of what the t interval takes for granted: that blocks neither drift nor resemble their neighbours.

use super::{mean, two_sided_p};
use crate::thresholds::BLOCK_CORRELATION;

/// A linear trend over blocks, by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change from one block to the next, in the unit of the values.
    pub slope: f64,
    /// Two-sided p value of "the slope is 0", by the t test with n − 2 degrees of freedom.
    pub p_value: f64,
}

/// The trend of values in block order; none under three values or when they do not differ.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let middle = differing_mean(values)?;
    let n = values.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let places = || (0..values.len()).map(|place| place as f64 - centre);
    let spread: f64 = places().map(|x| x * x).sum();
    let slope = places().zip(values).map(|(x, value)| x * (value - middle)).sum::<f64>() / spread;
    let rest: f64 = places().zip(values).map(|(x, value)| (value - middle - slope * x).powi(2)).sum();
    let error = (rest / (n - 2.0) / spread).sqrt();
    Some(Trend { slope, p_value: two_sided_p(slope, error, values.len() as f64 - 2.0)? })
}

/// Lag-1 autocorrelation Σ(xᵢ − x̄)(xᵢ₊₁ − x̄) ÷ Σ(xᵢ − x̄)² of values in block order; none under three values or
/// when they do not differ.
pub fn lag_one_autocorrelation(values: &[f64]) -> Option<f64> {
    let middle = differing_mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - middle) * (pair[1] - middle)).sum();
    Some(products / squares)
}

/// The lag-1 autocorrelation that about 5 % of sessions of `n` independent blocks exceed: a simulated constant for
/// few blocks, Anderson's one-sided limit (−1 + 1.645·√(n − 2)) ÷ (n − 1) (1942) once that is lower. Only positive
/// correlation matters: it makes the t interval too narrow, negative correlation too wide.
pub fn correlation_limit(n: usize) -> f64 {
    let n = n.max(3) as f64;
    BLOCK_CORRELATION.min((-1.0 + 1.645 * (n - 2.0).sqrt()) / (n - 1.0))
}

/// The mean of at least three values that differ by more than rounding.
pub(super) fn differing_mean(values: &[f64]) -> Option<f64> {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let differ = high - low > 1e-12 * high.abs().max(low.abs());
    mean(values).filter(|_| values.len() >= 3 && differ)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::normal;
    use crate::thresholds::SIGNIFICANCE;

    const DRIFTING: [f64; 8] = [10.1, 10.4, 10.2, 10.9, 11.0, 10.8, 11.3, 11.1];

    /// SciPy 1.17.1: `l = linregress(range(8), z); l.slope, l.pvalue`; the lag-1 figure by its formula in NumPy.
    #[test]
    fn trend_and_correlation_are_those_of_scipy() {
        let found = trend(&DRIFTING).unwrap();
        assert!((found.slope - 0.1595238095238096).abs() < 1e-12, "{found:?}");
        assert!((found.p_value - 0.0032123277908091066).abs() < 1e-9, "{found:?}");
        assert!((lag_one_autocorrelation(&DRIFTING).unwrap() - 0.4497232472324718).abs() < 1e-12);
    }

    #[test]
    fn equal_values_have_neither() {
        assert_eq!(trend(&[0.1; 6]), None);
        assert_eq!(lag_one_autocorrelation(&[0.1; 6]), None);
        assert_eq!(trend(&[1.0, 2.0]), None);
    }

    #[test]
    fn independent_blocks_seldom_look_correlated_or_drifting() {
        const SESSIONS: usize = 4_000;
        let mut rng = fastrand::Rng::with_seed(7);
        for blocks in [6, 8, 12] {
            let (mut correlated, mut drifting) = (0, 0);
            for _ in 0..SESSIONS {
                let values: Vec<f64> = (0..blocks).map(|_| normal(&mut rng)).collect();
                let limit = correlation_limit(blocks);
                correlated += usize::from(lag_one_autocorrelation(&values).is_some_and(|r| r > limit));
                drifting += usize::from(trend(&values).is_some_and(|t| t.p_value < SIGNIFICANCE));
            }
            for (name, alarms) in [("correlated", correlated), ("drifting", drifting)] {
                let share = alarms as f64 / SESSIONS as f64;
                assert!((0.02..0.07).contains(&share), "{name} at {blocks} blocks: {share}");
            }
        }
    }
}
