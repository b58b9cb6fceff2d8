use model::Verdict;

use crate::format::{number, percent, seconds};
use crate::load_document::MergedPart;
use crate::page::{Page, Style, Tint};
use crate::table;

const HEADER: [&str; 7] = ["merged of", "machine", "began", "connections", "requests/s", "generator busy", "by itself"];

/// The loads that are put together in one, a line each.
pub fn merge_text(parts: &[MergedPart], style: Style) -> String {
    let row = |part: &MergedPart| {
        vec![
            part.file.clone(),
            part.instrument.cpu.clone(),
            if part.begun_after_s > 0.0 { format!("+{}", seconds(part.begun_after_s)) } else { "first".to_owned() },
            part.connections.to_string(),
            number(part.requests_per_s),
            percent(part.busiest_thread),
            verdict(part.verdict).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = parts.iter().map(row).collect();
    let mut page = Page::new(style);
    for line in table::lines(Some(&HEADER.map(str::to_owned)), &rows, 2) {
        page.line(Tint::Plain, &line);
    }
    page.finish()
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::AtLeast => "a lower bound",
        Verdict::Void => "void",
    }
}
