use std::collections::{BTreeMap, BTreeSet};

use model::{Code, NS_PER_S, Plan, Reason, Rotated, TrialSpec, seed_of};

use crate::launch::Launch;
use crate::rotation::{self, Fitted, Set, Slicing};
use crate::thresholds::UNGUARDED;

/// Trials of one launch, or of several that live together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AtOnce {
    pub(crate) trials: Vec<TrialSpec>,
    /// How the load goes round among them; none where each is alone.
    pub(crate) slicing: Option<Slicing>,
}

/// What each block of a plan consists of, and what of it is made: all that the order of launches depends on but for the blocks
/// that are set aside. No figure of a target is in it, and it grows with the record.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    seed: u64,
    /// The launches of a block, each with its cells and whether it is the twin's.
    launches: Vec<Vec<Place>>,
    /// The cells by their conditions, each with its slices or why it has none by the plan.
    fits: Vec<Fitted>,
    /// The launches that go round by the plan.
    sets: Vec<Set>,
    /// By block, the launches that have a record, and whether the last one was of a load in slices.
    recorded: BTreeMap<u32, BTreeMap<Place, bool>>,
    /// Cells whose launches do not go round with others, for that one of them cannot was seen: of which target, and what.
    alone: BTreeMap<usize, (String, Reason)>,
    /// How many launches of each cell were made in slices.
    in_slices: BTreeMap<usize, usize>,
    /// How often each launch lost its guard.
    unguarded: BTreeMap<(u32, Place), usize>,
}

/// A cell, and whether a launch is the twin's.
type Place = (usize, bool);

/// The first block that is not whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Upcoming {
    /// Blocks before it that count.
    pub(crate) before: u32,
    /// What it lacks.
    pub(crate) missing: Vec<AtOnce>,
    /// Whether it has not been begun. Of one that was begun in vain, in slices, all may be missing.
    pub(crate) is_new: bool,
}

impl Made {
    /// Nothing of the plan.
    pub(crate) fn new(plan: &Plan) -> Self {
        let fits = rotation::by_conditions(plan);
        let once = plan.launches().into_iter().map(|cells| cells.into_iter().map(|cell| (cell, false)).collect());
        Made {
            seed: plan.seed,
            launches: once.chain(plan.twin.map(|cell| vec![(cell, true)])).collect(),
            sets: rotation::sets(plan, &fits),
            fits,
            recorded: BTreeMap::new(),
            alone: BTreeMap::new(),
            in_slices: BTreeMap::new(),
            unguarded: BTreeMap::new(),
        }
    }

    /// Takes a launch, in the order of the record; true where it shows that others are to be made again, alone.
    pub(crate) fn take(&mut self, launch: &Launch) -> bool {
        let trial = launch.record;
        let place = (trial.cell, trial.twin);
        let made = match trial.lost_its_guard() {
            // It says nothing of the server, whose place in the block it must not take.
            true => {
                let times = self.unguarded.entry((trial.block, place)).or_default();
                *times += 1;
                *times >= UNGUARDED
            }
            false => true,
        };
        if made {
            self.recorded.entry(trial.block).or_default().insert(place, !trial.slices.is_empty());
        }
        if !trial.slices.is_empty() {
            *self.in_slices.entry(trial.cell).or_default() += 1;
        }
        let before = self.alone.len();
        self.leave_alone(launch);
        self.alone.len() > before
    }

    /// How many launches were made in slices that are made again alone.
    pub(crate) fn in_vain(&self) -> usize {
        self.alone.keys().filter_map(|cell| self.in_slices.get(cell)).sum()
    }

    /// Whether a launch was made in slices of a cell whose launches are alone: another one counts in its place.
    pub(crate) fn is_replaced(&self, cell: usize, launch: &Launch) -> bool {
        !launch.record.slices.is_empty() && self.alone.contains_key(&cell)
    }

    /// Notes that a launch cannot go round, where its record shows that, and with it those that it was to go round with.
    fn leave_alone(&mut self, launch: &Launch) {
        let why = launch.judgement.void.as_ref().filter(|why| matches!(why.code(), Code::Unsliced(_)));
        let Some(why) = why.filter(|_| !launch.record.slices.is_empty()) else { return };
        let holds_it = |set: &&Set| set.launches.iter().any(|(cell, _)| *cell == launch.record.cell);
        for (cell, _) in self.sets.iter().filter(holds_it).flat_map(|set| &set.launches) {
            let seen = || (launch.record.levels.target().to_owned(), why.clone());
            self.alone.entry(*cell).or_insert_with(seen);
        }
    }

    /// How the launches of a cell are made; none where the plan does not rotate.
    pub(crate) fn rotated(&self, cell: usize) -> Option<Rotated> {
        let (_, fits) = self.fits.iter().find(|(cells, _)| cells.contains(&cell))?;
        Some(match (fits, self.alone.get(&cell)) {
            (Err(why), _) => Rotated::Planned(*why),
            (Ok(_), Some((target, reason))) => Rotated::Seen { target: target.clone(), reason: reason.clone() },
            (Ok(slicing), None) => {
                let Slicing { rounds, slice_ns, .. } = *slicing;
                Rotated::Together { rounds, slice_s: slice_ns as f64 / NS_PER_S as f64 }
            }
        })
    }

    /// The trials of a block in their order, those in one that are launched at once: a function of the seed, the block, and what
    /// cannot go round.
    pub(crate) fn block(&self, block: u32) -> Vec<AtOnce> {
        let goes_round = |set: &&Set| !set.launches.iter().any(|(cell, _)| self.alone.contains_key(cell));
        let sets: Vec<&Set> = self.sets.iter().filter(goes_round).collect();
        let go_round: BTreeSet<Place> = sets.iter().flat_map(|set| &set.launches).copied().collect();
        let are_alone = self.launches.iter().filter(|launch| !go_round.contains(&launch[0]));
        let mut all: Vec<Begun> = are_alone.map(|launch| (launch.clone(), None)).collect();
        all.extend(sets.into_iter().map(|set| (set.launches.clone(), Some(set.slicing))));
        // Every second block has the order of the one before reversed: whatever favours who comes first favours each as often.
        let reversed = block.is_multiple_of(2);
        let mut rng = fastrand::Rng::with_seed(seed_of(self.seed, (block - u32::from(reversed)).into()));
        rng.shuffle(&mut all);
        all.iter_mut().filter(|(_, slicing)| slicing.is_some()).for_each(|(set, _)| rng.shuffle(set));
        if reversed {
            all.iter_mut().filter(|(_, slicing)| slicing.is_some()).for_each(|(set, _)| set.reverse());
            all.reverse();
        }
        let mut positions = 1..;
        let at_once = |(launches, slicing): Begun| {
            let placed = launches.into_iter().zip(&mut positions);
            let spec = |((cell, twin), position)| TrialSpec { block, position, cell, twin };
            AtOnce { trials: placed.map(spec).collect(), slicing }
        };
        all.into_iter().map(at_once).collect()
    }

    /// What is not recorded of a block. A ladder that lacks a rung is climbed again from its foot, and a set that lacks a launch
    /// goes round again: what one shows depends on the others.
    pub(crate) fn missing(&self, block: u32) -> Vec<AtOnce> {
        let recorded = self.recorded.get(&block);
        let lacks = |place: &Place| {
            let in_slices = recorded.and_then(|recorded| recorded.get(place));
            in_slices.is_none_or(|in_slices| *in_slices && self.alone.contains_key(&place.0))
        };
        if !self.launches.iter().flatten().any(lacks) {
            return Vec::new();
        }
        let lacks_some = |at_once: &AtOnce| at_once.trials.iter().any(|spec| lacks(&(spec.cell, spec.twin)));
        self.block(block).into_iter().filter(lacks_some).collect()
    }

    /// The first block of a plan that lacks something, beside those that are set aside; none where all are whole.
    pub(crate) fn upcoming(&self, plan: &Plan, aside: &BTreeSet<u32>) -> Option<Upcoming> {
        // One that was begun for a block that counts again is made whole.
        let last_begun = self.recorded.keys().next_back().copied().unwrap_or(0);
        let last = (most(plan) + aside.len() as u32).max(last_begun);
        let blocks = (1..=last).filter(|block| !aside.contains(block));
        let lacks = |(before, block): (u32, u32)| {
            let missing = self.missing(block);
            let is_new = !self.recorded.contains_key(&block);
            (!missing.is_empty()).then_some(Upcoming { before, missing, is_new })
        };
        (0..).zip(blocks).find_map(lacks)
    }
}

/// What is begun together: each launch's cell and whether it is the twin's, and how the load goes round among them if it does.
type Begun = (Vec<Place>, Option<Slicing>);

/// How many trials a block of a plan has.
pub(crate) fn in_a_block(plan: &Plan) -> usize {
    plan.cells.len() + usize::from(plan.twin.is_some())
}

/// The fewest blocks that a plan asks for.
pub(crate) fn least(plan: &Plan) -> u32 {
    plan.blocks.min.max(1)
}

/// The most blocks that a plan asks for, beside those that are set aside.
pub(crate) fn most(plan: &Plan) -> u32 {
    plan.blocks.max.max(least(plan))
}
