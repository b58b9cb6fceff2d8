use std::collections::BTreeSet;

use model::{Backend, CellPlan, DelayCeiling, Extent, GeneratorLimits, Load, LoadSpec, Measurement, NS_PER_S};

use crate::thresholds::{AT_CEILING, TIMER_EARLY_S, UNATTAINABLE_RATE_PER_THREAD};

/// A load that was asked for, with what a judgement has to know beside it: from a cell or from a single load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// The load.
    pub(crate) load: &'a Load,
    /// S: handler delay in seconds, 0 when there is none or it is not known.
    pub(crate) handler_delay_s: f64,
    /// The server that the handlers ask.
    backend: Option<Backend>,
    /// Threads of the generator that can run at once; none when only the measurement knows.
    generator_threads: Option<u32>,
    /// What one generator thread can do here, where it was calibrated.
    limits: Option<GeneratorLimits>,
}

impl<'a> Asked<'a> {
    pub(crate) fn is_closed(&self) -> bool {
        !self.load.model.has_schedule()
    }

    /// What the network adds to a round trip in seconds, as far as we add it ourselves.
    pub(crate) fn network_delay_s(&self) -> f64 {
        self.load.network_delay_ns as f64 / NS_PER_S as f64
    }

    /// Whether a number of requests was asked for, so that connections fall idle before the end.
    pub(crate) fn fixed_count(&self) -> bool {
        matches!(self.load.extent, Extent::Requests { .. })
    }

    /// Whether nothing was asked of a server that could be reached: no request came due in the window, and none was in flight in
    /// it. Under the closed model one always is, unless the server keeps it from being sent.
    pub(crate) fn nothing_due(&self, measured: &Measurement) -> bool {
        let is_reached = measured.connections.any() || measured.connections.connect_failed == 0;
        let is_asked = measured.accounting.scheduled > 0 || measured.residence.in_flight_s > 0.0;
        !self.is_closed() && is_reached && !is_asked
    }

    /// How long a request takes at least, in seconds: handler and network delay.
    pub(crate) fn delay_s(&self) -> f64 {
        self.handler_delay_s + self.network_delay_s()
    }

    /// N ÷ that delay in requests a second, which is all that it allows, or what the server allows that the handlers ask; none without a
    /// delay that timers can tell.
    pub(crate) fn ceiling_per_s(&self) -> Option<f64> {
        let of_delay = (self.delay_s() > TIMER_EARLY_S).then(|| self.load.slots() / self.delay_s())?;
        Some(self.backend_per_s().map_or(of_delay, |of_backend| of_delay.min(of_backend)))
    }

    /// Requests a second that the server allows which the handlers ask, where it has a limit and its delay is one that timers can tell.
    fn backend_per_s(&self) -> Option<f64> {
        self.backend.filter(|_| self.handler_delay_s > TIMER_EARLY_S)?.capacity_per_s()
    }

    /// What a load did of that, where it is all.
    pub(crate) fn reached_ceiling(&self, measured: &Measurement) -> Option<DelayCeiling> {
        let most_per_s = self.ceiling_per_s()?;
        let is_of_backend = self.backend_per_s().is_some_and(|per_s| per_s < self.load.slots() / self.delay_s());
        let ceiling = DelayCeiling {
            per_s: completions_per_s(measured),
            most_per_s,
            handler_delay_s: self.handler_delay_s,
            network_delay_s: self.network_delay_s(),
            backend_workers: self.backend.and_then(|backend| backend.workers).filter(|_| is_of_backend),
        };
        (ceiling.per_s > AT_CEILING * ceiling.most_per_s).then_some(ceiling)
    }

    /// The same load, knowing what a generator thread can do on this machine.
    pub(crate) fn calibrated(self, limits: Option<GeneratorLimits>) -> Self {
        Asked { limits, ..self }
    }

    /// Requests a second that the generator can send at most: as calibrated, else what no generator reaches.
    pub(crate) fn attainable_per_s(&self, measured: &Measurement) -> f64 {
        let calibrated = self.limits.map(|limits| match self.load.pipeline {
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

impl<'a> From<&'a CellPlan> for Asked<'a> {
    fn from(cell: &'a CellPlan) -> Self {
        let handler_delay_s = cell.handler_delay_ns as f64 / NS_PER_S as f64;
        Asked { load: &cell.load, handler_delay_s, backend: cell.backend, generator_threads: None, limits: None }
    }
}

impl<'a> From<&'a LoadSpec> for Asked<'a> {
    fn from(spec: &'a LoadSpec) -> Self {
        let distinct = spec.cpus.iter().collect::<BTreeSet<_>>().len();
        let cpus = if distinct == 0 { spec.threads } else { u32::try_from(distinct).unwrap_or(u32::MAX) };
        let generator_threads = Some(spec.threads.min(cpus));
        Asked { load: &spec.load, handler_delay_s: 0.0, backend: None, generator_threads, limits: None }
    }
}

/// Complete replies a second inside the window, right or wrong.
pub(crate) fn completions_per_s(measured: &Measurement) -> f64 {
    if measured.window_s > 0.0 { measured.in_window.completed as f64 / measured.window_s } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cell_plan;

    /// What 20 connections get at most where each request waits 50 ms, for a backend of so many workers.
    fn ceiling(workers: Option<u32>, change: impl FnOnce(&mut CellPlan)) -> Option<f64> {
        let mut cell = cell_plan("a", &[], 20, 50);
        cell.backend = Some(Backend { delay_ns: 50_000_000, workers, refuses: false });
        change(&mut cell);
        Asked::from(&cell).ceiling_per_s().map(f64::round)
    }

    #[test]
    fn a_backend_allows_no_more_than_its_workers_can_do() {
        assert_eq!(ceiling(None, |_| {}), Some(400.0), "as many as ask");
        assert_eq!(ceiling(Some(10), |_| {}), Some(200.0));
        assert_eq!(ceiling(Some(40), |_| {}), Some(400.0), "the connections allow no more");
        let far = |cell: &mut CellPlan| cell.load.network_delay_ns = 50_000_000;
        assert_eq!(ceiling(Some(15), far), Some(200.0), "N ÷ (S + network delay)");
        assert_eq!(ceiling(Some(5), far), Some(100.0), "nobody holds a worker on the network");
        assert_eq!(ceiling(Some(10), |cell| cell.handler_delay_ns = 0), None, "who is refused does not wait");
    }

    #[test]
    fn the_ceiling_is_the_backends_only_where_that_is_lower() {
        let mut cell = cell_plan("a", &[], 20, 50);
        let measured = crate::testing::measurement(20.0, 199.0, 0.1);
        let mut workers = |workers| {
            cell.backend = Some(Backend { delay_ns: 50_000_000, workers: Some(workers), refuses: false });
            Asked::from(&cell).reached_ceiling(&measured).map(|ceiling| ceiling.backend_workers)
        };
        assert_eq!(workers(10), Some(Some(10)));
        assert_eq!(workers(20), None, "half of what both allow");
    }
}
