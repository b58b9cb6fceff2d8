use serde::{Deserialize, Serialize};

use crate::{Arrivals, CellPlan, Draft, Fault, LoadModel, Plan, RelativeRate};

/// Schema number of a line of `additions.jsonl`.
pub const ADDITION_SCHEMA: &str = "bourdon.addition/2";

/// Those that are read, the newest first. The first has words where there are ids and reasons now.
pub const ADDITION_SCHEMAS: [&str; 2] = [ADDITION_SCHEMA, "bourdon.addition/1"];

/// What a planner adds to a plan while it is carried out. It is recorded before anything is done with it, so that a run
/// that is resumed, or judged later, has the plan that it had.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addition {
    /// A cell beside those that were asked for: what it shows says what comes next. Its number follows theirs.
    Cell {
        /// The cell.
        cell: Box<CellPlan>,
        /// What for.
        why: Purpose,
    },
    /// What a rate that is a share of capacity comes to.
    Rate(RelativeRate),
}

/// What a cell was added for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To see whether a rate can be trusted.
    Trust,
    /// To see what its target serves in a closed load, for its rate.
    Rate,
    /// To find out what is wrong with its target: the cell says which experiment it is.
    Diagnosis,
    /// To watch its target under load, or left alone.
    Soak,
    /// In words, as earlier versions recorded it.
    #[serde(untagged)]
    Said(String),
}

/// One line of `additions.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdditionLine {
    /// Version of this document's shape.
    pub schema: String,
    /// What was added.
    pub addition: Addition,
}

impl Plan {
    /// The same with what was added to it.
    ///
    /// # Errors
    /// What keeps that from being carried out.
    pub fn adding(&self, addition: &Addition) -> Result<Plan, Fault> {
        self.with(|draft| match addition {
            Addition::Cell { cell, .. } => draft.added.push((**cell).clone()),
            Addition::Rate(rate) => draft.settle(rate),
        })
    }
}

impl Draft {
    /// The cell of that number: one that was asked for, or behind those one that was added.
    pub fn cell(&self, number: usize) -> Option<&CellPlan> {
        self.cells.get(number).or_else(|| self.added.get(number.checked_sub(self.cells.len())?))
    }

    /// Gives cells under a rate's conditions the rate that it comes to; from here on they are open. A plan that was written
    /// anew has it already.
    fn settle(&mut self, rate: &RelativeRate) {
        let shares = self.cells.iter_mut().filter(|cell| cell.awaits_rate());
        for cell in shares.filter(|cell| cell.levels.conditions() == rate.conditions) {
            let arrivals = cell.rate_arrivals.unwrap_or(Arrivals::Constant);
            cell.load.model = LoadModel::Open { rate_per_s: rate.rate_per_s, arrivals };
        }
        if self.relative_rates.iter().all(|known| known.conditions != rate.conditions) {
            self.relative_rates.push(rate.clone());
        }
    }
}
