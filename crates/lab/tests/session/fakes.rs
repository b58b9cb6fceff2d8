//! A launcher that launches nothing, a simulated load, and a plan of two targets.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::simulation::{SimulatedServer, simulate, simulate_rotation};
use engine::{LoadError, LoadOutput, Passed, RunOptions, SliceSpec, Sliced};
use judge::RunPlanner;
use lab::{
    LabError, LaunchSpec, Launcher, Loader, Perf, Prepared, Rotator, RunFolder, Running, Session, SessionEnd,
    TrialTools, Unlaunched,
};
use model::{
    Blocks, Cell as Levels, CellPlan, Draft, ENVIRONMENT_SCHEMA, EndedWhen, Environment, Event, Extent, GeneratorPlan,
    GuardEnd, HttpVersion, Instead, LaunchRecipe, Level, Load, LoadModel, LoadSpec, Mix, NotReady, Plan, Planner,
    ProcessEnd, ReplyExpectation, Request, Target, TargetEnd, TrialFailure, TrialStage, Waiting, WhyFailed,
};
use observe::Family;

pub(crate) const MS: u64 = 1_000_000;

/// Launches nothing, and remembers what it was asked for.
#[derive(Default)]
pub(crate) struct FakeLauncher {
    pub(crate) launched: RefCell<Vec<String>>,
    pub(crate) never_ready: Option<&'static str>,
    pub(crate) keep_going: bool,
    /// Starts, and is gone when its load is over.
    pub(crate) dies: Option<&'static str>,
    /// How often it is found alive before that.
    pub(crate) found_alive: u32,
    /// Whether somebody takes its guard away instead.
    pub(crate) is_bereft: bool,
    /// What runs now, and the most that ran at once.
    pub(crate) alive: Rc<Cell<[u32; 2]>>,
    /// The admin port of what is launched; with one, this process is watched in its place.
    pub(crate) admin: Option<SocketAddr>,
    /// There is none unless a test puts one here.
    pub(crate) perf: Perf,
}

struct FakeRunning {
    /// How often it is found alive, if it dies.
    dies: Option<u32>,
    how: ProcessEnd,
    alive: Rc<Cell<[u32; 2]>>,
    admin: Option<SocketAddr>,
}

/// Why a target of its is never ready.
pub(crate) fn not_ready() -> WhyFailed {
    NotReady { seen: Instead::Silent, within_ns: None, hints: Vec::new() }.into()
}

/// How one that dies is found.
pub(crate) const DEAD: TargetEnd =
    TargetEnd { how: ProcessEnd::Exited(3), when: EndedWhen::BeforeLoad, hints: Vec::new() };

impl Launcher for FakeLauncher {
    fn launch(
        &self,
        spec: &LaunchSpec<'_>,
        _stop: &AtomicBool,
        _tell: &mut dyn FnMut(Waiting),
    ) -> Result<Box<dyn Running>, Unlaunched> {
        self.launched.borrow_mut().push(spec.target.name.clone());
        if self.never_ready == Some(spec.target.name.as_str()) {
            return Err(Unlaunched::Failed(TrialFailure {
                stage: TrialStage::Ready,
                why: not_ready(),
                output: "no such file".into(),
                waited_ms: Some(60_000),
            }));
        }
        let dies = (self.dies == Some(spec.target.name.as_str())).then_some(self.found_alive);
        let how = if self.is_bereft { ProcessEnd::Unguarded(GuardEnd::Told) } else { DEAD.how };
        let [now, most] = self.alive.get();
        self.alive.set([now + 1, most.max(now + 1)]);
        Ok(Box::new(FakeRunning { dies, how, alive: Rc::clone(&self.alive), admin: self.admin }))
    }
}

impl Running for FakeRunning {
    fn address(&self) -> SocketAddr {
        "127.0.0.1:1".parse().unwrap()
    }
    fn admin_address(&self) -> Option<SocketAddr> {
        self.admin
    }
    fn family(&self) -> Option<Family> {
        self.admin.map(|_| Family::of(std::process::id()))
    }
    fn time_to_ready_ms(&self) -> Option<f64> {
        Some(1.0)
    }
    fn ended(&mut self) -> Option<ProcessEnd> {
        match &mut self.dies {
            None => None,
            Some(0) => Some(self.how),
            Some(more) => {
                *more -= 1;
                None
            }
        }
    }
    fn stop(self: Box<Self>) -> Option<std::path::PathBuf> {
        let [now, most] = self.alive.get();
        self.alive.set([now - 1, most]);
        None
    }
}

pub(crate) fn load(
    spec: &LoadSpec,
    options: RunOptions,
    _stop: &AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<LoadOutput, LoadError> {
    simulate(spec, SimulatedServer::new(10 * MS, "hi"), options, progress)
}

/// Slices that go round among servers that all take 10 ms.
pub(crate) fn rotate(
    loads: &[LoadSpec],
    options: RunOptions,
    stop: &AtomicBool,
    next: &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Vec<Option<LoadOutput>>, LoadError> {
    let servers = loads.iter().map(|_| SimulatedServer::new(10 * MS, "hi")).collect();
    simulate_rotation(loads, servers, options, stop, next, progress)
}

pub(crate) fn target(name: &str) -> Target {
    let launch = LaunchRecipe {
        run: vec!["x".into()],
        cwd: "/".into(),
        env: BTreeMap::new(),
        ready: "/".into(),
        metrics: None,
        ready_within_ns: model::READY_WITHIN_NS,
        warm_within_ns: 0,
    };
    Target::of(name, launch)
}

pub(crate) fn cell(target: &str, connections: u32) -> CellPlan {
    let request = Request {
        method: "GET".into(),
        path: "/".into(),
        host: String::new(),
        headers: vec![],
        body: vec![],
        version: HttpVersion::Http11,
    };
    CellPlan {
        levels: Levels(BTreeMap::from([
            ("target".to_owned(), Level::Text(target.into())),
            ("connections".to_owned(), Level::Integer(connections.into())),
        ])),
        load: Load {
            mix: Mix::one(request, ReplyExpectation { status: Some(200), body: Some(b"hi".to_vec()) }),
            model: LoadModel::Closed,
            connections,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            network_delay_ns: 0,
            warm_up_ns: 100 * MS,
            extent: Extent::Window(1000 * MS),
        },
        settings: BTreeMap::new(),
        runtime: "current".into(),
        handler_delay_ns: 0,
        target_cpus: vec![],
        rate_share: None,
        rate_arrivals: None,
        profile: false,
        without_admin: false,
        beside: None,
        backend: None,
        upstream: None,
        tls: false,
        tls_resume: false,
        census: Some(false),
        quick_ack: false,
        tried: None,
    }
}

pub(crate) fn plan(blocks: u32) -> Plan {
    draft(blocks).resolve().unwrap()
}

pub(crate) fn draft(blocks: u32) -> Draft {
    Draft {
        schema: model::PLAN_SCHEMA.into(),
        name: "test".into(),
        question: "Does it hold?".into(),
        source: None,
        quick: false,
        seed: 42,
        margin: 0.05,
        precision: 0.03,
        allow_failures: 0.01,
        precise: vec![model::Metric::Throughput],
        blocks: Blocks { min: blocks, max: blocks },
        blocks_before: vec![],
        repeats: 0,
        twin: None,
        twin_in_turn: None,
        ladder: None,
        rotation: None,
        profile_functions: vec![],
        generator: GeneratorPlan { threads: 1, cpus: vec![], spin: false, limits: None, nodes: None },
        target_cpus: vec![],
        factors: vec!["target".into(), "connections".into()],
        targets: vec![target("a"), target("b")],
        absent: vec![],
        relative_rates: Vec::new(),
        cells: vec![cell("a", 10), cell("b", 10), cell("a", 50), cell("b", 50)],
        added: Vec::new(),
        claims: vec![],
        comparison: None,
        diagnosis: None,
        soak: None,
    }
}

/// Runs `plan` into `folder`, stopping once `stop_after` trials have ended.
pub(crate) fn conduct(
    plan: &Plan,
    folder: &mut RunFolder,
    launcher: &FakeLauncher,
    stop_after: Option<usize>,
) -> SessionEnd {
    let (stop, mut ended) = (AtomicBool::new(false), 0);
    let on_event = &mut |event: &Event| {
        ended += usize::from(matches!(event, Event::TrialEnded { .. }));
        stop.store(stop_after.is_some_and(|after| ended >= after), Ordering::Relaxed);
    };
    conduct_telling(plan, folder, (launcher, &load), &stop, on_event).unwrap()
}

/// Runs `plan` into `folder` with a load of its own, and gives every event to `on_event`.
pub(crate) fn conduct_telling(
    plan: &Plan,
    folder: &mut RunFolder,
    (launcher, load): (&FakeLauncher, Loader<'_>),
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<SessionEnd, LabError> {
    conduct_planned(&mut RunPlanner::new(plan), plan, folder, (launcher, load, &rotate), stop, on_event)
}

/// Runs what a planner asks for into `folder`.
pub(crate) fn conduct_planned(
    planner: &mut dyn Planner,
    plan: &Plan,
    folder: &mut RunFolder,
    (launcher, load, rotate): (&FakeLauncher, Loader<'_>, Rotator<'_>),
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<SessionEnd, LabError> {
    let done = RunFolder::read(folder.path()).unwrap().trials;
    let prepared = Prepared::default();
    let tools = TrialTools { launcher, load, rotate, prepared: &prepared, perf: &launcher.perf };
    let session = Session { plan: plan.clone(), folder, done, tools, keep_going: launcher.keep_going };
    session.run(planner, stop, on_event)
}

/// The folder of a run that was stopped after three trials, and that nobody holds.
pub(crate) fn stopped_after_three(runs: &Path, plan: &Plan, launcher: &FakeLauncher) -> PathBuf {
    let mut folder = create(runs, plan);
    conduct(plan, &mut folder, launcher, Some(3));
    folder.path().to_owned()
}

pub(crate) fn create(runs: &Path, plan: &Plan) -> RunFolder {
    RunFolder::create(runs, "run", plan, &environment()).unwrap()
}

pub(crate) fn environment() -> Environment {
    Environment { schema: ENVIRONMENT_SCHEMA.to_owned(), ..Environment::default() }
}

pub(crate) fn order(end: &SessionEnd) -> Vec<(u32, usize)> {
    end.trials.iter().map(|trial| (trial.block, trial.cell)).collect()
}
