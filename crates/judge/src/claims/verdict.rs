//! Where an interval stands to the bound that was fixed beforehand.

use model::{Bound, ClaimVerdict};

use crate::statistics::Interval;

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
}
