//! Whom a cell is compared with, and whether waking takes the two alike.

use std::collections::BTreeSet;

use model::{CellPlan, Metric, Plan};

use super::spill::Apart;
use crate::launch::Launch;
use crate::records::Records;

/// A cell whose figures are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    pub(super) cell: usize,
    /// The cell that it is compared with; none where nobody knows of one.
    beside: Option<usize>,
    /// A cell whose figures stand beside its own, in a comparison or in a claim.
    pub(super) against: Option<usize>,
}

impl Side {
    /// For which it is not known what it is compared with.
    pub(crate) fn alone(cell: usize) -> Self {
        Side { cell, beside: None, against: None }
    }

    /// The same where a claim asks of other cells, too.
    pub(crate) fn against(self, other: Option<usize>) -> Self {
        Side { against: other, ..self }
    }

    /// Compared with another one.
    pub(crate) fn beside(cell: usize, other: usize) -> Self {
        Side { cell, beside: Some(other), against: Some(other) }
    }
}

/// What waking takes a target beside the one of its kind that it is compared with, over the blocks in which both served something; none but
/// where they went round together.
pub(super) fn waking_apart(records: &Records, side: Side, launch: &Launch) -> Option<Apart> {
    let cells = of_its_kind(records, side).filter(|_| !records.is_one_of_two && launch.rounds.is_some())?;
    let cell = side.cell;
    let served = |of: &&Launch| of.rounds.is_some() && of.value(Metric::CpuPerRequest).is_some();
    let blocks =
        |cell: usize| -> BTreeSet<u32> { records.valid(cell).filter(served).map(|it| it.record.block).collect() };
    let in_all = cells.iter().map(|cell| blocks(*cell)).reduce(|all, own| &all & &own)?;
    let of = |cell: usize| -> Vec<&Launch> {
        records.valid(cell).filter(served).filter(|it| in_all.contains(&it.record.block)).collect()
    };
    Apart::of(&of(cell), &cells.iter().map(|cell| of(*cell)).collect::<Vec<_>>())
}

/// A cell and the one beside which it is judged, where waking them is taken to be of one kind: the two of a comparison, and of a run two of one language
/// and runtime under the same conditions.
fn of_its_kind(records: &Records, side: Side) -> Option<Vec<usize>> {
    let plan = records.plan;
    let own = &plan.cells[side.cell];
    let has_its_conditions = |other: &CellPlan| other.levels.conditions() == own.levels.conditions();
    if plan.comparison.is_some() {
        let alike = |(at, other): (usize, &CellPlan)| has_its_conditions(other).then_some(at);
        return Some(plan.cells.iter().enumerate().filter_map(alike).collect());
    }
    let other = plan.cells.get(side.beside?)?;
    let is_alike =
        has_its_conditions(other) && other.runtime == own.runtime && language(plan, own) == language(plan, other);
    (is_alike && language(plan, own).is_some()).then_some(vec![side.cell, side.beside?])
}

/// What a cell's target is written in; none where its description does not say.
fn language<'a>(plan: &'a Plan, cell: &CellPlan) -> Option<&'a str> {
    let target = plan.targets.iter().find(|target| target.name == cell.levels.target())?;
    Some(target.language.as_str()).filter(|language| !language.is_empty())
}
