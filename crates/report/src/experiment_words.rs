//! What an experiment of a diagnosis does, in a few words.

use model::{Experiment, counted};

use crate::format::{duration_us, number, seconds};

/// `64 connections`, `17 requests at the same moment`.
pub(crate) fn experiment_words(experiment: &Experiment) -> String {
    let connections = |count: u32| counted(count.into(), "connection", "connections");
    match experiment {
        Experiment::Crowd { connections: count } => connections(*count),
        Experiment::Settled { connections: count } => format!("{} after a long load", connections(*count)),
        Experiment::Patient => "1 connection that waits for longer".to_owned(),
        Experiment::Delayed { connections: count, network_delay_ns } => {
            format!("{}, {} further away", connections(*count), duration_us(*network_delay_ns as f64 / 1e3))
        }
        Experiment::Upstream { connections: count, delay_ns: 0 } => {
            format!("{}, asking through a relay", connections(*count))
        }
        Experiment::Upstream { connections: count, delay_ns } => {
            format!("{}, what is behind {} further away", connections(*count), duration_us(*delay_ns as f64 / 1e3))
        }
        Experiment::Closing { connections: count } => {
            format!("{} that close after each request", counted((*count).into(), "client", "clients"))
        }
        Experiment::QuickAck { connections: 1 } => "1 connection that acknowledges at once".to_owned(),
        Experiment::QuickAck { connections: count } => format!("{} that acknowledge at once", connections(*count)),
        Experiment::Burst { requests } => {
            format!("{} at the same moment", counted((*requests).into(), "request", "requests"))
        }
        Experiment::Other { connections: count } => format!("{} to the other path", connections(*count)),
        Experiment::Both { connections: count } => format!("{} to each of the two paths", connections(*count)),
        Experiment::Heavy => "1 connection with heavy requests".to_owned(),
        Experiment::Probes => "light requests alone".to_owned(),
        Experiment::Beside { heavy_per_s } => format!("light requests beside {} heavy ones/s", number(*heavy_per_s)),
        Experiment::Decoys { light_per_s } => {
            format!("light requests beside {} more light ones/s", number(*light_per_s))
        }
        Experiment::Steady { rate_per_s, window_s } => {
            format!("{} requests/s for {}", number(*rate_per_s), seconds(*window_s))
        }
        Experiment::Paced { rate_per_s } => format!("{} requests/s on two connections", number(*rate_per_s)),
        Experiment::Dose { requests } => format!("{} on a fresh server", counted(*requests, "request", "requests")),
    }
}
