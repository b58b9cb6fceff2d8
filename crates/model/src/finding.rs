use serde::{Deserialize, Serialize};

use crate::Measured;
use crate::outcome::kinds;

/// How sure a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// After the discriminating test.
    Is,
    /// By its signature only.
    ConsistentWith,
}

kinds! {
    /// What may be wrong with a server, or with how it was measured.
    Pathology {
        /// It works on one request at a time.
        SerialisedHandler = "serialised-handler",
        /// A fixed number of workers works on them.
        FixedWorkerPool = "fixed-worker-pool",
        /// Work on the CPU holds up its event loop.
        EventLoopBlocked = "event-loop-blocked",
        /// Some connections get nothing.
        Starvation = "starvation",
        /// Not the server was the limit, but the generator.
        GeneratorSaturated = "generator-saturated",
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
    /// What was seen.
    pub evidence: Vec<String>,
    /// Alternatives that the figures exclude, and how.
    pub ruled_out: Vec<String>,
    /// What would overturn it.
    pub overturned_by: String,
}
