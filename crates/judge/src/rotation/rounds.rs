use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::{MarkCause, MarkNote, Plan, Slice};

use crate::launch::{ByCell, Launch, Rounds};
use crate::thresholds::{ROUND_TAKEN, ROUNDS_LEFT_OUT};
use crate::{others, slices};

/// Finds what launches of a block share that lived together, which are those of one group of cells: which rounds count, and what
/// each felt like over these. A round is left out for what none of them did, and for all of them; where that befell more than a
/// quarter of the rounds none is, and each launch has the mark `noisy`, as one that was alone has it.
pub(crate) fn settle(plan: &Plan, groups: &[usize], launches: &mut ByCell) {
    let mut sets: BTreeMap<usize, Vec<&mut Launch>> = BTreeMap::new();
    for ((cell, _), launch) in launches.iter_mut().filter(|(_, launch)| !launch.record.slices.is_empty()) {
        sets.entry(groups[*cell]).or_default().push(launch);
    }
    sets.into_values().for_each(|set| settle_one(plan, set));
}

fn settle_one(plan: &Plan, mut set: Vec<&mut Launch>) {
    let seen: Vec<&Launch> = set.iter().map(|launch| &**launch).collect();
    let rounds: BTreeSet<u32> = slices_of(&seen).map(|slice| slice.round).collect();
    let busy: BTreeSet<u32> = rounds.iter().copied().filter(|round| is_busy(plan, &seen, *round)).collect();
    let is_disturbed = busy.len() as f64 > ROUNDS_LEFT_OUT * rounds.len() as f64;
    let cause = MarkCause::BusyRounds { busy: busy.len() as u32, rounds: rounds.len() as u32 };
    let spilt: Vec<f64> = (0..seen.len()).map(|launch| spilt_on(&seen, launch)).collect();
    let shared = Rounds {
        spill: 0.0,
        taken: seen.iter().map(|launch| slices::taken(slices_of(&[*launch]))).reduce(f64::min).unwrap_or(0.0),
        left_out: if is_disturbed { BTreeSet::new() } else { busy },
    };
    for (launch, spill) in set.iter_mut().zip(spilt) {
        launch.rounds = Some(Rc::new(Rounds { spill, ..shared.clone() }));
        launch.woken = slices::woken(&launch.record.slices).map(Rc::new);
        if launch.lacks_rounds() {
            let counts = |round: u32| !shared.left_out.contains(&round);
            let felt = launch.measured().and_then(|load| slices::felt(load, &launch.record.slices, counts));
            launch.felt = felt.map(Rc::new);
        }
        if is_disturbed {
            launch.judgement.to_mut().marks.push(MarkNote::new(cause.clone()));
        }
    }
}

fn slices_of<'a>(set: &'a [&Launch]) -> impl Iterator<Item = &'a Slice> {
    set.iter().flat_map(|launch| slices::measured(&launch.record.slices))
}

/// How many CPUs the others used in the slices of one of them, on average. Of records that do not tell it by slice, all that each
/// used while it idled, as if it were spread evenly.
fn spilt_on(set: &[&Launch], launch: usize) -> f64 {
    let slices = &set[launch].record.slices;
    let others = set.iter().enumerate().filter(|(other, _)| *other != launch);
    let evenly = || others.map(|(_, other)| slices::cpus_while_idle(&other.record.slices)).sum();
    slices::neighbours_cpus(slices).unwrap_or_else(evenly)
}

/// Whether somebody else had much of the CPUs in a round, over the slices of all: the hypervisor, other processes, or whatever
/// kept a thread of the generator from a CPU on which no target runs.
fn is_busy(plan: &Plan, set: &[&Launch], round: u32) -> bool {
    let all = || slices_of(set).filter(|slice| slice.round == round);
    let length_s: f64 = all().map(|slice| slice.length_s).sum();
    let taken = slices::taken(all());
    let of_side = |launch: &&Launch| {
        let (seen, measured) = (launch.record.observation.as_ref()?, launch.measured()?);
        Some(others::of_the_smaller_side(taken, seen, measured))
    };
    let waited_s: f64 = all().filter_map(|slice| slice.generator_run_delay_s).sum();
    let is_apart = || set.iter().all(|launch| others::is_apart(plan, &launch.record.levels));
    set.iter().filter_map(of_side).fold(taken, f64::max) > ROUND_TAKEN
        || (waited_s > ROUND_TAKEN * length_s && is_apart())
}

#[cfg(test)]
mod tests;
