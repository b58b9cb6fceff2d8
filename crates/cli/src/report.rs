use std::path::Path;

use ::report::Style;
use jiff::Timestamp;
use lab::{LabError, RunFolder, RunRecord};
use model::{Analysis, TrialRecord};

use crate::args::{ReportArgs, ReportFormat, ShownArgs};
use crate::exit::{Exit, Failure};
use crate::output::{say, style, write_out};
use crate::resume;

/// `bourdon report RUN`.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let record = RunFolder::read(&args.run).map_err(Failure::usage)?;
    let analysis = analyse(&record);
    // The answer first: what cannot be kept can still be read.
    let printed = print(&analysis, args.shown).and_then(|()| match args.shown.format {
        ReportFormat::Text => print_next_step(&analysis, &args.run),
        _ => Ok(()),
    });
    if let Err(error) = write_documents(&args.run, &analysis) {
        say_unkept(&error, &args.run);
        return Ok(Exit::Usage);
    }
    printed.map(|()| Exit::of_answer(judge::answer_is_bad(&analysis), false))
}

/// Judges a record: the same record gives the same analysis to the bit.
pub(crate) fn analyse(record: &RunRecord) -> Analysis {
    let mut analysis = judge::analyse(&record.plan, &record.environment, &record.trials);
    let began_s = |trial: &TrialRecord| Some(trial.started_at.parse::<Timestamp>().ok()?.as_duration().as_secs_f64());
    analysis.elapsed_s = judge::time_at_work_s(&record.plan, &record.trials, &began_s);
    analysis
}

/// Puts the analysis beside the record.
pub(crate) fn write_documents(folder: &Path, analysis: &Analysis) -> Result<(), LabError> {
    RunFolder::write_document(folder, "analysis.json", &::report::run_json(analysis))?;
    RunFolder::write_document(folder, "report.md", &::report::run_markdown(analysis))
}

/// Says that the analysis is not beside the record, and how it gets there.
pub(crate) fn say_unkept(error: &LabError, folder: &Path) {
    let command = resume::subcommand("report", folder);
    say(format!("cannot keep the analysis: {error}\nthe record is untouched; make the analysis anew: {command}"));
}

/// Prints how a run that needs more blocks is given them.
pub(crate) fn print_next_step(analysis: &Analysis, folder: &Path) -> Result<(), Failure> {
    match ::report::next_step(analysis, &resume::command(folder)) {
        Some(step) => write_out(&format!("{step}\n")),
        None => Ok(()),
    }
}

/// Prints the analysis on stdout.
pub(crate) fn print(analysis: &Analysis, shown: ShownArgs) -> Result<(), Failure> {
    write_out(&match shown.format {
        ReportFormat::Text => ::report::run_text(analysis, Style { verbose: shown.verbose, ..style() }),
        ReportFormat::Json => ::report::run_json(analysis),
        ReportFormat::Markdown => ::report::run_markdown(analysis),
    })
}
