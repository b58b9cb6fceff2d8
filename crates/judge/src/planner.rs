use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, CellPlan, Draft, Next, Plan, Planner, TrialRecord, seed_of};

use crate::launch::Launch;
use crate::made::{AtOnce, Made, Upcoming, in_a_block, least};
use crate::records::{Records, Wanted, groups, is_disturbed, places, set_aside, settled};
use crate::rotation;
use crate::thresholds::BLOCKS_FOR_A_VERDICT;
use crate::trial::{TrialJudgement, check_trial};

/// The cell by which a session measures itself: launched twice in each block, it shows what differs without a
/// difference. A short handler delay leaves the scatter visible that waiting would hide, a short launch costs little,
/// and the first target of a plan is the one that the others are held against.
pub fn cell_for_twin(plan: &Draft) -> Option<usize> {
    let cost = |index: &usize| {
        let cell = &plan.cells[*index];
        (cell.handler_delay_ns, cell.load.warm_up_ns + cell.load.window_ns(), *index)
    };
    // Of a ladder only the first rung has nothing before it that a launch of its own would lack.
    plan.launches().into_iter().map(|launch| launch[0]).min_by_key(cost)
}

/// The cell that half of the blocks of a comparison launch once more instead of this one: the other server under the same conditions.
/// What servers leave behind (a file, a cache) the next launch finds, so neither may have more launches than the other.
pub fn cell_for_twin_in_turn(plan: &Draft, twin: Option<usize>) -> Option<usize> {
    let compared = plan.comparison.as_ref()?;
    let own = &plan.cells[twin?].levels;
    let other = if own.target() == compared.new { &compared.old } else { &compared.new };
    let is_other = |cell: &CellPlan| cell.levels.target() == other && cell.levels.conditions() == own.conditions();
    plan.cells.iter().position(is_other)
}

/// Asks for whole blocks, each with every cell once in random order, until the comparisons are precise enough or the
/// cap is reached. It looks at precision alone, never at what the verdict would be: stopping on a verdict would give
/// false ones. A block in which the machine was disturbed is asked for again, under the next number, unless there are more of
/// them than the plan allows: then all count.
///
/// Launches that share their conditions are asked for together where the plan rotates, until one of them turns out not to fit;
/// from then on all under these conditions are alone, those of the blocks before, too.
#[derive(Debug, Clone)]
pub struct BlockPlanner {
    plan: Plan,
    /// The plan's cells by their levels.
    places: BTreeMap<Cell, usize>,
    /// Of each cell, the number of its conditions.
    groups: Vec<usize>,
    /// By block, every record of a cell of the plan, judged when it came, with its place among the cells.
    judged: BTreeMap<u32, Vec<Judged>>,
    made: Made,
    /// Whether the machine was busy in a block, of those of which nothing has come since this was found out.
    disturbed: BTreeMap<u32, bool>,
}

/// A record and what it means, with its place among the cells.
type Judged = (usize, TrialRecord, TrialJudgement);

impl BlockPlanner {
    /// A planner for the plan's cells, blocks, precision and seed.
    pub fn new(plan: &Plan) -> Self {
        BlockPlanner {
            places: places(plan),
            groups: groups(plan),
            made: Made::new(plan),
            judged: BTreeMap::new(),
            disturbed: BTreeMap::new(),
            plan: plan.clone(),
        }
    }

    /// What all records say together: as much work as there are records.
    fn records(&self) -> Records<'_> {
        let blocks = self.judged.iter().map(|(block, judged)| (*block, launches(judged)));
        Records::of(&self.plan, Cow::Borrowed(&self.made), blocks)
    }

    /// The same with a plan to which something was added.
    pub(crate) fn go_on_with(&mut self, plan: &Plan) {
        let mut planner = BlockPlanner::new(plan);
        let judged = std::mem::take(&mut self.judged);
        judged.into_values().flatten().for_each(|judged| planner.keep(judged));
        *self = planner;
    }

    fn keep(&mut self, judged: Judged) {
        let block = judged.1.block;
        self.disturbed.remove(&block);
        if self.made.take(&Launch::new(&judged.1, Cow::Borrowed(&judged.2))) {
            self.disturbed.clear();
        }
        self.judged.entry(block).or_default().push(judged);
    }

    /// The next block that lacks something: of the records it looks at those that are new, and at those of their blocks.
    fn upcoming(&mut self) -> Option<Upcoming> {
        for (block, judged) in &self.judged {
            let found =
                || is_disturbed(&self.plan, &settled(&self.plan, &self.groups, &self.made, launches(judged)).launches);
            self.disturbed.entry(*block).or_insert_with(found);
        }
        let disturbed = self.disturbed.iter().filter(|(_, is_so)| **is_so).map(|(block, _)| *block);
        self.made.upcoming(&self.plan, &set_aside(&self.plan, disturbed.collect()))
    }

    /// The first of these that can be done in one go: launches that go round, or all that come before such.
    fn first(&self, missing: Vec<AtOnce>) -> Next {
        match missing.first() {
            Some(AtOnce { trials, slicing: Some(slicing) }) => {
                let first = trials.iter().map(|trial| trial.cell).min().unwrap_or(0);
                let seed = seed_of(seed_of(self.plan.seed, trials[0].block.into()), first as u64);
                Next::Rotate(rotation::together(&self.plan, *slicing, trials.clone(), seed))
            }
            _ => {
                Next::Run(missing.into_iter().take_while(|it| it.slicing.is_none()).flat_map(|it| it.trials).collect())
            }
        }
    }
}

impl Planner for BlockPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        if let Some(&cell) = self.places.get(&trial.levels) {
            let judgement = check_trial(&self.plan.cells[cell], self.plan.generator.limits, trial);
            self.keep((cell, trial.clone(), judgement));
        }
    }

    fn next(&mut self) -> Next {
        let wanted = match self.upcoming() {
            Some(Upcoming { missing, is_new: false, .. }) => Wanted::Launches(missing),
            upcoming => self.records().wanted_of(upcoming),
        };
        match wanted {
            Wanted::Launches(missing) => self.first(missing),
            Wanted::Nothing(why) => Next::Done(why),
        }
    }

    fn expected_trials(&self) -> usize {
        in_a_block(&self.plan) * least(&self.plan) as usize + self.made.in_vain()
    }
}

fn launches(judged: &[Judged]) -> Vec<(usize, Launch<'_>)> {
    judged.iter().map(|(cell, record, it)| (*cell, Launch::new(record, Cow::Borrowed(it)))).collect()
}

/// How many blocks a plan has at most, where these are too few for a verdict however its trials end.
pub fn too_few_blocks(plan: &Plan) -> Option<u32> {
    let most = plan.blocks.max.max(plan.blocks.min);
    ((most as usize) < BLOCKS_FOR_A_VERDICT).then_some(most)
}

/// How many blocks a run has begun, those left out that were launched again.
pub fn blocks_begun(plan: &Plan, done: &[TrialRecord]) -> u32 {
    let records = Records::new(plan, done);
    let blocks: BTreeSet<u32> = done.iter().map(|trial| trial.block).filter(|block| *block > 0).collect();
    blocks.into_iter().filter(|block| !records.repeated().contains_key(block)).count() as u32
}

#[cfg(test)]
mod tests;
