use statrs::distribution::{ContinuousCDF, Normal};

use super::Interval;
use super::beta::quantile;

/// A sample counts as one of this size at most: in more, ln Γ has no digits left, and nobody asks for a narrower interval.
const MOST: f64 = (1_u64 << 33) as f64;

/// From so many hits, and so many others, a binomial distribution is a normal one to a thousandth of its width.
const MANY: f64 = 100_000.0;

/// Exact interval of a share of which `hits` of `n` were seen (Clopper and Pearson, *Biometrika* 26, 1934). At 95 % no
/// hit in n means at most 3.7 ÷ n. None of nothing.
pub fn share_interval(hits: u64, n: u64, confidence: f64) -> Option<Interval> {
    let (estimate, tail) = (hits.min(n) as f64 / n.max(1) as f64, (1.0 - confidence) / 2.0);
    let of = (n as f64).min(MOST);
    let (k, rest) = (estimate * of, (1.0 - estimate) * of);
    // Where nothing or everything was a hit, the quantile has a closed form; 1 − tail^(1/n) without the loss of digits.
    let (low, high) = match (hits, k.min(rest) > MANY) {
        (0, _) => (0.0, -(tail.ln() / of).exp_m1()),
        _ if estimate >= 1.0 => (tail.powf(1.0 / of), 1.0),
        (_, true) => {
            let half = Normal::standard().inverse_cdf(1.0 - tail) * (estimate * (1.0 - estimate) / of).sqrt();
            (estimate - half, estimate + half)
        }
        (_, false) => (quantile(k, rest + 1.0, tail), quantile(k + 1.0, rest, 1.0 - tail)),
    };
    (n > 0).then_some(Interval { estimate, low, high })
}

/// Interval of the difference of two shares, each hits of so many: Clopper and Pearson's bounds of both, put together as
/// Newcombe does (*Statistics in Medicine* 17, 1998, method 10). A share of none in n is not exactly zero.
pub fn share_difference(new: (u64, u64), old: (u64, u64), confidence: f64) -> Option<Interval> {
    let [new, old] = [new, old].map(|(hits, n)| share_interval(hits, n, confidence));
    let (new, old) = (new?, old?);
    let estimate = new.estimate - old.estimate;
    let below = (new.estimate - new.low).hypot(old.high - old.estimate);
    let above = (new.high - new.estimate).hypot(old.estimate - old.low);
    Some(Interval { estimate, low: estimate - below, high: estimate + above })
}

/// p value of "the two shares are the same": the level at which that interval just reaches none. To three digits.
pub fn p_of_equal_shares(new: (u64, u64), old: (u64, u64)) -> Option<f64> {
    const LEAST: f64 = 1e-12;
    share_difference(new, old, 0.5)?;
    let excludes = |p: f64| share_difference(new, old, 1.0 - p).is_some_and(|it| it.low > 0.0 || it.high < 0.0);
    let (mut low, mut high) = (LEAST.ln(), 0.0_f64);
    while high - low > 1e-3 {
        let middle = (low + high) / 2.0;
        if excludes(middle.exp()) { high = middle } else { low = middle }
    }
    Some(high.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounds of both at which the binomial tails, added up term by term, are 2.5 %, put together by hand: 0.027 −
    /// √((0.03 − 0.02033)² + (0.00874 − 0.003)²) and 0.027 + √((0.04255 − 0.03)² + (0.003 − 0.00062)²).
    #[test]
    fn the_difference_of_two_shares_is_wide_on_the_side_of_the_few() {
        let found = share_difference((30, 1_000), (3, 1_000), 0.95).unwrap();
        let near = |left: f64, right: f64| (left - right).abs() < 1e-6;
        assert!(
            near(found.estimate, 0.027) && near(found.low, 0.015_754_10) && near(found.high, 0.039_775_23),
            "{found:?}"
        );
        let turned = share_difference((3, 1_000), (30, 1_000), 0.95).unwrap();
        assert!(near(turned.low, -found.high) && near(turned.high, -found.low), "{turned:?}");
        assert!(found.high - found.estimate > 1.1 * (found.estimate - found.low), "{found:?}");
    }

    #[test]
    fn the_p_value_of_two_shares_is_where_their_interval_reaches_none() {
        let p = p_of_equal_shares((30, 1_000), (12, 1_000)).unwrap();
        let low = |p: f64| share_difference((30, 1_000), (12, 1_000), 1.0 - p).unwrap().low;
        assert!(low(1.01 * p) > 0.0 && low(0.99 * p) < 0.0, "{p}");
        assert!((0.005..0.05).contains(&p), "{p}");
        assert!(p_of_equal_shares((0, 300), (0, 300)).unwrap() > 0.99);
        assert_eq!(p_of_equal_shares((0, 0), (0, 300)), None);
    }

    /// The shares at which the binomial tails, added up term by term, are 2.5 %.
    #[test]
    fn beyond_either_end_the_binomial_tail_is_half_of_the_rest() {
        for (hits, n, low, high) in [
            (0, 1_000, 0.0, 0.003_682_084),
            (3, 1_000, 0.000_619_099_9, 0.008_742_023),
            (10, 10, 0.691_502_9, 1.0),
            (127, 2_600_000, 4.072_099_5e-5, 5.811_738_6e-5),
        ] {
            let found = share_interval(hits, n, 0.95).unwrap();
            let near = |left: f64, right: f64| (left - right).abs() <= 1e-5 * right.max(1e-12);
            assert!(near(found.low, low) && near(found.high, high), "{hits} of {n}: {found:?}");
        }
        assert_eq!(share_interval(0, 0, 0.95), None);
    }

    /// One in eight million kept the Newton steps of a library going for ever, and records may hold any count.
    #[test]
    fn a_share_of_any_sample_has_an_interval() {
        for n in (1..64).map(|bits| u64::MAX >> bits).chain([u64::MAX]) {
            for hits in [0, 1, 2, n / 1_000, n / 2, n - 1, n, u64::MAX].into_iter().filter(|hits| *hits <= n) {
                for confidence in [0.5, 0.95, 0.999_999] {
                    let found = share_interval(hits, n, confidence).unwrap();
                    let Interval { estimate, low, high } = found;
                    assert!(
                        0.0 <= low && low <= estimate && estimate <= high && high <= 1.0,
                        "{hits} of {n}: {found:?}"
                    );
                }
            }
        }
        let one = share_interval(1, 8_388_608, 0.95).unwrap();
        let near = |left: f64, right: f64| (left / right - 1.0).abs() < 1e-4;
        // Of a Poisson count of one: 0.0253 to 5.572.
        assert!(near(one.low * 8_388_608.0, 0.025_318) && near(one.high * 8_388_608.0, 5.571_643), "{one:?}");
        // Where the normal distribution takes over, little changes.
        let [below, above] = [99_000, 101_000].map(|hits| share_interval(hits, 10_000_000, 0.95).unwrap());
        let width = |it: Interval| (it.high - it.low) / it.estimate.sqrt();
        assert!((width(below) / width(above) - 1.0).abs() < 0.003, "{below:?} {above:?}");
    }

    #[test]
    fn no_hit_in_n_means_at_most_three_point_seven_in_n() {
        for n in [100, 10_000, 100_000_000_u64] {
            let most = share_interval(0, n, 0.95).unwrap().high;
            assert!((most * n as f64 - 3.69).abs() < 0.07, "{n}: {most}");
        }
    }

    /// An exact interval covers at least as often as it says, whatever the share.
    #[test]
    fn the_interval_covers() {
        let mut rng = fastrand::Rng::with_seed(42);
        for (share, n) in [(0.001, 300_u64), (0.01, 500), (0.2, 50)] {
            let covered = (0..2_000)
                .filter(|_| {
                    let hits = (0..n).filter(|_| rng.f64() < share).count() as u64;
                    share_interval(hits, n, 0.95).is_some_and(|i| i.low <= share && share <= i.high)
                })
                .count();
            assert!(covered >= 1_890, "{share} of {n}: {covered} of 2000");
        }
    }
}
