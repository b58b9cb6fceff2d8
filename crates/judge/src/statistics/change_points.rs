use crate::thresholds::{CHANGE_PERMUTATIONS, SEGMENT_SECONDS, SIGNIFICANCE};

/// Where the level of a series changes: the index of the first value of each later segment, in order.
///
/// Binary segmentation (Scott and Knott, 1974): of all places to split, the one with the largest sum of squares
/// between the two parts, n₁·n₂ ÷ n · (x̄₁ − x̄₂)², is tried by permuting the values; if few orders do as well, it is
/// a change point, and both parts are tried likewise. A part has at least `SEGMENT_SECONDS` values.
pub fn change_points(values: &[f64]) -> Vec<usize> {
    let Some(Split { at, .. }) = split(values).filter(|found| is_change(values, *found)) else { return Vec::new() };
    let mut points = change_points(&values[..at]);
    points.push(at);
    points.extend(change_points(&values[at..]).into_iter().map(|later| at + later));
    points
}

/// A place to split, and the sum of squares between its two parts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Split {
    at: usize,
    between: f64,
}

/// The best place to split; none where the parts would be too short.
fn split(values: &[f64]) -> Option<Split> {
    let (n, whole) = (values.len() as f64, values.iter().sum::<f64>());
    let mut before = 0.0;
    let mut best: Option<Split> = None;
    for (at, value) in (1..).zip(values) {
        before += value;
        if at < SEGMENT_SECONDS || values.len() - at < SEGMENT_SECONDS {
            continue;
        }
        let (first, second) = (at as f64, n - at as f64);
        let between = (before / first - (whole - before) / second).powi(2) * first * second / n;
        if best.is_none_or(|best| between > best.between) {
            best = Some(Split { at, between });
        }
    }
    best
}

fn is_change(values: &[f64], seen: Split) -> bool {
    let mut rng = fastrand::Rng::with_seed(values.len() as u64);
    let mut shuffled = values.to_vec();
    let mut as_large = 1;
    for _ in 0..CHANGE_PERMUTATIONS {
        rng.shuffle(&mut shuffled);
        let least = seen.between * (1.0 - 1e-9);
        as_large += u32::from(split(&shuffled).is_some_and(|found| found.between >= least));
    }
    f64::from(as_large) < SIGNIFICANCE * f64::from(CHANGE_PERMUTATIONS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::normal;

    fn noisy(levels: &[f64], rng: &mut fastrand::Rng) -> Vec<f64> {
        levels.iter().map(|level| level + 0.01 * normal(rng)).collect()
    }

    #[test]
    fn levels_that_change_are_found_where_they_change() {
        let mut rng = fastrand::Rng::with_seed(3);
        let step: Vec<f64> = (0..12).map(|second| if second < 4 { 0.8 } else { 1.0 }).collect();
        assert_eq!(change_points(&noisy(&step, &mut rng)), [4]);
        let two: Vec<f64> = (0..30).map(|second| [0.5, 1.0, 0.8][second / 10]).collect();
        assert_eq!(change_points(&noisy(&two, &mut rng)), [10, 20]);
        assert_eq!(change_points(&[1.0; 20]), Vec::<usize>::new());
        assert_eq!(change_points(&[1.0, 2.0, 3.0]), Vec::<usize>::new());
    }

    #[test]
    fn a_level_that_stays_seldom_has_a_change() {
        const SERIES: usize = 1_000;
        let mut rng = fastrand::Rng::with_seed(5);
        for seconds in [10, 30] {
            let alarms =
                (0..SERIES).filter(|_| !change_points(&noisy(&vec![1.0; seconds], &mut rng)).is_empty()).count();
            assert!(alarms as f64 <= 0.07 * SERIES as f64, "{alarms} of {SERIES} at {seconds} s");
        }
    }

    /// SciPy 1.17.1: `permutation_test((x,), f, permutation_type='pairings', n_resamples=inf,
    /// alternative='greater')`, f being the largest sum of squares between two parts of at least two values: 2.13333,
    /// p = 0.0357.
    #[test]
    fn the_test_is_that_of_scipy() {
        let values = [1.0, 1.2, 0.9, 2.1, 2.3, 1.9, 2.2, 2.0];
        let found = split(&values).unwrap();
        assert_eq!(found.at, 3);
        assert!((found.between - 2.1333333333333333).abs() < 1e-12, "{found:?}");
        assert!(is_change(&values, found));
        assert!(!is_change(&[1.0, 1.2, 2.1, 1.1, 1.9, 1.0, 2.2, 2.0], Split { at: 4, between: 0.3 }));
    }
}
