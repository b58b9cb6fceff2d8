use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{LoadError, LoadOutput, Passed, RunOptions, SliceSpec, Sliced};
use jiff::Timestamp;
use model::{
    CellPlan, EndedWhen, Load, LoadSecond, LoadSpec, NoPerf, NoPprof, NoProfile, Observation, Plan, ProcessEnd, Sample,
    TRIAL_SCHEMA, TargetEnd, ThreadUse, Tls, TrialFailure, TrialRecord, TrialSpec, TrialStage, Waiting, WhyFailed,
    seed_of,
};
use observe::Summary;
use reaper::MORE_PROCESSES;

use crate::behind::Behind;
use crate::beside::{beside_spec, with_beside};
use crate::error::LabError;
use crate::heap::{HeapCounter, has_jvm};
use crate::launch::{LaunchSpec, Launcher, Running, Unlaunched};
use crate::own_tree;
use crate::perf::Perf;
use crate::prepare::Prepared;
use crate::printed::tail;
use crate::profiler::Taken;
use crate::record::Kept;
use crate::watch::{Watch, Watched, is_dose};

/// Makes a load. The engine does; a test puts a simulated one in its place.
pub type Loader<'a> =
    &'a dyn Fn(&LoadSpec, RunOptions, &AtomicBool, &mut dyn FnMut(&Passed)) -> Result<LoadOutput, LoadError>;

/// Makes slices that go round among servers, as [`engine::rotate`] does; a test puts simulated servers in their place.
pub type Rotator<'a> = &'a dyn Fn(
    &[LoadSpec],
    RunOptions,
    &AtomicBool,
    &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
    &mut dyn FnMut(&Passed),
) -> Result<Vec<Option<LoadOutput>>, LoadError>;

/// What trials are made with.
#[derive(Clone, Copy)]
pub struct TrialTools<'a> {
    /// Starts targets.
    pub launcher: &'a dyn Launcher,
    /// Makes load.
    pub load: Loader<'a>,
    /// Makes load that goes round among targets.
    pub rotate: Rotator<'a>,
    /// The built targets.
    pub prepared: &'a Prepared,
    /// Profiles targets that do not profile themselves.
    pub perf: &'a Perf,
}

/// One trial's record and what is kept beside it.
pub(crate) struct TrialOutput {
    pub(crate) record: TrialRecord,
    pub(crate) kept: Kept,
}

impl TrialOutput {
    pub(crate) fn empty(plan: &Plan, spec: &TrialSpec) -> Self {
        Self { record: empty_record(cell_of(plan, spec), *spec), kept: Kept::default() }
    }
}

/// What is told while a launch is under way.
pub(crate) enum LaunchEvent<'a> {
    /// What the launch of a target waits for.
    Waiting(&'a str, Waiting),
    /// What the launch of a target left behind.
    Left(&'a str, &'a Path),
    /// The load of a trial begins.
    Trial(TrialSpec),
    /// A second of a trial's load has passed.
    Second(TrialSpec, &'a LoadSecond),
    /// A trial is made, before others on the same launch.
    Made(Box<TrialOutput>),
    /// A trial's target was looked at; times count from this moment of the engine's clock.
    Samples(TrialSpec, &'a [Sample], u64),
}

/// Launches the target of some trials' cells once, and loads and watches it for one trial after the other, and for so long after each. None when
/// it was stopped before the last window's end, or the rest after it: then nothing of it is worth keeping, except in a soak, whose trials are told one by
/// one. What was measured by then is kept, however long its target takes to end.
///
/// # Errors
/// When what bourdon itself needs is missing. Nothing of it is kept then either: it says nothing about the target.
pub(crate) fn run_launch(
    plan: &Plan,
    specs: &[TrialSpec],
    tools: TrialTools<'_>,
    (output, rest): (&Path, Duration),
    stop: &AtomicBool,
    tell: &mut dyn FnMut(LaunchEvent<'_>),
) -> Result<Option<Vec<TrialOutput>>, LabError> {
    let mut made: Vec<TrialOutput> = Vec::new();
    let Some(first_spec) = specs.first() else { return Ok(Some(made)) };
    let first = cell_of(plan, first_spec);
    let prevented = |text| LabError::Prevented { target: first.levels.target().to_owned(), text };
    tell(LaunchEvent::Trial(*first_spec));
    let began = Timestamp::now();
    let mut waiting = |seen| tell(LaunchEvent::Waiting(first.levels.target(), seen));
    match launch(plan, first, tools, output, stop, &mut waiting) {
        Ok((running, behind)) => {
            let soak = plan.soak.as_ref().filter(|_| first_spec.block > 0);
            let heap = soak.map(|soak| HeapCounter::of(&*running, soak.inspect, &tools.perf.executable)).transpose();
            let heap = match heap {
                Ok(heap) => heap,
                Err(why) => {
                    running.stop();
                    return Err(prevented(why));
                }
            };
            let mut rungs = Rungs { plan, tools, running, behind, heap, began, rest, at_rest: None };
            let loaded = rungs.load_all(specs, stop, tell, &mut made);
            if let Some(folder) = rungs.running.stop() {
                tell(LaunchEvent::Left(first.levels.target(), &folder));
            }
            if let Some(last) = made.last_mut() {
                last.record.ended_at = Some(Timestamp::now());
            }
            match loaded {
                Ok(true) => {}
                Err(error) if !stop.load(Ordering::Relaxed) => return Err(error),
                _ => return Ok(None),
            }
        }
        Err(Unlaunched::Interrupted) => return Ok(None),
        Err(_) if stop.load(Ordering::Relaxed) => return Ok(None),
        Err(Unlaunched::Prevented(text)) => return Err(prevented(text)),
        Err(Unlaunched::Failed(failure)) => made.extend(specs.iter().map(|spec| {
            let mut trial = TrialOutput::empty(plan, spec);
            trial.record.failure = Some(failure.clone());
            (trial.record.started_at, trial.record.ended_at) = (began, Some(Timestamp::now()));
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
        ended_at: None,
        time_to_ready_ms: None,
        measurement: None,
        beside: None,
        backend: None,
        observation: None,
        failure: None,
        slices: Vec::new(),
    }
}

/// The record of a launch that is not made, because an earlier one of its target came to nothing.
pub(crate) fn given_up(mut record: TrialRecord, why: &WhyFailed) -> TrialRecord {
    record.ended_at = Some(record.started_at);
    record.failure = Some(TrialFailure::new(TrialStage::NotTried, WhyFailed::NotAgain(Box::new(why.clone()))));
    record
}

/// What the end of a target makes of a trial; `when` that was.
pub(crate) fn died(how: ProcessEnd, when: EndedWhen) -> TrialFailure {
    let stage = if how.is_unguarded() { TrialStage::Unguarded } else { TrialStage::Died };
    TrialFailure::new(stage, TargetEnd { how, when, hints: Vec::new() })
}

/// CPUs of this machine.
pub(crate) fn host_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// How many of them a cell's target may use.
pub(crate) fn cpus_allowed(plan: &Plan, cell: &CellPlan) -> u32 {
    let all = if cell.target_cpus.is_empty() { &plan.target_cpus } else { &cell.target_cpus };
    if all.is_empty() { host_cpus() } else { all.len() as u32 }
}

/// Starts a cell's target, and before it the server that its handlers ask, where there is one.
pub(crate) fn launch(
    plan: &Plan,
    cell: &CellPlan,
    tools: TrialTools<'_>,
    output: &Path,
    stop: &AtomicBool,
    waiting: &mut dyn FnMut(Waiting),
) -> Result<(Box<dyn Running>, Option<Behind>), Unlaunched> {
    let name = cell.levels.target();
    let no_target = || Unlaunched::Prevented(format!("the plan has no target `{name}`"));
    let target = plan.target(name).ok_or_else(no_target)?;
    // Its figures would be of two programs under one name.
    if let Some(why) = tools.prepared.changed(name, &cell.runtime, stop) {
        return Err(Unlaunched::Prevented(why));
    }
    let runtime = target.runtime(&cell.runtime);
    let silent = |error| Unlaunched::Prevented(format!("the server that its handlers ask does not start: {error}"));
    let behind = Behind::start(cell, &plan.generator.cpus).map_err(silent)?;
    let asks = behind.as_ref().map(Behind::variable).map(|(name, value)| (name.to_owned(), value));
    let settings: BTreeMap<String, String> = cell.settings.clone().into_iter().chain(asks).collect();
    let spec = LaunchSpec {
        target,
        binary: tools.prepared.binary(name, &cell.runtime),
        runtime: &runtime,
        settings: &settings,
        cpus: &cell.target_cpus,
        tls: cell.tls,
        admin: !cell.without_admin,
        output,
    };
    let running = tools.launcher.launch(&spec, stop, waiting)?;
    match own_tree::is_of_another_revision(plan, target, tools.prepared, &*running) {
        Some(why) => Err(Unlaunched::Prevented(why)),
        None => Ok((running, behind)),
    }
}

/// A target that runs, loaded by one trial after the other.
struct Rungs<'a> {
    plan: &'a Plan,
    tools: TrialTools<'a>,
    running: Box<dyn Running>,
    /// What its handlers ask.
    behind: Option<Behind>,
    /// Who counts its heap after each load, in a soak.
    heap: Option<HeapCounter<'a>>,
    /// When it was launched.
    began: Timestamp,
    /// How long it is watched after each load, while nobody asks it anything.
    rest: Duration,
    /// What was seen before any load.
    at_rest: Option<Sample>,
}

impl Rungs<'_> {
    /// Makes the loads of some trials; false when it was stopped before they were whole.
    fn load_all(
        &mut self,
        specs: &[TrialSpec],
        stop: &AtomicBool,
        tell: &mut dyn FnMut(LaunchEvent<'_>),
        made: &mut Vec<TrialOutput>,
    ) -> Result<bool, LabError> {
        for (place, spec) in specs.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if place > 0 {
                tell(LaunchEvent::Trial(*spec));
            }
            let mut trial = TrialOutput::empty(self.plan, spec);
            if place == 0 {
                trial.record.started_at = self.began;
            }
            if !self.load(*spec, stop, tell, &mut trial)? {
                return Ok(false);
            }
            trial.record.ended_at = Some(Timestamp::now());
            match (&self.heap, &trial.record.failure) {
                (Some(_), None) => tell(LaunchEvent::Made(Box::new(trial))),
                // Its last words are known once all of it has ended.
                (Some(_), Some(_)) => {
                    made.push(trial);
                    return Ok(true);
                }
                (None, _) => made.push(trial),
            }
        }
        Ok(true)
    }

    /// Makes one load; false when it was stopped before its trial was whole. An error is something that is missing here; what
    /// becomes of the target is in the record.
    fn load(
        &mut self,
        spec: TrialSpec,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(LaunchEvent<'_>),
        made: &mut TrialOutput,
    ) -> Result<bool, LabError> {
        let cell = cell_of(self.plan, &spec);
        let target = || cell.levels.target().to_owned();
        let prevented = |text| LabError::Prevented { target: target(), text };
        if let Some(how) = self.running.ended() {
            made.record.failure = Some(died(how, EndedWhen::BeforeLoad));
            return Ok(true);
        }
        made.record.time_to_ready_ms = self.running.time_to_ready_ms();
        let mut watch = Watch::start(&*self.running, self.plan, cell, self.tools.perf, self.rest).map_err(prevented)?;
        self.behind.iter_mut().for_each(Behind::begin);
        let mut load = load_spec(self.plan, &spec, &*self.running, cell.load.warm_up_ns);
        // Where it is delayed, the target is still asked under its own name.
        load.address = watch.address();
        let options = RunOptions { histograms: true, ..RunOptions::default() };
        let (loaded, beside) = with_beside(beside_spec(self.plan, cell, &load).as_ref(), stop, || {
            (self.tools.load)(&load, options, stop, &mut |passed| {
                let start_ns = passed.window_start_ns;
                watch.take(start_ns, &mut |samples| tell(LaunchEvent::Samples(spec, samples, start_ns)));
                tell(LaunchEvent::Second(spec, &passed.second));
            })
        });
        let mut looks = |samples: &[Sample], start_ns| tell(LaunchEvent::Samples(spec, samples, start_ns));
        // As long as the load was: what is looked at after it takes its time.
        let backend = self.behind.as_ref().and_then(Behind::used);
        let mut seen = watch.stop(&mut *self.running, self.heap.as_mut(), &loaded, stop, &mut looks);
        made.record.backend = self.behind.as_ref().and_then(Behind::seen);
        let (ended, is_whole) = (seen.ended.take(), seen.is_whole);
        let loaded = match beside.transpose() {
            Ok(beside) => {
                made.record.beside = beside;
                loaded
            }
            Err(error) => Err(error),
        };
        match loaded {
            Ok(_) if ended.is_some_and(ProcessEnd::is_unguarded) => {}
            Ok(output) => self.keep((cell, backend), output, seen, made),
            Err(error @ LoadError::Thread(_)) if ended.is_none() => {
                return Err(prevented(format!("{error}; {MORE_PROCESSES}")));
            }
            Err(LoadError::Elsewhere(text)) if ended.is_none() => {
                return Err(LabError::Unloaded { target: target(), text });
            }
            Err(error) if ended.is_none() => return Err(prevented(error.to_string())),
            Err(_) => {}
        }
        made.record.failure = ended.map(|how| died(how, EndedWhen::UnderLoad));
        Ok(is_whole)
    }

    /// Keeps what was measured, and what was seen meanwhile.
    fn keep(
        &mut self,
        (cell, backend): (&CellPlan, Option<ThreadUse>),
        output: LoadOutput,
        seen: Watched,
        made: &mut TrialOutput,
    ) {
        let LoadOutput { mut measurement, made_beside_s, .. } = output;
        let made_beside = made_beside_s / (measurement.window_s * f64::from(host_cpus())).max(f64::MIN_POSITIVE);
        measurement.generator.network_delay = seen.delay;
        measurement.generator.backend = backend;
        made.record.measurement = Some(measurement);
        made.record.observation = seen.looks.map(|(first, summary)| Observation {
            census: seen.census,
            rest: seen.rest,
            heap: seen.heap,
            ..self.observation(cell, first, summary)
        });
        // Who makes the load in a process of its own is nobody else.
        made.record.observation.iter_mut().for_each(|seen| {
            seen.host.others_share = (seen.host.others_share - made_beside).max(0.0);
        });
        if let Some(given) = seen.profile {
            self.keep_profile(given, made);
        }
    }

    fn keep_profile(&self, given: Result<Taken, NoProfile>, made: &mut TrialOutput) {
        let Some(seen) = made.record.observation.as_mut() else { return };
        let (words, kept) = (&self.plan.profile_functions, &mut made.kept);
        let read = given.and_then(|taken| match taken {
            Taken::Pprof(gzipped) => {
                kept.profile = gzipped;
                observe::read_profile(&kept.profile, words)
                    .map_err(|error| NoPprof::Unreadable(error.to_string()).into())
            }
            Taken::Perf(gzipped) => {
                kept.perf = gzipped;
                observe::read_perf_script(&kept.perf, words)
                    .map_err(|error| NoPerf::Unreadable(error.to_string()).into())
            }
        });
        match read {
            Ok(profile) => seen.profile = Some(profile),
            Err(why) => seen.no_profile = Some(why),
        }
    }

    fn observation(&mut self, cell: &CellPlan, first: Sample, summary: Summary) -> Observation {
        let at_rest = *self.at_rest.get_or_insert(first);
        let after = summary.after().filter(|_| self.heap.is_some() || is_dose(cell));
        let mut seen = summary.end(cpus_allowed(self.plan, cell), host_cpus());
        (seen.memory_at_rest_bytes, seen.pss_at_rest_bytes) = (at_rest.rss_bytes, at_rest.pss_bytes);
        (seen.after, seen.jvm) = (after, has_jvm(&*self.running));
        seen
    }
}

/// Handlers that all sleep for the same time would end, and be asked again, all at once: a rate that steps. So the
/// connections of a closed load begin spread over one delay, within the warm-up of a load or a slice.
fn start_spread_ns(cell: &CellPlan, warm_up_ns: u64) -> u64 {
    (cell.handler_delay_ns + cell.load.network_delay_ns).min(warm_up_ns)
}

/// The load of a cell in a block, which is warmed up for so long. What is drawn for it (when requests come, and which of a mix)
/// is drawn anew in each block, as the launches are, and is the same for all cells of one.
pub(crate) fn load_spec(plan: &Plan, spec: &TrialSpec, running: &dyn Running, warm_up_ns: u64) -> LoadSpec {
    let cell = cell_of(plan, spec);
    let (address, tls) = (running.address(), running.tls());
    let load = Load { mix: cell.load.mix.clone().at_host(&running.host()), ..cell.load.clone() };
    LoadSpec {
        address,
        tls: tls.map(|tls| Tls { resumption: cell.tls_resume, ..tls.clone() }),
        sources: Vec::new(),
        start_spread_ns: start_spread_ns(cell, warm_up_ns),
        threads: plan.generator.threads.min(load.connections),
        cpus: plan.generator.cpus.clone(),
        spin: plan.generator.spin,
        quick_ack: cell.quick_ack,
        seed: seed_of(plan.seed, spec.block.into()),
        load,
    }
}
