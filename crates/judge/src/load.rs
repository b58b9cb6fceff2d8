use model::{GeneratorLimits, InvariantCheck, LimitCause, LimitCode, LoadSpec, Measurement, Reason, Validity, Verdict};

use crate::asked::Asked;
use crate::{course, failing, hung, invariants, limit, marks, silence, suspicion};

/// Judges a single load, of whose target nothing is known but its replies.
///
/// Void when an invariant of the instrument broke or an open rate was missed because of the generator; `AtLeast`
/// when the generator may have been a closed load's limit. A valid load's first reason says what the limit was; the
/// marks `lateness`, `standstill`, `hung`, `reconnects`, `backlog`, `unserved` and `slow-down`, and `server-silent` and `interrupted`, may
/// follow.
/// `limits` is what a generator thread can do on this machine, where it was calibrated.
/// `allowed` is the share of requests that may fail before the answer is bad.
pub fn judge_load(spec: &LoadSpec, limits: Option<GeneratorLimits>, allowed: f64, measured: &Measurement) -> Validity {
    let asked = Asked::from(spec).calibrated(limits);
    let limit = limit::find(&asked, measured, None);
    let broken = |check: InvariantCheck| Reason::broken(check.breach.into_iter().collect());
    let mut reasons: Vec<Reason> = invariants::of_instrument(&asked, measured).into_iter().filter_map(broken).collect();
    let mut verdict = Verdict::Void;
    let is_told = reasons.is_empty() && limit.cause.code() == LimitCode::GeneratorStalled.into();
    if reasons.is_empty() {
        verdict = limit.verdict();
        reasons.push(limit.reason());
    }
    let failing = failing::failing(&asked, [(measured, &[][..])], allowed);
    if measured.interrupted && measured.window_s == 0.0 {
        return Validity {
            verdict,
            reasons: vec![LimitCause::Interrupted { after_s: 0.0 }.into()],
            suspicions: Vec::new(),
            failing,
        };
    }
    // One that stopped is told so already.
    let is_served = failing.stopped_at_s.is_none() && failing.unserved == 0;
    reasons.extend(silence::silent(measured).filter(|_| is_served).map(|it| LimitCause::Silence(it).into()));
    let marks = [
        marks::lateness(measured),
        marks::standstill(measured, is_told),
        hung::mark(&asked, measured),
        marks::reconnects(&asked, measured),
        marks::backlog(measured),
        // A server that stopped, or never answered, is told so already.
        marks::unserved(&asked, measured, 1.0)
            .filter(|_| failing.stopped_at_s.is_none() && !limit::nothing_completed(measured)),
        course::got_slower(measured).filter(|_| is_served),
    ];
    reasons.extend(marks.into_iter().flatten().map(Reason::from));
    if measured.interrupted {
        reasons.push(LimitCause::Interrupted { after_s: measured.window_s }.into());
    }
    let suspicions = if verdict == Verdict::Void { Vec::new() } else { suspicion::of_load(spec, measured) };
    Validity { verdict, reasons, suspicions, failing }
}

#[cfg(test)]
mod tests;
