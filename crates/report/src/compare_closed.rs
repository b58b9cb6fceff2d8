//! What it does to figures that two servers were not asked alike, for whoever answers sooner is asked more often.

use model::{CompareAnalysis, CompareRow, ComparisonVerdict, Metric};

use crate::asker::{Asker, Knob};
use crate::compare_row::row_with_change;

/// All of it, a sentence or two each.
pub(crate) fn remarks(analysis: &CompareAnalysis) -> Vec<String> {
    let rows = || analysis.rows.iter();
    let memory = rows().filter_map(|row| more_memory_for_more(row, analysis));
    memory.chain(rows().filter_map(|row| quick_beside_slow(row, analysis))).collect()
}

/// What a server that does more in the same time may need more memory for.
fn more_memory_for_more(row: &CompareRow, analysis: &CompareAnalysis) -> Option<String> {
    let is_more = row.metric == Metric::PeakMemory && row.verdict == ComparisonVerdict::Slower;
    let serves_more = |other: &&CompareRow| {
        other.metric == Metric::Throughput
            && other.conditions == row.conditions
            && other.verdict == ComparisonVerdict::Faster
    };
    let throughput = analysis.rows.iter().find(serves_more).filter(|_| is_more)?;
    let rate = Asker::from(analysis.form).by(Knob::Rate);
    let change = row_with_change(throughput, analysis);
    Some(format!(
        "The new one answered more requests in the same time ({change}), and memory that grows with requests is more for that: at the same \
         rate{rate} the two would be asked alike."
    ))
}

/// That the rest of a closed load may be better only because some of its requests take long.
fn quick_beside_slow(row: &CompareRow, analysis: &CompareAnalysis) -> Option<String> {
    let is_tail = |metric: Metric| matches!(metric, Metric::P90 | Metric::P95 | Metric::P99 | Metric::P999);
    let is_closed =
        || analysis.cells.iter().all(|it| it.cell.load.as_ref().is_some_and(|load| load.rate_per_s.is_none()));
    let is_quick = |other: &&CompareRow| {
        matches!(other.metric, Metric::P50 | Metric::Throughput)
            && other.conditions == row.conditions
            && other.verdict == ComparisonVerdict::Faster
    };
    let shows = is_tail(row.metric) && row.verdict == ComparisonVerdict::Slower;
    let quick = analysis.rows.iter().find(is_quick).filter(|_| shows && is_closed())?;
    let rate = Asker::from(analysis.form).by(Knob::Rate);
    Some(format!(
        "In a closed load a connection that waits for a slow reply asks for nothing, and leaves the server to the others: that {} may be no \
         more than that. At the same rate{rate} the two would be asked alike.",
        row_with_change(quick, analysis)
    ))
}
