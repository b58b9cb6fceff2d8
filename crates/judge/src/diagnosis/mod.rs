//! What is wrong with one server: suspects, the experiments that tell most of them, proofs, and what came of it.

mod arrange;
mod beliefs;
mod blocked;
mod case;
mod growth;
mod held;
mod limit;
mod proof;
mod reading;
mod seen;
mod signs;
mod thresholds;
mod upstream;

use model::{
    Addition, DIAGNOSIS_SCHEMA, Diagnosed, Diagnosis, DiagnosisEnd, Done, Excluded, Experiment, Next, Open, Plan,
    Planner, Purpose, ServerFault, Sureness, Suspect, TrialRecord, TrialSpec, Tried, Trying, Unexplained, Unproved,
    WhyOpen, WhyTried,
};

use crate::compare::Run;
use crate::statistics::share_interval;
use crate::thresholds::CONFIDENCE;
use case::Case;
use proof::{Examined, Stands};
use reading::Reading;
use thresholds::{LIMITED, LONG_TAIL, LONG_TAIL_US, MOST_ATTEMPTS, MOST_DEATHS, SLOWING, SUSPECTED, THROTTLED};

/// Asks for the experiment that tells most in its time, until a suspect is all but certain; then for those that prove it.
#[derive(Debug, Clone)]
pub(crate) struct DiagnosisPlanner {
    plan: Plan,
    trials: Vec<TrialRecord>,
}

impl DiagnosisPlanner {
    /// A planner for a plan that is a diagnosis, with what was added to it.
    pub(crate) fn new(plan: &Plan) -> Self {
        DiagnosisPlanner { plan: plan.clone(), trials: Vec::new() }
    }

    /// The launch that comes next: of an experiment that was made before, or of one that is to be added first.
    fn launch(&mut self, trying: Trying) -> Next {
        let is_it =
            |cell: &model::CellPlan| cell.tried.as_ref().is_some_and(|tried| tried.experiment == trying.experiment);
        if let Some(place) = self.plan.added.iter().position(is_it) {
            let cell = self.plan.cells.len() + place;
            let block = 1 + self.trials.iter().filter(|trial| trial.cell == cell).count() as u32;
            return Next::Run(vec![TrialSpec { block, position: 1, cell, twin: false }]);
        }
        let Some(case) = Case::of(&self.plan, &self.trials) else { return done(DiagnosisEnd::NothingMeasured) };
        let cell = Box::new(arrange::cell(&case, trying));
        let addition = Addition::Cell { cell, why: Purpose::Diagnosis };
        match self.plan.adding(&addition) {
            Ok(plan) => self.plan = plan,
            Err(fault) => return Next::Done(Done::Unsound(fault)),
        }
        Next::Add(vec![addition])
    }
}

fn done(end: DiagnosisEnd) -> Next {
    Next::Done(Done::Diagnosed(end))
}

impl Planner for DiagnosisPlanner {
    fn take(&mut self, trial: &TrialRecord) {
        self.trials.push(trial.clone());
    }

    fn next(&mut self) -> Next {
        let Some(case) = Case::of(&self.plan, &self.trials) else { return done(DiagnosisEnd::NothingMeasured) };
        match upcoming(&case) {
            Ok(trying) => self.launch(trying),
            Err(end) => done(end),
        }
    }

    fn expected_trials(&self) -> usize {
        // Of a healthy server: what looks for every suspect.
        self.trials.len().max(7)
    }
}

/// The next experiment, or why there is none.
fn upcoming(case: &Case<'_>) -> Result<Trying, DiagnosisEnd> {
    let deaths = case.deaths().count();
    if deaths >= MOST_DEATHS {
        return Err(DiagnosisEnd::Died);
    }
    let none_counts = case.readings.len() >= MOST_ATTEMPTS && case.counting().next().is_none();
    let not_up = case.readings.last().is_some_and(|reading| !reading.record.is_up());
    if none_counts || not_up {
        let any = case.counting().next().is_some();
        return Err(if any { DiagnosisEnd::Unfinished } else { DiagnosisEnd::NothingMeasured });
    }
    // Of a server that gives no reply at all nothing else can be told.
    if let Some(patient) = beliefs::patient(case) {
        match case.first(patient) {
            None if !case.in_vain(patient) => {
                let why = WhyTried::Telling(vec![(Suspect::Failures, beliefs::probability(case, Suspect::Failures))]);
                return within(case, Trying { experiment: patient, why });
            }
            Some(reading) if reading.completed() == 0 => return Err(DiagnosisEnd::Complete),
            _ => {}
        }
    }
    let examined = examined(case);
    let proving = |(suspect, _, examined): &(Suspect, f64, Examined)| match examined.stands {
        Stands::Wants(experiment) => Some(Trying { experiment, why: WhyTried::Proving(*suspect) }),
        _ => examined.more.map(|experiment| Trying { experiment, why: WhyTried::Proving(*suspect) }),
    };
    let certain = examined.iter().filter(|(_, p, _)| *p >= SUSPECTED).find_map(proving);
    let telling = || {
        let choice = beliefs::most_telling(case)?;
        Some(Trying { experiment: choice.first, why: WhyTried::Telling(choice.told) })
    };
    let next = certain.or_else(telling).or_else(|| examined.iter().find_map(proving));
    let next = next.ok_or(if deaths > 0 { DiagnosisEnd::Died } else { DiagnosisEnd::Complete })?;
    within(case, next)
}

/// An experiment, if there is time for it.
fn within(case: &Case<'_>, next: Trying) -> Result<Trying, DiagnosisEnd> {
    let is_late = case.spent_s + beliefs::cost_s(case, next.experiment) > case.asked.within_s;
    if !is_late {
        return Ok(next);
    }
    Err(if case.counting().next().is_some() { DiagnosisEnd::OutOfTime } else { DiagnosisEnd::NothingMeasured })
}

/// What is known of a suspect; none where nothing showed it.
fn examine(case: &Case<'_>, suspect: Suspect) -> Option<Examined> {
    match suspect {
        Suspect::Limit => limit::examine(case),
        Suspect::HeldWorkers => held::examine(case),
        Suspect::BlockedLoop => blocked::examine(case),
        Suspect::DelayedAck => seen::delayed_ack(case),
        Suspect::ClosedConnections => seen::closed(case),
        Suspect::Stalls => seen::stalls(case),
        Suspect::MemoryGrowth | Suspect::ThreadGrowth | Suspect::FileGrowth => growth::examine(case, suspect),
        Suspect::RoundTrips => upstream::examine(case),
        Suspect::Failures => seen::failures(case),
    }
}

/// What is known of each suspect that is likelier than not, the likeliest first. Where connections hold workers, there is no other limit
/// to be looked for.
fn examined(case: &Case<'_>) -> Vec<(Suspect, f64, Examined)> {
    let likely = beliefs::likely(case).into_iter();
    let mut all: Vec<(Suspect, f64, Examined)> =
        likely.filter_map(|(suspect, p)| Some((suspect, p, examine(case, suspect)?))).collect();
    // Failures are seen themselves: loads without any say nothing against those of another.
    if all.iter().all(|(suspect, ..)| *suspect != Suspect::Failures) {
        all.extend(examine(case, Suspect::Failures).map(|found| (Suspect::Failures, 1.0, found)));
    }
    let holds = |(suspect, _, it): &(Suspect, f64, Examined)| {
        *suspect == Suspect::HeldWorkers && !matches!(it.stands, Stands::Refuted(_))
    };
    if all.iter().any(holds) {
        all.retain(|(suspect, ..)| *suspect != Suspect::Limit);
    }
    all
}

/// What the experiments of a diagnosis came to.
pub(crate) fn diagnose(run: Run<'_>) -> Option<Diagnosis> {
    let case = Case::of(run.plan, run.trials)?;
    let examined = examined(&case);
    let ended = upcoming(&case).err().unwrap_or(DiagnosisEnd::Unfinished);
    let mut findings: Vec<Diagnosed> =
        case.deaths().next().and_then(|reading| died(&case, reading)).into_iter().collect();
    let (mut excluded, mut open) = (Vec::new(), Vec::new());
    findings.extend(examined.iter().filter_map(|(_, _, it)| finding(&case, it, ended)));
    findings.sort_by_key(|found| found.sureness != Sureness::Is);
    for suspect in Suspect::ALL.iter().copied() {
        let known = examined.iter().find(|(of, ..)| *of == suspect);
        match known.map(|(_, _, it)| it.stands) {
            Some(Stands::Refuted(why)) => open.push(Open { suspect, why }),
            Some(_) => {}
            None if is_explained(&findings, suspect) => {}
            None => match why_open(&case, suspect, ended) {
                Some(why) => open.push(Open { suspect, why }),
                None => excluded.push(Excluded {
                    suspect,
                    probability: beliefs::probability(&case, suspect),
                    visible_from: visible_from(&case, suspect),
                    looked_s: (suspect == Suspect::Stalls).then(|| seen::looked_for_stalls_s(&case)),
                    beyond: (suspect == Suspect::Limit).then(|| limit_beyond(&case)).flatten(),
                }),
            },
        }
    }
    let (target, unexplained) = (run.plan.targets.first(), unexplained(&case, &findings));
    Some(Diagnosis {
        schema: DIAGNOSIS_SCHEMA.to_owned(),
        question: run.plan.question.clone(),
        title: target.map_or(String::new(), |target| target.title.clone()),
        environment: run.environment.clone(),
        ended,
        elapsed_s: None,
        findings,
        excluded,
        open,
        unexplained,
        tried: case.readings.iter().map(tried).collect(),
    })
}

/// What else a finding explains: connections that hold workers limit what is served.
fn is_explained(findings: &[Diagnosed], suspect: Suspect) -> bool {
    let held = |found: &Diagnosed| matches!(found.fault, ServerFault::HeldWorkers { .. });
    suspect == Suspect::Limit && findings.iter().any(held)
}

fn finding(case: &Case<'_>, examined: &Examined, ended: DiagnosisEnd) -> Option<Diagnosed> {
    let unproved = match examined.stands {
        Stands::Proved => None,
        Stands::Wants(_) => Some(match ended {
            DiagnosisEnd::Died => Unproved::Died,
            DiagnosisEnd::Unfinished => Unproved::Unfinished,
            _ => Unproved::OutOfTime,
        }),
        Stands::Unproved(why) => Some(why),
        Stands::Refuted(_) => return None,
    };
    let by: Vec<&Reading<'_>> = case.readings.iter().filter(|it| examined.by.contains(&it.place)).collect();
    Some(Diagnosed {
        sureness: if unproved.is_none() { Sureness::Is } else { Sureness::ConsistentWith },
        fault: examined.fault.clone(),
        unproved,
        shown_by: places(case, &by),
        cpus_used: by.iter().filter_map(|it| it.cpus_used()).reduce(f64::max),
        generator_busy: by.iter().map(|it| it.generator_busy()).fold(0.0, f64::max),
    })
}

fn died(case: &Case<'_>, reading: &Reading<'_>) -> Option<Diagnosed> {
    let failure = reading.record.failure.as_ref()?;
    let fault = ServerFault::Died {
        under: reading.experiment(),
        why: failure.why.clone(),
        printed: failure.output.clone(),
        threads: reading.kept(Suspect::ThreadGrowth).map(|threads| threads as u64),
        files: reading.kept(Suspect::FileGrowth).map(|files| files as u64),
        memory_bytes: reading.kept(Suspect::MemoryGrowth).map(|bytes| bytes.max(0.0) as u64),
    };
    Some(Diagnosed {
        sureness: Sureness::Is,
        fault,
        unproved: None,
        shown_by: places(case, &[reading]),
        cpus_used: None,
        generator_busy: 0.0,
    })
}

/// Where they stand among those that were tried.
fn places(case: &Case<'_>, by: &[&Reading<'_>]) -> Vec<usize> {
    let is_of = |reading: &Reading<'_>| by.iter().any(|it| it.place == reading.place);
    (0..case.readings.len()).filter(|at| is_of(&case.readings[*at])).collect()
}

/// What a load shows that no finding explains.
fn unexplained(case: &Case<'_>, findings: &[Diagnosed]) -> Vec<Unexplained> {
    let most = case.counting().filter_map(throttled).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, most)| most);
    most.into_iter().chain(of_a_steady_load(case, findings)).collect()
}

/// Whether a quota kept it from a CPU, and for which share of the time.
fn throttled(reading: &Reading<'_>) -> Option<(f64, Unexplained)> {
    let (share, cpus_used) = (reading.throttled(), reading.cpus_used()?);
    (share >= THROTTLED).then(|| (share, Unexplained::Throttled { under: reading.experiment(), cpus_used, share }))
}

/// What a steady load shows that no finding explains.
fn of_a_steady_load(case: &Case<'_>, findings: &[Diagnosed]) -> Vec<Unexplained> {
    let explains =
        |found: &Diagnosed| !matches!(found.fault, ServerFault::Growth { .. } | ServerFault::Failures { .. });
    let steady = |reading: &&Reading<'_>| matches!(reading.experiment(), Experiment::Steady { rate_per_s, .. } if rate_per_s > 1.0);
    let quiet = |reading: &&Reading<'_>| !signs::is_disturbed(reading);
    let Some(reading) = case.counting().filter(steady).find(quiet).filter(|_| !findings.iter().any(explains)) else {
        return Vec::new();
    };
    let rate_per_s = reading.per_s();
    let tail = reading
        .tail_us()
        .filter(|(p50, p99)| p99 / p50 >= LONG_TAIL && p99 - p50 >= LONG_TAIL_US)
        .map(|(p50_us, p99_us)| Unexplained::Tail { rate_per_s, p50_us, p99_us });
    let slowing = reading
        .halves_us()
        .filter(|(first, second)| second / first >= SLOWING)
        .map(|(first_us, second_us)| Unexplained::Slowing { first_us, second_us });
    tail.into_iter().chain(slowing).collect()
}

/// Why nobody knows whether a suspect is there; none where it is not.
fn why_open(case: &Case<'_>, suspect: Suspect, ended: DiagnosisEnd) -> Option<WhyOpen> {
    if suspect == Suspect::BlockedLoop && case.asked.heavy.is_none() {
        return Some(WhyOpen::NoHeavy);
    }
    if suspect == Suspect::RoundTrips && case.asked.upstream.is_none() {
        return Some(WhyOpen::NoUpstream);
    }
    if beliefs::is_told(case, suspect) {
        return None;
    }
    let grows = [Suspect::MemoryGrowth, Suspect::ThreadGrowth, Suspect::FileGrowth].contains(&suspect);
    let runs = case.asked.running.as_ref();
    Some(match suspect {
        _ if grows && runs.is_some() => WhyOpen::NotLaunched,
        _ if runs.is_some_and(|it| !it.overload) => WhyOpen::NoOverload,
        Suspect::MemoryGrowth if case.jvm => WhyOpen::Jvm,
        _ if ended == DiagnosisEnd::Died => WhyOpen::Died,
        _ if ended == DiagnosisEnd::Unfinished => WhyOpen::Unfinished,
        _ if ended == DiagnosisEnd::OutOfTime => WhyOpen::OutOfTime,
        Suspect::Limit => signs::why_no_limit(case, 0),
        Suspect::HeldWorkers if case.counting().any(|it| it.completed() > 0) => WhyOpen::Slow,
        Suspect::DelayedAck if case.counting().any(|it| it.completed() > 0 && !it.is_short_and_near()) => {
            WhyOpen::LongReplies
        }
        Suspect::RoundTrips if case.counting().any(is_farther) && !case.counting().any(signs::asks) => {
            WhyOpen::NotAsked
        }
        _ => WhyOpen::Void,
    })
}

/// Whether what is behind the server was to be further away.
fn is_farther(reading: &Reading<'_>) -> bool {
    matches!(reading.experiment(), Experiment::Upstream { delay_ns: 1.., .. })
}

/// The largest crowd in which all were worked on at once.
fn most_at_once(case: &Case<'_>) -> Option<u32> {
    most_told(case, Suspect::Limit)
}

/// The largest crowd that shows that something is not there.
fn most_told(case: &Case<'_>, suspect: Suspect) -> Option<u32> {
    let lacks = |reading: &&Reading<'_>| {
        matches!(reading.experiment(), Experiment::Crowd { .. })
            && signs::sign(case, suspect, reading) == signs::Sign::Lacks
    };
    case.counting().filter(lacks).map(|reading| reading.cell.load.connections).max()
}

/// Why crowds larger than that tell nothing; none where there were none.
fn limit_beyond(case: &Case<'_>) -> Option<WhyOpen> {
    let most = most_at_once(case)?;
    let is_larger = |reading: &Reading<'_>| signs::is_crowd_above(reading, most);
    case.counting().any(is_larger).then(|| signs::why_no_limit(case, most))
}

/// How large something would have to be for it to be seen.
fn visible_from(case: &Case<'_>, suspect: Suspect) -> Option<f64> {
    let each = || Some(signs::least_growth(case, suspect) / (3.0 * case.dose()? as f64));
    match suspect {
        Suspect::Limit => Some(LIMITED * f64::from(most_at_once(case)?)),
        Suspect::MemoryGrowth | Suspect::ThreadGrowth | Suspect::FileGrowth => each(),
        Suspect::Failures => {
            let (failed, of) =
                case.counting().map(Reading::failed).fold((0, 0), |(a, b), (failed, of)| (a + failed, b + of));
            share_interval(failed, of, CONFIDENCE).map(|share| share.high)
        }
        Suspect::BlockedLoop => {
            case.first(Experiment::Heavy).and_then(|heavy| heavy.service_s()).map(|s| thresholds::WAITS_FOR_ALL * s)
        }
        Suspect::Stalls => seen::shortest_stall_s(case),
        Suspect::RoundTrips => Some(thresholds::MANY_ROUND_TRIPS.ceil()),
        Suspect::HeldWorkers => most_told(case, Suspect::HeldWorkers).map(f64::from),
        Suspect::DelayedAck | Suspect::ClosedConnections => None,
    }
}

fn tried(reading: &Reading<'_>) -> Tried {
    let is_measured = reading.record.measurement.is_some();
    let (failed, of) = reading.failed();
    Tried {
        trial: reading.record.id.clone(),
        trying: reading.trying.clone(),
        valid: reading.valid,
        requests_per_s: is_measured.then(|| reading.per_s()),
        service_us: reading.service_s().map(|s| s * 1e6),
        slowest_us: reading.slowest_s().map(|s| s * 1e6),
        latency_us: reading.latencies_us().cloned(),
        stalls: reading.stalls().into_iter().copied().collect(),
        cpus_used: reading.cpus_used(),
        cpus_taken: reading.record.observation.is_some().then(|| reading.cpus_taken()),
        unserved: (is_measured && !reading.cell.load.model.has_schedule()).then(|| reading.unserved()),
        failed: (of > 0).then(|| failed as f64 / of as f64),
        grown_bytes: reading.grown_bytes(),
        threads: reading.kept(Suspect::ThreadGrowth).map(|threads| threads as u64),
        open_files: reading.kept(Suspect::FileGrowth).map(|files| files as u64),
    }
}

#[cfg(test)]
mod tests;
