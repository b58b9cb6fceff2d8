use std::path::Path;

use ::report::format::counted;
use ::report::{Picture, illustrated, pictures, pictures_of_launches};
use lab::RunFolder;

use crate::answer;
use crate::args::{ReportArgs, ReportFormat};
use crate::exit::{Exit, Failure};
use crate::output::{say, write_out};

/// `bourdon report RUN`.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    if args.charts.is_some() && args.shown.format != ReportFormat::Markdown {
        return Err(Failure::usage("pictures stand in Markdown; use --charts with --format markdown"));
    }
    let record = RunFolder::read(&args.run).map_err(Failure::usage)?;
    let (judged, timelines) = (answer::judge(&record), answer::timelines(&record, &args.run));
    // The answer first: what cannot be kept can still be read.
    let printed = match &args.charts {
        Some(folder) => {
            let drawn = [pictures(&judged), pictures_of_launches(&judged, &timelines)].concat();
            write_out(&illustrated(&judged, &folder.to_string_lossy(), &drawn)).and_then(|()| keep(folder, &drawn))
        }
        None => answer::print(&judged, &timelines, args.shown).and_then(|()| match args.shown.format {
            ReportFormat::Text => answer::print_next_step(&judged, &args.run),
            _ => Ok(()),
        }),
    };
    if let Err(error) = answer::write_documents(&args.run, &judged, &timelines) {
        answer::say_unkept(&error, &args.run);
        return Ok(Exit::Usage);
    }
    printed.map(|()| answer::exit(&record, &judged, false))
}

/// Writes each picture to its file and its values beside it, in a folder that is made if it is missing, and says where that is.
fn keep(folder: &Path, drawn: &[Picture]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::usage(format!("cannot make the folder {}: {error}", folder.display())))?;
    let write = |picture: &Picture| {
        let (file, csv) = picture.csv();
        RunFolder::write_document(folder, &picture.file, &picture.svg)?;
        RunFolder::write_document(folder, &file, &csv)
    };
    drawn.iter().try_for_each(write).map_err(Failure::usage)?;
    let place = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let pictures = counted(drawn.len() as u64, "picture", "pictures");
    say(format!("{pictures} and their values (CSV) in {}", place.display()));
    Ok(())
}
