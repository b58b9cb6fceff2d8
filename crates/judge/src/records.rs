use std::collections::BTreeMap;

use model::{Mark, Metric, Plan, TrialRecord};

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
}

/// The launches of a run by cell and block, judged; the order in which the records came leaves no trace.
pub(crate) struct Records<'a> {
    pub(crate) plan: &'a Plan,
    cells: Vec<BTreeMap<u32, Launch<'a>>>,
}

impl<'a> Records<'a> {
    /// Judges every trial. A record whose levels are no cell of the plan is left out; of two records for one block
    /// and cell the one that began later counts.
    pub(crate) fn new(plan: &'a Plan, trials: &'a [TrialRecord]) -> Self {
        let mut sorted: Vec<&TrialRecord> = trials.iter().collect();
        sorted.sort_by_key(|trial| (trial.block, trial.cell, &trial.started_at, trial.position));
        let mut cells: Vec<BTreeMap<u32, Launch>> = plan.cells.iter().map(|_| BTreeMap::new()).collect();
        for record in sorted {
            if let Some(index) = plan.cells.iter().position(|cell| cell.levels == record.levels) {
                let judgement = check_trial(&plan.cells[index], record);
                cells[index].insert(record.block, Launch { record, judgement });
            }
        }
        Records { plan, cells }
    }

    /// All launches of a cell, in block order.
    pub(crate) fn launches(&self, cell: usize) -> impl Iterator<Item = &Launch<'a>> {
        self.cells[cell].values()
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

    /// Level of the tests behind a verdict: stricter where the number of blocks followed from what they showed.
    pub(crate) fn significance(&self) -> f64 {
        let stopped = self.plan.blocks.max > self.plan.blocks.min;
        if stopped { SIGNIFICANCE_WHEN_STOPPED } else { SIGNIFICANCE }
    }

    /// A metric in one launch; none where the launch is void, missing, or does not support it.
    pub(crate) fn value(&self, cell: usize, block: u32, metric: Metric) -> Option<f64> {
        self.launch(cell, block)?.value(metric)
    }

    /// A metric's values over a cell's valid launches, in block order.
    pub(crate) fn values(&self, cell: usize, metric: Metric) -> Vec<f64> {
        self.launches(cell).filter_map(|launch| launch.value(metric)).collect()
    }

    /// ln(a ÷ b) in every block in which both are above zero, in block order.
    pub(crate) fn log_ratios(&self, a: usize, b: usize, metric: Metric) -> Vec<f64> {
        let positive = |value: Option<f64>| value.filter(|v| *v > 0.0);
        self.cells[a]
            .iter()
            .filter_map(|(block, launch)| {
                let left = positive(launch.value(metric))?;
                Some((left / positive(self.value(b, *block, metric))?).ln())
            })
            .collect()
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

    /// Whether a cell has a mark.
    pub(crate) fn marked(&self, cell: usize, mark: Mark) -> bool {
        self.mostly(cell, |launch| launch.judgement.marks.iter().any(|note| note.mark == mark))
    }
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
