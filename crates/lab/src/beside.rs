use std::sync::atomic::AtomicBool;

use engine::{LoadError, RunOptions};
use model::{CellPlan, Load, LoadSpec, Measurement, Plan};

/// Where a cell has a load beside its own, that load, on the last of the generator's CPUs: the first thread has the first.
pub(crate) fn beside_spec(plan: &Plan, cell: &CellPlan, own: &LoadSpec) -> Option<LoadSpec> {
    let load = cell.beside.as_ref()?;
    let host = &own.load.mix.first().request.host;
    let load = Load { mix: load.mix.clone().at_host(host), ..load.clone() };
    let cpus = plan.generator.cpus.iter().rev().copied().collect();
    Some(LoadSpec { threads: 1, cpus, spin: false, load, ..own.clone() })
}

/// Makes a load, and the one beside it where there is one, which begins and ends with it.
pub(crate) fn with_beside<T>(
    beside: Option<&LoadSpec>,
    stop: &AtomicBool,
    load: impl FnOnce() -> T,
) -> (T, Option<Result<Measurement, LoadError>>) {
    let Some(spec) = beside else { return (load(), None) };
    std::thread::scope(|threads| {
        let beside = threads.spawn(|| engine::run(spec, RunOptions::default(), stop, &mut |_| {}));
        let loaded = load();
        let beside = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (loaded, Some(beside.map(|output| output.measurement)))
    })
}
