use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{LoadError, LoadOutput, Passed, RunOptions};
use jiff::Timestamp;
use model::{
    CellPlan, Census, Load, LoadSecond, LoadSpec, Observation, Plan, Sample, TRIAL_SCHEMA, Tls, TrialFailure,
    TrialRecord, TrialSpec, TrialStage,
};
use observe::Summary;
use reaper::MORE_PROCESSES;

use crate::census;
use crate::delay::DelayProxy;
use crate::error::LabError;
use crate::launch::{Gone, LaunchSpec, Launcher, Running, Unlaunched};
use crate::perf::Perf;
use crate::prepare::Prepared;
use crate::printed::tail;
use crate::profiler::{Profiled, Profiler, Taken};
use crate::record::Kept;
use crate::tls::Place;
use crate::watch::Watch;

/// Makes a load. The engine does; a test puts a simulated one in its place.
pub type Loader<'a> =
    &'a dyn Fn(&LoadSpec, RunOptions, &AtomicBool, &mut dyn FnMut(&Passed)) -> Result<LoadOutput, LoadError>;

/// What trials are made with.
#[derive(Clone, Copy)]
pub struct TrialTools<'a> {
    /// Starts targets.
    pub launcher: &'a dyn Launcher,
    /// Makes load.
    pub load: Loader<'a>,
    /// The built targets.
    pub prepared: &'a Prepared,
    /// Profiles targets that do not profile themselves.
    pub perf: &'a Perf,
}

/// How long a target is left alone after each rung of a ladder before its memory is read: what it gives back at once
/// it has given back by then.
const SETTLE: Duration = Duration::from_secs(1);

/// One trial's record and what is kept beside it.
pub(crate) struct TrialOutput {
    pub(crate) record: TrialRecord,
    pub(crate) kept: Kept,
}

impl TrialOutput {
    fn empty(plan: &Plan, spec: &TrialSpec) -> Self {
        Self { record: empty_record(cell_of(plan, spec), *spec), kept: Kept::default() }
    }
}

/// What is told while a launch is under way.
pub(crate) enum Told<'a> {
    /// What the launch of a target waits for.
    Waiting(&'a str, &'a str),
    /// What the launch of a target left behind.
    Left(&'a str, &'a Path),
    /// The load of a trial begins.
    Trial(TrialSpec),
    /// A second of it has passed.
    Second(&'a LoadSecond),
    /// Its target was looked at; the window begins at this moment of the engine's clock.
    Looks(&'a [Sample], u64),
}

/// Launches the target of some trials' cells once, and loads and watches it for one trial after the other. None when
/// it was stopped before the last window's end: then nothing of it is worth keeping. What was measured by then is kept,
/// however long its target takes to end.
///
/// # Errors
/// When what bourdon itself needs is missing. Nothing of it is kept then either: it says nothing about the target.
pub(crate) fn run_launch(
    plan: &Plan,
    specs: &[TrialSpec],
    tools: TrialTools<'_>,
    output: &Path,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<Option<Vec<TrialOutput>>, LabError> {
    let mut made: Vec<TrialOutput> = Vec::new();
    let Some(first_spec) = specs.first() else { return Ok(Some(made)) };
    let first = cell_of(plan, first_spec);
    let prevented = |text| LabError::Prevented { target: first.levels.target().to_owned(), text };
    tell(Told::Trial(*first_spec));
    let mut waiting = |seen: &str| tell(Told::Waiting(first.levels.target(), seen));
    match launch(plan, first, tools, output, stop, &mut waiting) {
        Ok(running) => {
            let mut rungs = Rungs { plan, tools, running, at_rest: None };
            let loaded = rungs.load_all(specs, stop, tell, &mut made);
            if let Some(folder) = rungs.running.stop() {
                tell(Told::Left(first.levels.target(), &folder));
            }
            match loaded {
                Ok(true) => {}
                Err(text) if !stop.load(Ordering::Relaxed) => return Err(prevented(text)),
                _ => return Ok(None),
            }
        }
        Err(_) if stop.load(Ordering::Relaxed) => return Ok(None),
        Err(Unlaunched::Prevented(text)) => return Err(prevented(text)),
        Err(Unlaunched::Failed(failure)) => made.extend(specs.iter().map(|spec| {
            let mut trial = TrialOutput::empty(plan, spec);
            trial.record.failure = Some(failure.clone());
            trial
        })),
    }
    for failure in made.iter_mut().filter_map(|trial| trial.record.failure.as_mut()) {
        if failure.output.is_empty() {
            failure.output = tail(output);
        }
    }
    Ok(Some(made))
}

/// The cell of a trial.
pub(crate) fn cell_of<'a>(plan: &'a Plan, spec: &TrialSpec) -> &'a CellPlan {
    // A planner asks for cells of its plan.
    plan.cells.get(spec.cell).unwrap_or_else(|| &plan.added[spec.cell - plan.cells.len()])
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
        started_at: Timestamp::now(),
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
    waiting: &mut dyn FnMut(&str),
) -> Result<Box<dyn Running>, Unlaunched> {
    let name = cell.levels.target();
    let no_target = || Unlaunched::Prevented(format!("the plan has no target `{name}`"));
    let target = plan.target(name).ok_or_else(no_target)?;
    // Its figures would be of two programs under one name.
    if let Some(why) = tools.prepared.changed(name, &cell.runtime, stop) {
        return Err(Unlaunched::Prevented(why));
    }
    let runtime = target.runtime(&cell.runtime);
    let spec = LaunchSpec {
        target,
        binary: tools.prepared.binary(name, &cell.runtime),
        runtime: &runtime,
        settings: &cell.settings,
        cpus: &cell.target_cpus,
        tls: cell.tls,
        output,
    };
    tools.launcher.launch(&spec, stop, waiting)
}

/// A target that runs, loaded by one trial after the other.
struct Rungs<'a> {
    plan: &'a Plan,
    tools: TrialTools<'a>,
    running: Box<dyn Running>,
    /// What was seen before any load.
    at_rest: Option<Sample>,
}

impl Rungs<'_> {
    /// Makes the loads of some trials; false when it was stopped before they were whole.
    fn load_all(
        &mut self,
        specs: &[TrialSpec],
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told<'_>),
        made: &mut Vec<TrialOutput>,
    ) -> Result<bool, String> {
        for spec in specs {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if !made.is_empty() {
                tell(Told::Trial(*spec));
            }
            let mut trial = TrialOutput::empty(self.plan, spec);
            if !self.load(cell_of(self.plan, spec), stop, tell, &mut trial)? {
                return Ok(false);
            }
            made.push(trial);
        }
        Ok(true)
    }

    /// Makes one load; false when it was stopped before its trial was whole. An error is something that is missing here; what
    /// becomes of the target is in the record.
    fn load(
        &mut self,
        cell: &CellPlan,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told<'_>),
        made: &mut TrialOutput,
    ) -> Result<bool, String> {
        let failure = |Gone { stage, how, hint }: Gone, when| TrialFailure {
            stage,
            text: format!("it {how} {when}{hint}"),
            output: String::new(),
            waited_ms: None,
        };
        if let Some(gone) = self.running.ended() {
            made.record.failure = Some(failure(gone, "before this load"));
            return Ok(true);
        }
        made.record.time_to_ready_ms = self.running.time_to_ready_ms();
        let proxy = self.delayed(cell).map_err(|error| format!("the network delay cannot be made: {error}"))?;
        let mut watch =
            self.watch(cell).map_err(|error| format!("nobody can watch the target: {error}; {MORE_PROCESSES}"))?;
        let profiler = cell.profile.then(|| self.profile(cell));
        let mut load = load_spec(self.plan, cell, self.running.address(), self.running.tls());
        // The target is still asked under its own name.
        load.address = proxy.as_ref().map_or(load.address, DelayProxy::address);
        let options = RunOptions { histograms: true };
        let loaded = (self.tools.load)(&load, options, stop, &mut |passed| {
            let start_ns = passed.window_start_ns;
            watch.take(start_ns, &mut |samples| tell(Told::Looks(samples, start_ns)));
            tell(Told::Second(&passed.second));
        });
        // A window that is whole was measured, and its trial is kept unless what is looked at after it is cut short.
        let mut cut =
            stop.load(Ordering::Relaxed) && loaded.as_ref().map_or(true, |output| output.measurement.interrupted);
        let delaying = proxy.map(DelayProxy::stop);
        let ended = self.running.ended();
        if self.plan.ladder.is_some() && watch.is_on() && ended.is_none() && !cut {
            std::thread::sleep(SETTLE);
        }
        let is_unguarded = ended.as_ref().is_some_and(|gone| gone.stage == TrialStage::Unguarded);
        let start_ns = loaded.as_ref().ok().map(|output| output.window_start_ns);
        let seen = watch.stop(start_ns, &mut |samples| tell(Told::Looks(samples, start_ns.unwrap_or(0))));
        // Nobody looks any more: what its clients make the target need is not the load's.
        let counts = ended.is_none() && !cut && cell.takes_census();
        let census = counts.then(|| self.census(cell, stop)).flatten();
        cut |= counts && stop.load(Ordering::Relaxed);
        match loaded {
            // What was seen of requests whose server somebody took away says nothing of that server.
            Ok(_) if is_unguarded => {}
            Ok(mut output) => {
                output.measurement.generator.network_delay = delaying;
                made.record.observation = seen.map(|(first, summary)| self.observation(cell, first, summary));
                made.record.observation.iter_mut().for_each(|seen| seen.census = census.clone());
                made.record.measurement = Some(output.measurement);
                if let Some(profiler) = profiler.filter(|_| !cut) {
                    match profiler.wait(stop) {
                        Some(given) => self.keep_profile(given, made),
                        None => cut = true,
                    }
                }
            }
            Err(error @ LoadError::Thread(_)) if ended.is_none() => {
                return Err(format!("{error}; {MORE_PROCESSES}"));
            }
            Err(error) if ended.is_none() => return Err(error.to_string()),
            Err(_) => {}
        }
        made.record.failure = ended.map(|gone| failure(gone, "under load"));
        Ok(!cut)
    }

    /// What serves the cell's connections.
    fn census(&self, cell: &CellPlan, stop: &AtomicBool) -> Option<Census> {
        let place = Place::new(self.running.address(), self.running.tls().filter(|_| cell.tls)).ok()?;
        Some(census::take(&place, cell.load.connections, cell.load.keep_alive, stop))
    }

    /// What delays a cell's load, where it is to be delayed. It runs on the generator's CPUs.
    fn delayed(&self, cell: &CellPlan) -> std::io::Result<Option<DelayProxy>> {
        let (delay_ns, cpus) = (cell.load.network_delay_ns, &self.plan.generator.cpus);
        (delay_ns > 0).then(|| DelayProxy::start(self.running.address(), delay_ns, cpus)).transpose()
    }

    /// What perf needs of the CPUs is taken from the generator's.
    fn profile(&self, cell: &CellPlan) -> Profiler {
        let target = Profiled { admin: self.running.admin_address(), pid: self.running.pid() };
        let window = (Duration::from_nanos(cell.load.warm_up_ns), Duration::from_nanos(cell.load.window_ns()));
        Profiler::start(target, window, self.tools.perf.clone(), self.plan.generator.cpus.clone())
    }

    fn keep_profile(&self, given: Result<Taken, String>, made: &mut TrialOutput) {
        let Some(seen) = made.record.observation.as_mut() else { return };
        let (words, kept) = (&self.plan.profile_functions, &mut made.kept);
        let read = given.and_then(|taken| match taken {
            Taken::Pprof(gzipped) => {
                kept.profile = gzipped;
                observe::read_profile(&kept.profile, words)
                    .map_err(|error| format!("the target's CPU profile is not one: {error}"))
            }
            Taken::Perf(gzipped) => {
                kept.perf = gzipped;
                observe::read_perf_script(&kept.perf, words)
                    .map_err(|error| format!("what `perf` says of the target is not a CPU profile: {error}"))
            }
        });
        match read {
            Ok(profile) => seen.profile = Some(profile),
            Err(why) => seen.no_profile = Some(why),
        }
    }

    fn watch(&self, cell: &CellPlan) -> std::io::Result<Watch> {
        let target = self.plan.target(cell.levels.target());
        let metrics = target.and_then(|target| target.launch.metrics.as_deref());
        Watch::start(&*self.running, metrics, cell)
    }

    fn observation(&mut self, cell: &CellPlan, first: Sample, summary: Summary) -> Observation {
        let at_rest = *self.at_rest.get_or_insert(first);
        let host_cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let all: &[u32] = if cell.target_cpus.is_empty() { &self.plan.target_cpus } else { &cell.target_cpus };
        let allowed = if all.is_empty() { host_cpus } else { all.len() as u32 };
        let mut seen = summary.end(allowed, host_cpus);
        (seen.memory_at_rest_bytes, seen.pss_at_rest_bytes) = (at_rest.rss_bytes, at_rest.pss_bytes);
        seen
    }
}

/// Handlers that all sleep for the same time would end, and be asked again, all at once: a rate that steps. So the
/// connections of a closed load begin spread over one delay, within the warm-up.
fn start_spread_ns(cell: &CellPlan) -> u64 {
    (cell.handler_delay_ns + cell.load.network_delay_ns).min(cell.load.warm_up_ns)
}

fn load_spec(plan: &Plan, cell: &CellPlan, address: std::net::SocketAddr, tls: Option<&Tls>) -> LoadSpec {
    let load = Load { mix: cell.load.mix.clone().at_host(&address.to_string()), ..cell.load.clone() };
    LoadSpec {
        address,
        tls: tls.map(|tls| Tls { resumption: cell.tls_resume, ..tls.clone() }),
        sources: Vec::new(),
        start_spread_ns: start_spread_ns(cell),
        threads: plan.generator.threads.min(load.connections),
        cpus: plan.generator.cpus.clone(),
        spin: plan.generator.spin,
        seed: plan.seed,
        load,
    }
}
