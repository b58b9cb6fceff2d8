//! From an experiment to a run that is ready: read, built, with a folder that it is recorded in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use jiff::Zoned;
use lab::{Builder, Prepared, RunFolder};
use model::{AbsentTarget, CellPlan, Draft, ENVIRONMENT_SCHEMA, Environment, Factor, Level, WORK};
use observe::ProcSource;
use specimens::Kind;

use crate::args::RunArgs;
use crate::conduct::PreparedRun;
use crate::exit::Failure;
use crate::experiment::{self, Machine, Options};
use crate::open_files::{raise_files, reserve_files};
use crate::output::say;
use crate::progress::RunProgress;
use crate::request::without_credentials;
use crate::{calibrate, found, home};

/// What runtimes obey beside a target's own settings, which no target declares. Their values may hold a password.
const OBEYED: [&str; 13] = [
    "GODEBUG",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "NODE_OPTIONS",
    "PYTHONOPTIMIZE",
    "TOKIO_WORKER_THREADS",
    "UV_THREADPOOL_SIZE",
    "_JAVA_OPTIONS",
];

/// Builds what a plan launches, and says which target is being built. `recorded` are the digests of the programs that a
/// run was begun with.
pub(crate) fn build(
    plan: &Draft,
    recorded: &BTreeMap<String, String>,
    stop: &AtomicBool,
    progress: &mut RunProgress,
) -> Result<Prepared, Failure> {
    let prepared = lab::prepare(plan, recorded, &builder(plan)?, stop, &mut |event| progress.show(event));
    if let Some(why) = &prepared.prevented {
        return Err(Failure::usage(why));
    }
    if prepared.interrupted {
        return Err(Failure::interrupted("interrupted while building; nothing was recorded"));
    }
    Ok(prepared)
}

/// Where no target is built, nothing has to be kept.
fn builder(plan: &Draft) -> Result<Builder, Failure> {
    let cache = match home::build_cache() {
        Err(_) if plan.targets.iter().all(|target| target.build.is_none()) => PathBuf::new(),
        cache => cache?,
    };
    Ok(Builder::new(cache, home::executable()))
}

/// An experiment that was read and resolved.
pub(crate) struct Planned {
    pub(crate) draft: Draft,
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
        rotates: !args.no_rotation,
        generator: args.generator.asked(),
        zoo: &zoo,
        machine: machine(),
        base: &found.folder,
    };
    let draft = experiment::plan(&found.source, &options)?;
    Ok(Planned { draft, base: found.folder })
}

/// Makes a run of an experiment, as far as its targets build here; of the specimens where none does.
pub(crate) fn begin(
    args: &RunArgs,
    Planned { draft: mut asked, base }: Planned,
    stop: &AtomicBool,
    progress: &mut RunProgress,
) -> Result<PreparedRun, Failure> {
    reserve(&asked)?;
    together_or_alone(&mut asked);
    let mut prepared = build(&asked, &BTreeMap::new(), stop, progress)?;
    let mut draft = asked.clone().without(prepared.absent.clone());
    if draft.cells.is_empty() {
        if let Some(failed) = prepared.absent.iter().find(|absent| absent.failed) {
            return Err(Failure::unreachable(&failed.reason));
        }
        if let (Some(lacks), Some(absent)) = (no_specimen(&asked), draft.absent.first()) {
            return Err(Failure::unreachable(format!("{}; no specimen {lacks} to stand in for it", absent.reason)));
        }
        say("no target can be built here: running on bourdon's own specimens instead");
        draft = on_specimens(asked, draft.absent, &base);
        prepared = build(&draft, &BTreeMap::new(), stop, progress)?;
    }
    record(draft, prepared, &args.runs)
}

/// Makes a run of a plan, all of whose targets must build; `may_launch` looks at what was built before anything is recorded.
pub(crate) fn begin_whole(
    mut draft: Draft,
    runs: &Path,
    stop: &AtomicBool,
    progress: &mut RunProgress,
    may_launch: &dyn Fn(&Prepared) -> Result<(), Failure>,
) -> Result<PreparedRun, Failure> {
    reserve(&draft)?;
    together_or_alone(&mut draft);
    let prepared = build(&draft, &BTreeMap::new(), stop, progress)?;
    if let Some(absent) = prepared.absent.iter().find(|absent| absent.failed).or(prepared.absent.first()) {
        return Err(Failure::unreachable(&absent.reason));
    }
    may_launch(&prepared)?;
    record(draft, prepared, runs)
}

/// Opens the folder in which a plan's run is recorded.
fn record(mut draft: Draft, prepared: Prepared, runs: &Path) -> Result<PreparedRun, Failure> {
    // Of nodes nobody knows here what they can do.
    draft.generator.limits = calibrate::stored_limits().filter(|_| draft.generator.nodes.is_none());
    let is_of_one = draft.diagnosis.is_some() || draft.soak.is_some();
    draft.twin = if is_of_one { None } else { judge::cell_for_twin(&draft) };
    draft.twin_in_turn = judge::cell_for_twin_in_turn(&draft, draft.twin);
    let plan = draft.resolve().map_err(Failure::usage)?;
    let environment = environment(&prepared);
    let date = Zoned::now().date();
    let folder =
        RunFolder::create(runs, &format!("{date}-{}", plan.name), &plan, &environment).map_err(Failure::usage)?;
    say(format!("recording in {}", folder.path().display()));
    if !environment.variables.is_empty() {
        let (are, reach) = if environment.variables.len() == 1 { ("is", "reaches") } else { ("are", "reach") };
        say(format!("note: {} {are} set here and {reach} every server", environment.variables.join(", ")));
    }
    if let Some(few) = judge::too_few_blocks(&plan).filter(|_| !is_of_one) {
        say(format!("note: {}", ::report::too_few_blocks(few)));
    }
    Ok(PreparedRun { plan, prepared, folder, environment, done: Vec::new(), nodes: None })
}

/// What a cell asks for that no specimen has or does.
fn no_specimen(plan: &Draft) -> Option<&'static str> {
    let any = |asks: fn(&CellPlan) -> bool| plan.cells.iter().any(asks);
    let has_routes = any(|cell| cell.load.mix.requests().len() > 1).then_some("has routes");
    let works = any(|cell| cell.levels.get(WORK).is_some()).then_some("does work of several kinds");
    has_routes.or(works).or_else(|| any(|cell| cell.tls).then_some("serves TLS"))
}

/// Open files for the cell that needs most: a network delay has two connections of its own for each of the load's.
pub(crate) fn reserve(plan: &Draft) -> Result<(), Failure> {
    let needs = |cell: &CellPlan| {
        let beside = cell.beside.as_ref().map_or(0, |beside| beside.connections);
        // A backend has a connection for each request that is at work, and what a target never gives back.
        let backend = u64::from(cell.backend.is_some() || cell.upstream.is_some());
        let each = backend + if cell.load.network_delay_ns > 0 { 3 } else { 1 };
        (cell.load.connections.saturating_add(beside), each)
    };
    let most = plan.cells.iter().map(needs).max_by_key(|(connections, each)| u64::from(*connections) * each);
    let (connections, files_each) = most.unwrap_or((1, 1));
    reserve_files(connections, files_each, "connections = ")?;
    // What a target never gives back is open here, too.
    if plan.cells.iter().any(|cell| cell.backend.is_some() || cell.upstream.is_some()) { raise_files() } else { Ok(()) }
}

/// Open files for those that the load goes round among, whose connections are all open at once.
pub(crate) fn reserve_together(plan: &Draft) -> Result<(), Failure> {
    let of = |cells: Vec<usize>| -> u32 {
        let connections = |cell: &usize| plan.cells[*cell].load.connections;
        let twin = plan.twin.map_or(0, |_| cells.iter().map(connections).max().unwrap_or(0));
        cells.iter().map(connections).fold(twin, u32::saturating_add)
    };
    let most =
        plan.rotation.and_then(|_| plan.by_conditions().into_iter().filter(|cells| cells.len() > 1).map(of).max());
    most.map_or(Ok(()), |most| reserve_files(most, 1, "connections of all targets together = "))
}

/// Where this machine does not let all of them be open, each target has its launches alone.
pub(crate) fn together_or_alone(plan: &mut Draft) {
    let with_twin = Draft { twin: Some(0), ..plan.clone() };
    if reserve_together(&with_twin).is_err() {
        say(
            "note: each target is launched alone: for the connections of all to be open at once, raise the limit of open files \
             (ulimit -Hn)",
        );
        plan.rotation = None;
    }
}

/// The same conditions on two specimens, a clean one and one that serves a request at a time: what a user without any
/// toolchain can still see. No claim can be tested on them.
fn on_specimens(asked: Draft, absent: Vec<AbsentTarget>, base: &Path) -> Draft {
    let targets = [Kind::Clean, Kind::Serialised].map(|kind| experiment::specimen(kind, base));
    let (mut cells, mut known): (Vec<CellPlan>, _) = (Vec::new(), BTreeSet::new());
    for (cell, target) in asked.cells.iter().flat_map(|cell| targets.iter().map(move |target| (cell, target))) {
        let mut cell = cell.clone();
        cell.levels = cell.levels.clone().with(Factor::Target, Level::Text(target.name.clone()));
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

/// The machine and the software, as they are now.
pub(crate) fn environment(prepared: &Prepared) -> Environment {
    Environment {
        schema: ENVIRONMENT_SCHEMA.to_owned(),
        started_at: Zoned::now(),
        bourdon: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: without_credentials(std::env::args_os().map(|word| word.to_string_lossy().into_owned())),
        toolchains: prepared.toolchains.clone(),
        programs: prepared.digests(),
        variables: OBEYED.into_iter().filter(|name| std::env::var_os(name).is_some()).map(str::to_owned).collect(),
        ..observe::environment::read(&ProcSource::default(), Path::new("/sys"))
    }
}

/// The machine that experiments are resolved for.
pub(crate) fn machine() -> Machine {
    Machine { cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u32) }
}
