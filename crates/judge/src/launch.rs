use std::borrow::Cow;

use model::{LEAST_CPU_S, Mark, Measurement, Metric, TrialRecord};

use crate::trial::TrialJudgement;

/// One launch with its judgement.
pub(crate) struct Launch<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) judgement: Cow<'a, TrialJudgement>,
    /// Whether it has no CPU per request, because it or another launch of its cell used too little CPU for that.
    pub(crate) without_cpu: bool,
}

impl<'a> Launch<'a> {
    pub(crate) fn new(record: &'a TrialRecord, judgement: Cow<'a, TrialJudgement>) -> Self {
        Self { record, judgement, without_cpu: false }
    }

    /// The metric's value where the launch is valid and supports it.
    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        let supported = self.judgement.is_valid() && !(metric == Metric::CpuPerRequest && self.without_cpu);
        metric.value(self.record).filter(|value| supported && value.is_finite())
    }

    /// Whether it is valid, and its target used too little CPU for a figure.
    pub(crate) fn used_too_little_cpu(&self) -> bool {
        let seen = self.record.observation.as_ref();
        self.judgement.is_valid() && seen.is_some_and(|seen| seen.cpu_s() < LEAST_CPU_S)
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
