//! The words between who commands a load and the nodes that make it.

use engine::Share;
use model::{Instrument, Interval, LoadSpec};
use serde::{Deserialize, Serialize};

use crate::offset::Exchange;
use crate::pieces::Piece;

/// For how long messages may not come and go before a load is given up, by nodes and by who commands them.
pub(crate) const ALONE_NS: u64 = 120 * model::NS_PER_S;

/// Schema of a message.
pub const MESSAGE_SCHEMA: &str = "bourdon.node/2";

/// Whom a message is to that any node may hear.
pub(crate) const ALL: &str = "";

/// One message. Who commands a load is called by the name of the run, a node by that of its session, which is another one for each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) schema: String,
    pub(crate) run: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// Grows from each message of a sender to its next.
    pub(crate) number: u64,
    pub(crate) body: Body,
}

/// Who a message goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// Any node.
    Nodes,
    /// One, by its session.
    Node(String),
    /// Whoever commands a run.
    Run(String),
    /// Where the results of a run are kept for them, under a name that nothing else has.
    Results {
        /// The run.
        run: String,
        /// Whose.
        session: String,
        /// The name.
        id: String,
    },
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Body {
    /// To all: who is free?
    Call,
    /// A node is.
    Here(Presence),
    /// To a node: make this share of a load, but do not begin.
    Order(Box<Order>),
    /// A node will not, and why.
    Refused(Refusal),
    /// Its connections are open, or cannot be opened.
    Ready,
    /// To a node: what time is it?
    TimeAsked {
        /// On the clock of who asks, in nanoseconds.
        sent_ns: u64,
    },
    /// The answer; it has yet to return.
    Time(Exchange),
    /// To a node: begin then.
    Begin {
        /// On the node's own clock, in nanoseconds.
        at_ns: u64,
    },
    /// A node will.
    Begins,
    /// A second of a node's load has passed.
    Second(Interval),
    /// Whoever says it is still there.
    Alive,
    /// A node's load came to nothing.
    Failed(String),
    /// A piece of what a node brought.
    Result(Piece),
    /// To a node: end the load now.
    Stop,
    /// To a node: that is all.
    Over,
}

/// A node, as it says itself what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// What its machine is called.
    pub host: String,
    /// What measures there.
    pub instrument: Instrument,
    /// Files that it may have open at once.
    pub open_files: u64,
    /// What its kernel calls this time that it is up: nodes of which it is the same are on one machine. Empty where that is not known.
    pub boot: String,
}

/// A share of a load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The version of the bourdon that gives it: only one that makes the same load in the same way is of use.
    pub(crate) bourdon: String,
    /// The load of all nodes together.
    pub(crate) spec: LoadSpec,
    pub(crate) share: Share,
}

/// Why a node does not make its share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// It is another bourdon.
    Version {
        /// Which.
        bourdon: String,
    },
    /// It may not load that address.
    Address {
        /// What it may.
        allowed: String,
    },
    /// It may not open so many files.
    OpenFiles {
        /// How many it takes.
        needed: u64,
        /// How many it may.
        most: u64,
    },
    /// There is no such load.
    Absurd,
    /// It makes another one.
    Busy {
        /// Of which run.
        run: String,
    },
}
