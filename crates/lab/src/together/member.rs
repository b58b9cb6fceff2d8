//! One of the targets that are alive together: its slices so far, and what was seen of it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{LoadOutput, MonotonicClock};
use model::{
    CellPlan, EndedWhen, Observation, Plan, Rest, RuntimeSample, Sample, Slice, TrialFailure, TrialSpec, TrialStage,
};
use observe::{ProcSource, Sampler, SeenSlice, SliceSummary, host_use};

use crate::launch::Running;
use crate::rest;
use crate::scrape::{ask_once, told_at};
use crate::trial::{TrialOutput, cell_of, cpus_allowed, died, host_cpus};

/// It has no `Watch`, whose watchers are threads that look when 100 ms or a second have passed. Here a look belongs to an edge: what was
/// used between two looks is what a slice cost only where nothing is in flight at either and each is taken next to the slice's begin
/// or end, by the thread that calls for the slices. A thread's look would fall into somebody's slice: it would take its CPU from that
/// one, say nothing of where the slice ends, and be one of as many threads as launches are alive. What both ways see is summed up by
/// the same `observe`, and a runtime's answer is read by the same `scrape`.
pub(super) struct Member<'a> {
    pub(super) spec: TrialSpec,
    /// Which of the launches it is, from 0.
    pub(super) place: usize,
    pub(super) cell: &'a CellPlan,
    pub(super) running: Box<dyn Running>,
    sampler: Option<Sampler>,
    /// Where its runtime tells of itself, if it does.
    metrics: Option<(SocketAddr, &'a str)>,
    /// How it ended, where it did.
    gone: Option<TrialFailure>,
    slices: Vec<Slice>,
    /// What was seen in each of them; none where nobody looks.
    seen: Vec<SeenSlice>,
    /// The look from which on it idles: behind what its runtime told of its last slice.
    idles_from: Option<Sample>,
    looks: SliceSummary,
    /// Who watches it after the last turn.
    watcher: Option<rest::Watcher>,
    /// What it did then, where that was watched.
    rest: Option<Rest>,
    /// Whether its end says nothing of it any more.
    is_over: bool,
}

/// How closely a target is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// In passing.
    Light,
    /// At the begin or the end of its own slice.
    Edge,
    /// Before any load, and after all of it.
    Full,
}

impl<'a> Member<'a> {
    pub(super) fn new(plan: &'a Plan, spec: TrialSpec, place: usize, running: Box<dyn Running>) -> Self {
        let cell = cell_of(plan, &spec);
        let port = Some(running.address().port());
        let sampler = |family| Sampler::new(family, port, &ProcSource::default(), Arc::new(MonotonicClock));
        let metrics = told_at(&*running, plan, cell);
        Self {
            spec,
            place,
            cell,
            sampler: running.family().map(sampler),
            metrics,
            running,
            gone: None,
            slices: Vec::new(),
            seen: Vec::new(),
            idles_from: None,
            looks: SliceSummary::default(),
            watcher: None,
            rest: None,
            is_over: false,
        }
    }

    /// Looks at it; none of one that nobody can look at, or that has ended.
    pub(super) fn look(&mut self, how: Look) -> Option<Sample> {
        let sampler = self.sampler.as_mut().filter(|_| self.gone.is_none())?;
        let sample = match how {
            Look::Light => sampler.sample(),
            Look::Edge => sampler.sample_at_edge(),
            Look::Full => sampler.sample_now(),
        };
        self.looks.add(&sample);
        Some(sample)
    }

    /// What its runtime tells, where it does.
    pub(super) fn ask(&self) -> Option<RuntimeSample> {
        let (admin, path) = self.metrics.filter(|_| self.gone.is_none())?;
        ask_once(admin, path)
    }

    /// Whether it still runs; `was_loaded` says whether the slice before this moment was its own.
    pub(super) fn is_up(&mut self, was_loaded: bool) -> bool {
        if self.gone.is_none() {
            let when = match (was_loaded, self.slices.is_empty()) {
                (true, _) => EndedWhen::UnderLoad,
                (false, true) => EndedWhen::BeforeLoad,
                (false, false) => EndedWhen::BetweenSlices,
            };
            self.gone = self.running.ended().map(|how| died(how, when));
        }
        self.gone.is_none()
    }

    /// How long was measured so far, in seconds.
    pub(super) fn measured_s(&self) -> f64 {
        self.slices.iter().filter(|slice| slice.round > 0).map(|slice| slice.window_s).sum()
    }

    /// Keeps a slice, and what was seen in it.
    pub(super) fn keep(&mut self, mut slice: Slice, seen: Option<SeenSlice>) {
        if let Some(seen) = seen {
            let host = host_use(&seen, host_cpus());
            (slice.steal_share, slice.others_share) = (host.steal_share, host.others_share);
            slice.cpu_s = cpu_s(&seen.end) - cpu_s(&seen.begin);
            slice.neighbours_cpu_s = Some((seen.targets_cpu_s - slice.cpu_s).max(0.0));
            self.idles_from = Some(seen.end);
            self.seen.push(seen);
        }
        self.slices.push(slice);
    }

    /// Asks its runtime what it did in the slice that has just ended, where it tells; gives a look at it behind the answer, for what
    /// that cost is nobody's work.
    pub(super) fn ask_at_end(&mut self) -> Option<Sample> {
        self.metrics?;
        let told = self.ask();
        let behind = self.look(Look::Edge)?;
        let (slice, seen) = (self.slices.last_mut()?, self.seen.last_mut()?);
        seen.told_at_end = told;
        slice.own_gc_count = seen.own_collections();
        self.idles_from = Some(behind);
        Some(behind)
    }

    /// What it did since its last slice, up to this look at it, and what its runtime told then.
    pub(super) fn idled(&mut self, until: Option<&Sample>, told: Option<RuntimeSample>) {
        let (slice, seen) = (self.slices.last_mut(), self.seen.last_mut());
        if let (Some(slice), Some(seen), Some(from), Some(until)) = (slice, seen, self.idles_from, until) {
            slice.idle_cpu_s = cpu_s(until) - cpu_s(&from);
            slice.idle_s = until.at_ns.saturating_sub(from.at_ns) as f64 / 1e9;
            seen.told_after = told;
            slice.gc_count = seen.collections().0;
        }
    }

    /// Looks at it while nobody asks it anything any more.
    pub(super) fn look_at_rest(&mut self) {
        if self.gone.is_none() {
            match &mut self.watcher {
                Some(watcher) => watcher.look(),
                None => self.watcher = rest::Watcher::of(&*self.running),
            }
        }
    }

    /// It has rested: who ended by itself meanwhile ended under no load.
    pub(super) fn end_rest(&mut self) {
        self.is_over = true;
        let ended = self.running.ended().is_some();
        self.rest = self.watcher.take().map(|watcher| watcher.end(ended));
    }

    /// Sees whether it is up for the last time, and asks it to end.
    pub(super) fn ask_to_stop(&mut self) {
        if !self.is_over {
            self.is_up(false);
        }
        self.running.ask_to_stop();
    }

    /// Ends it, and puts what came of it into its trial; gives the folder that it left, where one cannot be removed.
    pub(super) fn end(mut self, plan: &Plan, output: Option<LoadOutput>, made: &mut TrialOutput) -> Option<PathBuf> {
        let record = &mut made.record;
        // What was seen of one that was taken away says nothing of it.
        if self.gone.as_ref().is_none_or(|gone| gone.stage != TrialStage::Unguarded) {
            record.measurement = output.map(|output| output.measurement);
            if !self.seen.is_empty() {
                let counted = self.slices.iter().zip(&self.seen).filter(|(slice, _)| slice.round > 0);
                counted.for_each(|(_, seen)| self.looks.add_slice(seen));
                let seen = self.looks.end(cpus_allowed(plan, self.cell), host_cpus());
                record.observation = Some(Observation { rest: self.rest, ..seen });
            }
            record.slices = self.slices;
        }
        record.failure = self.gone;
        self.running.stop()
    }
}

/// CPU seconds since its processes started.
pub(super) fn cpu_s(sample: &Sample) -> f64 {
    sample.cpu_user_s + sample.cpu_system_s
}
