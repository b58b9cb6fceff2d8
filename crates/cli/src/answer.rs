//! What a record says: judged, printed, kept beside it.

use std::path::Path;

use ::report::Style;
use judge::Run;
use lab::{LabError, RunFolder, RunRecord};
use model::{ClaimAnalysis, ClaimVerdict, Judged, Plan, Sureness, Timeline, TrialRecord, TrialStage};

use crate::args::{ReportFormat, ShownArgs};
use crate::commands;
use crate::exit::{Exit, Failure};
use crate::output::{say, style, write_out};

/// Judges a record: the same record gives the same analysis to the bit.
pub(crate) fn judge(record: &RunRecord) -> Judged {
    judge::answer(of(record))
}

/// The launches of a record over time, with what lies beside it in its folder.
pub(crate) fn timelines(record: &RunRecord, folder: &Path) -> Vec<Timeline> {
    judge::timelines(&record.trials, &RunFolder::traces(folder, &record.trials))
}

/// What `judge` has to know of a record.
pub(crate) fn of(record: &RunRecord) -> Run<'_> {
    Run { plan: &record.plan, environment: &record.environment, trials: &record.trials }
}

/// Whether nobody can vouch for an answer; `allow_undecided` whether gates may be left open.
pub(crate) fn is_void(judged: &Judged, allow_undecided: bool) -> bool {
    judge::answer_is_void(judged) && !(allow_undecided && judge::is_merely_undecided(judged))
}

/// Whether gates may be left open, as a comparison asked for when it began.
fn allows_undecided(plan: &Plan) -> bool {
    plan.comparison.as_ref().is_some_and(|asked| asked.allow_undecided)
}

/// The status of a record and the answer to it; `gate` whether a contradicted claim is a bad answer.
pub(crate) fn exit(record: &RunRecord, judged: &Judged, gate: bool) -> Exit {
    if record.counted().any(is_unreached) || record.plan.absent.iter().any(|absent| absent.failed) {
        return Exit::Unreachable;
    }
    let is_contradicted = |claim: &ClaimAnalysis| claim.verdict == ClaimVerdict::Contradicted;
    let contradicted = match judged {
        Judged::Run(analysis) => analysis.claims.iter().any(is_contradicted),
        Judged::Diagnosis(diagnosis) => diagnosis.findings.iter().any(|found| found.sureness == Sureness::Is),
        Judged::Soak(soak) => soak.is_bad(),
        Judged::Comparison(_) => false,
    };
    let bad = judge::answer_is_bad(judged) || (gate && contradicted);
    Exit::of_answer(bad, is_void(judged, allows_undecided(&record.plan)))
}

/// Whether its target could not be launched or reached, or not be kept alive by the load before the first block, on which all
/// others rest.
fn is_unreached(trial: &TrialRecord) -> bool {
    let stage = trial.failure.as_ref().map(|failure| failure.stage);
    let refused = trial.measurement.as_ref().is_some_and(|of| !of.connections.any());
    refused || matches!(stage, Some(TrialStage::Launch | TrialStage::Ready)) || stage.is_some() && trial.block == 0
}

/// Puts the analysis beside the record.
pub(crate) fn write_documents(folder: &Path, judged: &Judged, timelines: &[Timeline]) -> Result<(), LabError> {
    RunFolder::write_document(folder, "analysis.json", &::report::json(judged))?;
    RunFolder::write_document(folder, "report.md", &::report::markdown(judged))?;
    RunFolder::write_document(folder, "report.html", &::report::html(judged, timelines))
}

/// Where a record is, and its page if it has one; the record last.
pub(crate) fn whereabouts(folder: &Path) -> String {
    let page = folder.join("report.html");
    let page = if page.is_file() { format!("Page: {}\n", page.display()) } else { String::new() };
    format!("{page}Record: {}", folder.display())
}

/// Says that the analysis is not beside the record, and how it gets there.
pub(crate) fn say_unkept(error: &LabError, folder: &Path) {
    let command = commands::on("report", folder);
    say(format!("cannot keep the analysis: {error}\nthe record is untouched; make the analysis again: {command}"));
}

/// Says why the record may not be what the answer was made from.
pub(crate) fn say_unsure(error: &LabError) {
    say(if error.is_change() {
        format!(
            "the record is not what was measured: {error}\nthe answer here is of what was measured; `report` may give \
             another: keep this one and run again, where nothing else writes to the run folder"
        )
    } else {
        format!(
            "the record may not be whole: {error}\nthe answer here is of what was measured; `report` may give another: keep \
             this one"
        )
    });
}

/// Prints how a run that needs more blocks is given them.
pub(crate) fn print_next_step(judged: &Judged, folder: &Path, nodes: Option<u32>) -> Result<(), Failure> {
    match ::report::next_step(judged, &commands::resume(folder, nodes)) {
        Some(step) => write_out(&format!("{step}\n")),
        None => Ok(()),
    }
}

/// Prints the analysis on stdout; `timelines` are for a page.
pub(crate) fn print(judged: &Judged, timelines: &[Timeline], shown: ShownArgs) -> Result<(), Failure> {
    write_out(&match shown.format {
        ReportFormat::Text => ::report::text(judged, Style { verbose: shown.verbose, ..style() }),
        ReportFormat::Json => ::report::json(judged),
        ReportFormat::Markdown => ::report::markdown(judged),
        ReportFormat::Html => ::report::html(judged, timelines),
    })
}

#[cfg(test)]
mod tests {
    use model::{Draft, Environment};
    use proptest::prelude::{ProptestConfig, Strategy, prop, proptest};
    use proptest::sample::Index;
    use serde_json::{Number, Value};

    use super::*;

    macro_rules! recorded {
        ($file:literal) => {
            include_str!(concat!("../tests/recorded/first-version/", $file))
        };
    }

    /// Figures that sums, differences and quotients break on.
    fn damaged() -> impl Strategy<Value = Number> {
        let floats = [1e308, -1e308, 1e-308, -1.0, 1.5].map(|float| Number::from_f64(float).unwrap());
        let whole = [0, 1, u64::MAX, u64::MAX - 1, u64::MAX / 2, u64::from(u32::MAX)].map(Number::from);
        prop::sample::select([&floats[..], &whole[..]].concat())
    }

    fn numbers(value: &mut Value) -> Vec<&mut Value> {
        match value {
            Value::Number(_) => vec![value],
            Value::Array(values) => values.iter_mut().flat_map(numbers).collect(),
            Value::Object(fields) => fields.values_mut().flat_map(numbers).collect(),
            _ => Vec::new(),
        }
    }

    /// The trial with some of its figures replaced, as far as it is still taken.
    fn with(trial: &Value, changes: &[(Index, Number)]) -> TrialRecord {
        let mut damaged = trial.clone();
        for (at, by) in changes {
            let mut all = numbers(&mut damaged);
            let at = at.index(all.len());
            let whole = std::mem::replace(all[at], Value::Number(by.clone()));
            let read = serde_json::from_value::<TrialRecord>(damaged.clone());
            if read.map_or(true, |record| record.fault().is_some()) {
                *numbers(&mut damaged)[at] = whole;
            }
        }
        serde_json::from_value(damaged).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn figures_of_any_size_are_judged_and_shown_without_a_panic(
            changes in prop::collection::vec(prop::collection::vec((proptest::prelude::any::<Index>(), damaged()), 0..12), 16)
        ) {
            let plan: Plan = toml::from_str::<Draft>(recorded!("plan.toml")).unwrap().resolve().unwrap();
            let environment: Environment = serde_json::from_str(recorded!("environment.json")).unwrap();
            let lines = recorded!("trials.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let trials: Vec<TrialRecord> = lines.zip(&changes).map(|(line, changes)| with(&line, changes)).collect();
            assert_eq!(trials.len(), 16);
            let trials: Vec<TrialRecord> = trials.into_iter().filter(|trial| trial.cell < plan.cells.len()).collect();
            let judged = judge(&RunRecord { plan, environment, trials });
            let shown = ::report::text(&judged, Style { colour: false, width: 80, verbose: true });
            assert!(shown.contains("Notes") && ::report::markdown(&judged).contains('|'));
            assert!(::report::json(&judged).starts_with('{'));
        }
    }
}
