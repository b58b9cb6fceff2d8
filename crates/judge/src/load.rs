use model::{GeneratorLimits, LimitCode, LoadSpec, Measurement, Reason, Validity, Verdict};

use crate::asked::Asked;
use crate::{course, failing, hung, invariants, limit, marks, silence};

/// Judges a single load, of whose target nothing is known but its replies.
///
/// Void when an invariant of the instrument broke or an open rate was missed because of the generator; `AtLeast`
/// when the generator may have been a closed load's limit. A valid load's first reason says what the limit was; the
/// marks `lateness`, `standstill`, `hung`, `reconnects`, `unserved` and `slow-down`, and `server-silent` and `interrupted`, may
/// follow.
/// `limits` is what a generator thread can do on this machine, where it was calibrated.
/// `allowed` is the share of requests that may fail before the answer is bad.
pub fn judge_load(spec: &LoadSpec, limits: Option<GeneratorLimits>, allowed: f64, measured: &Measurement) -> Validity {
    let asked = Asked::from(spec).calibrated(limits);
    let limit = limit::find(&asked, measured, None);
    let breaches = invariants::of_instrument(&asked, measured).into_iter().filter(|check| !check.holds);
    let mut reasons: Vec<Reason> = breaches.map(|check| Reason::new(check.invariant, check.text)).collect();
    let mut verdict = Verdict::Void;
    let is_told = reasons.is_empty() && limit.reason.code == LimitCode::GeneratorStalled.into();
    if reasons.is_empty() {
        verdict = limit.verdict;
        reasons.push(limit.reason);
    }
    let failing = failing::failing(&asked, [measured], allowed);
    if measured.interrupted && measured.window_s == 0.0 {
        let text = "the load was stopped in its warm-up: nothing was measured";
        return Validity { verdict, reasons: vec![Reason::new(LimitCode::Interrupted, text)], failing };
    }
    // One that stopped is told so already.
    let is_served = failing.stopped_at_s.is_none() && failing.unserved == 0;
    reasons.extend(silence::silent(measured).filter(|_| is_served));
    let marks = [
        marks::lateness(measured),
        marks::standstill(measured, is_told),
        hung::mark(&asked, measured),
        marks::reconnects(&asked, measured),
        // A server that stopped, or never answered, is told so already.
        marks::unserved(&asked, measured)
            .filter(|_| failing.stopped_at_s.is_none() && !limit::nothing_completed(measured)),
        course::got_slower(measured).filter(|_| is_served),
    ];
    reasons.extend(marks.into_iter().flatten().map(|note| Reason {
        metrics: note.metrics,
        cure: note.cure,
        ..Reason::new(note.mark, note.text)
    }));
    if measured.interrupted {
        reasons.push(Reason::new(
            LimitCode::Interrupted,
            "the load was stopped before its end; the figures are of what ran",
        ));
    }
    Validity { verdict, reasons, failing }
}

#[cfg(test)]
mod tests;
