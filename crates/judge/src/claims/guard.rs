//! What is in doubt about a figure, as the range in which it may truly lie: a claim is guarded like a comparison.

use model::{Mark, Measurement, Metric, Observation};

use super::range::Range;
use crate::asked::{Asked, completions_per_s};
use crate::cells;
use crate::records::{Launch, Records};
use crate::statistics::share_interval;
use crate::thresholds::{CONFIDENCE, TARGET_BUSY};

/// Why a figure may be another one than was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// A share rests on so many requests: its binomial interval over all launches.
    Sample,
    /// The generator may have been the limit: a rate is at least this, and what follows from it accordingly.
    Generator,
    /// The handler delay allows hardly more: how fast the server could be is not known up to what it allows.
    Ceiling,
    /// Few completions per connection slot: the edges of the window weigh.
    Edges,
    /// Requests were unfinished: a latency is at least this.
    Unfinished,
    /// The server was still getting faster: with a longer warm-up it does more in less time.
    Warming,
    /// A latency holds much of the generator's own: without its lateness the service time would be left.
    Lateness,
}

/// The doubts that marks stand for; the sample is statistics, and part of every interval.
pub(super) const MARKS: [Doubt; 6] =
    [Doubt::Generator, Doubt::Ceiling, Doubt::Edges, Doubt::Unfinished, Doubt::Warming, Doubt::Lateness];

/// One launch of a cell, and what may be doubted of it.
struct Guarded<'a> {
    records: &'a Records<'a>,
    cell: usize,
    launch: &'a Launch<'a>,
    measured: &'a Measurement,
    asked: Asked,
    /// The doubts that count and that the cell gives reason for.
    doubts: Vec<Doubt>,
}

/// Where a metric of a launch may truly lie, for these doubts alone. None where the launch does not support the metric.
pub(super) fn figure(
    records: &Records,
    (cell, block): (usize, u32),
    metric: Metric,
    doubts: &[Doubt],
) -> Option<Range> {
    let value = records.value(cell, block, metric)?;
    let guarded = Guarded::new(records, (cell, block), metric, doubts)?;
    Some(guarded.range(metric, value).hull(Range::exactly(value)))
}

/// By which share the edges of the window leave a launch's rate open, where it is marked thin.
pub(super) fn edges(records: &Records, cell: usize, block: u32) -> Option<f64> {
    let guarded = Guarded::new(records, (cell, block), Metric::Throughput, &[Doubt::Edges])?;
    guarded.has(Doubt::Edges).then(|| guarded.edges())
}

/// Whether cell and launch give reason for a doubt: as in the tables, a mark is one that half of the launches have.
fn is_given(records: &Records, cell: usize, launch: &Launch, metric: Metric, doubt: Doubt) -> bool {
    let marked = |mark: Mark| records.marked(cell, mark) && launch.is(mark);
    match doubt {
        Doubt::Sample | Doubt::Unfinished => true,
        Doubt::Generator => records.at_least(cell) && launch.judgement.at_least,
        Doubt::Ceiling => marked(Mark::AtCeiling),
        Doubt::Warming => !metric.is_before_load() && cells::still_warming(records, cell).is_some(),
        Doubt::Edges => marked(Mark::Thin),
        Doubt::Lateness => {
            let its = [Mark::Lateness, Mark::Standstill].iter().any(|mark| launch.is_about(*mark, metric));
            metric.is_latency() && its && records.generators_doing(cell, metric)
        }
    }
}

impl<'a> Guarded<'a> {
    fn new(records: &'a Records<'a>, (cell, block): (usize, u32), metric: Metric, doubts: &[Doubt]) -> Option<Self> {
        let launch = records.launch(cell, block)?;
        let measured = launch.record.measurement.as_ref()?;
        let doubts = doubts.iter().copied().filter(|doubt| is_given(records, cell, launch, metric, *doubt)).collect();
        Some(Guarded { records, cell, launch, measured, asked: Asked::from(&records.plan.cells[cell]), doubts })
    }

    fn has(&self, doubt: Doubt) -> bool {
        self.doubts.contains(&doubt)
    }

    fn range(&self, metric: Metric, value: f64) -> Range {
        let exactly = Range::exactly(value);
        match metric {
            Metric::Throughput => exactly.times(self.rate()),
            Metric::ElapsedPerRequest => exactly.times(self.rate().reciprocal()),
            Metric::CpuPerRequest | Metric::SwitchesPerRequest => exactly.times(self.per_request()),
            Metric::Errors => self.share().unwrap_or(exactly),
            _ if metric.is_latency() => self.latency(metric, value),
            // Nobody knows in which direction a warm server's memory or threads differ.
            _ if self.has(Doubt::Warming) => Range { low: 0.0, high: f64::INFINITY },
            _ => exactly,
        }
    }

    /// What may have been counted, as a share of what was.
    fn counted(&self) -> Range {
        let edges = if self.has(Doubt::Edges) { self.edges() } else { 0.0 };
        Range { low: (1.0 - edges).max(0.0), high: 1.0 + edges }
    }

    /// What a request may cost, as a share of what it was seen to cost.
    fn per_request(&self) -> Range {
        let cost = self.counted().reciprocal();
        Range { low: if self.has(Doubt::Warming) { 0.0 } else { cost.low }, ..cost }
    }

    /// The server's rate as a share of the one that was seen. Whatever is in doubt, it is below what the delay allows.
    fn rate(&self) -> Range {
        let counted = self.counted();
        let most = self.asked.ceiling_per_s().filter(|_| self.asked.is_closed());
        let most = most.map_or(f64::INFINITY, |most| (most / completions_per_s(self.measured)).max(1.0));
        let may_be_faster = [Doubt::Generator, Doubt::Ceiling, Doubt::Warming].into_iter().any(|doubt| self.has(doubt));
        let high = if may_be_faster { most } else { counted.high.min(most) };
        Range { low: counted.low, high }
    }

    /// How much the edges of the window may add or take, as a share of what was counted: one completion of each slot that
    /// was served. Where the time in the handler is known and the target's CPUs were not the limit, a request that is
    /// being served takes only this long, and the others wait outside: then it is one delay in the window.
    fn edges(&self) -> f64 {
        let (window, connections) = (&self.measured.in_window, f64::from(self.asked.connections));
        let unserved = self.measured.connections.never_served as f64 / connections.max(1.0);
        let served = self.asked.slots * (1.0 - unserved).max(0.0);
        let by_slots = served / window.completed.max(1) as f64;
        let is_idle = self.launch.record.observation.as_ref().map_or(0.0, Observation::busy) < TARGET_BUSY;
        let has_delay = is_idle && self.asked.ceiling_per_s().is_some();
        let by_delay = if has_delay { self.asked.delay_s() / self.measured.window_s } else { f64::INFINITY };
        by_slots.min(by_delay)
    }

    fn latency(&self, metric: Metric, us: f64) -> Range {
        let latencies = &self.measured.latency_us;
        let mut range = Range::exactly(us);
        // In a closed load a request that the busy generator had not yet looked at counts as being served.
        if self.has(Doubt::Generator) || self.has(Doubt::Warming) {
            range.low = 0.0;
        }
        if self.has(Doubt::Lateness) {
            // A standstill is in the service times, too.
            let stood_still = self.launch.is_about(Mark::Standstill, metric);
            let service = latencies.service.as_ref().filter(|_| !stood_still).and_then(|service| metric.of(service));
            range.low = range.low.min(service.unwrap_or(0.0));
        }
        if self.has(Doubt::Unfinished) && self.is_unfinished(metric, us) {
            range.high = f64::INFINITY;
        }
        range
    }

    /// Whether the figure is only a lower bound; a mean is one as soon as a single request is.
    fn is_unfinished(&self, metric: Metric, us: f64) -> bool {
        let felt = self.measured.latency_us.felt();
        felt.is_some_and(|felt| felt.is_lower_bound(us) || (metric == Metric::Mean && felt.censored > 0))
    }

    /// The share of errors over all launches with its binomial interval.
    fn share(&self) -> Option<Range> {
        let books = self.has(Doubt::Sample).then(|| self.records.books(self.cell))?;
        let share = share_interval(books.failures(), books.scheduled, CONFIDENCE)?;
        Some(Range { low: share.low, high: share.high })
    }
}
