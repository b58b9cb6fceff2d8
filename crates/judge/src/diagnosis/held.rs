//! Connections that hold a worker each: whoever comes when all are held gets nothing until somebody leaves.

use model::{Experiment, ServerFault, WhyOpen};

use super::case::Case;
use super::proof::{Examined, Stands, Steps};
use super::reading::Reading;
use super::signs::is_held;
use super::thresholds::MOST_CONNECTIONS;

/// How many more or fewer connections may be served than the first load showed.
fn about(served: u64) -> u64 {
    served / 20
}

pub(super) fn examine(case: &Case<'_>) -> Option<Examined> {
    let first = case
        .counting()
        .filter(|it| matches!(it.experiment(), Experiment::Crowd { .. }))
        .find(|reading| is_held(reading))?;
    let served = u64::from(first.cell.load.connections) - first.unserved();
    let few = u32::try_from(served).unwrap_or(MOST_CONNECTIONS).clamp(1, MOST_CONNECTIONS / 4);
    let crowd = |times: u32| Experiment::Crowd { connections: times * few };
    let settled = Experiment::Settled { connections: 4 * few };
    let closing = Experiment::Closing { connections: 2 * few };
    let steps = Steps::of(case, &[crowd(1), crowd(2), closing, crowd(4), crowd(2), crowd(1), settled]);
    let unserved_closing = steps.all(closing).iter().map(|reading| reading.unserved()).max().unwrap_or(0);
    let connections = first.cell.load.connections;
    let fault = ServerFault::HeldWorkers { served, connections, unserved_closing };
    let by: Vec<&Reading<'_>> = std::iter::once(first).chain(steps.made.iter().copied()).collect();
    // What one step refutes needs no further ones.
    let refuted = || {
        let served_of = |reading: &Reading<'_>| u64::from(reading.cell.load.connections) - reading.unserved();
        let is_so =
            |times: u32| steps.all(crowd(times)).into_iter().all(|it| served_of(it).abs_diff(served) <= about(served));
        if !is_so(2) || !is_so(4) || !is_so(1) {
            Some(WhyOpen::NotByDose)
        } else if unserved_closing > about(u64::from(2 * few)) {
            Some(WhyOpen::NotByControl)
        } else {
            let is_cold = |it: &Reading<'_>| served_of(it).abs_diff(served) > about(served);
            steps.all(settled).into_iter().any(is_cold).then_some(WhyOpen::Cold)
        }
    };
    let stands = refuted().map_or(steps.next.unwrap_or(Stands::Proved), Stands::Refuted);
    Some(Examined::new(fault, &by, stands))
}
