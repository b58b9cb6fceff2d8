//! Whether blocks drift or resemble their neighbours, over many series at once. Six blocks say little of one pair;
//! what disturbs a session disturbs several.

use super::blocks::differing_mean;
use super::mean;
use crate::thresholds::BLOCK_PERMUTATIONS;

/// The two ways in which the order of the blocks can matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steadiness {
    /// p value of "no series has a linear trend over the blocks".
    pub trend_p: f64,
    /// Mean lag-1 correlation over the series; −1 ÷ n is what n blocks that are alike by chance have on average.
    pub correlation: f64,
    /// One-sided p value of "blocks resemble their neighbours no more than others": only positive correlation makes
    /// the t interval too narrow.
    pub correlation_p: f64,
}

/// Tests series that have one value a block, all over the same blocks, by permuting the blocks: were they
/// exchangeable, any order of them would be as likely as the one seen. A permutation takes all series along, so it
/// does not matter that they depend on each other. p is the share of orders at least as extreme, the one seen among
/// them (Phipson and Smyth, *Permutation p-values should never be zero*, 2010), over random orders under a fixed seed.
///
/// None without a series of three values or more that differ.
pub fn steadiness(series: &[Vec<f64>]) -> Option<Steadiness> {
    let standardised: Vec<Vec<f64>> = series.iter().filter_map(|values| standardise(values)).collect();
    let n = standardised.first().map(Vec::len).filter(|n| standardised.iter().all(|values| values.len() == *n))?;
    let alike = Alike::new(standardised, n);
    let mut order: Vec<usize> = (0..n).collect();
    let (trend, correlation) = (alike.trend(&order), alike.correlation(&order));
    let (mut as_steep, mut as_alike) = (1, 1);
    let mut rng = fastrand::Rng::with_seed(n as u64);
    for _ in 0..BLOCK_PERMUTATIONS {
        rng.shuffle(&mut order);
        as_steep += u32::from(alike.trend(&order) >= trend - ROUNDING);
        as_alike += u32::from(alike.correlation(&order) >= correlation - ROUNDING);
    }
    let share = |orders: u32| f64::from(orders) / f64::from(BLOCK_PERMUTATIONS + 1);
    Some(Steadiness {
        trend_p: share(as_steep),
        correlation: correlation / alike.series.len() as f64,
        correlation_p: share(as_alike),
    })
}

/// Orders that give the same statistic may differ by this much in the last digits.
const ROUNDING: f64 = 1e-9;

/// The values about their mean, with squares that sum to 1, so that each series weighs the same.
fn standardise(values: &[f64]) -> Option<Vec<f64>> {
    let middle = differing_mean(values)?;
    let size = values.iter().map(|value| (value - middle).powi(2)).sum::<f64>().sqrt();
    Some(values.iter().map(|value| (value - middle) / size).collect())
}

/// What both statistics follow from, whatever the order.
struct Alike {
    blocks: usize,
    series: Vec<Vec<f64>>,
    /// How alike two blocks are: Σ over the series of the product of their values.
    products: Vec<f64>,
    /// The blocks' places about their mean, with squares that sum to 1.
    places: Vec<f64>,
}

impl Alike {
    fn new(series: Vec<Vec<f64>>, blocks: usize) -> Self {
        let product = |at: usize| series.iter().map(|values| values[at / blocks] * values[at % blocks]).sum();
        let places: Vec<f64> = (0..blocks).map(|place| place as f64).collect();
        let products = (0..blocks * blocks).map(product).collect();
        Alike { blocks, products, places: standardise(&places).unwrap_or(places), series }
    }

    fn of(&self, one: usize, other: usize) -> f64 {
        self.products[one * self.blocks + other]
    }

    /// Σ over the series of r², the squared correlation of value and place, with the blocks in this order.
    fn trend(&self, order: &[usize]) -> f64 {
        let r = |values: &Vec<f64>| self.places.iter().zip(order).map(|(place, at)| place * values[*at]).sum::<f64>();
        self.series.iter().map(|values| r(values).powi(2)).sum()
    }

    /// Σ over the series of the lag-1 correlation, with the blocks in this order.
    fn correlation(&self, order: &[usize]) -> f64 {
        order.windows(2).map(|pair| self.of(pair[0], pair[1])).sum()
    }
}

/// Series taken relative to their mean in each block: what all share falls out, as it does from their ratios. Each
/// ratio is a difference of two of them.
pub fn about_their_mean(series: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let blocks = series.iter().map(Vec::len).min().unwrap_or(0);
    let middle = |block: usize| mean(&series.iter().map(|values| values[block]).collect::<Vec<_>>()).unwrap_or(0.0);
    let middles: Vec<f64> = (0..blocks).map(middle).collect();
    series.iter().map(|values| values.iter().zip(&middles).map(|(value, middle)| value - middle).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: [[f64; 6]; 2] = [[0.021, -0.004, 0.033, 0.012, 0.027, 0.008], [10.1, 10.4, 10.2, 10.9, 11.0, 10.8]];
    const DRIFTING: [f64; 8] = [10.1, 10.4, 10.2, 10.9, 11.0, 10.8, 11.3, 11.1];

    /// SciPy 1.17.1: `permutation_test((arange(n),), f, permutation_type='pairings', n_resamples=inf,
    /// alternative='greater')` over all orders, f being Σ r² with the place and Σ of the lag-1 correlations.
    #[test]
    fn the_tests_are_those_of_scipy() {
        let [short, drifting] = [SHORT.map(Vec::from).to_vec(), vec![DRIFTING.to_vec()]];
        let expected = [(short, -0.342764, 0.2, 0.491667), (drifting, 0.449723, 0.005853, 0.035367)];
        for (series, correlation, trend_p, correlation_p) in expected {
            let found = steadiness(&series).unwrap();
            assert!((found.correlation * series.len() as f64 - correlation).abs() < 1e-6, "{found:?}");
            // Random orders instead of all: three standard errors.
            let near = |p: f64, exact: f64| (p - exact).abs() < 3.0 * (exact / f64::from(BLOCK_PERMUTATIONS)).sqrt();
            assert!(near(found.trend_p, trend_p) && near(found.correlation_p, correlation_p), "{found:?}");
        }
    }

    #[test]
    fn the_statistics_are_sums_over_the_series() {
        let series: Vec<Vec<f64>> = SHORT.iter().filter_map(|values| standardise(values)).collect();
        let order = [0, 1, 2, 3, 4, 5];
        assert!((Alike::new(series, 6).trend(&order) - 0.702_063_867_995_731_8).abs() < 1e-12);
    }

    #[test]
    fn by_chance_the_lag_one_correlation_is_below_nothing() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut values = DRIFTING.to_vec();
        let mut correlation = || {
            rng.shuffle(&mut values);
            steadiness(&[values.clone()]).unwrap().correlation
        };
        let mean = (0..400).map(|_| correlation()).sum::<f64>() / 400.0;
        assert!((mean + 1.0 / 8.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn equal_values_have_no_order() {
        assert_eq!(steadiness(&[vec![0.1; 6], vec![1.0, 2.0]]), None);
        assert_eq!(steadiness(&[]), None);
        assert_eq!(about_their_mean(&[vec![1.0, 5.0], vec![3.0, 9.0]]), [[-1.0, -2.0], [1.0, 2.0]]);
    }
}
