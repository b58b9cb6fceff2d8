//! Words about a comparison that the terminal and Markdown share.

use model::{
    Arm, CellAnalysis, CompareAnalysis, CompareRow, ComparedCell, ComparisonVerdict, GateResult, GateVerdict, Mark,
    Measured, Metric, Withheld, alike,
};

use crate::blanks::memory_words;
use crate::conditions::conditions;
use crate::format::{counted, elapsed, quantity};
use crate::more_blocks::Blocks;
use crate::page::unbroken;
use crate::words::{self, machine, mark_meaning, words};

/// One metric of both servers.
pub(crate) struct Line {
    pub(crate) metric: String,
    pub(crate) old: String,
    pub(crate) new: String,
    /// `+5.1 %`, or `+36.0 points` of a share.
    pub(crate) change: String,
    /// `(+4.4 to +5.8)`.
    pub(crate) interval: String,
    pub(crate) verdict: String,
}

pub(crate) fn question(analysis: &CompareAnalysis) -> String {
    format!("Is {} slower than {}?", analysis.new, analysis.old)
}

/// How often, how, where, when, how long.
pub(crate) fn header(analysis: &CompareAnalysis) -> Vec<String> {
    let launches = launches(analysis);
    let how = match analysis.seed {
        _ if analysis.saved_loads && analysis.interleaved => format!("{launches}, taken in turn"),
        _ if analysis.saved_loads => launches,
        Some(seed) if analysis.interleaved => format!("{launches}, interleaved, seed {seed}"),
        _ => format!("{launches}, in two runs"),
    };
    let environment = &analysis.environment;
    let mut parts = vec![how, machine(environment), environment.started_at.chars().take(10).collect()];
    parts.extend(analysis.elapsed_s.map(elapsed));
    parts.splice(1..1, words::not_up(analysis.trials));
    parts.retain(|part| !part.is_empty());
    parts
}

/// `6 launches of each`, or of saved loads `3 and 1 loads`.
fn launches(analysis: &CompareAnalysis) -> String {
    let (one, many) = if analysis.saved_loads { ("load", "loads") } else { ("launch", "launches") };
    match loads(analysis) {
        [old, new] if analysis.saved_loads && old != new => format!("{old} and {new} loads"),
        _ => format!("{} of each", counted(analysis.blocks.into(), one, many)),
    }
}

/// Said before the first launch, and of what came of it.
pub fn same_server(what: &str) -> String {
    format!("Both sides are the same server ({what}): whatever differs between them is noise.")
}

/// How many saved loads there are of the old one and of the new one; each side has one cell.
fn loads(analysis: &CompareAnalysis) -> [u32; 2] {
    [Arm::Old, Arm::New].map(|arm| {
        let of_arm = analysis.cells.iter().filter(|of| of.arm == arm);
        of_arm.map(|of| of.cell.trials + of.cell.void).sum()
    })
}

/// What takes sureness away from all that follows.
pub(crate) fn cautions(analysis: &CompareAnalysis) -> Vec<String> {
    let named: Vec<(String, &CellAnalysis)> = analysis.cells.iter().map(|of| (place(analysis, of), &of.cell)).collect();
    let mut said = words::bad_cells(&named);
    if analysis.blocks < 6 {
        let blocks = launches(analysis);
        said.push(format!("Preliminary: {blocks}, a verdict needs six. These figures carry no verdict."));
    }
    said.extend(analysis.same.as_deref().map(same_server));
    if analysis.saved_loads {
        let [old, new] = loads(analysis);
        said.push(if analysis.blocks < 2 {
            let few = match (old, new) {
                (..=1, ..=1) => "One load of each",
                (..=1, _) => "One load of the old one",
                (_, ..=1) => "One load of the new one",
                _ => "One usable load",
            };
            format!("{few} says nothing of how much the next would differ: the ratios have no interval.")
        } else {
            "Each load counts as one launch of its server. Loads of one and the same process know nothing of how \
             launches differ: start the server anew before each."
                .to_owned()
        });
    }
    said.extend(words::more_blocks(&analysis.blocks_before, analysis.blocks).map(|text| format!("{text}.")));
    if !analysis.interleaved {
        said.push(
            "The two were not measured in turn: whatever changed on the machine in between is in the ratios."
                .to_owned(),
        );
    }
    if !analysis.differences.is_empty() {
        said.push(format!("Compared although more differs than the server: {}.", analysis.differences.join("; ")));
    }
    said
}

/// What was found, the worst first: for each verdict the metrics that came to it.
pub(crate) fn summary(analysis: &CompareAnalysis) -> Vec<(ComparisonVerdict, String)> {
    use ComparisonVerdict::{Faster, Inconclusive, Same, Slower};
    let several = has_several_conditions(analysis);
    let blocks = Blocks::of_comparison(analysis);
    let named = |row: &CompareRow, with_change: bool| {
        let mut text = name(row.metric).to_owned();
        if with_change && let Some((change, interval)) = change(&row.ratio, row.difference.as_ref()) {
            text.push_str(&format!(" {}", with_interval(&change, &interval)));
        }
        if several {
            text.push_str(&format!(" with {}", conditions(&row.conditions)));
        }
        text
    };
    let came_to = |verdict| analysis.rows.iter().filter(move |row| row.verdict == verdict && row.withheld.is_none());
    let of = |verdict, with_change| came_to(verdict).map(|row| named(row, with_change)).collect::<Vec<String>>();
    let open = |settled: bool| {
        let rows: Vec<&CompareRow> =
            came_to(Inconclusive).filter(|row| is_narrow(row, analysis.margin) == settled).collect();
        let needed = |row: &CompareRow| row.needs_blocks.map(|needed| format!(", {}", blocks.needed(needed)));
        let texts: Vec<String> =
            rows.iter().map(|row| named(row, !settled) + &needed(row).unwrap_or_default()).collect();
        // What a row needs follows it after a comma.
        let is_long = rows.iter().any(|row| row.needs_blocks.is_some());
        if is_long { vec![texts.join("; ")] } else { texts }
    };
    let withheld = |why| {
        let rows = analysis.rows.iter().filter(|row| row.withheld == Some(why));
        (Inconclusive, rows.map(|row| named(row, true)).collect(), format!("No evidence, because {}", because(why)))
    };
    let margin = (analysis.margin * 1e3).round() / 10.0;
    [
        (Slower, of(Slower, true), "Worse".to_owned()),
        (Faster, of(Faster, true), "Better".to_owned()),
        (Same, of(Same, false), format!("The same within {margin} %")),
        (Inconclusive, open(true), "Too close to call".to_owned()),
        (Inconclusive, open(false), "Not settled".to_owned()),
    ]
    .into_iter()
    .chain(WITHHELD.map(withheld))
    .filter(|(_, rows, _)| !rows.is_empty())
    .map(|(verdict, rows, words)| (verdict, format!("{words}: {}.", rows.join(", "))))
    .collect()
}

/// Whether the interval is no wider than the band of what counts as the same. A wider one does not say that the two are
/// close, but that too little is known.
fn is_narrow(row: &CompareRow, margin: f64) -> bool {
    let bounds = |of: &Measured| of.low.zip(of.high);
    match &row.difference {
        Some(difference) => bounds(difference).is_some_and(|(low, high)| high - low <= 2.0 * SAME_POINTS),
        None => bounds(&row.ratio).is_some_and(|(low, high)| high <= low * (1.0 + margin).powi(2)),
    }
}

/// Two shares are the same within one point.
const SAME_POINTS: f64 = 0.01;

const WITHHELD: [Withheld; 11] = [
    Withheld::Zero,
    Withheld::Definition,
    Withheld::Cold,
    Withheld::Lateness,
    Withheld::Disturbed,
    Withheld::Failing,
    Withheld::AtLeast,
    Withheld::AtCeiling,
    Withheld::Edges,
    Withheld::Warming,
    Withheld::Censored,
];

/// Why a verdict is held back.
fn because(withheld: Withheld) -> &'static str {
    match withheld {
        Withheld::AtLeast => "the generator may have been the limit",
        Withheld::AtCeiling => "the handler delay allows no more",
        Withheld::Edges => "so few requests were completed that the edges of the window weigh as much",
        Withheld::Warming => "a server was still getting faster, so a longer warm-up gives other figures",
        Withheld::Censored => "requests were unfinished, so that a quantile is only a lower bound",
        Withheld::Failing => "more requests failed than may, and a failure may be quick and cheap",
        Withheld::Lateness => "much of the latency may be the generator's own",
        Withheld::Cold => "a server had less load before the window than it says it needs to be warm",
        Withheld::Definition => "the two runs count different things under the same name",
        Withheld::Zero => "a launch has a zero, to which nothing has a ratio",
        Withheld::Disturbed => "the machine was busy, which alone could have made it",
    }
}

/// `old`, or `old (100 connections)`.
fn place(analysis: &CompareAnalysis, of: &ComparedCell) -> String {
    let arm = match of.arm {
        Arm::Old => "old",
        Arm::New => "new",
    };
    let at = if has_several_conditions(analysis) { conditions(&of.cell.levels.conditions()) } else { String::new() };
    format!("{arm}{}", words::bracketed(&at))
}

/// What `run` would say of each cell: a line a mark, with the cells that have it.
pub(crate) fn marks(analysis: &CompareAnalysis) -> Vec<String> {
    let of = |mark: &Mark| {
        let note = |of: &ComparedCell| {
            let note = of.cell.marks.iter().find(|note| note.mark == *mark)?;
            Some(format!("{}: {}", place(analysis, of), note.text))
        };
        let cells: Vec<String> = analysis.cells.iter().filter_map(note).collect();
        let name = capitalised(&words(mark.id()));
        (!cells.is_empty()).then(|| format!("{name} ({}): {}.", mark_meaning(*mark), cells.join("; ")))
    };
    Mark::ALL.iter().filter_map(of).collect()
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}

/// The rows by their conditions, in order of first appearance.
pub(crate) fn groups(analysis: &CompareAnalysis) -> Vec<(String, Vec<Line>)> {
    let rows = &analysis.rows;
    let group = |places: Vec<usize>| {
        (conditions(&rows[places[0]].conditions), places.iter().map(|at| line(&rows[*at])).collect())
    };
    alike(rows.iter().map(|row| &row.conditions)).into_iter().map(group).collect()
}

/// Whether there are rows under several conditions.
fn has_several_conditions(analysis: &CompareAnalysis) -> bool {
    analysis.rows.windows(2).any(|pair| pair[0].conditions != pair[1].conditions)
}

fn line(row: &CompareRow) -> Line {
    let value =
        |measured: &Measured| measured.estimate.map_or("–".to_owned(), |value| quantity(value, &measured.unit));
    let (change, interval) = change(&row.ratio, row.difference.as_ref()).unwrap_or(("–".to_owned(), String::new()));
    Line {
        metric: name(row.metric).to_owned(),
        old: value(&row.old),
        new: value(&row.new),
        change,
        interval,
        verdict: verdict(row).to_owned(),
    }
}

/// A metric as people say it.
fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "throughput",
        Metric::Mean => "mean latency",
        Metric::P50 => "latency p50",
        Metric::P90 => "latency p90",
        Metric::P99 => "latency p99",
        Metric::P999 => "latency p99.9",
        Metric::CpuPerRequest => "CPU per request",
        Metric::SwitchesPerRequest => "context switches per request",
        Metric::ElapsedPerRequest => "elapsed time per request",
        Metric::PeakMemory => "peak memory",
        Metric::MemoryAtRest => "memory at rest",
        Metric::MemoryAfter => "memory after the load",
        Metric::PssAtRest => "proportional memory at rest",
        Metric::PssAfter => "proportional memory after the load",
        Metric::PeakHeap => "peak heap",
        Metric::Threads => "threads",
        Metric::Processes => "processes",
        Metric::Established => "established connections",
        Metric::AcceptQueue => "accept queue",
        Metric::ListenOverflows => "listen overflows",
        Metric::Units => "units of execution",
        Metric::NeverServed => "connections never served",
        Metric::GcCount => "garbage collections",
        Metric::GcPause => "pauses of garbage collection",
        Metric::ProfileShare => "share of the profile",
        Metric::Errors => "errors",
        Metric::TimeToReady => "time to ready",
    }
}

/// The verdict on the new server. What is not a speed is not called slow.
fn verdict(row: &CompareRow) -> &'static str {
    let [better, worse] = match row.metric {
        Metric::Errors => ["fewer", "more"],
        metric if metric.is_speed() => ["faster", "slower"],
        _ => ["uses less", "uses more"],
    };
    let word = match row.verdict {
        ComparisonVerdict::Faster => better,
        ComparisonVerdict::Slower => worse,
        ComparisonVerdict::Same => "same",
        ComparisonVerdict::Inconclusive => "inconclusive",
    };
    // The summary says why.
    if row.withheld.is_some() { "no evidence" } else { word }
}

/// A ratio as a change in per cent, or a difference of shares in percentage points, and its interval; none when nothing
/// was estimated.
fn change(ratio: &Measured, difference: Option<&Measured>) -> Option<(String, String)> {
    let (of, percent, unit): (_, fn(f64) -> f64, _) = match difference {
        Some(difference) => (difference, |share| 100.0 * share, "points"),
        None => (ratio, |ratio| 100.0 * (ratio - 1.0), "%"),
    };
    let estimate = of.estimate?;
    let (Some(low), Some(high)) = (of.low, of.high) else {
        return Some((format!("{:+.1} {unit}", percent(estimate)), String::new()));
    };
    let width = percent(high) - percent(low);
    let decimals = if width < 0.2 {
        2
    } else if width < 20.0 {
        1
    } else {
        0
    };
    let shown = |value: f64| format!("{:+.decimals$}", percent(value));
    Some((format!("{} {unit}", shown(estimate)), format!("({} to {})", shown(low), shown(high))))
}

/// `+5.1 % (+4.4 to +5.8)` for a sentence: without an interval nothing follows, and a number stays with its unit.
fn with_interval(change: &str, interval: &str) -> String {
    let change = unbroken(change);
    if interval.is_empty() { change } else { format!("{change} {interval}") }
}

pub(crate) fn gate_verdict(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Held => "held",
        GateVerdict::Broken => "broken",
        GateVerdict::Undecided => "undecided",
    }
}

/// `cpu_per_request<+3%: +5.1 % (+4.4 to +5.8)`, and what would settle it.
pub(crate) fn gate(result: &GateResult, analysis: &CompareAnalysis) -> String {
    let at = conditions(&result.conditions);
    let place = if at.is_empty() { String::new() } else { format!(" with {at}") };
    let seen = change(&result.ratio, result.difference.as_ref());
    let seen = seen.map_or("not measured".to_owned(), |(change, interval)| with_interval(&change, &interval));
    let why = result.withheld.map_or(String::new(), |why| format!("; no evidence, because {}", because(why)));
    let needed = result.needs_blocks.map(|needed| format!("; {}", Blocks::of_comparison(analysis).needed(needed)));
    format!("{}{place}: {seen}{why}{}", result.gate, needed.unwrap_or_default())
}

/// What the session says of itself.
pub(crate) fn session(analysis: &CompareAnalysis) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let itself: Vec<String> = analysis
        .session
        .itself
        .iter()
        .filter(|found| found.ratio.low.is_some())
        .filter_map(|found| {
            change(&found.ratio, None)
                .map(|(change, interval)| format!("{} {}", name(found.metric), with_interval(&change, &interval)))
        })
        .collect();
    if !itself.is_empty() {
        said.push(format!("The session's noise, one of them against itself: {}.", itself.join(", ")));
    }
    let repeated = analysis.session.repeated.iter().map(|block| block.text.clone()).collect::<Vec<_>>();
    if !repeated.is_empty() {
        let blocks = counted(repeated.len() as u64, "block", "blocks");
        said.push(format!("{blocks} launched again because the machine was busy: {}.", repeated.join("; ")));
    }
    said.extend(marks(analysis));
    let memory = |of: &ComparedCell| {
        let words = memory_words(of.cell.memory_count)?;
        Some(format!("Memory of {}: {words}.", place(analysis, of)))
    };
    said.extend(analysis.cells.iter().filter_map(memory));
    let marks = analysis.session.marks.iter();
    said.extend(
        marks.map(|note| {
            format!("{} ({}): {}", capitalised(&words(note.mark.id())), mark_meaning(note.mark), note.text)
        }),
    );
    said
}

/// The void launches.
pub(crate) fn void_trials(analysis: &CompareAnalysis) -> Vec<String> {
    let count = analysis.trials;
    let mut said = Vec::new();
    if count.void > 0 {
        let void = || format!("{} of {} launches void", count.void, count.total);
        said.push(format!("{}:", words::not_all_up(count, "server", "servers").unwrap_or_else(void)));
    }
    said.extend(words::void_trials(&analysis.void_trials, conditions));
    said
}
