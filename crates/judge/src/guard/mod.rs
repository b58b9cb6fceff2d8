//! What is in doubt about a figure, as the range in which it may truly lie. Claims, comparisons and gates all ask here: a
//! doubt takes a verdict back where its error could carry the figure across the threshold, and only there.

mod alike;
mod doubt;
mod latency;
mod memory;
pub(crate) mod noise;
mod range;
mod spill;
#[cfg(test)]
mod tests;
mod warming;

use model::{
    CellPlan, Interval as Step, Mark, Measurement, Metric, NS_PER_S, Observation, READY_EVERY_MS, Scale, TICK_NS,
};

pub(crate) use alike::Side;
use alike::waking_apart;
pub(crate) use doubt::{Doubt, MARKS};
pub(crate) use range::{Range, range};
pub(crate) use spill::{put_off, share_of_waiting, share_of_waking, share_put_off};

use crate::asked::{Asked, completions_per_s};
use crate::course::steady_throughput;
use crate::failing::share_unanswered;
use crate::launch::Launch;
use crate::limit::most_without_the_generator;
use crate::put_off::PutOff;
use crate::records::Records;
use crate::slices;
use crate::statistics::{Interval, t_interval_at};
use crate::steps;
use crate::thresholds::{CONFIDENCE, FINDING_CPUS_USED, TARGET_BUSY, TOLD_APART};

/// One launch of a cell, and what may be doubted of it.
struct Guarded<'a> {
    records: &'a Records<'a>,
    side: Side,
    cell: usize,
    launch: &'a Launch<'a>,
    measured: &'a Measurement,
    asked: Asked<'a>,
    /// The doubts that count and that the launch gives reason for.
    doubts: Vec<Doubt>,
}

/// Where a metric of a launch may truly lie, for these doubts alone; a share of a sample with this confidence. None where
/// the launch does not support the metric.
pub(crate) fn figure(
    records: &Records,
    (side, block): (Side, u32),
    metric: Metric,
    doubts: &[Doubt],
    confidence: f64,
) -> Option<Range> {
    let value = records.value(side.cell, block, metric)?;
    let guarded = Guarded::new(records, (side, block), metric, doubts)?;
    Some(guarded.range(metric, value, confidence).hull(Range::exactly(value)))
}

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The least that it may be.
    Least,
    /// The most.
    Most,
}

impl End {
    /// The other one: a ratio is at its least where what it is divided by is at its most.
    pub(crate) fn other(self) -> End {
        match self {
            End::Least => End::Most,
            End::Most => End::Least,
        }
    }
}

/// That end of a launch's range on the scale on which a comparison takes it.
pub(crate) fn point(records: &Records, at: (Side, u32), metric: Metric, (doubts, end): (&[Doubt], End)) -> Option<f64> {
    let range = figure(records, at, metric, doubts, CONFIDENCE)?;
    let value = match end {
        End::Least => range.low,
        End::Most => range.high,
    };
    Some(match metric.scale() {
        Scale::Ratio => value.ln(),
        Scale::Difference => value,
    })
}

/// Whether a doubt leaves a figure of some launch open.
pub(crate) fn is_open(records: &Records, side: Side, metric: Metric, doubt: Doubt) -> bool {
    let range = |block: &u32| figure(records, (side, *block), metric, &[doubt], CONFIDENCE);
    records.blocks().iter().filter_map(range).any(|range| range.low < range.high)
}

/// By how much doubts leave the mean of a cell's metric open, as the larger logarithm of either end's ratio to it.
pub(crate) fn openness(records: &Records, side: Side, metric: Metric, doubts: &[Doubt]) -> f64 {
    let cell = side.cell;
    let launches = records.blocks().iter().copied();
    let ends: Vec<(f64, Range)> = launches
        .filter_map(|block| {
            let range = figure(records, (side, block), metric, doubts, CONFIDENCE)?;
            Some((records.value(cell, block, metric)?, range))
        })
        .filter(|(_, range)| range.low < range.high)
        .collect();
    let sum =
        |end: &dyn Fn(&Range) -> f64| ends.iter().map(|(value, range)| (end(range) / value).ln().abs()).sum::<f64>();
    let all = records.values(cell, metric).len().max(1) as f64;
    f64::max(sum(&|range| range.low), sum(&|range| range.high)) / all
}

/// By which share the edges of its windows leave a launch's rate open, where it is marked thin or was in slices.
pub(crate) fn edges(records: &Records, cell: usize, block: u32) -> Option<f64> {
    let guarded = Guarded::new(records, (Side::alone(cell), block), Metric::Throughput, &[Doubt::Edges])?;
    let by_times = || guarded.by_times().map_or(0.0, |share| (share - 1.0).abs());
    guarded.has(Doubt::Edges).then(|| if guarded.launch.is(Mark::Thin) { guarded.edges() } else { by_times() })
}

/// Whether a launch gives reason for a doubt. A table shows a mark that half of the launches have; but the mean over the
/// launches, on which a verdict rests, takes in every one of them, so that each counts here.
fn is_given(records: &Records, side: Side, launch: &Launch, metric: Metric, doubt: Doubt) -> bool {
    let cell = side.cell;
    match doubt {
        Doubt::Sample | Doubt::Unfinished => true,
        Doubt::Resolution => metric.quantile().is_some() || metric == Metric::TimeToReady,
        Doubt::Generator => launch.judgement.at_least && !records.did_more(cell, launch),
        Doubt::Ceiling => launch.is(Mark::AtCeiling),
        Doubt::Warming => !metric.is_before_load() && records.together(cell).gain.is_some(),
        Doubt::Edges => launch.is(Mark::Thin) || launch.rounds.is_some(),
        Doubt::Lateness => metric.is_latency() && LATE.iter().any(|mark| launch.is_about(*mark, metric)),
        Doubt::Failing => records.together(cell).failing.is_of_many(),
        Doubt::Wrong => records.together(cell).failing.wrong_content > 0,
        Doubt::Silent => records.together(cell).failing.is_of_silence(),
        Doubt::Unanswered => metric == Metric::Errors,
        Doubt::Spill => launch.rounds.is_some(),
        Doubt::SharedMemory => memory::counts_in_part(records, side, launch, metric),
        Doubt::Waking => {
            let is_closed = Asked::from(&records.plan.cells[cell]).is_closed();
            spill::is_woken_at_a_price(launch, metric, is_closed, waking_apart(records, side, launch))
        }
        Doubt::Pauses => {
            let together = records.together(cell);
            put_off_apart(records, cell, launch).is_any() || launch.rounds.is_none() && together.stalls_at_pauses
        }
        Doubt::BetweenLooks => metric == Metric::PeakMemory,
        Doubt::AskedRuntime => memory::least_bytes(launch, metric).is_some(),
        Doubt::Unwaited => metric == Metric::CpuPerRequest && launch.lacks_cpu(),
        Doubt::Rounds => launch.lacks_rounds(),
        Doubt::Noise => noise::suffers(metric, &records.plan.cells[cell].load) && launch.is_disturbed(metric),
    }
}

/// Logarithm of a launch's rate by times ÷ the one that was counted. None where so many requests had no reply, which are in flight and
/// have no time, that these could make a difference.
fn log_by_times(launch: &Launch) -> Option<f64> {
    let measured = launch.measured()?;
    let books = &measured.accounting;
    let unanswered = books.failures().saturating_sub(books.bad_status.saturating_add(books.bad_body));
    let longest_s = launch.record.slices.iter().map(|slice| slice.length_s).fold(0.0, f64::max);
    let in_flight_s = measured.residence.in_flight_s;
    let is_known = unanswered as f64 * longest_s <= TOLD_APART * in_flight_s;
    // Times are rounded up to the next tick.
    let mean_s = measured.latency_us.felt()?.mean? / 1e6 - TICK_NS as f64 / 2e9;
    let share = in_flight_s / measured.window_s / mean_s / completions_per_s(measured);
    Some(share.ln()).filter(|log| is_known && log.is_finite())
}

/// What a target put off that is in no figure of this launch: once its load was over, of a tail but a little where others under the same
/// conditions of the same run were at work then, too; and before it was launched alone.
fn put_off_apart(records: &Records, cell: usize, launch: &Launch) -> PutOff {
    let own = records.together(cell);
    let conditions = records.plan.cells[cell].levels.conditions();
    let alike = |(at, other): (usize, &CellPlan)| (at != cell && other.levels.conditions() == conditions).then_some(at);
    let others = records.plan.cells.iter().enumerate().filter_map(alike);
    let others = others.filter(|_| !records.is_one_of_two);
    let others: Vec<bool> = others.map(|at| records.together(at).at_rest.is_at_work()).collect();
    let at_rest = own.at_rest.put_off(!others.is_empty() && !others.contains(&false));
    if launch.rounds.is_some() { at_rest } else { at_rest.or(own.in_slices) }
}

/// Marks of a latency that is the generator's doing.
const LATE: [Mark; 2] = [Mark::Lateness, Mark::Standstill];

impl<'a> Guarded<'a> {
    fn new(records: &'a Records<'a>, (side, block): (Side, u32), metric: Metric, doubts: &[Doubt]) -> Option<Self> {
        let cell = side.cell;
        let launch = records.launch(cell, block)?;
        let measured = launch.record.measurement.as_ref()?;
        let doubts = doubts.iter().copied().filter(|doubt| is_given(records, side, launch, metric, *doubt)).collect();
        Some(Guarded { records, side, cell, launch, measured, asked: Asked::from(&records.plan.cells[cell]), doubts })
    }

    fn has(&self, doubt: Doubt) -> bool {
        self.doubts.contains(&doubt)
    }

    /// Whether it did not do what was asked, or may have put it off: what it did may be quick and cheap.
    fn does_less(&self) -> bool {
        let stalls = || {
            let is_alone = self.launch.rounds.is_none();
            is_alone && self.has(Doubt::Pauses) && self.records.together(self.cell).stalls_at_pauses
        };
        [Doubt::Failing, Doubt::Wrong, Doubt::Silent].iter().any(|doubt| self.has(*doubt)) || stalls()
    }

    fn range(&self, metric: Metric, value: f64, confidence: f64) -> Range {
        let exactly = Range::exactly(value);
        let range = match metric {
            Metric::Throughput => exactly.times(self.rate()),
            Metric::ElapsedPerRequest => exactly.times(self.rate().reciprocal()),
            Metric::CpuPerRequest | Metric::SwitchesPerRequest => exactly.times(self.per_request(metric, value)),
            Metric::Errors => self.errors(self.share(confidence).unwrap_or(exactly)),
            _ if metric.is_latency() => self.latency(metric, value),
            Metric::TimeToReady => self.ready(value),
            // Nobody knows in which direction a warm server's memory or threads differ, unless its window shows it.
            _ if self.has(Doubt::Warming) && self.steady_from_s().is_none() => Range { low: 0.0, high: f64::INFINITY },
            // Who does not do what was asked may need less memory and fewer threads for that.
            _ if self.does_less() && !metric.is_before_load() => {
                Range { low: self.memory(metric, value).low, high: f64::INFINITY }
            }
            _ => exactly.hull(self.memory(metric, value)),
        };
        let range = range.times(self.with_every_round(metric));
        match metric {
            Metric::Throughput | Metric::ElapsedPerRequest => range,
            _ => range.times(self.without_others(metric, value)),
        }
    }

    /// When a server may have been ready that was seen to be so many milliseconds after its launch.
    fn ready(&self, seen_ms: f64) -> Range {
        let unseen_ms = if self.has(Doubt::Resolution) { READY_EVERY_MS as f64 } else { 0.0 };
        Range { low: (seen_ms - unseen_ms).max(0.0), high: seen_ms }
    }

    /// What a figure of memory could be, of which part was not seen, or was taken by asking.
    fn memory(&self, metric: Metric, value: f64) -> Range {
        let shared = self.has(Doubt::SharedMemory).then(|| memory::most_bytes(self.launch, metric)).flatten();
        let unseen = self.has(Doubt::BetweenLooks).then(|| self.launch.most_between_looks()).flatten();
        let unasked = self.has(Doubt::AskedRuntime).then(|| memory::least_bytes(self.launch, metric)).flatten();
        Range {
            low: unasked.map_or(value, |least| least.min(value)),
            high: [shared, unseen].into_iter().flatten().fold(value, f64::max),
        }
    }

    /// What a figure of which less is better could have been without what others used of its CPUs, targets or not, as a share of
    /// what was seen.
    fn without_others(&self, metric: Metric, value: f64) -> Range {
        let (of, is_closed) = ((metric, value), self.asked.is_closed());
        let spill = self.has(Doubt::Spill).then(|| spill::range(self.launch, of, is_closed));
        let put_off =
            || spill::with_all_done((metric, value), is_closed, put_off_apart(self.records, self.cell, self.launch));
        let pauses = self.has(Doubt::Pauses).then(put_off);
        let apart = || waking_apart(self.records, self.side, self.launch);
        let waking = self.has(Doubt::Waking).then(|| spill::waking(self.launch, of, is_closed, apart()));
        [spill, pauses, waking].into_iter().flatten().fold(self.without_noise(metric), Range::times)
    }

    /// What the rounds that were left out make of a figure, as a share of what was seen.
    fn with_every_round(&self, metric: Metric) -> Range {
        let off = if self.has(Doubt::Rounds) { self.launch.left_out(metric).exp() } else { 1.0 };
        Range::exactly(1.0).hull(Range::exactly(off))
    }

    /// What a figure of which less is better could have been without what kept the machine busy, as a share of what was seen.
    fn without_noise(&self, metric: Metric) -> Range {
        if !self.has(Doubt::Noise) {
            return Range::exactly(1.0);
        }
        let off = noise::could_be_off(self.launch, metric);
        let most = off.filter(|_| noise::is_bounded(metric, self.asked.is_closed())).map_or(f64::INFINITY, f64::exp);
        Range { low: 1.0 / most, high: if noise::goes_both_ways(metric) { most } else { 1.0 } }
    }

    /// Where the part of the window begins in which the server was warm, if the window is long enough to show it.
    fn steady_from_s(&self) -> Option<f64> {
        self.launch.judgement.went.as_ref()?.steady_from_s
    }

    /// The least of a figure over the seconds in which the server was warm, at most what it was seen to be; 0 where the
    /// window does not show it. A quantile of all these seconds is no lower than the lowest of theirs.
    fn least_when_warm(&self, of_second: impl Fn(&Step) -> Option<f64>) -> f64 {
        let Some(from_s) = self.steady_from_s() else { return 0.0 };
        let seconds = steps::whole(self.measured, &self.launch.record.slices);
        let all: Option<Vec<f64>> =
            seconds.iter().filter(|second| second.at_s >= from_s - 0.01).map(of_second).collect();
        all.and_then(|all| all.into_iter().reduce(f64::min)).unwrap_or(0.0)
    }

    /// What may have been counted, as a share of what was.
    fn counted(&self) -> Range {
        if !self.has(Doubt::Edges) {
            return Range::exactly(1.0);
        }
        let edges = if self.launch.is(Mark::Thin) { self.edges() } else { 0.0 };
        let either_way = Range { low: (1.0 - edges).max(0.0), high: 1.0 + edges };
        either_way.hull(Range::exactly(self.by_times().unwrap_or(1.0)))
    }

    /// The rate of a closed load in slices by the times that its requests took, as a share of what was counted: those in flight ÷
    /// the mean time of those that were sent in the windows (Little). All of these times are known, for a slice ends when
    /// nothing is in flight any more, and none of them is favoured (Wald). Counts differ from it where some replies take longer
    /// than the lead-in: each connection begins a slice with a new request, so that at first fewer of the long ones end than
    /// begin. A stall at the edge of a window moves one launch either way; what the load itself does shows in all of them. Where
    /// replies overtake each other it is too high: the last requests of a slice wait for no newcomers.
    fn by_times(&self) -> Option<f64> {
        if !self.asked.is_closed() || self.launch.rounds.is_none() {
            return None;
        }
        let logs: Vec<f64> = self.records.valid(self.cell).filter_map(log_by_times).collect();
        let shown = t_interval_at(&logs, CONFIDENCE)?;
        let is_of_all = shown.low > 0.0 || shown.high < 0.0;
        (is_of_all && shown.estimate.abs() > TOLD_APART.ln_1p()).then(|| shown.estimate.exp())
    }

    /// What a request may cost, as a share of what it was seen to cost.
    fn per_request(&self, metric: Metric, value: f64) -> Range {
        // Of slices all replies count, and at their edges nothing is in flight.
        let has_edges = self.launch.record.slices.is_empty();
        let cost = if has_edges { self.counted().reciprocal() } else { Range::exactly(1.0) };
        let seen = self.launch.record.observation.as_ref().map_or(&[][..], |seen| &seen.seconds);
        let both = steps::with_seen(self.measured, seen);
        let of_second = |second: &Step| {
            let (_, seen) = both.iter().find(|(step, _)| step.at_s == second.at_s)?;
            Some(1e6 * seen.cpu_s / second.completed.max(1) as f64)
        };
        let when_warm = || match metric {
            Metric::CpuPerRequest if self.launch.judgement.went.is_none() => self.least_cpu_when_warm(),
            Metric::CpuPerRequest => self.least_when_warm(of_second) / value,
            _ => 0.0,
        };
        Range {
            low: if self.has(Doubt::Warming) { cost.low.min(when_warm()) } else { cost.low },
            high: if self.does_less() || self.has(Doubt::Unwaited) { f64::INFINITY } else { cost.high },
        }
    }

    /// The server's rate as a share of the one that was seen. Whatever is in doubt, it is below what the delay allows; and
    /// what was seen above that are timers that fired early, which make no server the faster one.
    fn rate(&self) -> Range {
        let mut rate = self.counted();
        let ceiling = self.asked.ceiling_per_s().filter(|_| self.asked.is_closed());
        let allowed = ceiling.map_or(f64::INFINITY, |most| most / completions_per_s(self.measured));
        if self.has(Doubt::Warming) {
            rate.high = rate.high.max(self.when_warm());
        }
        if self.has(Doubt::Generator) {
            rate.high = rate.high.max(self.without_the_limit());
        }
        rate = rate.times(self.without_others(Metric::Throughput, completions_per_s(self.measured)).reciprocal());
        if self.has(Doubt::Unfinished) {
            rate.low /= 1.0 + slices::most_outlasted(&self.launch.record.slices);
        }
        if self.has(Doubt::Ceiling) {
            rate.high = f64::INFINITY;
        }
        if self.has(Doubt::Ceiling) {
            rate.low = rate.low.min(allowed);
        }
        if self.does_less() {
            rate.low = 0.0;
        }
        Range { low: rate.low, high: rate.high.min(allowed.max(1.0)) }
    }

    /// The rate of the warm server as a share of that of the whole window: that of its steady part; where the window is too
    /// short to show one, what is left to gain at most.
    fn when_warm(&self) -> f64 {
        let Some(went) = &self.launch.judgement.went else {
            return self.most_left(self.records.together(self.cell).gain);
        };
        let steady = steady_throughput(went, self.measured);
        steady.map_or(f64::INFINITY, |steady| steady / self.measured.requests_per_s())
    }

    /// What such a gain of the launches leaves to be gained, as a factor.
    fn most_left(&self, gain: Option<Interval>) -> f64 {
        let before_s = self.records.loaded_before_ns(self.cell) as f64 / NS_PER_S as f64;
        warming::most_left(gain, before_s, self.measured.window_s)
    }

    /// The least CPU of a warm server's request, as a share of what was seen: where CPU is all that it waits for it gains as
    /// its rate does.
    fn least_cpu_when_warm(&self) -> f64 {
        let together = self.records.together(self.cell);
        let busy = self.launch.record.observation.as_ref().map_or(0.0, Observation::busy);
        let of_rate = together.gain.filter(|_| busy >= TARGET_BUSY);
        1.0 / self.most_left(together.gain_of_cpu.or(of_rate))
    }

    /// The most that the server would have done without the generator's limit, as a share of what it did.
    fn without_the_limit(&self) -> f64 {
        most_without_the_generator(&self.launch.judgement.limit, self.measured)
    }

    /// How much the edges of all windows may add or take, as a share of what was counted: in each one completion of each slot that
    /// was served. Where the time in the handler is known and CPU was seen not to be the limit, not even that of one thread
    /// of several CPUs, a request that is being served takes only this long, and the others wait outside: then it is one
    /// delay in the window.
    fn edges(&self) -> f64 {
        let (window, connections) = (&self.measured.in_window, f64::from(self.asked.load.connections));
        let unserved = self.measured.connections.never_served as f64 / connections.max(1.0);
        let served = self.asked.load.slots() * (1.0 - unserved).max(0.0);
        let by_slots = served / window.completed.max(1) as f64;
        let used = self.launch.record.observation.as_ref().and_then(Observation::all_cpus_used);
        let is_idle = used.is_some_and(|used| used < FINDING_CPUS_USED);
        let has_delay = is_idle && self.asked.ceiling_per_s().is_some();
        let by_delay = if has_delay { self.asked.delay_s() / self.measured.window_s } else { f64::INFINITY };
        slices::windows(&self.launch.record.slices) * by_slots.min(by_delay)
    }

    /// What may have failed. Only launches in which requests were left without a reply leave it open: the others show what they show,
    /// unless they stand in for some that stopped.
    fn errors(&self, share: Range) -> Range {
        let unanswered = || match self.records.was_silent_before(self.cell) {
            true => 1.0,
            false => share_unanswered(&self.asked, self.measured, &self.launch.record.slices),
        };
        let most = if self.has(Doubt::Unanswered) { share.high + unanswered() } else { share.high };
        Range { high: most.min(1.0).max(share.high), ..share }
    }

    /// The share of errors over all launches with its binomial interval.
    fn share(&self, confidence: f64) -> Option<Range> {
        let share = self.has(Doubt::Sample).then(|| self.records.share(self.cell, confidence))??;
        Some(Range { low: share.low, high: share.high })
    }
}
