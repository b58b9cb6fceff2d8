//! What became of a gate, in words.

use model::{Arm, CompareAnalysis, CompareRow, GateResult, GateVerdict};

use crate::asker::Asker;
use crate::change_words::{change_of, with_interval};
use crate::compare_launches::without_launches;
use crate::compare_row::with;
use crate::format::counted;
use crate::more_blocks::Blocks;
use crate::withheld::{because, cure_of, longer_window};

pub(crate) fn verdict(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Held => "passed",
        GateVerdict::Broken => "failed",
        GateVerdict::Undecided => "undecided",
    }
}

/// What became of `cpu_per_request<+3%`: ` with 100 connections: +5.1 % (+4.4 to +5.8)`, and what would settle it.
pub(crate) fn seen(result: &GateResult, analysis: &CompareAnalysis) -> (String, String) {
    let place = with(&result.conditions);
    let of_gate = |row: &&CompareRow| row.metric == result.metric && row.conditions == result.conditions;
    let row = analysis.rows.iter().find(of_gate);
    let seen = change_of(&result.ratio, result.difference.as_ref(), result.in_doubt.as_ref());
    let seen =
        seen.map_or_else(|| not_measured(result, analysis), |(change, interval)| with_interval(&change, &interval));
    let is_narrower_in_table = result.in_doubt.is_some() && row.is_some_and(|row| row.withheld.is_none());
    let why = result.withheld.map_or(String::new(), |why| {
        let of = &result.withheld_of;
        let cure = cure_of(why, of, analysis).map_or(String::new(), |cure| format!(". What would settle it: {cure}"));
        // The table shows a verdict that holds with the doubt by the interval without it.
        let allowed = if is_narrower_in_table { ", what is in doubt allowed for" } else { "" };
        format!("{allowed}; inconclusive, because {}{cure}", because(why, of))
    });
    let blocks = Blocks::of_comparison(analysis);
    let is_open = result.verdict == GateVerdict::Undecided && result.withheld.is_none();
    let row = row.filter(|row| is_open && row.is_measured());
    let few = row.and_then(|row| blocks.too_few_of(row.blocks)).map(|few| format!("; {}", lowered(&few)));
    let needed = result.needs_blocks.map(|needed| format!("; {}", blocks.needed(needed)));
    (place, format!("{seen}{why}{}{}", few.unwrap_or_default(), needed.unwrap_or_default()))
}

/// `not measured`, and of a quantile how many requests it needs, where both servers were measured. What is broken without a change
/// fell to nothing.
fn not_measured(result: &GateResult, analysis: &CompareAnalysis) -> String {
    match result.verdict {
        GateVerdict::Broken => return "the new one served nothing in any launch".to_owned(),
        GateVerdict::Held => return "0 in every launch of both".to_owned(),
        GateVerdict::Undecided => {}
    }
    let has_launches = |arm: Arm| analysis.cells.iter().any(|of| of.arm == arm && of.cell.trials > 0);
    if !(has_launches(Arm::Old) && has_launches(Arm::New)) {
        return format!("not measured: {}", without_launches(analysis));
    }
    result.metric.required_samples().map_or("not measured".to_owned(), |needed| {
        let requests = counted(needed, "request", "requests");
        let asker = Asker::from(analysis.form);
        let cure = asker.anew(longer_window(asker));
        format!("not measured, because it needs {requests} in each launch. What would settle it: {cure}")
    })
}

fn lowered(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_lowercase())
}
