use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{LoadError, LoadOutput, MonotonicClock, RunOptions};
use jiff::Timestamp;
use model::{
    CellPlan, Extent, Interval, LoadSpec, Observation, Plan, TRIAL_SCHEMA, TrialFailure, TrialRecord, TrialSpec,
    TrialStage,
};
use observe::{Observer, ProcSource};

use crate::launch::{LaunchSpec, Launcher, Running};
use crate::prepare::Prepared;

/// How often a target is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Makes a load. The engine does; a test puts a simulated one in its place.
pub type Load<'a> =
    &'a dyn Fn(&LoadSpec, RunOptions<'_>, &AtomicBool, &mut dyn FnMut(&Interval)) -> Result<LoadOutput, LoadError>;

/// What trials are made with.
#[derive(Clone, Copy)]
pub struct TrialTools<'a> {
    /// Starts targets.
    pub launcher: &'a dyn Launcher,
    /// Makes load.
    pub load: Load<'a>,
    /// The built targets.
    pub prepared: &'a Prepared,
}

/// One trial's record and what is kept beside it.
pub(crate) struct TrialOutput {
    pub(crate) record: TrialRecord,
    pub(crate) interval_log: Option<Vec<u8>>,
    pub(crate) samples: String,
    /// Whether the load was stopped before its end: then the record is not worth keeping.
    pub(crate) interrupted: bool,
}

/// Launches one cell's target, loads it, watches it, stops it.
pub(crate) fn run_trial(
    plan: &Plan,
    spec: TrialSpec,
    tools: TrialTools<'_>,
    output: &Path,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Interval),
) -> TrialOutput {
    let cell = &plan.cells[spec.cell];
    let mut made = TrialOutput {
        record: empty_record(cell, spec),
        interval_log: None,
        samples: String::new(),
        interrupted: false,
    };
    match launch(plan, cell, tools, output, stop) {
        Ok(running) => measure(plan, cell, running, tools, stop, progress, &mut made),
        Err(failure) => made.record.failure = Some(failure),
    }
    if let Some(failure) = &mut made.record.failure
        && failure.output.is_empty()
    {
        failure.output = crate::launch::tail(output);
    }
    made.interrupted = stop.load(std::sync::atomic::Ordering::Relaxed);
    made
}

/// A record of a trial that has not happened yet.
pub(crate) fn empty_record(cell: &CellPlan, spec: TrialSpec) -> TrialRecord {
    TrialRecord {
        schema: TRIAL_SCHEMA.to_owned(),
        id: spec.id(),
        block: spec.block,
        position: spec.position,
        cell: spec.cell,
        twin: spec.twin,
        levels: cell.levels.clone(),
        started_at: Timestamp::now().to_string(),
        time_to_ready_ms: None,
        measurement: None,
        observation: None,
        failure: None,
    }
}

fn launch(
    plan: &Plan,
    cell: &CellPlan,
    tools: TrialTools<'_>,
    output: &Path,
    stop: &AtomicBool,
) -> Result<Box<dyn Running>, TrialFailure> {
    let name = cell.levels.target();
    let no_target = || TrialFailure {
        stage: TrialStage::Launch,
        text: format!("the plan has no target `{name}`"),
        output: String::new(),
    };
    let target = plan.target(name).ok_or_else(no_target)?;
    let runtime = target.runtime(&cell.runtime);
    let spec = LaunchSpec {
        target,
        binary: tools.prepared.binary(name, &cell.runtime).map(std::path::PathBuf::as_path),
        runtime: &runtime,
        settings: &cell.settings,
        cpus: &cell.target_cpus,
        output,
    };
    tools.launcher.launch(&spec, stop)
}

fn measure(
    plan: &Plan,
    cell: &CellPlan,
    mut running: Box<dyn Running>,
    tools: TrialTools<'_>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Interval),
    made: &mut TrialOutput,
) {
    made.record.time_to_ready_ms = Some(running.time_to_ready_ms());
    let observer =
        running.pid().map(|pid| Observer::start(pid, ProcSource::default(), Arc::new(MonotonicClock), LOOK_EVERY));
    let load = load_spec(plan, cell, running.address());
    let mut log = Vec::new();
    let loaded = (tools.load)(&load, RunOptions { interval_log: Some(&mut log) }, stop, progress);
    let ended = running.ended();
    let samples = observer.map(Observer::stop).unwrap_or_default();
    running.stop();
    let failure = |stage, text| TrialFailure { stage, text, output: String::new() };
    match loaded {
        Ok(output) => {
            if !samples.is_empty() {
                made.record.observation = Some(observation(plan, cell, &samples, &output));
            }
            made.samples = observe::write_csv(&samples, output.window_start_ns);
            made.record.measurement = Some(output.measurement);
            made.interval_log = Some(log);
        }
        Err(error) => made.record.failure = Some(failure(TrialStage::Load, error.to_string())),
    }
    if let Some(text) = ended {
        made.record.failure = Some(failure(TrialStage::Died, format!("it {text} under load")));
    }
}

fn observation(plan: &Plan, cell: &CellPlan, samples: &[model::Sample], output: &LoadOutput) -> Observation {
    let host_cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let all: &[u32] = if cell.target_cpus.is_empty() { &plan.target_cpus } else { &cell.target_cpus };
    let allowed = if all.is_empty() { host_cpus } else { all.len() as u32 };
    observe::summarise(samples, output.window_start_ns, output.window_end_ns, allowed, host_cpus)
}

fn load_spec(plan: &Plan, cell: &CellPlan, address: std::net::SocketAddr) -> LoadSpec {
    let load = &cell.load;
    LoadSpec {
        address,
        mix: load.mix.clone().at_host(&address.to_string()),
        model: load.load_model,
        connections: load.connections,
        pipeline: load.pipeline,
        keep_alive: load.keep_alive,
        timeout_ns: load.timeout_ns,
        warm_up_ns: load.warm_up_ns,
        extent: Extent::Window(load.window_ns),
        threads: plan.generator.threads.min(load.connections),
        cpus: plan.generator.cpus.clone(),
        seed: plan.seed,
        sources: Vec::new(),
        spin: false,
    }
}
