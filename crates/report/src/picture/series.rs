//! What a table is about, one by one: the targets of a run, or the old and the new one of a comparison.

use model::{Cell, CellAnalysis, CellLaunch, CompareAnalysis, LaunchUse, Measured, Metric, Population, VoidTrial};

use crate::compare_words::{self, Line};
use crate::mark_words::arm_words;
use crate::rows::Group;
use crate::words::bracketed;

/// What pictures of a table have in common.
pub(crate) struct About<'a> {
    /// The conditions of the table.
    pub(crate) title: &'a str,
    /// What takes sureness away from all of it.
    pub(crate) cautions: &'a [String],
    /// Void launches with the reason, a sentence each.
    pub(crate) void: Vec<String>,
    /// From what it was made.
    pub(crate) made: &'a str,
}

/// A row of a table with its launches.
pub(crate) struct Series<'a> {
    pub(crate) name: String,
    pub(crate) cell: &'a CellAnalysis,
}

/// The rows of a table of a run.
pub(crate) fn of_group<'a>(group: &Group<'a>) -> Vec<Series<'a>> {
    group.rows.iter().map(|row| Series { name: row.name.join(", "), cell: row.cell }).collect()
}

/// The cells of both servers under the conditions of a table: of its rows, the first stands for all.
pub(crate) fn of_comparison<'a>(analysis: &'a CompareAnalysis, conditions: &Cell) -> Vec<Series<'a>> {
    let of = analysis.cells.iter().filter(|of| of.cell.levels.matches(conditions));
    of.map(|of| Series { name: arm_words(of.arm).to_owned(), cell: &of.cell }).collect()
}

/// A table's rows under the words of their conditions.
pub(crate) struct Rows<'a> {
    pub(crate) title: String,
    pub(crate) series: Vec<Series<'a>>,
}

impl Rows<'_> {
    /// The name of a row among those of all tables.
    pub(crate) fn name(&self, one: &Series<'_>) -> String {
        format!("{}{}", one.name, bracketed(&self.title))
    }
}

/// Those of all tables of a run.
pub(crate) fn rows_of_run<'a>(groups: &[Group<'a>]) -> Vec<Rows<'a>> {
    groups.iter().map(|group| Rows { title: group.title.clone(), series: of_group(group) }).collect()
}

/// Those of all tables of a comparison.
pub(crate) fn rows_of_comparison(analysis: &CompareAnalysis) -> Vec<Rows<'_>> {
    let of = |(title, lines): (String, Vec<Line<'_>>)| {
        let series = lines.first().map(|line| of_comparison(analysis, &line.row.conditions)).unwrap_or_default();
        Rows { title, series }
    };
    compare_words::groups(analysis).into_iter().map(of).collect()
}

/// The void launches of these.
pub(crate) fn void_of(series: &[Series<'_>], all: &[VoidTrial]) -> Vec<VoidTrial> {
    all.iter().filter(|trial| series.iter().any(|one| one.cell.levels == trial.levels)).cloned().collect()
}

/// The launches that make the figures of a cell.
pub(crate) fn counted(cell: &CellAnalysis) -> impl Iterator<Item = &CellLaunch> {
    cell.launches.iter().filter(|launch| launch.used == LaunchUse::Counts && !launch.twin)
}

impl Series<'_> {
    /// The launches that make its figures.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &CellLaunch> {
        counted(self.cell)
    }

    /// Whether its quantile at `q` is only a lower bound, because it is one in some launch.
    pub(crate) fn is_bound(&self, q: f64) -> bool {
        self.counted().any(|launch| launch.quantile_us(q).is_some_and(|us| launch.latency.is_lower_bound(us)))
    }
}

/// By which figure the launches of a table are shown: where the rate is given, by how long the replies take.
pub(crate) fn metric(series: &[Series<'_>]) -> Metric {
    let is_open = |one: &Series| one.cell.latency_us.population == Population::Response;
    if series.iter().any(is_open) { Metric::P99 } else { Metric::Throughput }
}

/// The figure of a cell by that metric.
pub(crate) fn figure(cell: &CellAnalysis, metric: Metric) -> &Measured {
    if metric == Metric::P99 { &cell.latency_us.p99 } else { &cell.throughput }
}
