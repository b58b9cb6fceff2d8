//! The planner of a run: what rates come to that are shares of capacity, and then blocks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::{
    Addition, CellPlan, Done, Mark, MarkNote, Next, NotServed, Plan, Planner, Purpose, Reason, RelativeRate,
    TrialRecord, TrialSpec,
};

use crate::asked::Asked;
use crate::failing::failing;
use crate::launch::Launch;
use crate::planner::BlockPlanner;
use crate::rates::settled_rate;
use crate::records::disturbance;
use crate::trial::{TrialJudgement, check_trial};

/// First each target whose rate is a share of capacity is loaded closed, in a cell that is added, and gets a rate of what
/// the slowest under the same conditions served; then there are blocks. Once a rate is settled it stays. A closed load that
/// does not count, in which more failed than may, or in which the machine was busy, is made again, as often as the plan
/// repeats a block.
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
    served: Result<f64, Box<Reason>>,
    /// What held the last of them back, where the target may serve more.
    at_least: Option<Reason>,
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
        let (mut closed_per_s, mut without, mut at_least) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (cell, number) in waiting.iter().zip(numbers) {
            let target = cell.levels.target().to_owned();
            let closed = &self.closed[number];
            match &closed.served {
                Ok(served) => {
                    at_least.extend(closed.at_least.clone().map(|why| (target.clone(), why)));
                    closed_per_s.insert(target, *served);
                }
                Err(why) => drop(without.insert(target, NotServed::Seen(Reason::clone(why)))),
            }
        }
        let share = waiting.first().and_then(|cell| cell.rate_share).unwrap_or(1.0);
        match (settled_rate(share, &closed_per_s), waiting.first()) {
            (Some(rate_per_s), Some(cell)) => {
                let conditions = cell.levels.conditions();
                Next::Add(vec![Addition::Rate(RelativeRate {
                    conditions,
                    rate_per_s,
                    closed_per_s,
                    without,
                    at_least,
                })])
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
    CellPlan {
        rate_share: None,
        rate_arrivals: None,
        profile: false,
        beside: None,
        census: Some(false),
        ..cell.clone()
    }
}

fn added(cell: &CellPlan) -> Addition {
    Addition::Cell { cell: Box::new(cell.clone()), why: Purpose::Rate }
}

/// What a closed load shows that a target serves in a second, or why it does not. More failures than are allowed make the
/// figure one of failures: who answers half of its requests quickly serves no capacity.
fn served(cell: &CellPlan, judgement: &TrialJudgement, trial: &TrialRecord, allowed: f64) -> Result<f64, Box<Reason>> {
    if let Some(reason) = &judgement.void {
        return Err(Box::new(reason.clone()));
    }
    let Some(measured) = trial.measurement.as_ref().filter(|measured| measured.requests_per_s() > 0.0) else {
        return Err(Box::new(judgement.limit.clone()));
    };
    if !failing(&Asked::from(cell), [(measured, &[][..])], allowed).bad {
        return Ok(measured.requests_per_s());
    }
    let note =
        [Mark::Errors, Mark::Hung].into_iter().find_map(|mark| judgement.marks.iter().find(|it| it.mark() == mark));
    let reason = |note: &MarkNote| Reason::from(MarkNote::new(note.cause.clone()));
    Err(Box::new(note.map_or_else(|| judgement.limit.clone(), reason)))
}

impl Planner for RunPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        if trial.cell < self.plan.cells.len() {
            return self.blocks.take(trial);
        }
        let Some(cell) = self.plan.cell(trial.cell) else { return };
        let judgement = check_trial(cell, self.plan.generator.limits, trial);
        let served = served(cell, &judgement, trial, self.plan.allow_failures);
        let at_least = judgement.at_least.then(|| judgement.limit.clone());
        let launch = Launch::new(trial, Cow::Owned(judgement));
        let in_doubt = trial.failure.is_none() && (served.is_err() || disturbance(&self.plan, &launch).is_some());
        let loads = self.closed.get(&trial.cell).map_or(0, |closed| closed.loads) + 1;
        self.closed.insert(trial.cell, Closed { served, at_least, in_doubt, loads });
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
                Err(fault) => return Next::Done(Done::Unsound(fault)),
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
    use model::{CellAnalysis, ClaimNote, Environment, Level, MarkCause, Why};

    fn session(a_per_s: f64) -> Session {
        Session::new()
            .cell("a", a_per_s)
            .cell("b", 120.0)
            .noise(0.0)
            .blocks(1)
            .repeats(1)
            .claim("throughput(a) / throughput(b) > 0.5")
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

    /// What the rate comes to where each closed load of a is like this.
    fn settled(spoil: impl Fn(&mut TrialRecord)) -> RelativeRate {
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
        rate.clone()
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
        let busy = settled(|trial| trial.observation.as_mut().unwrap().host.others_share = 0.3);
        assert_eq!((busy.closed_per_s.len(), busy.without.len()), (2, 0));
        let void = settled(|trial| trial.measurement.as_mut().unwrap().interrupted = true);
        assert_eq!((void.closed_per_s.len(), void.without.contains_key("a")), (1, true));
    }

    #[test]
    fn a_closed_load_in_which_more_failed_than_may_sets_no_rate() {
        let failing = |share: f64| {
            move |trial: &mut TrialRecord| {
                let books = &mut trial.measurement.as_mut().unwrap().accounting;
                let failed = (books.scheduled as f64 * share) as u64;
                (books.ok, books.bad_status) = (books.ok - failed, failed);
            }
        };
        assert!(settled(failing(0.005)).without.is_empty());
        let rate = settled(failing(0.5));
        let NotServed::Seen(why) = &rate.without["a"] else { panic!("{rate:?}") };
        assert_eq!((why.code(), rate.closed_per_s.contains_key("a")), (Mark::Errors.into(), false));
        assert!(matches!(&why.why, Why::Mark(MarkCause::Failures(failed)) if failed.bad_status == 500));
    }

    #[test]
    fn what_stands_on_a_lower_bound_says_so() {
        let full = |trial: &mut TrialRecord| {
            trial.measurement.as_mut().unwrap().generator.threads[0].cpu_s = 9.7;
        };
        let rate = settled(full);
        assert_eq!(rate.at_least["a"].code(), Mark::Generator.into());
        let said = |rate: RelativeRate| {
            let plan = at_half().adding(&Addition::Rate(rate)).unwrap();
            let analysis = crate::analyse(&plan, &Environment::default(), &session(100.0).records());
            let is_marked = |cell: &CellAnalysis| cell.marks.iter().any(|note| note.mark() == Mark::LowRate);
            let notes = analysis.claims[0].notes.iter();
            let noted = notes.filter(|note| matches!(note, ClaimNote::LowRate { target, .. } if target == "a")).count();
            (analysis.cells.iter().filter(|cell| is_marked(cell)).count(), noted)
        };
        assert_eq!(said(rate.clone()), (2, 2), "b's rate stands on what a serves, too");
        let slower = [("a".to_owned(), 130.0), ("b".to_owned(), 120.0)].into();
        assert_eq!(said(RelativeRate { closed_per_s: slower, ..rate }), (0, 0), "b is the slowest whatever a can do");
    }
}
