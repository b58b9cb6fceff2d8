//! What a rate comes to that is a share of capacity.

use std::collections::BTreeMap;

use model::{Plan, RelativeRate};

/// The rate, in requests a second, that is this share of what the slowest target served in a closed load: rounded down
/// to two significant digits. `closed_per_s` is what each target served. A target that served nothing, or a figure that
/// is none, does not count; none when nothing is left, or no rate above zero follows.
pub fn settled_rate(share: f64, closed_per_s: &BTreeMap<String, f64>) -> Option<f64> {
    let served = closed_per_s.values().copied().filter(|served| *served > 0.0);
    let settled = round_down(share * served.reduce(f64::min)?);
    (settled.is_finite() && settled > 0.0).then_some(settled)
}

/// The target that the rate of a cell is a share of, and what it served in a second, where it may serve more: the generator
/// may have been the limit.
pub(crate) fn bounded_base(plan: &Plan, cell: usize) -> Option<(&str, f64)> {
    let cell = &plan.cells[cell];
    let stands_on = |rate: &&RelativeRate| cell.rate_share.is_some() && cell.levels.conditions() == rate.conditions;
    let rate = plan.relative_rates.iter().find(stands_on)?;
    rate.slowest().filter(|(target, _)| rate.at_least.contains_key(*target))
}

/// Two significant digits, so that a rate can be said and repeated.
fn round_down(rate_per_s: f64) -> f64 {
    let step = 10f64.powf(rate_per_s.log10().floor() - 1.0);
    (rate_per_s / step).floor() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed<const N: usize>(rates: [f64; N]) -> BTreeMap<String, f64> {
        rates.into_iter().enumerate().map(|(index, rate)| (format!("target-{index}"), rate)).collect()
    }

    #[test]
    fn rates_have_two_digits() {
        for (rate, rounded) in [(5237.4, 5200.0), (10_999.0, 10_000.0), (48.0, 48.0), (99.9, 99.0)] {
            assert!((round_down(rate) - rounded).abs() < 1e-9, "{rate}");
        }
    }

    #[test]
    fn a_share_is_that_of_the_slowest() {
        assert_eq!(settled_rate(0.5, &closed([9000.0, 4321.0, 7000.0])), Some(2100.0));
        assert_eq!(settled_rate(1.0, &closed([4321.0])), Some(4300.0));
    }

    #[test]
    fn what_served_nothing_does_not_count() {
        assert_eq!(settled_rate(0.5, &closed([0.0, 4321.0, f64::NAN])), Some(2100.0));
        assert_eq!(settled_rate(0.5, &closed([])), None);
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(settled_rate(0.5, &closed([nothing])), None, "{nothing}");
            assert_eq!(settled_rate(nothing, &closed([4321.0])), None, "a share of {nothing}");
        }
    }
}
