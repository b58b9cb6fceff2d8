//! Loads that go round among servers in short slices, while the connections to all of them stay open.

use std::sync::atomic::{AtomicBool, Ordering};

use fastrand::Rng;
use model::{Arrivals, ConnectionCounts, Extent, LoadModel, LoadSpec, NS_PER_S};

use crate::collector::{Listener, Passed};
use crate::http1::Http1;
use crate::output::{Brought, LoadOutput};
use crate::session::{Home, LoadError, RunOptions, session};

/// Longest time the end of a slice waits for replies still in flight, in nanoseconds. What then has not come is booked as in
/// flight at the end, and its connection is closed.
pub const SLICE_DRAIN_NS: u64 = 100_000_000;

/// Longest time over which the connections of a slice begin, in nanoseconds: whose replies take longer outlast the slice's end, too.
const MOST_SPREAD_NS: u64 = SLICE_DRAIN_NS;

/// The slice that is to be loaded next: one server's turn. What came of it is [`Sliced`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceSpec {
    /// Which of the servers, from 0.
    pub server: usize,
    /// Whether it is one of those that are put together; a warm-up is not.
    pub counts: bool,
    /// How long it is under load before what is measured begins at least, in nanoseconds.
    pub lead_in_ns: u64,
    /// How long is measured, in nanoseconds.
    pub window_ns: u64,
    /// From which its arrivals follow, and by how much longer its lead-in is, which is less than the distance between two requests
    /// where that is even. What is drawn of a mix goes on from one slice of a server to the next.
    pub seed: u64,
}

/// What one slice brought. Times are on the engine's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Sliced {
    /// When its lead-in began, in nanoseconds.
    pub begin_ns: u64,
    /// When nothing of it was in flight any more, or no longer waited for.
    pub end_ns: u64,
    /// As it is recorded, but for what nobody knows here: which round it is of, when the first one began, and what others saw.
    pub figures: model::Slice,
    /// What became of its connections.
    pub connections: ConnectionCounts,
}

/// Opens the connections to all `servers`, which are asked for the same but for the address, and makes the slices that `next`
/// gives, until it gives none or `stop` is set. Warm-up, extent and seed are the slice's own; the spread of the starts is
/// that of `servers` in a server's first slice and has to fit the lead-in. From then on the connections of a closed load begin over
/// the mean service time of the server's slice before (100 ms at most), and the lead-in lasts twice that at least: then
/// each of them has had a reply, and servers whose replies all take alike long do not answer in lockstep. A slice that `stop` cuts is the last. At each edge, when no request is in
/// flight any more, `next` is called with what the slice before it brought.
///
/// Gives what the slices of each server that count come to, as one load whose window is theirs one after the other and whose
/// steps are the slices; none of a server without one. Its connections are told from the first slice on, the warm-up's, too, and what
/// was sent and answered in the warm-up is the step before them.
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
    next: &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
    progress: &mut dyn FnMut(&Passed),
) -> Result<Vec<Option<LoadOutput>>, LoadError> {
    let threads = |spec: &LoadSpec| (spec.threads, spec.cpus.clone());
    assert!(servers.iter().all(|spec| threads(spec) == threads(&servers[0])), "one set of threads loads all servers");
    session(Http1::new, servers, options, stop, |session| {
        go_round(servers, stop, next, &mut |server, spec, step_s| {
            session.load(server, spec, (SLICE_DRAIN_NS, step_s), Listener::of(progress))
        })
    })
}

/// The same of whoever makes the loads: `load` makes one on a server, with so many seconds in a step.
pub(crate) fn go_round(
    servers: &[LoadSpec],
    stop: &AtomicBool,
    next: &mut dyn FnMut(Option<Sliced>) -> Option<SliceSpec>,
    load: &mut dyn FnMut(usize, &LoadSpec, u64) -> Result<Home, LoadError>,
) -> Result<Vec<Option<LoadOutput>>, LoadError> {
    let nothing = || servers.iter().map(|_| None).collect::<Vec<Option<Brought>>>();
    let (mut whole, mut warm_up) = (nothing(), nothing());
    let mut took_ns: Vec<Option<u64>> = vec![None; servers.len()];
    let mut sliced = None;
    while let Some(slice) = next(sliced.take()) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let mut spec = servers[slice.server].clone();
        (spec.warm_up_ns, spec.extent, spec.seed) = (slice.lead_in_ns, Extent::Window(slice.window_ns), slice.seed);
        if let Some(took_ns) = took_ns[slice.server].filter(|_| !spec.model.has_schedule()) {
            spec.start_spread_ns = took_ns.min(MOST_SPREAD_NS);
            spec.warm_up_ns = spec.warm_up_ns.max(2 * spec.start_spread_ns);
        }
        spec.warm_up_ns += phase_ns(&spec);
        // A slice is one step of the whole, however long it is.
        let home = load(slice.server, &spec, slice.window_ns.div_ceil(NS_PER_S).max(1))?;
        let brought = figures(&home);
        took_ns[slice.server] = mean_service_ns(&brought).or(took_ns[slice.server]);
        sliced = Some(brought);
        let before = if slice.counts { &mut whole } else { &mut warm_up };
        match &mut before[slice.server] {
            Some(before) => before.follow(home.brought),
            none => *none = Some(home.brought),
        }
    }
    let put_together = |(whole, warm_up): (Option<Brought>, Option<Brought>)| {
        let mut whole: Brought = whole?;
        warm_up.into_iter().for_each(|warm_up| whole.warmed_up_by(warm_up));
        Some(whole.conclude())
    };
    Ok(whole.into_iter().zip(warm_up).map(put_together).collect())
}

/// A part, drawn evenly from its seed, of the even distance at which the requests of a slice follow each other. They begin with the
/// slice, and behind a lead-in of a whole number of distances each window would begin with one, and hold one more than the rate
/// says unless its length is a whole number, too.
fn phase_ns(spec: &LoadSpec) -> u64 {
    let distance_ns = match spec.model {
        LoadModel::Closed => spec.start_spread_ns as f64 / f64::from(spec.connections),
        LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant } => NS_PER_S as f64 / rate_per_s,
        LoadModel::Open { arrivals: Arrivals::Poisson, .. } => 0.0,
    };
    (Rng::with_seed(spec.seed).f64() * distance_ns) as u64
}

/// Mean service time of what a slice measured; none without a reply.
fn mean_service_ns(slice: &Sliced) -> Option<u64> {
    let halves = slice.figures.halves.iter().flatten();
    let (completed, service_ns) =
        halves.fold((0, 0), |(completed, ns), half| (completed + half.completed, ns + half.service_ns));
    service_ns.checked_div(completed)
}

/// What is recorded of a slice.
fn figures(home: &Home) -> Sliced {
    let (begin_ns, totals) = (home.begin_ns, home.totals);
    let end_ns = totals.end_ns.max(begin_ns);
    let LoadOutput { measurement, .. } = home.brought.clone().conclude();
    let felt = measurement.latency_us.felt();
    let delays = measurement.generator.threads.iter().map(|thread| thread.run_delay_s);
    let figures = model::Slice {
        length_s: (end_ns - begin_ns) as f64 / NS_PER_S as f64,
        window_s: measurement.window_s,
        completed: measurement.in_window.completed,
        ok: measurement.in_window.ok,
        halves: Some(measurement.in_window.halves),
        replies: totals.replies,
        failed: totals.failed,
        accounting: Some(measurement.accounting.clone()),
        residence: Some(measurement.residence),
        not_drained: measurement.awaited.iter().map(|awaited| awaited.requests).sum(),
        p50_us: felt.and_then(|felt| felt.p50),
        p99_us: felt.and_then(|felt| felt.p99),
        felt: home.brought.felt(),
        generator_run_delay_s: delays.reduce(|most, delay| Some(most?.max(delay?))).flatten(),
        ..model::Slice::default()
    };
    Sliced { begin_ns, end_ns, figures, connections: measurement.connections }
}
