//! What stands around a load while it is on a target: who watches, and what delays it. What they see is told and reduced
//! as it comes, so that nothing is kept of a long load that is not kept of a short one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::{LoadError, LoadOutput, MonotonicClock};
use model::{
    CellPlan, Census, Experiment, LiveHeap, NoProfile, Plan, ProcessEnd, Rest, RuntimeSample, Sample, ThreadUse,
};
use observe::{Observer, ProcSource, Summary};
use reaper::MORE_PROCESSES;

use crate::census;
use crate::delay::DelayProxy;
use crate::heap::HeapCounter;
use crate::launch::Running;
use crate::perf::Perf;
use crate::profiler::{Profiled, Profiler, Taken};
use crate::rest::Watcher;
use crate::scrape::{Scraper, told_at};
use crate::tls::Place;

/// How often a target is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The same in a soak, which lasts for hours.
const LOOK_EVERY_IN_A_SOAK: Duration = Duration::from_millis(500);

/// How long a target is left alone after each rung of a ladder before its memory is read: what it gives back at once
/// it has given back by then.
const SETTLE: Duration = Duration::from_secs(1);

/// The same after a number of requests of a diagnosis, of which threads and files may be left: those of a connection that has just closed
/// end by then.
const SETTLE_AFTER_A_DOSE: Duration = Duration::from_secs(2);

/// The watchers of one load, which begin and end together, in one order. Where the load goes round, `together` has a
/// member for each launch, which is looked at otherwise; why, it says.
pub(crate) struct Watch<'a> {
    cell: &'a CellPlan,
    /// How long its target is left alone afterwards, where what it keeps is looked at.
    settles: Option<Duration>,
    /// How long it is watched afterwards, while nobody asks it anything.
    rest: Duration,
    target: SocketAddr,
    delay: Option<DelayProxy>,
    observer: Option<Observer>,
    scraper: Option<Scraper>,
    profiler: Option<Profiler>,
    /// The first look, before any load.
    first: Option<Sample>,
    /// From when the window's begin is known; looks from before that wait with the observer.
    summary: Option<Summary>,
}

/// What they bring back.
pub(crate) struct Watched {
    /// How the target ended, where it did not outlive its load.
    pub(crate) ended: Option<ProcessEnd>,
    /// What the network delay cost the generator's CPUs, where there was one.
    pub(crate) delay: Option<ThreadUse>,
    /// The first look and what all of them come to; none where nobody looked before the load ended or failed.
    pub(crate) looks: Option<(Sample, Summary)>,
    /// What it did after the load, where that was watched.
    pub(crate) rest: Option<Rest>,
    /// What is alive on its heap, where that is counted.
    pub(crate) heap: Option<LiveHeap>,
    /// Who served, where that is counted.
    pub(crate) census: Option<Census>,
    /// The CPU profile or why there is none, where one was taken.
    pub(crate) profile: Option<Result<Taken, NoProfile>>,
    /// Whether none of it was cut short by `stop`.
    pub(crate) is_whole: bool,
}

/// Whether a cell is a number of requests of which a diagnosis asks what is kept.
pub(crate) fn is_dose(cell: &CellPlan) -> bool {
    cell.tried.as_ref().is_some_and(|tried| matches!(tried.experiment, Experiment::Dose { .. }))
}

impl<'a> Watch<'a> {
    /// Begins to watch what runs for a cell, and watches it for `rest` after its load: delays its load, looks at its process, asks its
    /// runtime, and profiles it with `perf` or by its own means, each where the plan says so or the target has it.
    ///
    /// # Errors
    /// When the system cannot start a thread or open a socket.
    pub(crate) fn start(
        running: &dyn Running,
        plan: &Plan,
        cell: &'a CellPlan,
        perf: &Perf,
        rest: Duration,
    ) -> Result<Watch<'a>, String> {
        let (address, generator) = (running.address(), &plan.generator.cpus);
        let delay_ns = cell.load.network_delay_ns;
        let delay = (delay_ns > 0).then(|| DelayProxy::start(address, delay_ns, generator)).transpose();
        let observe = |family| {
            let look_every = if plan.soak.is_some() { LOOK_EVERY_IN_A_SOAK } else { LOOK_EVERY };
            Observer::start(family, Some(address.port()), ProcSource::default(), Arc::new(MonotonicClock), look_every)
        };
        let scrape = |(admin, path): (SocketAddr, &str)| Scraper::start(admin, path);
        let unwatched = |error| format!("nobody can watch the target: {error}; {MORE_PROCESSES}");
        let profile = || {
            let target =
                Profiled { admin: running.admin_address(), pid: running.family().map(|family| family.root_pid) };
            let window = (Duration::from_nanos(cell.load.warm_up_ns), Duration::from_nanos(cell.load.window_ns()));
            // What perf needs of the CPUs is taken from the generator's.
            Profiler::start(target, window, perf.clone(), generator.clone())
        };
        Ok(Self {
            cell,
            settles: if is_dose(cell) {
                Some(SETTLE_AFTER_A_DOSE)
            } else {
                (plan.ladder.is_some() || plan.soak.is_some()).then_some(SETTLE)
            },
            rest,
            target: address,
            delay: delay.map_err(|error| format!("the network delay cannot be made: {error}"))?,
            observer: running.family().map(observe).transpose().map_err(unwatched)?,
            scraper: told_at(running, plan, cell).map(scrape).transpose().map_err(unwatched)?,
            profiler: cell.profile.then(profile),
            first: None,
            summary: None,
        })
    }

    /// Where the load goes: to the target, or to what delays it.
    pub(crate) fn address(&self) -> SocketAddr {
        self.delay.as_ref().map_or(self.target, DelayProxy::address)
    }

    /// Takes what was seen since the last time, and gives the looks to `tell`. The window begins at `start_ns`.
    pub(crate) fn take(&mut self, start_ns: u64, tell: &mut dyn FnMut(&[Sample])) {
        let samples = self.observer.as_ref().map(Observer::take).unwrap_or_default();
        let told = self.scraper.as_ref().map(Scraper::take).unwrap_or_default();
        self.see(&samples, &told, start_ns, tell);
    }

    /// Ends the watching once the load is over; gives the looks that are left to `tell`, with the begin of the window. `heap` counts what
    /// is alive by then, before the last look at its memory.
    pub(crate) fn stop(
        mut self,
        running: &mut dyn Running,
        heap: Option<&mut HeapCounter<'_>>,
        loaded: &Result<LoadOutput, LoadError>,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&[Sample], u64),
    ) -> Watched {
        // A window that is whole was measured, and its trial is kept unless what is looked at after it is cut short.
        let is_cut =
            stop.load(Ordering::Relaxed) && loaded.as_ref().map_or(true, |output| output.measurement.interrupted);
        let delay = self.delay.take().map(DelayProxy::stop);
        let ended = running.ended();
        let is_up = ended.is_none() && !is_cut;
        let is_watched = is_up && loaded.is_ok() && !self.rest.is_zero();
        let mut watcher = is_watched.then(|| Watcher::of(running)).flatten();
        // Who is asked does not rest.
        let mut told = if watcher.is_some() { self.end_asking() } else { Vec::new() };
        let settles = self.settles.filter(|_| self.observer.is_some() && is_up).unwrap_or_default();
        let mut is_whole = !is_cut;
        match &mut watcher {
            Some(watcher) => is_whole &= watcher.leave_alone(settles, stop),
            None => std::thread::sleep(settles),
        }
        let heap = heap.filter(|_| is_up).and_then(|heap| heap.count(stop));
        told.extend(self.end_asking());
        let samples = self.observer.take().map(Observer::stop).unwrap_or_default();
        let rest = watcher.map(|mut watcher| {
            is_whole &= watcher.leave_alone(self.rest.saturating_sub(settles), stop);
            watcher.end(running.ended().is_some())
        });
        let is_up = is_up && rest.as_ref().is_none_or(|rest| !rest.ended);
        if let Ok(LoadOutput { window_start_ns, .. }) = loaded {
            self.see(&samples, &told, *window_start_ns, &mut |samples| tell(samples, *window_start_ns));
        }
        let mut seen = Watched {
            ended,
            delay,
            looks: self.first.zip(self.summary),
            rest,
            heap,
            census: None,
            profile: None,
            is_whole,
        };
        // Nobody looks any more: what its clients make the target need is not the load's.
        if is_up && seen.is_whole && self.cell.takes_census() {
            seen.census = count(self.cell, running, stop);
            seen.is_whole = !stop.load(Ordering::Relaxed);
        }
        // Without a load there is nothing that a profile would be of.
        if seen.is_whole
            && loaded.is_ok()
            && !seen.ended.is_some_and(ProcessEnd::is_unguarded)
            && let Some(profiler) = self.profiler
        {
            seen.profile = profiler.wait(stop);
            seen.is_whole = seen.profile.is_some();
        }
        seen
    }

    /// Asks its runtime nothing any more; gives what it told since the last time.
    fn end_asking(&mut self) -> Vec<RuntimeSample> {
        self.scraper.take().map(Scraper::stop).unwrap_or_default()
    }

    fn see(&mut self, samples: &[Sample], told: &[RuntimeSample], start_ns: u64, tell: &mut dyn FnMut(&[Sample])) {
        let (end_ns, step_s) = (start_ns.saturating_add(self.cell.load.window_ns()), self.cell.load.step_s());
        let summary = self.summary.get_or_insert_with(|| Summary::new(start_ns, end_ns, step_s));
        samples.iter().for_each(|sample| summary.add(sample));
        told.iter().for_each(|told| summary.add_told(told));
        self.first = self.first.or(samples.first().copied());
        if !samples.is_empty() {
            tell(samples);
        }
    }
}

/// What serves the cell's connections.
fn count(cell: &CellPlan, running: &dyn Running, stop: &AtomicBool) -> Option<Census> {
    let place = Place::new(running.address(), running.tls().filter(|_| cell.tls)).ok()?;
    Some(census::take(&place, cell.load.connections, cell.load.keep_alive, stop))
}
