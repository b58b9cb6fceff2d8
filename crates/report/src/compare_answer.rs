//! The answer to "is the new one slower?", in the first sentence that a reader sees.

use model::{CompareAnalysis, CompareAnswer, CompareRow, ComparisonVerdict, GateResult, GateVerdict, Metric, Rotated};

use crate::answer::{NOTHING_YET, why_withheld};
use crate::compare_launches::{in_vain, launches, without_launches_and_why};
use crate::compare_open;
use crate::compare_row::{is_of_nothing, row_with_change};
use crate::compare_words::{SAME_SHARE, against, reason, same_within};
use crate::format::counted;
use crate::gate_words;
use crate::more_blocks::Blocks;
use crate::page::Tint;
use crate::reason_words::reason_words;
use crate::withheld::{because, cure_of, longer_window};

/// How many times as far as the primary metric another must have moved to be named beside it.
const FAR_MORE: f64 = 2.0;

/// The answer, with what became of the gates.
pub(crate) fn of_comparison(analysis: &CompareAnalysis) -> (Tint, String) {
    let Answer { tint, text, then } = figures(analysis);
    let gates = gates(&analysis.gates).map_or(String::new(), |said| format!("; {said}"));
    let came_to = |verdict| analysis.gates.iter().any(|gate| gate.verdict == verdict);
    let tint = match tint {
        _ if came_to(GateVerdict::Broken) => Tint::Bad,
        Tint::Good if came_to(GateVerdict::Undecided) => Tint::Unsure,
        tint => tint,
    };
    (tint, format!("{text}{gates}.{}", then.map_or(String::new(), |then| format!(" {then}."))))
}

/// A sentence without its full stop, and what there is to say after it.
struct Answer {
    tint: Tint,
    text: String,
    then: Option<String>,
}

impl Answer {
    fn new(tint: Tint, text: String) -> Self {
        Answer { tint, text, then: None }
    }
}

fn figures(analysis: &CompareAnalysis) -> Answer {
    match analysis.answer() {
        CompareAnswer::Nothing => {
            Answer::new(Tint::Bad, format!("Nothing could be compared: {}", without_launches_and_why(analysis)))
        }
        CompareAnswer::Unfinished => unfinished(analysis),
        CompareAnswer::Alike => though_alike(analysis),
        CompareAnswer::Worse | CompareAnswer::NotWorse | CompareAnswer::Undecided => verdicts(analysis),
    }
}

fn unfinished(analysis: &CompareAnalysis) -> Answer {
    if analysis.trials.total == 0 {
        let nothing = || NOTHING_YET.trim_end_matches('.').to_owned();
        return Answer::new(Tint::Unsure, set_aside(analysis).unwrap_or_else(nothing));
    }
    if analysis.ended_in_vain && analysis.unfinished.is_some() {
        let text = format!("Ended early: {}", in_vain(analysis));
        let then = Some("More launches would show the same".to_owned());
        return Answer { then, ..Answer::new(Tint::Bad, text) };
    }
    if let Some(asked) = analysis.unfinished {
        let text = format!("Not finished: {} of {asked} blocks are complete", analysis.blocks);
        let then = Some("An unfinished comparison has no verdict".to_owned());
        return Answer { then, ..Answer::new(Tint::Unsure, text) };
    }
    let text = format!("Preliminary: {}, a verdict needs six", launches(analysis));
    Answer { then: Some("These figures carry no verdict".to_owned()), ..Answer::new(Tint::Unsure, text) }
}

/// Of one server against itself: what came out as different all the same.
fn though_alike(analysis: &CompareAnalysis) -> Answer {
    use ComparisonVerdict::{Faster, Slower};
    let count = |verdict| analysis.rows.iter().filter(|row| row.verdict == verdict).count();
    let said = match (count(Slower), count(Faster)) {
        (worse, 0) => format!("{}{worse} of", largest(analysis, Slower)),
        (0, better) => format!("{}{better} of", largest(analysis, Faster)),
        (worse, better) => format!("{}{} of", largest(analysis, Slower), worse + better),
    };
    let figures = counted(analysis.rows.len() as u64, "figure", "figures");
    let text = format!("Both sides are the same server, and {said} {figures} came out as different");
    let then = "Chance alone does that in up to one such comparison of ten; if it comes out again, something treats the two unlike: a \
                database, a port, files that they share";
    Answer { then: Some(then.to_owned()), ..Answer::new(Tint::Unsure, text) }
}

/// Where there are launches in slices, and none alone that would count in their place.
fn set_aside(analysis: &CompareAnalysis) -> Option<String> {
    let why = analysis.cells.iter().find_map(|of| match &of.cell.rotation {
        Some(Rotated::Seen { reason, .. }) => Some(reason_words(reason)),
        _ => None,
    })?;
    Some(format!("Not finished: launches in slices do not count ({why}), and none alone is made yet"))
}

fn verdicts(analysis: &CompareAnalysis) -> Answer {
    use ComparisonVerdict::{Faster, Same, Slower};
    let of = |verdict| analysis.rows.iter().filter(move |row| row.verdict == verdict);
    let [worse, better, same] = [Slower, Faster, Same].map(|verdict| of(verdict).count());
    let against = against(analysis);
    let total = analysis.rows.len();
    let open = total - worse - better - same - against.len();
    let moved = if worse > 0 { against.len() } else { 0 };
    let most_moved = against.first().filter(|row| moved > 0 && Some(row.metric) != analysis.primary);
    let of_several = if moved > 1 { "most of all " } else { "" };
    let most_moved =
        most_moved.map_or(String::new(), |row| format!(" ({of_several}{})", row_with_change(row, analysis)));
    let are_in_doubt = if moved == 1 { "is" } else { "are" };
    let seemed = format!("more seemed worse but {are_in_doubt} in doubt{most_moved}");
    let others = |open: usize| {
        let counts = [(moved, seemed.as_str()), (better, "better"), (same, "the same"), (open, "inconclusive")];
        let said = counts.iter().filter(|(count, _)| *count > 0);
        said.map(|(count, words)| format!("{count} {words}")).collect::<Vec<_>>().join(", ")
    };
    let then = |before: &str, others: String| if others.is_empty() { others } else { format!("{before}{others}") };
    let figures = counted(total as u64, "figure", "figures");
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    match worse {
        0 if !against.is_empty() => moved_against(analysis, &against, &then("; ", others(open))),
        0 if open == 0 => {
            let none = format!("{}none of {figures} is worse", largest(analysis, Faster));
            Answer::new(Tint::Good, format!("No{}: {none}{}", unlike(analysis, Faster), then(", ", others(0))))
        }
        0 => {
            let far = || primary(analysis).and_then(|row| compare_open::furthest(row, analysis));
            let said = primary(analysis).into_iter().chain(leaning(analysis).or_else(far));
            let most: String = said.map(|row| format!("{}; ", known(row, analysis))).collect();
            let open = format!("{open} of {figures} {} inconclusive", are(open));
            let answer = match primary(analysis).map(|row| row.verdict) {
                Some(Faster) => "Better, as far as this shows",
                Some(Same) => "No, as far as this shows",
                _ => "Undecided",
            };
            let then_said = primary(analysis).and_then(|row| undecided(row, analysis));
            let text = format!("{answer}: {most}{open}{}", then(", ", others(0)));
            Answer { then: then_said, ..Answer::new(Tint::Unsure, text) }
        }
        _ => {
            // Requests that fail are not served: that is one fact, and not two.
            let fails = of(Slower).any(|row| row.metric == Metric::Errors);
            let is_slower = |row: &CompareRow| row.metric.is_speed() && !(fails && row.metric == Metric::Throughput);
            let yes = if of(Slower).any(is_slower) { "Yes" } else { "Worse" };
            let unlike = unlike(analysis, Slower);
            let primary = primary(analysis).filter(|row| row.verdict != Slower);
            let (undecided, known_of) = match primary {
                // Not in one list with what is worse.
                Some(row) if row.verdict == ComparisonVerdict::Inconclusive => {
                    (Some(format!("The primary figure is open: {}", left_open(row, analysis))), String::new())
                }
                Some(row) => (None, format!("but {}; ", known(row, analysis))),
                None => (None, String::new()),
            };
            let count = format!("{}{known_of}{worse} of {figures} {} worse", largest(analysis, Slower), are(worse));
            let text = format!("{yes}{unlike}: {count}{}", then(", ", others(open)));
            Answer { then: undecided, ..Answer::new(Tint::Bad, text) }
        }
    }
}

/// `, though replies differ in size` where they do under conditions in which something is worse, or better: the two may have done
/// different work.
fn unlike(analysis: &CompareAnalysis, verdict: ComparisonVerdict) -> &'static str {
    let is_told = |row: &CompareRow| row.verdict == verdict;
    let differ = |row: &CompareRow| analysis.reply_sizes.iter().any(|sizes| sizes.conditions == row.conditions);
    if analysis.rows.iter().any(|row| is_told(row) && differ(row)) { ", though replies differ in size" } else { "" }
}

/// The figure that says most of how much the new one is worse or better: the primary metric where that is, with one that moved far more;
/// else the one that moved most.
fn largest(analysis: &CompareAnalysis, verdict: ComparisonVerdict) -> String {
    let rows: Vec<&CompareRow> = analysis.rows.iter().filter(|row| row.verdict == verdict).collect();
    let moved = |row: &CompareRow| match row.ratio.estimate {
        _ if is_of_nothing(row) => f64::INFINITY,
        // Failures come before whatever they make of the other figures.
        _ if row.difference.is_some() => f64::MAX,
        ratio => ratio.map_or(0.0, |ratio| ratio.ln().abs()),
    };
    let primary = rows.iter().find(|row| Some(row.metric) == analysis.primary);
    let most = rows.iter().max_by(|a, b| moved(a).total_cmp(&moved(b)));
    let far_more = |row: &&&CompareRow| primary.is_some_and(|primary| moved(row) > FAR_MORE * moved(primary));
    let of_several = if rows.len() > 1 { "most of all " } else { "" };
    let first = primary.map(|row| format!("{}; ", row_with_change(row, analysis)));
    let most = most.filter(|row| primary.is_none() || far_more(row));
    let most = most.map(|row| format!("{of_several}{}; ", row_with_change(row, analysis)));
    first.into_iter().chain(most).collect()
}

/// The row of the primary metric, where it has a single one.
fn primary(analysis: &CompareAnalysis) -> Option<&CompareRow> {
    let mut rows = analysis.rows.iter().filter(|row| Some(row.metric) == analysis.primary);
    rows.next().filter(|_| rows.next().is_none())
}

/// `CPU per request -0.2 % (-0.7 to +0.3), the same within 1 %`, or what an open one may come to.
fn known(row: &CompareRow, analysis: &CompareAnalysis) -> String {
    let said = match row.verdict {
        ComparisonVerdict::Same => format!(", {}", same_within(analysis, row.difference.is_some())),
        ComparisonVerdict::Faster => ", better".to_owned(),
        ComparisonVerdict::Inconclusive => match row.withheld {
            None => compare_open::reach(row),
            Some(why) => format!(", but {}", because(why, &row.withheld_of)),
        },
        ComparisonVerdict::Slower => String::new(),
    };
    format!("{}{said}", row_with_change(row, analysis))
}

/// What an undecided answer is not, and how many launches may make it one: many readers take it for "the same".
fn undecided(row: &CompareRow, analysis: &CompareAnalysis) -> Option<String> {
    if row.verdict != ComparisonVerdict::Inconclusive || row.withheld.is_some() {
        return None;
    }
    let same = same_within(analysis, row.difference.is_some());
    let needed = row.needs_blocks.filter(|_| analysis.same.is_none());
    let needed = needed
        .map(|needed| Blocks::of_comparison(analysis).needed_for_one(needed, longer_window(analysis.form.into())));
    let needed = needed.map(|needed| format!("; a verdict {needed}")).unwrap_or_default();
    let metric = row.metric.words();
    Some(format!("For {metric} this shows neither that the two differ nor that they are {same}{needed}"))
}

/// `CPU per request +27.4 % (+23.7 to +31.1), but the machine was busy`.
fn left_open(row: &CompareRow, analysis: &CompareAnalysis) -> String {
    let (why, of) = reason(row);
    let but = if row.withheld.is_some() { format!("but {}", because(why, of)) } else { "inconclusive".to_owned() };
    format!("{}, {but}", row_with_change(row, analysis))
}

/// Of the figures beside the primary one that are open for too few launches, that whose interval lies farthest on the side of worse,
/// where one does.
fn leaning(analysis: &CompareAnalysis) -> Option<&CompareRow> {
    let by = |row: &CompareRow| match &row.difference {
        // As far beyond a point as a ratio beyond the margin.
        Some(difference) => difference.low.map(|low| low - SAME_SHARE),
        None if row.metric.more_is_better() => row.ratio.high.map(|high| 1.0 / high - 1.0 - analysis.margin),
        None => row.ratio.low.map(|low| low - 1.0 - analysis.margin),
    };
    let is_open = |row: &&CompareRow| row.verdict == ComparisonVerdict::Inconclusive && row.withheld.is_none();
    let is_other = |row: &&CompareRow| !primary(analysis).is_some_and(|primary| std::ptr::eq(primary, *row));
    let beyond = analysis.rows.iter().filter(is_open).filter(is_other).filter_map(|row| Some((by(row)?, row)));
    beyond.filter(|(by, _)| *by > 0.0).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row)
}

/// Figures that are worse by what was measured, when nothing of it is evidence: the largest, why, and what would settle it.
/// `others` counts the rest.
fn moved_against(analysis: &CompareAnalysis, against: &[&CompareRow], others: &str) -> Answer {
    let most = if against.len() > 1 { "most of all " } else { "" };
    let largest = row_with_change(against[0], analysis);
    let (why, of) = reason(against[0]);
    let figures = counted(analysis.rows.len() as u64, "figure", "figures");
    let (count, reason) = (against.len(), because(why, of));
    let text = format!("Undecided: {count} of {figures} seemed worse, {most}{largest}, but {reason}{others}");
    let then = cure_of(why, of, analysis).map(|cure| format!("What would settle it: {cure}"));
    Answer { then, ..Answer::new(Tint::Unsure, text) }
}

/// `gate failed: p99<+10%`, `1 of 3 gates failed, 1 undecided`; nothing where none was asked for.
fn gates(gates: &[GateResult]) -> Option<String> {
    let of = |verdict| gates.iter().filter(|gate| gate.verdict == verdict).count();
    let (broken, undecided) = (of(GateVerdict::Broken), of(GateVerdict::Undecided));
    Some(match (gates, broken, undecided) {
        ([], ..) => return None,
        ([gate], ..) => {
            let why = gate.withheld.filter(|_| gate.verdict == GateVerdict::Undecided).and_then(why_withheld);
            let why = why.map_or(String::new(), |why| format!(" ({why})"));
            format!("gate {}: {}{why}", gate_words::verdict(gate.verdict), gate.gate)
        }
        (all, 0, 0) => format!("all {} gates passed", all.len()),
        (all, 0, open) => format!("{open} of {} gates undecided", all.len()),
        (all, failed, 0) => format!("{failed} of {} gates failed", all.len()),
        (all, failed, open) => format!("{failed} of {} gates failed, {open} undecided", all.len()),
    })
}
