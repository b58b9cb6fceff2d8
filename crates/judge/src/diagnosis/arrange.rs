//! From an experiment to the load that it is.

use model::{Arrivals, CellPlan, Experiment, Extent, Level, Load, LoadModel, NS_PER_S, Trying, Upstream};

use super::case::Case;
use super::thresholds::{
    DOSE_CONNECTIONS, FEWEST_HEAVY, LATE_DOSE, LONGEST_PROBES, LONGEST_WINDOW_S, MANY_ROUND_TRIPS, PACED,
    PACED_CONNECTIONS, PATIENT, PROBES, PROBES_PER_S, SERVICE_TIMES, SETTLED,
};

/// Connections of an open load: none waits for one while the server answers within a second.
const OPEN_CONNECTIONS: u32 = 256;

/// Connections of a load beside another.
const BESIDE_CONNECTIONS: u32 = 8;

/// A burst or a dose is given up after so many nanoseconds at most.
const GIVE_UP_NS: u64 = 60 * NS_PER_S;

/// What is held against the levels of a cell, so that each experiment has a name of its own.
const EXPERIMENT: &str = "experiment";

/// The cell of an experiment.
pub(super) fn cell(case: &Case<'_>, trying: Trying) -> CellPlan {
    let base = case.base;
    let mut cell = base.clone();
    cell.levels.0.insert(EXPERIMENT.to_owned(), Level::Text(trying.experiment.to_string()));
    let service_s = case.service_s().unwrap_or(0.0);
    arrange(&mut cell, case, trying.experiment, service_s);
    cell.tried = Some(trying);
    cell
}

fn arrange(cell: &mut CellPlan, case: &Case<'_>, experiment: Experiment, service_s: f64) {
    cell.quick_ack = case.acknowledges_late() && is_of_a_limit(experiment);
    let (asked, base_s, light) = (case.asked, case.window_s(), cell.load.mix.clone());
    let longer = |requests_per_s: f64| (FEWEST_HEAVY / requests_per_s).clamp(PROBES * base_s, LONGEST_PROBES * base_s);
    let load = &mut cell.load;
    load.extent = Extent::Window(ns(window_s(load, service_s)));
    match experiment {
        Experiment::Crowd { connections } => load.connections = connections,
        Experiment::Delayed { connections, network_delay_ns } => {
            (load.connections, load.network_delay_ns) = (connections, network_delay_ns);
            load.extent = Extent::Window(ns(window_s(load, service_s + network_delay_ns as f64 / 1e9)));
            load.warm_up_ns += 2 * network_delay_ns;
        }
        Experiment::Upstream { connections, delay_ns } => farther(cell, connections, (service_s, delay_ns)),
        Experiment::Closing { connections } => (load.connections, load.keep_alive) = (connections, false),
        Experiment::Settled { connections } => {
            (load.connections, load.warm_up_ns) = (connections, load.warm_up_ns + ns(SETTLED * base_s));
        }
        Experiment::Patient => load.extent = Extent::Window(ns(PATIENT * base_s)),
        Experiment::QuickAck { connections } => (load.connections, cell.quick_ack) = (connections, true),
        Experiment::Burst { requests } => *load = counted(load, (requests, GIVE_UP_NS), requests.into()),
        Experiment::Other { connections } => {
            load.connections = connections;
            load.mix = asked.other.clone().unwrap_or(light);
        }
        Experiment::Both { connections } => {
            load.connections = connections;
            let mix = asked.other.clone().unwrap_or(light);
            cell.beside = Some(Load { mix, ..load.clone() });
        }
        Experiment::Heavy => load.mix = asked.heavy.clone().unwrap_or(light),
        Experiment::Probes => probe(load, PROBES * base_s),
        Experiment::Beside { heavy_per_s } => {
            probe(load, longer(heavy_per_s));
            let mix = asked.heavy.clone().unwrap_or(light);
            cell.beside = Some(Load { mix, ..at_rate(load, heavy_per_s) });
        }
        Experiment::Decoys { light_per_s } => {
            probe(load, longer(light_per_s));
            cell.beside = Some(at_rate(load, light_per_s));
        }
        Experiment::Steady { rate_per_s, window_s } => {
            load.model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
            // One that is hardly asked is held against doses: it has as many connections.
            let connections = if rate_per_s > 1.0 { OPEN_CONNECTIONS } else { DOSE_CONNECTIONS };
            (load.connections, load.extent) = (connections, Extent::Window(ns(window_s)));
        }
        Experiment::Paced { rate_per_s } => {
            load.model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
            (load.connections, load.extent) = (PACED_CONNECTIONS, Extent::Window(ns(PACED * base_s)));
        }
        Experiment::Dose { requests } => {
            let expected_s = requests as f64 / case.dose().unwrap_or(requests) as f64 * base_s;
            let give_up_ns = ns(LATE_DOSE * expected_s + base_s).min(GIVE_UP_NS);
            *load = counted(load, (DOSE_CONNECTIONS, give_up_ns), requests);
        }
    }
}

/// What is behind the server is so much further away.
fn farther(cell: &mut CellPlan, connections: u32, (service_s, delay_ns): (f64, u64)) {
    let load = &mut cell.load;
    load.connections = connections;
    // As long as for many round trips, of which nobody knows how many there are.
    let slowed_s = service_s + MANY_ROUND_TRIPS * delay_ns as f64 / 1e9;
    load.extent = Extent::Window(ns(window_s(load, slowed_s)));
    load.warm_up_ns += 2 * delay_ns;
    cell.upstream = cell.upstream.map(|upstream| Upstream { delay_ns: Some(delay_ns), ..upstream });
}

/// Whether an experiment is only made for the proof of a limit, where what a client waits for beside the server's work is in the way.
fn is_of_a_limit(experiment: Experiment) -> bool {
    use Experiment::{Both, Burst, Delayed, Other, Settled};
    matches!(experiment, Both { .. } | Burst { .. } | Delayed { .. } | Other { .. } | Settled { .. })
}

fn window_s(load: &Load, service_s: f64) -> f64 {
    let asked_s = load.window_ns() as f64 / 1e9;
    (service_s * SERVICE_TIMES).min(LONGEST_WINDOW_S).max(asked_s)
}

/// Exactly so many requests to a server that was not asked before.
fn counted(load: &Load, (connections, give_up_ns): (u32, u64), count: u64) -> Load {
    Load { connections, warm_up_ns: 0, extent: Extent::Requests { count, within_ns: Some(give_up_ns) }, ..load.clone() }
}

/// Light requests whose distances are drawn, so that they lie anywhere between those beside them.
fn probe(load: &mut Load, window_s: f64) {
    load.model = LoadModel::Open { rate_per_s: PROBES_PER_S, arrivals: Arrivals::Poisson };
    (load.connections, load.extent) = (OPEN_CONNECTIONS, Extent::Window(ns(window_s)));
}

fn at_rate(load: &Load, rate_per_s: f64) -> Load {
    let model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
    Load { model, connections: BESIDE_CONNECTIONS, ..load.clone() }
}

fn ns(seconds: f64) -> u64 {
    (seconds * NS_PER_S as f64) as u64
}
