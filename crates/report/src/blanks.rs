//! Why a table has no figure where it has none, and what its memory counts.

use model::{BLOCKS_FOR_A_VERDICT, Blank, MemoryCount, Metric, Unranked};

use crate::format::{percent, thousands};
use crate::rows::{Group, Place, Row};
use crate::words::either;

/// Why a figure is missing, a sentence each: `CPU/request – for a: …`.
pub(crate) fn missing(group: &Group<'_>) -> Vec<String> {
    let columns = [
        ("no p99", Metric::P99),
        ("latency –", Metric::P50),
        ("CPU/request –", Metric::CpuPerRequest),
        ("memory –", Metric::PeakMemory),
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
    of_column(&unranked, "rank –", no_rank)
}

fn of_column(among: &[&Row<'_>], column: &str, why: impl Fn(&Row<'_>) -> Option<String>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    // A void cell has no figure at all, and its row says so.
    for row in among.iter().filter(|row| row.cell.trials > 0) {
        let Some(reason) = why(row) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) => rows.push(name(row)),
            None => reasons.push((reason, vec![name(row)])),
        }
    }
    reasons.iter().map(|(reason, rows)| format!("{column} for {}: {reason}", rows.join(", "))).collect()
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
        Blank::Unwatched => "the target was not watched".to_owned(),
        Blank::Unserved => "nothing was served in its windows".to_owned(),
        Blank::LittleCpu => {
            "the target used too little CPU in a window to count it (10 ms; 0.1 s where the kernel counts in \
                             ticks): a longer window would show it"
                .to_owned()
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
        Unranked::Thin => "it completed so few requests that the edges of the window weigh",
        Unranked::Open => return Some(format!("whether it is above or below {} is open", either(&row.open))),
        Unranked::Close => "it is too close to one whose place is open",
        Unranked::Alone => "no other here can be ranked",
    };
    Some(words.to_owned())
}

/// What memory counts, where targets have several processes.
pub(crate) fn memory(group: &Group<'_>) -> Vec<String> {
    let of = |count: MemoryCount| {
        let meant = |row: &&Row| row.cell.memory_count == count && row.cell.trials > 0;
        let rows: Vec<String> = group.rows.iter().filter(meant).map(name).collect();
        memory_words(count).filter(|_| !rows.is_empty()).map(|words| format!("memory of {}: {words}", rows.join(", ")))
    };
    [MemoryCount::Proportional, MemoryCount::ProportionalAtLeast, MemoryCount::ResidentSum]
        .into_iter()
        .filter_map(of)
        .collect()
}

/// What a figure of memory counts, where it is not the resident pages of one process.
pub(crate) fn memory_words(count: MemoryCount) -> Option<&'static str> {
    match count {
        MemoryCount::Resident => None,
        MemoryCount::Proportional => Some("several processes; what they share counts once (proportional, PSS)"),
        MemoryCount::ProportionalAtLeast => Some(
            "several processes; what they share counts once (proportional, PSS), and in part what they share with other servers \
             that run at the same time: alone it may be more",
        ),
        MemoryCount::ResidentSum => {
            Some("several processes; what they share counts in each, because this record has no proportional figure")
        }
    }
}
