//! Loads that go round among servers in short slices, while the connections to all of them stay open.

use std::sync::atomic::{AtomicBool, Ordering};

use model::{Extent, LoadSpec};

use crate::collector::Passed;
use crate::http1::Http1;
use crate::output::LoadOutput;
use crate::session::{LoadError, RunOptions, session};

/// Longest time the end of a slice waits for replies still in flight, in nanoseconds. What then has not come is booked as in
/// flight at the end, and its connection is closed.
pub const SLICE_DRAIN_NS: u64 = 100_000_000;

/// One server's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Which of the servers, from 0.
    pub server: usize,
    /// How long it is under load before what is measured begins, in nanoseconds.
    pub lead_in_ns: u64,
    /// How long is measured, in nanoseconds.
    pub window_ns: u64,
    /// From which its arrivals follow. What is drawn of a mix goes on from one slice of a server to the next.
    pub seed: u64,
}

/// Opens the connections to all `servers`, which are asked for the same but for the address, and makes the slices that `next`
/// gives, until it gives none or `stop` is set. Warm-up, extent and seed are the slice's own; the spread of the starts is
/// that of `servers` and has to fit the lead-in. A slice that `stop` cuts is the last. At each edge, when no request is in
/// flight any more, `next` is called with what the slice before it brought.
///
/// # Errors
/// When the generator itself cannot run; whatever a server does is a result.
///
/// # Panics
/// When there is no server, not the same threads load all of them, or a slice is of none of them.
pub fn rotate(
    servers: &[LoadSpec],
    options: RunOptions,
    stop: &AtomicBool,
    next: &mut dyn FnMut(Option<LoadOutput>) -> Option<Slice>,
    progress: &mut dyn FnMut(&Passed),
) -> Result<(), LoadError> {
    let threads = |spec: &LoadSpec| (spec.threads, spec.cpus.clone());
    assert!(servers.iter().all(|spec| threads(spec) == threads(&servers[0])), "one set of threads loads all servers");
    session(Http1::new, servers, options, stop, |session| {
        let mut brought = None;
        while let Some(slice) = next(brought.take()) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let mut spec = servers[slice.server].clone();
            (spec.warm_up_ns, spec.extent, spec.seed) = (slice.lead_in_ns, Extent::Window(slice.window_ns), slice.seed);
            brought = Some(session.load(slice.server, &spec, SLICE_DRAIN_NS, progress)?);
        }
        Ok(())
    })
}
