use statrs::distribution::ContinuousCDF;

use super::{Interval, mean, students_t};

/// Slope of the least-squares line through points (x, y), in y per x, with Student's t interval at n − 2 degrees of freedom:
/// b ± t · √(Σ(yᵢ − ȳ − b·(xᵢ − x̄))² ÷ (n − 2) ÷ Σ(xᵢ − x̄)²) (Draper and Smith, *Applied Regression Analysis*, 1998, section 1.4).
/// None under three points, or where they do not differ in x.
pub fn slope(points: &[(f64, f64)], confidence: f64) -> Option<Interval> {
    let freedom = points.len().checked_sub(2).filter(|freedom| *freedom > 0)? as f64;
    let middle = |of: fn(&(f64, f64)) -> f64| mean(&points.iter().map(of).collect::<Vec<f64>>());
    let (x_mean, y_mean) = (middle(|it| it.0)?, middle(|it| it.1)?);
    let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let estimate = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / squares;
    let left: f64 = points.iter().map(|(x, y)| (y - y_mean - estimate * (x - x_mean)).powi(2)).sum();
    let half_width = students_t(freedom)?.inverse_cdf(0.5 + confidence / 2.0) * (left / freedom / squares).sqrt();
    half_width.is_finite().then_some(Interval { estimate, low: estimate - half_width, high: estimate + half_width })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By NumPy with t₀.₉₇₅,₂ = 4.302652729749464: slope 99.96296…, Σ of squares about the line 26.7407…, about the mean of x 6.75.
    #[test]
    fn the_slope_of_four_doses_is_as_by_hand() {
        let points = [(1.0, 105.0), (4.0, 402.0), (2.0, 207.0), (4.0, 409.0)];
        let found = slope(&points, 0.95).unwrap();
        let close = |left: f64, right: f64| (left - right).abs() < 1e-9 * right;
        assert!(close(found.estimate, 99.96296296296296), "{found:?}");
        assert!(close(found.low, 93.90737763961187) && close(found.high, 106.01854828631406), "{found:?}");
    }

    #[test]
    fn too_few_points_or_one_place_have_none() {
        assert_eq!(slope(&[(1.0, 2.0), (2.0, 4.0)], 0.95), None);
        assert_eq!(slope(&[(1.0, 2.0), (1.0, 4.0), (1.0, 3.0)], 0.95), None);
        assert_eq!(slope(&[(1.0, 2.0), (2.0, f64::INFINITY), (3.0, 3.0)], 0.95), None);
        let exact = slope(&[(1.0, 2.0), (2.0, 4.0), (4.0, 8.0)], 0.95).unwrap();
        assert_eq!((exact.estimate, exact.low, exact.high), (2.0, 2.0, 2.0));
    }
}
