//! What each cycle of a soak showed.

use model::{Kept, Metric, Observation, Plan, Ruled, SoakCycle, SoakPart, TrialRecord, soak_part};

use super::arrange::cycles;
use super::line::median;

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
    let is_cycle = |trial: &&TrialRecord| trial.block > 0 && trial.measurement.is_some() && trial.observation.is_some();
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

    /// The share of its requests that failed.
    pub(super) fn failed(&self) -> f64 {
        self.record.measurement.as_ref().map_or(0.0, |measured| measured.accounting.error_share())
    }

    /// A quantile of its response times, in µs.
    pub(super) fn response_us(&self, metric: Metric) -> Option<f64> {
        metric.of(self.record.measurement.as_ref()?.latency_us.response.as_ref()?)
    }

    /// What a rule is about, in its unit; of collections of all objects how many there were.
    pub(super) fn ruled(&self, of: Ruled) -> Option<f64> {
        let seen = self.observed()?;
        let (told, collected) = (seen.runtime.as_ref(), seen.heap.as_ref().and_then(|heap| heap.collections));
        let sockets = seen.sockets.as_ref();
        match of {
            Ruled::Failed => Some(self.failed()),
            Ruled::Established => sockets.map(|sockets| f64::from(sockets.established_max)),
            Ruled::AcceptQueue => sockets.map(|sockets| f64::from(sockets.accept_queue_max)),
            Ruled::Cpu => (!seen.unwaited).then(|| seen.busy()),
            Ruled::YoungCollections => {
                let told = told.and_then(|told| Some(told.gc_count? - told.gc_major.unwrap_or(0.0)));
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

/// The middle of what some cycles show.
pub(super) fn middle(cycles: &[&Cycle<'_>], of: impl Fn(&Cycle<'_>) -> Option<f64>) -> Option<f64> {
    median(&mut cycles.iter().filter_map(|cycle| of(cycle)).collect::<Vec<f64>>())
}
