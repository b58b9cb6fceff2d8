//! One page over several experiments: what was claimed, what was measured, what holds.

use std::collections::BTreeSet;

use model::{Analysis, ClaimAnalysis, ClaimChance, ClaimVerdict, FewCores};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::asker::Asker;
use crate::bad::{self, Bad};
use crate::conditions::Conditions;
use crate::markdown::{bullets, code, escape, line};
use crate::ordered_json::Json;
use crate::run_markdown::ClaimCells;
use crate::said::{Said, to_json_in_words, within};
use crate::{claim_words, rate_words, words};

/// What came of one experiment of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdicts<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its analysis, or why there is none.
    pub outcome: Result<&'a Analysis, &'a str>,
}

/// The page as Markdown: a table of counts, then each experiment's claims.
pub fn verdicts_markdown(series: &[Verdicts<'_>]) -> String {
    let mut parts = vec!["# Verdicts".to_owned(), summary(series)];
    parts.extend(claim_words::by_chance(chance(series)));
    for one in series {
        parts.push(format!("## {}", escape(one.name)));
        match one.outcome {
            Err(reason) => parts.push(format!("Not run: {}", escape(reason))),
            Ok(analysis) => experiment(&mut parts, analysis),
        }
    }
    parts.retain(|part| !part.is_empty());
    format!("{}\n", parts.join("\n\n"))
}

/// The claims of all experiments together, and how many of them chance would support.
fn chance(series: &[Verdicts<'_>]) -> ClaimChance {
    let each = series.iter().filter_map(|one| Some(one.outcome.ok()?.claims_by_chance));
    each.fold(ClaimChance::default(), |sum, one| ClaimChance {
        tested: sum.tested.saturating_add(one.tested),
        supported: sum.supported + one.supported,
    })
}

/// Schema of the JSON document over several experiments.
pub const VERDICTS_SCHEMA: &str = "bourdon.verdicts/1";

/// The page as one JSON document: each experiment's name with its analysis, or why there is none.
pub fn verdicts_json(series: &[Verdicts<'_>]) -> String {
    to_json_in_words(&Document(series))
}

struct Document<'a>(&'a [Verdicts<'a>]);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let experiment = |one: &Verdicts<'_>| match one.outcome {
            Ok(analysis) => json!({ "name": one.name, "analysis": analysis }),
            Err(reason) => json!({ "name": one.name, "not_run": reason }),
        };
        let experiments: Vec<_> = self.0.iter().map(experiment).collect();
        json!({ "schema": VERDICTS_SCHEMA, "experiments": experiments }).serialize(to)
    }
}

impl Said for Document<'_> {
    fn say(&self, json: &mut Json) {
        let experiments = json.at("experiments").into_iter().flat_map(Json::items);
        for (one, json) in self.0.iter().zip(experiments) {
            one.outcome.iter().for_each(|analysis| within(json, "analysis", *analysis));
        }
    }
}

/// How many claims of a run got which verdict, in one line: `2 supported, 3 not refuted: 2 of 8 cores`.
pub fn verdict_counts(analysis: &Analysis) -> String {
    let counted = |shown: String| match count(analysis, &shown) {
        0 => None,
        number => Some(format!("{number} {shown}")),
    };
    shown_verdicts(&analysis.claims).into_iter().filter_map(counted).collect::<Vec<_>>().join(", ")
}

/// The words that claims are counted under: every verdict, and each "not refuted: … cores" that one of them got.
fn shown_verdicts<'a>(claims: impl IntoIterator<Item = &'a ClaimAnalysis>) -> Vec<String> {
    let fewer: BTreeSet<FewCores> = claims.into_iter().filter_map(|claim| claim.not_refuted).collect();
    let mut shown = Vec::new();
    for verdict in ClaimVerdict::ALL {
        shown.push(verdict.words().to_owned());
        if verdict == ClaimVerdict::Contradicted {
            shown.extend(fewer.iter().copied().map(claim_words::not_refuted));
        }
    }
    shown
}

fn count(analysis: &Analysis, shown: &str) -> usize {
    analysis.claims.iter().filter(|claim| claim_words::verdict(claim) == shown).count()
}

/// How many claims got which verdict, by experiment.
fn summary(series: &[Verdicts<'_>]) -> String {
    let shown = shown_verdicts(series.iter().filter_map(|one| one.outcome.ok()).flat_map(|run| &run.claims));
    let mut header = vec!["experiment"];
    header.extend(shown.iter().map(String::as_str));
    header.push("trials void");
    let mut rule = vec!["---"];
    rule.resize(header.len(), "---:");
    let mut lines = vec![line(&header), line(&rule)];
    for one in series {
        let Ok(analysis) = one.outcome else {
            lines.push(line(&[&escape(one.name), "not run"]));
            continue;
        };
        let mut cells = vec![escape(one.name)];
        cells.extend(shown.iter().map(|shown| count(analysis, shown).to_string()));
        cells.push(format!("{} of {}", analysis.trials.void, analysis.trials.total));
        lines.push(line(&cells.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    lines.join("\n")
}

fn experiment(parts: &mut Vec<String>, analysis: &Analysis) {
    let conditions = Conditions::of(analysis);
    parts.push(format!("**{}**", escape(&analysis.question)));
    parts.push(escape(&words::header(analysis).join(" · ")));
    parts.extend(words::windows(&analysis.cells.iter().collect::<Vec<_>>()).map(|text| escape(&text)));
    parts.extend(words::toolchains(&analysis.environment).map(|text| escape(&text)));
    parts.extend(bad::of_run(analysis, &conditions).iter().map(Bad::markdown));
    parts.extend(words::preliminary(analysis).map(|text| escape(&text)));
    let mut lines = vec![
        line(&["verdict", "says", "where", "published", "measured", "asked"]),
        line(&["---", "---", "---", "---:", "---:", "---"]),
    ];
    lines.extend(analysis.claims.iter().map(claim));
    parts.push(lines.join("\n"));
    let notes = analysis.claims.iter().flat_map(|claim| {
        let notes = claim_words::notes(claim, analysis).into_iter();
        notes.map(|note| format!("{}: {}", code(&claim.name), escape(&note)))
    });
    parts.push(bullets(notes));
    parts.push(bullets(analysis.findings.iter().map(|finding| escape(&words::finding_title(finding)))));
    parts.push(bullets(rate_words::relative(analysis, &conditions).iter().map(|text| escape(text))));
    let absent = words::absent(analysis).into_iter();
    parts.push(bullets(absent.map(|(names, reason)| format!("absent: {}: {}", names.join(", "), escape(reason)))));
    let void = words::void_trials(&analysis.void_trials, Asker::Experiment, |cell| conditions.title(cell));
    parts.push(bullets(void.iter().map(|text| escape(text))));
}

fn claim(claim: &ClaimAnalysis) -> String {
    let cells = ClaimCells::of(claim);
    line(&[&cells.verdict, &cells.says, &cells.conditions, &cells.published, &cells.measured, &cells.asked])
}
