//! What becomes of a load that nodes make.

use engine::{Brought, Share};
use model::{Interval, NS_PER_S};

use crate::key::Unheeded;
use crate::message::{Presence, Refusal};
use crate::offset::Offset;

/// How a load ended.
#[derive(Debug)]
pub enum Ended {
    /// It was made, wholly or up to the second in which a node was lost.
    Made(Made),
    /// It was not.
    Unmade(Unmade),
}

/// A load that nodes made.
#[derive(Debug)]
pub struct Made {
    /// What each brought, in the order of their threads.
    pub shares: Vec<Contribution>,
    /// Nodes that were lost while it ran.
    pub lost: Vec<Lost>,
    /// Where nodes were lost: the whole seconds in which all made their shares, of which the figures are.
    pub whole_seconds: Option<u64>,
    /// When all were to begin, on the engine's clock here.
    pub begin_ns: u64,
}

/// A node's share.
#[derive(Debug)]
pub struct Contribution {
    /// Its session.
    pub name: String,
    /// What it said that it is.
    pub presence: Presence,
    /// Which of the load's threads were its own.
    pub share: Share,
    /// How far its clock was ahead, before the load.
    pub offset: Offset,
    /// The same after the load, where it was asked again.
    pub offset_at_end: Option<Offset>,
    /// What it brought, on the engine's clock here.
    pub brought: Brought,
}

/// Which node it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeName {
    /// Its session.
    pub session: String,
    /// The name of its machine.
    pub host: String,
}

/// A node that was lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// Which.
    pub node: NodeName,
    /// Why it counts as lost.
    pub why: WhyLost,
}

/// Why a node counts as lost.
#[derive(Debug, Clone, PartialEq)]
pub enum WhyLost {
    /// Nothing was heard of it for so long, in seconds.
    Silent(f64),
    /// It said so, and why.
    Said(String),
    /// What it brought is not what it was asked for.
    Unsound,
    /// It was there, and did not bring anything in time.
    Late,
    /// The server of messages was away, for so long, in seconds: nobody knows of the node.
    Apart(f64),
}

/// Why no load was made.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmade {
    /// Not as many nodes came as were asked for.
    TooFew {
        /// Those that came.
        came: Vec<NodeName>,
        /// How many were to come; none where any would have done.
        wanted: Option<u32>,
        /// How many were there, and made another load.
        busy: usize,
        /// For how long they were waited for, in seconds.
        waited_s: f64,
    },
    /// There are more threads than connections.
    TooManyThreads {
        /// Over all nodes.
        threads: u64,
    },
    /// There are more servers than nodes, so that some would have no load.
    MoreServers {
        /// Servers.
        servers: usize,
        /// Nodes that came.
        nodes: usize,
    },
    /// Its request is larger than a message.
    TooLarge,
    /// A node refused its share.
    Refused {
        /// Which.
        node: NodeName,
        /// Why.
        why: Refusal,
    },
    /// Nodes did not open their connections in time.
    NotReady(Vec<NodeName>),
    /// A node did not answer what time it is.
    NoTime(NodeName),
    /// Nodes did not say in time that they begin.
    NotBegun(Vec<NodeName>),
    /// Nodes were lost before a whole second had passed.
    Lost(Vec<Lost>),
    /// The server of messages was away, for so long, in seconds.
    Apart(f64),
    /// It was stopped before it began.
    Stopped,
}

/// What is told while it goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A node has come, and how many have come.
    Came {
        /// Which.
        node: NodeName,
        /// How many have come.
        of: usize,
    },
    /// Their shares are ordered.
    Ordered,
    /// All have opened their connections, and are asked what time it is.
    Ready,
    /// All clocks are known to within so much, and all begin so far from now, in nanoseconds.
    Begins {
        /// The least certain offset.
        within_ns: u64,
        /// How far ahead the begin is.
        in_ns: u64,
    },
    /// A second has passed, as far as nodes have told.
    Second(Interval),
    /// A node was lost.
    Lost(Lost),
    /// A message was not heeded, of whoever claims to have sent it.
    Unheeded(Unheeded, Option<String>),
}

impl Contribution {
    /// How far its clock had moved after the load, in nanoseconds; none where that is not known.
    pub fn clock_moved_ns(&self) -> Option<i64> {
        self.offset_at_end.map(|at_end| at_end.ahead_ns.saturating_sub(self.offset.ahead_ns))
    }

    /// Whether its clock kept time with the one here: a machine that was paused did not, and nothing in it tells.
    pub fn kept_time(&self) -> bool {
        self.offset_at_end.is_none_or(|at_end| self.offset.kept_time(at_end))
    }
}

impl WhyLost {
    pub(crate) fn silent(for_ns: u64) -> Self {
        WhyLost::Silent(for_ns as f64 / NS_PER_S as f64)
    }

    pub(crate) fn apart(alone_ns: u64) -> Self {
        WhyLost::Apart(alone_ns as f64 / NS_PER_S as f64)
    }
}
