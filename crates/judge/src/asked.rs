use std::collections::BTreeSet;

use model::{CellPlan, Extent, GeneratorLimits, LoadModel, LoadSpec, Measurement, NS_PER_S};

use crate::thresholds::{TIMER_EARLY_S, UNATTAINABLE_RATE_PER_THREAD};

/// What a judgement needs to know of the load that was asked for, from a cell or from a single load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// Arrivals a second in the open model; none in the closed one.
    pub(crate) rate_per_s: Option<f64>,
    /// Connections.
    pub(crate) connections: u32,
    /// N: requests that can be in flight at once, connections × pipeline.
    pub(crate) slots: f64,
    /// S: handler delay in seconds, 0 when there is none or it is not known.
    pub(crate) handler_delay_s: f64,
    /// What the network adds to a round trip in seconds, as far as we add it ourselves.
    pub(crate) network_delay_s: f64,
    /// Whether connections were to be kept.
    pub(crate) keep_alive: bool,
    /// Threads of the generator that can run at once; none when only the measurement knows.
    generator_threads: Option<u32>,
    /// Requests in flight on one connection at most.
    pipeline: u16,
    /// What one generator thread can do here, where it was calibrated.
    limits: Option<GeneratorLimits>,
    /// Whether a number of requests was asked for, so that connections fall idle before the end.
    pub(crate) fixed_count: bool,
}

impl Asked {
    pub(crate) fn is_closed(&self) -> bool {
        self.rate_per_s.is_none()
    }

    /// How long a request takes at least, in seconds: handler and network delay.
    pub(crate) fn delay_s(&self) -> f64 {
        self.handler_delay_s + self.network_delay_s
    }

    /// N ÷ that delay in requests a second, which is all that it allows; none without a delay that timers can tell.
    pub(crate) fn ceiling_per_s(&self) -> Option<f64> {
        (self.delay_s() > TIMER_EARLY_S).then(|| self.slots / self.delay_s())
    }

    /// How the ceiling is reckoned, for sentences.
    pub(crate) fn ceiling_formula(&self) -> &'static str {
        if self.network_delay_s > 0.0 { "N ÷ (S + network delay)" } else { "N ÷ S" }
    }

    /// What the ceiling follows from, for sentences.
    pub(crate) fn delay_words(&self) -> &'static str {
        match (self.handler_delay_s > 0.0, self.network_delay_s > 0.0) {
            (true, true) => "delay of handler and network",
            (false, true) => "network delay",
            _ => "handler delay",
        }
    }

    /// The same load, knowing what a generator thread can do on this machine.
    pub(crate) fn calibrated(self, limits: Option<GeneratorLimits>) -> Self {
        Asked { limits, ..self }
    }

    /// Requests a second that the generator can send at most: as calibrated, else what no generator reaches.
    pub(crate) fn attainable_per_s(&self, measured: &Measurement) -> f64 {
        let calibrated = self.limits.map(|limits| match self.pipeline {
            0 | 1 => limits.ceiling_per_s,
            _ => limits.pipelined_ceiling_per_s,
        });
        calibrated.unwrap_or(UNATTAINABLE_RATE_PER_THREAD) * self.generator_threads(measured)
    }

    /// The open rate up to which calibration trusts the generator; none where it was not calibrated.
    pub(crate) fn trusted_rate_per_s(&self, measured: &Measurement) -> Option<f64> {
        Some(self.limits?.open_rate_per_s * self.generator_threads(measured))
    }

    /// Generator threads that can run at once, at least 1.
    pub(crate) fn generator_threads(&self, measured: &Measurement) -> f64 {
        let used = u32::try_from(measured.generator.threads.len()).unwrap_or(u32::MAX);
        f64::from(self.generator_threads.unwrap_or(used).max(1))
    }
}

impl From<&CellPlan> for Asked {
    fn from(cell: &CellPlan) -> Self {
        Asked {
            rate_per_s: rate(cell.load.load_model),
            connections: cell.load.connections,
            slots: slots(cell.load.connections, cell.load.pipeline),
            handler_delay_s: cell.handler_delay_ns as f64 / NS_PER_S as f64,
            network_delay_s: cell.load.network_delay_ns as f64 / NS_PER_S as f64,
            keep_alive: cell.load.keep_alive,
            generator_threads: None,
            pipeline: cell.load.pipeline,
            limits: None,
            fixed_count: cell.load.request_count.is_some(),
        }
    }
}

impl From<&LoadSpec> for Asked {
    fn from(spec: &LoadSpec) -> Self {
        let distinct = spec.cpus.iter().collect::<BTreeSet<_>>().len();
        let cpus = if distinct == 0 { spec.threads } else { u32::try_from(distinct).unwrap_or(u32::MAX) };
        Asked {
            rate_per_s: rate(spec.model),
            connections: spec.connections,
            slots: slots(spec.connections, spec.pipeline),
            handler_delay_s: 0.0,
            network_delay_s: 0.0,
            keep_alive: spec.keep_alive,
            generator_threads: Some(spec.threads.min(cpus)),
            pipeline: spec.pipeline,
            limits: None,
            fixed_count: matches!(spec.extent, Extent::Requests { .. }),
        }
    }
}

fn rate(model: LoadModel) -> Option<f64> {
    match model {
        LoadModel::Closed => None,
        LoadModel::Open { rate_per_s, .. } => Some(rate_per_s),
    }
}

fn slots(connections: u32, pipeline: u16) -> f64 {
    f64::from(connections) * f64::from(pipeline.max(1))
}

/// Complete replies a second inside the window, right or wrong.
pub(crate) fn completions_per_s(measured: &Measurement) -> f64 {
    if measured.window_s > 0.0 { measured.in_window.completed as f64 / measured.window_s } else { 0.0 }
}
