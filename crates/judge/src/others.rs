//! What others than target and generator took of the CPUs that a trial rests on. The machine says how much that was and not
//! on which CPUs, so all of it may have been on the side that has fewer.

use model::{Cell, CellPlan, GeneratorPlan, Measurement, Observation, Plan};

/// One side of a trial.
struct Side {
    /// The CPUs that it may use.
    cpus: f64,
    /// Those of them that its work was on at once.
    at_work: f64,
    /// How many CPUs' worth of time it used.
    used: f64,
}

/// The target's CPUs, all where it may use any; and one for each thread of the generator. A target of one thread works on one
/// CPU at a time, however many it may use.
fn sides(seen: &Observation, measured: &Measurement) -> [Side; 2] {
    let threads = &measured.generator.threads;
    let generator = threads.len().max(1) as f64;
    let allowed = if seen.cpus > 0 { seen.cpus } else { seen.host.cpus };
    let target = f64::from(allowed.max(1));
    let used = seen.cpus_used();
    [
        Side { cpus: target, at_work: used.ceil().clamp(1.0, target), used },
        Side { cpus: generator, at_work: generator, used: threads.iter().map(model::ThreadUse::busy).sum() },
    ]
}

/// A share of the machine's CPU time, as a share of the CPUs of the side that has fewer.
pub(crate) fn of_the_smaller_side(share: f64, seen: &Observation, measured: &Measurement) -> f64 {
    let fewest = sides(seen, measured).into_iter().map(|side| side.cpus).fold(f64::INFINITY, f64::min);
    share * (f64::from(seen.host.cpus) / fewest).max(1.0)
}

/// What others took of the CPUs that a side's work was on, and what it used of them itself, as shares.
pub(crate) struct Shared {
    pub(crate) taken: f64,
    pub(crate) busy: f64,
}

/// What the hypervisor and others may have taken of either side, where they used this share of all CPU time: all of it.
pub(crate) fn shared(share: f64, seen: &Observation, measured: &Measurement) -> [Shared; 2] {
    let taken = share * f64::from(seen.host.cpus);
    sides(seen, measured).map(|Side { at_work, used, .. }| Shared { taken: taken / at_work, busy: used / at_work })
}

/// Whether each thread of the generator has a CPU that nothing else of the trial uses.
pub(crate) fn is_apart(plan: &Plan, levels: &Cell) -> bool {
    let GeneratorPlan { threads, cpus, .. } = &plan.generator;
    let is_beside = |cell: &CellPlan| {
        let target = &cell.target_cpus;
        cell.profile
            || cell.load.network_delay_ns > 0
            || cell.backend.is_some()
            || target.is_empty()
            || target.iter().any(|cpu| cpus.contains(cpu))
    };
    let cell = plan.cells.iter().find(|cell| cell.levels == *levels);
    *threads as usize <= cpus.len() && cell.is_some_and(|cell| !is_beside(cell))
}
