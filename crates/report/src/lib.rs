//! Shows what was measured and what it means: text for a terminal, Markdown, JSON, pictures.
//!
//! Every function here takes typed results and returns a text. Nothing is printed, read, measured or judged. Golden
//! files in `tests/snapshots` guard each output; `INSTA_UPDATE=always cargo test -p bourdon-report` refreshes them.

mod answer;
mod asked_words;
mod asker;
mod audit_json;
mod audit_text;
mod audit_words;
mod bad;
mod blanks;
mod calibration_text;
mod cell_words;
mod change_words;
mod choice;
mod claim_notes;
mod claim_parts;
mod claim_words;
mod compare_answer;
mod compare_closed;
mod compare_launches;
mod compare_markdown;
mod compare_open;
mod compare_question;
mod compare_row;
mod compare_text;
mod compare_words;
mod conditions;
mod connections;
mod cpu_words;
mod cure_words;
mod diagnosis_markdown;
mod diagnosis_table;
mod diagnosis_text;
mod diagnosis_words;
mod difference_words;
mod experiment_words;
mod finding_words;
/// Figures as people read them.
pub mod format;
mod gap;
mod gate_words;
mod html;
mod judged;
mod launch_words;
mod limit_words;
mod load_csv;
mod load_document;
mod load_text;
mod mark_words;
mod markdown;
mod merge_text;
mod more_blocks;
mod ordered_json;
mod page;
mod picture;
mod place;
mod plain;
mod planner_words;
mod profile_words;
mod rank_words;
mod rate_words;
mod reason_words;
mod rotation_words;
mod row_notes;
mod rows;
mod run_markdown;
mod run_text;
mod said;
mod soak_markdown;
mod soak_text;
mod soak_words;
mod spark;
mod suspect_words;
mod suspicion_words;
mod table;
mod ties;
mod told;
mod upstream_words;
mod verdicts;
mod withheld;
mod words;
mod wrong_reply;

pub use audit_json::{AUDIT_SCHEMA, audit_json};
pub use audit_text::audit_text;
pub use audit_words::{check_words, remark_words};
pub use calibration_text::{calibration_json, calibration_text};
pub use claim_notes::{claim_notes, never_enough_words};
pub use compare_markdown::compare_markdown;
pub use compare_text::compare_text;
pub use compare_words::{same_server, short_commit};
pub use diagnosis_markdown::diagnosis_markdown;
pub use diagnosis_text::diagnosis_text;
pub use difference_words::{difference_between, difference_words};
pub use html::{SitePage, index as site_index, page as html, page_of_site as html_of_site};
pub use judged::{illustrated, json, markdown, next_step, text};
pub use launch_words::{failed_words, waiting_words};
pub use load_csv::load_csv;
pub use load_document::{LOAD_SCHEMA, LostNode, MergedPart, Origin, PartOf, Partial, asked_load, load_json};
pub use load_text::load_text;
pub use mark_words::note_words;
pub use merge_text::{clocks_text, merge_text, node_name, partial_text};
pub use more_blocks::too_few_blocks;
pub use page::Style;
pub use picture::{Picture, pictures, pictures_of_launches};
pub use plain::{plain, shortened};
pub use planner_words::{done_words, purpose_words};
pub use reason_words::reason_words;
pub use run_markdown::run_markdown;
pub use run_text::run_text;
pub use soak_markdown::soak_markdown;
pub use soak_text::soak_text;
pub use soak_words::cycle_words;
pub use verdicts::{VERDICTS_SCHEMA, Verdicts, verdict_counts, verdicts_json, verdicts_markdown};
pub use words::errno;
pub use wrong_reply::sentence as wrong_reply;

/// One pretty JSON document with a newline at its end.
fn to_json(document: &impl serde::Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("our types have text keys, and writing to memory works");
    text.push('\n');
    escaped(text)
}

/// JSON may hold any character above ASCII as it is; those that act on a terminal are written as `\u202e` is.
fn escaped(text: String) -> String {
    let acts = |c: char| c == '\u{7f}' || plain::acts(c);
    if !text.contains(acts) {
        return text;
    }
    let unit = |unit: &mut u16| format!("\\u{unit:04x}");
    let escape = |c: char| c.encode_utf16(&mut [0; 2]).iter_mut().map(unit).collect::<String>();
    text.chars().map(|c| if acts(c) { escape(c) } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn json_is_the_same_text_without_what_acts_on_a_terminal() {
        let text = "a\u{1b}\u{7f}\u{9b}b\u{202e}c\u{2028}\u{e0041}Zürich";
        let json = super::to_json(&text);
        assert_eq!(json, "\"a\\u001b\\u007f\\u009bb\\u202ec\\u2028\\udb40\\udc41Zürich\"\n");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
