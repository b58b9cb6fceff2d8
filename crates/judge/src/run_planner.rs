//! The planner of a run: what rates come to that are shares of capacity, and then blocks.

use std::collections::BTreeMap;

use model::{Addition, CellPlan, Next, Plan, Planner, RelativeRate, TrialRecord, TrialSpec};

use crate::planner::BlockPlanner;
use crate::rates::settled_rate;

/// First each target whose rate is a share of capacity is loaded closed, in a cell that is added, and gets a rate of what
/// the slowest under the same conditions served; then there are blocks. Once a rate is settled it stays.
#[derive(Debug, Clone)]
pub struct RunPlanner {
    plan: Plan,
    /// What each added cell served in a second, or why it served nothing.
    served: BTreeMap<usize, Result<f64, String>>,
    blocks: BlockPlanner,
}

impl RunPlanner {
    /// A planner for the plan, with what was added to it.
    pub fn new(plan: &Plan) -> Self {
        RunPlanner { plan: plan.clone(), served: BTreeMap::new(), blocks: BlockPlanner::new(plan) }
    }

    /// The cells whose rate is not known yet, of the first conditions that have some.
    fn waiting(&self) -> Option<Vec<&CellPlan>> {
        let first = self.plan.cells.iter().find(|cell| cell.awaits_rate())?.levels.conditions();
        let alike = |cell: &&CellPlan| cell.awaits_rate() && cell.levels.conditions() == first;
        Some(self.plan.cells.iter().filter(alike).collect())
    }

    /// What comes next for cells under the same conditions whose rate is not known.
    fn settle(&self, waiting: &[&CellPlan]) -> Next {
        let closed: Vec<CellPlan> = waiting.iter().map(|cell| closed(cell)).collect();
        let numbers: Vec<Option<usize>> = closed.iter().map(|cell| self.number(cell)).collect();
        let lacking = closed.iter().zip(&numbers).filter(|(_, number)| number.is_none());
        let lacking: Vec<Addition> = lacking.map(|(cell, _)| added(cell)).collect();
        if !lacking.is_empty() {
            return Next::Add(lacking);
        }
        let numbers: Vec<usize> = numbers.into_iter().flatten().collect();
        let open = (1..).zip(&numbers).filter(|(_, number)| !self.served.contains_key(number));
        let specs: Vec<TrialSpec> =
            open.map(|(position, cell)| TrialSpec { block: 0, position, cell: *cell, twin: false }).collect();
        if specs.is_empty() { self.rate(waiting, &numbers) } else { Next::Run(specs) }
    }

    fn rate(&self, waiting: &[&CellPlan], numbers: &[usize]) -> Next {
        let (mut closed_per_s, mut failures) = (BTreeMap::new(), Vec::new());
        for (cell, number) in waiting.iter().zip(numbers) {
            let target = cell.levels.target();
            match &self.served[number] {
                Ok(served) => drop(closed_per_s.insert(target.to_owned(), *served)),
                Err(why) => failures.push(format!("{target}: {why}")),
            }
        }
        let share = waiting.first().and_then(|cell| cell.rate_share).unwrap_or(1.0);
        match (settled_rate(share, &closed_per_s), waiting.first()) {
            (Some(rate_per_s), Some(cell)) => {
                let conditions = cell.levels.conditions();
                Next::Add(vec![Addition::Rate(RelativeRate { conditions, rate_per_s, closed_per_s })])
            }
            _ => Next::Done(format!("no rate can be a share of what nobody serves: {}", failures.join("; "))),
        }
    }

    /// The number of an added cell.
    fn number(&self, cell: &CellPlan) -> Option<usize> {
        self.plan.added.iter().position(|added| added == cell).map(|place| self.plan.cells.len() + place)
    }
}

/// The cell in which capacity is measured: closed, and nothing but the load.
fn closed(cell: &CellPlan) -> CellPlan {
    CellPlan { rate_share: None, rate_arrivals: None, profile: false, census: Some(false), ..cell.clone() }
}

fn added(cell: &CellPlan) -> Addition {
    let why = format!("what {} serves in a closed load, for its rate", cell.levels.target());
    Addition::Cell { cell: Box::new(cell.clone()), why }
}

impl Planner for RunPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        if trial.cell < self.plan.cells.len() {
            return self.blocks.take(trial);
        }
        let served = trial.measurement.as_ref().map_or(0.0, |measured| measured.requests_per_s());
        let served = match &trial.failure {
            Some(failure) => Err(failure.text.clone()),
            None if served > 0.0 => Ok(served),
            None => Err("it served nothing".to_owned()),
        };
        self.served.insert(trial.cell, served);
    }

    fn next(&mut self) -> Next {
        let Some(waiting) = self.waiting() else { return self.blocks.next() };
        let next = self.settle(&waiting);
        if let Next::Add(additions) = &next {
            match additions.iter().try_fold(self.plan.clone(), |plan, addition| plan.adding(addition)) {
                Ok(plan) => {
                    self.blocks.go_on_with(&plan);
                    self.plan = plan;
                }
                Err(fault) => return Next::Done(fault.to_string()),
            }
        }
        next
    }

    fn expected_trials(&self) -> usize {
        self.blocks.expected_trials()
    }
}
