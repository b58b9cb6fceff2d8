//! What a load is consistent with, and what would prove it.

use model::{Metric, Suspicion};

use crate::format::{duration_us, thousands};

/// A sentence or two, with the load that would prove it and the cure.
pub(crate) fn suspicion_words(suspicion: &Suspicion) -> String {
    match *suspicion {
        Suspicion::RegularStalls { count, every_s, length_s } => format!(
            "Nothing was answered {} times for {}, every {}: consistent with something on a timer that stops the server, or with a \
             collector that runs after so many requests. To know which, load it with half of the rate (`bourdon load --rate`): what is \
             caused by requests then comes half as often, and what is on a timer as often as now",
            thousands(count),
            duration_us(length_s * 1e6),
            duration_us(every_s * 1e6)
        ),
        Suspicion::ClosedConnections { opened, replies } => format!(
            "The server ended {} connections with {} replies, though they were to be kept: each request pays for a new one. Where that is not \
             meant, let it keep HTTP/1.1 connections open and say how long a reply is; `bourdon load --no-keepalive` has the same on purpose",
            thousands(opened),
            thousands(replies)
        ),
        Suspicion::HeldWorkers { unserved, connections, most } => format!(
            "{} of {} connections got nothing while another had {} replies: consistent with a server in which each open connection holds a \
             worker. `bourdon diagnose` proves it: clients that close after each request are then all served",
            thousands(unserved),
            thousands(connections),
            thousands(most)
        ),
        Suspicion::DelayedAck { quantile, first_byte_us, service_us } => {
            let [first, rest] = [first_byte_us, service_us - first_byte_us].map(duration_us);
            format!(
                "{} of the replies began after {first} and were whole {rest} later, as long as this machine waits before it acknowledges what \
                 came: consistent with a server that writes a reply in several pieces with Nagle's algorithm on, which holds back each \
                 further piece until the one before is acknowledged. To prove it, load it with `bourdon load --quick-ack`: then the {rest} are gone. \
                 The cure is TCP_NODELAY on the server's connections, or one write for each reply",
                share_above(quantile)
            )
        }
    }
}

/// How many replies take at least as long as this quantile, the lowest that was found to be so long.
pub(crate) fn share_above(quantile: Metric) -> &'static str {
    match quantile {
        Metric::P50 => "At least half",
        Metric::P75 => "At least a quarter",
        Metric::P90 => "At least a tenth",
        Metric::P95 => "At least a twentieth",
        _ => "At least one in a hundred",
    }
}
