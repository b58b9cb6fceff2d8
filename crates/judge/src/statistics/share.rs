use statrs::distribution::{Beta, ContinuousCDF};

use super::Interval;

/// Exact interval of a share of which `hits` of `n` were seen (Clopper and Pearson, *Biometrika* 26, 1934). At 95 % no
/// hit in n means at most 3.7 ÷ n. None of nothing.
pub fn share_interval(hits: u64, n: u64, confidence: f64) -> Option<Interval> {
    let (k, tail) = (hits.min(n) as f64, (1.0 - confidence) / 2.0);
    let of = n as f64;
    // Where nothing or everything was a hit, the quantile has a closed form.
    let all = tail.powf(1.0 / of);
    let low = match hits {
        0 => 0.0,
        _ if hits >= n => all,
        _ => Beta::new(k, of - k + 1.0).ok()?.inverse_cdf(tail),
    };
    let high = match hits {
        // 1 − tail^(1/n) without the loss of digits.
        0 => -(tail.ln() / of).exp_m1(),
        _ if hits >= n => 1.0,
        _ => Beta::new(k + 1.0, of - k).ok()?.inverse_cdf(1.0 - tail),
    };
    (n > 0).then(|| Interval { estimate: k / of, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

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
