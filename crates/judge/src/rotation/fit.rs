//! Which launches the load goes round among, in how many slices, and why others are alone: what the plan alone says.

use std::collections::BTreeSet;

use model::{CellPlan, Extent, MOST_STEPS, Metric, NS_PER_S, Plan, Rotation, Whole};

use crate::resolve::resolve_claim;
use crate::thresholds::{LEAST_ROUNDS, SLICE_DRAIN_S, SLICE_REPLIES, SLICE_REQUESTS, SLICE_SPREAD};

/// How long the slices of launches that go round are as a mean, and how many each has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slicing {
    /// How long a slice is measured, in nanoseconds.
    pub(crate) slice_ns: u64,
    /// How long it is under load before that at least, in nanoseconds.
    pub(crate) lead_in_ns: u64,
    /// How often each launch has one.
    pub(crate) rounds: u32,
}

impl Slicing {
    /// Each slice is a step of its record, which has [`MOST_STEPS`] at most: of more, as few as that are made in the same time.
    fn in_steps(self) -> Self {
        let rounds = self.rounds.min(MOST_STEPS as u32);
        let window_ns = u128::from(self.slice_ns) * u128::from(self.rounds);
        Slicing { slice_ns: (window_ns / u128::from(rounds.max(1))) as u64, rounds, ..self }
    }
}

/// Cells that share their conditions, whose launches in a block can live together, with that of a twin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Set {
    pub(crate) cells: Vec<usize>,
    pub(crate) slicing: Slicing,
}

/// The cells of one set of conditions, with their slices or why they have none.
pub(crate) type Fitted = (Vec<usize>, Result<Slicing, Whole>);

/// The sets of a plan's cells by their conditions.
pub(crate) fn sets(fitted: &[Fitted]) -> Vec<Set> {
    let set = |(cells, fits): &Fitted| Some(Set { cells: cells.clone(), slicing: fits.ok()? });
    fitted.iter().filter_map(set).collect()
}

/// The cells by their conditions, each with its slices or why it has none; none at all where the plan does not rotate.
pub(crate) fn by_conditions(plan: &Plan) -> Vec<Fitted> {
    let Some(rotation) = &plan.rotation else { return Vec::new() };
    let claimed = if rotation.rounds.is_none() { untold(plan) } else { BTreeSet::new() };
    let fitted = |cells: Vec<usize>| {
        let fits = fits(plan, rotation, &cells, &claimed).map(Slicing::in_steps);
        (cells, fits)
    };
    plan.by_conditions().into_iter().map(fitted).collect()
}

/// The slices of these cells. A target that has its conditions to itself is held against nothing, and gains nothing by them.
fn fits(plan: &Plan, rotation: &Rotation, cells: &[usize], claimed: &BTreeSet<usize>) -> Result<Slicing, Whole> {
    let own: Vec<&CellPlan> = cells.iter().map(|cell| &plan.cells[*cell]).collect();
    let alone = if plan.ladder.is_some() {
        Some(Whole::Ladder)
    } else if own.len() < 2 {
        Some(Whole::OneTarget)
    } else {
        own.iter().find_map(|cell| in_one_piece(cell))
    };
    match (alone, rotation.rounds) {
        (Some(why), _) => Err(why),
        // As such plans were carried out, whose records are to be read and resumed.
        (None, Some(rounds)) => Ok(Slicing { slice_ns: rotation.slice_ns, lead_in_ns: rotation.lead_in_ns, rounds }),
        (None, None) if cells.iter().any(|cell| claimed.contains(cell)) => Err(Whole::Claimed),
        (None, None) => by_windows(rotation, &own),
    }
}

/// Why the load of a cell is in one piece: its connections do not last or do not lead straight to the server, it does not end with
/// a window whose length is known, or something else of the launch (a profile, who serves, what its rate is a share of) is over
/// one window.
fn in_one_piece(cell: &CellPlan) -> Option<Whole> {
    let load = &cell.load;
    [
        (!load.keep_alive, Whole::NewConnections),
        (!matches!(load.extent, Extent::Window(_)), Whole::Requests),
        (load.network_delay_ns > 0, Whole::NetworkDelay),
        (cell.profile, Whole::Profile),
        (cell.beside.is_some(), Whole::Beside),
        (cell.backend.is_some(), Whole::Backend),
        (cell.takes_census(), Whole::Census),
        (cell.awaits_rate(), Whole::RateUnknown),
    ]
    .into_iter()
    .find_map(|(is_so, why)| is_so.then_some(why))
}

/// The longest window in slices that have enough requests, where what the plan says lets them.
fn by_windows(rotation: &Rotation, cells: &[&CellPlan]) -> Result<Slicing, Whole> {
    let longest_ns = cells.iter().map(|cell| cell.load.window_ns()).max().unwrap_or(0);
    let most_ns = longest_ns / u64::from(LEAST_ROUNDS);
    if cells.iter().any(|cell| is_bunched_or_outlasts(cell)) {
        return Err(Whole::HandlerDelay);
    }
    if most_ns < rotation.slice_ns {
        return Err(Whole::ShortWindow);
    }
    let needed_ns = cells.iter().filter_map(|cell| needed_ns(cell)).fold(0.0, f64::max);
    let slice_ns = rotation.slice_ns.max(needed_ns as u64).min(most_ns);
    let is_enough = |cell: &&CellPlan| has_enough(cell, slice_ns);
    if !cells.iter().all(is_enough) {
        return Err(Whole::FewRequests);
    }
    let rounds = longest_ns.div_ceil(slice_ns).next_multiple_of(LEAST_ROUNDS.into());
    let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
    Ok(Slicing { slice_ns, lead_in_ns: rotation.lead_in_ns, rounds })
}

/// Whether a handler delay makes slices another load than a window: a closed one comes to send in bunches, whose replies cost the server
/// less, and each slice would spread its starts anew; of any one, replies that take so long outlast the end of a slice.
fn is_bunched_or_outlasts(cell: &CellPlan) -> bool {
    let is_closed = !cell.load.model.has_schedule();
    let waited_ns = (SLICE_DRAIN_S * NS_PER_S as f64) as u64;
    cell.handler_delay_ns >= waited_ns || (is_closed && cell.handler_delay_ns > 0)
}

/// How long a slice must be for as many requests as one is to have and one for each connection, in nanoseconds; none where the plan
/// does not bound them.
fn needed_ns(cell: &CellPlan) -> Option<f64> {
    let per_s = cell.load.rate_per_s()?;
    Some(f64::from(cell.load.connections).max(SLICE_REQUESTS) / per_s * NS_PER_S as f64)
}

/// Whether the shortest slices of such a mean length have enough requests, and each connection can have had one before it.
fn has_enough(cell: &CellPlan, slice_ns: u64) -> bool {
    let Some(per_s) = cell.load.rate_per_s() else { return true };
    let requests = per_s * slice_ns as f64 / NS_PER_S as f64;
    requests * (1.0 - SLICE_SPREAD) >= SLICE_REPLIES as f64 && requests >= f64::from(cell.load.connections)
}

/// The cells of which a claim, or a comparison, asks what slices do not tell: launches alone do.
fn untold(plan: &Plan) -> BTreeSet<usize> {
    let is_untold = |metric: Metric| matches!(metric, Metric::P999 | Metric::GcMajor);
    let compared = plan
        .comparison
        .iter()
        .flat_map(|asked| asked.primary.into_iter().chain(asked.gates.iter().map(|gate| gate.metric)));
    if compared.into_iter().any(is_untold) {
        return (0..plan.cells.len()).collect();
    }
    let of = |claim: &model::Claim| -> Vec<usize> {
        let Ok(resolved) = resolve_claim(plan, claim) else { return Vec::new() };
        let calls = resolved.expectation.expression.calls();
        let untold = calls.into_iter().filter(|call| is_untold(call.metric));
        untold.filter_map(|call| resolved.cells.get(&call.offset).copied()).collect()
    };
    plan.claims.iter().filter(|claim| claim.not_testable.is_none()).flat_map(of).collect()
}
