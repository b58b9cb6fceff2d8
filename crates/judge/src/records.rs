mod books;
mod levels;
mod wanted;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, LimitCause, Mark, Metric, Plan, Rotated, TrialRecord, Why};

use crate::launch::{ByCell, Launch};
use crate::made::Made;
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, SHARE_OF_LAUNCHES};
use crate::together::Joint;
use crate::trial::check_trial;
use crate::{limit, others, rotation};

pub(crate) use wanted::Wanted;

/// Launches by block.
type ByBlock<'a> = BTreeMap<u32, Launch<'a>>;

/// The launches of a run by cell and block, judged. The order of the records decides only which of two for one launch counts.
pub(crate) struct Records<'a> {
    pub(crate) plan: &'a Plan,
    cells: Vec<ByBlock<'a>>,
    twin: ByBlock<'a>,
    repeated: BTreeMap<u32, ByCell<'a>>,
    replaced: Vec<(usize, Launch<'a>)>,
    blocks: Vec<u32>,
    made: Cow<'a, Made>,
    unfinished: OnceCell<Option<u32>>,
    loaded_before_ns: Vec<u64>,
    together: Vec<OnceCell<Joint>>,
    /// Whether it is with another run that they are compared.
    pub(crate) is_one_of_two: bool,
}

impl<'a> Records<'a> {
    /// Judges every trial. A record whose levels match no cell of the plan is left out; of two records for one launch
    /// the later one counts, and of the other what one launch is enough for. The blocks in which a trial was disturbed are set
    /// aside, unless they are more than the plan repeats: which ones does not depend on any figure of a target, so nothing is
    /// chosen by its result.
    pub(crate) fn new(plan: &'a Plan, trials: &'a [TrialRecord]) -> Self {
        let places = places(plan);
        let judge = |record: &'a TrialRecord| {
            let cell = *places.get(&record.levels)?;
            let judgement = check_trial(&plan.cells[cell], plan.generator.limits, record);
            Some((cell, Launch::new(record, Cow::Owned(judgement))))
        };
        let asked = trials.iter().filter(|trial| trial.cell < plan.cells.len());
        let (mut made, mut blocks) = (Made::new(plan), BTreeMap::<u32, Vec<_>>::new());
        for (cell, launch) in asked.filter_map(judge) {
            made.take(&launch);
            blocks.entry(launch.record.block).or_default().push((cell, launch));
        }
        Self::of(plan, Cow::Owned(made), blocks)
    }

    /// The same of launches that are judged already, by block, each with its place among the plan's cells.
    pub(crate) fn of(
        plan: &'a Plan,
        made: Cow<'a, Made>,
        judged: impl IntoIterator<Item = (u32, Vec<(usize, Launch<'a>)>)>,
    ) -> Self {
        let groups = groups(plan);
        let mut replaced = Vec::new();
        let mut settled = |(block, judged)| {
            let settled = settled(plan, &groups, &made, judged);
            replaced.extend(settled.replaced);
            (block, settled.launches)
        };
        let blocks: Vec<(u32, ByCell)> = judged.into_iter().map(&mut settled).collect();
        let disturbed = blocks.iter().filter(|(_, launches)| is_disturbed(plan, launches)).map(|(block, _)| *block);
        let aside = set_aside(plan, disturbed.collect());
        let mut records = Records {
            plan,
            together: plan.cells.iter().map(|_| OnceCell::new()).collect(),
            cells: plan.cells.iter().map(|_| ByBlock::new()).collect(),
            twin: ByBlock::new(),
            repeated: BTreeMap::new(),
            replaced,
            blocks: Vec::new(),
            made,
            unfinished: OnceCell::new(),
            loaded_before_ns: loaded_before_ns(plan),
            is_one_of_two: false,
        };
        for (block, launches) in blocks {
            for ((cell, twin), launch) in launches {
                if launch.rounds.is_some() {
                    records.loaded_before_ns[cell] = rotation::warm_up_ns(plan, cell);
                }
                if aside.contains(&block) {
                    records.repeated.entry(block).or_default().insert((cell, twin), launch);
                } else if twin {
                    records.twin.insert(block, launch);
                } else {
                    records.cells[cell].insert(block, launch);
                }
            }
        }
        records.cells.iter_mut().chain([&mut records.twin]).for_each(without_what_one_is_short_of);
        let blocks: BTreeSet<u32> = records.cells.iter().flat_map(|launches| launches.keys().copied()).collect();
        records.blocks = blocks.into_iter().collect();
        records
    }

    /// The same as one side of a comparison of two runs.
    pub(crate) fn compared(self) -> Self {
        Records { is_one_of_two: true, ..self }
    }

    /// The same with every round of slices; none where all count.
    pub(crate) fn with_every_round(&self) -> Option<Records<'a>> {
        let every =
            |launches: &ByBlock<'a>| launches.iter().map(|(block, it)| (*block, it.with_every_round())).collect();
        self.all().into_iter().any(Launch::lacks_rounds).then(|| Records {
            plan: self.plan,
            cells: self.cells.iter().map(every).collect(),
            twin: every(&self.twin),
            repeated: self.repeated.clone(),
            replaced: self.replaced.clone(),
            blocks: self.blocks.clone(),
            made: self.made.clone(),
            unfinished: self.unfinished().into(),
            loaded_before_ns: self.loaded_before_ns.clone(),
            together: self.plan.cells.iter().map(|_| OnceCell::new()).collect(),
            is_one_of_two: self.is_one_of_two,
        })
    }

    /// Every launch, also those of repeated blocks and of the twin, by block and then in the plan's order. Of those in whose place
    /// another counts, the void ones: nothing is wrong with the others.
    pub(crate) fn all(&self) -> Vec<&Launch<'a>> {
        let used = self.cells.iter().flatten().chain(&self.twin).map(|(_, launch)| launch);
        let repeated = self.repeated.values().flat_map(BTreeMap::values);
        let replaced = self.replaced.iter().map(|(_, launch)| launch).filter(|launch| !launch.judgement.is_valid());
        let mut all: Vec<&Launch> = used.chain(repeated).chain(replaced).collect();
        all.sort_by_key(|launch| (launch.record.block, launch.record.cell, launch.record.twin));
        all
    }

    /// The blocks that were set aside, each with its launches.
    pub(crate) fn repeated(&self) -> &BTreeMap<u32, ByCell<'a>> {
        &self.repeated
    }

    /// ln(launch ÷ second launch) of a block's twin in every block in which both have a value.
    pub(crate) fn twin_log_ratios(&self, metric: Metric) -> Vec<f64> {
        let own = |(block, twin): (&u32, &Launch)| Some((*block, self.launch(twin.record.cell, *block)?.clone()));
        log_ratios(&self.twin.iter().filter_map(own).collect(), &self.twin, metric)
    }

    /// Whether a block launches that cell once more. In slices it may have been another than alone.
    pub(crate) fn is_once_more(&self, block: u32, cell: usize) -> bool {
        self.made.twin(block) == Some((cell, true))
    }

    /// How the launches of a cell are made; none where the plan does not rotate.
    pub(crate) fn rotated(&self, cell: usize) -> Option<Rotated> {
        self.made.rotated(cell)
    }

    /// All launches of a cell, in block order.
    pub(crate) fn launches(&self, cell: usize) -> impl Iterator<Item = &Launch<'a>> {
        self.cells[cell].values()
    }

    /// Every launch of a cell, those of repeated blocks, of the twin, and those in whose place another counts among them, in
    /// block order.
    pub(crate) fn everywhere(&self, cell: usize) -> impl Iterator<Item = &Launch<'a>> {
        let twins = self.twin.values().filter(|launch| launch.record.cell == cell);
        let repeated = self.repeated.values().flat_map(|launches| launches.range((cell, false)..=(cell, true)));
        let replaced = self.replaced.iter().filter(|(of, _)| *of == cell).map(|(_, launch)| launch);
        let repeated = repeated.map(|(_, launch)| launch);
        let mut all: Vec<&Launch> = self.launches(cell).chain(twins).chain(repeated).chain(replaced).collect();
        all.sort_by_key(|launch| (launch.record.block, launch.record.twin));
        all.into_iter()
    }

    /// Nanoseconds for which a cell's launch is under load before the window begins.
    pub(crate) fn loaded_before_ns(&self, cell: usize) -> u64 {
        self.loaded_before_ns[cell]
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
    pub(crate) fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// Blocks in which every cell has a record, void or not, and one of them at least was measured: what never came up is
    /// no evidence, and takes none away from the others.
    pub(crate) fn complete_blocks(&self) -> usize {
        let complete = |block: &&u32| self.cells.iter().all(|launches| launches.contains_key(block));
        let any = |block: &&u32| (0..self.cells.len()).any(|cell| self.is_measured(cell, **block));
        self.blocks().iter().filter(complete).filter(any).count()
    }

    /// Blocks in which each of these cells was measured, void or not.
    pub(crate) fn blocks_of(&self, cells: &[usize]) -> usize {
        self.blocks().iter().filter(|block| cells.iter().all(|cell| self.is_measured(*cell, **block))).count()
    }

    fn is_measured(&self, cell: usize, block: u32) -> bool {
        self.launch(cell, block).is_some_and(|launch| launch.record.measurement.is_some())
    }

    /// How many blocks the plan asks for where its planner would ask for more than there are: at least, or at most once there are
    /// so many. Who looks meanwhile and stops when it suits is wrong more often than the level of a test says, for that holds where
    /// the planner stops: there is no verdict before.
    pub(crate) fn unfinished(&self) -> Option<u32> {
        *self.unfinished.get_or_init(|| self.lacks())
    }

    /// Whether so many values are enough for a verdict.
    pub(crate) fn are_enough(&self, values: usize) -> bool {
        values >= BLOCKS_FOR_A_VERDICT && self.unfinished().is_none()
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

    /// How many launches of a cell are too short for a figure, so that none of them has one.
    pub(crate) fn short_of(&self, cell: usize, metric: Metric) -> usize {
        self.launches(cell).filter(|launch| launch.is_short_of(metric)).count()
    }

    /// In how many of these launches it is because too many requests failed.
    pub(crate) fn has_lost(&self, cell: usize, metric: Metric) -> usize {
        self.launches(cell).filter(|launch| launch.is_short_of(metric) && launch.has_lost(metric)).count()
    }

    /// What a cell's launches say together; found once, for every launch is asked about it.
    pub(crate) fn together(&self, cell: usize) -> &Joint {
        let find = || {
            let used: Vec<&Launch> = self.launches(cell).collect();
            let everywhere: Vec<&Launch> = self.everywhere(cell).collect();
            // Held against an old or a new server, and not only against other targets.
            let is_compared = self.is_one_of_two || self.plan.comparison.is_some();
            Joint::of(self.plan, (cell, is_compared), (&used, &everywhere))
        };
        self.together[cell].get_or_init(find)
    }

    /// Whether the generator did so much more for another target in the same block, under the same load, that it was not the
    /// limit of this launch.
    pub(crate) fn did_more(&self, cell: usize, launch: &Launch) -> bool {
        let conditions = self.plan.cells[cell].levels.conditions();
        let other = |other: &usize| *other != cell && self.plan.cells[*other].levels.conditions() == conditions;
        let others = (0..self.cells.len()).filter(other);
        let valid = |other: &&Launch| other.judgement.is_valid();
        let measured = |of: &Launch<'a>| of.record.measurement.as_ref();
        let Some(own) = launch.record.measurement.as_ref() else { return false };
        let beside = others.filter_map(|other| self.launch(other, launch.record.block)).filter(valid);
        beside.filter_map(measured).any(|beside| limit::did_more(own, beside))
    }

    /// Whether at least half of a cell's valid launches have the property.
    pub(crate) fn mostly(&self, cell: usize, has: impl Fn(&Launch) -> bool) -> bool {
        let (with, all) =
            self.valid(cell).fold((0, 0), |(with, all), launch| (with + usize::from(has(launch)), all + 1));
        with > 0 && with as f64 >= SHARE_OF_LAUNCHES * f64::from(all)
    }

    /// Whether a cell's throughput is shown as a lower bound.
    pub(crate) fn at_least(&self, cell: usize) -> bool {
        self.mostly(cell, |launch| launch.judgement.at_least)
    }

    /// Whether a cell has a mark.
    pub(crate) fn marked(&self, cell: usize, mark: Mark) -> bool {
        self.mostly(cell, |launch| launch.is(mark))
    }
}

/// The cells of a plan by their levels; of several that are alike the first.
pub(crate) fn places(plan: &Plan) -> BTreeMap<Cell, usize> {
    plan.cells.iter().enumerate().rev().map(|(index, cell)| (cell.levels.clone(), index)).collect()
}

/// The launches of a block.
pub(crate) struct Settled<'a> {
    /// Those that count, each once.
    pub(crate) launches: ByCell<'a>,
    /// Those in whose place another counts, with their cells.
    replaced: Vec<(usize, Launch<'a>)>,
}

/// The launches of a block as they count: of several records of one the one that was made last. A clock may have been set
/// back between them, so their times do not say which. What launches share that lived together, each of them knows.
pub(crate) fn settled<'a>(plan: &Plan, groups: &[usize], made: &Made, judged: Vec<(usize, Launch<'a>)>) -> Settled<'a> {
    let (mut launches, mut replaced) = (ByCell::new(), Vec::new());
    for (cell, mut launch) in judged {
        let place = (cell, launch.record.twin);
        // Figures by slices and alone do not belong together; why they are alone is told all the same.
        let is_in_vain = made.is_in_vain(cell, &launch) && launch.judgement.is_valid();
        let cause = launch.judgement.unsliced.filter(|_| is_in_vain);
        if let Some(cause) = cause {
            launch.judgement.to_mut().void = Some(cause.into());
        }
        // Made again alone, a block may launch another once more than it did in slices.
        let is_of_another = place.1 && made.twin(launch.record.block) != Some(place);
        let is_replaced = is_in_vain && cause.is_none() || is_of_another;
        let earlier = if is_replaced { Some(launch) } else { launches.insert(place, launch) };
        // What lost its guard says nothing of the server; and one that was not in slices was made again because somebody mended
        // what kept it from being one.
        let is_told = |launch: &Launch| !launch.record.slices.is_empty() && !launch.record.lost_its_guard();
        replaced.extend(earlier.filter(is_told).map(|launch| (cell, launch)));
    }
    rotation::settle(plan, groups, &mut launches);
    Settled { launches, replaced }
}

/// Of each cell, the number of the conditions that it shares with others.
pub(crate) fn groups(plan: &Plan) -> Vec<usize> {
    let mut groups = vec![0; plan.cells.len()];
    for (group, cells) in plan.by_conditions().into_iter().enumerate() {
        cells.into_iter().for_each(|cell| groups[cell] = group);
    }
    groups
}

/// Whether the machine disturbed a launch of these.
pub(crate) fn is_disturbed(plan: &Plan, launches: &ByCell) -> bool {
    launches.values().any(|launch| disturbance(plan, launch).is_some())
}

/// The blocks that do not count, of those that were disturbed. All of them or none: one that is set aside beside others as busy
/// that count would look chosen.
pub(crate) fn set_aside(plan: &Plan, disturbed: BTreeSet<u32>) -> BTreeSet<u32> {
    if disturbed.len() <= plan.repeats as usize { disturbed } else { BTreeSet::new() }
}

/// What disturbed a launch that is the machine's doing alone: it was noisy, or the generator stood still on
/// CPUs on which nothing else of the trial runs. How long it stands still on CPUs that it shares, and how long it waits for
/// one where it is busy, depends on what the target does.
pub(crate) fn disturbance(plan: &Plan, launch: &Launch) -> Option<Why> {
    let noisy = launch.judgement.marks.iter().find(|note| note.mark() == Mark::Noisy);
    let stood_still = || {
        let measured = launch.record.measurement.as_ref();
        measured.and_then(limit::standstill).filter(|_| others::is_apart(plan, &launch.record.levels))
    };
    noisy.map(|note| Why::Mark(note.cause.clone())).or_else(|| Some(Why::Limit(LimitCause::Blind(stood_still()?))))
}

/// For how long each cell's launch is under load before its window; on a ladder, the rungs before it are load too.
fn loaded_before_ns(plan: &Plan) -> Vec<u64> {
    let mut loaded_ns = vec![0; plan.cells.len()];
    for launch in plan.launches() {
        let mut before_ns: u64 = 0;
        for cell in launch {
            let load = &plan.cells[cell].load;
            before_ns = before_ns.saturating_add(load.warm_up_ns);
            loaded_ns[cell] = before_ns;
            before_ns = before_ns.saturating_add(load.window_ns());
        }
    }
    loaded_ns
}

/// Leaving out only the launches that used too little CPU for a figure would make a frugal server look dear, and leaving out
/// those with too few requests for a quantile would make a slow one look fast.
fn without_what_one_is_short_of(launches: &mut ByBlock) {
    let is_short = |metric: &Metric| launches.values().any(|launch| launch.is_short_of(*metric));
    let without: BTreeSet<Metric> = Metric::ALL.iter().copied().filter(is_short).collect();
    launches.values_mut().for_each(|launch| launch.without.clone_from(&without));
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

/// Every pair of a group, in its order.
pub(crate) fn pairs(group: &[usize]) -> Vec<(usize, usize)> {
    let later = |(place, a): (usize, &usize)| group[place + 1..].iter().map(|b| (*a, *b)).collect::<Vec<_>>();
    group.iter().enumerate().flat_map(later).collect()
}
