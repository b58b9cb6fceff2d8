//! Which target serves a stated need best, in words.

use std::collections::BTreeSet;

use model::{Analysis, CellAnalysis, CloseBelow, Metric, Population, QuantileAbove, SHARE_OF_THE_QUICK, Standing};

use crate::cell_words::{cpu, memory, with_failures};
use crate::conditions::Conditions;
use crate::format::{duration_us, number, percent};
use crate::words::{at_least, bracketed, latency, listed};

/// A need with who serves it best, and under which conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// `most requests a second`.
    pub(crate) need: &'static str,
    /// `a: 9,159 requests/s`, `a and b are too close to call`.
    pub(crate) best: String,
    /// The conditions of these ranks; empty where there are no others.
    pub(crate) under: Vec<String>,
}

/// What is to be known of all of them.
pub(crate) fn meaning(analysis: &Analysis) -> String {
    let models: Vec<String> = analysis.reconstructions.iter().map(|it| it.target.clone()).collect();
    let left_out = match models.len() {
        0 => String::new(),
        1 => format!(" {} is left out: a reconstruction is nobody's choice.", models[0]),
        _ => format!(" {} are left out: reconstructions are nobody's choice.", listed(&models)),
    };
    format!("{MEANING}{left_out}")
}

const MEANING: &str = "By rank on this machine, under these conditions. Too close to call: no difference was \
                                  shown, though there may be one; listed alphabetically. Undecided: what is known does \
                                  not show which is first.";

/// At most so many whose order is open are named.
const MOST_NAMED: usize = 4;

/// Every need for which there are ranks. Conditions under which the answer is the same stand together.
pub(crate) fn choices(analysis: &Analysis, conditions: &Conditions) -> Vec<Answer> {
    let mut choices: Vec<Answer> = Vec::new();
    let is_model = |target: &str| analysis.reconstructions.iter().any(|it| it.target == target);
    let targets = analysis.cells.iter().map(|cell| cell.levels.target());
    let measured: BTreeSet<&str> = targets.filter(|target| !is_model(target)).collect();
    for judged in &analysis.choices {
        let is_one = |cell: &&CellAnalysis| {
            cell.levels.conditions() == judged.conditions && judged.among.iter().any(|it| it == cell.levels.target())
        };
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(is_one).collect();
        let Some(need) = need(judged.metric, &cells) else { continue };
        let best = best(judged, &cells, analysis.margin);
        let under = conditions.title(&judged.conditions) + &some_only(&judged.among, &measured);
        match choices.iter_mut().find(|known| known.need == need && known.best == best) {
            Some(known) => known.under.push(under),
            None => choices.push(Answer { need, best, under: vec![under] }),
        }
    }
    choices.iter_mut().for_each(|choice| choice.under.retain(|under| !under.is_empty()));
    choices
}

/// ` (a and b only)` where others were measured under other conditions alone.
fn some_only(among: &[String], measured: &BTreeSet<&str>) -> String {
    let here: BTreeSet<&str> = among.iter().map(String::as_str).collect();
    if here == *measured {
        return String::new();
    }
    bracketed(&format!("{} only", listed(&here.into_iter().map(str::to_owned).collect::<Vec<_>>())))
}

/// What is wanted, in words; none of a metric that nobody asks for.
fn need(metric: Metric, cells: &[&CellAnalysis]) -> Option<&'static str> {
    let is_given = cells.iter().any(|cell| cell.latency_us.population == Population::Response);
    match metric {
        Metric::Throughput => Some("most requests a second"),
        Metric::P99 if is_given => Some("lowest p99 at the rate asked"),
        Metric::P99 => Some("lowest p99, each at its own rate"),
        Metric::CpuPerRequest => Some("least CPU a request"),
        Metric::PeakMemory => Some("least memory"),
        Metric::TimeToReady => Some("quickest start"),
        _ => None,
    }
}

fn best(judged: &model::Choice, cells: &[&CellAnalysis], margin: f64) -> String {
    let named = || with_figures(judged.metric, cells, &judged.best);
    let mut said = match judged.standing {
        Standing::One => alone(judged.metric, cells, &judged.best),
        Standing::Same => format!("{} are the same within {}", named(), percent(margin)),
        Standing::TooClose => format!("{} are too close to call", named()),
        Standing::Undecided if (1..=MOST_NAMED).contains(&judged.best.len()) => {
            format!("undecided between {}", named())
        }
        Standing::Undecided => "undecided".to_owned(),
    };
    for CloseBelow { target, to, same } in &judged.close {
        said += &match same {
            true => format!("; {target} is the same within {} as {}, too", percent(margin), listed(to)),
            false => format!("; {target} is too close to call with {}, too", listed(to)),
        };
    }
    if !judged.of_the_quick.is_empty() {
        let named = with_figures(judged.metric, cells, &judged.of_the_quick);
        const { assert!(SHARE_OF_THE_QUICK == 0.5, "it is called half") };
        said += &format!("; of those that serve at least half as much as the quickest: {named}");
    }
    for QuantileAbove { target, quantile } in &judged.above {
        said += &format!("; {} of {target} is higher already", quantile.id());
    }
    said
}

/// `a: 9,159 requests/s`.
fn alone(metric: Metric, cells: &[&CellAnalysis], targets: &[String]) -> String {
    let named = |target: &String| match figure_of(metric, cells, target) {
        Some(figure) => format!("{target}: {figure}"),
        None => target.clone(),
    };
    listed(&targets.iter().map(named).collect::<Vec<_>>())
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

impl Answer {
    /// The conditions in words.
    pub(crate) fn conditions(&self) -> String {
        self.under.join("; ")
    }
}

/// Whether some answer holds under some conditions alone.
pub(crate) fn has_conditions(choices: &[Answer]) -> bool {
    choices.iter().any(|choice| !choice.under.is_empty())
}
