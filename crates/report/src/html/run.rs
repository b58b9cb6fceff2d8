use maud::{Markup, html};
use model::{Analysis, ClaimAnalysis, ClaimVerdict, Mark, Reconstruction, TargetInfo, Timeline};

use super::{bad, beside, cautions, class, launches, list, of_table, over_time, table, text};
use super::{choice, frame, profile};
use crate::asker::Asker;
use crate::bad as bad_words;
use crate::blanks::{counts, missing, unranked};
use crate::claim_notes::claim_notes;
use crate::claim_parts::here;
use crate::conditions::Conditions;
use crate::format::quantity;
use crate::mark_words::mark_meaning;
use crate::picture::chosen::by_trial;
use crate::picture::series::{of_group, rows_of_run};
use crate::picture::{Picture, Subject};
use crate::rows::{Group, disturbed, groups, legends};
use crate::ties::{meaning_of_ties, ties_across_ranks};
use crate::{answer, claim_words, finding_words, words};

/// The page of a run, in the order of the terminal's: the answer, the claims, the tables, and what else must be known of them.
pub(super) fn page(analysis: &Analysis, pictures: &[Picture], timelines: &[Timeline], index: Option<&str>) -> String {
    let conditions = Conditions::of(analysis);
    let groups = groups(analysis, &conditions);
    let (rows, timelines) = (rows_of_run(&groups), by_trial(timelines));
    let content = html! {
        (header(analysis, &conditions, &groups))
        (first(analysis, &conditions, pictures))
        (tables(analysis, &conditions, &groups, pictures))
        (over_time::section(&rows, &timelines, &analysis.void_trials, pictures))
        (profile::section(&rows, &timelines, pictures))
        (findings(analysis, pictures))
        (notes(analysis, &conditions, &groups))
        (void(analysis, &conditions))
    };
    frame::page(&analysis.question, &analysis.environment, &content, index)
}

fn header(analysis: &Analysis, conditions: &Conditions, groups: &[Group<'_>]) -> Markup {
    let named = bad_words::named(analysis, conditions);
    let doubts = [bad_words::behind(&named), words::preliminary(analysis), disturbed(groups)];
    let model = |it: &Reconstruction| {
        format!("{} is a reconstruction: what is shown for it is not shown for the original code.", it.target)
    };
    let models = analysis.reconstructions.iter().map(model);
    html! {
        header {
            h1 { (text(&analysis.question)) }
            (bad(&bad_words::of_run(analysis, conditions)))
            @if let Some((tint, answer)) = answer::of_run(analysis, groups) {
                p.answer.(class(tint)) { (text(&answer)) }
            }
            (cautions(doubts.into_iter().flatten().chain(models)))
            p.dim { (text(&words::header(analysis).join(" · "))) }
        }
    }
}

/// The claims as one picture beside who serves which need best, and each in words.
fn first(analysis: &Analysis, conditions: &Conditions, pictures: &[Picture]) -> Markup {
    let choice = choice::section(analysis, conditions);
    if analysis.claims.is_empty() {
        return choice;
    }
    html! {
        div.halves {
            section #claims {
                h2 { (text(&claim_words::claims_title(analysis))) }
                (beside(pictures, Subject::Claims))
                @if let Some(said) = claim_words::by_chance(analysis.claims_by_chance) { p.dim { (text(&said)) } }
            }
            (choice)
        }
        section #each {
            h2 { "Claim by claim" }
            ol.claims { @for claim in &analysis.claims { (entry(claim, analysis)) } }
        }
    }
}

fn entry(claim: &ClaimAnalysis, analysis: &Analysis) -> Markup {
    let conditions = claim_words::claim_conditions(claim);
    let expected = match claim_words::asked(claim) {
        Some(bound) => format!("{bound}: {}", claim.expect.text),
        None => claim.expect.text.clone(),
    };
    let published = claim.published.map(|value| quantity(value, claim.measured.unit));
    let parts = [
        ("measured", claim_words::seen(claim)),
        ("here", here(claim, analysis)),
        ("published", published),
        ("asked", Some(expected)),
        ("where", Some(conditions)),
    ];
    let parts = parts.into_iter().filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)));
    html! {
        li.claim.(tint(claim)) {
            p { strong.verdict { (text(&claim_words::verdict(claim))) } " " (text(&claim_words::says(claim, analysis))) }
            dl { @for (name, value) in parts { div { dt { (name) } dd { (text(&value)) } } } }
            (list(claim_notes(claim).into_iter().chain(claim_words::would_settle(claim, analysis))))
        }
    }
}

fn tint(claim: &ClaimAnalysis) -> &'static str {
    match claim.verdict {
        ClaimVerdict::Supported => "good",
        ClaimVerdict::Contradicted if claim.not_refuted.is_none() => "bad",
        ClaimVerdict::Contradicted | ClaimVerdict::Inconclusive => "unsure",
        ClaimVerdict::NotTestable => "dim",
    }
}

fn tables(analysis: &Analysis, conditions: &Conditions, groups: &[Group<'_>], pictures: &[Picture]) -> Markup {
    let differ = words::launched_differently(analysis);
    let mut explained: Vec<Mark> = Vec::new();
    html! {
        section #figures {
            h2 { "Figures" }
            (list(conditions.notes().iter().cloned()))
            (targets(analysis))
            (beside(pictures, Subject::Tables))
            @for (at, group) in groups.iter().enumerate() {
                section {
                    @if !group.title.is_empty() { h3 { (text(&group.title)) } }
                    (figures(group))
                    (list(beneath(group, differ, &mut explained)))
                    (of_table(pictures, (at, groups.len())))
                    (launches::of(&group.title, &of_group(group)))
                }
            }
        }
    }
}

/// What each target is: names are short.
fn targets(analysis: &Analysis) -> Markup {
    let said = |it: &TargetInfo| match it.framework.as_str() {
        "" => it.about.clone(),
        framework => format!("{framework}. {}", it.about),
    };
    html! {
        @if !analysis.targets.is_empty() {
            details #targets {
                summary { "What each target is" }
                dl { @for it in &analysis.targets { div { dt { (text(&it.target)) } dd { (text(&said(it))) } } } }
            }
        }
    }
}

/// What must be known of a table's figures; a mark is explained once.
fn beneath(group: &Group<'_>, differ: bool, explained: &mut Vec<Mark>) -> Vec<String> {
    let mut notes: Vec<String> = group.rank_note().map(str::to_owned).into_iter().collect();
    for (mark, rows) in group.marks() {
        let is_known = explained.contains(&mark);
        explained.push(mark);
        let meaning = if is_known { String::new() } else { format!(" ({})", mark_meaning(mark)) };
        notes.push(format!("{}{meaning}: {rows}", words::words(mark.id())));
    }
    notes.extend(ties_across_ranks(group));
    notes.extend(missing(group));
    notes.extend(unranked(group));
    notes.extend(counts(group));
    notes.extend(group.notes());
    notes.extend(differ.then(|| group.launched()).into_iter().flatten());
    notes
}

fn figures(group: &Group<'_>) -> Markup {
    let (is_ranked, has_ceiling, has_failures) = (group.is_ranked(), group.has_ceiling(), group.has_failures());
    let mut header: Vec<(&str, bool)> = Vec::new();
    header.extend(is_ranked.then_some(("rank", false)));
    header.extend(group.name_header.iter().map(|name| (name.as_str(), false)));
    let names = header.len();
    header.extend([("requests/s", true), ("±", true)]);
    header.extend(has_ceiling.then_some(("of ceiling", true)));
    header.extend(has_failures.then_some(("failed", true)));
    header.extend([(group.latency_header.as_str(), true), ("CPU/request", true), ("memory", true)]);
    let dash = || "–".to_owned();
    let row = |row: &crate::rows::Row<'_>| {
        let mut cells: Vec<String> = Vec::new();
        cells.extend(is_ranked.then(|| row.place.to_string()));
        cells.extend(row.name.iter().cloned());
        let spread = if row.spread.is_empty() { dash() } else { row.spread.clone() };
        cells.extend([row.throughput.clone(), spread]);
        cells.extend(has_ceiling.then(|| row.of_ceiling.clone().unwrap_or_else(dash)));
        cells.extend(has_failures.then(|| row.failed.clone()));
        cells.extend([row.latency.clone(), row.cpu.clone(), row.memory.clone()]);
        cells
    };
    let rows: Vec<Vec<String>> = group.rows.iter().map(row).collect();
    let caption = if group.title.is_empty() { "All figures" } else { group.title.as_str() };
    table(caption, &header, &rows, names)
}

fn findings(analysis: &Analysis, pictures: &[Picture]) -> Markup {
    html! {
        @if !analysis.findings.is_empty() {
            section #findings {
                h2 { "Findings" }
                @for (at, finding) in analysis.findings.iter().enumerate() {
                    h3 { (text(&words::finding_title(finding))) }
                    dl {
                        @for (name, said) in std::iter::once(("certainty", words::certainty(finding)))
                            .chain(finding_words::parts(finding))
                            .filter(|(_, said)| !said.is_empty())
                        { div { dt { (name) } dd { (text(&said)) } } }
                    }
                    (beside(pictures, Subject::Finding(at)))
                }
            }
        }
    }
}

fn notes(analysis: &Analysis, conditions: &Conditions, groups: &[Group<'_>]) -> Markup {
    let reconstructions = analysis.reconstructions.iter();
    let reconstructions = reconstructions.map(|it| format!("{} is a reconstruction: {}", it.target, it.text));
    let absent = words::absent(analysis);
    let absent = absent.iter().map(|(names, reason)| format!("Absent: {}: {reason}", names.join(", ")));
    let legends = meaning_of_ties(groups).map(str::to_owned).into_iter().chain(legends(groups));
    html! {
        section #notes {
            h2 { "Notes" }
            (list(words::notes(analysis, conditions)
                .into_iter()
                .chain(words::session_marks(analysis))
                .chain(reconstructions)
                .chain(absent)
                .chain(legends)))
        }
    }
}

fn void(analysis: &Analysis, conditions: &Conditions) -> Markup {
    html! {
        @if let Some(title) = words::void_title(analysis) {
            section #void {
                h2 { (text(&title)) }
                (list(words::void_trials(&analysis.void_trials, Asker::Experiment, |cell| conditions.title(cell))))
            }
        }
    }
}
