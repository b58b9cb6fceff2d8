use model::Soak;

use crate::markdown::{block, bullets, escape, line};
use crate::picture::{Illustrations, Subject};
use crate::soak_words as say;

/// A soak as GitHub Markdown.
pub fn soak_markdown(soak: &Soak) -> String {
    illustrated(soak, Illustrations::default())
}

/// The same with its picture, whose file is named.
pub(crate) fn illustrated(soak: &Soak, illustrations: Illustrations<'_>) -> String {
    let mut parts = vec![format!("### {}", escape(&soak.question)), format!("**{}**", escape(&say::answer(soak).1))];
    parts.extend(say::last_words(soak).map(block));
    parts.extend(illustrations.of(Subject::Tables));
    for (title, said) in say::sections(soak) {
        parts.push(format!("#### {title}"));
        parts.push(bullets(said.iter().map(|text| escape(text))));
    }
    if !soak.cycles.is_empty() {
        let (header, rows) = say::table(soak);
        let rule: Vec<&str> = header.iter().map(|(_, is_figure)| if *is_figure { "---:" } else { "---" }).collect();
        let names: Vec<&str> = header.iter().map(|(name, _)| *name).collect();
        let row = |cells: &Vec<String>| line(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        let lines: Vec<String> = [line(&names), line(&rule)].into_iter().chain(rows.iter().map(row)).collect();
        parts.push(lines.join("\n"));
    }
    parts.push(format!("<sub>{}</sub>", escape(&say::header(soak).join(" · "))));
    format!("{}\n", parts.join("\n\n")).replace('\u{a0}', " ")
}
