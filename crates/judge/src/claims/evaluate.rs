use std::collections::BTreeSet;

use model::{Call, Claim, ClaimAnalysis, ClaimVerdict, Expression, Measured, Metric};

use super::resolve::{ClaimError, ResolvedClaim, resolve_claim};
use super::verdict::{needs_blocks, thresholds, verdict};
use crate::cells;
use crate::figures::percent;
use crate::records::Records;
use crate::statistics::{
    Interval, correlation_limit, lag_one_autocorrelation, logarithms, mean, t_interval, t_interval_at, trend,
};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, SIGNIFICANCE};

/// Evaluates a claim over the blocks of a run on a machine with so many cores (0: not known). A claim that cannot be
/// tried says why in its notes.
pub(crate) fn evaluate(records: &Records, claim: &Claim, cores: u32) -> ClaimAnalysis {
    if let Some(reason) = &claim.not_testable {
        return not_testable(claim, reason.clone());
    }
    match resolve_claim(records.plan, claim) {
        Ok(resolved) => Trial { records, claim, resolved, cores }.analysis(),
        Err(error @ ClaimError::AbsentTarget { .. }) => not_testable(claim, error.to_string()),
        Err(error) => not_testable(claim, format!("the claim does not fit the plan: {error}")),
    }
}

fn not_testable(claim: &Claim, reason: String) -> ClaimAnalysis {
    ClaimAnalysis {
        name: claim.name.clone(),
        says: claim.says.clone(),
        expect: claim.expect.clone(),
        published: claim.published_value,
        measured: Measured { estimate: None, low: None, high: None, unit: String::new() },
        blocks: 0,
        verdict: ClaimVerdict::NotTestable,
        not_seen_on_cores: None,
        notes: vec![reason],
        needs_blocks: None,
    }
}

/// A claim on trial.
struct Trial<'a> {
    records: &'a Records<'a>,
    claim: &'a Claim,
    resolved: ResolvedClaim,
    cores: u32,
}

/// The block values on the scale on which they vary evenly.
struct Scaled {
    values: Vec<f64>,
    log: bool,
}

impl Scaled {
    fn new(values: &[f64], ratio: bool) -> Self {
        match logarithms(values).filter(|_| ratio) {
            Some(values) => Scaled { values, log: true },
            None => Scaled { values: values.to_vec(), log: false },
        }
    }

    fn onto(&self, value: f64) -> f64 {
        if self.log { value.max(0.0).ln() } else { value }
    }

    fn back(&self, value: f64) -> f64 {
        if self.log { value.exp() } else { value }
    }
}

impl Trial<'_> {
    fn analysis(&self) -> ClaimAnalysis {
        let values = self.values();
        let expectation = &self.resolved.expectation;
        let scaled = Scaled::new(&values, expectation.expression.is_ratio());
        let interval = t_interval(&scaled.values);
        let measured = interval.map(|i| i.map(|value| scaled.back(value)));
        let strict = t_interval_at(&scaled.values, 1.0 - self.records.significance());
        let found = match strict.map(|i| i.map(|value| scaled.back(value))) {
            // A throughput that is only a lower bound settles nothing.
            Some(interval) if values.len() >= BLOCKS_FOR_A_VERDICT && self.generator_notes().is_empty() => {
                verdict(&interval, expectation.bound)
            }
            _ => ClaimVerdict::Inconclusive,
        };
        ClaimAnalysis {
            measured: Measured {
                estimate: mean(&scaled.values).map(|value| scaled.back(value)),
                low: measured.map(|i| i.low),
                high: measured.map(|i| i.high),
                unit: unit(&expectation.expression),
            },
            blocks: values.len() as u32,
            verdict: found,
            not_seen_on_cores: self.too_few_cores(found).map(|_| self.cores),
            notes: self.notes(&values, &scaled, found),
            needs_blocks: interval
                .filter(|_| found == ClaimVerdict::Inconclusive)
                .and_then(|i| self.needs(&scaled, &i)),
            ..not_testable(self.claim, String::new())
        }
    }

    /// The expression's value in each block that has one.
    fn values(&self) -> Vec<f64> {
        let blocks = self.records.blocks();
        blocks.into_iter().filter_map(|block| self.value(block)).collect()
    }

    fn value(&self, block: u32) -> Option<f64> {
        let look_up = |call: &Call| {
            let value = self.records.value(*self.resolved.cells.get(&call.offset)?, block, call.metric)?;
            // Nothing follows from a rate of zero: the server answered nothing right.
            (call.metric != Metric::Throughput || value > 0.0).then_some(value)
        };
        self.resolved.expectation.expression.evaluate(&look_up)
    }

    fn needs(&self, scaled: &Scaled, interval: &Interval) -> Option<u32> {
        let at: Vec<f64> = thresholds(self.resolved.expectation.bound).into_iter().map(|t| scaled.onto(t)).collect();
        needs_blocks(scaled.values.len(), interval, &at)
    }

    fn notes(&self, values: &[f64], scaled: &Scaled, found: ClaimVerdict) -> Vec<String> {
        let mut notes = Vec::new();
        let (used, all) = (values.len(), self.records.blocks().len());
        if used < BLOCKS_FOR_A_VERDICT {
            notes.push(format!("preliminary: {used} {}, six are needed", if used == 1 { "block" } else { "blocks" }));
        }
        if used < all {
            let why = "a launch is void or missing, or a figure could not be estimated";
            notes.push(format!("{} of {all} blocks are not used: {why}", all - used));
        }
        notes.extend(self.generator_notes());
        notes.extend(self.lateness_note());
        notes.extend(self.cold_note());
        notes.extend(self.cores_note(found));
        notes.extend(self.reconstruction_notes(found));
        notes.extend(caution(scaled));
        notes
    }

    /// One note a cell whose throughput is used and may be the generator's.
    fn generator_notes(&self) -> Vec<String> {
        let cells = self.cells_used_for(|metric| metric == Metric::Throughput).into_iter();
        let limited = cells.filter(|cell| self.records.at_least(*cell));
        let words =
            |place| format!("the generator may have been the limit for {place}: its throughput is at least this");
        limited.map(|cell| words(self.place(cell))).collect()
    }

    /// Names the targets whose latency is used and holds much of the generator's lateness.
    fn lateness_note(&self) -> Option<String> {
        let calls = self.resolved.expectation.expression.calls().into_iter();
        let late = calls.filter(|call| {
            let cell = self.resolved.cells.get(&call.offset);
            call.metric.is_latency() && cell.is_some_and(|cell| self.records.generators_doing(*cell, call.metric))
        });
        let names: BTreeSet<&str> = late.map(|call| call.target.as_str()).collect();
        let names = (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(", "))?;
        Some(format!("the latency of {names} is the generator's as much as the server's"))
    }

    /// Names the targets whose figures under load are those of a server that was still getting faster.
    fn cold_note(&self) -> Option<String> {
        let cold = |cell| cells::cold(self.records, cell).is_some();
        let names = self.targets_used_for(|metric| metric != Metric::TimeToReady, cold)?;
        Some(format!(
            "cold: still getting faster when the window ended, so a longer warm-up gives other figures: {names}"
        ))
    }

    /// The targets of which the claim uses such a metric in such a cell; none where there are none.
    fn targets_used_for(&self, is_meant: impl Fn(Metric) -> bool, is_such: impl Fn(usize) -> bool) -> Option<String> {
        let marked = self.cells_used_for(is_meant).into_iter().filter(|cell| is_such(*cell));
        let targets: BTreeSet<&str> = marked.map(|cell| self.records.plan.cells[cell].levels.target()).collect();
        (!targets.is_empty()).then(|| targets.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// The cells of which the claim uses such a metric.
    fn cells_used_for(&self, is_meant: impl Fn(Metric) -> bool) -> BTreeSet<usize> {
        let calls = self.resolved.expectation.expression.calls().into_iter();
        calls
            .filter(|call| is_meant(call.metric))
            .filter_map(|call| self.resolved.cells.get(&call.offset).copied())
            .collect()
    }

    /// `go-gin (connections = 100)`.
    fn place(&self, cell: usize) -> String {
        let levels = &self.records.plan.cells[cell].levels;
        match levels.conditions() {
            conditions if conditions.0.is_empty() => levels.target().to_owned(),
            conditions => format!("{} ({conditions})", levels.target()),
        }
    }

    /// How many cores a contradicted claim is about, where the machine has fewer: what does not show on few may show on
    /// many.
    fn too_few_cores(&self, found: ClaimVerdict) -> Option<u32> {
        let known_to_be_fewer = |about: &u32| self.cores > 0 && self.cores < *about;
        self.claim.cores.filter(known_to_be_fewer).filter(|_| found == ClaimVerdict::Contradicted)
    }

    fn cores_note(&self, found: ClaimVerdict) -> Option<String> {
        let about = self.too_few_cores(found)?;
        Some(format!("the claim is about {about} cores; the machine of this run has {}", self.cores))
    }

    fn reconstruction_notes(&self, found: ClaimVerdict) -> Vec<String> {
        let calls = self.resolved.expectation.expression.calls();
        let names: BTreeSet<&str> = calls.into_iter().map(|call| call.target.as_str()).collect();
        let is_model =
            |name: &&str| self.records.plan.target(name).is_some_and(|target| target.reconstruction.is_some());
        let words = |name: &str| match found {
            ClaimVerdict::Supported => format!("shown for the reconstruction {name}, not for the original code"),
            ClaimVerdict::Contradicted if self.too_few_cores(found).is_none() => {
                format!("contradicted by the reconstruction {name}, not by the original code")
            }
            _ => format!("{name} is a reconstruction, not the original code"),
        };
        names.into_iter().filter(is_model).map(words).collect()
    }
}

/// Says when the blocks drift or resemble their neighbours: the t interval is then too narrow.
fn caution(scaled: &Scaled) -> Option<String> {
    let (values, n) = (&scaled.values, scaled.values.len());
    if n < BLOCKS_FOR_A_VERDICT {
        return None;
    }
    let narrow = "the interval may be too narrow";
    if let Some(found) = trend(values).filter(|trend| trend.p_value < SIGNIFICANCE) {
        let change = found.slope * (n - 1) as f64;
        let change = if scaled.log { percent(change.exp_m1()) } else { format!("{change:.3}") };
        return Some(format!("the value drifts over the session, by {change} from first to last block: {narrow}"));
    }
    let correlation = lag_one_autocorrelation(values).filter(|r| *r > correlation_limit(n))?;
    Some(format!("neighbouring blocks resemble each other (lag-1 correlation {correlation:.2}): {narrow}"))
}

/// Unit of an expression: `ratio` for a quotient of like units, nothing for what has no common unit. A number is in the
/// unit of what it is added to; what it multiplies or divides has none that is known, for it may be seconds or
/// connections itself.
fn unit(expression: &Expression) -> String {
    match expression {
        Expression::Number(_) => String::new(),
        Expression::Metric(call) => call.metric.unit().to_owned(),
        Expression::Binary('+' | '-', number, other) | Expression::Binary('+' | '-', other, number)
            if matches!(**number, Expression::Number(_)) =>
        {
            unit(other)
        }
        Expression::Binary(operator, left, right) => {
            let (left, right) = (unit(left), unit(right));
            match operator {
                '/' if left == right && !left.is_empty() => "ratio".to_owned(),
                '+' | '-' if left == right => left,
                '*' | '/' if right == "ratio" => left,
                '*' if left == "ratio" => right,
                _ => String::new(),
            }
        }
    }
}
