use model::{Analysis, ClaimAnalysis, ClaimVerdict, Finding, Mark};

use crate::blanks::footnotes;
use crate::conditions::Conditions;
use crate::page::{Page, Style, Tint, bar, join, length};
use crate::rows::{Group, Row, groups, ties};
use crate::table;
use crate::{claim_words, words};

/// Widest bar; a wider one would say no more.
const BAR_CELLS: usize = 20;
/// A bar narrower than this says nothing.
const LEAST_BAR_CELLS: usize = 4;
/// Between the parts of a row's name.
const NAME_SEPARATOR: &str = " · ";

/// What a person sees after a run.
pub fn run_text(analysis: &Analysis, style: Style) -> String {
    let mut page = Page::new(style);
    let conditions = Conditions::of(analysis);
    header(&mut page, analysis, &conditions);
    tables(&mut page, analysis, &conditions);
    reconstructions(&mut page, analysis);
    claims(&mut page, analysis);
    for finding in &analysis.findings {
        finding_entry(&mut page, finding);
    }
    absent(&mut page, analysis);
    void_trials(&mut page, analysis, &conditions);
    page.finish()
}

fn header(page: &mut Page, analysis: &Analysis, conditions: &Conditions) {
    page.paragraph(0, Tint::Bold, &analysis.question);
    for text in words::bad_cells_of(analysis, conditions) {
        page.paragraph(0, Tint::Bad, &text);
    }
    for line in join(&words::header(analysis), " · ", page.width()) {
        page.line(Tint::Dim, &line);
    }
    if let Some(warning) = words::preliminary(analysis) {
        page.paragraph(0, Tint::Unsure, &warning);
    }
    for text in words::notes(analysis, conditions) {
        page.paragraph(0, Tint::Dim, &text);
    }
    for mark in words::session_marks(analysis) {
        page.paragraph(0, Tint::Unsure, &mark);
    }
}

fn tables(page: &mut Page, analysis: &Analysis, conditions: &Conditions) {
    let mut explained: Vec<Mark> = Vec::new();
    let groups = groups(analysis, conditions);
    for group in &groups {
        page.gap();
        page.table(&table_lines(group, page.width()));
        if let Some(note) = group.rank_note() {
            page.paragraph(2, Tint::Dim, note);
        }
        for (mark, rows) in group.marks() {
            let meaning = if explained.contains(&mark) {
                String::new()
            } else {
                explained.push(mark);
                format!(" ({})", words::mark_meaning(mark))
            };
            page.paragraph(2, Tint::Unsure, &format!("{}{meaning}: {rows}", words::words(mark.id())));
        }
        for text in footnotes(group) {
            page.paragraph(2, Tint::Dim, &text);
        }
        for text in group.profiles() {
            page.paragraph(2, Tint::Dim, &text);
        }
    }
    if let Some(legend) = ties(&groups) {
        page.gap();
        page.paragraph(0, Tint::Dim, legend);
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
    let longest = |part: usize| group.rows.iter().map(|row| length(&row.name[part])).max().unwrap_or(0);
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
    let tie = if row.rank.ends_with('=') { "=" } else { " " };
    format!("{:>2}{tie} ", row.rank.trim_end_matches('='))
}

/// Values and half widths, each aligned among themselves.
fn throughput_column(group: &Group<'_>) -> Vec<String> {
    let values: Vec<String> = group.rows.iter().map(|row| row.throughput.clone()).collect();
    let spreads: Vec<String> = group.rows.iter().map(|row| row.spread.clone()).collect();
    let pairs = table::right_aligned(&values).into_iter().zip(table::right_aligned(&spreads));
    pairs.map(|(value, spread)| if spread.is_empty() { value } else { format!("{value} {spread}") }).collect()
}

fn reconstructions(page: &mut Page, analysis: &Analysis) {
    if !analysis.reconstructions.is_empty() {
        page.gap();
    }
    for reconstruction in &analysis.reconstructions {
        let text = format!("{} is a reconstruction: {}", reconstruction.target, reconstruction.text);
        page.paragraph(0, Tint::Unsure, &text);
    }
}

fn claims(page: &mut Page, analysis: &Analysis) {
    if analysis.claims.is_empty() {
        return;
    }
    page.gap();
    page.paragraph(0, Tint::Bold, &claim_words::claims_title(analysis));
    if let Some(text) = claim_words::by_chance(analysis.claims_by_chance) {
        page.paragraph(0, Tint::Dim, &text);
    }
    let labels = analysis.claims.iter().map(|claim| length(&claim_words::verdict(claim))).max().unwrap_or(0);
    for claim in &analysis.claims {
        claim_entry(page, analysis, claim, labels);
    }
}

fn claim_entry(page: &mut Page, analysis: &Analysis, claim: &ClaimAnalysis, labels: usize) {
    let tint = match claim.verdict {
        ClaimVerdict::Supported => Tint::Good,
        ClaimVerdict::Contradicted if claim.not_refuted.is_some() => Tint::Unsure,
        ClaimVerdict::Contradicted => Tint::Bad,
        ClaimVerdict::Inconclusive => Tint::Unsure,
        ClaimVerdict::NotTestable => Tint::Dim,
    };
    page.entry(1, (tint, &claim_words::verdict(claim)), labels, &claim.says);
    let column = labels + 3;
    let conditions = claim_words::claim_conditions(claim);
    let mut below: Vec<String> = (!conditions.is_empty()).then(|| format!("where: {conditions}")).into_iter().collect();
    below.extend(join(&claim_words::claim_figures(claim), "; ", page.width() - column));
    below.extend(claim.notes.iter().cloned());
    below.extend(claim_words::needs_blocks(claim, analysis));
    for text in below {
        page.paragraph(column, Tint::Plain, &text);
    }
}

fn finding_entry(page: &mut Page, finding: &Finding) {
    page.gap();
    page.paragraph(0, Tint::Bold, &words::finding_title(finding));
    let entries = [
        ("certainty", words::certainty(finding)),
        ("seen", finding.evidence.join("; ")),
        ("ruled out", finding.ruled_out.join("; ")),
        ("overturned by", finding.overturned_by.clone()),
    ];
    for (label, text) in entries.iter().filter(|(_, text)| !text.is_empty()) {
        page.entry(1, (Tint::Dim, label), "overturned by".len(), text);
    }
}

fn absent(page: &mut Page, analysis: &Analysis) {
    if !analysis.absent.is_empty() {
        page.gap();
    }
    for (names, reason) in words::absent(analysis) {
        page.paragraph(0, Tint::Unsure, &format!("Absent: {}: {reason}", names.join(", ")));
    }
}

fn void_trials(page: &mut Page, analysis: &Analysis, conditions: &Conditions) {
    let Some(title) = words::void_title(analysis) else { return };
    page.gap();
    match words::void_trials(&analysis.void_trials, |cell| conditions.title(cell)).as_slice() {
        [only] => page.paragraph(0, Tint::Bad, &format!("{title}: {only}")),
        several => {
            page.line(Tint::Bad, &title);
            several.iter().for_each(|text| page.paragraph(2, Tint::Plain, text));
        }
    }
}
