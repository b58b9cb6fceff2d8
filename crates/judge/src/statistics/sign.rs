use statrs::distribution::{Binomial, DiscreteCDF};

use crate::thresholds::CONFIDENCE;

/// Interval of the median by the sign test, between two order statistics: the innermost pair x₍ₖ₎ … x₍ₙ₊₁₋ₖ₎ whose
/// coverage 1 − 2·P(Bin(n, ½) ≤ k − 1) is still at least 95 %. At six values that is smallest to largest (96.9 %);
/// with fewer no pair covers enough, and there is none. It assumes nothing of the distribution.
pub fn sign_interval(values: &[f64]) -> Option<(f64, f64)> {
    let rank = innermost_rank(values.len())?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some((sorted[rank - 1], sorted[values.len() - rank]))
}

/// Largest rank (from 1) whose order statistics still cover.
fn innermost_rank(n: usize) -> Option<usize> {
    let tails = Binomial::new(0.5, n as u64).ok()?;
    (1..=n / 2).rev().find(|rank| 1.0 - 2.0 * tails.cdf(*rank as u64 - 1) >= CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy 1.17.1: `max(k for k in range(1, n) if 1 - 2*binom.cdf(k-1, n, .5) >= .95)`.
    #[test]
    fn the_ranks_are_those_of_the_binomial() {
        for (n, rank) in [(6, 1), (8, 1), (9, 2), (12, 3), (20, 6)] {
            assert_eq!(innermost_rank(n), Some(rank), "{n}");
        }
    }

    #[test]
    fn six_values_span_all_and_five_give_none() {
        assert_eq!(sign_interval(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0]), Some((1.0, 6.0)));
        assert_eq!(sign_interval(&[1.0; 5]), None);
        assert_eq!(sign_interval(&[]), None);
    }
}
