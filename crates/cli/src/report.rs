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
    printed.map(|()| answer::exit(&record, &judged, false))
}
