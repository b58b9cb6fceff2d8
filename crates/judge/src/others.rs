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

/// What others took of a side's CPUs, as a share of those over which its work was spread, and the share that it used itself.
pub(crate) struct Shared {
    pub(crate) taken: f64,
    pub(crate) busy: f64,
}

/// What the hypervisor and others may have taken of either side: all that they used.
pub(crate) fn shared(seen: &Observation, measured: &Measurement) -> [Shared; 2] {
    let taken = (seen.host.steal_share + seen.host.others_share) * f64::from(seen.host.cpus);
    sides(seen, measured).map(|Side { cpus, busy }| Shared { taken: taken / cpus, busy })
}
