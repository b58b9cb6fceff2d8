use maud::{Markup, html};
use model::{CompareAnalysis, ComparisonVerdict, GateVerdict, Timeline};

use super::{bad, cautions, class, frame, launches, list, of_table, over_time, profile, table, text};
use crate::compare_answer;
use crate::compare_question::question;
use crate::compare_words::{self as say, Line};
use crate::gate_words;
use crate::picture::Picture;
use crate::picture::chosen::by_trial;
use crate::picture::series::{of_comparison, rows_of_comparison};

/// The page of a comparison, in the order of the terminal's.
pub(super) fn page(
    analysis: &CompareAnalysis,
    pictures: &[Picture],
    timelines: &[Timeline],
    index: Option<&str>,
) -> String {
    let (rows, timelines) = (rows_of_comparison(analysis), by_trial(timelines));
    let tables = say::groups(analysis).len();
    let content = html! {
        (header(analysis))
        (gates(analysis))
        section #figures {
            h2 { "Figures" }
            @for (at, (title, lines)) in say::groups(analysis).iter().enumerate() {
                section { div.whole { (figures(title, lines)) } (of_table(pictures, (at, tables))) (every(analysis, title, lines)) }
            }
        }
        (over_time::section(&rows, &timelines, &analysis.void_trials, pictures))
        (profile::section(&rows, &timelines, pictures))
        section #notes { h2 { "Notes" } (list(say::session(analysis))) (list(say::void_trials(analysis))) }
    };
    frame::page(&question(analysis), &analysis.environment, &content, index)
}

fn header(analysis: &CompareAnalysis) -> Markup {
    let (tint, answer) = compare_answer::of_comparison(analysis);
    html! {
        header {
            h1 { (text(&question(analysis))) }
            (bad(&say::bad(analysis)))
            p.answer.(class(tint)) { (text(&answer)) }
            (cautions(say::cautions(analysis)))
            ul.summary {
                @for (verdict, said) in say::summary(analysis) { li.(of_verdict(verdict)) { (text(&said)) } }
            }
            p.dim { (text(&say::header(analysis).join(" · "))) }
        }
    }
}

/// Two that are judged the same look the same: no colour says who is ahead.
fn of_verdict(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Faster => "good",
        ComparisonVerdict::Slower => "bad",
        ComparisonVerdict::Same => "",
        ComparisonVerdict::Inconclusive => "unsure",
    }
}

fn gates(analysis: &CompareAnalysis) -> Markup {
    let tint = |verdict: GateVerdict| match verdict {
        GateVerdict::Held => "good",
        GateVerdict::Broken => "bad",
        GateVerdict::Undecided => "unsure",
    };
    html! {
        @if !analysis.gates.is_empty() {
            section #gates {
                h2 { "Gates" }
                ul.summary {
                    @for gate in &analysis.gates {
                        @let (place, seen) = gate_words::seen(gate, analysis);
                        li.(tint(gate.verdict)) {
                            strong.verdict { (gate_words::verdict(gate.verdict)) } " "
                            code { (text(&gate.gate)) } " " (text(&format!("{place}: {seen}")))
                        }
                    }
                }
            }
        }
    }
}

/// The verdict is next to what it is about: on a telephone the last columns are out of sight.
fn figures(title: &str, lines: &[Line<'_>]) -> Markup {
    let header = [
        (if title.is_empty() { "figure" } else { title }, false),
        ("verdict", false),
        ("change", true),
        (say::interval_title(lines), true),
        ("old", true),
        ("new", true),
    ];
    let row = |found: &Line<'_>| {
        [&found.metric, &found.verdict, &found.change, &found.interval, &found.old, &found.new]
            .map(Clone::clone)
            .to_vec()
    };
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    table(if title.is_empty() { "All figures" } else { title }, &header, &rows, 1)
}

fn every(analysis: &CompareAnalysis, title: &str, lines: &[Line<'_>]) -> Markup {
    let series = lines.first().map(|line| of_comparison(analysis, &line.row.conditions)).unwrap_or_default();
    launches::of(title, &series)
}
