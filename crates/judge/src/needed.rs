//! About how many blocks would settle what is open: one rule for claims, comparisons and gates.

use model::MOST_NEEDED_BLOCKS;

use crate::statistics::{Interval, critical};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, CONFIDENCE, NO_DISTANCE};

/// How many values say how much they scatter.
const LEAST_FOR_A_SCATTER: usize = 3;

/// About how many blocks bring the half width of an interval with some confidence down to a distance, if what scatters
/// goes on as it did: half width = t · s ÷ √n, and t shrinks with n, too. `known` is a 95 % interval over the blocks that
/// `counted` of those that were `begun`, on the scale on which it is symmetric: those that did not count are asked for once
/// more. The distance is that of the nearer end of what doubts leave open, which no number of blocks removes. At least what
/// a verdict needs; none where there is no distance.
pub(crate) fn needs_blocks(
    (counted, begun): (usize, usize),
    known: &Interval,
    distance: f64,
    confidence: f64,
) -> Option<u32> {
    let half_width = known.half_width();
    if distance <= NO_DISTANCE * half_width || !distance.is_finite() || !half_width.is_finite() {
        return None;
    }
    let missing = begun.saturating_sub(counted) as u32;
    // How two values scatter nobody knows: the chi-squared of one degree of freedom spans a factor of seventy.
    if counted < LEAST_FOR_A_SCATTER {
        return Some(BLOCKS_FOR_A_VERDICT as u32 + missing);
    }
    let scatter = half_width * (counted as f64).sqrt() / critical(counted, CONFIDENCE)?;
    let is_open = |blocks: u32| {
        let times = critical(blocks as usize, confidence).unwrap_or(f64::INFINITY);
        times * scatter / f64::from(blocks).sqrt() > distance
    };
    let (mut least, mut most) = ((counted + 1).max(BLOCKS_FOR_A_VERDICT) as u32, MOST_NEEDED_BLOCKS);
    while least < most {
        let middle = least.midpoint(most);
        if is_open(middle) {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    Some((most + missing).min(MOST_NEEDED_BLOCKS))
}

/// How far what lies between these ends is from a limit, whichever side of it that is; not above zero where they hold it.
pub(crate) fn beside((low, high): (f64, f64), limit: f64) -> f64 {
    (low - limit).max(limit - high)
}

/// How far what lies between these ends is inside of a band; not above zero where it is not.
pub(crate) fn inside((low, high): (f64, f64), (least, most): (f64, f64)) -> f64 {
    (low - least).min(most - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By another way: the t density integrated (Simpson), and the least n found by trying each in turn. At 25 blocks the half
    /// width is 0.0393, at 24 0.0402; at 99.75 % it is 0.03996 at 57 and 0.04035 at 56.
    #[test]
    fn the_number_is_that_of_a_sample_size_calculation() {
        let interval = Interval { estimate: 1.0, low: 0.9, high: 1.1 };
        let needed = |distance, confidence| needs_blocks((6, 6), &interval, distance, confidence);
        assert_eq!(needed(0.04, 0.95), Some(25));
        assert_eq!(needed(0.04, 0.9975), Some(57));
        assert_eq!([0.0, 0.000_05].map(|distance| needed(distance, 0.95)), [None; 2]);
        assert_eq!(needed(0.001, 0.95), Some(MOST_NEEDED_BLOCKS));
        assert_eq!(needed(f64::INFINITY, 0.95), None);
        assert_eq!(needs_blocks((3, 3), &interval, 1.0, 0.95), Some(6), "six for any verdict");
        assert_eq!(needs_blocks((2, 2), &interval, 0.001, 0.95), Some(6), "two do not say how much they scatter");
        assert_eq!(needs_blocks((3, 3), &interval, 0.04, 0.95), Some(7));
        assert_eq!(needs_blocks((6, 9), &interval, 0.04, 0.95), Some(28), "three did not count");
        assert_eq!(needs_blocks((6, 9), &interval, 0.001, 0.95), Some(MOST_NEEDED_BLOCKS));
        assert_eq!(needs_blocks((2_000, 2_000), &interval, 0.05, 0.95), Some(MOST_NEEDED_BLOCKS));
        assert_eq!(needed(0.2, 0.95), Some(7), "more than there are");
    }
}
