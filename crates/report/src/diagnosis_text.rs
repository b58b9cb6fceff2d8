use model::{Diagnosis, Sureness};

use crate::diagnosis_table;
use crate::diagnosis_words as say;
use crate::page::{Page, Style, Tint, join, length};
use crate::suspect_words;
use crate::table;

/// What a person sees of a diagnosis: the answer, each finding with its proof, what is not there, what nobody knows, what was tried.
pub fn diagnosis_text(diagnosis: &Diagnosis, style: Style) -> String {
    let mut page = Page::new(style);
    page.paragraph(0, Tint::Bold, &diagnosis.question);
    let (tint, answer) = say::answer(diagnosis);
    page.paragraph(0, tint, &answer);
    for found in &diagnosis.findings {
        page.gap();
        let tint = if found.sureness == Sureness::Is { Tint::Bad } else { Tint::Unsure };
        page.paragraph(0, tint, &say::title(&found.fault));
        let parts = say::parts(diagnosis, found);
        let labels = parts.iter().map(|(label, _)| length(label)).max().unwrap_or(0);
        parts.iter().for_each(|(label, text)| page.entry(2, (Tint::Dim, label), labels, text));
    }
    listed(&mut page, "Odd, and not explained", diagnosis.unexplained.iter().map(suspect_words::unexplained));
    listed(&mut page, "Looked for and not found", diagnosis.excluded.iter().map(suspect_words::excluded));
    listed(&mut page, "Not known", diagnosis.open.iter().map(suspect_words::open));
    if !diagnosis.tried.is_empty() {
        page.gap();
        let (header, rows) = diagnosis_table::table(diagnosis);
        let header: Vec<String> = header.into_iter().map(|(name, _)| name.to_owned()).collect();
        page.table(&table::lines(Some(&header), &rows, 1));
    }
    page.gap();
    join(&say::header(diagnosis), " · ", page.width()).iter().for_each(|line| page.line(Tint::Dim, line));
    page.finish()
}

fn listed(page: &mut Page, title: &str, all: impl Iterator<Item = String>) {
    let all: Vec<String> = all.collect();
    if all.is_empty() {
        return;
    }
    page.gap();
    page.line(Tint::Bold, title);
    all.iter().for_each(|text| page.entry(0, (Tint::Dim, "·"), 1, text));
}
