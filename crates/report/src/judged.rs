use model::Judged;

use crate::{Style, claim_words, compare_json, compare_markdown, compare_text, run_json, run_markdown, run_text};

/// What a record means, for a terminal.
pub fn text(judged: &Judged, style: Style) -> String {
    match judged {
        Judged::Run(analysis) => run_text(analysis, style),
        Judged::Comparison(analysis) => compare_text(analysis, style),
    }
}

/// The same as GitHub Markdown.
pub fn markdown(judged: &Judged) -> String {
    match judged {
        Judged::Run(analysis) => run_markdown(analysis),
        Judged::Comparison(analysis) => compare_markdown(analysis),
    }
}

/// The same as one JSON document: `bourdon.report/1` or `bourdon.compare/1`.
pub fn json(judged: &Judged) -> String {
    match judged {
        Judged::Run(analysis) => run_json(analysis),
        Judged::Comparison(analysis) => compare_json(analysis),
    }
}

/// How more blocks would be had, where they are what is missing; `resume` is the command that resumes the run.
pub fn next_step(judged: &Judged, resume: &str) -> Option<String> {
    match judged {
        Judged::Run(analysis) => claim_words::next_step(analysis, resume),
        Judged::Comparison(_) => None,
    }
}
