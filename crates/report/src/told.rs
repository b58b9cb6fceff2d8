//! What a record asks, and what came of it, in a sentence or two.

use model::Judged;

use crate::bad::Bad;
use crate::compare_question::question;
use crate::conditions::Conditions;
use crate::page::Tint;
use crate::rows::groups;
use crate::{answer, bad, compare_answer, compare_words, diagnosis_words, soak_words, words};

/// The question and the answer.
pub(crate) fn told(judged: &Judged) -> (String, (Tint, String)) {
    match judged {
        Judged::Run(analysis) => {
            let conditions = Conditions::of(analysis);
            let unsure = || words::preliminary(analysis).unwrap_or_else(|| "Its page has the figures.".to_owned());
            let answer = answer::of_run(analysis, &groups(analysis, &conditions));
            let answer = answer.unwrap_or_else(|| (Tint::Unsure, unsure()));
            let answer = behind(&bad::of_run(analysis, &conditions), answer);
            (analysis.question.clone(), answer)
        }
        Judged::Comparison(analysis) => {
            let answer = behind(&compare_words::bad(analysis), compare_answer::of_comparison(analysis));
            (question(analysis), answer)
        }
        Judged::Diagnosis(diagnosis) => (diagnosis.question.clone(), diagnosis_words::answer(diagnosis)),
        Judged::Soak(soak) => (soak.question.clone(), soak_words::answer(soak)),
    }
}

/// An answer behind what makes it a bad one, as on the run's own page.
fn behind(bad: &[Bad], (tint, answer): (Tint, String)) -> (Tint, String) {
    match bad.first() {
        Some(first) => (Tint::Bad, format!("{} {answer}", first.text())),
        None => (tint, answer),
    }
}
