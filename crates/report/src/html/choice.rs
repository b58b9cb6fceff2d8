use maud::{Markup, html};
use model::Analysis;

use super::{table, text};
use crate::choice::{Answer, choices, has_conditions, meaning};
use crate::conditions::Conditions;

/// Who serves which need best; nothing where there are no ranks.
pub(super) fn section(analysis: &Analysis, conditions: &Conditions) -> Markup {
    let choices = choices(analysis, conditions);
    let differ = has_conditions(&choices);
    let mut header = vec![("need", false), ("best here", false)];
    header.extend(differ.then_some(("under", false)));
    let row = |choice: &Answer| {
        let mut row = vec![choice.need.to_owned(), choice.best.clone()];
        row.extend(differ.then(|| choice.conditions()));
        row
    };
    let rows: Vec<Vec<String>> = choices.iter().map(row).collect();
    html! {
        @if !rows.is_empty() {
            section #choice {
                h2 { "Which one here?" }
                (table("Who serves which need best", &header, &rows, 1))
                p.dim { (text(&meaning(analysis))) }
            }
        }
    }
}
