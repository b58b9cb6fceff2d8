//! A row of a comparison in a sentence.

use model::{Cell, CompareAnalysis, CompareRow};

use crate::change_words::{change, change_of, with_interval};
use crate::conditions::conditions;
use crate::format::{counted, number, quantity};

/// `throughput -16.0 % (-18.3 to -13.6)`, with its conditions where there are several.
pub(crate) fn row_with_change(row: &CompareRow, analysis: &CompareAnalysis) -> String {
    let change = change_of(&row.ratio, row.difference.as_ref(), row.in_doubt.as_ref())
        .map_or_else(|| to_nothing(row), |(change, interval)| format!(" {}", with_interval(&change, &interval)));
    row_named(row, &(change + &quiet(row)), analysis)
}

/// `, 3,885 to 0 requests/s`: where the one gave nothing there is no ratio.
fn to_nothing(row: &CompareRow) -> String {
    let both = row.old.estimate.zip(row.new.estimate).filter(|_| is_of_nothing(row));
    both.map_or(String::new(), |(old, new)| format!(", {} to {}", number(old), quantity(new, row.new.unit)))
}

/// Whether one side alone gave nothing, so that there is no ratio.
pub(crate) fn is_of_nothing(row: &CompareRow) -> bool {
    let is_nothing = |value: Option<f64>| value == Some(0.0);
    let is_known = row.old.estimate.is_some() && row.new.estimate.is_some();
    row.difference.is_none() && is_known && is_nothing(row.old.estimate) != is_nothing(row.new.estimate)
}

/// What a row is about and, as `change` has it, how far that changed; with its conditions where there are several.
pub(crate) fn row_named(row: &CompareRow, change: &str, analysis: &CompareAnalysis) -> String {
    let place = if has_several_conditions(analysis) { with(&row.conditions) } else { String::new() };
    format!("{}{change}{place}", row.metric.words())
}

/// ` [3 quiet blocks alone: +33 % (+20 to +41)]`: what is left of a figure without what the busy machine did to it.
fn quiet(row: &CompareRow) -> String {
    let Some(quiet) = &row.quiet else { return String::new() };
    let Some((change, interval)) = change(&quiet.ratio, None) else { return String::new() };
    let blocks = counted(quiet.blocks.into(), "quiet block", "quiet blocks");
    format!(" [{blocks} alone: {}]", with_interval(&change, &interval))
}

/// ` of go-gin with 100 connections`: which target, where rows are of several, under which conditions.
pub(crate) fn with(place: &Cell) -> String {
    let (target, at) = (place.target(), conditions(place));
    let of = if target.is_empty() { String::new() } else { format!(" of {target}") };
    if at.is_empty() { of } else { format!("{of} with {at}") }
}

/// Whether there are rows under several conditions.
pub(crate) fn has_several_conditions(analysis: &CompareAnalysis) -> bool {
    analysis.rows.windows(2).any(|pair| pair[0].conditions != pair[1].conditions)
}
