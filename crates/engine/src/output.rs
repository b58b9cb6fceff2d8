//! What a load brings home, put together from what its threads bring.

use model::{Extent, LoadSpec, Measurement};

use crate::collector::Collector;
use crate::part::Part;

/// What a load brings home.
#[derive(Debug)]
pub struct LoadOutput {
    /// The figures.
    pub measurement: Measurement,
    /// When the window began, on the engine's clock.
    pub window_start_ns: u64,
    /// When it ended.
    pub window_end_ns: u64,
}

/// Puts together what the threads bring home.
pub(crate) fn conclude(spec: &LoadSpec, parts: Vec<Part>, collector: Collector, stopped: bool) -> LoadOutput {
    let together = |mut whole: Part, part: Part| {
        whole.merge(part);
        whole
    };
    let mut whole = parts.into_iter().reduce(together).expect("a load has a thread");
    let (answered_until_s, slowest_reply_s) = (collector.answered_until_s(), collector.slowest_reply_s());
    let (steps, distributions) = collector.end();
    // The threads have handed theirs over, second by second.
    whole.distributions = distributions;
    let (window_start_ns, window_end_ns) = (whole.window_start_ns, whole.window_end_ns);
    let interrupted = stopped && !is_whole(spec, &whole);
    let measurement = Measurement { interrupted, steps, answered_until_s, slowest_reply_s, ..whole.summarise() };
    LoadOutput { measurement, window_start_ns, window_end_ns }
}

/// Whether a load came to its end, though somebody may have asked for another: what is left then is to wait for replies.
fn is_whole(spec: &LoadSpec, brought: &Part) -> bool {
    match spec.extent {
        Extent::Window(window_ns) => brought.window_end_ns - brought.window_start_ns >= window_ns,
        Extent::Requests { count, .. } => brought.books.scheduled == count && brought.books.in_flight_at_end == 0,
    }
}
