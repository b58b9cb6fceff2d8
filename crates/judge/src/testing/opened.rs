use model::*;

use super::lateness;

/// How late the requests of an open load are sent, in µs.
const LATE_US: f64 = 5.0;

/// Turns a launch into one of the open model whose books are full and on time.
pub(crate) fn open(cell: &mut CellPlan, trial: &mut TrialRecord, rate_per_s: f64) {
    cell.load.model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
    let measured = trial.measurement.as_mut().unwrap();
    let latencies = &mut measured.latency_us;
    latencies.response =
        latencies.service.clone().map(|service| LatencySummary { population: Members::Due, ..service });
    latencies.lateness = Some(lateness(LATE_US, measured.accounting.sent));
    let late =
        |half: HalfCount| HalfCount { response_ns: half.service_ns + (LATE_US * 1e3) as u64 * half.completed, ..half };
    measured.in_window.halves = measured.in_window.halves.map(late);
    for slice in &mut trial.slices {
        slice.halves = slice.halves.map(|halves| halves.map(late));
    }
}
