use std::collections::BTreeSet;

use model::{Analysis, ClaimAnalysis, ClaimVerdict, Finding};

use crate::asker::Asker;
use crate::blanks::{counts, missing, unranked};
use crate::claim_notes::claim_notes;
use crate::conditions::Conditions;
use crate::page::{Page, Style, Tint, bar, join, length};
use crate::place::Place;
use crate::rows::{Group, Row, disturbed, groups, legends};
use crate::table;
use crate::ties::{meaning_of_ties, ties_across_ranks};
use crate::{answer, bad, claim_words, finding_words, words};

/// Widest bar; a wider one would say no more.
const BAR_CELLS: usize = 20;
/// A bar narrower than this says nothing.
const LEAST_BAR_CELLS: usize = 4;
/// Between the parts of a row's name.
const NAME_SEPARATOR: &str = " · ";

/// What a person sees after a run: the answer, the claims, the tables, and then what else must be known of them.
pub fn run_text(analysis: &Analysis, style: Style) -> String {
    let mut page = Page::new(style);
    let conditions = Conditions::of(analysis);
    let groups = groups(analysis, &conditions);
    answer(&mut page, analysis, &conditions, &groups);
    claims(&mut page, analysis);
    tables(&mut page, analysis, &conditions, &groups);
    for finding in &analysis.findings {
        finding_entry(&mut page, finding);
    }
    notes(&mut page, analysis, &conditions, &groups);
    void_trials(&mut page, analysis, &conditions);
    page.finish()
}

fn answer(page: &mut Page, analysis: &Analysis, conditions: &Conditions, groups: &[Group<'_>]) {
    page.paragraph(0, Tint::Bold, &analysis.question);
    bad::of_run(analysis, conditions).iter().for_each(|bad| bad.on(page));
    if let Some(text) = bad::behind(&bad::named(analysis, conditions)) {
        page.paragraph(0, Tint::Unsure, &text);
    }
    if let Some((tint, text)) = answer::of_run(analysis, groups) {
        page.paragraph(0, tint, &text);
    }
    if let Some(warning) = words::preliminary(analysis) {
        page.paragraph(0, Tint::Unsure, &warning);
    }
    if let Some(text) = disturbed(groups) {
        page.paragraph(0, Tint::Unsure, &text);
    }
}

fn tables(page: &mut Page, analysis: &Analysis, conditions: &Conditions, groups: &[Group<'_>]) {
    let differ = words::launched_differently(analysis);
    page.gap();
    conditions.notes().iter().for_each(|text| page.paragraph(0, Tint::Dim, text));
    for group in groups {
        page.gap();
        page.table(&table_lines(group, page.width()));
        if let Some(note) = group.rank_note() {
            page.paragraph(2, Tint::Dim, note);
        }
        ties_across_ranks(group).iter().for_each(|text| page.paragraph(2, Tint::Dim, text));
        let marks: Vec<String> =
            group.marks().into_iter().map(|(mark, rows)| format!("{}: {rows}", words::words(mark.id()))).collect();
        for line in join(&marks, " · ", page.width() - 2) {
            page.line(Tint::Unsure, &format!("  {line}"));
        }
        let launched = differ.then(|| group.launched()).into_iter().flatten();
        for text in group.notes().chain(launched) {
            page.paragraph(2, Tint::Dim, &text);
        }
    }
}

/// The table with the longest bars that fit. Where even the title does not fit beside the figures, it stands above.
fn table_lines(group: &Group<'_>, width: usize) -> Vec<String> {
    let title = if group.title.is_empty() { &group.name_header.join(NAME_SEPARATOR) } else { &group.title };
    let bare = lines_with_bar(group, "", 0);
    let taken = bare.iter().map(|line| length(line)).max().unwrap_or(0);
    let names = name_column(group, 0).iter().map(|name| length(name)).max().unwrap_or(0);
    let first_column = (names + width).saturating_sub(taken);
    if first_column < length(title) {
        return std::iter::once(title.to_owned()).chain(bare).collect();
    }
    // Two blanks part the bar from the name.
    let cells = first_column.saturating_sub(names + 2).min(BAR_CELLS);
    lines_with_bar(group, title, if cells < LEAST_BAR_CELLS { 0 } else { cells })
}

fn lines_with_bar(group: &Group<'_>, title: &str, bar_cells: usize) -> Vec<String> {
    let (has_ceiling, has_failures) = (group.has_ceiling(), group.has_failures());
    let mut header = vec![title.to_owned(), "requests/s".to_owned()];
    if has_ceiling {
        header.push("of ceiling".to_owned());
    }
    if has_failures {
        header.push("failed".to_owned());
    }
    header.extend([group.latency_header.as_str(), "CPU/request", "memory"].map(str::to_owned));
    let mut rows = Vec::new();
    let columns = name_column(group, bar_cells).into_iter().zip(throughput_column(group));
    for (row, (name, throughput)) in group.rows.iter().zip(columns) {
        let mut cells = vec![name, throughput];
        if has_ceiling {
            cells.push(row.of_ceiling.clone().unwrap_or_else(|| "–".to_owned()));
        }
        if has_failures {
            cells.push(row.failed.clone());
        }
        cells.extend([row.latency.clone(), row.cpu.clone(), row.memory.clone()]);
        rows.push(cells);
    }
    table::lines(Some(&header), &rows, 1)
}

/// Rank, name and bar in one column, so that the title of the conditions can stand above all three.
fn name_column(group: &Group<'_>, bar_cells: usize) -> Vec<String> {
    let best = group.best();
    let bar_of = |row: &Row<'_>| match row.cell.throughput.estimate {
        Some(rate) if bar_cells > 0 && best > 0.0 => format!("  {}", bar(rate / best, bar_cells)),
        _ => String::new(),
    };
    // No text is padded to more than this.
    let most = usize::from(u16::MAX);
    let longest = |part: usize| group.rows.iter().map(|row| length(&row.name[part])).max().unwrap_or(0).min(most);
    let longest: Vec<usize> = (0..group.name_header.len()).map(longest).collect();
    let name = |row: &Row<'_>| {
        let parts: Vec<String> =
            row.name.iter().zip(&longest).map(|(part, longest)| format!("{part:<longest$}")).collect();
        parts.join(NAME_SEPARATOR)
    };
    let is_ranked = group.is_ranked();
    let rank = |row: &Row<'_>| if is_ranked { rank(row) } else { "  ".to_owned() };
    group.rows.iter().map(|row| format!("{}{}{}", rank(row), name(row), bar_of(row))).collect()
}

/// Room for two digits, and a place of its own for the sign of a tie.
fn rank(row: &Row<'_>) -> String {
    match row.place {
        Place::Rank { rank, tied } => format!("{rank:>2}{} ", if tied { "=" } else { " " }),
        unranked => format!("{:>2}  ", unranked.to_string()),
    }
}

/// Values and half widths, each aligned among themselves.
fn throughput_column(group: &Group<'_>) -> Vec<String> {
    let values: Vec<String> = group.rows.iter().map(|row| row.throughput.clone()).collect();
    let spreads: Vec<String> = group.rows.iter().map(|row| row.spread.clone()).collect();
    let pairs = table::right_aligned(&values).into_iter().zip(table::right_aligned(&spreads));
    pairs.map(|(value, spread)| if spread.is_empty() { value } else { format!("{value} {spread}") }).collect()
}

fn claims(page: &mut Page, analysis: &Analysis) {
    if analysis.claims.is_empty() {
        return;
    }
    page.gap();
    page.paragraph(0, Tint::Bold, &claim_words::claims_title(analysis));
    let shared = claim_words::shared_notes(&analysis.claims);
    let labels = analysis.claims.iter().map(|claim| length(&claim_words::verdict(claim))).max().unwrap_or(0);
    for claim in &analysis.claims {
        claim_entry(page, analysis, claim, (labels, &shared));
    }
    for (place, note) in shared.iter().enumerate() {
        page.paragraph(1, Tint::Plain, &format!("[{}] {note}", place + 1));
    }
    if let Some(text) = claim_words::by_chance(analysis.claims_by_chance) {
        page.paragraph(1, Tint::Dim, &text);
    }
}

/// A claim in two lines, the second of them what was tested and measured; below them what is to be known of it alone. One
/// of which nothing was measured is worth its first line; what it asks for stands on a verbose page.
fn claim_entry(page: &mut Page, analysis: &Analysis, claim: &ClaimAnalysis, (labels, shared): (usize, &[String])) {
    let tint = match claim.verdict {
        ClaimVerdict::Supported => Tint::Good,
        ClaimVerdict::Contradicted if claim.not_refuted.is_some() => Tint::Unsure,
        ClaimVerdict::Contradicted => Tint::Bad,
        ClaimVerdict::Inconclusive => Tint::Unsure,
        ClaimVerdict::NotTestable => Tint::Dim,
    };
    let place = |note: &String| shared.iter().position(|shared| shared == note);
    let notes = claim_notes(claim);
    let numbers: Vec<usize> = notes.iter().filter_map(place).collect();
    let numbers: String = numbers.iter().map(|place| format!(" [{}]", place + 1)).collect();
    let own = notes.iter().filter(|note| place(note).is_none()).cloned();
    let figures =
        (claim_words::seen(claim).is_some() || page.is_verbose()).then(|| claim_words::figures(claim, analysis));
    let (says, figures) = match figures {
        Some(figures) => (claim.says.clone(), Some(format!("{figures}{numbers}"))),
        None => (format!("{}{numbers}", claim.says), None),
    };
    page.entry(1, (tint, &claim_words::verdict(claim)), labels, &says);
    for text in figures.into_iter().chain(own).chain(claim_words::would_settle(claim, analysis)) {
        page.paragraph(labels + 3, Tint::Plain, &text);
    }
}

fn finding_entry(page: &mut Page, finding: &Finding) {
    page.gap();
    page.paragraph(0, Tint::Bold, &words::finding_title(finding));
    let entries = std::iter::once(("certainty", words::certainty(finding))).chain(finding_words::parts(finding));
    for (label, text) in entries.filter(|(_, text)| !text.is_empty()) {
        page.entry(1, (Tint::Dim, label), "overturned by".len(), &text);
    }
}

/// What holds for all of it, said once.
fn notes(page: &mut Page, analysis: &Analysis, conditions: &Conditions, groups: &[Group<'_>]) {
    page.gap();
    page.line(Tint::Bold, "Notes");
    join(&words::header(analysis), " · ", page.width()).iter().for_each(|line| page.line(Tint::Dim, line));
    words::notes(analysis, conditions).iter().for_each(|text| page.paragraph(0, Tint::Dim, text));
    words::session_marks(analysis).iter().for_each(|text| page.paragraph(0, Tint::Unsure, text));
    for reconstruction in &analysis.reconstructions {
        let text = format!("{} is a reconstruction: {}", reconstruction.target, reconstruction.text);
        page.paragraph(0, Tint::Unsure, &text);
    }
    for (names, reason) in words::absent(analysis) {
        page.paragraph(0, Tint::Unsure, &format!("Absent: {}: {reason}", names.join(", ")));
    }
    let legends = meaning_of_ties(groups).map(str::to_owned).into_iter().chain(legends(groups));
    legends.for_each(|text| page.paragraph(0, Tint::Dim, &text));
    let counts: BTreeSet<String> = groups.iter().flat_map(counts).collect();
    counts.iter().for_each(|text| page.paragraph(0, Tint::Dim, text));
    let unranked: BTreeSet<String> = groups.iter().flat_map(unranked).collect();
    unranked.iter().for_each(|text| page.paragraph(0, Tint::Dim, text));
    let missing: BTreeSet<String> = groups.iter().flat_map(missing).collect();
    if page.is_verbose() {
        missing.iter().for_each(|text| page.paragraph(0, Tint::Dim, text));
    } else if !missing.is_empty() {
        page.paragraph(0, Tint::Dim, "With -v: why a figure is missing");
    }
}

fn void_trials(page: &mut Page, analysis: &Analysis, conditions: &Conditions) {
    let Some(title) = words::void_title(analysis) else { return };
    page.gap();
    match words::void_trials(&analysis.void_trials, Asker::Experiment, |cell| conditions.title(cell)).as_slice() {
        [only] => page.paragraph(0, Tint::Bad, &format!("{title}: {only}")),
        several => {
            page.line(Tint::Bad, &title);
            several.iter().for_each(|text| page.paragraph(2, Tint::Plain, text));
        }
    }
}
