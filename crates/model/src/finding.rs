use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Cell, Measured};

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// By its signature only: no experiment here distinguishes it from what looks alike.
    ConsistentWith,
}

kinds! {
    /// What a server's own cells may show of it.
    Pathology {
        /// It works on one request at a time.
        SerialisedHandler = "serialised-handler",
        /// A fixed number of workers works on them.
        FixedWorkerPool = "fixed-worker-pool",
    }
}

/// Requests at once (X·S) up to which a server looks serialised: 1 plus the scatter of short windows.
pub const SERIAL_AT_MOST: f64 = 1.2;

/// A pool shows only when it is smaller than this share of the connections: nearer to them, the ceiling may be the limit.
pub const POOL_SHARE_OF_CONNECTIONS: f64 = 0.8;

impl Pathology {
    /// Requests at once up to which a load of so many connections shows it.
    pub fn most_at_once(self, connections: f64) -> f64 {
        match self {
            Pathology::SerialisedHandler => SERIAL_AT_MOST,
            Pathology::FixedWorkerPool => POOL_SHARE_OF_CONNECTIONS * connections,
        }
    }
}

/// A named pathology with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The target.
    pub target: String,
    /// What it is.
    pub pathology: Pathology,
    /// How sure.
    pub certainty: Certainty,
    /// Its size, for instance the number of workers.
    pub value: Option<Measured>,
    /// What was seen, under each load that shows it.
    pub evidence: Vec<Plateau>,
    /// The conditions of these beside their load.
    #[serde(default, rename = "where")]
    pub conditions: Cell,
    /// How little there was of what else would explain it.
    pub ruled_out: RuledOut,
}

/// How much a server did under a closed load whose handlers wait.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// Connections, each with its pipelined requests.
    pub connections: u64,
    /// What a handler waits, in seconds.
    pub handler_delay_s: f64,
    /// Its rate.
    pub requests_per_s: f64,
    /// Requests that it worked on at once: the rate times the delay.
    pub at_once: f64,
}

/// The most that was seen, over the loads that show a finding, of what else would explain it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RuledOut {
    /// CPUs that the target used.
    pub target_cpus: f64,
    /// Share of its time for which the generator's neediest thread was busy.
    pub generator: f64,
    /// Share of the rate that the handlers' delay allows.
    pub ceiling: f64,
}
