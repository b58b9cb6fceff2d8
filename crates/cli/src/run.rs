use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use jiff::Zoned;
use judge::RunPlanner;
use lab::{Builder, LabError, Perf, Prepared, ProcessLauncher, RunFolder, RunRecord, Session, TrialTools, Unstarted};
use model::{
    AbsentTarget, CellPlan, ClaimAnalysis, ClaimVerdict, Draft, ENVIRONMENT_SCHEMA, Environment, Judged, Level, Plan,
    TrialRecord, TrialStage,
};
use observe::ProcSource;
use specimens::Kind;

use crate::args::{ReportFormat, RunArgs};
use crate::calibrate;
use crate::compare;
use crate::exit::{Exit, Failure};
use crate::experiment::{self, Machine, Options};
use crate::found;
use crate::home;
use crate::interrupt::flag_on_interrupt;
use crate::open_files::reserve_files;
use crate::output::{say, write_out};
use crate::progress::RunProgress;
use crate::report;
use crate::resume::{self, Opened};
use crate::series;

/// A run that is about to begin or to be resumed.
pub(crate) struct PreparedRun {
    pub(crate) plan: Plan,
    pub(crate) prepared: Prepared,
    pub(crate) folder: RunFolder,
    pub(crate) environment: Environment,
    pub(crate) done: Vec<TrialRecord>,
}

/// A run that has ended, or was stopped.
pub(crate) struct Conducted {
    /// Its folder.
    pub(crate) path: PathBuf,
    pub(crate) record: RunRecord,
    pub(crate) judged: Judged,
    pub(crate) interrupted: bool,
    /// The target that could not be started, without which the run ended.
    pub(crate) unstarted: Option<Unstarted>,
    /// Whether the analysis lies beside the record.
    kept: bool,
    prepared: Prepared,
}

/// `bourdon run EXPERIMENT`.
pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    match (&args.resume, args.experiment.as_deref()) {
        (Some(folder), _) if series::is_one(folder) => return series::resume(args, folder),
        (None, Some(series::ALL)) if !Path::new(series::ALL).is_file() => return series::begin(args),
        _ => {}
    }
    let mut progress = RunProgress::new();
    // Until the plan is read a signal ends bourdon as any program: there is nothing to keep, and a file may be a FIFO.
    let (trial, stop) = match (&args.resume, &args.experiment) {
        (Some(folder), _) => {
            let opened = Opened::of(folder, args.blocks)?;
            if let Some(comparison) = opened.plan().comparison.clone() {
                return compare::resume(args.shown, opened, &comparison);
            }
            let stop = flag_on_interrupt()?;
            (opened.prepare(&stop, &mut progress)?, stop)
        }
        (None, Some(named)) => {
            let planned = plan(args, named)?;
            let stop = flag_on_interrupt()?;
            (begin(args, planned, &stop, &mut progress)?, stop)
        }
        (None, None) => return Err(Failure::usage("name an experiment, or a run with --resume")),
    };
    let ended = conduct(trial, args.keep_going, &stop, progress)?;
    report::print(&ended.judged, args.shown)?;
    if args.shown.format == ReportFormat::Text {
        write_out(&format!("\nRecord: {}\n", ended.path.display()))?;
        if !ended.interrupted && ended.unstarted.is_none() {
            report::print_next_step(&ended.judged, &ended.path)?;
        }
    }
    ended.say_how_to_go_on();
    if ended.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(exit(&ended, args.gate))
}

/// Builds what a plan launches, and says which target is being built. `recorded` are the digests of the programs that a
/// run was begun with.
pub(crate) fn build(
    plan: &Draft,
    recorded: &BTreeMap<String, String>,
    stop: &AtomicBool,
    progress: &mut RunProgress,
) -> Result<Prepared, Failure> {
    let prepared = lab::prepare(plan, recorded, &builder()?, stop, &mut |event| progress.show(event));
    if let Some(why) = &prepared.prevented {
        return Err(Failure::usage(why));
    }
    if prepared.interrupted {
        return Err(Failure::interrupted("interrupted while building; nothing was recorded"));
    }
    Ok(prepared)
}

fn builder() -> Result<Builder, Failure> {
    Ok(Builder::new(home::build_cache()?, home::executable()))
}

/// An experiment that was read and resolved.
pub(crate) struct Planned {
    draft: Draft,
    /// The folder beside which things are looked for.
    base: PathBuf,
}

/// Reads an experiment.
pub(crate) fn plan(args: &RunArgs, named: &str) -> Result<Planned, Failure> {
    let found = found::experiment(named)?;
    let zoo = found::targets(&found.folder)?;
    let options = Options {
        quick: args.quick,
        targets: (!args.target.is_empty()).then_some(args.target.as_slice()),
        blocks: args.blocks,
        seed: args.seed,
        allow_failures: args.allow_failures,
        generator: args.generator.asked(),
        zoo: &zoo,
        machine: Machine { cpus: cpus() },
        base: &found.folder,
    };
    let draft = experiment::plan(&found.source, &options)?;
    Ok(Planned { draft, base: found.folder })
}

pub(crate) fn begin(
    args: &RunArgs,
    Planned { draft: asked, base }: Planned,
    stop: &AtomicBool,
    progress: &mut RunProgress,
) -> Result<PreparedRun, Failure> {
    reserve(&asked)?;
    let mut prepared = build(&asked, &BTreeMap::new(), stop, progress)?;
    let mut draft = asked.clone().without(prepared.absent.clone());
    if draft.cells.is_empty() {
        if let Some(failed) = prepared.failed.first() {
            return Err(Failure::unreachable(&failed.reason));
        }
        if let (Some(lacks), Some(absent)) = (no_specimen(&asked), draft.absent.first()) {
            return Err(Failure::unreachable(format!("{}; no specimen {lacks} to stand in for it", absent.reason)));
        }
        say("no target can be built here: running on bourdon's own specimens instead");
        draft = on_specimens(asked, draft.absent, &base);
        prepared = build(&draft, &BTreeMap::new(), stop, progress)?;
    }
    record(draft, prepared, &args.runs, stop)
}

/// Makes a run of a plan, all of whose targets must build.
pub(crate) fn begin_whole(
    draft: Draft,
    runs: &Path,
    stop: &AtomicBool,
    progress: &mut RunProgress,
) -> Result<PreparedRun, Failure> {
    reserve(&draft)?;
    let prepared = build(&draft, &BTreeMap::new(), stop, progress)?;
    match prepared.failed.first().or(prepared.absent.first()) {
        Some(absent) => Err(Failure::unreachable(&absent.reason)),
        None => record(draft, prepared, runs, stop),
    }
}

/// Opens the folder in which a plan's run is recorded.
fn record(mut draft: Draft, prepared: Prepared, runs: &Path, stop: &AtomicBool) -> Result<PreparedRun, Failure> {
    draft.generator.limits = calibrate::stored_limits();
    draft.twin = judge::cell_for_twin(&draft);
    let plan = draft.resolve().map_err(Failure::usage)?;
    let environment = Environment { programs: prepared.digests(), ..environment(&plan, stop)? };
    let date = Zoned::now().date();
    let folder =
        RunFolder::create(runs, &format!("{date}-{}", plan.name), &plan, &environment).map_err(Failure::usage)?;
    say(format!("recording in {}", folder.path().display()));
    if let Some(few) = judge::too_few_blocks(&plan) {
        say(format!("note: {}", ::report::too_few_blocks(few)));
    }
    Ok(PreparedRun { plan, prepared, folder, environment, done: Vec::new() })
}

/// What a cell asks for that no specimen has or does.
fn no_specimen(plan: &Draft) -> Option<&'static str> {
    let any = |asks: fn(&CellPlan) -> bool| plan.cells.iter().any(asks);
    let has_routes = any(|cell| cell.load.mix.requests().len() > 1).then_some("has routes");
    has_routes.or_else(|| any(|cell| cell.tls).then_some("serves TLS"))
}

/// Open files for the cell that needs most: a network delay has two connections of its own for each of the load's.
pub(crate) fn reserve(plan: &Draft) -> Result<(), Failure> {
    let needs = |cell: &CellPlan| (cell.load.connections, if cell.load.network_delay_ns > 0 { 3 } else { 1 });
    let most = plan.cells.iter().map(needs).max_by_key(|(connections, each)| u64::from(*connections) * each);
    let (connections, files_each) = most.unwrap_or((1, 1));
    reserve_files(connections, files_each, "connections = ")
}

/// The same conditions on two specimens, a clean one and one that serves a request at a time: what a user without any
/// toolchain can still see. No claim can be tested on them.
fn on_specimens(asked: Draft, absent: Vec<AbsentTarget>, base: &Path) -> Draft {
    let targets = [Kind::Clean, Kind::Serialised].map(|kind| experiment::specimen(kind, base));
    let (mut cells, mut known): (Vec<CellPlan>, _) = (Vec::new(), BTreeSet::new());
    for (cell, target) in asked.cells.iter().flat_map(|cell| targets.iter().map(move |target| (cell, target))) {
        let mut cell = cell.clone();
        cell.levels.0.insert("target".to_owned(), Level::Text(target.name.clone()));
        if known.insert(cell.levels.clone()) {
            cells.push(cell);
        }
    }
    let mut claims = asked.claims;
    for claim in &mut claims {
        claim.not_testable.get_or_insert_with(|| "its targets cannot be built here".to_owned());
    }
    Draft { targets: targets.to_vec(), cells, claims, absent, ..asked }
}

/// Makes all trials that are missing, judges them, and puts the judgement beside the record.
pub(crate) fn conduct(
    mut trial: PreparedRun,
    keep_going: bool,
    stop: &AtomicBool,
    mut progress: RunProgress,
) -> Result<Conducted, Failure> {
    let launcher = ProcessLauncher::new(home::executable());
    let perf = Perf::on_path(home::executable());
    let tools = TrialTools { launcher: &launcher, load: &engine::run, prepared: &trial.prepared, perf: &perf };
    let mut planner = RunPlanner::new(&trial.plan);
    let session = Session { plan: trial.plan, folder: &mut trial.folder, done: trial.done, tools, keep_going };
    let ended = session.run(&mut planner, stop, &mut |event| progress.show(event));
    progress.stop();
    let path = trial.folder.path().to_owned();
    let ended = ended.map_err(|error| stopped(&error, &path))?;
    let record = RunRecord { plan: ended.plan, environment: trial.environment, trials: ended.trials };
    let judged = report::judge(&record);
    let whole = trial.folder.verify().inspect_err(report::say_changed).is_ok();
    let kept = report::write_documents(&path, &judged).inspect_err(|error| report::say_unkept(error, &path)).is_ok();
    let (interrupted, unstarted) = (ended.interrupted, ended.unstarted);
    Ok(Conducted { path, record, judged, interrupted, unstarted, kept: kept && whole, prepared: trial.prepared })
}

/// Why a run could not be recorded further, and how it is resumed.
fn stopped(error: &LabError, path: &Path) -> Failure {
    let command = resume::command(path);
    let cure = if error.is_change() {
        "nothing more is launched, for it could not be recorded. Restore the file from a copy, see to it that nothing else \
         writes to the run folder"
    } else {
        "what was measured is kept. Make room or mend that"
    };
    Failure::usage(format!("{error}\n{cure}, then resume: {command}"))
}

impl Conducted {
    /// Says how to go on with a run that ended before its time.
    pub(crate) fn say_how_to_go_on(&self) {
        if self.interrupted {
            resume::say_interrupted(&self.path);
        }
        if let Some(unstarted) = &self.unstarted {
            let measured = self.record.trials.iter().any(|trial| trial.measurement.is_some());
            let others = measured && self.record.plan.comparison.is_none();
            resume::say_unstarted(&self.path, unstarted, others);
        }
    }

    /// The status that does not depend on the figures: none where every launch served and the answer is kept.
    pub(crate) fn failure(&self) -> Option<Exit> {
        let stage = |trial: &TrialRecord| trial.failure.as_ref().map(|failure| failure.stage);
        let not_launched = |trial: &TrialRecord| matches!(stage(trial), Some(TrialStage::Launch | TrialStage::Ready));
        let refused = |trial: &TrialRecord| trial.measurement.as_ref().is_some_and(|of| of.connections.opened == 0);
        let unreached = |trial: &TrialRecord| not_launched(trial) || refused(trial);
        let unreachable =
            self.unstarted.is_some() || self.record.counted().any(unreached) || !self.prepared.failed.is_empty();
        match (self.kept, unreachable) {
            (false, _) => Some(Exit::Usage),
            (true, true) => Some(Exit::Unreachable),
            (true, false) => None,
        }
    }
}

pub(crate) fn exit(ended: &Conducted, gate: bool) -> Exit {
    if let Some(failure) = ended.failure() {
        return failure;
    }
    let is_contradicted = |claim: &ClaimAnalysis| claim.verdict == ClaimVerdict::Contradicted;
    let contradicted = match &ended.judged {
        Judged::Run(analysis) => analysis.claims.iter().any(is_contradicted),
        Judged::Comparison(_) => false,
    };
    let bad = judge::answer_is_bad(&ended.judged) || (gate && contradicted);
    Exit::of_answer(bad, judge::answer_is_void(&ended.judged))
}

/// The machine and the software, as they are now.
fn environment(plan: &Plan, stop: &AtomicBool) -> Result<Environment, Failure> {
    Ok(Environment {
        schema: ENVIRONMENT_SCHEMA.to_owned(),
        started_at: Zoned::now(),
        bourdon: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args().collect(),
        toolchains: lab::toolchain_versions(plan, &builder()?, stop).into_iter().collect::<BTreeMap<_, _>>(),
        ..observe::environment::read(&ProcSource::default(), Path::new("/sys"))
    })
}

pub(crate) fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}
