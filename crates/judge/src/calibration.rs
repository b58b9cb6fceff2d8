//! What a calibration means: at which rates the instrument can be trusted, and which load comes next.

use std::collections::BTreeMap;

use model::{
    Addition, Arrivals, Calibration, Ceiling, CellPlan, DistrustCause, Done, GeneratorLimits, LateCause, Load,
    LoadModel, Measurement, Next, Plan, Planner, Purpose, RateStep, Reason, TrialRecord, TrialSpec,
};

use crate::thresholds::{LOWEST_RATE_PER_S, MOST_RATE_PER_S, RATE_LATE, RATE_RESOLUTION, RATE_SENT};

/// Attempts at a rate that must agree: two of at most three, so that one disturbance decides nothing.
const AGREEING: u32 = 2;

/// The planner of a calibration: each cell of the plan, which are closed loads, and then open loads at the rates that it
/// takes to find the highest which can be trusted. Each rate is a cell that is added, the first one but for its rate, and
/// each attempt at it a block. A load in which the responder fails ends it: nothing follows from the others.
#[derive(Debug, Clone)]
pub struct CalibrationPlanner {
    plan: Plan,
    /// What the closed loads show, by their cells.
    ceilings: BTreeMap<usize, Ceiling>,
    /// What the open ones show, in the order in which they came.
    rates: Vec<RateStep>,
    /// The first trial whose load failed.
    failed: Option<String>,
}

impl CalibrationPlanner {
    /// A planner for a plan of at least one cell, with what was added to it.
    pub fn new(plan: &Plan) -> Self {
        CalibrationPlanner { plan: plan.clone(), ceilings: BTreeMap::new(), rates: Vec::new(), failed: None }
    }

    /// The attempts at a rate that are still to be made, once there is a cell for it.
    fn attempt(&mut self, rate_per_s: f64) -> Next {
        let is_of = |cell: &CellPlan| cell.load.rate_per_s() == Some(rate_per_s);
        let Some(place) = self.plan.added.iter().position(is_of) else { return self.add(rate_per_s) };
        let cell = self.plan.cells.len() + place;
        let made = self.rates.iter().filter(|step| step.rate_per_s == rate_per_s).count() as u32;
        let blocks = made + 1..=AGREEING.max(made + 1);
        Next::Run(blocks.map(|block| TrialSpec { block, position: 1, cell, twin: false }).collect())
    }

    fn add(&mut self, rate_per_s: f64) -> Next {
        let mut cell = self.plan.cells[0].clone();
        cell.load.model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
        let addition = Addition::Cell { cell: Box::new(cell), why: Purpose::Trust };
        match self.plan.adding(&addition) {
            Ok(plan) => self.plan = plan,
            Err(fault) => return Next::Done(Done::Unsound(fault)),
        }
        Next::Add(vec![addition])
    }
}

impl Planner for CalibrationPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        let Some(cell) = self.plan.cell(trial.cell) else { return };
        let measured = trial.measurement.as_ref().filter(|_| trial.failure.is_none());
        match (measured, cell.load.rate_per_s()) {
            (None, _) => {
                self.failed.get_or_insert_with(|| trial.id.clone());
            }
            (Some(measured), None) => drop(self.ceilings.insert(trial.cell, ceiling(&cell.load, measured))),
            (Some(measured), Some(rate_per_s)) => self.rates.push(rate_step(rate_per_s, measured)),
        }
    }

    fn next(&mut self) -> Next {
        if let Some(trial) = self.failed.clone() {
            return Next::Done(Done::LoadFailed { trial });
        }
        let missing = (0..self.plan.cells.len()).filter(|cell| !self.ceilings.contains_key(cell));
        let missing: Vec<TrialSpec> =
            (1..).zip(missing).map(|(position, cell)| TrialSpec { block: 1, position, cell, twin: false }).collect();
        if !missing.is_empty() {
            return Next::Run(missing);
        }
        match next_rate(&self.rates) {
            Some(rate_per_s) => self.attempt(rate_per_s),
            None => Next::Done(Done::Calibrated),
        }
    }

    fn expected_trials(&self) -> usize {
        self.plan.cells.len() + AGREEING as usize
    }
}

fn ceiling(load: &Load, measured: &Measurement) -> Ceiling {
    Ceiling {
        connections: load.connections,
        pipeline: load.pipeline,
        requests_per_s: measured.requests_per_s(),
        cpu_us_per_request: measured.generator_cpu_us_per_request(),
        busy: measured.generator.busiest_thread(),
    }
}

fn rate_step(rate_per_s: f64, measured: &Measurement) -> RateStep {
    let books = &measured.accounting;
    let late = |cause| books.sent_late.get(&cause).copied().unwrap_or(0);
    let lateness = measured.latency_us.lateness.as_ref();
    RateStep {
        rate_per_s,
        scheduled: books.scheduled,
        sent: books.sent,
        late_generator: late(LateCause::Generator),
        late_no_connection: late(LateCause::NoConnection),
        lateness_p50_us: lateness.and_then(|lateness| lateness.p50),
        lateness_p99_us: lateness.and_then(|lateness| lateness.p99),
        cpu_us_per_request: measured.generator_cpu_us_per_request(),
        busy: measured.generator.busiest_thread(),
    }
}

/// The open rate to try next, after those that were tried; none once the highest that can be trusted is known.
///
/// Rates double until one fails; then the gap is halved on the log scale until it is smaller than the resolution.
fn next_rate(done: &[RateStep]) -> Option<f64> {
    let tried = Tried::from(done);
    if tried.undecided.is_some() {
        return tried.undecided;
    }
    match (tried.trusted, tried.failed) {
        (None, None) => Some(LOWEST_RATE_PER_S),
        (None, Some(_)) => None,
        (Some(trusted), None) => Some(trusted * 2.0).filter(|rate| *rate <= MOST_RATE_PER_S),
        (Some(trusted), Some(failed)) => {
            (failed / trusted > RATE_RESOLUTION).then(|| three_digits((trusted * failed).sqrt()))
        }
    }
}

/// Adds to a calibration what its loads show, and what follows from them.
pub fn judge_calibration(begun: Calibration, plan: &Plan, trials: &[TrialRecord]) -> Calibration {
    let mut planner = CalibrationPlanner::new(plan);
    trials.iter().for_each(|trial| planner.take(trial));
    let (ceilings, rates) = (planner.ceilings.into_values().collect::<Vec<_>>(), planner.rates);
    let tried = Tried::from(&rates);
    let failing = rates.iter().filter(|step| Some(step.rate_per_s) == tried.failed);
    let ceiling = |wanted: fn(&Ceiling) -> bool| {
        ceilings.iter().filter(|it| wanted(it)).map(Ceiling::per_thread_per_s).fold(0.0, f64::max)
    };
    // Windows without a reply of some shape say nothing of the generator, and what they let through is trusted by chance.
    let is_measured = ceilings.iter().all(|it| it.requests_per_s > 0.0);
    let limits = tried.trusted.filter(|_| is_measured).map(|open_rate_per_s| GeneratorLimits {
        ceiling_per_s: ceiling(|it| it.pipeline == 1),
        pipelined_ceiling_per_s: ceiling(|it| it.pipeline > 1),
        open_rate_per_s,
    });
    let beyond = failing.filter_map(distrust).next_back();
    Calibration { ceilings, rates, limits, beyond, ..begun }
}

/// Why an open load of this rate is not only the server's; none when it is.
pub fn distrust(step: &RateStep) -> Option<Reason> {
    let share = |count: u64| count as f64 / step.scheduled.max(1) as f64;
    let (sent, late) = (share(step.sent), share(step.late_generator));
    let waited = share(step.late_no_connection);
    // A busy thread is not a reason: what a request costs falls as the rate rises, for one wake-up then serves several.
    if late > RATE_LATE {
        Some(Reason::from(DistrustCause::Late(late)))
    } else if late + waited > RATE_LATE {
        Some(Reason::from(DistrustCause::Waited(waited)))
    } else if sent < RATE_SENT {
        Some(Reason::from(DistrustCause::Sent(sent)))
    } else {
        None
    }
}

/// Where the search stands.
#[derive(Debug, Default, PartialEq)]
struct Tried {
    /// Highest rate below every failed one on which two attempts agreed that it can be trusted.
    trusted: Option<f64>,
    /// Lowest rate on which two attempts agreed that it cannot.
    failed: Option<f64>,
    /// A rate that was tried and needs another attempt.
    undecided: Option<f64>,
}

impl From<&[RateStep]> for Tried {
    fn from(done: &[RateStep]) -> Self {
        let mut rates: Vec<f64> = done.iter().map(|step| step.rate_per_s).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        let mut tried = Tried::default();
        for rate in rates {
            let attempts = done.iter().filter(|step| step.rate_per_s == rate);
            let (bad, good) = attempts.fold((0, 0), |(bad, good), step| match distrust(step) {
                Some(_) => (bad + 1, good),
                None => (bad, good + 1),
            });
            if bad >= AGREEING {
                tried.failed = Some(rate);
                break;
            } else if good >= AGREEING {
                tried.trusted = Some(rate);
            } else {
                tried.undecided = Some(rate);
            }
        }
        tried
    }
}

impl From<&Vec<RateStep>> for Tried {
    fn from(done: &Vec<RateStep>) -> Self {
        Tried::from(done.as_slice())
    }
}

fn three_digits(rate: f64) -> f64 {
    let unit = 10f64.powi(rate.log10().floor() as i32 - 2);
    (rate / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::Session;

    /// A generator that can be trusted up to `limit` requests a second.
    fn step(rate_per_s: f64, limit: f64) -> RateStep {
        let count = rate_per_s as u64;
        let late_generator = if rate_per_s < limit { 0 } else { count / 10 };
        RateStep { rate_per_s, scheduled: count, sent: count, late_generator, ..RateStep::default() }
    }

    /// Two closed loads of such a generator's thread, which is busy half of the time in each.
    fn plan() -> Plan {
        Session::new().cell("responder", 1_000.0).cell("responder", 2_000.0).plan()
    }

    /// A trial as it was asked for, by that generator.
    fn trial(plan: &Plan, spec: TrialSpec, limit: f64) -> TrialRecord {
        let session = Session::new().cell("responder", 1_000.0).cell("responder", 2_000.0);
        let session = session.noise(0.0).generator_busy(0.5).blocks(1);
        let closed = session.records().swap_remove(spec.cell.min(1));
        let mut measured = closed.measurement.unwrap();
        if let Some(rate_per_s) = plan.cell(spec.cell).unwrap().load.rate_per_s() {
            let step = step(rate_per_s, limit);
            (measured.accounting.scheduled, measured.accounting.sent) = (step.scheduled, step.sent);
            measured.accounting.sent_late.insert(LateCause::Generator, step.late_generator);
        }
        TrialRecord { id: spec.id(), block: spec.block, cell: spec.cell, measurement: Some(measured), ..closed }
    }

    /// A calibration of that generator as it is carried out: the plan with what was added to it, and the trials.
    fn calibrated(limit: f64) -> (Plan, Vec<TrialRecord>) {
        let (mut plan, mut trials) = (plan(), Vec::new());
        let mut planner = CalibrationPlanner::new(&plan);
        loop {
            assert!(trials.len() < 100, "the search ends");
            match planner.next() {
                Next::Add(additions) => plan = additions.iter().fold(plan, |plan, add| plan.adding(add).unwrap()),
                Next::Run(specs) => trials.extend(specs.into_iter().map(|spec| {
                    let trial = trial(&plan, spec, limit);
                    planner.take(&trial);
                    trial
                })),
                Next::Rotate(_) => panic!("it has one target"),
                Next::Done(_) => return (plan, trials),
            }
        }
    }

    fn judged_of((plan, trials): &(Plan, Vec<TrialRecord>)) -> Calibration {
        judge_calibration(Calibration::default(), plan, trials)
    }

    fn trusted(limit: f64) -> Option<f64> {
        judged_of(&calibrated(limit)).limits.map(|limits| limits.open_rate_per_s)
    }

    #[test]
    fn each_shape_is_loaded_once_and_each_rate_as_often_as_it_takes_to_agree() {
        let (plan, trials) = calibrated(1_500.0);
        let asked: Vec<(u32, usize)> = trials.iter().map(|trial| (trial.block, trial.cell)).collect();
        assert_eq!(asked[..6], [(1, 0), (1, 1), (1, 2), (2, 2), (1, 3), (2, 3)]);
        let ids: BTreeSet<&str> = trials.iter().map(|trial| trial.id.as_str()).collect();
        assert_eq!(ids.len(), trials.len(), "each trial has a name of its own");
        let calibration = judged_of(&(plan, trials));
        let ceilings: Vec<f64> = calibration.ceilings.iter().map(|it| it.requests_per_s).collect();
        assert_eq!(ceilings, [1_000.0, 2_000.0]);
        let limits = calibration.limits.unwrap();
        assert_eq!((limits.ceiling_per_s, limits.pipelined_ceiling_per_s), (4_000.0, 0.0));
    }

    #[test]
    fn a_calibration_resumes_where_its_records_end() {
        let (plan, trials) = calibrated(63_000.0);
        for known in 0..=trials.len() {
            let mut planner = CalibrationPlanner::new(&plan);
            trials[..known].iter().for_each(|trial| planner.take(trial));
            let next = planner.next();
            match trials.get(known) {
                Some(trial) => {
                    let Next::Run(specs) = next else { panic!("{next:?}") };
                    assert_eq!((specs[0].block, specs[0].cell), (trial.block, trial.cell), "after {known}");
                }
                None => assert_eq!(next, Next::Done(Done::Calibrated)),
            }
        }
    }

    #[test]
    fn a_responder_that_fails_ends_it() {
        let (plan, mut trials) = calibrated(63_000.0);
        trials.truncate(3);
        crate::testing::die(&mut trials[2]);
        let mut planner = CalibrationPlanner::new(&plan);
        trials.iter().for_each(|trial| planner.take(trial));
        assert_eq!(planner.next(), Next::Done(Done::LoadFailed { trial: trials[2].id.clone() }));
    }

    #[test]
    fn the_search_comes_within_its_resolution_of_the_truth_from_below() {
        for limit in [1_500.0, 7_777.0, 63_000.0, 64_100.0, 400_000.0] {
            let found = trusted(limit).unwrap();
            assert!(found < limit && found * RATE_RESOLUTION * 1.01 >= limit, "{found} of {limit}");
        }
    }

    #[test]
    fn a_machine_on_which_nothing_can_be_trusted_gives_no_limits() {
        assert_eq!(trusted(100.0), None);
        assert_eq!(judged_of(&calibrated(100.0)).rates.len(), 2, "two attempts agree");
    }

    #[test]
    fn a_ceiling_of_none_is_no_limit() {
        let (plan, mut trials) = calibrated(63_000.0);
        let shape = trials.iter_mut().find(|trial| trial.cell == 1).unwrap();
        shape.measurement.as_mut().unwrap().in_window = model::WindowCount::default();
        let calibration = judged_of(&(plan, trials));
        assert_eq!((calibration.ceilings[1].requests_per_s, calibration.limits), (0.0, None));
    }

    #[test]
    fn the_search_ends_where_the_machine_has_no_limit() {
        let found = trusted(1e12).unwrap();
        assert!(found <= MOST_RATE_PER_S && found > MOST_RATE_PER_S / 2.0);
    }

    #[test]
    fn one_disturbed_attempt_decides_nothing() {
        let disturbed = RateStep { late_generator: 900, ..step(1_000.0, 1e6) };
        let mut done = vec![disturbed];
        assert_eq!(next_rate(&done), Some(1_000.0));
        done.push(step(1_000.0, 1e6));
        assert_eq!(next_rate(&done), Some(1_000.0));
        done.push(step(1_000.0, 1e6));
        assert_eq!(next_rate(&done), Some(2_000.0));
    }

    #[test]
    fn distrust_names_its_reason() {
        let fine = step(1_000.0, 1e6);
        assert_eq!(distrust(&fine), None);
        let code = |step: RateStep| distrust(&step).unwrap().code().id();
        assert_eq!(code(RateStep { late_generator: 11, ..fine }), "generator-late");
        assert_eq!(code(RateStep { sent: 990, ..fine }), "responder");
        assert_eq!(code(RateStep { late_no_connection: 11, ..fine }), "responder");
        assert!(matches!(
            judged_of(&calibrated(63_000.0)).beyond.unwrap().why,
            model::Why::Distrusted(DistrustCause::Late(_))
        ));
    }
}
