//! A run that is ready is carried out, judged and recorded.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::{Passed, RunOptions};
use lab::{
    LabError, Launcher, Perf, Prepared, ProcessLauncher, RunFolder, RunRecord, RunningElsewhere, Session, TrialTools,
    Unstarted,
};
use model::{Environment, Judged, LoadSpec, Plan, Timeline, TrialRecord};

use crate::exit::{Exit, Failure};
use crate::output::say;
use crate::progress::RunProgress;
use crate::run_nodes::Nodes;
use crate::{answer, commands, home};

/// A run that is about to begin or to be resumed.
pub(crate) struct PreparedRun {
    pub(crate) plan: Plan,
    pub(crate) prepared: Prepared,
    pub(crate) folder: RunFolder,
    pub(crate) environment: Environment,
    pub(crate) done: Vec<TrialRecord>,
    /// Who makes its loads, where this machine does not.
    pub(crate) nodes: Option<Nodes>,
}

/// A run that has ended, or was stopped.
pub(crate) struct Conducted {
    /// Its folder.
    pub(crate) path: PathBuf,
    pub(crate) record: RunRecord,
    pub(crate) judged: Judged,
    /// Its launches over time.
    pub(crate) timelines: Vec<Timeline>,
    pub(crate) interrupted: bool,
    /// The target that did not become ready, without which the run ended.
    pub(crate) unstarted: Option<Unstarted>,
    /// Whether the analysis lies beside the record.
    kept: bool,
}

/// Makes all trials that are missing, judges them, and puts the judgement beside the record.
pub(crate) fn conduct(
    mut begun: PreparedRun,
    keep_going: bool,
    stop: &AtomicBool,
    mut progress: RunProgress,
) -> Result<Conducted, Failure> {
    let running = begun.plan.diagnosis.as_ref().and_then(|asked| asked.running.clone());
    let launcher: Box<dyn Launcher> = match running {
        Some(running) => Box::new(RunningElsewhere { address: running.address, host: running.host, tls: running.tls }),
        None => Box::new(ProcessLauncher::new(home::executable())),
    };
    let perf = Perf::on_path(home::executable());
    let load =
        |spec: &LoadSpec, options: RunOptions, stop: &AtomicBool, told: &mut dyn FnMut(&Passed)| match &begun.nodes {
            Some(nodes) => nodes.load(spec, stop, told),
            None => engine::run(spec, options, stop, told),
        };
    let tools = TrialTools {
        launcher: &*launcher,
        load: &load,
        rotate: &engine::rotate,
        prepared: &begun.prepared,
        perf: &perf,
    };
    let (mut planner, nodes) = (judge::planner(&begun.plan), begun.plan.generator.nodes);
    let session = Session { plan: begun.plan, folder: &mut begun.folder, done: begun.done, tools, keep_going };
    let ended = session.run(&mut *planner, stop, &mut |event| progress.show(event));
    progress.stop();
    let path = begun.folder.path().to_owned();
    let ended = ended.map_err(|error| stopped(&error, &path, nodes))?;
    let record = RunRecord { plan: ended.plan, environment: begun.environment, trials: ended.trials };
    let (judged, timelines) = (answer::judge(&record), answer::timelines(&record, &path));
    let whole = begun.folder.verify().inspect_err(answer::say_unsure).is_ok();
    let kept = answer::write_documents(&path, &judged, &timelines)
        .inspect_err(|error| answer::say_unkept(error, &path))
        .is_ok();
    let (interrupted, unstarted) = (ended.interrupted, ended.unstarted);
    Ok(Conducted { path, record, judged, timelines, interrupted, unstarted, kept: kept && whole })
}

/// Why a run could not be recorded further, and how it is resumed.
fn stopped(error: &LabError, path: &Path, nodes: Option<u32>) -> Failure {
    let command = commands::resume(path, nodes);
    let cure = if error.is_change() {
        "stopping, because further launches could not be recorded. Restore the file from a copy, make sure that nothing else \
         writes to the run folder"
    } else {
        "what was measured is kept. Make room or fix that"
    };
    match error {
        LabError::Unloaded { .. } => {
            Failure::unreachable(format!("{error}\nwhat was measured is kept. See to that, then resume: {command}"))
        }
        _ => Failure::usage(format!("{error}\n{cure}, then resume: {command}")),
    }
}

impl Conducted {
    /// Says how to go on with a run that ended before its time.
    pub(crate) fn say_how_to_go_on(&self) {
        let nodes = self.record.plan.generator.nodes;
        if self.interrupted {
            say_interrupted(&self.path, nodes);
        }
        if let Some(unstarted) = &self.unstarted {
            let measured = self.record.trials.iter().any(|trial| trial.measurement.is_some());
            let others = measured && self.record.plan.comparison.is_none();
            say_unstarted((&self.path, nodes), unstarted, others);
        }
    }

    /// The status that it ends with; `gate` whether a contradicted claim is a bad answer.
    pub(crate) fn exit(&self, gate: bool) -> Exit {
        if self.kept { answer::exit(&self.record, &self.judged, gate) } else { Exit::Usage }
    }
}

/// Says what to do about a target without which a run ended, and how it then goes on; `others` whether it can do so
/// without that target.
fn say_unstarted((folder, nodes): (&Path, Option<u32>), Unstarted { target, why, started }: &Unstarted, others: bool) {
    let resume = commands::resume(folder, nodes);
    let what = if *started { "ended under the load that shows its capacity" } else { "did not become ready" };
    say(format!(
        "{target} {what}: {}\nwhat was measured is kept. If its command is wrong, correct it and start a new run; if \
         something else was missing, fix that and resume: {resume}",
        report::failed_words(why)
    ));
    if others {
        say(format!("without {target}: {resume} --keep-going"));
    }
}

/// Says how to resume what is in a folder.
pub(crate) fn say_interrupted(folder: &Path, nodes: Option<u32>) {
    say(format!("interrupted; what was measured is kept. To resume: {}", commands::resume(folder, nodes)));
}
