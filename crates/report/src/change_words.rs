//! How much a figure changed, in words.

use model::{Measured, Unit};

use crate::format::{number, signed};
use crate::page::unbroken;

/// Ratios whose interval has ends that differ by a larger factor are not known: ten times as much either way.
const WIDEST: f64 = 100.0;

/// Ratios from which on a multiple is easier to read than per cent.
const TIMES: f64 = 10.0;

const NOT_KNOWN: &str = "not known";

/// Why not: launches that differ so much show nothing of each other until there are more of them.
const TOO_WIDE: &str = "(launches differ too much)";

/// A change and its interval; where it is held back for a doubt, how far that leaves it open.
pub(crate) fn change_of(
    ratio: &Measured,
    difference: Option<&Measured>,
    in_doubt: Option<&Measured>,
) -> Option<(String, String)> {
    let Some(open) = in_doubt else { return change(ratio, difference) };
    let (said, _) = change(ratio, difference)?;
    let of = difference.unwrap_or(ratio);
    let scale = Scale::of(of.estimate?, difference.is_some());
    let decimals = of.low.zip(of.high).map_or(1, |(low, high)| scale.decimals(low, high));
    let (low, high) = left_open(open);
    let decimals = scale.with_sides(decimals, [low, high]);
    let shown = |bound: f64| scale.shown(bound, decimals);
    let interval = match (low, high) {
        (Some(low), Some(high)) => format!("({} to {})", shown(low), shown(high)),
        (Some(low), None) => format!("(at least {})", shown(low)),
        (None, Some(high)) => format!("(at most {})", shown(high)),
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

/// How a change is told.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    /// A difference of shares.
    Points,
    /// A ratio, as what it is more or less than 1.
    Percent,
    /// A ratio.
    Times,
}

impl Scale {
    fn of(estimate: f64, is_difference: bool) -> Self {
        match is_difference {
            true => Scale::Points,
            false if estimate >= TIMES => Scale::Times,
            false => Scale::Percent,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Scale::Points => "points",
            Scale::Percent => "%",
            Scale::Times => "times",
        }
    }

    /// Decimals of what has an interval with such ends: as exact as it lets one know, and one more where an end would be
    /// rounded to no change, and is not with that.
    fn decimals(self, low: f64, high: f64) -> usize {
        let decimals = match 100.0 * (high - low) {
            ..0.2 => 2,
            ..20.0 => 1,
            _ => 0,
        };
        self.with_sides(decimals, [Some(low), Some(high)])
    }

    /// The same decimals, or one more where that shows on which side of no change an end is that these hide.
    fn with_sides(self, decimals: usize, ends: [Option<f64>; 2]) -> usize {
        let none = if self == Scale::Points { 0.0 } else { 1.0 };
        let is_hidden = |end: f64, decimals| self.shown(end, decimals) == self.shown(none, decimals);
        let helps = |end: f64| is_hidden(end, decimals) && !is_hidden(end, decimals + 1);
        decimals + usize::from(decimals < 2 && ends.into_iter().flatten().any(helps))
    }

    /// A value without its unit, with so many decimals.
    fn shown(self, value: f64, decimals: usize) -> String {
        match self {
            Scale::Points => signed(100.0 * value, decimals),
            Scale::Percent => signed(100.0 * (value - 1.0), decimals),
            Scale::Times => number(value),
        }
    }
}

/// A ratio as a change in per cent, or a difference of shares in percentage points, and its interval; none when nothing
/// was estimated.
pub(crate) fn change(ratio: &Measured, difference: Option<&Measured>) -> Option<(String, String)> {
    let of = difference.unwrap_or(ratio);
    let estimate = of.estimate?;
    let scale = Scale::of(estimate, difference.is_some());
    let said = |decimals: usize| format!("{} {}", scale.shown(estimate, decimals), scale.unit());
    let (Some(low), Some(high)) = (of.low, of.high) else {
        return Some((said(1), String::new()));
    };
    if difference.is_none() && high > WIDEST * low {
        return Some((NOT_KNOWN.to_owned(), TOO_WIDE.to_owned()));
    }
    let decimals = scale.decimals(low, high);
    Some((said(decimals), format!("({} to {})", scale.shown(low, decimals), scale.shown(high, decimals))))
}

/// How far the ends of an interval are from no change, `0.7 %` and `17.8 %`; none where they are not told as shares.
pub(crate) fn ends(ratio: &Measured, difference: Option<&Measured>) -> Option<[String; 2]> {
    let of = difference.unwrap_or(ratio);
    let (low, high) = (of.low?, of.high?);
    let scale = Scale::of(high, difference.is_some());
    let shown = |bound: f64| scale.shown(bound, scale.decimals(low, high));
    let without_sign =
        |bound: f64| unbroken(&format!("{} {}", shown(bound).trim_start_matches(['+', '-']), scale.unit()));
    (scale != Scale::Times).then(|| [low, high].map(without_sign))
}

/// `+5.1 % (+4.4 to +5.8)` for a sentence: without an interval nothing follows, and a number stays with its unit.
pub(crate) fn with_interval(change: &str, interval: &str) -> String {
    let change = unbroken(change);
    if interval.is_empty() { change } else { format!("{change} {interval}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_beside_no_change_is_told_from_it() {
        let said = |low: f64, high: f64| {
            let ratio = Measured { estimate: Some(1.16), low: Some(low), high: Some(high), unit: Unit::Ratio };
            change(&ratio, None).unwrap().1
        };
        assert_eq!(said(1.05, 1.34), "(+5 to +34)");
        assert_eq!(said(1.002, 1.34), "(+0.2 to +34.0)");
        assert_eq!(said(0.998, 1.34), "(-0.2 to +34.0)");
        assert_eq!(said(1.0, 1.34), "(0 to +34)", "1.0 is exactly that");
        assert_eq!(said(1.000_2, 1.34), "(0 to +34)", "one digit more would not show it");
        let [ratio, open] = [1.05, 1.002].map(|low| Measured {
            estimate: Some(1.16),
            low: Some(low),
            high: Some(1.34),
            unit: Unit::Ratio,
        });
        assert_eq!(change_of(&ratio, None, Some(&open)).unwrap().1, "(+0.2 to +34.0)");
    }
}
