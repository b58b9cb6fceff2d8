use serde::{Deserialize, Serialize};

use crate::Metric;

/// What one load shows that has a known cause, and what another load would prove.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suspicion {
    /// The rest of a reply waits until its first part is acknowledged, which the client's kernel delays: the server writes a reply in
    /// several pieces, with Nagle's algorithm on.
    DelayedAck {
        /// The quantile from which on it shows: the median where it is half of the replies.
        quantile: Metric,
        /// Time to the first byte there, µs.
        first_byte_us: f64,
        /// Service time there, µs.
        service_us: f64,
    },
    /// Replies end the connections that were to be kept.
    ClosedConnections {
        /// How many connections were opened in the window.
        opened: u64,
        /// For so many replies.
        replies: u64,
    },
    /// Some connections get nothing while others get one reply after the other: each that is open may hold a worker.
    HeldWorkers {
        /// How many got nothing.
        unserved: u64,
        /// Of so many.
        connections: u64,
        /// How many replies the busiest one had.
        most: u64,
    },
    /// Nothing is answered for a while, again and again after the same time: something on a timer, or a collector that runs after so many
    /// requests.
    RegularStalls {
        /// How many there were.
        count: u64,
        /// From the begin of one to that of the next, as a mean, in seconds.
        every_s: f64,
        /// How long they lasted, as a mean, in seconds.
        length_s: f64,
    },
}
