use std::path::Path;

use ::report::Style;
use jiff::Timestamp;
use judge::Run;
use lab::{LabError, RunFolder, RunRecord};
use model::{Judged, TrialRecord};

use crate::args::{ReportArgs, ReportFormat, ShownArgs};
use crate::exit::{Exit, Failure};
use crate::output::{say, style, write_out};
use crate::resume;

/// `bourdon report RUN`.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let record = RunFolder::read(&args.run).map_err(Failure::usage)?;
    let judged = judge(&record);
    // The answer first: what cannot be kept can still be read.
    let printed = print(&judged, args.shown).and_then(|()| match args.shown.format {
        ReportFormat::Text => print_next_step(&judged, &args.run),
        _ => Ok(()),
    });
    if let Err(error) = write_documents(&args.run, &judged) {
        say_unkept(&error, &args.run);
        return Ok(Exit::Usage);
    }
    printed.map(|()| Exit::of_answer(judge::answer_is_bad(&judged), judge::answer_is_void(&judged)))
}

/// Judges a record: the same record gives the same analysis to the bit.
pub(crate) fn judge(record: &RunRecord) -> Judged {
    let began_s = |trial: &TrialRecord| Some(trial.started_at.parse::<Timestamp>().ok()?.as_duration().as_secs_f64());
    judge::answer(of(record), judge::time_at_work_s(&record.plan, &record.trials, &began_s))
}

/// What `judge` has to know of a record.
pub(crate) fn of(record: &RunRecord) -> Run<'_> {
    Run { plan: &record.plan, environment: &record.environment, trials: &record.trials }
}

/// Puts the analysis beside the record.
pub(crate) fn write_documents(folder: &Path, judged: &Judged) -> Result<(), LabError> {
    RunFolder::write_document(folder, "analysis.json", &::report::json(judged))?;
    RunFolder::write_document(folder, "report.md", &::report::markdown(judged))
}

/// Says that the analysis is not beside the record, and how it gets there.
pub(crate) fn say_unkept(error: &LabError, folder: &Path) {
    let command = resume::subcommand("report", folder);
    say(format!("cannot keep the analysis: {error}\nthe record is untouched; make the analysis anew: {command}"));
}

/// Prints how a run that needs more blocks is given them.
pub(crate) fn print_next_step(judged: &Judged, folder: &Path) -> Result<(), Failure> {
    match ::report::next_step(judged, &resume::command(folder)) {
        Some(step) => write_out(&format!("{step}\n")),
        None => Ok(()),
    }
}

/// Prints the analysis on stdout.
pub(crate) fn print(judged: &Judged, shown: ShownArgs) -> Result<(), Failure> {
    write_out(&match shown.format {
        ReportFormat::Text => ::report::text(judged, Style { verbose: shown.verbose, ..style() }),
        ReportFormat::Json => ::report::json(judged),
        ReportFormat::Markdown => ::report::markdown(judged),
    })
}
