use fastrand::Rng;
use model::{NS_PER_S, Plan, Together, TrialSpec, Turn, seed_of};

use super::{Slicing, cells, warm_up_ns};
use crate::thresholds::SLICE_SPREAD;

/// These launches and the turns among them, as plan and seed have it: first each one's warm-up, whose last part is a short turn once all had
/// the rest, for all but the last have idled since, then in each round every launch once. What they leave open is drawn from the seed alone.
pub(crate) fn together(plan: &Plan, slicing: Slicing, trials: Vec<TrialSpec>, seed: u64) -> Together {
    let mut rng = Rng::with_seed(seed);
    let Slicing { slice_ns, rounds, .. } = slicing;
    let mut turns: Vec<Turn> = warm_up(plan, slice_ns, &trials, seed);
    let lead_in_ns = cells(&trials).map(|cell| lead_in_ns(plan, slicing, cell)).max().unwrap_or(0);
    for (round, order) in (1..).zip(orders(trials.len(), rounds, &mut rng)) {
        // One length and one seed for all of a round: its launches are asked for the same.
        let window_ns = length_ns(slice_ns, &mut rng);
        let seed = seed_of(seed, round.into());
        turns.extend(order.into_iter().map(|launch| Turn { launch, round, lead_in_ns, window_ns, seed }));
    }
    Together { trials, turns }
}

/// The turns that count nowhere; none where nothing is to be warmed up. While the others were warmed up a server has lost its heat,
/// or has ended connections that idled for so long, which says nothing of what it does between two slices. Both turns together last as long as
/// the warm-up, unless the rest would be shorter than the short turn.
fn warm_up(plan: &Plan, slice_ns: u64, trials: &[TrialSpec], seed: u64) -> Vec<Turn> {
    let turn = |(launch, window_ns)| Turn { launch, round: 0, lead_in_ns: 0, window_ns, seed: seed_of(seed, 0) };
    let lengths_ns: Vec<u64> = cells(trials).map(|cell| warm_up_ns(plan, cell)).collect();
    let again_ns = if lengths_ns.iter().any(|ns| *ns > 0) { slice_ns } else { 0 };
    let first = |whole_ns: &u64| if *whole_ns < 2 * again_ns { *whole_ns } else { *whole_ns - again_ns };
    let again = lengths_ns.iter().map(|_| again_ns);
    let turns = (0..).zip(lengths_ns.iter().map(first)).chain((0..).zip(again)).map(turn);
    turns.filter(|turn| turn.window_ns > 0).collect()
}

/// How long a slice is under load before it is measured at least: as the plan has it, and long enough for each connection to have
/// had its first reply and for the starts to spread over a delay once more. A closed load of a server that shows to be slower makes
/// it longer.
fn lead_in_ns(plan: &Plan, slicing: Slicing, cell: usize) -> u64 {
    let (cell, load) = (&plan.cells[cell], &plan.cells[cell].load);
    let one_each_ns =
        load.rate_per_s().map_or(0, |rate_per_s| (f64::from(load.connections) / rate_per_s * NS_PER_S as f64) as u64);
    slicing.lead_in_ns.max(cell.handler_delay_ns.saturating_mul(2)).max(one_each_ns)
}

/// The length of a round's slices, varied so that no period and no quota can lock on to it.
fn length_ns(slice_ns: u64, rng: &mut Rng) -> u64 {
    let factor = 1.0 + SLICE_SPREAD * (2.0 * rng.f64() - 1.0);
    ((slice_ns as f64 * factor) as u64).max(1)
}

/// The order of the launches in each round. Whole squares, whose launches and rows are in random order; of the last one as many
/// rows as there are rounds left.
fn orders(launches: usize, rounds: u32, rng: &mut Rng) -> Vec<Vec<usize>> {
    let rounds = rounds as usize;
    let mut orders = Vec::new();
    while orders.len() < rounds {
        let mut names: Vec<usize> = (0..launches).collect();
        rng.shuffle(&mut names);
        let mut square = williams(launches);
        rng.shuffle(&mut square);
        orders.extend(square.into_iter().map(|row| row.into_iter().map(|place| names[place]).collect::<Vec<_>>()));
    }
    orders.truncate(rounds);
    orders
}

/// Orders of `n` things in which each stands at each place equally often, and follows each other equally often within a row: of
/// an even number as many rows as things, of an odd one each row and its reverse (E. J. Williams, *Experimental designs balanced
/// for the estimation of residual effects of treatments*, Australian Journal of Scientific Research A 2, 1949).
fn williams(n: usize) -> Vec<Vec<usize>> {
    // 0, 1, n − 1, 2, n − 2, …: neighbours differ by 1, −2, 3, …, which are all differences there are.
    let first: Vec<usize> =
        (0..n).map(|place| if place % 2 == 1 { place.div_ceil(2) } else { (n - place / 2) % n }).collect();
    let rows = (0..n).map(|shift| first.iter().map(|of| (of + shift) % n).collect::<Vec<_>>());
    let reverse = |row: Vec<usize>| row.into_iter().rev().collect::<Vec<_>>();
    if n.is_multiple_of(2) { rows.collect() } else { rows.clone().chain(rows.map(reverse)).collect() }
}
