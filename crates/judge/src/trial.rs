use model::{
    CellPlan, GeneratorLimits, InvariantCheck, LimitCause, Load, MarkNote, Measurement, Reason, TrialFailure,
    TrialRecord, TrialStage, UnslicedCause, Verdict,
};

use crate::asked::Asked;
use crate::course::{self, Went};
use crate::failing::is_unserved;
use crate::limit::{self, Limit};
use crate::thresholds::ALLOWED_FAILURES;
use crate::{growth, hung, invariants, marks, silence, slices};

/// The instrument's word on one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialJudgement {
    /// Every invariant that applies, held or broken.
    pub checks: Vec<InvariantCheck>,
    /// What a reader must know.
    pub marks: Vec<MarkNote>,
    /// Whether throughput is only a lower bound, because the generator may have been the limit.
    pub at_least: bool,
    /// What bounded the throughput: `at-ceiling`, `target-cpu`, `generator`, `server-bound` in the closed model,
    /// `rate-reached`, `rate-not-reached`, `server-behind` in the open one, `no-reply` in both.
    pub limit: Reason,
    /// How it went over its window; none where that is too short to say.
    pub went: Option<Went>,
    /// What of it says that its load cannot be cut into slices; none of a load in one piece. Its figures count until the planner
    /// launches it alone.
    pub unsliced: Option<UnslicedCause>,
    /// Whether nothing was served although something was asked, or would have been if the server had let anybody in.
    pub unserved: bool,
    /// Why its figures are not used; the code is an invariant, `rate-not-reached`, `interrupted`, or the stage at which the
    /// launch failed.
    pub void: Option<Reason>,
}

/// Why a launch is void whose load beside its own came to little: what was to be on the server was not. Of a closed one that waits
/// for long replies little is known; of what came due all must be answered but for what may fail and what is in flight.
fn came_to_little(asked: &Load, beside: Option<&Measurement>) -> Option<&'static str> {
    let Some(load) = beside else { return Some("nothing is recorded of the load beside it") };
    let books = &load.accounting;
    let awaited = books.scheduled.saturating_sub(in_flight_by_right(asked, load));
    let lacking = awaited.saturating_sub(books.ok) as f64;
    if books.ok > books.completed || books.completed > books.scheduled {
        Some("the books of the load beside it do not balance")
    } else if books.ok == 0 && books.completed > 0 {
        Some("the load beside it got wrong replies alone")
    } else if books.ok == 0 {
        Some("the load beside it got no whole reply in the window")
    } else if silence::stopped(load).is_some() {
        Some("the server stopped answering the load beside it")
    } else if lacking > ALLOWED_FAILURES * awaited as f64 {
        Some("more of the load beside it failed, hung or was never sent than may fail")
    } else if load.connections.never_served as f64 > ALLOWED_FAILURES * load.connections.opened as f64 {
        Some("connections of the load beside it got nothing")
    } else {
        None
    }
}

/// Requests that may be in flight at the end: of a closed load all that are, of an open one as many as come due while the slowest
/// reply is awaited, and what chance adds to that.
fn in_flight_by_right(asked: &Load, load: &Measurement) -> u64 {
    let Some(rate_per_s) = asked.rate_per_s() else { return load.accounting.in_flight_at_end };
    let mean = rate_per_s * load.slowest_reply_s.unwrap_or(0.0);
    load.accounting.in_flight_at_end.min((mean + 3.0 * mean.sqrt()).ceil() as u64 + 1)
}

impl TrialJudgement {
    /// Whether its figures may be used.
    pub fn is_valid(&self) -> bool {
        self.void.is_none()
    }

    fn without_figures(reason: Reason) -> Self {
        TrialJudgement {
            checks: Vec::new(),
            marks: Vec::new(),
            at_least: false,
            limit: reason.clone(),
            went: None,
            unsliced: None,
            unserved: false,
            void: Some(reason),
        }
    }
}

/// Judges one launch in its cell by the invariants and marks. `limits` is what a generator thread can do on this
/// machine, where it was calibrated.
pub fn check_trial(cell: &CellPlan, limits: Option<GeneratorLimits>, trial: &TrialRecord) -> TrialJudgement {
    #[cfg(test)]
    tests::JUDGED.with(|judged| judged.set(judged.get() + 1));
    match (&trial.failure, &trial.measurement) {
        (Some(failure), None) => TrialJudgement::without_figures(failed(failure)),
        (None, None) => {
            TrialJudgement::without_figures(Reason::said(TrialStage::Load, "the trial has no measurement".to_owned()))
        }
        (failure, Some(measured)) => {
            let mut judgement = judge(cell, &Asked::from(cell).calibrated(limits), (measured, trial));
            let alone = || cell.beside.as_ref().and_then(|asked| came_to_little(asked, trial.beside.as_ref()));
            let alone = || alone().map(|why| Reason::said(TrialStage::Load, why.to_owned()));
            judgement.void = failure.as_ref().map(failed).or(judgement.void).or_else(alone);
            judgement
        }
    }
}

fn judge(cell: &CellPlan, asked: &Asked<'_>, (measured, trial): (&Measurement, &TrialRecord)) -> TrialJudgement {
    let (observed, sliced) = (trial.observation.as_ref(), &trial.slices[..]);
    let placed = observed.filter(|_| !cell.target_cpus.is_empty());
    let checks = invariants::of_trial(asked, measured, (placed, sliced));
    let limit = limit::find(asked, measured, observed);
    let went = course::classify(measured, observed, sliced);
    let marks = [
        marks::generator(&limit),
        marks::lateness(measured),
        marks::standstill(measured, false),
        marks::silent(measured).filter(|_| slices::silent_from(sliced).is_none()),
        hung::mark(asked, measured),
        marks::reconnects(asked, measured),
        marks::backlog(measured),
        marks::unserved(asked, measured, slices::windows(sliced)),
        marks::thin(asked, measured),
        marks::at_ceiling(asked, measured),
        // What others took while it had no slice is not its own; which rounds they disturbed is found over all that rotate.
        observed.filter(|_| sliced.is_empty()).and_then(|seen| marks::noisy(seen, measured)),
        slices::spill(sliced),
        slices::not_drained(sliced),
        went.as_ref().and_then(|went| course::mark(went, measured)),
        growth::mark(measured, observed, sliced),
        marks::errors(measured),
    ];
    let unsliced = unsliced(asked, trial, measured);
    TrialJudgement {
        void: void(measured, &checks, &limit),
        unsliced,
        unserved: is_unserved(asked, measured),
        checks,
        marks: marks.into_iter().flatten().collect(),
        at_least: limit.verdict() == Verdict::AtLeast,
        limit: limit.reason(),
        went,
    }
}

fn void(measured: &Measurement, checks: &[InvariantCheck], limit: &Limit) -> Option<Reason> {
    if measured.interrupted {
        return Some(LimitCause::Interrupted { after_s: measured.window_s }.into());
    }
    let unmeasured = || (limit.verdict() == Verdict::Void).then(|| limit.clone().reason());
    broken(checks).or_else(unmeasured)
}

/// What of it says that its load cannot be cut into slices. Not requests that were left alone, where the generator stood still for much
/// of the window: their replies may have been there in time, unless they are far older than any.
fn unsliced(asked: &Asked<'_>, trial: &TrialRecord, measured: &Measurement) -> Option<UnslicedCause> {
    let cause = slices::unsliced(asked, measured, trial.observation.as_ref(), &trial.slices);
    let cause = cause.or_else(|| slices::unsettled(asked, measured, trial.observation.as_ref(), &trial.slices))?;
    let are_merely_left = match cause {
        UnslicedCause::SlowDrain { p99_us, waited_us, .. } => p99_us.is_none_or(|p99_us| p99_us <= waited_us),
        UnslicedCause::FellSilent { .. } => true,
        _ => false,
    };
    (!are_merely_left || hung::in_slices(measured) > 0 || limit::standstill(measured).is_none()).then_some(cause)
}

/// The first broken invariant, with the breaches of all.
fn broken(checks: &[InvariantCheck]) -> Option<Reason> {
    Reason::broken(checks.iter().filter_map(|check| check.breach.clone()).collect())
}

fn failed(failure: &TrialFailure) -> Reason {
    Reason::failed(failure.stage, failure.why.clone())
}

#[cfg(test)]
mod tests;
