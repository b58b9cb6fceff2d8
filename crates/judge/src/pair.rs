//! Two cells held against each other by one metric: the change with its interval, and whether the machine alone could have
//! made it. Comparisons, gates and ranks all ask here.

mod busy;

use std::collections::BTreeMap;

use model::{Arm, Cell, ComparedCell, Metric, Scale};

use crate::cells;
use crate::guard::{self, Doubt, End, Side, noise};
use crate::launch::Launch;
use crate::records::Records;
use crate::statistics::{Interval, LogRatio, p_of_equal_shares, paired, share_difference, unpaired};
use crate::thresholds::{ALLOWED_FAILURES, CONFIDENCE};

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
    /// By how much, as a share, the machine may have been slower for the one than for the other; 0 where both were measured in turn.
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
    /// What is added to each value of the new one.
    shift: f64,
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
        let has = |launch: &Launch| metric.value(launch.record).is_some() || launch.is_short_of(metric);
        let of = |(records, cell): (&Records, usize)| records.valid(cell).any(has);
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
    /// A ratio of quantiles is no surer than the buckets of their histograms: where a tail is that of a timer, all launches may lie in the same two.
    pub(crate) fn change(&self, metric: Metric, confidence: f64) -> Option<LogRatio> {
        self.within(metric, (LaunchSelection::All, &[]), confidence)
    }

    /// The same by the scatter of the launches alone, which more of them make smaller.
    pub(crate) fn scatter(&self, metric: Metric, confidence: f64) -> Option<LogRatio> {
        let reading = Reading { launches: LaunchSelection::All, end: End::Least, doubts: &[], shift: 0.0 };
        self.read(metric, reading, confidence)
    }

    /// The change by these launches as far as these doubts leave it open.
    pub(crate) fn within(
        &self,
        metric: Metric,
        (launches, doubts): (LaunchSelection, &[Doubt]),
        confidence: f64,
    ) -> Option<LogRatio> {
        self.shifted(metric, (launches, doubts, 0.0), confidence)
    }

    /// The same if each value of the new one were larger by so much.
    fn shifted(
        &self,
        metric: Metric,
        (launches, doubts, shift): (LaunchSelection, &[Doubt], f64),
        confidence: f64,
    ) -> Option<LogRatio> {
        let doubts = [doubts, &[Doubt::Resolution]].concat();
        let at = |end: End, doubts: &[Doubt]| self.read(metric, Reading { launches, end, doubts, shift }, confidence);
        Some(at(End::Least, &[])?.spanning(at(End::Least, &doubts), at(End::Most, &doubts)))
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

    /// A side as it is judged beside the other one.
    pub(crate) fn beside(&self, arm: Arm) -> Side {
        let [(_, old), (_, new)] = [self.old, self.new];
        match arm {
            Arm::Old => Side::beside(old, new),
            Arm::New => Side::beside(new, old),
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
        let shift = if arm == Arm::New { reading.shift } else { 0.0 };
        let point = |launch: &Launch| {
            let block = launch.record.block;
            let seen = guard::point(records, (self.beside(arm), block), metric, (reading.doubts, end))?;
            match toward {
                _ if reading.launches == LaunchSelection::WithEveryRound => {
                    Some((block, seen + launch.left_out(metric)))
                }
                _ if !launch.is_disturbed(metric) => Some((block, seen)),
                Some(toward) => Some((block, seen + toward * could_be_off(launch, metric)?)),
                None => (reading.launches != LaunchSelection::Undisturbed).then_some((block, seen)),
            }
        };
        records.launches(cell).filter_map(point).map(|(block, value)| (block, value + shift)).collect()
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
        let at =
            |end| self.read(metric, Reading { launches: LaunchSelection::All, end, doubts, shift: 0.0 }, CONFIDENCE);
        Some((at(End::Least)?.interval.estimate, at(End::Most)?.interval.estimate))
    }
}
