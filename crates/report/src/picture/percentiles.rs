//! The axis of percentiles: each further nine is as wide as the one before.

use super::plot::{ACROSS, Ticks};
use super::scale::{Scale, Steps};
use crate::format::at_most_decimals;

/// Where fewer samples lie beyond a quantile, its line is dashed.
pub(crate) const FEW: f64 = 10.0;

/// What is written beneath it.
pub(crate) const MEANING: &str = "Share of requests that took no longer; log scales.";

/// 1 ÷ (1 − q): the place of a quantile on a log axis.
pub(crate) fn nines(q: f64) -> f64 {
    1.0 / (1.0 - q)
}

/// `p99.9`.
pub(crate) fn named(q: f64) -> String {
    format!("p{}", at_most_decimals(q * 100.0, 2))
}

/// From the median to the highest quantile.
pub(crate) fn axis(highest: f64) -> Option<(Scale, Ticks)> {
    let x = Scale::around(Steps::Log, &[nines(0.5), nines(highest)], 1.15, ACROSS)?;
    let shown = [0.5, 0.9, 0.99, 0.999, 0.9999].into_iter().filter(|q| *q <= highest);
    Some((x, shown.map(|q| (nines(q), format!("{} %", at_most_decimals(q * 100.0, 2)))).collect()))
}
