//! The arithmetic of our own invariants over somebody else's figures: which of them cannot be true together.
//!
//! Figures are intervals, all values that rounding leaves possible. A breach is declared only when no values within
//! them satisfy a statement, with `AUDIT_SLACK` on top. Formulas and sources: docs/AUDIT.md.

mod distribution;
mod load;
mod remarks;
#[cfg(test)]
mod tests;

use model::{
    Allowance, Audit, AuditCheck, AuditFigure, AuditModel, AuditNote, AuditOutcome, AuditRemark, AuditResult,
    AuditSides, NotMade, Printed, Published, RowAudit,
};

use crate::thresholds::{ALLOWED_FAILURES, AUDIT_SLACK, TIMER_EARLY_S};

/// Whether rounding leaves a figure open by as much as it says, so that whatever holds of it says nothing.
fn is_coarse(value: Printed) -> bool {
    value.high - value.low >= value.printed
}

/// A check that was made, or why it could not be.
type Attempt = Result<AuditResult, NotMade>;

fn either(is_broken: bool, sides: AuditSides) -> Attempt {
    Ok(if is_broken { AuditResult::Breach(sides) } else { AuditResult::Holds(sides) })
}

/// Tries every check on every published result.
pub fn audit(published: Vec<Published>) -> Audit {
    let remarks = remarks::of_all(&published);
    Audit { rows: published.into_iter().map(audit_row).collect(), remarks }
}

fn audit_row(published: Published) -> RowAudit {
    let checks: Vec<AuditNote> =
        AuditCheck::ALL.iter().map(|check| AuditNote { check: *check, result: attempt(*check, &published) }).collect();
    let mut remarks = remarks::of_row(&published);
    let cause = cause(&checks, &mut remarks);
    let failing = remarks::failed_share(&published).is_some_and(|share| share > ALLOWED_FAILURES);
    RowAudit { published, checks, cause, remarks, failing }
}

/// Takes the remark that explains every contradiction from the others, if one does. Samples that a tool added explain what
/// is wrong where the rate is held against the latencies, and nothing else.
fn cause(checks: &[AuditNote], remarks: &mut Vec<AuditRemark>) -> Option<AuditRemark> {
    const TIED: [AuditCheck; 3] = [AuditCheck::InFlight, AuditCheck::Unserved, AuditCheck::Markov];
    let mut broken = checks.iter().filter(|note| note.outcome() == AuditOutcome::Breach).peekable();
    broken.peek()?;
    let added = remarks.iter().position(|remark| matches!(remark, AuditRemark::AddedSamples { .. }))?;
    broken.all(|note| TIED.contains(&note.check)).then(|| remarks.remove(added))
}

fn attempt(check: AuditCheck, row: &Published) -> AuditResult {
    let attempt = match check {
        AuditCheck::InFlight => load::in_flight(row),
        AuditCheck::Unserved => load::unserved(row),
        AuditCheck::Markov => load::markov(row),
        AuditCheck::Ceiling => load::ceiling(row),
        AuditCheck::Workers => load::workers(row),
        AuditCheck::Delay => distribution::delay(row),
        AuditCheck::Order => distribution::order(&row.latency_us),
        AuditCheck::Mean => distribution::mean(row),
        AuditCheck::Spread => distribution::spread(row),
        AuditCheck::Rate => load::rate(row),
        AuditCheck::Accounting => load::accounting(row),
        AuditCheck::Bytes => load::bytes(row),
    };
    attempt.unwrap_or_else(AuditResult::NotMade)
}

/// Those of the figures that are not there; where all are, one of them is 0 or may be.
fn missing(figures: &[(AuditFigure, bool)]) -> NotMade {
    let missing: Vec<AuditFigure> = figures.iter().filter(|(_, there)| !there).map(|(figure, _)| *figure).collect();
    if missing.is_empty() { NotMade::Zero } else { NotMade::Missing { missing } }
}

/// A handler's delay that is longer than a timer may be early; a shorter one bounds nothing.
fn long_enough(delay_s: f64) -> Result<f64, NotMade> {
    if delay_s > TIMER_EARLY_S { Ok(delay_s) } else { Err(NotMade::ShortDelay { early_s: TIMER_EARLY_S }) }
}

/// X·R̄: by Little's law the mean number of requests that were in the clock at once.
fn in_clock(rate_per_s: Printed, mean_us: Printed) -> Printed {
    rate_per_s.times(mean_us).scaled(1e-6)
}

/// What crosses the window's edges weighs at most this share: the longest request (where only the mean is known, a
/// mean one) ÷ the window; nothing where neither is known.
fn edge_share(row: &Published) -> f64 {
    let latency = &row.latency_us;
    let quantile = latency.quantiles.last().map(|(_, value)| *value);
    let (Some(longest), Some(window)) = (latency.max.or(quantile).or(latency.mean), row.duration_s) else { return 0.0 };
    if window.low > 0.0 { longest.high / 1e6 / window.low } else { 0.0 }
}

/// What is allowed beyond a bound that requests at the window's edges may cross.
fn allowance(row: &Published) -> Allowance {
    Allowance { slack: AUDIT_SLACK, edges: edge_share(row) }
}

/// A statement about closed loads says nothing of an open one.
fn closed(row: &Published) -> Result<(), NotMade> {
    if row.model == AuditModel::Open { Err(NotMade::OpenLoad) } else { Ok(()) }
}
