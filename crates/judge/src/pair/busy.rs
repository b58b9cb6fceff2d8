//! Whether the machine alone could have made what two cells show of each other.

use model::{Arm, ComparisonVerdict, Metric, Scale, Unit, Withheld};

use super::{Drawn, Evened, LaunchSelection, Pair, Reading};
use crate::guard::{End, MARKS, noise};
use crate::launch::Launch;
use crate::records::Records;
use crate::statistics::{Interval, LogRatio, mean};
use crate::thresholds::{CONSISTENT_BLOCKS, LEAST_MEMORY_BYTES, UNEVEN};

impl Pair<'_> {
    /// Whether a busy machine changes the metric.
    pub(crate) fn suffers(&self, metric: Metric) -> bool {
        [self.old, self.new].into_iter().any(|(records, cell)| noise::suffers(metric, &records.plan.cells[cell].load))
    }

    /// Whether what it suffers has a bound.
    pub(crate) fn is_bounded(&self, metric: Metric) -> bool {
        let (records, cell) = self.new;
        let is_closed = !records.plan.cells[cell].load.model.has_schedule();
        metric.scale() == Scale::Ratio && noise::is_bounded(metric, is_closed)
    }

    /// Why what a predicate finds of the figures may be the machine's work: what disturbed it, or that it was not the same machine for both.
    /// Faster and slower may also be those of a limit, as a gate has it: by more than that much.
    pub(crate) fn noise(
        &self,
        metric: Metric,
        (verdict, limit): (ComparisonVerdict, f64),
        confidence: f64,
        holds: impl Fn(Option<LogRatio>) -> bool,
    ) -> Option<Withheld> {
        let differed = || {
            let (by, why) = self.machine_differs(metric, self.least_uneven(metric, verdict))?;
            let holds_at = |by: f64| holds(self.shifted(metric, (LaunchSelection::All, &MARKS, by), confidence));
            (by.is_infinite() || !holds_at(by) || !holds_at(-by)).then_some(why)
        };
        match verdict {
            ComparisonVerdict::Inconclusive => None,
            _ => self.disturbance(metric, (verdict, limit), confidence, &holds).or_else(differed),
        }
    }

    /// From what share of a CPU on what others used evenly counts against a verdict: whoever says slower says that it is the server.
    pub(crate) fn least_uneven(&self, metric: Metric, verdict: ComparisonVerdict) -> f64 {
        if verdict == ComparisonVerdict::Same || !self.is_bounded(metric) { UNEVEN } else { 0.0 }
    }

    /// Why what a predicate finds of the figures may be the work of what disturbed the machine: it is not found with the rounds
    /// that were left out for it; or not without the launches that it disturbed, nor with these as good as they could have been,
    /// where that has a bound, of revisions in rotation without what fell on one of them alone; and that as far as doubts leave
    /// open.
    fn disturbance(
        &self,
        metric: Metric,
        (verdict, limit): (ComparisonVerdict, f64),
        confidence: f64,
        holds: impl Fn(Option<LogRatio>) -> bool,
    ) -> Option<Withheld> {
        let could_be_better: &[Arm] = match verdict {
            ComparisonVerdict::Slower => &[Arm::New],
            ComparisonVerdict::Faster => &[Arm::Old],
            ComparisonVerdict::Same => &[Arm::Old, Arm::New],
            ComparisonVerdict::Inconclusive => return None,
        };
        let by = |launches: LaunchSelection| holds(self.within(metric, (launches, &MARKS), confidence));
        if self.lacks_rounds() && !by(LaunchSelection::WithEveryRound) {
            return Some(Withheld::Rounds);
        }
        let is_disturbed = |arm: Arm| {
            let (records, cell) = self.side(arm);
            records.valid(cell).any(|launch| launch.is_disturbed(metric))
        };
        // What only made the other one worse than it is takes nothing back.
        let counts = |arm: &Arm| noise::goes_both_ways(metric) || could_be_better.contains(arm);
        if !self.suffers(metric) || ![Arm::Old, Arm::New].into_iter().filter(counts).any(is_disturbed) {
            return None;
        }
        let worse = could_be_better.iter().copied().next().filter(|_| could_be_better.len() == 1);
        let whatever_they_lost = || could_be_better.iter().all(|arm| by(LaunchSelection::InFavourOf(*arm)));
        let whatever_fell_on_one = || {
            self.as_noise_may_have_it(metric).into_iter().all(|(launches, drawn)| {
                let found = self.within(metric, (launches, &MARKS), confidence);
                holds(found.map(|found| LogRatio { interval: drawn.of(found.interval), ..found }))
            })
        };
        match self.is_bounded(metric) {
            _ if by(LaunchSelection::Undisturbed) => None,
            true if self.suffer_together(metric) => (!whatever_fell_on_one()).then_some(Withheld::Disturbed),
            _ if worse.is_some_and(|worse| self.is_in_every_block(metric, (worse, limit), &holds)) => None,
            true => (!whatever_they_lost()).then_some(Withheld::Disturbed),
            false => Some(Withheld::Unbounded),
        }
    }

    /// By how much, as a logarithm, something other than the servers may have changed a ratio, however many launches there are, and why; infinity
    /// where that has no bound, none where nothing can have. What others used evenly counts from `least_uneven` on.
    pub(crate) fn machine_differs(&self, metric: Metric, least_uneven: f64) -> Option<(f64, Withheld)> {
        let drift = self.drift_of(metric).map(|by| (by, Withheld::AnotherTime));
        let uneven = || Some((self.uneven(metric, least_uneven)?, Withheld::Uneven));
        drift.or_else(uneven).or_else(|| Some((self.between_sessions(metric)?, Withheld::LittleMemory)))
    }

    /// By how much, as a logarithm, one server's memory may differ from itself between two sessions, which scatter further than launches within one.
    fn between_sessions(&self, metric: Metric) -> Option<f64> {
        let [old, new] = self.compared(metric).map(|values| mean(&values));
        let least = old?.min(new?);
        (metric.unit() == Unit::Bytes && least > 0.0).then(|| (LEAST_MEMORY_BYTES / least).ln_1p())
    }

    /// By how much, as a logarithm, what others used all the time may have cost one of the two more than the other: as much as it may have
    /// cost one, for it costs a server that waits little and one that fills its CPU all of it; infinity where a queue makes any loss of it. None
    /// where that is less than `least`, and of two revisions of one server, which it hits alike.
    fn uneven(&self, metric: Metric, least: f64) -> Option<f64> {
        let falls_on_one = !self.alike && self.paired && self.suffers(metric);
        if metric.scale() != Scale::Ratio || !falls_on_one || metric.is_before_load() || noise::goes_both_ways(metric) {
            return None;
        }
        let of = |(records, cell): (&Records, usize)| {
            let quiet = records.valid(cell).filter(|launch| !launch.is_disturbed(metric));
            quiet.filter_map(|launch| noise::could_be_off(launch, metric)).collect::<Vec<f64>>()
        };
        let by = mean(&[of(self.old), of(self.new)].concat()).filter(|by| *by >= least)?;
        Some(if self.is_bounded(metric) { by } else { f64::INFINITY })
    }

    /// By how much, as a logarithm, it may have changed between two times; none of what was measured in turn. One that is slower by a share d does
    /// 1 - d as much in the same time, and takes 1 ÷ (1 - d) as long for the same; infinity where a queue makes any loss of that, which is the longer the
    /// nearer the server is to its capacity (of M/M/1, at 60 % of it and with d = 0.35, eight times as long).
    fn drift_of(&self, metric: Metric) -> Option<f64> {
        let changes = self.drift > 0.0 && metric.scale() == Scale::Ratio && self.suffers(metric);
        changes.then(|| if self.is_bounded(metric) { -(-self.drift.min(1.0)).ln_1p() } else { f64::INFINITY })
    }

    /// Whether noise fell on both at once: two revisions of one server, between which the load went round. They start one
    /// after the other.
    fn suffer_together(&self, metric: Metric) -> bool {
        !metric.is_before_load() && self.alike && self.paired && self.went_round()
    }

    /// Whether all launches of both lived beside others, and the load went round among them.
    fn went_round(&self) -> bool {
        let all = |(records, cell): (&Records, usize)| records.valid(cell).all(|launch| launch.rounds.is_some());
        all(self.old) && all(self.new)
    }

    /// The readings between which a change lies whatever noise did, where that has a bound, each with by how much the ratio may have
    /// been drawn to 1. Where it fell on one alone: that it cost either side all that it can have cost, or nothing. Where it fell
    /// on both at once that counts for what only one had, and what both had may have been added to both.
    pub(crate) fn as_noise_may_have_it(&self, metric: Metric) -> Vec<(LaunchSelection, Drawn)> {
        let mut readings = vec![LaunchSelection::All];
        if !self.suffer_together(metric) {
            readings.extend([Arm::Old, Arm::New].map(LaunchSelection::InFavourOf));
            return readings.into_iter().map(|launches| (launches, Drawn(1.0))).collect();
        }
        readings.push(LaunchSelection::Evened(Evened::Better));
        if noise::goes_both_ways(metric) {
            readings.push(LaunchSelection::Evened(Evened::Worse));
        }
        let off = |(records, cell): (&Records, usize)| {
            let noisy = records.valid(cell).filter(|launch| launch.is_disturbed(metric));
            noisy.filter_map(|launch| noise::could_be_off(launch, metric)).fold(0.0, f64::max)
        };
        let drawn = Drawn(f64::max(off(self.old), off(self.new)).exp());
        readings.into_iter().map(|launches| (launches, drawn)).collect()
    }

    /// Whether rounds of a launch were left out.
    fn lacks_rounds(&self) -> bool {
        [self.old, self.new].into_iter().any(|(records, cell)| records.valid(cell).any(Launch::lacks_rounds))
    }

    /// Whether each of enough blocks by itself shows what a predicate finds of the figures, as far as doubts leave it open,
    /// while what disturbed the machine fell on both servers: what falls on equals by chance does not do that. It refutes that
    /// they are equals, and no more, for noise that outweighs both draws their ratio to 1. So each block must also show the one
    /// to be worse at all, and by more than a limit only where noise multiplies a figure, as it does what has a bound: in a
    /// queue a small difference becomes any.
    fn is_in_every_block(
        &self,
        metric: Metric,
        (worse, limit): (Arm, f64),
        holds: impl Fn(Option<LogRatio>) -> bool,
    ) -> bool {
        let better = if worse == Arm::New { Arm::Old } else { Arm::New };
        let [of_worse, of_better] = [worse, better].map(|arm| {
            let (records, cell) = self.side(arm);
            records.valid(cell).filter(|launch| launch.is_disturbed(metric)).map(noise::fell_on).sum::<f64>()
        });
        // Noise that comes with one of the two may be its own.
        let comes_with_one =
            2.0 * of_better < of_worse || (noise::goes_both_ways(metric) && 2.0 * of_worse < of_better);
        if !self.alike || !self.paired || comes_with_one {
            return false;
        }
        let rises = (worse == Arm::New) != metric.more_is_better();
        let is_shown = |low: f64, high: f64| if rises { low > 0.0 } else { high < 0.0 };
        if is_shown(limit, limit) && !self.is_bounded(metric) {
            return false;
        }
        let at = |end| {
            let reading = Reading { launches: LaunchSelection::All, end, doubts: &MARKS, shift: 0.0 };
            let [old, new] = [Arm::Old, Arm::New].map(|arm| self.points(arm, metric, reading));
            new.iter().filter_map(|(block, value)| Some(value - old.get(block)?)).collect::<Vec<f64>>()
        };
        let (least, most) = (at(End::Least), at(End::Most));
        let shows = |(low, high): (&f64, &f64)| {
            let interval = Interval { estimate: (low + high) / 2.0, low: *low, high: *high };
            is_shown(*low, *high) && holds(Some(LogRatio { interval, p: 0.0, blocks: least.len() }))
        };
        least.len() >= CONSISTENT_BLOCKS && least.iter().zip(&most).all(shows)
    }
}
