//! What a diagnosis suspects, and the experiments by which it finds out.

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;

kinds! {
    /// What may be wrong with a server: each may be there or not, whatever else is.
    Suspect {
        /// It works on a limited number of requests at once.
        Limit = "limit",
        /// A connection that is kept open holds one of its workers, so that others get none.
        HeldWorkers = "held-workers",
        /// All wait while one request computes.
        BlockedLoop = "blocked-loop",
        /// Replies wait for a delayed acknowledgement.
        DelayedAck = "delayed-ack",
        /// It ends a connection with each reply.
        ClosedConnections = "closed-connections",
        /// It stops answering altogether now and then.
        Stalls = "stalls",
        /// It keeps memory of each request.
        MemoryGrowth = "memory-growth",
        /// It keeps threads or processes.
        ThreadGrowth = "thread-growth",
        /// It keeps files or sockets open.
        FileGrowth = "file-growth",
        /// A request waits for many round trips to what is behind the server, one after another.
        RoundTrips = "round-trips",
        /// It fails requests.
        Failures = "failures",
    }
}

/// A load that tells something, on a launch of its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// So many connections, each of which sends when its reply came.
    Crowd {
        /// How many.
        connections: u32,
    },
    /// So many connections, measured after they were kept busy for long.
    Settled {
        /// How many.
        connections: u32,
    },
    /// One connection for long, of a server that gave it no reply before.
    Patient,
    /// The same over a network that takes longer for a round trip.
    Delayed {
        /// How many connections.
        connections: u32,
        /// How much longer, in nanoseconds.
        network_delay_ns: u64,
    },
    /// So many connections to a server whose round trips to what is behind it take longer.
    Upstream {
        /// How many connections.
        connections: u32,
        /// How much longer each of those round trips takes, in nanoseconds.
        delay_ns: u64,
    },
    /// So many clients that open a connection for each request.
    Closing {
        /// How many.
        connections: u32,
    },
    /// So many connections, each of which sends when its reply came, and whose kernel acknowledges at once.
    QuickAck {
        /// How many.
        connections: u32,
    },
    /// So many requests at the same moment, each on a connection of its own.
    Burst {
        /// How many.
        requests: u32,
    },
    /// So many connections that ask for the other path.
    Other {
        /// How many.
        connections: u32,
    },
    /// So many connections for each of the two paths at the same time.
    Both {
        /// How many for each.
        connections: u32,
    },
    /// One connection that asks for what costs much.
    Heavy,
    /// Light requests at a low rate.
    Probes,
    /// The same, and beside them requests that cost much.
    Beside {
        /// How many of those a second.
        heavy_per_s: f64,
    },
    /// The same, and beside them light ones in the place of those that cost much.
    Decoys {
        /// How many of those a second.
        light_per_s: f64,
    },
    /// Requests at a rate.
    Steady {
        /// How many a second.
        rate_per_s: f64,
        /// For how many seconds.
        window_s: f64,
    },
    /// The few requests that a server which runs already may be sent.
    Paced {
        /// How many a second.
        rate_per_s: f64,
    },
    /// Exactly so many requests.
    Dose {
        /// How many.
        requests: u64,
    },
}

/// The id of an experiment, unique among all: `crowd-64`.
impl std::fmt::Display for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Experiment::Crowd { connections } => write!(f, "crowd-{connections}"),
            Experiment::Settled { connections } => write!(f, "settled-{connections}"),
            Experiment::Patient => f.write_str("patient"),
            Experiment::Delayed { connections, network_delay_ns } => {
                write!(f, "delayed-{connections}-{}us", network_delay_ns / 1_000)
            }
            Experiment::Upstream { connections, delay_ns } => {
                write!(f, "upstream-{connections}-{}us", delay_ns / 1_000)
            }
            Experiment::Closing { connections } => write!(f, "closing-{connections}"),
            Experiment::QuickAck { connections } => write!(f, "quick-ack-{connections}"),
            Experiment::Burst { requests } => write!(f, "burst-{requests}"),
            Experiment::Other { connections } => write!(f, "other-{connections}"),
            Experiment::Both { connections } => write!(f, "both-{connections}"),
            Experiment::Heavy => f.write_str("heavy"),
            Experiment::Probes => f.write_str("probes"),
            Experiment::Beside { heavy_per_s } => write!(f, "beside-{heavy_per_s:.3}"),
            Experiment::Decoys { light_per_s } => write!(f, "decoys-{light_per_s:.3}"),
            Experiment::Steady { rate_per_s, window_s } => write!(f, "steady-{rate_per_s:.3}-{window_s:.0}s"),
            Experiment::Paced { rate_per_s } => write!(f, "paced-{rate_per_s:.3}"),
            Experiment::Dose { requests } => write!(f, "dose-{requests}"),
        }
    }
}

/// An experiment with what it was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trying {
    /// What was done.
    pub experiment: Experiment,
    /// What for, when it was done first.
    pub why: WhyTried,
}

/// What an experiment was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyTried {
    /// To tell whether these are there, each with how likely it was before, from 0 to 1.
    Telling(Vec<(Suspect, f64)>),
    /// To prove that this one is, or to refute it.
    Proving(Suspect),
}
