use std::path::Path;

use jiff::Timestamp;
use lab::{LabError, RunFolder, RunRecord};
use model::{Analysis, TrialRecord};

use crate::args::{ReportArgs, ReportFormat};
use crate::exit::{Exit, Failure};
use crate::load::{style, write_out};

/// `bourdon report RUN`.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let record = RunFolder::read(&args.run).map_err(Failure::usage)?;
    let analysis = analyse(&record);
    write_documents(&args.run, &analysis).map_err(Failure::usage)?;
    print(&analysis, args.format)?;
    Ok(Exit::Good)
}

/// Judges a record: the same record gives the same analysis to the bit.
pub(crate) fn analyse(record: &RunRecord) -> Analysis {
    let mut analysis = judge::analyse(&record.plan, &record.environment, &record.trials);
    analysis.elapsed_s = elapsed_s(&record.trials);
    analysis
}

/// From the first trial's start to the last one's end, as far as the record tells.
fn elapsed_s(trials: &[TrialRecord]) -> Option<f64> {
    let start = |trial: &TrialRecord| trial.started_at.parse::<Timestamp>().ok();
    let first = trials.iter().filter_map(start).min()?;
    let last = trials.iter().max_by_key(|trial| start(trial))?;
    let ready_s = last.time_to_ready_ms.unwrap_or(0.0) / 1e3;
    let window_s = last.measurement.as_ref().map_or(0.0, |measured| measured.window_s);
    Some(first.duration_until(start(last)?).as_secs_f64() + ready_s + window_s)
}

/// Puts the analysis beside the record.
pub(crate) fn write_documents(folder: &Path, analysis: &Analysis) -> Result<(), LabError> {
    RunFolder::write_document(folder, "analysis.json", &::report::run_json(analysis))?;
    RunFolder::write_document(folder, "report.md", &::report::run_markdown(analysis))
}

/// Prints the analysis on stdout.
pub(crate) fn print(analysis: &Analysis, format: ReportFormat) -> Result<(), Failure> {
    write_out(&match format {
        ReportFormat::Text => ::report::run_text(analysis, style()),
        ReportFormat::Json => ::report::run_json(analysis),
        ReportFormat::Markdown => ::report::run_markdown(analysis),
    })
}
