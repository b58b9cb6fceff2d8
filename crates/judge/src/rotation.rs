//! Launches that live together, while the load goes round among them in slices: which ones, and whose turn it is when.

mod fit;
mod rounds;
#[cfg(test)]
mod tests;
mod turns;

use model::{Draft, Plan, Rotation, TrialSpec};

pub(crate) use fit::{Fitted, Set, Slicing, by_conditions, sets};
pub(crate) use rounds::settle;
pub(crate) use turns::together;

/// Whether the load of a plan goes round among any launches.
pub fn goes_round(draft: &Draft) -> bool {
    draft.clone().resolve().is_ok_and(|plan| !sets(&by_conditions(&plan)).is_empty())
}

/// The slices in which a cell is loaded by its plan; none where its launch is alone.
pub(crate) fn of_cell(plan: &Plan, cell: usize) -> Option<Rotation> {
    let (_, fits) = by_conditions(plan).into_iter().find(|(cells, _)| cells.contains(&cell))?;
    let Slicing { slice_ns, lead_in_ns, rounds } = fits.ok()?;
    Some(Rotation { slice_ns, lead_in_ns, rounds: Some(rounds) })
}

/// For how long a cell's launch is under load in its first turn, which counts nowhere, in nanoseconds: as long as is asked, and
/// as its target says it needs.
pub(crate) fn warm_up_ns(plan: &Plan, cell: usize) -> u64 {
    let cell = &plan.cells[cell];
    let needed = plan.target(cell.levels.target()).map_or(0, |target| target.launch.warm_within_ns);
    cell.load.warm_up_ns.max(needed)
}

/// The cells of these trials.
fn cells(trials: &[TrialSpec]) -> impl Iterator<Item = usize> + '_ {
    trials.iter().map(|trial| trial.cell)
}
