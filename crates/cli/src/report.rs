use lab::RunFolder;

use crate::answer;
use crate::args::{ReportArgs, ReportFormat};
use crate::exit::{Exit, Failure};

/// `bourdon report RUN`.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let record = RunFolder::read(&args.run).map_err(Failure::usage)?;
    let judged = answer::judge(&record);
    // The answer first: what cannot be kept can still be read.
    let printed = answer::print(&judged, args.shown).and_then(|()| match args.shown.format {
        ReportFormat::Text => answer::print_next_step(&judged, &args.run),
        _ => Ok(()),
    });
    if let Err(error) = answer::write_documents(&args.run, &judged) {
        answer::say_unkept(&error, &args.run);
        return Ok(Exit::Usage);
    }
    let is_void = answer::is_void(&judged, answer::allows_undecided(&record.plan));
    printed.map(|()| Exit::of_answer(judge::answer_is_bad(&judged), is_void))
}
