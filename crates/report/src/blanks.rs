//! Why a table has no figure where it has none, and what its memory counts.

use model::{CellAnalysis, Mark, MemoryCount, Population};

use crate::answer::LAUNCHES_FOR_A_VERDICT;
use crate::rows::{Group, Place, Row};
use crate::words::either;

/// Why a figure is missing, a sentence each: `CPU/request – for a: …`.
pub(crate) fn missing(group: &Group<'_>) -> Vec<String> {
    let columns: [(&str, Why); 4] =
        [("no p99", no_p99), ("latency –", no_latency), ("CPU/request –", no_cpu), ("memory –", no_memory)];
    let all: Vec<&Row> = group.rows.iter().collect();
    columns
        .into_iter()
        .flat_map(|(column, why)| of_column(&all, column, |row| why(row.cell).map(str::to_owned)))
        .collect()
}

/// Why a row has no rank, a sentence for each reason: `rank – for a: …`. Nothing where no row has the launches for one: that
/// stands at the top.
pub(crate) fn unranked(group: &Group<'_>) -> Vec<String> {
    let may_rank = group.rows.iter().any(|row| row.cell.trials >= LAUNCHES_FOR_A_VERDICT);
    let unranked: Vec<&Row> =
        group.rows.iter().filter(|row| may_rank && row.place == Place::Open && row.disturbed.is_none()).collect();
    of_column(&unranked, "rank –", |row| Some(no_rank(row, group)))
}

/// Why a cell has no figure in a column, where it has none.
type Why = fn(&CellAnalysis) -> Option<&'static str>;

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

fn serves_nothing(cell: &CellAnalysis) -> bool {
    cell.throughput.estimate == Some(0.0)
}

fn no_latency(cell: &CellAnalysis) -> Option<&'static str> {
    let latency = &cell.latency_us;
    let none = [&latency.p99, &latency.p90, &latency.p50].into_iter().all(|quantile| quantile.estimate.is_none());
    if none && latency.failed_share > 0.5 {
        return Some("more than half of a launch's requests failed, and those have no time");
    }
    none.then_some("a launch had fewer than the 6 requests that even a median needs: a longer window has more")
}

fn no_p99(cell: &CellAnalysis) -> Option<&'static str> {
    let latency = &cell.latency_us;
    let lower = latency.p90.estimate.or(latency.p50.estimate);
    if latency.failed_share > 0.01 {
        return (latency.p99.estimate.is_none() && lower.is_some())
            .then_some("more than 1 % of a launch's requests failed, and those have no time");
    }
    (latency.p99.estimate.is_none() && lower.is_some())
        .then_some("a launch had fewer than the 368 requests that it needs: a longer window has more")
}

fn no_cpu(cell: &CellAnalysis) -> Option<&'static str> {
    if cell.cpu_us_per_request.estimate.is_some() {
        None
    } else if cell.target_busy.is_none() {
        Some("the target was not watched")
    } else if serves_nothing(cell) {
        Some("nothing was served")
    } else {
        Some(
            "the target used too little CPU in a window to count it (10 ms; 0.1 s where the kernel counts in ticks): a longer \
             window would show it",
        )
    }
}

fn no_memory(cell: &CellAnalysis) -> Option<&'static str> {
    cell.peak_memory_bytes.estimate.is_none().then_some("the target was not watched")
}

/// Why a target has no rank: what is wrong or in doubt of its own figure, who may be above it, or that nobody is left to be
/// above or below.
fn no_rank(row: &Row<'_>, group: &Group<'_>) -> String {
    let is_rival = |other: &&Row| other.name != row.name && other.cell.trials > 0 && !other.cell.failing.bad;
    match in_doubt(row.cell) {
        Some(own) => own.to_owned(),
        None if !row.open.is_empty() => format!("whether it is above or below {} is open", either(&row.open)),
        None if group.rows.iter().any(|other| is_rival(&other)) => {
            "it is too close to one whose place is open".to_owned()
        }
        None => "no other here can be ranked".to_owned(),
    }
}

fn in_doubt(cell: &CellAnalysis) -> Option<&'static str> {
    let is = |marks: &[Mark]| cell.marks.iter().any(|note| marks.contains(&note.mark));
    let is_open = cell.latency_us.population == Population::Response;
    Some(if cell.failing.bad {
        "it failed, as is said above"
    } else if cell.trials < LAUNCHES_FOR_A_VERDICT {
        "fewer than six launches count"
    } else if cell.at_least {
        "only a lower bound is known"
    } else if is_open && cell.latency_us.p99.estimate.is_none() {
        "it has no p99"
    } else if is_open && cell.latency_us.censored {
        "its p99 is only a lower bound"
    } else if is(&[Mark::Cold, Mark::WarmUp]) {
        "it was not warm yet"
    } else if is(&[Mark::Thin]) {
        "it completed so few requests that the edges of the window weigh"
    } else {
        return None;
    })
}

/// What memory counts, where targets have several processes.
pub(crate) fn memory(group: &Group<'_>) -> Vec<String> {
    let of = |count: MemoryCount| {
        let meant = |row: &&Row| row.cell.memory_count == count && row.cell.trials > 0;
        let rows: Vec<String> = group.rows.iter().filter(meant).map(name).collect();
        memory_words(count).filter(|_| !rows.is_empty()).map(|words| format!("memory of {}: {words}", rows.join(", ")))
    };
    [MemoryCount::Proportional, MemoryCount::ResidentSum].into_iter().filter_map(of).collect()
}

/// What a figure of memory counts, where it is not the resident pages of one process.
pub(crate) fn memory_words(count: MemoryCount) -> Option<&'static str> {
    match count {
        MemoryCount::Resident => None,
        MemoryCount::Proportional => Some("several processes; what they share counts once (proportional, PSS)"),
        MemoryCount::ResidentSum => {
            Some("several processes; what they share counts in each, because this record has no proportional figure")
        }
    }
}
