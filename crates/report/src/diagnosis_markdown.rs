use model::Diagnosis;

use crate::diagnosis_table;
use crate::diagnosis_words as say;
use crate::markdown::{bullets, escape, line};
use crate::picture::{Illustrations, Subject};
use crate::suspect_words;

/// A diagnosis as GitHub Markdown.
pub fn diagnosis_markdown(diagnosis: &Diagnosis) -> String {
    illustrated(diagnosis, Illustrations::default())
}

/// The same with the picture of each finding, whose file is named.
pub(crate) fn illustrated(diagnosis: &Diagnosis, illustrations: Illustrations<'_>) -> String {
    let mut parts =
        vec![format!("### {}", escape(&diagnosis.question)), format!("**{}**", escape(&say::answer(diagnosis).1))];
    for (at, found) in diagnosis.findings.iter().enumerate() {
        parts.push(format!("#### {}", escape(&say::title(&found.fault))));
        let of = say::parts(diagnosis, found).into_iter();
        parts.push(bullets(of.map(|(label, text)| format!("**{label}:** {}", escape(&text)))));
        parts.extend(illustrations.of(Subject::Finding(at)));
    }
    for (title, all) in [
        ("Odd, and not explained", diagnosis.unexplained.iter().map(suspect_words::unexplained).collect::<Vec<_>>()),
        ("Looked for and not found", diagnosis.excluded.iter().map(suspect_words::excluded).collect()),
        ("Not known", diagnosis.open.iter().map(suspect_words::open).collect()),
    ] {
        if !all.is_empty() {
            parts.push(format!("#### {title}"));
            parts.push(bullets(all.iter().map(|text| escape(text))));
        }
    }
    if !diagnosis.tried.is_empty() {
        parts.push(table(diagnosis));
    }
    parts.push(format!("<sub>{}</sub>", escape(&say::header(diagnosis).join(" · "))));
    format!("{}\n", parts.join("\n\n")).replace('\u{a0}', " ")
}

fn table(diagnosis: &Diagnosis) -> String {
    let (header, rows) = diagnosis_table::table(diagnosis);
    let rule: Vec<&str> = header.iter().map(|(_, is_figure)| if *is_figure { "---:" } else { "---" }).collect();
    let names: Vec<&str> = header.iter().map(|(name, _)| *name).collect();
    let row = |cells: &Vec<String>| line(&cells.iter().map(String::as_str).collect::<Vec<_>>());
    [line(&names), line(&rule)].into_iter().chain(rows.iter().map(row)).collect::<Vec<_>>().join("\n")
}
