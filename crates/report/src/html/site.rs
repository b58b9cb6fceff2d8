//! The first page of a site: what each run asks and what came of it, with its page.

use jiff::Timestamp;
use maud::{Markup, html};
use model::{Environment, Judged};
use percent_encoding::utf8_percent_encode;

use super::{class, frame, text};
use crate::picture::KEPT;
use crate::told::told;
use crate::{asked_words, words};

/// The index as a page of a run names it.
pub(super) const INDEX: &str = "../../index.html";

/// A run of a site.
#[derive(Debug, Clone, PartialEq)]
pub struct SitePage {
    /// The name of its folder, in the site and where it was recorded.
    pub name: String,
    /// What it means, or why it cannot be read.
    pub outcome: Result<Judged, String>,
}

impl SitePage {
    /// When the run began, if it can be read.
    pub fn begun_at(&self) -> Option<Timestamp> {
        self.outcome.as_ref().ok().map(|judged| environment(judged).started_at.timestamp())
    }
}

/// The index of these runs: the answers first, then what could not be read. `bourdon` is the version that makes it.
pub fn index(runs: &[SitePage], bourdon: &str) -> String {
    let damaged = runs.iter().filter_map(|run| Some((run, run.outcome.as_ref().err()?)));
    let damaged: Vec<Markup> =
        damaged.map(|(run, why)| html! { li { strong { (text(&run.name)) } ": " (text(why)) } }).collect();
    let content = html! {
        header { h1 { "Verdicts" } }
        ol.claims { @for run in runs { @if let Ok(judged) = &run.outcome { (entry(&run.name, judged)) } } }
        @if !damaged.is_empty() {
            section #damaged { h2 { "Not readable" } ul.notes { @for one in &damaged { (one) } } }
        }
    };
    frame::bare("Verdicts", bourdon, &content)
}

fn entry(name: &str, judged: &Judged) -> Markup {
    let (question, (tint, answer)) = told(judged);
    let environment = environment(judged);
    let address = format!("runs/{}/report.html", utf8_percent_encode(name, KEPT));
    let begun = environment.started_at.strftime("%Y-%m-%d %H:%M UTC").to_string();
    let parts = [Some(name.to_owned()), Some(begun), load(judged), Some(words::machine(environment))];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    html! {
        li.claim.(class(tint)) {
            h2 { a href=(address) { (text(&question)) } }
            p { strong.verdict { (text(&answer)) } }
            p.dim { (text(&parts.join(" · "))) }
        }
    }
}

fn environment(judged: &Judged) -> &Environment {
    match judged {
        Judged::Run(analysis) => &analysis.environment,
        Judged::Comparison(analysis) => &analysis.environment,
        Judged::Diagnosis(diagnosis) => &diagnosis.environment,
        Judged::Soak(soak) => &soak.environment,
    }
}

fn load(judged: &Judged) -> Option<String> {
    match judged {
        Judged::Run(analysis) => asked_words::load(analysis.cells.iter()),
        Judged::Comparison(analysis) => asked_words::load(analysis.cells.iter().map(|of| &of.cell)),
        Judged::Diagnosis(_) | Judged::Soak(_) => None,
    }
}
