//! What it does to figures that two servers were not asked alike, for whoever answers sooner is asked more often.

use model::{Arm, Cell, CompareAnalysis, CompareRow, ComparisonVerdict, Metric};

use crate::asker::{Asker, Knob};
use crate::compare_row::row_with_change;
use crate::format::percent;

/// How many times as much as the cost of a request the rate must have changed for that to come of waiting. A choice.
const MUCH_MORE_OFTEN: f64 = 2.0;

/// From which busy share of its CPU on a server counts as busy all the time: it could not have answered more often. A choice.
const ALL_THE_TIME: f64 = 0.9;

/// All of it, a sentence or two each.
pub(crate) fn remarks(analysis: &CompareAnalysis) -> Vec<String> {
    let rows = || analysis.rows.iter();
    let memory = rows().filter_map(|row| more_memory_for_more(row, analysis));
    let cpu = rows().filter_map(|row| cheaper_for_more(row, analysis));
    memory.chain(cpu).chain(rows().filter_map(|row| quick_beside_slow(row, analysis))).collect()
}

/// That a request may cost less only because more come at once, where neither server was busy all the time: the one that waits less is asked
/// more often, and requests share wake-ups. Of servers with several CPUs nobody knows: one thread may be busy all the time.
fn cheaper_for_more(row: &CompareRow, analysis: &CompareAnalysis) -> Option<String> {
    use ComparisonVerdict::{Faster, Slower};
    let is_told = |row: &CompareRow| matches!(row.verdict, Faster | Slower);
    let has_one_cpu =
        analysis.session.cpus.as_ref().and_then(|cpus| cpus.targets.as_ref()).is_some_and(|cpus| cpus.len() == 1);
    let shows = row.metric == Metric::CpuPerRequest && is_told(row) && has_one_cpu && is_closed(analysis);
    let is_other = |metric: Metric| {
        let is_it = move |other: &&CompareRow| other.metric == metric && other.conditions == row.conditions;
        analysis.rows.iter().find(is_it).filter(|other| is_told(other))
    };
    // Failures take good replies away, and whoever fails is asked as often.
    let throughput = is_other(Metric::Throughput).filter(|_| shows && is_other(Metric::Errors).is_none())?;
    // A server that computes less for a request serves about as many more of them.
    let change = |row: &CompareRow| row.ratio.estimate.map(|ratio| ratio.ln().abs());
    if throughput.verdict != row.verdict || change(throughput)? < MUCH_MORE_OFTEN * change(row)? {
        return None;
    }
    let is_of_row = |levels: &Cell| *levels == row.conditions || levels.conditions() == row.conditions;
    let busy = |arm: Arm| {
        let of_row = analysis.cells.iter().find(|it| it.arm == arm && is_of_row(&it.cell.levels))?;
        of_row.cell.target_busy.filter(|busy| *busy < ALL_THE_TIME)
    };
    let (old, new) = (percent(busy(Arm::Old)?), percent(busy(Arm::New)?));
    let rate = Asker::from(analysis.form).by(Knob::Rate);
    Some(format!(
        "Neither server was busy all the time ({old} and {new} of its CPU), and in a closed load whoever waits less is asked more often, \
         which makes a request cheaper, for requests share wake-ups: {}, with {}, may be partly that. At the same rate{rate} the two would be asked \
         alike.",
        row_with_change(row, analysis),
        row_with_change(throughput, analysis)
    ))
}

/// Whether nothing of what is compared was asked at a rate.
fn is_closed(analysis: &CompareAnalysis) -> bool {
    analysis.cells.iter().all(|it| it.cell.load.as_ref().is_some_and(|load| load.rate_per_s.is_none()))
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
    let is_quick = |other: &&CompareRow| {
        matches!(other.metric, Metric::P50 | Metric::Throughput)
            && other.conditions == row.conditions
            && other.verdict == ComparisonVerdict::Faster
    };
    let shows = is_tail(row.metric) && row.verdict == ComparisonVerdict::Slower;
    let quick = analysis.rows.iter().find(is_quick).filter(|_| shows && is_closed(analysis))?;
    let rate = Asker::from(analysis.form).by(Knob::Rate);
    Some(format!(
        "In a closed load a connection that waits for a slow reply asks for nothing, and leaves the server to the others: that {} may be no \
         more than that. At the same rate{rate} the two would be asked alike.",
        row_with_change(quick, analysis)
    ))
}
