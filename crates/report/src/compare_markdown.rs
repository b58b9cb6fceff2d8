use model::{CompareAnalysis, ComparisonVerdict};

use crate::bad::Bad;
use crate::compare_answer;
use crate::compare_question::question;
use crate::compare_words::{self as say, Line};
use crate::gate_words;
use crate::markdown::{bullets, code, escape, line};
use crate::picture::Illustrations;

/// A comparison as GitHub Markdown, fit for a comment on a pull request.
pub fn compare_markdown(analysis: &CompareAnalysis) -> String {
    illustrated(analysis, Illustrations::default())
}

/// The same with pictures beside the tables.
pub(crate) fn illustrated(analysis: &CompareAnalysis, illustrations: Illustrations<'_>) -> String {
    let mut parts = vec![format!("### {}", escape(&question(analysis)))];
    parts.extend(say::bad(analysis).iter().map(Bad::markdown));
    parts.push(format!("**{}**", escape(&compare_answer::of_comparison(analysis).1)));
    let said = |(verdict, text): (ComparisonVerdict, String)| match verdict {
        ComparisonVerdict::Slower | ComparisonVerdict::Faster => format!("**{}**", escape(&text)),
        ComparisonVerdict::Same | ComparisonVerdict::Inconclusive => escape(&text),
    };
    parts.extend(say::cautions(analysis).iter().map(|text| format!("> **{}**", escape(text))));
    parts.push(bullets(say::summary(analysis).into_iter().map(said)));
    let gate = |gate: &model::GateResult| {
        let (place, seen) = gate_words::seen(gate, analysis);
        let (blank, said) = (if place.is_empty() { "" } else { " " }, escape(&format!("{place}: {seen}")));
        format!("**{}** {}{blank}{said}", gate_words::verdict(gate.verdict), code(&gate.gate))
    };
    parts.push(bullets(analysis.gates.iter().map(gate)));
    for (at, (title, lines)) in say::groups(analysis).into_iter().enumerate() {
        parts.push(table(&title, &lines));
        parts.extend(illustrations.of_table(at));
    }
    let small = say::session(analysis).into_iter().chain(say::void_trials(analysis));
    let small: Vec<String> = std::iter::once(say::header(analysis).join(" · ")).chain(small).collect();
    parts.push(small.iter().map(|text| format!("<sub>{}</sub>", escape(text))).collect::<Vec<_>>().join("\n\n"));
    parts.retain(|part| !part.is_empty());
    // Who copies a gate out of a comment gets plain blanks.
    format!("{}\n", parts.join("\n\n")).replace('\u{a0}', " ")
}

fn table(title: &str, lines: &[Line<'_>]) -> String {
    let mut rows = vec![
        line(&[&escape(title), "old", "new", "change", say::interval_title(lines), "verdict"]),
        line(&["---", "---:", "---:", "---:", "---:", "---"]),
    ];
    let row = |found: &Line<'_>| {
        line(&[&found.metric, &found.old, &found.new, &found.change, &found.interval, &found.verdict])
    };
    rows.extend(lines.iter().map(row));
    rows.join("\n")
}
