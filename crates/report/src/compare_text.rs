use model::{CompareAnalysis, ComparisonVerdict, GateVerdict};

use crate::compare_answer;
use crate::compare_question::question;
use crate::compare_words::{self as say, Line};
use crate::gate_words;
use crate::page::{Page, Style, Tint, join, length};
use crate::table;

/// What a person sees of a comparison: the answer, what was found, the gates, the tables, and then the notes.
pub fn compare_text(analysis: &CompareAnalysis, style: Style) -> String {
    let mut page = Page::new(style);
    page.paragraph(0, Tint::Bold, &question(analysis));
    say::bad(analysis).iter().for_each(|bad| bad.on(&mut page));
    let (said, text) = compare_answer::of_comparison(analysis);
    page.paragraph(0, said, &text);
    say::cautions(analysis).iter().for_each(|text| page.paragraph(0, Tint::Unsure, text));
    page.gap();
    for (verdict, text) in say::summary(analysis) {
        page.paragraph(0, tint(verdict), &text);
    }
    gates(&mut page, analysis);
    for (title, lines) in say::groups(analysis) {
        page.gap();
        page.table(&rows(&title, &lines));
    }
    page.gap();
    page.line(Tint::Bold, "Notes");
    join(&say::header(analysis), " · ", page.width()).iter().for_each(|line| page.line(Tint::Dim, line));
    say::session(analysis).iter().for_each(|text| page.paragraph(0, Tint::Dim, text));
    let void = say::void_trials(analysis);
    if !void.is_empty() {
        page.gap();
    }
    void.iter().for_each(|text| page.paragraph(0, Tint::Bad, text));
    page.finish()
}

fn tint(verdict: ComparisonVerdict) -> Tint {
    match verdict {
        ComparisonVerdict::Faster | ComparisonVerdict::Same => Tint::Good,
        ComparisonVerdict::Slower => Tint::Bad,
        ComparisonVerdict::Inconclusive => Tint::Unsure,
    }
}

fn rows(title: &str, lines: &[Line]) -> Vec<String> {
    let header = [title, "old", "new", "change", "", "verdict"].map(str::to_owned);
    let rows = lines.iter().map(|line| {
        let text = [&line.metric, &line.old, &line.new, &line.change, &line.interval, &line.verdict];
        text.map(Clone::clone).to_vec()
    });
    table::lines(Some(&header), &rows.collect::<Vec<_>>(), 1)
}

fn gates(page: &mut Page, analysis: &CompareAnalysis) {
    if analysis.gates.is_empty() {
        return;
    }
    page.gap();
    let labels = analysis.gates.iter().map(|gate| length(gate_words::verdict(gate.verdict))).max().unwrap_or(0);
    for gate in &analysis.gates {
        let tint = match gate.verdict {
            GateVerdict::Held => Tint::Good,
            GateVerdict::Broken => Tint::Bad,
            GateVerdict::Undecided => Tint::Unsure,
        };
        let (place, seen) = gate_words::seen(gate, analysis);
        page.entry(1, (tint, gate_words::verdict(gate.verdict)), labels, &format!("{}{place}: {seen}", gate.gate));
    }
}
