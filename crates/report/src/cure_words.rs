//! What is to be changed about what is wrong with a server.

use model::{PATHS_APART, STALLS_OF_REQUESTS, ServerFault, Suspect};

/// What to change, or where to look.
pub(crate) fn cure(fault: &ServerFault) -> String {
    match fault {
        ServerFault::Limit { exactly: Some(1), paths_together, .. } if paths_together.is_none_or(|it| it < PATHS_APART) => {
            "look for a lock that is held while a request waits, a single worker, or a single connection to what is behind"
        }
        ServerFault::Limit { paths_together: Some(share), .. } if *share >= PATHS_APART => {
            "look for a lock, a worker or a pool that this path has for itself"
        }
        ServerFault::Limit { .. } => {
            "the number of workers, or of connections to what is behind the server if that can do more at once itself; or let a \
             request not hold one while it waits"
        }
        ServerFault::HeldWorkers { .. } => {
            "more workers than clients that stay connected, a short keep-alive time-out, or a server that gives idle \
             connections no worker of their own (a limit on connections themselves looks the same: then raise that)"
        }
        ServerFault::BlockedLoop { computes: Some(false), .. } => {
            "do not let a request hold a lock, or the loop, while it waits for something"
        }
        ServerFault::BlockedLoop { .. } => "compute in another thread or process, or in parts between which others get a turn",
        ServerFault::DelayedAck { .. } => "set TCP_NODELAY on accepted connections, or write each reply in one piece",
        ServerFault::ClosedConnections { .. } => {
            "let HTTP/1.1 connections stay open, and say how long a reply is (Content-Length, or chunks)"
        }
        ServerFault::Stalls { at_twice_the_rate: Some(times), .. } if *times >= STALLS_OF_REQUESTS => {
            "allocate less a request, or choose a collector with shorter pauses"
        }
        ServerFault::Stalls { .. } => "look for work on a timer that stops all others: flushing, cleaning up, collecting",
        ServerFault::Growth { suspect: Suspect::MemoryGrowth, .. } => {
            "look for what is added to for each request and never taken from: a map, a list, a listener, a log in memory"
        }
        ServerFault::Growth { suspect: Suspect::ThreadGrowth, .. } => "end what is started for a request",
        ServerFault::RoundTrips { .. } => {
            "ask for all of it at once (a join, a list of keys, a batch) or at the same time, and keep what seldom changes"
        }
        ServerFault::Growth { .. } => "close what is opened for a request, on every way out",
        ServerFault::Failures { .. } | ServerFault::Unanswered { .. } | ServerFault::Died { .. } => "its log says more; so does `bourdon load` under the same load",
    }
    .to_owned()
}
