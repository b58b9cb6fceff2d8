//! The loads of a soak, and which comes next.

use model::{
    Addition, Arrivals, CellPlan, Done, Extent, Level, LoadModel, NS_PER_S, Next, Plan, Planner, Purpose, SoakEnd,
    SoakPart, SoakPlan, TrialFailure, TrialRecord, TrialSpec, TrialStage, soak_cycles, soak_part,
};

use super::thresholds::IDLE_PER_S;
use crate::trial::check_trial;

/// The factor that tells the two loads of a soak apart, and its levels.
const PART: &str = "load";
const LOADED: &str = "on";
const IDLE: &str = "off";

/// Seconds of a cycle in which a server is left alone before it is looked at.
const LEFT_ALONE_S: f64 = 1.0;

/// The shortest load of a cycle, in seconds.
const SHORTEST_S: f64 = 0.2;

/// Asks for what the server serves at most, where the rate is a share of that, and then for all cycles on one launch.
#[derive(Debug, Clone)]
pub(crate) struct SoakPlanner {
    plan: Plan,
    trials: Vec<TrialRecord>,
}

impl SoakPlanner {
    pub(crate) fn new(plan: &Plan) -> Self {
        SoakPlanner { plan: plan.clone(), trials: Vec::new() }
    }

    fn upcoming(&mut self) -> Next {
        let Some(asked) = self.plan.soak.clone() else { return done(SoakEnd::NothingMeasured) };
        if self.trials.iter().any(|trial| trial.block > 0) {
            return done(ended(&self.plan, &self.trials));
        }
        if !self.plan.added.is_empty() {
            return Next::Run(all_cycles(&self.plan));
        }
        let rate_per_s = match (asked.rate_per_s, self.trials.first()) {
            (Some(rate_per_s), _) => rate_per_s,
            (None, None) => return Next::Run(vec![TrialSpec { block: 0, position: 1, cell: 0, twin: false }]),
            (None, Some(_)) => match most_per_s(&self.plan, &self.trials) {
                Some(most_per_s) => rounded(asked.share * most_per_s),
                None => return done(SoakEnd::NothingMeasured),
            },
        };
        let cells = [(LOADED, rate_per_s), (IDLE, IDLE_PER_S)];
        let additions: Vec<Addition> = cells
            .into_iter()
            .map(|(level, per_s)| Addition::Cell {
                cell: Box::new(cell(&self.plan, &asked, level, per_s)),
                why: Purpose::Soak,
            })
            .collect();
        for addition in &additions {
            match self.plan.adding(addition) {
                Ok(plan) => self.plan = plan,
                Err(fault) => return Next::Done(Done::Unsound(fault)),
            }
        }
        Next::Add(additions)
    }
}

impl Planner for SoakPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        // What comes next does not depend on how a cycle went second by second, and there may be a hundred of them.
        let mut trial = trial.clone();
        trial.measurement.iter_mut().for_each(|measured| measured.steps = Vec::new());
        trial.observation.iter_mut().for_each(|seen| seen.seconds = Vec::new());
        self.trials.push(trial);
    }

    fn next(&mut self) -> Next {
        self.upcoming()
    }

    fn expected_trials(&self) -> usize {
        let first = self.plan.soak.as_ref().is_some_and(|asked| asked.rate_per_s.is_none());
        cycles(&self.plan) as usize + usize::from(first)
    }
}

fn done(end: SoakEnd) -> Next {
    Next::Done(Done::Soaked(end))
}

/// How many cycles a soak has.
pub(super) fn cycles(plan: &Plan) -> u32 {
    plan.soak.as_ref().map_or(0, |asked| soak_cycles(asked.for_s))
}

/// Why a soak ended, of which there are these records.
pub(super) fn ended(plan: &Plan, trials: &[TrialRecord]) -> SoakEnd {
    let made = trials.iter().filter(|trial| trial.block > 0);
    if made.clone().any(has_died) {
        SoakEnd::Died
    } else if made.clone().all(|trial| trial.measurement.is_none()) {
        SoakEnd::NothingMeasured
    } else if made.filter(|trial| trial.failure.is_none()).count() < cycles(plan) as usize {
        SoakEnd::Unfinished
    } else {
        SoakEnd::Complete
    }
}

/// Whether the server ended during a cycle.
pub(super) fn has_died(trial: &TrialRecord) -> bool {
    let died = |failure: &TrialFailure| failure.stage == TrialStage::Died;
    trial.block > 0 && trial.failure.as_ref().is_some_and(died)
}

/// The closed load before the soak: one that was made again stands for those before it.
pub(super) fn most(trials: &[TrialRecord]) -> Option<&TrialRecord> {
    trials.iter().rfind(|trial| trial.block == 0)
}

/// What the server served in it, in requests a second.
pub(super) fn most_per_s(plan: &Plan, trials: &[TrialRecord]) -> Option<f64> {
    let first = most(trials)?;
    let is_sound = first.failure.is_none() && check_trial(plan.cell(0)?, plan.generator.limits, first).void.is_none();
    let per_s = first.measurement.as_ref().filter(|_| is_sound)?.requests_per_s();
    Some(per_s).filter(|per_s| *per_s >= 1.0)
}

/// A rate that can be said: to two digits below, and to whole requests above ten.
fn rounded(per_s: f64) -> f64 {
    if per_s >= 10.0 { per_s.round() } else { (per_s * 100.0).round() / 100.0 }
}

fn cell(plan: &Plan, asked: &SoakPlan, level: &str, rate_per_s: f64) -> CellPlan {
    let mut cell = plan.cells[0].clone();
    cell.levels.0.insert(PART.to_owned(), Level::Text(level.to_owned()));
    cell.load.model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Poisson };
    if level == IDLE {
        // What is kept of each connection is not kept with time.
        cell.load.connections = 1;
    }
    // All that is sent counts: what a server keeps of a request it keeps of the first as well.
    cell.load.warm_up_ns = 0;
    let load_s = (asked.for_s / f64::from(cycles(plan)) - LEFT_ALONE_S).max(SHORTEST_S);
    cell.load.extent = Extent::Window((load_s * NS_PER_S as f64) as u64);
    cell
}

fn all_cycles(plan: &Plan) -> Vec<TrialSpec> {
    let (loaded, of) = (plan.cells.len(), cycles(plan));
    let cycle = |number: u32| {
        let cell = loaded + usize::from(soak_part(number, of) == SoakPart::Idle);
        TrialSpec { block: 1 + number, position: 1, cell, twin: false }
    };
    (0..of).map(cycle).collect()
}
