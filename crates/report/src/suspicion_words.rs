//! What a load is consistent with, and what would prove it.

use model::{Metric, Suspicion};

use crate::format::duration_us;

/// A sentence or two, with the load that would prove it and the cure.
pub(crate) fn suspicion_words(suspicion: &Suspicion) -> String {
    match *suspicion {
        Suspicion::DelayedAck { quantile, first_byte_us, service_us } => {
            let [first, rest] = [first_byte_us, service_us - first_byte_us].map(duration_us);
            format!(
                "{} of the replies began after {first} and were whole {rest} later, as long as this machine waits before it acknowledges what \
                 came: consistent with a server that writes a reply in several pieces with Nagle's algorithm on, which holds back each \
                 further piece until the one before is acknowledged. To prove it, load again with --quick-ack: then the {rest} are gone. \
                 The cure is TCP_NODELAY on the server's connections, or one write for each reply",
                share_above(quantile)
            )
        }
    }
}

/// How many replies take at least as long as this quantile.
fn share_above(quantile: Metric) -> &'static str {
    match quantile {
        Metric::P50 => "Half",
        Metric::P75 => "A quarter",
        Metric::P90 => "A tenth",
        Metric::P95 => "A twentieth",
        _ => "One in a hundred",
    }
}
