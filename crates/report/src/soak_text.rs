use model::Soak;

use crate::page::{Page, Style, Tint, join};
use crate::soak_words as say;
use crate::table;

/// What a person sees of a soak: the answer, what may grow, how latencies and rules went, the cycles.
pub fn soak_text(soak: &Soak, style: Style) -> String {
    let mut page = Page::new(style);
    page.paragraph(0, Tint::Bold, &soak.question);
    let (tint, answer) = say::answer(soak);
    page.paragraph(0, tint, &answer);
    if let Some(words) = say::last_words(soak) {
        page.gap();
        page.line(Tint::Bold, "Its last words");
        words.lines().for_each(|line| page.paragraph(2, Tint::Dim, line));
    }
    for (title, said) in say::sections(soak) {
        page.gap();
        page.line(Tint::Bold, title);
        said.iter().for_each(|text| page.entry(0, (Tint::Dim, "·"), 1, text));
    }
    if !soak.cycles.is_empty() {
        page.gap();
        let (header, rows) = say::table(soak);
        let header: Vec<String> = header.into_iter().map(|(name, _)| name.to_owned()).collect();
        page.table(&table::lines(Some(&header), &rows, 2));
    }
    page.gap();
    join(&say::header(soak), " · ", page.width()).iter().for_each(|line| page.line(Tint::Dim, line));
    page.finish()
}
