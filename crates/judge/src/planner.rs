use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use model::{
    Cell, Done, Draft, GOLDEN, Known, Measurement, Metric, Next, Plan, Planner, TrialRecord, TrialSpec, stirred,
};

use crate::failing::wrong_replies;
use crate::launch::Launch;
use crate::records::{Records, pairs, places};
use crate::statistics::{logarithms, t_interval};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, DEATHS, UNGUARDED};
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

/// Asks for whole blocks, each with every cell once in random order, until the comparisons are precise enough or the
/// cap is reached. It looks at precision alone, never at what the verdict would be: stopping on a verdict would give
/// false ones. A block in which the machine was disturbed is asked for again, under the next number, unless there are more of
/// them than the plan allows: then all count.
#[derive(Debug, Clone)]
pub struct BlockPlanner {
    plan: Plan,
    /// The plan's cells by their levels.
    places: BTreeMap<Cell, usize>,
    /// Every record of a cell of the plan, judged when it came, with its place among the cells.
    judged: Vec<(usize, TrialRecord, TrialJudgement)>,
    /// What has a record, of whatever levels.
    recorded: BTreeSet<(u32, usize, bool)>,
    /// How often each launch lost its guard.
    unguarded: BTreeMap<(u32, usize, bool), usize>,
}

impl BlockPlanner {
    /// A planner for the plan's cells, blocks, precision and seed.
    pub fn new(plan: &Plan) -> Self {
        let (places, plan) = (places(plan), plan.clone());
        BlockPlanner { plan, places, judged: Vec::new(), recorded: BTreeSet::new(), unguarded: BTreeMap::new() }
    }

    fn records<'a>(&'a self) -> Records<'a> {
        let launch = |(cell, record, judgement): &'a (usize, TrialRecord, TrialJudgement)| {
            (*cell, Launch::new(record, Cow::Borrowed(judgement)))
        };
        Records::of(&self.plan, self.judged.iter().map(launch).collect())
    }

    /// The same with a plan to which something was added.
    pub(crate) fn go_on_with(&mut self, plan: &Plan) {
        self.plan = plan.clone();
    }

    fn least(&self) -> u32 {
        self.plan.blocks.min.max(1)
    }

    fn most(&self) -> u32 {
        self.plan.blocks.max.max(self.least())
    }

    /// The launches of a block in their order, each with its trials: a function of the seed and the block alone.
    fn block(&self, block: u32) -> Vec<Vec<TrialSpec>> {
        let once = self.plan.launches().into_iter().map(|cells| (cells, false));
        let mut launches: Vec<(Vec<usize>, bool)> = once.chain(self.plan.twin.map(|cell| (vec![cell], true))).collect();
        fastrand::Rng::with_seed(mix(self.plan.seed, block)).shuffle(&mut launches);
        let mut positions = 1..;
        let trials = |(cells, twin): (Vec<usize>, bool)| -> Vec<TrialSpec> {
            let trials = cells.into_iter().zip(&mut positions);
            trials.map(|(cell, position)| TrialSpec { block, position, cell, twin }).collect()
        };
        launches.into_iter().map(trials).collect()
    }

    /// What is not recorded of a block. A ladder that lacks a rung is climbed again from its foot: what a rung shows
    /// depends on those before it.
    fn missing(&self, block: u32) -> Vec<TrialSpec> {
        let lacks = |spec: &TrialSpec| !self.recorded.contains(&(spec.block, spec.cell, spec.twin));
        self.block(block).into_iter().filter(|launch| launch.iter().any(lacks)).flatten().collect()
    }

    /// Half widths, on the log scale, of what must become precise: the ratios of cells that share their conditions, and the throughput of a cell that has no partner. A cell without a single valid launch never
    /// becomes precise however often it is launched, and one that once served nothing right has no ratio: neither counts.
    fn half_widths(&self, records: &Records) -> Vec<Option<f64>> {
        let half_width = |values: &[f64]| t_interval(values).map(|interval| interval.half_width());
        let mut widths = Vec::new();
        for group in self.plan.by_conditions() {
            let serves = |cell: &usize| {
                let rates = records.values(*cell, Metric::Throughput);
                !rates.is_empty() && rates.iter().all(|rate| *rate > 0.0)
            };
            let alive: Vec<usize> = group.into_iter().filter(serves).collect();
            if let [single] = alive[..] {
                widths.push(logarithms(&records.values(single, Metric::Throughput)).and_then(|v| half_width(&v)));
            }
            for ((a, b), metric) in
                pairs(&alive).into_iter().flat_map(|pair| self.plan.precise.iter().map(move |metric| (pair, *metric)))
            {
                let ratios = records.log_ratios(a, b, metric);
                // What cannot be measured here never becomes precise either.
                if metric == Metric::Throughput || !ratios.is_empty() {
                    widths.push(half_width(&ratios));
                }
            }
        }
        widths
    }

    fn known(&self, half_width: f64) -> Known {
        Known { metrics: self.plan.precise.clone(), half_width }
    }

    /// The widest half width, if each is known.
    fn widest(&self, records: &Records) -> Option<f64> {
        let widths: Option<Vec<f64>> = self.half_widths(records).into_iter().collect();
        widths?.into_iter().reduce(f64::max)
    }

    /// Why further blocks would show nothing: of some targets no launch that came up counts, by the server's own doing, and
    /// there is no other one to measure. Of a comparison one such side is enough.
    fn in_vain(&self, records: &Records) -> Option<Done> {
        let mut targets: BTreeMap<&str, Vec<InVain>> = BTreeMap::new();
        for launch in records.all() {
            targets.entry(launch.record.levels.target()).or_default().extend(InVain::of(launch.record));
        }
        let those = |which: InVain| -> Vec<String> {
            let all = targets.iter().filter(|(_, of)| InVain::all(of) == Some(which));
            all.map(|(target, _)| (*target).to_owned()).collect()
        };
        let (wrong, died) = (those(InVain::Wrong), those(InVain::Died));
        let others = targets.values().any(|launches| InVain::all(launches) == Some(InVain::No));
        let is_some = !wrong.is_empty() || !died.is_empty();
        (is_some && (!others || self.plan.comparison.is_some())).then_some(Done::InVain { wrong, died })
    }

    fn capped(&self, records: &Records) -> Done {
        let (least, blocks, aside) = (self.least(), self.most(), records.repeated().len() as u32);
        if least == blocks {
            return Done::Planned { blocks, aside };
        }
        Done::Capped { blocks, aside, known: self.widest(records).map(|widest| self.known(widest)) }
    }
}

impl Planner for BlockPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        let launch = (trial.block, trial.cell, trial.twin);
        let made = match trial.lost_its_guard() {
            // It says nothing of the server, whose place in the block it must not take.
            true => {
                let times = self.unguarded.entry(launch).or_default();
                *times += 1;
                *times >= UNGUARDED
            }
            false => true,
        };
        if made {
            self.recorded.insert(launch);
        }
        if let Some(&cell) = self.places.get(&trial.levels) {
            let judgement = check_trial(&self.plan.cells[cell], self.plan.generator.limits, trial);
            self.judged.push((cell, trial.clone(), judgement));
        }
    }

    fn next(&mut self) -> Next {
        let records = self.records();
        // One that was begun for a block that counts again is made whole.
        let last_begun = self.recorded.iter().next_back().map_or(0, |(block, ..)| *block);
        let last = (self.most() + records.repeated().len() as u32).max(last_begun);
        let blocks = (1..=last).filter(|block| !records.repeated().contains_key(block));
        for (before, block) in (0..).zip(blocks) {
            let missing = self.missing(block);
            let whole = self.plan.cells.len() + usize::from(self.plan.twin.is_some());
            if missing.is_empty() {
                continue;
            }
            if missing.len() == whole
                && let Some(why) = self.in_vain(&records)
            {
                return Next::Done(why);
            }
            if before >= self.least()
                && missing.len() == whole
                && let Some(widest) = self.widest(&records).filter(|widest| *widest <= self.plan.precision)
            {
                let (known, asked) = (self.known(widest), self.plan.precision);
                return Next::Done(Done::Precise { blocks: before, known, asked });
            }
            return Next::Run(missing);
        }
        Next::Done(self.capped(&records))
    }

    fn expected_trials(&self) -> usize {
        (self.plan.cells.len() + usize::from(self.plan.twin.is_some())) * self.least() as usize
    }
}

/// What a launch that came up gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InVain {
    /// Something.
    No,
    /// Replies, not one of them right, which makes it void.
    Wrong,
    /// Nothing that counts: the server ended under load.
    Died,
}

impl InVain {
    /// None of a launch that nobody could measure.
    fn of(trial: &TrialRecord) -> Option<Self> {
        let is_wrong = |measured: &Measurement| measured.accounting.ok == 0 && wrong_replies(measured) > 0;
        match &trial.measurement {
            Some(measured) if is_wrong(measured) => Some(InVain::Wrong),
            _ if trial.died().is_some() => Some(InVain::Died),
            measured => measured.as_ref().map(|_| InVain::No),
        }
    }

    /// What all launches so far of a target gave, which all others would, too; [`InVain::No`] where that is not known. None
    /// where nobody could measure one. Thousands of replies show it in one launch; one death may be an accident.
    fn all(launches: &[InVain]) -> Option<Self> {
        let number = |of: InVain| launches.iter().filter(|launch| **launch == of).count();
        Some(match (number(InVain::No), number(InVain::Wrong), number(InVain::Died)) {
            (0, 0, 0) => return None,
            (0, 1.., _) => InVain::Wrong,
            (0, 0, DEATHS..) => InVain::Died,
            _ => InVain::No,
        })
    }
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

/// One seed from two, each bit of either touching all of it.
fn mix(seed: u64, block: u32) -> u64 {
    stirred(seed.wrapping_add(u64::from(block).wrapping_mul(GOLDEN)))
}

#[cfg(test)]
mod tests;
