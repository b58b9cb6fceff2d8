//! What each cycle of a soak showed.

use model::{Kept, Metric, Observation, Plan, Ruled, SoakCycle, SoakPart, TrialRecord, soak_part};

use super::arrange::cycles;
use super::thresholds::TAKEN_BY_OTHERS;
use crate::hung::overdue;
use crate::silence::stopped;
use crate::statistics::share_interval;
use crate::thresholds::CONFIDENCE;
use crate::trial::check_trial;

/// A cycle that was measured.
pub(super) struct Cycle<'a> {
    pub(super) record: &'a TrialRecord,
    pub(super) part: SoakPart,
    /// Seconds from the begin of the first cycle to its end.
    pub(super) at_s: f64,
    /// How long it took, in seconds.
    pub(super) length_s: f64,
    /// Requests answered until its end, from the begin on.
    pub(super) requests: u64,
}

/// The cycles of a soak that were measured, in the order of time.
pub(super) fn watched<'a>(plan: &Plan, trials: &'a [TrialRecord]) -> Vec<Cycle<'a>> {
    let of = cycles(plan);
    let is_cycle = |trial: &&TrialRecord| {
        let is_seen = trial.measurement.is_some() && trial.observation.is_some();
        trial.block > 0 && is_seen && trial.failure.is_none()
    };
    let all: Vec<&TrialRecord> = trials.iter().filter(is_cycle).collect();
    // The first one's own begin is that of the launch.
    let window_s = |trial: &TrialRecord| trial.measurement.as_ref().map_or(0.0, |measured| measured.window_s);
    let ended_s = |trial: &TrialRecord| trial.ended_at.map_or(0.0, |at| at.as_nanosecond() as f64 / 1e9);
    let Some(begin_s) = all.first().map(|first| ended_s(first) - window_s(first)) else { return Vec::new() };
    let (mut requests, mut before_s) = (0, 0.0);
    let cycle = |record: &&'a TrialRecord| {
        requests += record.measurement.as_ref().map_or(0, |measured| measured.accounting.completed);
        let at_s = ended_s(record) - begin_s;
        let length_s = at_s - std::mem::replace(&mut before_s, at_s);
        Cycle { record, part: soak_part(record.block - 1, of), at_s, length_s, requests }
    };
    all.iter().map(cycle).collect()
}

impl<'a> Cycle<'a> {
    pub(super) fn observed(&self) -> Option<&'a Observation> {
        self.record.observation.as_ref()
    }

    /// What the server had after it.
    pub(super) fn kept(&self, of: Kept) -> Option<f64> {
        let seen = self.observed()?;
        let after = seen.after.as_ref();
        Some(match of {
            Kept::Heap => seen.heap.as_ref()?.bytes as f64,
            Kept::Memory => seen.memory_after()? as f64,
            Kept::Threads => f64::from(after?.threads),
            Kept::Processes => f64::from(after?.processes),
            Kept::Files => f64::from(after?.open_files?),
            Kept::Unclosed => f64::from(after?.close_wait?),
        })
    }

    /// How many of its requests failed, and how many there were. Those without a reply failed that waited for longer than any that had one; all
    /// where there was none, or none any more. What merely waited when the cycle ended did not.
    fn without_reply(&self) -> (u64, u64) {
        let Some(measured) = &self.record.measurement else { return (0, 0) };
        let books = &measured.accounting;
        let is_silent = books.completed == 0 || stopped(measured).is_some();
        let failed =
            if is_silent { books.scheduled.saturating_sub(books.ok) } else { books.failures() + overdue(measured) };
        (failed.min(books.scheduled), books.scheduled)
    }

    /// The share of its requests that had no good reply.
    pub(super) fn failed(&self) -> f64 {
        let (failed, of) = self.without_reply();
        if of == 0 { 0.0 } else { failed as f64 / of as f64 }
    }

    /// Whether a rule about them is certainly broken: of the few requests of a pause one alone may have been in flight at its end.
    pub(super) fn fails_beyond(&self, most: f64) -> bool {
        let (failed, of) = self.without_reply();
        share_interval(failed, of, CONFIDENCE).is_some_and(|share| share.low > most)
    }

    /// Whether what replies took in it says something of the server alone: the instrument vouches for it, and others hardly used the machine.
    pub(super) fn is_quiet(&self, plan: &Plan) -> bool {
        let Some(cell) = plan.cell(self.record.cell) else { return false };
        let taken = self.observed().map_or(0.0, |seen| seen.host.steal_share + seen.host.others_share);
        taken < TAKEN_BY_OTHERS && check_trial(cell, plan.generator.limits, self.record).void.is_none()
    }

    /// A quantile of its response times, in µs.
    pub(super) fn response_us(&self, metric: Metric) -> Option<f64> {
        metric.of(self.record.measurement.as_ref()?.latency_us.response.as_ref()?)
    }

    /// What a rule is about, in its unit; of collections of all objects how many there were.
    pub(super) fn ruled(&self, of: Ruled) -> Option<f64> {
        let seen = self.observed()?;
        let (told, collected) = (seen.runtime.as_ref(), seen.heap.as_ref().and_then(|heap| heap.collections));
        // The last look comes when all connections are closed.
        let sockets = seen.sockets.as_ref().filter(|sockets| sockets.looks > 1);
        match of {
            Ruled::Failed => Some(self.failed()),
            Ruled::Established => sockets.map(|sockets| f64::from(sockets.established_max)),
            Ruled::AcceptQueue => sockets.map(|sockets| f64::from(sockets.accept_queue_max)),
            Ruled::Cpu => (!seen.unwaited).then(|| seen.busy()),
            Ruled::YoungCollections => {
                // A runtime that has no generations has no young collections.
                let told = told.and_then(|told| Some(told.gc_count? - told.gc_major?));
                let young = collected.map(|it| it.young as f64).or(told)?;
                Some(young / self.length_s * 60.0)
            }
            Ruled::FullCollections => {
                collected.map(|it| it.full as f64).or_else(|| told.and_then(|told| told.gc_major))
            }
            Ruled::FullCollectionTime => collected.filter(|it| it.full > 0).map(|it| it.full_s / it.full as f64),
        }
    }

    /// The same for people.
    pub(super) fn told(&self) -> SoakCycle {
        let kept = |of: &Kept| Some((*of, self.kept(*of)?));
        SoakCycle {
            part: self.part,
            at_s: self.at_s,
            requests: self.requests,
            failed: self.failed(),
            p50_us: self.response_us(Metric::P50),
            p99_us: self.response_us(Metric::P99),
            cpus_used: self.observed().and_then(Observation::all_cpus_used),
            kept: Kept::ALL.iter().filter_map(kept).collect(),
        }
    }
}
