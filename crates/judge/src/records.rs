use std::collections::BTreeMap;

use model::{Accounting, Mark, Metric, Plan, TrialRecord};

use crate::thresholds::{SHARE_OF_LAUNCHES, SIGNIFICANCE, SIGNIFICANCE_WHEN_STOPPED};
use crate::trial::{TrialJudgement, check_trial};

/// One launch with its judgement.
pub(crate) struct Launch<'a> {
    pub(crate) record: &'a TrialRecord,
    pub(crate) judgement: TrialJudgement,
}

impl Launch<'_> {
    /// The metric's value where the launch is valid and supports it.
    fn value(&self, metric: Metric) -> Option<f64> {
        metric.value(self.record).filter(|value| self.judgement.is_valid() && value.is_finite())
    }

    /// Whether it has the mark.
    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.judgement.marks.iter().any(|note| note.mark == mark)
    }

    /// Whether it has the mark for this metric.
    pub(crate) fn is_about(&self, mark: Mark, metric: Metric) -> bool {
        self.judgement.marks.iter().any(|note| note.mark == mark && note.is_about(metric))
    }
}

/// Launches by block.
type ByBlock<'a> = BTreeMap<u32, Launch<'a>>;

/// The launches of a run by cell and block, judged; the order in which the records came leaves no trace.
pub(crate) struct Records<'a> {
    pub(crate) plan: &'a Plan,
    cells: Vec<ByBlock<'a>>,
    twin: ByBlock<'a>,
    repeated: BTreeMap<u32, Vec<Launch<'a>>>,
}

impl<'a> Records<'a> {
    /// Judges every trial. A record whose levels match no cell of the plan is left out; of two records for one launch
    /// the one that began later counts. The first blocks in which a trial was noisy, as many as the plan repeats, are
    /// set aside: which ones does not depend on any figure of a target, so nothing is chosen by its result.
    pub(crate) fn new(plan: &'a Plan, trials: &'a [TrialRecord]) -> Self {
        let launches = judged(plan, trials);
        let mut noisy: Vec<u32> =
            launches.iter().filter(|(_, launch)| launch.is(Mark::Noisy)).map(|((block, ..), _)| *block).collect();
        noisy.dedup();
        noisy.truncate(plan.repeats as usize);
        let cells = plan.cells.iter().map(|_| ByBlock::new()).collect();
        let mut records = Records { plan, cells, twin: ByBlock::new(), repeated: BTreeMap::new() };
        for ((block, cell, twin), launch) in launches {
            if noisy.contains(&block) {
                records.repeated.entry(block).or_default().push(launch);
            } else if twin {
                records.twin.insert(block, launch);
            } else {
                records.cells[cell].insert(block, launch);
            }
        }
        records
    }

    /// Every launch, also those of repeated blocks and of the twin, by block and then in the plan's order.
    pub(crate) fn all(&self) -> Vec<&Launch<'a>> {
        let used = self.cells.iter().flatten().chain(&self.twin).map(|(_, launch)| launch);
        let mut all: Vec<&Launch> = used.chain(self.repeated.values().flatten()).collect();
        all.sort_by_key(|launch| (launch.record.block, launch.record.cell, launch.record.twin));
        all
    }

    /// The blocks that were set aside, each with its launches.
    pub(crate) fn repeated(&self) -> &BTreeMap<u32, Vec<Launch<'a>>> {
        &self.repeated
    }

    /// ln(launch ÷ second launch) of the plan's twin in every block in which both have a value.
    pub(crate) fn twin_log_ratios(&self, metric: Metric) -> Vec<f64> {
        self.plan
            .twin
            .and_then(|cell| self.cells.get(cell))
            .map_or(Vec::new(), |own| log_ratios(own, &self.twin, metric))
    }

    /// All launches of a cell, in block order.
    pub(crate) fn launches(&self, cell: usize) -> impl Iterator<Item = &Launch<'a>> {
        self.cells[cell].values()
    }

    /// Every launch of a cell, those of repeated blocks and of the twin among them.
    pub(crate) fn everywhere(&self, cell: usize) -> impl Iterator<Item = &Launch<'a>> {
        let levels = &self.plan.cells[cell].levels;
        self.all().into_iter().filter(move |launch| launch.record.levels == *levels)
    }

    /// The valid launches of a cell, in block order.
    pub(crate) fn valid(&self, cell: usize) -> impl Iterator<Item = &Launch<'a>> {
        self.launches(cell).filter(|launch| launch.judgement.is_valid())
    }

    /// The launch of a cell in a block, void or not.
    pub(crate) fn launch(&self, cell: usize, block: u32) -> Option<&Launch<'a>> {
        self.cells[cell].get(&block)
    }

    /// Every block with a record, in order.
    pub(crate) fn blocks(&self) -> Vec<u32> {
        let mut blocks: Vec<u32> = self.cells.iter().flat_map(|launches| launches.keys().copied()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// Blocks in which every cell has a record, void or not.
    pub(crate) fn complete_blocks(&self) -> usize {
        let complete = |block: &u32| self.cells.iter().all(|launches| launches.contains_key(block));
        self.blocks().iter().filter(|block| complete(block)).count()
    }

    /// Level of the tests behind a verdict: stricter where the number of blocks followed from what they showed, and by
    /// as many times as more of them were asked for after a look.
    pub(crate) fn significance(&self) -> f64 {
        let raises = self.plan.blocks_before.len();
        let stopped = raises > 0 || self.plan.blocks.max > self.plan.blocks.min;
        if stopped { SIGNIFICANCE_WHEN_STOPPED / (1.0 + raises as f64) } else { SIGNIFICANCE }
    }

    /// A metric in one launch; none where the launch is void, missing, or does not support it.
    pub(crate) fn value(&self, cell: usize, block: u32, metric: Metric) -> Option<f64> {
        self.launch(cell, block)?.value(metric)
    }

    /// A metric's values over a cell's valid launches, in block order.
    pub(crate) fn values(&self, cell: usize, metric: Metric) -> Vec<f64> {
        self.launches(cell).filter_map(|launch| launch.value(metric)).collect()
    }

    /// ln(a ÷ b) in every block in which both have a value, in block order; none at all where a value is zero.
    pub(crate) fn log_ratios(&self, a: usize, b: usize, metric: Metric) -> Vec<f64> {
        log_ratios(&self.cells[a], &self.cells[b], metric)
    }

    /// Whether a value of a cell is zero, so that nothing has a ratio to it.
    pub(crate) fn has_zero(&self, cell: usize, metric: Metric) -> bool {
        has_zero(&self.cells[cell], metric)
    }

    /// The books of a cell's valid launches, all together.
    pub(crate) fn books(&self, cell: usize) -> Accounting {
        let mut books = Accounting::default();
        let measured = self.valid(cell).filter_map(|launch| launch.record.measurement.as_ref());
        measured.for_each(|measured| books.merge(&measured.accounting));
        books
    }

    /// Whether at least half of a cell's valid launches have the property.
    pub(crate) fn mostly(&self, cell: usize, has: impl Fn(&Launch) -> bool) -> bool {
        let (with, all) =
            self.valid(cell).fold((0, 0), |(with, all), launch| (with + usize::from(has(launch)), all + 1));
        with > 0 && with as f64 >= SHARE_OF_LAUNCHES * f64::from(all)
    }

    /// Whether a cell's throughput is only a lower bound.
    pub(crate) fn at_least(&self, cell: usize) -> bool {
        self.mostly(cell, |launch| launch.judgement.at_least)
    }

    /// Whether a latency of a cell is as much the generator's doing as the server's.
    pub(crate) fn generators_doing(&self, cell: usize, latency: Metric) -> bool {
        let by = [Mark::Lateness, Mark::Standstill];
        self.mostly(cell, |launch| by.iter().any(|mark| launch.is_about(*mark, latency)))
    }

    /// Whether a cell has a mark.
    pub(crate) fn marked(&self, cell: usize, mark: Mark) -> bool {
        self.mostly(cell, |launch| launch.is(mark))
    }
}

/// Each launch of a cell of the plan once, judged, by block, cell, and whether it is the twin.
fn judged<'a>(plan: &'a Plan, trials: &'a [TrialRecord]) -> BTreeMap<(u32, usize, bool), Launch<'a>> {
    let mut sorted: Vec<&TrialRecord> = trials.iter().collect();
    sorted.sort_by_key(|trial| (trial.block, trial.cell, &trial.started_at, trial.position));
    let mut launches = BTreeMap::new();
    for record in sorted {
        if let Some(cell) = plan.cells.iter().position(|cell| cell.levels == record.levels) {
            let judgement = check_trial(&plan.cells[cell], plan.generator.limits, record);
            launches.insert((record.block, cell, record.twin), Launch { record, judgement });
        }
    }
    launches
}

/// Leaving out the blocks with a zero would favour whoever did nothing in them: then there are no ratios.
fn log_ratios(a: &ByBlock, b: &ByBlock, metric: Metric) -> Vec<f64> {
    if has_zero(a, metric) || has_zero(b, metric) {
        return Vec::new();
    }
    let log_ratio =
        |(block, launch): (&u32, &Launch)| Some((launch.value(metric)? / b.get(block)?.value(metric)?).ln());
    a.iter().filter_map(log_ratio).collect()
}

fn has_zero(launches: &ByBlock, metric: Metric) -> bool {
    launches.values().filter_map(|launch| launch.value(metric)).any(|value| value <= 0.0)
}

/// The cells that share their conditions, as indices, in the order of the plan; within each the targets' cells.
pub(crate) fn by_conditions(plan: &Plan) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        let conditions = cell.levels.conditions();
        match groups.iter_mut().find(|group| plan.cells[group[0]].levels.conditions() == conditions) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// Every pair of a group, in its order.
pub(crate) fn pairs(group: &[usize]) -> Vec<(usize, usize)> {
    let later = |(place, a): (usize, &usize)| group[place + 1..].iter().map(|b| (*a, *b)).collect::<Vec<_>>();
    group.iter().enumerate().flat_map(later).collect()
}
