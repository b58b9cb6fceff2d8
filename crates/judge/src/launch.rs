use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::{Mark, Measurement, Metric, Slice, TrialRecord};

use crate::slices::{self, Woken};
use crate::thresholds::SLICE_COLLECTIONS;
use crate::trial::TrialJudgement;

/// One launch with its judgement.
#[derive(Clone)]
pub(crate) struct Launch<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) judgement: Cow<'a, TrialJudgement>,
    /// What has no figure, because it or another launch of its cell used too little CPU or had too few requests for that.
    pub(crate) without: BTreeSet<Metric>,
    /// What it shares with those that the load went round among; none where it had the load to itself.
    pub(crate) rounds: Option<Rc<Rounds>>,
    /// The felt latencies of the rounds that count, where some do not and its slices tell.
    pub(crate) felt: Option<Rc<BTreeMap<Metric, f64>>>,
    /// How long those waited that woke it before its slices; none where nobody knows.
    pub(crate) woken: Option<Rc<Woken>>,
}

/// Launches of a block by cell, and whether it is the twin's.
pub(crate) type ByCell<'a> = BTreeMap<(usize, bool), Launch<'a>>;

/// What launches that live together share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds {
    /// The rounds that do not count, for what others did to the machine; the same for all of them.
    pub(crate) left_out: BTreeSet<u32>,
    /// How many CPUs the others of them used in its slices, on average; its own.
    pub(crate) spill: f64,
    /// The least share (0 to 1) of all CPU time that others took in the slices of one of them.
    pub(crate) taken: f64,
}

impl<'a> Launch<'a> {
    pub(crate) fn new(record: &'a TrialRecord, judgement: Cow<'a, TrialJudgement>) -> Self {
        #[cfg(test)]
        LOOKED_AT.with(|count| count.set(count.get() + 1));
        Self { record, judgement, without: BTreeSet::new(), rounds: None, felt: None, woken: None }
    }

    /// The metric's value where the launch is valid and supports it. No launch has slices enough for what lies beyond a p99.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        let is_too_rare = metric == Metric::P999 && self.rounds.is_some();
        let supported = self.judgement.is_valid() && !self.without.contains(&metric) && !is_too_rare;
        self.figure(metric, self.lacks_rounds()).filter(|value| supported && value.is_finite())
    }

    /// The metric over the rounds that count, or over all; where slices do not tell it, that of the whole measurement.
    fn figure(&self, metric: Metric, some_do_not_count: bool) -> Option<f64> {
        // Of a server that nobody got through to, too, nothing has failed so far.
        let unserved = (metric == Metric::Errors && self.judgement.unserved).then_some(0.0);
        let whole = metric.value(self.record).or(unserved)?;
        let Some(rounds) = &self.rounds else { return Some(whole) };
        let counts = |slice: &&Slice| !some_do_not_count || !rounds.left_out.contains(&slice.round);
        match &self.felt {
            _ if slices::count(metric) => slices::value(metric, slices::measured(&self.record.slices).filter(counts)),
            Some(felt) if some_do_not_count && self.is_told(metric) => felt.get(&metric).copied(),
            _ => Some(whole),
        }
    }

    /// What the rounds that were left out do to the metric, as the logarithm of its value with them ÷ without.
    pub(crate) fn left_out(&self, metric: Metric) -> f64 {
        let with = self.figure(metric, false).zip(self.value(metric));
        with.filter(|(with, without)| *with > 0.0 && *without > 0.0)
            .map_or(0.0, |(with, without)| (with / without).ln())
    }

    /// Whether the machine was busy as far as the metric goes: in all of it, or in rounds that do not count where nobody knows what
    /// the metric was without them.
    pub(crate) fn is_disturbed(&self, metric: Metric) -> bool {
        let is_told = || slices::count(metric) || self.is_told(metric);
        let holds_them = || self.lacks_rounds() && !metric.is_before_load() && !is_told();
        self.is(Mark::Noisy) || holds_them()
    }

    /// Whether slices tell a latency of the rounds that count: no mean where requests never had a reply.
    fn is_told(&self, metric: Metric) -> bool {
        let felt = || self.measured().and_then(|measured| measured.latency_us.felt());
        let has_all = || felt().is_some_and(|felt| felt.censored == 0);
        metric.is_latency() && self.felt.is_some() && (metric.quantile().is_some() || has_all())
    }

    /// The same with every round.
    pub(crate) fn with_every_round(&self) -> Self {
        let every = |rounds: &Rc<Rounds>| Rc::new(Rounds { left_out: BTreeSet::new(), ..(**rounds).clone() });
        Launch { rounds: self.rounds.as_ref().map(every), ..self.clone() }
    }

    /// Whether rounds of it do not count.
    pub(crate) fn lacks_rounds(&self) -> bool {
        self.rounds.as_ref().is_some_and(|rounds| !rounds.left_out.is_empty())
    }

    /// Whether a quantile of it is not known because too many requests failed.
    pub(crate) fn has_lost(&self, metric: Metric) -> bool {
        let felt = self.measured().and_then(|measured| measured.latency_us.felt());
        felt.zip(metric.quantile()).is_some_and(|(felt, q)| felt.is_lost(q))
    }

    /// Whether too few garbage collections are known to have come within its slices for a p99.
    pub(crate) fn lacks_collections(&self) -> bool {
        slices::collections(&self.record.slices).is_some_and(|count| count < SLICE_COLLECTIONS)
    }

    /// Whether it counts and is too short for a figure: too little CPU was used, or a quantile has too few requests. Of a server
    /// that answered nothing in it more than that is said.
    pub(crate) fn is_short_of(&self, metric: Metric) -> bool {
        let seen = self.record.observation.as_ref();
        let is_short = match metric {
            Metric::CpuPerRequest => seen.is_some_and(|seen| !seen.has_cpu_for_a_figure()),
            Metric::P99 if self.lacks_collections() => true,
            _ if metric.required_samples().is_none() || self.figure(metric, self.lacks_rounds()).is_some() => false,
            _ => Metric::Throughput.value(self.record).is_some_and(|rate| rate > 0.0),
        };
        self.judgement.is_valid() && is_short
    }

    /// Whether CPU that it used may be missing in what was counted.
    pub(crate) fn lacks_cpu(&self) -> bool {
        self.record.observation.as_ref().is_some_and(|seen| seen.unwaited)
    }

    /// The most that its peak of memory can be at any moment, in bytes, beside what looks saw; without a bound where nobody knows.
    /// None of an older record that was alone: looks came ten times a second under load, and stand for it.
    pub(crate) fn most_between_looks(&self) -> Option<f64> {
        let seen = self.record.observation.as_ref()?;
        match seen.peak_at_most_bytes {
            Some(bytes) => Some(bytes as f64),
            None => (seen.peak_unbounded || self.rounds.is_some()).then_some(f64::INFINITY),
        }
    }

    /// Whether its memory may have been more between two looks than anybody knows.
    pub(crate) fn lacks_peak(&self) -> bool {
        self.most_between_looks() == Some(f64::INFINITY)
    }

    /// Whether it has the mark.
    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.judgement.marks.iter().any(|note| note.mark() == mark)
    }

    /// Whether it has the mark for this metric.
    pub(crate) fn is_about(&self, mark: Mark, metric: Metric) -> bool {
        self.judgement.marks.iter().any(|note| note.mark() == mark && note.is_about(metric))
    }

    /// What the engine saw of it.
    pub(crate) fn measured(&self) -> Option<&'a Measurement> {
        self.record.measurement.as_ref()
    }
}

#[cfg(test)]
thread_local! {
    /// How often a record was looked at, by which a test sees how much work something was.
    pub(crate) static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
