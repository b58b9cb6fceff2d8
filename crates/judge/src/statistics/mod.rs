//! Intervals and tests over the few values that blocks give. Single requests never come here: within a launch they
//! depend on each other.

mod beta;
mod blocks;
mod change_points;
mod multiple;
mod ratio;
mod regression;
mod share;
mod sign;
mod steadiness;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::thresholds::CONFIDENCE;

pub use blocks::{Trend, correlation_limit, lag_one_autocorrelation, trend};
pub use change_points::change_points;
pub use multiple::holm;
pub use ratio::{LogRatio, paired, unpaired};
pub use regression::slope;
pub use share::{p_of_equal_shares, share_difference, share_interval};
pub use sign::sign_interval;
pub use steadiness::{Steadiness, about_their_mean, steadiness};

/// An estimate with its 95 % bounds, all in the unit of the values it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Point estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Interval {
    /// Half of the distance between the bounds.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The least interval that holds both, around this one's estimate.
    pub fn hull(&self, other: &Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high), ..*self }
    }

    /// The interval of a monotonically rising function of the value, such as `f64::exp`.
    pub fn map(self, rising: impl Fn(f64) -> f64) -> Interval {
        Interval { estimate: rising(self.estimate), low: rising(self.low), high: rising(self.high) }
    }
}

/// Arithmetic mean; none for no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Geometric mean; none for no values or when one is not above zero.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let (first, logs) = relative_logarithms(values)?;
    mean(&logs).map(|log| first * log.exp())
}

/// Student's t interval of the mean at 95 %: mean ± t₀.₉₇₅,ₙ₋₁ · s ÷ √n. None under two values.
pub fn t_interval(values: &[f64]) -> Option<Interval> {
    t_interval_at(values, CONFIDENCE)
}

/// The t interval at another confidence.
pub fn t_interval_at(values: &[f64], confidence: f64) -> Option<Interval> {
    let (estimate, error) = mean_and_error(values)?;
    let half_width = critical(values.len(), confidence)? * error;
    Some(Interval { estimate, low: estimate - half_width, high: estimate + half_width })
}

/// How many standard errors the t interval of so many values reaches to either side. None under two values.
pub(crate) fn critical(values: usize, confidence: f64) -> Option<f64> {
    Some(students_t(values as f64 - 1.0)?.inverse_cdf(0.5 + confidence / 2.0))
}

/// The t interval on the logarithms, taken back: a geometric mean with its bounds. None under two values or when one
/// is not above zero.
pub fn geometric_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let (first, logs) = relative_logarithms(values)?;
    Some(t_interval_at(&logs, confidence)?.map(|log| first * log.exp()))
}

/// Two-sided p value of "the mean is 0" by the t test; none under two values.
pub fn p_of_zero_mean(values: &[f64]) -> Option<f64> {
    let (estimate, error) = mean_and_error(values)?;
    two_sided_p(estimate, error, values.len() as f64 - 1.0)
}

/// The natural logarithms; none when a value has none.
pub(crate) fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().all(|value| *value > 0.0).then(|| values.iter().map(|value| value.ln()).collect())
}

/// The first value, and the logarithms of all relative to it: values that do not differ come back unrounded.
fn relative_logarithms(values: &[f64]) -> Option<(f64, Vec<f64>)> {
    let first = *values.first()?;
    let relative: Vec<f64> = values.iter().map(|value| value / first).collect();
    (first > 0.0).then(|| logarithms(&relative))?.map(|logs| (first, logs))
}

/// Two-sided p value of an estimate with its standard error. Without any scatter it is 0, or 1 for an estimate of 0.
fn two_sided_p(estimate: f64, error: f64, freedom: f64) -> Option<f64> {
    if error == 0.0 {
        return Some(if estimate == 0.0 { 1.0 } else { 0.0 });
    }
    Some(2.0 * students_t(freedom)?.cdf(-(estimate / error).abs()))
}

/// None under two values, and where a damaged one leaves the mean or its error without an end.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let middle = mean(values).filter(|_| values.len() >= 2)?;
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    let n = values.len() as f64;
    Some((middle, (squares / (n - 1.0) / n).sqrt())).filter(|(mean, error)| mean.is_finite() && error.is_finite())
}

fn students_t(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{normal, student3};

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1e-3)
    }

    /// SciPy 1.17.1: `r = ttest_1samp(x, 0); r.pvalue, r.confidence_interval(0.95), mean(x)`; at 0.97 likewise.
    #[test]
    fn the_t_interval_is_that_of_scipy() {
        let values = [0.021, -0.004, 0.033, 0.012, 0.027, 0.008];
        let interval = t_interval(&values).unwrap();
        assert!(close(interval.estimate, 0.016166666666666666), "{interval:?}");
        assert!(close(interval.low, 0.001971457468048169), "{interval:?}");
        assert!(close(interval.high, 0.030361875865285163), "{interval:?}");
        assert!(close(p_of_zero_mean(&values).unwrap(), 0.03272415473801093));
        let wider = t_interval_at(&values, 0.97).unwrap();
        assert!(close(wider.low, -0.0004157419771836854) && close(wider.high, 0.03274907531051702), "{wider:?}");
    }

    /// SciPy 1.17.1: `r = ttest_1samp(log(y), 0)`, then `exp` of the mean and of the confidence interval.
    #[test]
    fn the_geometric_interval_is_that_of_scipy() {
        let interval = geometric_interval(&[97.0, 104.0, 99.5, 101.2, 95.8, 103.3, 98.7, 100.4], 0.95).unwrap();
        assert!(close(interval.estimate, 99.95181168376801), "{interval:?}");
        assert!(close(interval.low, 97.59269504226775), "{interval:?}");
        assert!(close(interval.high, 102.36795545548323), "{interval:?}");
    }

    #[test]
    fn too_little_gives_nothing() {
        assert_eq!(t_interval(&[1.0]), None);
        assert_eq!(p_of_zero_mean(&[]), None);
        assert_eq!(geometric_interval(&[1.0, 0.0, 2.0], 0.95), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(geometric_mean(&[4.0, 9.0]).map(|g| (g * 1e9).round()), Some(6e9));
    }

    #[test]
    fn values_without_scatter_have_a_point_for_an_interval() {
        let interval = t_interval(&[2.0; 6]).unwrap();
        assert_eq!((interval.low, interval.high, interval.half_width()), (2.0, 2.0, 0.0));
        assert_eq!(geometric_interval(&[80.0; 6], 0.95), Some(Interval { estimate: 80.0, low: 80.0, high: 80.0 }));
        assert_eq!(p_of_zero_mean(&[2.0; 6]), Some(0.0));
        assert_eq!(p_of_zero_mean(&[0.0; 6]), Some(1.0));
    }

    /// The t interval must hold its 95 % for block ratios that are normal, and for heavy tails.
    #[test]
    fn the_t_interval_covers() {
        const SESSIONS: usize = 4_000;
        let mut rng = fastrand::Rng::with_seed(42);
        for blocks in [6, 8, 12] {
            for (name, noise) in [("normal", normal as fn(&mut fastrand::Rng) -> f64), ("t3", student3)] {
                let covered = (0..SESSIONS)
                    .filter(|_| {
                        let values: Vec<f64> = (0..blocks).map(|_| noise(&mut rng)).collect();
                        t_interval(&values).is_some_and(|i| i.low <= 0.0 && 0.0 <= i.high)
                    })
                    .count();
                let share = covered as f64 / SESSIONS as f64;
                assert!(share >= 0.935, "{name} at {blocks} blocks covers {share}");
            }
        }
    }
}
