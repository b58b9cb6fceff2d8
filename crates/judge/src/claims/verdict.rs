//! Where an interval stands to the bound that was fixed beforehand.

use model::{Bound, ClaimVerdict};

use crate::needed::{beside, inside};
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

/// How far what lies between these ends is from the thresholds of a bound, which `onto` brings onto their scale; not above
/// zero where it holds one.
pub(super) fn distance(ends: (f64, f64), bound: Bound, onto: impl Fn(f64) -> f64) -> f64 {
    match bound {
        Bound::Below(at) | Bound::Above(at) => beside(ends, onto(at)),
        Bound::Between(least, most) => {
            let band @ (least, most) = (onto(least), onto(most));
            inside(ends, band).max(least - ends.1).max(ends.0 - most)
        }
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
    fn the_distance_is_that_of_the_nearer_end() {
        for (bound, expected) in [
            (Bound::Below(4.0), 1.0),
            (Bound::Above(1.0), 1.0),
            (Bound::Below(2.5), -0.5),
            (Bound::Between(0.0, 4.0), 1.0),
            (Bound::Between(4.0, 5.0), 1.0),
            (Bound::Between(0.0, 1.0), 1.0),
            (Bound::Between(2.5, 2.75), -0.5),
            (Bound::Between(0.0, 2.5), -0.5),
        ] {
            assert_eq!(distance((2.0, 3.0), bound, |at| at), expected, "{bound:?}");
        }
        assert_eq!(distance((0.0, f64::INFINITY), Bound::Below(4.0), |at| at), -4.0);
    }
}
