//! What was measured of each figure that a claim's test is made of: a claim says what others measured.

use std::collections::BTreeSet;

use model::{Analysis, Cell, ClaimAnalysis, ClaimPart, Expression, Metric};

use crate::cell_words::{is_at_least, with_failures};
use crate::conditions::{conditions, only};
use crate::format::{plus_minus, quantity};
use crate::words::at_least;

/// `go-iris-2016 99.6 requests/s ± 1.1 % ÷ go-net-http 9,155 requests/s ± 0.8 %`, `latency p99 (a 12.1 ms ÷ b 15.0 ms)`, and `;` between
/// those of a test that is something else than a ratio of two; none where the test has one figure, or a figure was not measured.
pub(crate) fn here(claim: &ClaimAnalysis, analysis: &Analysis) -> Option<String> {
    let parts = &claim.parts;
    let first = parts.first()?.metric;
    let one_metric = parts.iter().all(|part| part.metric == first);
    let entry = |part: &ClaimPart| {
        let metric = if one_metric { String::new() } else { format!(" {}", part.metric.words()) };
        Some(format!("{}{metric} {}", name(part, parts), value(part, analysis)?))
    };
    let entries = parts.iter().map(entry).collect::<Option<Vec<_>>>()?.join(between(claim));
    // A rate says by its unit what it is.
    let is_said = one_metric && first != Metric::Throughput;
    Some(if is_said { format!("{} ({entries})", first.words()) } else { entries })
}

fn between(claim: &ClaimAnalysis) -> &'static str {
    let is_metric = |of: &Expression| matches!(of, Expression::Metric(_));
    match claim.expect.expectation.as_ref().map(|test| &test.expression) {
        Some(Expression::Binary('/', over, under)) if is_metric(over) && is_metric(under) => " ÷ ",
        _ => "; ",
    }
}

/// The target, with the conditions in which it differs from the other parts.
fn name(part: &ClaimPart, parts: &[ClaimPart]) -> String {
    let factors: BTreeSet<&str> = parts.iter().flat_map(|part| part.levels.factors()).collect();
    let differs = |factor: &&str| parts.iter().any(|other| other.levels.get(factor) != part.levels.get(factor));
    let differing: Vec<&str> = factors.into_iter().filter(differs).collect();
    let target = part.levels.target();
    match conditions(&only(&part.levels, &differing)) {
        said if said.is_empty() => target.to_owned(),
        said => format!("{target} ({said})"),
    }
}

fn value(part: &ClaimPart, analysis: &Analysis) -> Option<String> {
    let is_it = |levels: &Cell| *levels == part.levels;
    let cell = analysis.cells.iter().find(|cell| is_it(&cell.levels));
    let value = quantity(part.measured.estimate?, part.measured.unit);
    let half = plus_minus(&part.measured).map_or(String::new(), |half| format!(" {half}"));
    let shown = at_least(cell.is_some_and(|cell| is_at_least(cell, part.metric)), value + &half);
    let errors = cell.filter(|_| part.metric == Metric::Throughput).map_or(0.0, |cell| cell.errors);
    Some(with_failures(shown, errors))
}
