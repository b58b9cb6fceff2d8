//! Why a table has no figure where it has none, and what its CPU and its memory count.

use std::fmt::Display;

use model::{BLOCKS_FOR_A_VERDICT, Blank, CellAnalysis, MemoryCount, Metric, Unranked};

use crate::format::{LEAST_CPU, percent, thousands};
use crate::place::Place;
use crate::rows::{Group, Row};
use crate::words::either;

/// Why a figure is missing, a sentence each: `CPU/request – for a: …`.
pub(crate) fn missing(group: &Group<'_>) -> Vec<String> {
    let columns = [
        ("no p99 for", Metric::P99),
        ("latency – for", Metric::P50),
        ("CPU/request – for", Metric::CpuPerRequest),
        ("memory – for", Metric::PeakMemory),
    ];
    let all: Vec<&Row> = group.rows.iter().collect();
    let why = |metric: Metric| move |row: &Row<'_>| Some(blank(metric, *row.cell.remarks.blanks.get(&metric)?));
    columns.into_iter().flat_map(|(column, metric)| of_column(&all, column, why(metric))).collect()
}

/// Why a row has no rank, a sentence for each reason: `rank – for a: …`. Nothing where no row has the launches for one: that
/// stands at the top.
pub(crate) fn unranked(group: &Group<'_>) -> Vec<String> {
    let may_rank = group.rows.iter().any(|row| row.cell.trials >= BLOCKS_FOR_A_VERDICT);
    let unranked: Vec<&Row> =
        group.rows.iter().filter(|row| may_rank && row.place == Place::Open && row.disturbed.is_none()).collect();
    of_column(&unranked, "rank – for", no_rank)
}

fn of_column<W: PartialEq + Display>(
    among: &[&Row<'_>],
    column: &str,
    why: impl Fn(&Row<'_>) -> Option<W>,
) -> Vec<String> {
    let mut reasons: Vec<(W, Vec<String>)> = Vec::new();
    // A void cell has no figure at all, and its row says so.
    for row in among.iter().filter(|row| row.cell.trials > 0) {
        let Some(reason) = why(row) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) => rows.push(name(row)),
            None => reasons.push((reason, vec![name(row)])),
        }
    }
    reasons.iter().map(|(reason, rows)| format!("{column} {}: {reason}", rows.join(", "))).collect()
}

fn name(row: &Row<'_>) -> String {
    row.name.join(" · ")
}

/// Why the cells have no figure of a metric; of a latency, not even a median.
fn blank(metric: Metric, blank: Blank) -> String {
    match blank {
        Blank::Failed { most } => {
            let share = if metric == Metric::P50 { "half".to_owned() } else { percent(most) };
            format!("more than {share} of a launch's requests failed, and those have no time")
        }
        Blank::FewRequests { needed } => {
            let what = if metric == Metric::P50 { "even a median" } else { "it" };
            let needs = format!("a launch had fewer than the {} requests that {what} needs", thousands(needed));
            format!("{needs}: a longer window has more")
        }
        Blank::FewCollections => {
            "fewer than 10 garbage collections are known to have fallen within the slices of a launch, so \
                                  chance decides how much of it they are: --no-rotation shows it"
                .to_owned()
        }
        Blank::Unwatched => "the target was not watched".to_owned(),
        Blank::Unserved => "nothing was served in its windows".to_owned(),
        Blank::Beside => "two loads were on the target, and what each cost is not known".to_owned(),
        Blank::LittleCpu => {
            format!(
                "the target used less CPU in a window than a figure needs ({LEAST_CPU}): a longer window would show it"
            )
        }
    }
}

/// Why a row has no rank, where that is known of it alone.
pub(crate) fn no_rank(row: &Row<'_>) -> Option<String> {
    let words = match row.unranked? {
        Unranked::Failed => "it failed, as is said above",
        Unranked::FewLaunches => "fewer than six launches count",
        Unranked::AtLeast => "only a lower bound is known",
        Unranked::NoP99 => "it has no p99",
        Unranked::Censored => "its p99 is only a lower bound",
        Unranked::Warming => "it was not warm yet",
        Unranked::Thin => "it completed so few requests per window that edge effects matter",
        Unranked::Open => return Some(format!("whether it is above or below {} is open", either(&row.open))),
        Unranked::Close => "it is too close to one whose place is open",
        Unranked::Alone => "no other here can be ranked",
    };
    Some(words.to_owned())
}

/// What the figures of CPU and memory count, where that is not all or not the pages of one process.
pub(crate) fn counts(group: &Group<'_>) -> Vec<String> {
    let all: Vec<&Row> = group.rows.iter().collect();
    let mut said = of_column(&all, "CPU/request of", |row| cpu_words(row.cell));
    said.extend(of_column(&all, "memory of", |row| memory_words(row.cell)));
    said.extend(of_column(&all, "peak memory of", |row| peak_words(row.cell)));
    said
}

/// What a figure of CPU lacks.
pub(crate) fn cpu_words(cell: &CellAnalysis) -> Option<&'static str> {
    cell.cpu_at_least.then_some(
        "child processes of it may have exited without being reaped (SIGCHLD ignored, or SA_NOCLDWAIT); their CPU time is not \
         counted, so this may be too low",
    )
}

/// What a peak of memory lacks.
pub(crate) fn peak_words(cell: &CellAnalysis) -> Option<&'static str> {
    cell.peak_at_least.then_some("it may have been higher between two samples")
}

/// What a figure of memory counts, where it is not the resident pages of one process.
pub(crate) fn memory_words(cell: &CellAnalysis) -> Option<&'static str> {
    match cell.memory_count {
        MemoryCount::Resident => None,
        MemoryCount::Proportional => Some("several processes; what they share counts once (proportional, PSS)"),
        MemoryCount::ProportionalAtLeast => Some(
            "several processes; what they share counts once (proportional, PSS), and what they share with servers running \
             alongside only in part: alone it may be higher",
        ),
        MemoryCount::ResidentSum => {
            Some("several processes; what they share counts in each, because this record has no proportional figure")
        }
    }
}
