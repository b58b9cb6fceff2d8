use serde::{Deserialize, Serialize};

use crate::{Backend, Extent, LoadModel, Rotation};

/// Something of two runs that is not the same, beside the server. `report` has the words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// What it is.
    pub what: Aspect,
    /// What it is in the old run; missing where that does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<AspectValue>,
    /// What it is in the new run; missing where that does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<AspectValue>,
}

/// Something in which runs can differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The version of bourdon.
    Bourdon,
    /// The model of the CPU.
    Cpu,
    /// How many CPUs the machine has.
    Cpus,
    /// The kernel.
    Kernel,
    /// The governor of the CPUs' frequency.
    Governor,
    /// Whether a core runs two threads.
    Smt,
    /// The machine's memory, in bytes.
    Memory,
    /// A setting of the kernel, by its name.
    Sysctl(String),
    /// The version of what builds a target, by the target's name.
    Toolchain(String),
    /// The CPUs of the target.
    TargetCpus,
    /// The generator's threads.
    GeneratorThreads,
    /// The generator's CPUs.
    GeneratorCpus,
    /// Whether the generator polls.
    Spin,
    /// How many nodes make the load.
    Nodes,
    /// The factor that one launch goes through.
    Ladder,
    /// The slices in which the load goes round among targets that live together; `none` of a launch that is alone.
    Rotation,
    /// The first path that is asked for.
    Path,
    /// The method of the first request.
    Method,
    /// Closed, or open at a rate.
    Load,
    /// Connections.
    Connections,
    /// Requests in flight on a connection.
    Pipeline,
    /// Whether connections are kept.
    KeepAlive,
    /// The time-out of a request.
    TimeOut,
    /// What is measured: a time, or a number of requests.
    Window,
    /// What the network adds to a round trip.
    NetworkDelay,
    /// Load before the window.
    WarmUp,
    /// Whether what the server sends is acknowledged at once.
    QuickAck,
    /// Whether TLS is spoken.
    Tls,
    /// Whether TLS sessions are resumed.
    TlsResume,
    /// The target's runtime.
    Runtime,
    /// How long the target's handler waits.
    HandlerDelay,
    /// The rate as a share of what the target can do.
    RateShare,
    /// How the requests of such a rate arrive.
    Arrivals,
    /// Whether a CPU profile is taken.
    Profile,
    /// Whether the target was given a port for its runtime's figures.
    Admin,
    /// The load beside it.
    Beside,
    /// The server that its handlers ask.
    Backend,
    /// Whether a census of the target's units is taken.
    Census,
    /// The requests of a load that asks for several; neither side is told.
    Mix,
    /// The version of the request line.
    HttpVersion,
    /// The headers that were sent.
    Headers,
    /// The length of the body that was sent, in bytes.
    BodyBytes,
    /// The status that a reply had to have.
    ExpectedStatus,
    /// SHA-256 of the body that a reply had to have.
    ExpectedBody,
    /// The name that the server's certificate had to be for.
    TlsServerName,
    /// Whose word on that certificate was taken.
    TlsTrust,
}

/// What an aspect of a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AspectValue {
    /// So or not.
    Flag(bool),
    /// How many.
    Count(u64),
    /// A share, 0 to 1.
    Share(f64),
    /// These CPUs; where it is none of them, any.
    Cpus(Vec<u32>),
    /// How long.
    Time {
        /// In nanoseconds.
        ns: u64,
    },
    /// Closed or open.
    Load(LoadModel),
    /// What is measured.
    Extent(Extent),
    /// Slices of a load that goes round.
    Rotation(Rotation),
    /// The server that handlers ask.
    Backend(Backend),
    /// Headers that were sent.
    Headers {
        /// Each with its name and its value, null where that was not kept.
        headers: Vec<(String, Option<String>)>,
    },
    /// A name; of what was not asked for, `none`, and where a reply could be anything, `any`.
    Text(String),
}

impl From<bool> for AspectValue {
    fn from(flag: bool) -> AspectValue {
        AspectValue::Flag(flag)
    }
}

impl From<u64> for AspectValue {
    fn from(count: u64) -> AspectValue {
        AspectValue::Count(count)
    }
}

impl From<&str> for AspectValue {
    fn from(text: &str) -> AspectValue {
        AspectValue::Text(text.to_owned())
    }
}
