//! How much a figure changed, in words.

use model::{Measured, Unit};

use crate::format::signed;
use crate::page::unbroken;

/// Ratios whose interval has ends that differ by a larger factor are not known: ten times as much either way.
const WIDEST: f64 = 100.0;

const NOT_KNOWN: &str = "not known";

/// Why not: launches that differ so much show nothing of each other until there are more of them.
const TOO_FEW: &str = "(too few launches)";

/// A change and its interval; where it is held back for a doubt, how far that leaves it open.
pub(crate) fn change_of(
    ratio: &Measured,
    difference: Option<&Measured>,
    in_doubt: Option<&Measured>,
) -> Option<(String, String)> {
    let Some(open) = in_doubt else { return change(ratio, difference) };
    let (said, _) = change(ratio, difference)?;
    let (percent, _) = in_hundredths(difference.is_some());
    let of = difference.unwrap_or(ratio);
    let decimals = of.low.zip(of.high).map_or(1, |(low, high)| decimals(percent(high) - percent(low)));
    let shown = |bound: f64| signed(percent(bound), decimals);
    let interval = match left_open(open) {
        (Some(low), Some(high)) => format!("({} to {})", shown(low), shown(high)),
        (Some(low), None) => format!("({} or more)", shown(low)),
        (None, Some(high)) => format!("({} or less)", shown(high)),
        (None, None) => format!("({NOT_KNOWN})"),
    };
    Some((said, interval))
}

/// The bounds of what doubts leave open; none where they are so far apart that a ratio is not known.
pub(crate) fn left_open(open: &Measured) -> (Option<f64>, Option<f64>) {
    match (open.low, open.high) {
        (Some(low), Some(high)) if open.unit == Unit::Ratio && high > WIDEST * low => (None, None),
        bounds => bounds,
    }
}

/// As many as an interval so wide in hundredths lets one know.
fn decimals(width: f64) -> usize {
    match width {
        ..0.2 => 2,
        ..20.0 => 1,
        _ => 0,
    }
}

/// How a ratio or a difference of shares is told, and in which unit.
fn in_hundredths(is_difference: bool) -> (fn(f64) -> f64, &'static str) {
    if is_difference { (|share| 100.0 * share, "points") } else { (|ratio| 100.0 * (ratio - 1.0), "%") }
}

/// A ratio as a change in per cent, or a difference of shares in percentage points, and its interval; none when nothing
/// was estimated.
pub(crate) fn change(ratio: &Measured, difference: Option<&Measured>) -> Option<(String, String)> {
    let of = difference.unwrap_or(ratio);
    let (percent, unit) = in_hundredths(difference.is_some());
    let estimate = of.estimate?;
    let (Some(low), Some(high)) = (of.low, of.high) else {
        return Some((format!("{} {unit}", signed(percent(estimate), 1)), String::new()));
    };
    if difference.is_none() && high > WIDEST * low {
        return Some((NOT_KNOWN.to_owned(), TOO_FEW.to_owned()));
    }
    let decimals = decimals(percent(high) - percent(low));
    let shown = |value: f64| signed(percent(value), decimals);
    Some((format!("{} {unit}", shown(estimate)), format!("({} to {})", shown(low), shown(high))))
}

/// `+5.1 % (+4.4 to +5.8)` for a sentence: without an interval nothing follows, and a number stays with its unit.
pub(crate) fn with_interval(change: &str, interval: &str) -> String {
    let change = unbroken(change);
    if interval.is_empty() { change } else { format!("{change} {interval}") }
}
