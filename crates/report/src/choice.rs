//! Which target serves a stated need best, as far as ranks say: nobody where they do not.

use std::collections::BTreeSet;

use model::{Analysis, CellAnalysis, Comparison, ComparisonVerdict, Metric, Population, Rank, RankGroup};

use crate::cell_words::{cpu, memory, with_failures};
use crate::conditions::Conditions;
use crate::format::{duration_us, number};
use crate::words::{at_least, bracketed, latency, listed};

/// A need with who serves it best, and under which conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// `most requests a second`.
    pub(crate) need: &'static str,
    /// `a: 9,159 requests/s`, `a and b are tied`.
    pub(crate) best: String,
    /// The conditions of these ranks; empty where there are no others.
    pub(crate) under: Vec<String>,
}

/// What is to be known of all of them.
pub(crate) const MEANING: &str = "By rank on this machine, under these conditions. Tied: too close to call, listed \
                                  alphabetically. Undecided: the evidence does not show which is first.";

/// What somebody may want of a server, in the order in which it is told.
const NEEDS: [Metric; 5] =
    [Metric::Throughput, Metric::CpuPerRequest, Metric::P99, Metric::PeakMemory, Metric::TimeToReady];

/// A target that serves less than this share of what the quickest serves is named together with the best of the others.
const LEAST_SHARE: f64 = 0.5;

/// At most so many whose order is open are named.
const MOST_NAMED: usize = 4;

/// Every need for which there are ranks. Conditions under which the answer is the same stand together.
pub(crate) fn choices(analysis: &Analysis, conditions: &Conditions) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    if analysis.preliminary {
        return choices;
    }
    for metric in NEEDS {
        for group in analysis.groups.iter().filter(|group| group.metric == metric) {
            let cells: Vec<&CellAnalysis> =
                analysis.cells.iter().filter(|cell| cell.levels.conditions() == group.conditions).collect();
            // One alone leaves nothing to choose.
            let Some(need) = need(metric, &cells).filter(|_| cells.len() > 1) else { continue };
            let best = best(group, &cells, &analysis.comparisons);
            let under = conditions.title(&group.conditions) + &some_only(&cells, &analysis.cells);
            let known = choices.iter_mut().find(|known| known.need == need && known.best == best);
            match known {
                Some(known) => known.under.push(under),
                None => choices.push(Choice { need, best, under: vec![under] }),
            }
        }
    }
    choices.iter_mut().for_each(|choice| choice.under.retain(|under| !under.is_empty()));
    choices
}

/// ` (a and b only)` where others were measured under other conditions alone.
fn some_only(cells: &[&CellAnalysis], all: &[CellAnalysis]) -> String {
    let names = |cells: &mut dyn Iterator<Item = &CellAnalysis>| -> BTreeSet<String> {
        cells.map(|cell| cell.levels.target().to_owned()).collect()
    };
    let here = names(&mut cells.iter().copied());
    if here == names(&mut all.iter()) {
        return String::new();
    }
    bracketed(&format!("{} only", listed(&here.into_iter().collect::<Vec<_>>())))
}

/// What is wanted; none where nobody would ask: at a given rate all serve the same.
fn need(metric: Metric, cells: &[&CellAnalysis]) -> Option<&'static str> {
    let is_given = cells.iter().any(|cell| cell.latency_us.population == Population::Response);
    match metric {
        Metric::Throughput => (!is_given).then_some("most requests a second"),
        Metric::P99 if is_given => Some("lowest p99 at the rate asked"),
        Metric::P99 => Some("lowest p99, each at its own rate"),
        Metric::CpuPerRequest => Some("least CPU a request"),
        Metric::PeakMemory => Some("least memory"),
        Metric::TimeToReady => Some("quickest start"),
        _ => None,
    }
}

fn best(group: &RankGroup, cells: &[&CellAnalysis], comparisons: &[Comparison]) -> String {
    let mut first: Vec<String> =
        group.ranks.iter().filter(|rank| rank.rank == Some(1)).map(|rank| rank.target.clone()).collect();
    first.sort();
    let said = match &first[..] {
        [] => open(group, cells, comparisons),
        [only] => {
            figure_of(group.metric, cells, only).map_or_else(|| only.clone(), |figure| format!("{only}: {figure}"))
        }
        tied => format!("{} are tied", with_figures(group.metric, cells, tied)),
    };
    said + &close_to(&first, group, comparisons) + &of_the_quick(&first, group, cells)
}

/// `a (9,159 requests/s) and b (9,120 requests/s)`.
fn with_figures(metric: Metric, cells: &[&CellAnalysis], targets: &[String]) -> String {
    let named =
        |target: &String| format!("{target}{}", bracketed(&figure_of(metric, cells, target).unwrap_or_default()));
    listed(&targets.iter().map(named).collect::<Vec<_>>())
}

fn figure_of(metric: Metric, cells: &[&CellAnalysis], target: &str) -> Option<String> {
    figure(metric, cells.iter().find(|cell| cell.levels.target() == target)?)
}

/// Which is first of those that serve at least half as much as the quickest, where the first serve less: a server that serves next to
/// nothing needs little memory. Nothing where that is open.
fn of_the_quick(first: &[String], group: &RankGroup, cells: &[&CellAnalysis]) -> String {
    let rate = |cell: &CellAnalysis| cell.throughput.estimate.unwrap_or(0.0);
    let most = cells.iter().filter(|cell| !fails(cell)).map(|cell| rate(cell)).fold(0.0, f64::max);
    let is_quick = |target: &str| {
        let cell = cells.iter().find(|cell| cell.levels.target() == target);
        cell.is_some_and(|cell| !fails(cell) && rate(cell) >= LEAST_SHARE * most)
    };
    let is_given = cells.iter().any(|cell| cell.latency_us.population == Population::Response);
    if is_given || first.is_empty() || first.iter().any(|target| is_quick(target)) {
        return String::new();
    }
    // Best estimate first: one without a rank before the first that has one may be better.
    let mut quick = group.ranks.iter().filter(|rank| is_quick(&rank.target)).peekable();
    let Some(best) = quick.peek().and_then(|rank| rank.rank) else { return String::new() };
    let mut named: Vec<String> =
        quick.take_while(|rank| rank.rank == Some(best)).map(|rank| rank.target.clone()).collect();
    named.sort();
    let named = with_figures(group.metric, cells, &named);
    format!("; of those that serve at least half as much as the quickest: {named}")
}

/// Whether it takes no place, and puts nobody out.
fn fails(cell: &CellAnalysis) -> bool {
    cell.trials == 0 || cell.failing.bad
}

/// `; b is also tied with third`: those of lower rank that are too close to call with one of the first as a pair.
fn close_to(first: &[String], group: &RankGroup, comparisons: &[Comparison]) -> String {
    let of_group = comparisons.iter().filter(|of| of.metric == group.metric && of.conditions == group.conditions);
    let undecided: Vec<&Comparison> = of_group.filter(|of| of.is_undecided()).collect();
    let is_below =
        |name: &&String| group.ranks.iter().any(|rank| rank.target == **name && rank.rank.is_some_and(|rank| rank > 1));
    let close = |leader: &String| {
        let others = undecided.iter().filter_map(|of| match () {
            () if of.a == *leader => Some(&of.b),
            () if of.b == *leader => Some(&of.a),
            () => None,
        });
        let others: Vec<String> = others.filter(is_below).cloned().collect();
        (!others.is_empty()).then(|| format!("; {leader} is also tied with {}", listed(&others)))
    };
    first.iter().filter_map(close).collect()
}

/// Who may be first: those who were shown to do worse than another are out.
fn open(group: &RankGroup, cells: &[&CellAnalysis], comparisons: &[Comparison]) -> String {
    let of_group = || comparisons.iter().filter(|of| of.metric == group.metric && of.conditions == group.conditions);
    let takes_part =
        |target: &String| cells.iter().find(|cell| cell.levels.target() == target).is_some_and(|cell| !fails(cell));
    let is_out = |target: &String| {
        of_group().any(|of| match of.verdict {
            ComparisonVerdict::Faster => of.b == *target && takes_part(&of.a),
            ComparisonVerdict::Slower => of.a == *target && takes_part(&of.b),
            ComparisonVerdict::Same | ComparisonVerdict::Inconclusive => false,
        })
    };
    // Also who is too close to one whose place is open.
    let may_be_first = |rank: &&Rank| rank.rank.is_none() && takes_part(&rank.target) && !is_out(&rank.target);
    let mut left: Vec<String> = group.ranks.iter().filter(may_be_first).map(|rank| rank.target.clone()).collect();
    left.sort();
    match left.len() {
        2..=MOST_NAMED => format!("undecided between {}", with_figures(group.metric, cells, &left)),
        _ => "undecided".to_owned(),
    }
}

fn figure(metric: Metric, cell: &CellAnalysis) -> Option<String> {
    Some(match metric {
        Metric::Throughput => rate(cell)?,
        Metric::P99 => latency(cell.latency_us.p99.estimate?, cell.latency_us.censored) + &at_its_rate(cell),
        Metric::CpuPerRequest => {
            cell.cpu_us_per_request.estimate?;
            cpu(cell)
        }
        Metric::PeakMemory => {
            cell.peak_memory_bytes.estimate?;
            memory(cell) + &at_its_rate(cell)
        }
        Metric::TimeToReady => duration_us(1e3 * cell.time_to_ready_ms.estimate?),
        _ => return None,
    })
}

fn rate(cell: &CellAnalysis) -> Option<String> {
    let rate = format!("{} requests/s", number(cell.throughput.estimate?));
    Some(with_failures(at_least(cell.at_least, rate), cell.errors))
}

/// What it served meanwhile, where that is its own: who serves next to nothing needs little memory.
fn at_its_rate(cell: &CellAnalysis) -> String {
    let is_given = cell.latency_us.population == Population::Response;
    rate(cell).filter(|_| !is_given).map_or(String::new(), |rate| format!(" at {rate}"))
}

impl Choice {
    /// The conditions in words.
    pub(crate) fn conditions(&self) -> String {
        self.under.join("; ")
    }
}

/// Whether some answer holds under some conditions alone.
pub(crate) fn has_conditions(choices: &[Choice]) -> bool {
    choices.iter().any(|choice| !choice.under.is_empty())
}
