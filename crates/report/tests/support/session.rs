//! Sessions in virtual time: `judge`'s planner asks, `lab` carries it out on simulated servers, and the record is what `lab`
//! keeps. Only what the simulation does not have is written into the records: the CPU time and memory of servers that are no
//! processes, how busy the generator was, and when it all happened.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use engine::simulation::{SimulatedServer, simulate, simulate_rotation};
use jiff::Timestamp;
use judge::RunPlanner;
use lab::{LaunchSpec, Launcher, Perf, Prepared, RunFolder, Running, Session, TrialTools, Unlaunched};
use model::{
    Analysis, CompareAnalysis, Draft, Environment, Judged, LoadSpec, NS_PER_S, Observation, Plan, ProcessEnd, Sample,
    TrialRecord,
};
use observe::{Family, SeenSlice, SliceSummary, Summary};

pub(crate) const MS: u64 = 1_000_000;

/// A server to be simulated.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    /// What a request takes beside the handler delay.
    pub(crate) service_ns: u64,
    /// Requests served at once.
    pub(crate) workers: usize,
    pub(crate) cpu_us: f64,
    pub(crate) memory_bytes: u64,
    pub(crate) ready_ms: f64,
}

impl Server {
    pub(crate) fn new(name: &'static str, service_us: u64, cpu_us: f64) -> Self {
        let (memory_bytes, ready_ms) = (14_889_779, 12.0);
        Server { name, service_ns: service_us * 1_000, workers: usize::MAX, cpu_us, memory_bytes, ready_ms }
    }
}

/// What was recorded, which a test may change before it is judged.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) plan: Plan,
    pub(crate) environment: Environment,
    pub(crate) trials: Vec<TrialRecord>,
}

impl Recorded {
    pub(crate) fn as_run(&self) -> judge::Run<'_> {
        judge::Run { plan: &self.plan, environment: &self.environment, trials: &self.trials }
    }

    pub(crate) fn judged(&self) -> Judged {
        judge::answer(self.as_run())
    }

    pub(crate) fn run(&self) -> Analysis {
        let Judged::Run(analysis) = self.judged() else { panic!("it is a comparison") };
        *analysis
    }

    pub(crate) fn comparison(&self) -> CompareAnalysis {
        let Judged::Comparison(analysis) = self.judged() else { panic!("it is a run") };
        *analysis
    }

    /// The same under a plan that differs.
    pub(crate) fn planned(mut self, change: impl FnOnce(&mut Draft)) -> Self {
        self.plan = self.plan.with(change).unwrap();
        self
    }

    /// The trials of a target in some blocks, without its twin's; an empty name stands for any.
    pub(crate) fn trials_of<'a>(
        &'a mut self,
        target: &'a str,
        blocks: &'a [u32],
    ) -> impl Iterator<Item = &'a mut TrialRecord> {
        let of = move |trial: &&mut TrialRecord| {
            (target.is_empty() || trial.levels.target() == target) && blocks.contains(&trial.block) && !trial.twin
        };
        self.trials.iter_mut().filter(of)
    }
}

/// Carries out a plan on these servers, one for each of its targets in their order.
pub(crate) fn conduct(plan: Plan, environment: Environment, servers: &[Server]) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let mut folder = RunFolder::create(folder.path(), "run", &plan, &environment).unwrap();
    let launcher = Virtual { servers };
    let tools = TrialTools {
        launcher: &launcher,
        load: &|spec, options, _, progress| simulate(spec, simulated((0, spec), servers), options, progress),
        rotate: &|loads, options, stop, next, progress| {
            let servers = loads.iter().enumerate().map(|load| simulated(load, servers)).collect();
            simulate_rotation(loads, servers, options, stop, next, progress)
        },
        prepared: &Prepared::default(),
        perf: &Perf::default(),
    };
    let session = Session { plan: plan.clone(), folder: &mut folder, done: Vec::new(), tools, keep_going: true };
    let end = session.run(&mut RunPlanner::new(&plan), &AtomicBool::new(false), &mut |_| {}).unwrap();
    let mut trials = end.trials;
    let mut at_s = environment.started_at.timestamp().as_second();
    for trial in &mut trials {
        at_s = happened(trial, at_s);
        let server = servers.iter().find(|server| server.name == trial.levels.target()).unwrap();
        saw(trial, server);
    }
    Recorded { plan: end.plan, environment, trials }
}

/// Listens nowhere: the port that a server is given says which it is, and after which handler delay it answers.
struct Virtual<'a> {
    servers: &'a [Server],
}

struct Launched {
    address: SocketAddr,
    ready_ms: f64,
}

/// The variable by which a server is told its handler delay.
pub(crate) const DELAY: &str = "HANDLER_DELAY";

/// As many ports as there are milliseconds of delay at most.
const PORTS_OF_A_SERVER: u64 = 1_000;

impl Launcher for Virtual<'_> {
    fn launch(
        &self,
        spec: &LaunchSpec<'_>,
        _: &AtomicBool,
        _: &mut dyn FnMut(model::Waiting),
    ) -> Result<Box<dyn Running>, Unlaunched> {
        let place = self.servers.iter().position(|server| server.name == spec.target.name).unwrap();
        let delay_ms = spec.settings.get(DELAY).map_or(0, |delay| delay.trim_end_matches("ms").parse().unwrap());
        let port = (place as u64 + 1) * PORTS_OF_A_SERVER + delay_ms;
        let address = SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).unwrap()));
        Ok(Box::new(Launched { address, ready_ms: self.servers[place].ready_ms }))
    }
}

impl Running for Launched {
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn admin_address(&self) -> Option<SocketAddr> {
        None
    }
    fn family(&self) -> Option<Family> {
        None
    }
    fn time_to_ready_ms(&self) -> Option<f64> {
        Some(self.ready_ms)
    }
    fn ended(&mut self) -> Option<ProcessEnd> {
        None
    }
    fn stop(self: Box<Self>) -> Option<PathBuf> {
        None
    }
}

/// The server at an address, in a launch in which it is up to a hundredth slower or faster, as the seed of the load has it, and
/// its place among those that go round.
fn simulated((place, spec): (usize, &LoadSpec), servers: &[Server]) -> SimulatedServer {
    let port = u64::from(spec.address.port());
    let (server, delay_ns) = (&servers[(port / PORTS_OF_A_SERVER) as usize - 1], port % PORTS_OF_A_SERVER * MS);
    let seed = spec.seed.wrapping_add(place as u64);
    let service_ns = (server.service_ns as f64 * (1.0 + 0.01 * drawn(seed))) as u64;
    let slow = Some((50, (service_ns as f64 * (0.2 + 0.1 * drawn(!seed))) as u64));
    SimulatedServer {
        workers: server.workers,
        connect_ns: 61_000,
        slow,
        ..SimulatedServer::new(service_ns + delay_ns, BODY)
    }
}

pub(crate) const BODY: &str = "Hello world";

/// What a seed draws, from −1 to 1.
fn drawn(seed: u64) -> f64 {
    fastrand::Rng::with_seed(seed).f64() * 2.0 - 1.0
}

/// Puts a trial where it would have been, in seconds, and says where the next one is.
fn happened(trial: &mut TrialRecord, from_s: i64) -> i64 {
    let window_s = trial.measurement.as_ref().map_or(0.0, |measured| measured.window_s);
    let until_s = from_s + window_s.ceil() as i64 + 1;
    trial.started_at = Timestamp::from_second(from_s).unwrap();
    trial.ended_at = Some(Timestamp::from_second(until_s).unwrap());
    until_s
}

/// Adds what would have been seen of a process, and of the generator's thread.
fn saw(trial: &mut TrialRecord, server: &Server) {
    let Some(measured) = trial.measurement.as_mut() else { return };
    for thread in &mut measured.generator.threads {
        (thread.cpu_s, thread.run_delay_s) = (0.22 * thread.wall_s, Some(0.004 * thread.wall_s));
    }
    let seed = u64::from(trial.block) * 100 + u64::from(trial.position);
    let cpu_us = server.cpu_us * (1.0 + 0.005 * drawn(seed));
    let memory_bytes = (server.memory_bytes as f64 * (1.0 + 0.002 * drawn(seed + 1))) as u64;
    let server = &Server { memory_bytes, ..server.clone() };
    trial.time_to_ready_ms = Some(server.ready_ms * (1.0 + 0.03 * drawn(seed + 2)));
    trial.observation = Some(if trial.slices.is_empty() {
        alone(measured.requests_per_s() * cpu_us / 1e6, measured.window_s, server)
    } else {
        in_slices(trial, cpu_us, server)
    });
}

/// A look at a server that has used so many seconds of CPU.
fn look(at_s: f64, cpu_s: f64, memory_bytes: u64) -> Sample {
    Sample {
        at_ns: (at_s * 1e9) as u64,
        cpu_user_s: cpu_s,
        rss_bytes: memory_bytes,
        peak_rss_bytes: memory_bytes,
        peak_is_whole: true,
        processes: 1,
        threads: 4,
        host_busy_s: cpu_s,
        by_clock: true,
        ..Sample::default()
    }
}

/// What is seen of one that uses so many CPUs all the time.
fn alone(cpus: f64, window_s: f64, server: &Server) -> Observation {
    let mut summary = Summary::new(0, (window_s * NS_PER_S as f64) as u64, 1);
    for tenth in 0..=(window_s * 10.0).ceil() as u32 {
        let at_s = f64::from(tenth) / 10.0;
        summary.add(&look(at_s, cpus * at_s, server.memory_bytes));
    }
    summary.end(1, 2)
}

/// What is seen of one that uses so much CPU for each reply, in its slices alone.
fn in_slices(trial: &mut TrialRecord, cpu_us: f64, server: &Server) -> Observation {
    let (mut summary, mut used_s) = (SliceSummary::default(), 0.0);
    let mut next_at_s: Vec<f64> = trial.slices.iter().map(|slice| slice.at_s).skip(1).collect();
    next_at_s.extend(trial.slices.last().map(|slice| slice.at_s + slice.length_s));
    for (slice, next_s) in trial.slices.iter_mut().zip(next_at_s) {
        let end_s = slice.at_s + slice.length_s;
        let begin = look(slice.at_s, used_s, server.memory_bytes);
        slice.cpu_s = slice.replies as f64 * cpu_us / 1e6;
        slice.idle_s = next_s - end_s;
        slice.generator_run_delay_s = Some(0.004 * slice.length_s);
        used_s += slice.cpu_s;
        let end = look(end_s, used_s, server.memory_bytes);
        summary.add(&begin);
        summary.add(&end);
        if slice.round > 0 {
            let (targets_cpu_s, window_s) = (slice.cpu_s, slice.window_s);
            summary.add_slice(&SeenSlice {
                begin,
                end,
                targets_cpu_s,
                window_s,
                told_before: None,
                told_at_end: None,
                told_after: None,
            });
        }
    }
    summary.end(1, 2)
}
