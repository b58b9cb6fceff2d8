use model::{Analysis, ClaimAnalysis, Mark};

use crate::asker::Asker;
use crate::bad::Bad;
use crate::blanks::{counts, missing, unranked};
use crate::choice::{choices, meaning};
use crate::claim_parts::here;
use crate::conditions::Conditions;
use crate::format::quantity;
use crate::mark_words::mark_meaning;
use crate::markdown::{bullets, code, escape, line};
use crate::picture::{Illustrations, Subject};
use crate::rows::{Group, disturbed, groups};
use crate::ties::{meaning_of_ties, ties_across_ranks};
use crate::{answer, bad, claim_words, finding_words, words};

/// A run as GitHub Markdown, fit for a pull request, in the order of the terminal's.
pub fn run_markdown(analysis: &Analysis) -> String {
    illustrated(analysis, Illustrations::default())
}

/// The same with pictures beside the tables.
pub(crate) fn illustrated(analysis: &Analysis, illustrations: Illustrations<'_>) -> String {
    let conditions = Conditions::of(analysis);
    let groups = groups(analysis, &conditions);
    let mut parts = vec![format!("## {}", escape(&analysis.question))];
    parts.extend(bad::of_run(analysis, &conditions).iter().map(Bad::markdown));
    parts.extend(bad::behind(&bad::named(analysis, &conditions)).map(|text| format!("> **{}**", escape(&text))));
    parts.extend(answer::of_run(analysis, &groups).map(|(_, text)| format!("**{}**", escape(&text))));
    parts.extend(words::preliminary(analysis).map(|text| format!("> **{}**", escape(&text))));
    parts.extend(disturbed(&groups).map(|text| format!("> **{}**", escape(&text))));
    claims(&mut parts, analysis, illustrations);
    which_one(&mut parts, analysis, &conditions);
    parts.extend(conditions.notes().iter().map(|text| escape(text)));
    tables(&mut parts, analysis, &groups, illustrations);
    findings(&mut parts, analysis, illustrations);
    notes(&mut parts, analysis, &conditions);
    if let Some(title) = words::void_title(analysis) {
        parts.push(format!("**{title}**"));
        let trials = words::void_trials(&analysis.void_trials, Asker::Experiment, |cell| conditions.title(cell));
        parts.push(bullets(trials.iter().map(|text| escape(text))));
    }
    parts.retain(|part| !part.is_empty());
    format!("{}\n", parts.join("\n\n"))
}

/// Who serves which need best.
fn which_one(parts: &mut Vec<String>, analysis: &Analysis, conditions: &Conditions) {
    let choices = choices(analysis, conditions);
    if choices.is_empty() {
        return;
    }
    parts.push("### Which one here?".to_owned());
    let mut lines = vec![line(&["need", "best here", "under"]), line(&["---", "---", "---"])];
    lines.extend(
        choices.iter().map(|choice| line(&[choice.need, &escape(&choice.best), &escape(&choice.conditions())])),
    );
    parts.extend([lines.join("\n"), meaning(analysis)]);
}

/// What holds for all of it, said once.
fn notes(parts: &mut Vec<String>, analysis: &Analysis, conditions: &Conditions) {
    parts.push("### Notes".to_owned());
    let plain = std::iter::once(words::header(analysis).join(" · "))
        .chain(words::notes(analysis, conditions))
        .chain(words::session_marks(analysis))
        .map(|text| escape(&text));
    let reconstructions = analysis.reconstructions.iter();
    let reconstructions =
        reconstructions.map(|it| format!("{} is a reconstruction: {}", code(&it.target), escape(&it.text)));
    let absent = words::absent(analysis).into_iter().map(|(names, reason)| {
        let names: Vec<String> = names.iter().map(|name| code(name)).collect();
        format!("Absent: {}: {}", names.join(", "), escape(reason))
    });
    parts.push(bullets(plain.chain(reconstructions).chain(absent)));
}

fn tables(parts: &mut Vec<String>, analysis: &Analysis, groups: &[Group<'_>], illustrations: Illustrations<'_>) {
    let differ = words::launched_differently(analysis);
    let mut explained: Vec<Mark> = Vec::new();
    parts.extend(illustrations.of(Subject::Tables));
    for (at, group) in groups.iter().enumerate() {
        if !group.title.is_empty() {
            parts.push(format!("### {}", escape(&group.title)));
        }
        parts.push(table(group));
        parts.extend(illustrations.of_table(at));
        let mut notes: Vec<String> = group.rank_note().map(str::to_owned).into_iter().collect();
        for (mark, rows) in group.marks() {
            let known = explained.contains(&mark);
            explained.push(mark);
            let meaning = if known { String::new() } else { format!(" ({})", mark_meaning(mark)) };
            notes.push(format!("*{}*{meaning}: {}", words::words(mark.id()), escape(&rows)));
        }
        notes.extend(ties_across_ranks(group).iter().map(|text| escape(text)));
        notes.extend(missing(group).iter().chain(&unranked(group)).chain(&counts(group)).map(|text| escape(text)));
        notes.extend(group.notes().map(|text| escape(&text)));
        notes.extend(differ.then(|| group.launched()).into_iter().flatten().map(|text| escape(&text)));
        parts.push(bullets(notes.into_iter()));
    }
    parts.extend(meaning_of_ties(groups).map(str::to_owned));
}

fn table(group: &Group<'_>) -> String {
    let (is_ranked, has_ceiling, has_failures) = (group.is_ranked(), group.has_ceiling(), group.has_failures());
    let mut header: Vec<&str> = group.name_header.iter().map(String::as_str).collect();
    if is_ranked {
        header.insert(0, "rank");
    }
    let left = header.len();
    header.extend(["requests/s", "±"]);
    if has_ceiling {
        header.push("of ceiling");
    }
    if has_failures {
        header.push("failed");
    }
    header.extend([group.latency_header.as_str(), "CPU/request", "memory"]);
    let rule: Vec<&str> = (0..header.len()).map(|index| if index < left { "---" } else { "---:" }).collect();
    let mut lines = vec![line(&header), line(&rule)];
    for row in &group.rows {
        let name: Vec<String> = row.name.iter().map(|part| code(part)).collect();
        let place = row.place.to_string();
        let mut cells: Vec<&str> = name.iter().map(String::as_str).collect();
        if is_ranked {
            cells.insert(0, &place);
        }
        cells.extend([row.throughput.as_str(), if row.spread.is_empty() { "–" } else { &row.spread }]);
        if has_ceiling {
            cells.push(row.of_ceiling.as_deref().unwrap_or("–"));
        }
        if has_failures {
            cells.push(&row.failed);
        }
        cells.extend([row.latency.as_str(), &row.cpu, &row.memory]);
        lines.push(line(&cells));
    }
    lines.join("\n")
}

fn claims(parts: &mut Vec<String>, analysis: &Analysis, illustrations: Illustrations<'_>) {
    if analysis.claims.is_empty() {
        return;
    }
    parts.push(format!("### {}", escape(&claim_words::claims_title(analysis))));
    let mut lines = vec![
        line(&["verdict", "claim", "claimed", "where", "measured here", "published", "asked"]),
        line(&["---", "---", "---", "---", "---:", "---:", "---"]),
    ];
    lines.extend(analysis.claims.iter().map(|claim| claim_line(claim, analysis)));
    parts.push(lines.join("\n"));
    parts.extend(illustrations.of(Subject::Claims));
    let notes = analysis.claims.iter().flat_map(|claim| {
        let notes = claim_words::notes(claim, analysis).into_iter();
        notes.map(|note| format!("{}: {}", code(&claim.name), escape(&note)))
    });
    parts.push(bullets(notes));
    parts.extend(claim_words::by_chance(analysis.claims_by_chance));
}

/// What tables of claims say of one.
pub(crate) struct ClaimCells {
    pub(crate) verdict: String,
    pub(crate) says: String,
    pub(crate) conditions: String,
    pub(crate) published: String,
    pub(crate) measured: String,
    pub(crate) asked: String,
}

impl ClaimCells {
    pub(crate) fn of(claim: &ClaimAnalysis) -> Self {
        let dash = || "–".to_owned();
        let conditions = claim_words::claim_conditions(claim);
        let bound = claim_words::asked(claim).map_or(String::new(), |bound| format!("{}: ", escape(&bound)));
        Self {
            verdict: format!("**{}**", claim_words::verdict(claim)),
            says: escape(&claim.says),
            conditions: if conditions.is_empty() { dash() } else { escape(&conditions) },
            published: claim.published.map_or_else(dash, |value| quantity(value, claim.measured.unit)),
            measured: claim_words::seen(claim).unwrap_or_else(dash),
            asked: format!("{bound}{}", code(&claim.expect.text)),
        }
    }
}

fn claim_line(claim: &ClaimAnalysis, analysis: &Analysis) -> String {
    let (name, cells) = (code(&claim.name), ClaimCells::of(claim));
    let ClaimCells { verdict, says, conditions, published, measured, asked } = &cells;
    let parts = here(claim, analysis).map_or(String::new(), |parts| format!(": {}", escape(&parts)));
    line(&[verdict, &name, says, conditions, &format!("{measured}{parts}"), published, asked])
}

fn findings(parts: &mut Vec<String>, analysis: &Analysis, illustrations: Illustrations<'_>) {
    for (at, finding) in analysis.findings.iter().enumerate() {
        parts.push(format!("**{}**", escape(&words::finding_title(finding))));
        let entries = std::iter::once(("certainty", words::certainty(finding))).chain(finding_words::parts(finding));
        let said = entries.filter(|(_, text)| !text.is_empty());
        parts.push(bullets(said.map(|(label, text)| format!("{label}: {}", escape(&text)))));
        parts.extend(illustrations.of(Subject::Finding(at)));
    }
}
