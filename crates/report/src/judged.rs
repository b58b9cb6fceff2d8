use model::{CompareAnalysis, CompareAnswer, Judged};
use serde::Serialize;

use crate::ordered_json::Json;
use crate::picture::{Illustrations, Picture};
use crate::said::{Said, to_json_with_answer};
use crate::told::told;
use crate::{
    Style, compare_markdown, compare_text, diagnosis_markdown, diagnosis_text, more_blocks, run_markdown, run_text,
    soak_markdown, soak_text,
};

/// A comparison with what all its rows together say, for programs.
#[derive(Serialize)]
struct Answered<'a> {
    #[serde(flatten)]
    analysis: &'a CompareAnalysis,
    answer: CompareAnswer,
}

impl Said for Answered<'_> {
    fn say(&self, json: &mut Json) {
        self.analysis.say(json);
    }
}

/// What a record means, for a terminal.
pub fn text(judged: &Judged, style: Style) -> String {
    match judged {
        Judged::Run(analysis) => run_text(analysis, style),
        Judged::Comparison(analysis) => compare_text(analysis, style),
        Judged::Diagnosis(diagnosis) => diagnosis_text(diagnosis, style),
        Judged::Soak(soak) => soak_text(soak, style),
    }
}

/// The same as GitHub Markdown.
pub fn markdown(judged: &Judged) -> String {
    match judged {
        Judged::Run(analysis) => run_markdown(analysis),
        Judged::Comparison(analysis) => compare_markdown(analysis),
        Judged::Diagnosis(diagnosis) => diagnosis_markdown(diagnosis),
        Judged::Soak(soak) => soak_markdown(soak),
    }
}

/// The same with pictures beside the tables, whose files are in a folder that the Markdown refers to by this path.
pub fn illustrated(judged: &Judged, folder: &str, pictures: &[Picture]) -> String {
    let illustrations = Illustrations { folder, pictures };
    match judged {
        Judged::Run(analysis) => run_markdown::illustrated(analysis, illustrations),
        Judged::Comparison(analysis) => compare_markdown::illustrated(analysis, illustrations),
        Judged::Diagnosis(diagnosis) => diagnosis_markdown::illustrated(diagnosis, illustrations),
        Judged::Soak(soak) => soak_markdown::illustrated(soak, illustrations),
    }
}

/// The same as one JSON document: `bourdon.report/2`, `bourdon.compare/2`, `bourdon.diagnosis/1` or `bourdon.soak/1`. Its `text` is the answer.
pub fn json(judged: &Judged) -> String {
    let (_, (_, answer)) = told(judged);
    match judged {
        Judged::Run(analysis) => to_json_with_answer(&**analysis, answer),
        Judged::Comparison(analysis) => to_json_with_answer(&Answered { answer: analysis.answer(), analysis }, answer),
        Judged::Diagnosis(diagnosis) => to_json_with_answer(&**diagnosis, answer),
        Judged::Soak(soak) => to_json_with_answer(&**soak, answer),
    }
}

/// `More blocks (14 for all of it): bourdon run --resume RUN --blocks 9`, to be pasted: what would settle what is open, or give a verdict
/// at all. `resume` is the command so far. Nothing where more blocks are not what is missing.
pub fn next_step(judged: &Judged, resume: &str) -> Option<String> {
    match judged {
        Judged::Run(analysis) => more_blocks::of_run(analysis, resume),
        Judged::Comparison(analysis) => more_blocks::of_comparison(analysis, resume),
        Judged::Diagnosis(_) | Judged::Soak(_) => None,
    }
}
