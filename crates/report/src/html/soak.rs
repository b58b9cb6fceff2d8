use maud::html;
use model::Soak;

use super::{beside, class, frame, list, plain, table, text};
use crate::picture::{Picture, Subject};
use crate::soak_words as say;

/// The page of a soak, in the order of the terminal's.
pub(super) fn page(soak: &Soak, pictures: &[Picture], index: Option<&str>) -> String {
    let (header, rows) = say::table(soak);
    let (tint, answer) = say::answer(soak);
    let content = html! {
        header {
            h1 { (text(&soak.question)) }
            p.answer.(class(tint)) { (text(&answer)) }
            p.dim { (text(&say::header(soak).join(" · "))) }
        }
        @if let Some(words) = say::last_words(soak) { section { h2 { "Its last words" } pre { (plain::plain(words)) } } }
        (beside(pictures, Subject::Tables))
        @for (title, said) in say::sections(soak) { section { h2 { (title) } (list(said)) } }
        @if !soak.cycles.is_empty() {
            section #figures { h2 { "Cycles" } (table("Cycles at equal distances, in the order of time", &header, &rows, 2)) }
        }
    };
    frame::page(&soak.question, &soak.environment, &content, index)
}
