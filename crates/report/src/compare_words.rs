//! Words about a comparison that the terminal and Markdown share.

use model::{Cell, CompareAnalysis, CompareRow, ComparisonVerdict, GateResult, GateVerdict, Measured, Metric};

use crate::conditions::conditions;
use crate::format::{counted, elapsed, quantity};
use crate::words::{self, machine, mark_meaning, words};

/// One metric of both servers.
pub(crate) struct Line {
    pub(crate) metric: String,
    pub(crate) old: String,
    pub(crate) new: String,
    /// `+5.1 %`.
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
        _ if analysis.saved_loads && analysis.interleaved => format!("{launches} of each, taken in turn"),
        _ if analysis.saved_loads => format!("{launches} of each"),
        Some(seed) if analysis.interleaved => format!("{launches} of each, interleaved, seed {seed}"),
        _ => format!("{launches} of each, in two runs"),
    };
    let environment = &analysis.environment;
    let mut parts = vec![how, machine(environment), environment.started_at.chars().take(10).collect()];
    parts.extend(analysis.elapsed_s.map(elapsed));
    parts.retain(|part| !part.is_empty());
    parts
}

fn launches(analysis: &CompareAnalysis) -> String {
    let (one, many) = if analysis.saved_loads { ("load", "loads") } else { ("launch", "launches") };
    counted(analysis.blocks.into(), one, many)
}

/// What takes sureness away from all that follows.
pub(crate) fn cautions(analysis: &CompareAnalysis) -> Vec<String> {
    let mut said = Vec::new();
    if analysis.blocks < 6 {
        let blocks = launches(analysis);
        said.push(format!("Preliminary: {blocks} of each, a verdict needs six. These figures carry no verdict."));
    }
    if analysis.saved_loads {
        said.push(if analysis.blocks < 2 {
            "One load of each says nothing of how much the next would differ: the ratios have no interval.".to_owned()
        } else {
            "Each load counts as one launch of its server. Loads of one and the same process know nothing of how \
             launches differ: start the server anew before each."
                .to_owned()
        });
    }
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
    let several = groups(analysis).len() > 1;
    let named = |row: &CompareRow, with_change: bool| {
        let mut text = name(row.metric).to_owned();
        if with_change && let Some((change, interval)) = change(&row.ratio) {
            text.push_str(&format!(" {change} {interval}"));
        }
        if several {
            text.push_str(&format!(" with {}", conditions(&row.conditions)));
        }
        text
    };
    let of = |verdict, with_change| {
        let rows = analysis.rows.iter().filter(|row| row.verdict == verdict);
        rows.map(|row| named(row, with_change)).collect::<Vec<String>>()
    };
    let margin = (analysis.margin * 1e3).round() / 10.0;
    [
        (Slower, of(Slower, true), "Worse".to_owned()),
        (Faster, of(Faster, true), "Better".to_owned()),
        (Same, of(Same, false), format!("The same within {margin} %")),
        (Inconclusive, of(Inconclusive, false), "Not told apart".to_owned()),
    ]
    .into_iter()
    .filter(|(_, rows, _)| !rows.is_empty())
    .map(|(verdict, rows, words)| (verdict, format!("{words}: {}.", rows.join(", "))))
    .collect()
}

/// The rows by their conditions, in order of first appearance.
pub(crate) fn groups(analysis: &CompareAnalysis) -> Vec<(String, Vec<Line>)> {
    let mut all: Vec<&Cell> = Vec::new();
    for row in &analysis.rows {
        if !all.contains(&&row.conditions) {
            all.push(&row.conditions);
        }
    }
    let group = |at: &Cell| {
        let rows = analysis.rows.iter().filter(|row| row.conditions == *at);
        (conditions(at), rows.map(line).collect())
    };
    all.into_iter().map(group).collect()
}

fn line(row: &CompareRow) -> Line {
    let value =
        |measured: &Measured| measured.estimate.map_or("–".to_owned(), |value| quantity(value, &measured.unit));
    let (change, interval) = change(&row.ratio).unwrap_or(("–".to_owned(), String::new()));
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

/// The verdict on the new server. What is no speed is not called slow.
fn verdict(row: &CompareRow) -> &'static str {
    let speed = matches!(row.metric.unit(), "requests/s" | "us" | "ms") && row.metric != Metric::CpuPerRequest;
    let amount = !speed;
    match row.verdict {
        ComparisonVerdict::Faster if amount => "needs less",
        ComparisonVerdict::Slower if amount => "needs more",
        ComparisonVerdict::Faster => "faster",
        ComparisonVerdict::Slower => "slower",
        ComparisonVerdict::Same => "same",
        ComparisonVerdict::Inconclusive => "inconclusive",
    }
}

/// A ratio as a change in per cent, and its interval; none when nothing was estimated.
fn change(ratio: &Measured) -> Option<(String, String)> {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let estimate = ratio.estimate?;
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else {
        return Some((format!("{:+.1} %", percent(estimate)), String::new()));
    };
    let width = percent(high) - percent(low);
    let decimals = if width < 0.2 {
        2
    } else if width < 20.0 {
        1
    } else {
        0
    };
    let shown = |ratio: f64| format!("{:+.decimals$}", percent(ratio));
    Some((format!("{} %", shown(estimate)), format!("({} to {})", shown(low), shown(high))))
}

pub(crate) fn gate_verdict(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Held => "held",
        GateVerdict::Broken => "broken",
        GateVerdict::Undecided => "undecided",
    }
}

/// `cpu_per_request<+3%: +5.1 % (+4.4 to +5.8)`.
pub(crate) fn gate(result: &GateResult) -> String {
    let at = conditions(&result.conditions);
    let place = if at.is_empty() { String::new() } else { format!(" with {at}") };
    let seen = change(&result.ratio)
        .map_or("not measured".to_owned(), |(change, interval)| format!("{change} {interval}").trim_end().to_owned());
    format!("{}{place}: {seen}", result.gate)
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
            change(&found.ratio).map(|(change, interval)| format!("{} {change} {interval}", name(found.metric)))
        })
        .collect();
    if !itself.is_empty() {
        said.push(format!("The session's noise, one of them against itself: {}.", itself.join(", ")));
    }
    let repeated = analysis.session.repeated.iter().map(|block| block.text.clone()).collect::<Vec<_>>();
    if !repeated.is_empty() {
        let blocks = counted(repeated.len() as u64, "block", "blocks");
        said.push(format!("{blocks} launched again, for the machine was disturbed: {}.", repeated.join("; ")));
    }
    let marks = analysis.session.marks.iter();
    said.extend(marks.map(|note| format!("{} ({}): {}", words(note.mark.id()), mark_meaning(note.mark), note.text)));
    said
}

/// The void launches.
pub(crate) fn void_trials(analysis: &CompareAnalysis) -> Vec<String> {
    let count = analysis.trials;
    let mut said = Vec::new();
    if count.void > 0 {
        said.push(format!("{} of {} launches void:", count.void, count.total));
    }
    said.extend(words::void_trials(&analysis.void_trials, conditions));
    said
}
