/// Holm's step-down adjusted p values, in the order given (Holm, *A simple sequentially rejective multiple test
/// procedure*, 1979): the k-th smallest of m is multiplied by m − k + 1, never below the one before it, never above 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|left, right| p_values[*left].total_cmp(&p_values[*right]).then(left.cmp(right)));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut floor = 0.0_f64;
    for (place, index) in order.into_iter().enumerate() {
        floor = floor.max(p_values[index] * (p_values.len() - place) as f64).min(1.0);
        adjusted[index] = floor;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.005·4 = 0.02, 0.01·3 = 0.03, 0.03·2 = 0.06, and 0.04·1 is raised to the 0.06 before it.
    #[test]
    fn adjusted_values_never_fall() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.7, 0.6]), [1.0, 1.0]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }
}
