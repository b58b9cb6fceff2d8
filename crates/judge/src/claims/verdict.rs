//! Where an interval stands to the bound that was fixed beforehand.

use model::{Bound, ClaimVerdict, MOST_NEEDED_BLOCKS};

use crate::statistics::Interval;
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, NO_DISTANCE};

/// Supported when the whole interval is on the claim's side, contradicted when the whole of it is on the other.
pub(super) fn verdict(interval: &Interval, bound: Bound) -> ClaimVerdict {
    let (supported, contradicted) = match bound {
        Bound::Below(most) => (interval.high < most, interval.low >= most),
        Bound::Above(least) => (interval.low > least, interval.high <= least),
        Bound::Between(least, most) => {
            (interval.low >= least && interval.high <= most, interval.high < least || interval.low > most)
        }
    };
    match (supported, contradicted) {
        (true, _) => ClaimVerdict::Supported,
        (_, true) => ClaimVerdict::Contradicted,
        _ => ClaimVerdict::Inconclusive,
    }
}

/// About how many blocks bring the interval wholly to one side, n·(half width ÷ distance to the threshold)², for the
/// half width shrinks with √n. `scaled` and the thresholds are on the scale on which the interval is symmetric. At
/// least what a verdict needs; none when the estimate is on the threshold.
pub(super) fn needs_blocks(blocks: usize, scaled: &Interval, thresholds: &[f64]) -> Option<u32> {
    let distance = thresholds.iter().map(|at| (scaled.estimate - at).abs()).reduce(f64::min)?;
    let half_width = scaled.half_width();
    if distance <= NO_DISTANCE * half_width || !distance.is_finite() {
        return None;
    }
    let needed = (blocks as f64 * (half_width / distance).powi(2)).ceil();
    let least = (blocks + 1).max(BLOCKS_FOR_A_VERDICT) as f64;
    Some(needed.max(least).min(f64::from(MOST_NEEDED_BLOCKS)) as u32)
}

/// The thresholds of a bound, one or two.
pub(super) fn thresholds(bound: Bound) -> Vec<f64> {
    match bound {
        Bound::Below(at) | Bound::Above(at) => vec![at],
        Bound::Between(low, high) => vec![low, high],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Interval = Interval { estimate: 1.0, low: 0.9, high: 1.1 };

    #[test]
    fn the_verdict_needs_the_whole_interval() {
        use ClaimVerdict::{Contradicted, Inconclusive, Supported};
        for (bound, expected) in [
            (Bound::Below(1.2), Supported),
            (Bound::Below(1.1), Inconclusive),
            (Bound::Below(0.9), Contradicted),
            (Bound::Above(0.8), Supported),
            (Bound::Above(1.0), Inconclusive),
            (Bound::Above(1.1), Contradicted),
            (Bound::Between(0.9, 1.1), Supported),
            (Bound::Between(0.95, 1.05), Inconclusive),
            (Bound::Between(1.2, 1.3), Contradicted),
            (Bound::Between(0.5, 0.8), Contradicted),
        ] {
            assert_eq!(verdict(&INTERVAL, bound), expected, "{bound:?}");
        }
    }

    #[test]
    fn twice_the_precision_takes_four_times_the_blocks() {
        assert_eq!(needs_blocks(6, &INTERVAL, &[1.04]), Some(38), "37.5, rounded up");
        assert_eq!(needs_blocks(6, &INTERVAL, &[1.0]), None);
        assert_eq!(needs_blocks(6, &INTERVAL, &[1.001]), Some(MOST_NEEDED_BLOCKS));
        assert_eq!(needs_blocks(3, &INTERVAL, &[2.0]), Some(6), "six for any verdict");
        assert_eq!(needs_blocks(6, &INTERVAL, &[f64::NEG_INFINITY]), None);
    }
}
