use super::{Interval, mean_and_error, p_of_zero_mean, students_t, t_interval_at, two_sided_p};
use statrs::distribution::ContinuousCDF;

/// The logarithm of a ratio of two servers, with its interval and the p value of "it is 0".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// Estimate and interval.
    pub interval: Interval,
    /// Two-sided p value.
    pub p: f64,
    /// Blocks it rests on.
    pub blocks: usize,
}

impl LogRatio {
    /// The ratio where its figures are only known to lie in ranges, from what it is at its least to what it is at its most;
    /// an end that is none has no bound. The p value is that of the end nearer to no change, and 1 where they are on both
    /// sides of it.
    pub fn spanning(self, least: Option<LogRatio>, most: Option<LogRatio>) -> LogRatio {
        let low = least.map_or(f64::NEG_INFINITY, |least| least.interval.low).min(self.interval.low);
        let high = most.map_or(f64::INFINITY, |most| most.interval.high).max(self.interval.high);
        let p = match (least, most) {
            (Some(least), _) if least.interval.estimate > 0.0 => least.p,
            (_, Some(most)) if most.interval.estimate < 0.0 => most.p,
            _ => 1.0,
        };
        LogRatio { interval: Interval { low, high, ..self.interval }, p: p.max(self.p), blocks: self.blocks }
    }

    /// Its p value, as many times as an adjustment made of that of `plain`.
    pub fn adjusted_like(&self, plain: &LogRatio, adjusted: f64) -> f64 {
        if plain.p > 0.0 { (self.p * (adjusted / plain.p)).clamp(adjusted, 1.0) } else { self.p.max(adjusted) }
    }
}

/// From the log ratios of single blocks: Student's t. None under two, or where one is not finite.
pub fn paired(log_ratios: &[f64], confidence: f64) -> Option<LogRatio> {
    let interval = t_interval_at(log_ratios, confidence).filter(|_| are_finite(log_ratios))?;
    Some(LogRatio { interval, p: p_of_zero_mean(log_ratios)?, blocks: log_ratios.len() })
}

fn are_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// From the logarithms of two servers that were not measured in turn: Welch's t interval of the difference of means,
/// with Satterthwaite's degrees of freedom (Welch, *Biometrika* 34, 1947). None where either has under two, or one that is
/// not finite.
pub fn unpaired(new: &[f64], old: &[f64], confidence: f64) -> Option<LogRatio> {
    if !are_finite(new) || !are_finite(old) {
        return None;
    }
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
    let half_width = students_t(freedom)?.inverse_cdf(0.5 + confidence / 2.0) * error;
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
        let found = unpaired(&new, &old, 0.95).unwrap();
        assert!(close(found.interval.estimate, -0.08669047619047619), "{found:?}");
        assert!(close(found.interval.low, -0.11281855273553766), "{found:?}");
        assert!(close(found.interval.high, -0.060562399645414725), "{found:?}");
        assert!(close(found.p, 3.486197691663931e-05), "{found:?}");
        assert_eq!(found.blocks, 6);
    }

    #[test]
    fn too_little_gives_nothing_and_no_scatter_a_point() {
        assert_eq!(unpaired(&[1.0], &[1.0, 2.0], 0.95), None);
        let same = unpaired(&[1.0; 6], &[1.0; 6], 0.95).unwrap();
        assert_eq!((same.interval.low, same.interval.high, same.p), (0.0, 0.0, 1.0));
    }

    #[test]
    fn what_ranges_leave_open_is_as_wide_as_their_ends() {
        let at = |middle: f64| paired(&[middle - 0.01, middle, middle + 0.01], 0.95).unwrap();
        let faster = at(0.2).spanning(Some(at(0.1)), None);
        assert_eq!((faster.interval.low, faster.interval.high), (at(0.1).interval.low, f64::INFINITY));
        assert_eq!((faster.p, faster.interval.estimate), (at(0.1).p, at(0.2).interval.estimate));
        assert_eq!(at(0.2).spanning(Some(at(-0.1)), Some(at(0.3))).p, 1.0, "the ends contradict each other");
        assert_eq!(at(-0.2).spanning(None, Some(at(-0.1))).p, at(-0.1).p);
        assert_eq!(at(0.2).spanning(Some(at(0.2)), Some(at(0.2))), at(0.2));
        assert!((faster.adjusted_like(&at(0.2), 3.0 * at(0.2).p) - 3.0 * at(0.1).p).abs() < 1e-12);
        assert_eq!(paired(&[0.1, f64::INFINITY, 0.1], 0.95), None);
        let wide = paired(&[0.1, 0.2, 0.3], 0.95).unwrap();
        let ends = wide.spanning(Some(at(0.19)), Some(at(0.21)));
        assert_eq!((ends.interval, ends.p), (wide.interval, wide.p), "no surer than its figures alone");
    }
}
