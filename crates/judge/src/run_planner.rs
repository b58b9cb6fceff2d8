//! The planner of a run: what rates come to that are shares of capacity, and then blocks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{
    Addition, CellPlan, Done, Next, NotServed, Plan, Planner, Purpose, Reason, RelativeRate, TrialRecord, TrialSpec,
};

use crate::launch::Launch;
use crate::planner::BlockPlanner;
use crate::rates::settled_rate;
use crate::records::disturbance;
use crate::trial::check_trial;

/// First each target whose rate is a share of capacity is loaded closed, in a cell that is added, and gets a rate of what
/// the slowest under the same conditions served; then there are blocks. Once a rate is settled it stays. A closed load that
/// does not count, or in which the machine was busy, is made again, as often as the plan repeats a block.
#[derive(Debug, Clone)]
pub struct RunPlanner {
    plan: Plan,
    /// What is known of each added cell.
    closed: BTreeMap<usize, Closed>,
    blocks: BlockPlanner,
}

/// What the closed loads of one cell show.
#[derive(Debug, Clone)]
struct Closed {
    /// What the last of them served in a second, or why that says nothing.
    served: Result<f64, Reason>,
    /// Whether another one may say more than the last.
    in_doubt: bool,
    /// How many there were.
    loads: u32,
}

impl RunPlanner {
    /// A planner for the plan, with what was added to it.
    pub fn new(plan: &Plan) -> Self {
        RunPlanner { plan: plan.clone(), closed: BTreeMap::new(), blocks: BlockPlanner::new(plan) }
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
        let open = (1..).zip(&numbers).filter(|(_, number)| self.is_open(**number));
        let specs: Vec<TrialSpec> =
            open.map(|(position, cell)| TrialSpec { block: 0, position, cell: *cell, twin: false }).collect();
        if specs.is_empty() { self.rate(waiting, &numbers) } else { Next::Run(specs) }
    }

    /// Whether a closed load of this cell is still to be made.
    fn is_open(&self, number: usize) -> bool {
        self.closed.get(&number).is_none_or(|closed| closed.in_doubt && closed.loads <= self.plan.repeats)
    }

    fn rate(&self, waiting: &[&CellPlan], numbers: &[usize]) -> Next {
        let (mut closed_per_s, mut without) = (BTreeMap::new(), BTreeMap::new());
        for (cell, number) in waiting.iter().zip(numbers) {
            let target = cell.levels.target().to_owned();
            match &self.closed[number].served {
                Ok(served) => drop(closed_per_s.insert(target, *served)),
                Err(why) => drop(without.insert(target, NotServed::Seen(why.clone()))),
            }
        }
        let share = waiting.first().and_then(|cell| cell.rate_share).unwrap_or(1.0);
        match (settled_rate(share, &closed_per_s), waiting.first()) {
            (Some(rate_per_s), Some(cell)) => {
                let conditions = cell.levels.conditions();
                Next::Add(vec![Addition::Rate(RelativeRate { conditions, rate_per_s, closed_per_s, without })])
            }
            _ => Next::Done(Done::NoRate(without)),
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
    Addition::Cell { cell: Box::new(cell.clone()), why: Purpose::Rate }
}

impl Planner for RunPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        if trial.cell < self.plan.cells.len() {
            return self.blocks.take(trial);
        }
        let Some(cell) = self.plan.cell(trial.cell) else { return };
        let judgement = check_trial(cell, self.plan.generator.limits, trial);
        let per_s = trial.measurement.as_ref().map_or(0.0, |measured| measured.requests_per_s());
        let served = match &judgement.void {
            Some(reason) => Err(reason.clone()),
            None if per_s > 0.0 => Ok(per_s),
            None => Err(judgement.limit.clone()),
        };
        let launch = Launch::new(trial, Cow::Owned(judgement));
        let in_doubt = trial.failure.is_none() && (served.is_err() || disturbance(&self.plan, &launch).is_some());
        let loads = self.closed.get(&trial.cell).map_or(0, |closed| closed.loads) + 1;
        self.closed.insert(trial.cell, Closed { served, in_doubt, loads });
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
                Err(fault) => return Next::Done(Done::Said(fault.to_string())),
            }
        }
        next
    }

    fn expected_trials(&self) -> usize {
        self.blocks.expected_trials()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Session;
    use model::Level;

    fn session(a_per_s: f64) -> Session {
        Session::new().cell("a", a_per_s).cell("b", 120.0).noise(0.0).blocks(1).repeats(1)
    }

    /// Both targets at half of what a closed load gets.
    fn at_half() -> Plan {
        let mut draft = session(100.0).draft();
        for cell in &mut draft.cells {
            cell.rate_share = Some(0.5);
            cell.levels.0.insert("rate".to_owned(), Level::Text("50% of closed".to_owned()));
        }
        draft.resolve().unwrap()
    }

    /// What a closed load of a target would show that serves so much.
    fn closed_load(target: &str, a_per_s: f64) -> TrialRecord {
        let of_target = |trial: &TrialRecord| trial.levels.target() == target;
        let trial = session(a_per_s).records().into_iter().find(of_target).unwrap();
        TrialRecord { block: 0, cell: trial.cell + 2, ..trial }
    }

    fn cells(next: Next) -> Vec<usize> {
        let Next::Run(specs) = next else { panic!("{next:?}") };
        specs.iter().map(|spec| spec.cell).collect()
    }

    #[test]
    fn a_closed_load_that_does_not_count_is_made_again_and_sets_no_rate() {
        let doubtful: [fn(&mut TrialRecord); 2] = [
            |trial| trial.observation.as_mut().unwrap().host.others_share = 0.3,
            |trial| trial.measurement.as_mut().unwrap().interrupted = true,
        ];
        for spoil in doubtful {
            let mut planner = RunPlanner::new(&at_half());
            assert!(matches!(planner.next(), Next::Add(_)));
            assert_eq!(cells(planner.next()), [2, 3]);
            let mut spoilt = closed_load("a", 20.0);
            spoil(&mut spoilt);
            planner.take(&spoilt);
            planner.take(&closed_load("b", 20.0));
            assert_eq!(cells(planner.next()), [2]);
            planner.take(&closed_load("a", 100.0));
            let Next::Add(added) = planner.next() else { panic!("no rate") };
            let [Addition::Rate(rate)] = &added[..] else { panic!("{added:?}") };
            let least = rate.closed_per_s.values().copied().fold(f64::INFINITY, f64::min);
            assert!((least - 100.0).abs() < 5.0 && rate.without.is_empty(), "{rate:?}");
            assert!(matches!(planner.next(), Next::Run(specs) if specs[0].block == 1));
        }
    }

    #[test]
    fn where_the_machine_stays_busy_a_closed_load_counts_as_a_block_does_and_a_void_one_does_not() {
        let rate_of = |spoil: fn(&mut TrialRecord)| {
            let mut planner = RunPlanner::new(&at_half());
            planner.next();
            planner.next();
            for target in ["b", "a", "a"] {
                let mut trial = closed_load(target, 100.0);
                if target == "a" {
                    spoil(&mut trial);
                }
                planner.take(&trial);
            }
            let Next::Add(added) = planner.next() else { panic!("no rate") };
            let [Addition::Rate(rate)] = &added[..] else { panic!("{added:?}") };
            (rate.closed_per_s.len(), rate.without.keys().cloned().collect::<Vec<_>>())
        };
        assert_eq!(rate_of(|trial| trial.observation.as_mut().unwrap().host.others_share = 0.3), (2, vec![]));
        let void = rate_of(|trial| trial.measurement.as_mut().unwrap().interrupted = true);
        assert_eq!(void, (1, vec!["a".to_owned()]));
    }
}
