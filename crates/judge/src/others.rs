//! What others than target and generator took of the CPUs that a trial rests on. The machine says how much that was and not
//! on which CPUs, so all of it may have been on the side that has fewer.

use model::{Measurement, Observation};

/// The CPUs of one side of a trial, and the share of them that it used itself.
struct Side {
    cpus: f64,
    busy: f64,
}

/// The target's CPUs, all where it may use any; and one for each thread of the generator.
fn sides(seen: &Observation, measured: &Measurement) -> [Side; 2] {
    let threads = &measured.generator.threads;
    let generator = threads.len().max(1) as f64;
    let busy = threads.iter().map(model::ThreadUse::busy).sum::<f64>() / generator;
    let target = if seen.cpus > 0 { seen.cpus } else { seen.host.cpus };
    [Side { cpus: f64::from(target.max(1)), busy: seen.busy() }, Side { cpus: generator, busy }]
}

/// A share of the machine's CPU time, as a share of the CPUs of the side that has fewer.
pub(crate) fn of_the_smaller_side(share: f64, seen: &Observation, measured: &Measurement) -> f64 {
    let fewest = sides(seen, measured).into_iter().map(|side| side.cpus).fold(f64::INFINITY, f64::min);
    share * (f64::from(seen.host.cpus) / fewest).max(1.0)
}

/// The most of its CPUs, as a share, that either side lost to the hypervisor and to others: what these used, and no more than
/// the side itself left of them.
pub(crate) fn most_lost(seen: &Observation, measured: &Measurement) -> f64 {
    let taken = (seen.host.steal_share + seen.host.others_share) * f64::from(seen.host.cpus);
    let lost = sides(seen, measured).map(|Side { cpus, busy }| (taken / cpus).min(1.0 - busy));
    lost.into_iter().fold(0.0, f64::max)
}
