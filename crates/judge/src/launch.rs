use std::borrow::Cow;
use std::collections::BTreeSet;

use model::{Mark, Measurement, Metric, TrialRecord};

use crate::trial::TrialJudgement;

/// One launch with its judgement.
pub(crate) struct Launch<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) judgement: Cow<'a, TrialJudgement>,
    /// What has no figure, because it or another launch of its cell used too little CPU or had too few requests for that.
    pub(crate) without: BTreeSet<Metric>,
}

impl<'a> Launch<'a> {
    pub(crate) fn new(record: &'a TrialRecord, judgement: Cow<'a, TrialJudgement>) -> Self {
        Self { record, judgement, without: BTreeSet::new() }
    }

    /// The metric's value where the launch is valid and supports it.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        let supported = self.judgement.is_valid() && !self.without.contains(&metric);
        metric.value(self.record).filter(|value| supported && value.is_finite())
    }

    /// Whether a quantile of it is not known because too many requests failed.
    pub(crate) fn has_lost(&self, metric: Metric) -> bool {
        let felt = self.measured().and_then(|measured| measured.latency_us.felt());
        felt.zip(metric.quantile()).is_some_and(|(felt, q)| felt.is_lost(q))
    }

    /// Whether it counts and is too short for a figure: too little CPU was used, or a quantile has too few requests. Of a server
    /// that answered nothing in it more than that is said.
    pub(crate) fn is_short_of(&self, metric: Metric) -> bool {
        let seen = self.record.observation.as_ref();
        let is_short = match metric {
            Metric::CpuPerRequest => seen.is_some_and(|seen| !seen.has_cpu_for_a_figure()),
            _ if metric.required_samples().is_none() || metric.value(self.record).is_some() => false,
            _ => Metric::Throughput.value(self.record).is_some_and(|rate| rate > 0.0),
        };
        self.judgement.is_valid() && is_short
    }

    /// Whether it has the mark.
    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.judgement.marks.iter().any(|note| note.mark == mark)
    }

    /// Whether it has the mark for this metric.
    pub(crate) fn is_about(&self, mark: Mark, metric: Metric) -> bool {
        self.judgement.marks.iter().any(|note| note.mark == mark && note.is_about(metric))
    }

    /// What the engine saw of it.
    pub(crate) fn measured(&self) -> Option<&'a Measurement> {
        self.record.measurement.as_ref()
    }
}
