use std::path::Path;

use crate::args::{ReportFormat, RunArgs};
use crate::conduct::{Conducted, PreparedRun, conduct};
use crate::exit::{Exit, Failure};
use crate::interrupt::flag_on_interrupt;
use crate::output::write_out;
use crate::progress::RunProgress;
use crate::resume::Opened;
use crate::run_nodes::Nodes;
use crate::{answer, compare, ready, run_nodes, series};

/// `bourdon run EXPERIMENT`.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let nodes = Nodes::of(args)?;
    match (&args.resume, args.experiment.as_deref()) {
        (Some(folder), _) if nodes.is_some() && series::is_one(folder) => return Err(run_nodes::of_all()),
        (None, Some(series::ALL)) if nodes.is_some() => return Err(run_nodes::of_all()),
        (Some(folder), _) if series::is_one(folder) => return series::resume(args, folder),
        (None, Some(series::ALL)) if !Path::new(series::ALL).is_file() => return series::begin(args),
        _ => {}
    }
    let mut progress = RunProgress::new();
    // Until the plan is read a signal ends bourdon as any program: there is nothing to keep, and a file may be a FIFO.
    let (trial, stop) = match (&args.resume, &args.experiment) {
        (Some(folder), _) => {
            let opened = Opened::of(folder, args.blocks)?;
            run_nodes::refuse_others(opened.plan(), args)?;
            if let Some(comparison) = opened.plan().comparison.clone() {
                return compare::resume(args, opened, &comparison);
            }
            let stop = flag_on_interrupt()?;
            (opened.prepare(&stop, &mut progress)?, stop)
        }
        (None, Some(named)) => {
            let mut planned = ready::plan(args, named)?;
            nodes.iter().try_for_each(|nodes| nodes.make(&mut planned.draft))?;
            let stop = flag_on_interrupt()?;
            (ready::begin(args, planned, &stop, &mut progress)?, stop)
        }
        (None, None) => return Err(Failure::usage("name an experiment, or a run with --resume")),
    };
    let ended = conduct(PreparedRun { nodes, ..trial }, args.keep_going, &stop, progress)?;
    let shown = show(args, &ended);
    ended.say_how_to_go_on();
    shown.map_err(|failure| failure.of_interrupted(ended.interrupted))?;
    if ended.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(ended.exit(args.gate))
}

fn show(args: &RunArgs, ended: &Conducted) -> Result<(), Failure> {
    answer::print(&ended.judged, &ended.timelines, args.shown)?;
    if args.shown.format == ReportFormat::Text {
        write_out(&format!("\n{}\n", answer::whereabouts(&ended.path)))?;
        if !ended.interrupted && ended.unstarted.is_none() {
            answer::print_next_step(&ended.judged, &ended.path, ended.record.plan.generator.nodes)?;
        }
    }
    Ok(())
}
