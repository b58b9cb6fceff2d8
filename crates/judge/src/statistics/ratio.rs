use super::{Interval, mean_and_error, p_of_zero_mean, students_t, t_interval, two_sided_p};
use crate::thresholds::CONFIDENCE;
use statrs::distribution::ContinuousCDF;

/// The logarithm of a ratio of two servers, with its interval and the p value of "it is 0".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// Estimate and 95 % interval.
    pub interval: Interval,
    /// Two-sided p value.
    pub p: f64,
    /// Blocks it rests on.
    pub blocks: usize,
}

/// From the log ratios of single blocks: Student's t. None under two.
pub fn paired(log_ratios: &[f64]) -> Option<LogRatio> {
    Some(LogRatio { interval: t_interval(log_ratios)?, p: p_of_zero_mean(log_ratios)?, blocks: log_ratios.len() })
}

/// From the logarithms of two servers that were not measured in turn: Welch's t interval of the difference of means,
/// with Satterthwaite's degrees of freedom (Welch, *Biometrika* 34, 1947). None where either has under two.
pub fn unpaired(new: &[f64], old: &[f64]) -> Option<LogRatio> {
    let ((new_mean, new_error), (old_mean, old_error)) = (mean_and_error(new)?, mean_and_error(old)?);
    let estimate = new_mean - old_mean;
    let (a, b) = (new_error.powi(2), old_error.powi(2));
    let error = (a + b).sqrt();
    let blocks = new.len().min(old.len());
    if error == 0.0 {
        let interval = Interval { estimate, low: estimate, high: estimate };
        return Some(LogRatio { interval, p: two_sided_p(estimate, error, 1.0)?, blocks });
    }
    let freedom = (a + b).powi(2) / (a.powi(2) / (new.len() as f64 - 1.0) + b.powi(2) / (old.len() as f64 - 1.0));
    let half_width = students_t(freedom)?.inverse_cdf(0.5 + CONFIDENCE / 2.0) * error;
    let interval = Interval { estimate, low: estimate - half_width, high: estimate + half_width };
    Some(LogRatio { interval, p: two_sided_p(estimate, error, freedom)?, blocks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs().max(1e-3)
    }

    /// SciPy 1.17.1: `r = ttest_ind(new, old, equal_var=False)`, `r.confidence_interval(0.95)`, `r.pvalue`.
    #[test]
    fn the_interval_of_two_independent_servers_is_that_of_scipy() {
        let new = [0.021, -0.004, 0.033, 0.012, 0.027, 0.008];
        let old = [0.10, 0.12, 0.08, 0.15, 0.09, 0.11, 0.07];
        let found = unpaired(&new, &old).unwrap();
        assert!(close(found.interval.estimate, -0.08669047619047619), "{found:?}");
        assert!(close(found.interval.low, -0.11281855273553766), "{found:?}");
        assert!(close(found.interval.high, -0.060562399645414725), "{found:?}");
        assert!(close(found.p, 3.486197691663931e-05), "{found:?}");
        assert_eq!(found.blocks, 6);
    }

    #[test]
    fn too_little_gives_nothing_and_no_scatter_a_point() {
        assert_eq!(unpaired(&[1.0], &[1.0, 2.0]), None);
        let same = unpaired(&[1.0; 6], &[1.0; 6]).unwrap();
        assert_eq!((same.interval.low, same.interval.high, same.p), (0.0, 0.0, 1.0));
    }
}
