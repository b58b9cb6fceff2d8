use std::collections::BTreeMap;
use std::path::Path;

use ::report::format::counted;
use ::report::{Picture, illustrated, pictures, pictures_of_launches};
use lab::RunFolder;
use model::{Judged, Load, Metric, Target, Timeline};

use crate::answer;
use crate::args::{ReportArgs, ReportFormat};
use crate::compare::loads::{self, Side};
use crate::exit::{Exit, Failure};
use crate::experiment::{GeneratorAsked, OneLoad};
use crate::output::{say, write_out};
use crate::ready;

/// Half width of "the same", where nobody says one: there is nothing to hold it against.
const MARGIN: f64 = 0.05;

/// `bourdon report RUN`.
pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    if args.charts.is_some() && args.shown.format != ReportFormat::Markdown {
        return Err(Failure::usage("pictures stand in Markdown; use --charts with --format markdown"));
    }
    if loads::are_there(&args.run) {
        return of_loads(args);
    }
    let record = RunFolder::read(&args.run).map_err(Failure::usage)?;
    let (judged, timelines) = (answer::judge(&record), answer::timelines(&record, &args.run));
    // The answer first: what cannot be kept can still be read.
    let printed = print(args, &judged, &timelines).and_then(|()| match args.shown.format {
        ReportFormat::Text => answer::print_next_step(&judged, &args.run, record.plan.generator.nodes),
        _ => Ok(()),
    });
    if let Err(error) = answer::write_documents(&args.run, &judged, &timelines) {
        answer::say_unkept(&error, &args.run);
        return Ok(Exit::Usage);
    }
    printed.map(|()| answer::exit(&record, &judged, false))
}

/// What a saved load shows, or a folder of some: they are files, and nothing is kept beside them.
fn of_loads(args: &ReportArgs) -> Result<Exit, Failure> {
    // Nothing of it is asked of a machine any more.
    let draft = |name: &str, targets: Vec<Target>, load: Load| {
        let asked = OneLoad {
            name,
            question: format!("What did {} show?", args.run.display()),
            seed: 0,
            margin: MARGIN,
            precise: vec![Metric::Throughput],
            precision: MARGIN,
            rotation: None,
            blocks: None,
            allow_failures: None,
            generator: GeneratorAsked::default(),
            machine: ready::machine(),
            targets,
            load,
            tls_resume: false,
        };
        asked.draft()
    };
    let side = Side::read(&args.run, &draft)?;
    side.lost.iter().for_each(|lost| say(format!("note: {lost}")));
    let mut judged = answer::judge(&side.record);
    if let Judged::Run(analysis) = &mut judged {
        analysis.of_loads = true;
        // Who made them, and where, no load says.
        analysis.session.cpus = None;
    }
    let timelines = judge::timelines(&side.record.trials, &BTreeMap::new());
    print(args, &judged, &timelines)?;
    let exit = answer::exit(&side.record, &judged, false);
    Ok(if side.lost.is_empty() { exit } else { exit.min(Exit::Void) })
}

fn print(args: &ReportArgs, judged: &Judged, timelines: &[Timeline]) -> Result<(), Failure> {
    let Some(folder) = &args.charts else { return answer::print(judged, timelines, args.shown) };
    let drawn = [pictures(judged), pictures_of_launches(judged, timelines)].concat();
    write_out(&illustrated(judged, &folder.to_string_lossy(), &drawn)).and_then(|()| keep(folder, &drawn))
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
