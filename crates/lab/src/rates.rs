//! Rates that are a share of capacity: what they come to is measured before a run begins.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Cell, Draft, Event, Plan, RelativeRate, TrialSpec};

use crate::error::LabError;
use crate::trial::{Told, TrialOutput, TrialTools, run_launch};

/// Why a rate could not be settled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// It was stopped.
    #[error("interrupted while rates were settled; nothing was recorded")]
    Interrupted,
    /// What bourdon itself needs for a launch is missing.
    #[error("{0}; nothing was recorded")]
    Prevented(String),
    /// No target served a closed load.
    #[error("no rate can be a share of what nobody serves: {0}")]
    NothingServed(String),
}

/// Says what a rate comes to that is this share of the rates that targets served in closed loads, by target; none when
/// no rate follows.
pub type RateRule<'a> = &'a dyn Fn(f64, &BTreeMap<String, f64>) -> Option<f64>;

/// Launches each target whose rate is a share of capacity once under a closed load, and gives back the plan in which all
/// cells that differ in the target alone have the rate that `rule` makes of their share and of what was served. It keeps
/// both. `output` takes what the targets print.
///
/// # Errors
/// When it is stopped, or no rate follows from what the targets under some conditions served.
pub fn settle_rates(
    draft: Draft,
    tools: TrialTools<'_>,
    output: &Path,
    rule: RateRule<'_>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Draft, RateError> {
    let mut groups: BTreeMap<Cell, Vec<usize>> = BTreeMap::new();
    for (index, cell) in draft.cells.iter().enumerate().filter(|(_, cell)| cell.awaits_rate()) {
        groups.entry(cell.levels.conditions()).or_default().push(index);
    }
    let closed_loads = closed_loads(&draft)?;
    let mut settled = draft;
    for (conditions, cells) in groups {
        let mut closed_per_s = BTreeMap::new();
        let mut failures = Vec::new();
        for cell in &cells {
            let target = closed_loads.cells[*cell].levels.target().to_owned();
            on_event(&Event::SettlingRate { target: target.clone() });
            let mut tell = |told: Told<'_>| {
                if let Told::Waiting(target, seen) = told {
                    on_event(&Event::Waiting { target: target.to_owned(), seen: seen.to_owned() });
                }
            };
            match served(&closed_loads, *cell, tools, output, stop, &mut tell) {
                _ if stop.load(Ordering::Relaxed) => return Err(RateError::Interrupted),
                Err(error) => return Err(RateError::Prevented(error.to_string())),
                Ok(Ok(served)) => drop(closed_per_s.insert(target, served)),
                Ok(Err(why)) => failures.push(format!("{target}: {why}")),
            }
        }
        let share = settled.cells[cells[0]].rate_share.unwrap_or(1.0);
        let Some(rate_per_s) = rule(share, &closed_per_s) else {
            return Err(RateError::NothingServed(failures.join("; ")));
        };
        settled = settled.settled(RelativeRate { conditions, rate_per_s, closed_per_s });
    }
    Ok(settled)
}

/// The plan by which capacity is measured: each cell alone, the ones in question closed as they are in the draft.
fn closed_loads(draft: &Draft) -> Result<Plan, RateError> {
    let mut alone = Draft { ladder: None, ..draft.clone() };
    for cell in &mut alone.cells {
        (cell.rate_share, cell.profile) = (None, false);
    }
    alone.resolve().map_err(|fault| RateError::Prevented(fault.to_string()))
}

/// Requests a second of one launch of a cell, or why the target served none.
fn served(
    plan: &Plan,
    cell: usize,
    tools: TrialTools<'_>,
    output: &Path,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<Result<f64, String>, LabError> {
    let spec = TrialSpec { block: 0, position: 1, cell, twin: false };
    let made = run_launch(plan, &[spec], tools, output, stop, tell)?.unwrap_or_default();
    let Some(TrialOutput { record, .. }) = made.into_iter().next() else { return Ok(Err("it was stopped".to_owned())) };
    Ok(match (record.failure, record.measurement) {
        (Some(failure), _) => Err(failure.text),
        (None, Some(measured)) if measured.requests_per_s() > 0.0 => Ok(measured.requests_per_s()),
        _ => Err("it served nothing".to_owned()),
    })
}
