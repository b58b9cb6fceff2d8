//! Two cells held against each other by one metric: the change with its interval, and whether the machine alone could have
//! made it. Comparisons, gates and ranks all ask here.

use std::collections::BTreeMap;

use model::{Arm, Cell, ComparedCell, ComparisonVerdict, Metric, Scale, Unit, Withheld};

use crate::cells;
use crate::guard::{self, Doubt, End, MARKS, noise};
use crate::launch::Launch;
use crate::records::Records;
use crate::statistics::{Interval, LogRatio, mean, p_of_equal_shares, paired, share_difference, unpaired};
use crate::thresholds::{ALLOWED_FAILURES, CONFIDENCE, CONSISTENT_BLOCKS, LEAST_MEMORY_BYTES};

/// Two cells that are held against each other.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) old: (&'a Records<'a>, usize),
    pub(crate) new: (&'a Records<'a>, usize),
    /// Whether their launches of one block belong together.
    pub(crate) paired: bool,
    /// Whether they are two revisions of one server, which a busy machine hits alike: it tells them apart by chance alone.
    pub(crate) alike: bool,
    pub(crate) margin: f64,
    /// By how much, as a share, the machine may have been slower or faster for the one than for the other; 0 where both were measured in turn.
    pub(crate) drift: f64,
    /// Whether there are pairs of other targets beside it, so that its place names its own.
    pub(crate) among_targets: bool,
}

/// Which launches count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaunchSelection {
    /// All, as they were measured.
    All,
    /// All, with the rounds of slices that were left out.
    WithEveryRound,
    /// Those during which the machine was not disturbed.
    Undisturbed,
    /// All; those that were disturbed as much in favour of one side as they could have been without: its own as good, and
    /// the other's, by what noise may also make look good, as bad.
    InFavourOf(Arm),
    /// All; of those that were disturbed together each as much better (or worse) as it could have been without what fell on it and
    /// not on the others.
    Evened(Evened),
}

/// Which way what fell on one launch alone is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evened {
    /// It cost the launch all that it can have cost.
    Better,
    /// It spared the launch as much.
    Worse,
}

/// By which factor the logarithm of a ratio may be larger without noise that fell on both of its sides: what is added to both draws
/// their ratio to 1, and at most by as much as a request can have cost more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn(f64);

impl Drawn {
    /// Where a change may be that was seen in this interval.
    pub(crate) fn of(self, seen: Interval) -> Interval {
        Interval { low: seen.low.min(seen.low * self.0), high: seen.high.max(seen.high * self.0), ..seen }
    }
}

/// Which launches count, with the change at an end of what these doubts leave open. Noise and doubts are read together,
/// for what neither could do alone both may.
#[derive(Debug, Clone, Copy)]
struct Reading<'a> {
    launches: LaunchSelection,
    end: End,
    doubts: &'a [Doubt],
}

impl Pair<'_> {
    /// Where the two are held against each other: the conditions, with the target where there are several.
    pub(crate) fn place(&self) -> Cell {
        let levels = &self.new.0.plan.cells[self.new.1].levels;
        if self.among_targets { levels.clone() } else { levels.conditions() }
    }

    /// What would be said of each cell alone.
    pub(crate) fn cells(&self) -> [ComparedCell; 2] {
        let of = |arm, (records, cell): (&Records, usize)| ComparedCell { arm, cell: cells::analyse(records, cell) };
        [of(Arm::Old, self.old), of(Arm::New, self.new)]
    }

    /// Whether one of them has a value, or would have one if it were not for launches that are too short.
    pub(crate) fn has(&self, metric: Metric) -> bool {
        let of = |(records, cell): (&Records, usize)| records.valid(cell).any(|it| metric.value(it.record).is_some());
        of(self.old) || of(self.new)
    }

    /// Whether requests of one of them failed.
    pub(crate) fn fails(&self) -> bool {
        self.values(Metric::Errors).iter().flatten().any(|share| *share > 0.0)
    }

    pub(crate) fn values(&self, metric: Metric) -> [Vec<f64>; 2] {
        [self.old, self.new].map(|(records, cell)| records.values(cell, metric))
    }

    /// The values that the change is of: where launches of one block belong together, those of blocks in which both have one.
    /// Without such a block all that there are, of which there is no change.
    pub(crate) fn compared(&self, metric: Metric) -> [Vec<f64>; 2] {
        let both = self.in_both(metric);
        if !self.paired || both.is_empty() {
            return self.values(metric);
        }
        [self.old, self.new]
            .map(|(records, cell)| both.iter().filter_map(|block| records.value(cell, *block, metric)).collect())
    }

    /// Whether they are said to differ by so little memory that one server does, too.
    pub(crate) fn differs_by_little(&self, metric: Metric, verdict: ComparisonVerdict) -> Option<Withheld> {
        let is_said = matches!(verdict, ComparisonVerdict::Faster | ComparisonVerdict::Slower);
        let [old, new] = self.compared(metric).map(|values| mean(&values));
        let apart = old.zip(new).map(|(old, new)| (new - old).abs());
        let is_little = apart.is_some_and(|apart| apart < LEAST_MEMORY_BYTES);
        (is_said && metric.unit() == Unit::Bytes && is_little).then_some(Withheld::LittleMemory)
    }

    /// How many blocks a change rests on: those in which both have a value. Of launches that do not belong together, the fewer.
    pub(crate) fn blocks(&self, metric: Metric) -> usize {
        if self.paired {
            return self.in_both(metric).len();
        }
        let [old, new] = self.values(metric);
        old.len().min(new.len())
    }

    /// Whether the two have values that belong together.
    pub(crate) fn is_measured(&self, metric: Metric) -> bool {
        !self.paired || !self.in_both(metric).is_empty()
    }

    /// Blocks in which both have a value.
    fn in_both(&self, metric: Metric) -> Vec<u32> {
        let has = |(records, cell): (&Records, usize), block| records.value(cell, block, metric).is_some();
        let blocks = self.new.0.blocks().iter().copied();
        blocks.filter(|block| has(self.old, *block) && has(self.new, *block)).collect()
    }

    /// Whether there is no ratio because a launch of either has a zero.
    pub(crate) fn has_zero(&self, metric: Metric) -> bool {
        let is_zero = |(records, cell): (&Records, usize)| records.has_zero(cell, metric);
        metric.scale() == Scale::Ratio && (is_zero(self.old) || is_zero(self.new))
    }

    /// ln(new ÷ old), or new − old for shares, with its interval; none where too little was measured or there is no
    /// ratio.
    pub(crate) fn change(&self, metric: Metric, confidence: f64) -> Option<LogRatio> {
        self.read(metric, Reading { launches: LaunchSelection::All, end: End::Least, doubts: &[] }, confidence)
    }

    /// The change by these launches as far as these doubts leave it open.
    pub(crate) fn within(
        &self,
        metric: Metric,
        (launches, doubts): (LaunchSelection, &[Doubt]),
        confidence: f64,
    ) -> Option<LogRatio> {
        let at = |end: End, doubts| self.read(metric, Reading { launches, end, doubts }, confidence);
        Some(at(End::Least, &[])?.spanning(at(End::Least, doubts), at(End::Most, doubts)))
    }

    /// Blocks that a plan asks for at least, where its run has fewer.
    pub(crate) fn is_in_vain(&self) -> bool {
        self.old.0.are_in_vain() || self.new.0.are_in_vain()
    }

    pub(crate) fn unfinished(&self) -> Option<u32> {
        self.old.0.unfinished().max(self.new.0.unfinished())
    }

    /// Whether a change is of enough blocks for a verdict.
    pub(crate) fn is_enough(&self, found: &LogRatio) -> bool {
        [self.old, self.new].into_iter().all(|(records, _)| records.are_enough(found.blocks))
    }

    /// Level of the tests behind a verdict: the stricter one of two runs.
    pub(crate) fn significance(&self) -> f64 {
        self.new.0.significance().min(self.old.0.significance())
    }

    /// Confidence of the interval behind a verdict, which is the one that is shown.
    pub(crate) fn confidence(&self) -> f64 {
        1.0 - self.significance()
    }

    fn read(&self, metric: Metric, reading: Reading, confidence: f64) -> Option<LogRatio> {
        if self.has_zero(metric) {
            return None;
        }
        let [old, new] = [Arm::Old, Arm::New].map(|arm| self.points(arm, metric, reading));
        let found = if self.paired {
            let differences: Vec<f64> = new.iter().filter_map(|(block, value)| Some(value - old.get(block)?)).collect();
            paired(&differences, confidence)?
        } else {
            let values = |points: BTreeMap<u32, f64>| points.into_values().collect::<Vec<f64>>();
            unpaired(&values(new), &values(old), confidence)?
        };
        match metric.scale() {
            Scale::Ratio => Some(found),
            Scale::Difference => Some(self.with_sample(metric, found, confidence)),
        }
    }

    pub(crate) fn side(&self, arm: Arm) -> (&Records<'_>, usize) {
        match arm {
            Arm::Old => self.old,
            Arm::New => self.new,
        }
    }

    /// A side's values by block, on the scale on which they are compared.
    fn points(&self, arm: Arm, metric: Metric, reading: Reading<'_>) -> BTreeMap<u32, f64> {
        let (records, cell) = self.side(arm);
        // The change is at its least where the new one is, and the old one at its most.
        let end = if arm == Arm::New { reading.end } else { reading.end.other() };
        let better = if metric.more_is_better() { 1.0 } else { -1.0 };
        let toward = match reading.launches {
            LaunchSelection::InFavourOf(favoured) if favoured == arm => Some(better),
            LaunchSelection::InFavourOf(_) if noise::goes_both_ways(metric) => Some(-better),
            LaunchSelection::Evened(Evened::Better) => Some(better),
            LaunchSelection::Evened(Evened::Worse) => Some(-better),
            _ => None,
        };
        let could_be_off = match reading.launches {
            LaunchSelection::Evened(_) => noise::could_be_off_alone,
            _ => noise::could_be_off,
        };
        let point = |launch: &Launch| {
            let block = launch.record.block;
            let seen = guard::point(records, (cell, block), metric, (reading.doubts, end))?;
            match toward {
                _ if reading.launches == LaunchSelection::WithEveryRound => {
                    Some((block, seen + launch.left_out(metric)))
                }
                _ if !launch.is_disturbed(metric) => Some((block, seen)),
                Some(toward) => Some((block, seen + toward * could_be_off(launch, metric)?)),
                None => (reading.launches != LaunchSelection::Undisturbed).then_some((block, seen)),
            }
        };
        records.launches(cell).filter_map(point).collect()
    }

    /// A difference of shares over launches, no surer than so many requests can tell.
    fn with_sample(&self, metric: Metric, launches: LogRatio, confidence: f64) -> LogRatio {
        if metric != Metric::Errors {
            return launches;
        }
        let [old, new] = [Arm::Old, Arm::New].map(|arm| {
            let (records, cell) = self.side(arm);
            let books = records.books(cell);
            (books.failures(), books.scheduled)
        });
        let (sample, p) = (share_difference(new, old, confidence), p_of_equal_shares(new, old));
        let Some((sample, p)) = sample.zip(p) else { return launches };
        let Interval { estimate, low, high } = launches.interval;
        let interval = Interval {
            estimate,
            low: low.min(estimate - (sample.estimate - sample.low)).max(-1.0),
            high: high.max(estimate + (sample.high - sample.estimate)).min(1.0),
        };
        LogRatio { interval, p: launches.p.max(p), ..launches }
    }

    /// Half width of the band of what is the same. A margin in per cent says nothing of shares: those are the same within
    /// what may fail.
    pub(crate) fn margin(&self, metric: Metric) -> f64 {
        match metric.scale() {
            Scale::Ratio => self.margin,
            Scale::Difference => ALLOWED_FAILURES.exp_m1(),
        }
    }

    /// The change at either end of what these doubts leave open.
    pub(crate) fn ends(&self, metric: Metric, doubts: &[Doubt]) -> Option<(f64, f64)> {
        let at = |end| self.read(metric, Reading { launches: LaunchSelection::All, end, doubts }, CONFIDENCE);
        Some((at(End::Least)?.interval.estimate, at(End::Most)?.interval.estimate))
    }

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

    /// Why what a predicate finds of the figures may be the work of what disturbed the machine: it is not found with the rounds
    /// that were left out for it; or not without the launches that it disturbed, nor with these as good as they could have been,
    /// where that has a bound, of revisions in rotation without what fell on one of them alone; and that as far as doubts leave
    /// open. Faster and slower may also be those of a limit, as a gate has it: by more than that much.
    pub(crate) fn noise(
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

    /// Whether it is that the two were measured at different times that takes back what a predicate finds: it is not found, too, if the machine
    /// was so much slower or faster for the one than for the other.
    pub(crate) fn another_time(
        &self,
        metric: Metric,
        confidence: f64,
        holds: impl Fn(Option<LogRatio>) -> bool,
    ) -> Option<Withheld> {
        let drift = self.drift_of(metric)?;
        let found = self.within(metric, (LaunchSelection::All, &MARKS), confidence);
        let holds_at = |by: f64| holds(found.map(|it| LogRatio { interval: it.interval.map(|at| at + by), ..it }));
        (!holds_at(drift) || !holds_at(-drift)).then_some(Withheld::AnotherTime)
    }

    /// By how much, as a logarithm, the machine alone may have changed a ratio; none where it cannot have.
    pub(crate) fn drift_of(&self, metric: Metric) -> Option<f64> {
        let changes = self.drift > 0.0 && metric.scale() == Scale::Ratio && self.suffers(metric);
        changes.then(|| self.drift.ln_1p())
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
            let reading = Reading { launches: LaunchSelection::All, end, doubts: &MARKS };
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
