use maud::{Markup, html};
use model::{Diagnosed, Diagnosis, Sureness};

use super::{beside, class, frame, list, table, text};
use crate::diagnosis_table;
use crate::diagnosis_words as say;
use crate::picture::{Picture, Subject};
use crate::suspect_words;

/// The page of a diagnosis, in the order of the terminal's.
pub(super) fn page(diagnosis: &Diagnosis, pictures: &[Picture], index: Option<&str>) -> String {
    let (header, rows) = diagnosis_table::table(diagnosis);
    let (tint, answer) = say::answer(diagnosis);
    let content = html! {
        header {
            h1 { (text(&diagnosis.question)) }
            p.answer.(class(tint)) { (text(&answer)) }
            p.dim { (text(&say::header(diagnosis).join(" · "))) }
        }
        @if !diagnosis.findings.is_empty() {
            section #findings {
                h2 { "Findings" }
                @for (at, found) in diagnosis.findings.iter().enumerate() {
                    (finding(diagnosis, found))
                    (beside(pictures, Subject::Finding(at)))
                }
            }
        }
        @if !diagnosis.tried.is_empty() {
            section #figures { h2 { "Experiments" } (table("Every experiment, in the order in which they were made", &header, &rows, 1)) }
        }
        section #notes {
            @if !diagnosis.unexplained.is_empty() { h2 { "Odd, and not explained" } (list(diagnosis.unexplained.iter().map(suspect_words::unexplained))) }
            @if !diagnosis.excluded.is_empty() { h2 { "Looked for and not found" } (list(diagnosis.excluded.iter().map(suspect_words::excluded))) }
            @if !diagnosis.open.is_empty() { h2 { "Not known" } (list(diagnosis.open.iter().map(suspect_words::open))) }
        }
    };
    frame::page(&diagnosis.question, &diagnosis.environment, &content, index)
}

fn finding(diagnosis: &Diagnosis, found: &Diagnosed) -> Markup {
    let tint = if found.sureness == Sureness::Is { "bad" } else { "unsure" };
    html! {
        div.claim.(tint) {
            h3 { (text(&say::title(&found.fault))) }
            dl.parts { @for (label, said) in say::parts(diagnosis, found) { dt { (label) } dd { (text(&said)) } } }
        }
    }
}
