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
    Audit, AuditCheck, AuditFigure, AuditModel, AuditNote, AuditOutcome, Printed, Published, Reason, Remark, RowAudit,
};

use crate::figures::micros;
use crate::thresholds::ALLOWED_FAILURES;

/// A statement that could be tried: whether it holds, with the two sides in figures.
struct Tried {
    holds: bool,
    text: String,
}

impl Tried {
    fn broken(text: String) -> Self {
        Tried { holds: false, text }
    }

    fn holding(text: String) -> Self {
        Tried { holds: true, text }
    }

    fn either(is_broken: bool, broken: String, holding: String) -> Self {
        if is_broken { Tried::broken(broken) } else { Tried::holding(holding) }
    }
}

/// Why a delay of a millisecond or less bounds nothing.
const TOO_SHORT_A_DELAY: &str = "a delay of at most 1 ms cannot be distinguished from a timer that fires early";

/// Whether rounding leaves a figure open by as much as it says, so that whatever holds of it says nothing.
fn is_coarse(value: Printed) -> bool {
    value.high - value.low >= value.printed
}

/// Why nothing follows from a mean whose rounding leaves room for anything.
fn too_coarse(mean: Option<Printed>) -> String {
    let mean = mean.unwrap_or(Printed::exact(0.0));
    format!("the mean is rounded too coarsely to say: anything from {} to {}", micros(mean.low), micros(mean.high))
}

/// A check, or why it could not be made.
type Attempt = Result<Tried, Untried>;

/// Why a check could not be made, and what it lacks, where that is why.
struct Untried {
    text: String,
    missing: Vec<AuditFigure>,
}

impl From<String> for Untried {
    fn from(text: String) -> Self {
        Untried { text, missing: Vec::new() }
    }
}

/// Tries every check on every published result.
pub fn audit(published: Vec<Published>) -> Audit {
    let remarks = remarks::of_all(&published);
    Audit { rows: published.into_iter().map(audit_row).collect(), remarks }
}

fn audit_row(published: Published) -> RowAudit {
    let checks: Vec<AuditNote> =
        AuditCheck::ALL.iter().map(|check| note(*check, attempt(*check, &published))).collect();
    let mut remarks = remarks::of_row(&published);
    let cause = cause(&checks, &mut remarks);
    let failing = remarks::failed_share(&published).is_some_and(|share| share > ALLOWED_FAILURES);
    RowAudit { published, checks, cause, remarks, failing }
}

/// Takes the remark that explains every contradiction from the others, if one does. Samples that a tool added explain what
/// is wrong where the rate is held against the latencies, and nothing else.
fn cause(checks: &[AuditNote], remarks: &mut Vec<Reason>) -> Option<Reason> {
    const TIED: [AuditCheck; 3] = [AuditCheck::InFlight, AuditCheck::Unserved, AuditCheck::Markov];
    let mut broken = checks.iter().filter(|note| note.outcome == AuditOutcome::Breach).peekable();
    broken.peek()?;
    let added = remarks.iter().position(|remark| remark.code == Remark::AddedSamples.into())?;
    broken.all(|note| TIED.contains(&note.check)).then(|| remarks.remove(added))
}

fn attempt(check: AuditCheck, row: &Published) -> Attempt {
    match check {
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
    }
}

fn note(check: AuditCheck, attempt: Attempt) -> AuditNote {
    let (outcome, text, missing) = match attempt {
        Ok(Tried { holds: true, text }) => (AuditOutcome::Holds, text, Vec::new()),
        Ok(Tried { holds: false, text }) => (AuditOutcome::Breach, text, Vec::new()),
        Err(Untried { text, missing }) => (AuditOutcome::NotMade, text, missing),
    };
    AuditNote { check, outcome, text, missing }
}

/// Those of the figures that are not there.
fn missing(figures: &[(AuditFigure, bool)]) -> Untried {
    let missing: Vec<AuditFigure> = figures.iter().filter(|(_, there)| !there).map(|(figure, _)| *figure).collect();
    if missing.is_empty() {
        // All are there: one of them is 0 or may be.
        return "a figure is 0 within its rounding".to_owned().into();
    }
    let names: Vec<&str> = missing.iter().map(|figure| figure.id()).collect();
    Untried { text: format!("not given: {}", names.join(", ")), missing }
}

/// X·R̄: by Little's law the mean number of requests that were in the clock at once.
fn in_the_clock(row: &Published) -> Option<Printed> {
    Some(row.rate_per_s?.times(row.latency_us.mean?).scaled(1e-6))
}

/// What crosses the window's edges weighs at most this share: the longest request (where only the mean is known, a
/// mean one) ÷ the window; nothing where neither is known.
fn edge_share(row: &Published) -> f64 {
    let latency = &row.latency_us;
    let quantile = latency.quantiles.last().map(|(_, value)| *value);
    let (Some(longest), Some(window)) = (latency.max.or(quantile).or(latency.mean), row.duration_s) else { return 0.0 };
    if window.low > 0.0 { longest.high / 1e6 / window.low } else { 0.0 }
}

/// Why a statement about closed loads says nothing of this one.
fn not_closed(row: &Published) -> Option<String> {
    (row.model == AuditModel::Open).then(|| "does not apply to an open load".to_owned())
}
