//! What is known of a server so far.

use std::path::Path;

use model::{Breach, CellPlan, DiagnosePlan, Experiment, Extent, Plan, TrialRecord, TrialStage};

use super::reading::Reading;
use super::thresholds::{
    CROWDS, DOSE_CONNECTIONS, FEWER_AFTER_A_DEATH, LAUNCH_S, LEAST_DOSE, MOST_ATTEMPTS, MOST_DOSE, STEADY_PER_S,
    STEADY_SHARE,
};
use crate::trial::check_trial;

/// The experiments that were made on one server, in the order in which they were made.
pub(super) struct Case<'a> {
    pub(super) asked: &'a DiagnosePlan,
    /// How the server is asked.
    pub(super) base: &'a CellPlan,
    pub(super) readings: Vec<Reading<'a>>,
    /// Whether it is a JVM, by what was seen of it or by its command.
    pub(super) jvm: bool,
    /// Seconds that all of it took so far.
    pub(super) spent_s: f64,
}

impl<'a> Case<'a> {
    /// The case of a plan that is a diagnosis.
    pub(super) fn of(plan: &'a Plan, trials: &'a [TrialRecord]) -> Option<Case<'a>> {
        let (asked, base) = (plan.diagnosis.as_ref()?, plan.cells.first()?);
        let reading = |(place, record): (usize, &'a TrialRecord)| {
            let cell = plan.cell(record.cell)?;
            let trying = cell.tried.as_ref()?;
            let valid = record.failure.is_none() && is_sound(plan, cell, record) && is_whole(cell, record);
            Some(Reading { place, trying, cell, record, valid })
        };
        let names_java = |word: &String| Path::new(word).file_name().is_some_and(|name| name == "java");
        let jvm = plan.targets.iter().any(|target| target.launch.run.iter().any(names_java));
        let spent_s = trials.iter().filter_map(taken_s).sum();
        let readings: Vec<Reading<'_>> = trials.iter().enumerate().filter_map(reading).collect();
        let jvm = jvm || readings.iter().any(Reading::is_jvm);
        Some(Case { asked, base, readings, jvm, spent_s })
    }

    /// Whether an experiment may be made: a server that runs already is sent no more than was said.
    pub(super) fn allows(&self, experiment: Experiment) -> bool {
        let paced = matches!(experiment, Experiment::Paced { .. });
        self.asked.running.as_ref().is_none_or(|running| running.overload != paced)
    }

    /// The few requests that show what needs no more.
    pub(super) fn paced(&self) -> Option<Experiment> {
        let running = self.asked.running.as_ref().filter(|running| !running.overload)?;
        Some(Experiment::Paced { rate_per_s: running.rate_per_s })
    }

    /// Those that count, of one experiment.
    pub(super) fn valid(&self, experiment: Experiment) -> impl Iterator<Item = &Reading<'a>> {
        self.counting().filter(move |reading| reading.experiment() == experiment)
    }

    /// The first that counts.
    pub(super) fn first(&self, experiment: Experiment) -> Option<&Reading<'a>> {
        self.valid(experiment).next()
    }

    /// All that count.
    pub(super) fn counting(&self) -> impl Iterator<Item = &Reading<'a>> {
        self.readings.iter().filter(|reading| reading.valid)
    }

    /// Whether an experiment was void as often as it is made again, or ended the server.
    pub(super) fn in_vain(&self, experiment: Experiment) -> bool {
        self.in_vain_unless(experiment, |reading| reading.valid)
    }

    /// The same of one that is only good for something as this says.
    pub(super) fn in_vain_unless(&self, experiment: Experiment, is_good: impl Fn(&Reading<'a>) -> bool) -> bool {
        let made = || self.readings.iter().filter(|reading| reading.experiment() == experiment);
        made().any(has_died) || made().filter(|reading| !is_good(reading)).count() >= MOST_ATTEMPTS
    }

    /// Those under which the server ended.
    pub(super) fn deaths(&self) -> impl Iterator<Item = &Reading<'a>> {
        self.readings.iter().filter(|reading| has_died(reading))
    }

    /// What a request takes where none waits for another, in seconds.
    pub(super) fn service_s(&self) -> Option<f64> {
        let alone = self.first(Experiment::Crowd { connections: 1 })?;
        alone.service_s().or_else(|| self.first(Experiment::Patient)?.service_s())
    }

    /// Whether replies to one connection wait for its acknowledgement, which the server has no part in.
    pub(super) fn acknowledges_late(&self) -> bool {
        self.first(Experiment::Crowd { connections: 1 }).is_some_and(|alone| alone.delayed_ack().is_some())
    }

    /// A closed load by which a limit is proved: one that acknowledges at once where others wait for that.
    pub(super) fn crowd(&self, connections: u32) -> Experiment {
        if self.acknowledges_late() { Experiment::QuickAck { connections } } else { Experiment::Crowd { connections } }
    }

    /// What the server itself takes for a request where none waits for another, in seconds; none before that was measured.
    pub(super) fn work_s(&self) -> Option<f64> {
        if self.acknowledges_late() { self.first(self.crowd(1))?.service_s() } else { self.service_s() }
    }

    /// How long a load is unless its experiment needs more, in seconds.
    pub(super) fn window_s(&self) -> f64 {
        self.base.load.window_ns() as f64 / 1e9
    }

    /// What the first load of several connections showed, in requests a second.
    pub(super) fn crowd_per_s(&self) -> Option<f64> {
        let is_crowd = |reading: &&Reading<'a>| matches!(reading.experiment(), Experiment::Crowd { connections } if connections > CROWDS[0]);
        self.counting().find(is_crowd).map(Reading::per_s).filter(|per_s| *per_s > 0.0)
    }

    /// The rate of a steady load: below what the first crowd showed, so that nothing waits in line.
    pub(super) fn steady_per_s(&self) -> Option<f64> {
        Some((self.crowd_per_s()? * STEADY_SHARE).min(STEADY_PER_S)).filter(|rate| *rate >= 1.0).map(f64::round)
    }

    /// How many doses a server did not answer to their end: of what it keeps it may have had no more room, and would not have the next time.
    fn spoilt_doses(&self) -> usize {
        let is_dose = |reading: &&Reading<'_>| matches!(reading.experiment(), Experiment::Dose { .. });
        let is_cut =
            |reading: &&Reading<'_>| reading.record.failure.is_none() && !is_whole(reading.cell, reading.record);
        self.readings.iter().filter(is_dose).filter(is_cut).count()
    }

    /// The first dose of requests: a small one for a server that ended under many, or did not answer all of them.
    pub(super) fn dose(&self) -> Option<u64> {
        let most_per_s = f64::from(DOSE_CONNECTIONS) / self.service_s()?;
        Some(
            (self.crowd_per_s()?.min(most_per_s) * self.window_s()).min(MOST_DOSE)
                * FEWER_AFTER_A_DEATH.powi((self.deaths().count() + self.spoilt_doses()) as i32),
        )
        .filter(|requests| *requests >= LEAST_DOSE)
        .map(|it| it as u64)
    }

    /// Seconds of a launch beside its load.
    pub(super) fn launch_s(&self) -> f64 {
        let beside = self.readings.iter().filter(|reading| reading.valid).filter_map(|reading| {
            let loaded_s = reading.cell.load.warm_up_ns as f64 / 1e9 + reading.window_s();
            Some((taken_s(reading.record)? - loaded_s).max(0.0))
        });
        beside.reduce(f64::max).unwrap_or(LAUNCH_S)
    }
}

/// Whether the instrument vouches for a trial: also where the server served nothing, and the instrument was there to see it.
fn is_sound(plan: &Plan, cell: &CellPlan, record: &TrialRecord) -> bool {
    let judged = check_trial(cell, plan.generator.limits, record);
    let is_over = record.measurement.as_ref().is_some_and(|measured| !measured.interrupted);
    // What is not HTTP is wrong content, too.
    let is_its_doing = |check: &model::InvariantCheck| matches!(check.breach, None | Some(Breach::Content { .. }));
    let is_the_servers = is_over && judged.unserved && judged.checks.iter().all(is_its_doing);
    judged.void.is_none() || is_the_servers
}

/// Whether all of a number of requests were answered: of fewer a dose is another one.
fn is_whole(cell: &CellPlan, record: &TrialRecord) -> bool {
    let Extent::Requests { count, .. } = cell.load.extent else { return true };
    record.measurement.as_ref().is_some_and(|measured| measured.accounting.completed >= count)
}

fn has_died(reading: &Reading<'_>) -> bool {
    reading.record.failure.as_ref().is_some_and(|failure| failure.stage == TrialStage::Died)
}

/// How long a trial took, in seconds.
fn taken_s(trial: &TrialRecord) -> Option<f64> {
    Some(trial.ended_at?.duration_since(trial.started_at).as_secs_f64().max(0.0))
}
