use std::collections::{BTreeMap, BTreeSet};

use model::{NS_PER_S, Plan, Rotated, Slice, TrialSpec, Unsliced, UnslicedCause, seed_of};

use crate::asked::Asked;
use crate::launch::Launch;
use crate::limit::nothing_completed;
use crate::rotation::{self, Fitted, Set, Slicing};
use crate::slices::{over_blocks, too_few_alone};
use crate::thresholds::UNGUARDED;
use crate::turns::Turns;

/// Blocks of short launches that are asked together, at most.
const MOST_TOGETHER: usize = 30;

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
    /// Whether there is no second block that could show what one did.
    has_one_block: bool,
    /// The cells of each launch of a block but the twin's.
    launches: Vec<Vec<usize>>,
    /// What the blocks launch once more.
    turns: Turns,
    /// The cells by their conditions, each with its slices or why it has none by the plan.
    fits: Vec<Fitted>,
    /// The launches that go round by the plan.
    sets: Vec<Set>,
    /// By block, the launches that have a record, and whether the last one was of a load in slices.
    recorded: BTreeMap<u32, BTreeMap<Place, bool>>,
    /// What showed that a launch cannot go round, in the order of the record.
    seen: Vec<Sighting>,
    /// Cells whose launches do not go round with others, each with which of these decided it.
    alone: BTreeMap<usize, usize>,
    /// How often each launch was made in slices.
    in_slices: BTreeMap<(u32, Place), usize>,
    /// How often each launch lost its guard.
    unguarded: BTreeMap<(u32, Place), usize>,
    /// Of each cell, whether its load is closed.
    closed: Vec<bool>,
    /// By cell and block, the slices of launches that have too few each to show that they cannot go round.
    short: BTreeMap<usize, BTreeMap<u32, Vec<Slice>>>,
}

/// A cell, and whether a launch is the twin's.
pub(crate) type Place = (usize, bool);

/// That a launch cannot go round, as one shows.
#[derive(Debug, Clone)]
struct Sighting {
    cell: usize,
    target: String,
    block: u32,
    cause: UnslicedCause,
}

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
        Made {
            seed: plan.seed,
            has_one_block: most(plan) == 1,
            launches: plan.launches(),
            turns: Turns::new(plan),
            sets: rotation::sets(&fits),
            fits,
            recorded: BTreeMap::new(),
            seen: Vec::new(),
            alone: BTreeMap::new(),
            in_slices: BTreeMap::new(),
            unguarded: BTreeMap::new(),
            closed: plan.cells.iter().map(|cell| Asked::from(cell).is_closed()).collect(),
            short: BTreeMap::new(),
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
        let before = self.alone.len();
        let counts = trial.slices.is_empty() || !self.alone.contains_key(&trial.cell);
        self.turns.take(trial.block, trial.cell, trial.twin, counts);
        self.leave_alone(launch);
        self.alone.len() > before
    }

    /// How many launches were made in slices that are made again.
    pub(crate) fn in_vain(&self) -> usize {
        let in_vain = |((_, (cell, _)), times): (&(u32, Place), &usize)| match self.alone.contains_key(cell) {
            true => *times,
            false => times - 1,
        };
        self.in_slices.iter().map(in_vain).sum()
    }

    /// Whether a launch was made in slices of a cell whose launches are alone: another one counts in its place.
    pub(crate) fn is_in_vain(&self, cell: usize, launch: &Launch) -> bool {
        !launch.record.slices.is_empty() && self.alone.contains_key(&cell)
    }

    /// Notes that a launch cannot go round, where its record shows that, and with it those that it was to go round with. What chance
    /// or the machine can make must be seen in two blocks. Until then it counts: one that is made again for what a target did is
    /// chosen by its figures.
    fn leave_alone(&mut self, launch: &Launch) {
        let trial = launch.record;
        let (cell, block) = (trial.cell, trial.block);
        if trial.slices.is_empty() {
            // Earlier versions launched a set alone as soon as anything was seen: it stays as it was carried out.
            let seen = self.seen.iter().position(|it| self.set_of(it.cell).any(|of| of == cell));
            if let Some(decisive) = seen.filter(|_| trial.failure.is_none()) {
                self.fall_back(cell, decisive);
            }
            return;
        }
        *self.in_slices.entry((block, (cell, trial.twin))).or_default() += 1;
        if !launch.judgement.is_valid() {
            return;
        }
        let together = self.with_those_before(launch);
        let Some(cause) = together.or(launch.judgement.unsliced) else { return };
        let was_seen = |it: &Sighting| it.cell == cell && it.block != block;
        let is_sure =
            together.is_some() || self.has_one_block || is_certain(launch, cause) || self.seen.iter().any(was_seen);
        self.seen.push(Sighting { cell, target: trial.levels.target().to_owned(), block, cause });
        if is_sure {
            self.fall_back(cell, self.seen.len() - 1);
        }
    }

    /// What a launch shows with those of its cell before it, of several blocks, of which none has slices enough to show it.
    fn with_those_before(&mut self, launch: &Launch) -> Option<UnslicedCause> {
        let trial = launch.record;
        let blocks = self.short.entry(trial.cell).or_default();
        // What is alone already needs no more, and what so many blocks have not shown the next will not.
        if self.alone.contains_key(&trial.cell) || blocks.len() >= MOST_TOGETHER {
            return None;
        }
        let slices = too_few_alone(trial.observation.as_ref(), &trial.slices);
        blocks.entry(trial.block).or_default().extend(slices);
        let blocks: Vec<&[Slice]> = blocks.values().map(Vec::as_slice).filter(|slices| !slices.is_empty()).collect();
        over_blocks(self.closed.get(trial.cell).copied().unwrap_or(true), &blocks)
    }

    /// Leaves a cell and those that it was to go round with alone, for what was seen.
    fn fall_back(&mut self, cell: usize, decisive: usize) {
        let all: BTreeSet<usize> = self.set_of(cell).collect();
        if all.iter().any(|cell| self.turns.concern(*cell) && !self.alone.contains_key(cell)) {
            self.turns.begin_anew();
        }
        all.into_iter().for_each(|cell| _ = self.alone.entry(cell).or_insert(decisive));
    }

    /// The cells of the launches that go round with those of this one by the plan, its own among them.
    fn set_of(&self, cell: usize) -> impl Iterator<Item = usize> + '_ {
        let holds_it = move |set: &&Set| set.cells.contains(&cell);
        self.sets.iter().filter(holds_it).flat_map(|set| &set.cells).copied()
    }

    /// Why the launches of a cell are alone, by which of what was seen. The target is not named where another of the set showed the
    /// same in a block in which it did: then it is not its own.
    fn seen(&self, decisive: usize) -> Rotated {
        let Sighting { cell, target, cause, .. } = &self.seen[decisive];
        let is_same = |it: &&Sighting| it.cause.code() == cause.code() && self.alone.get(&it.cell) == Some(&decisive);
        let blocks = |own: bool| -> BTreeSet<u32> {
            let of = self.seen.iter().filter(is_same).filter(|it| (it.cell == *cell) == own);
            of.map(|it| it.block).collect()
        };
        let is_its_own = blocks(true).is_disjoint(&blocks(false));
        Rotated::Seen { target: is_its_own.then(|| target.clone()), reason: (*cause).into() }
    }

    /// How the launches of a cell are made; none where the plan does not rotate.
    pub(crate) fn rotated(&self, cell: usize) -> Option<Rotated> {
        let (_, fits) = self.fits.iter().find(|(cells, _)| cells.contains(&cell))?;
        Some(match (fits, self.alone.get(&cell)) {
            (Err(why), _) => Rotated::Planned(*why),
            (Ok(_), Some(decisive)) => self.seen(*decisive),
            (Ok(slicing), None) => {
                let Slicing { rounds, slice_ns, .. } = *slicing;
                Rotated::Together { rounds, slice_s: slice_ns as f64 / NS_PER_S as f64 }
            }
        })
    }

    /// The launch of a block for the noise.
    pub(crate) fn twin(&self, block: u32) -> Option<Place> {
        self.turns.of(block).map(|cell| (cell, true))
    }

    /// The launches of a block.
    fn launches(&self, block: u32) -> impl Iterator<Item = Vec<Place>> + '_ {
        let of_cells = self.launches.iter().map(|cells| once(cells).collect());
        of_cells.chain(self.twin(block).map(|twin| vec![twin]))
    }

    /// The trials of a block in their order, those in one that are launched at once: a function of the seed, the block, and what
    /// cannot go round.
    pub(crate) fn block(&self, block: u32) -> Vec<AtOnce> {
        let goes_round = |set: &&Set| !set.cells.iter().any(|cell| self.alone.contains_key(cell));
        let sets: Vec<&Set> = self.sets.iter().filter(goes_round).collect();
        let go_round: BTreeSet<usize> = sets.iter().flat_map(|set| &set.cells).copied().collect();
        let twin = |cells: &[usize]| self.twin(block).filter(|(cell, _)| cells.contains(cell));
        let with_twin = |set: &Set| -> Vec<Place> { once(&set.cells).chain(twin(&set.cells)).collect() };
        let are_alone = |place: &Place| !go_round.contains(&place.0);
        let mut all: Vec<Begun> =
            self.launches(block).filter(|launch| are_alone(&launch[0])).map(|it| (it, None)).collect();
        all.extend(sets.into_iter().map(|set| (with_twin(set), Some(set.slicing))));
        // Every second block has the order of the one before reversed: whatever favours who comes first favours each as often.
        let reversed = block.is_multiple_of(2);
        let mut rng = fastrand::Rng::with_seed(seed_of(self.seed, block.saturating_sub(u32::from(reversed)).into()));
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
        if !self.launches(block).flatten().any(|place| lacks(&place)) {
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

/// Whether one launch is enough to show it: a server does it of its own accord, or there is no figure of it in slices. Whatever is told
/// by times or numbers of replies can be chance, or what the machine did meanwhile.
fn is_certain(launch: &Launch, cause: UnslicedCause) -> bool {
    match cause.code() {
        Unsliced::ConnectionsEnd => true,
        Unsliced::SlowDrain
        | Unsliced::FellSilent
        | Unsliced::FewReplies
        | Unsliced::SlowAfterIdling
        | Unsliced::DearAfterIdling
        | Unsliced::FailsAfterIdling
        | Unsliced::Unsettled
        | Unsliced::FallsBehind => launch.measured().is_some_and(nothing_completed),
    }
}

/// Each cell's launch that is not the twin's.
fn once(cells: &[usize]) -> impl Iterator<Item = Place> + '_ {
    cells.iter().map(|cell| (*cell, false))
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
