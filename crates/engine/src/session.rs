//! Generator threads that keep the connections to one or several servers open while one load follows another.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

use model::{Clock, LoadSpec};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};

use crate::clock::{MonotonicClock, ThreadTimes};
use crate::collector::{Collector, Listener, Totals};
use crate::demand::{Demand, share};
use crate::output::Brought;
use crate::part::Part;
use crate::port::Port;
use crate::protocol::Protocol;
use crate::raw_log::RawLog;
use crate::second::Felt;
use crate::tcp::TcpWire;
use crate::tls::{Secure, Secured, TlsError};
use crate::wire::Wire;
use crate::worker::{OneLoad, Resting, Task};

/// Time between the moment at which all threads are ready and the start of a load.
pub(crate) const LEAD_NS: u64 = 1_000_000;

/// A load that could not be made at all. A request that fails is not such an error: it is in the books.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The kernel refused something that the generator cannot do without.
    #[error("the generator cannot run: {0}")]
    Kernel(#[from] Errno),
    /// TLS cannot be spoken as it was asked for.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A thread could not be started.
    #[error("a generator thread cannot be started: {0}")]
    Thread(std::io::Error),
    /// Replies cannot be written down one by one.
    #[error("replies cannot be written down: {0}")]
    RawLog(std::io::Error),
    /// Another thread could not take part, so the load did not begin.
    #[error("the load did not begin because a generator thread could not take part")]
    Abandoned,
    /// One of several generators was told to begin when that time had passed already.
    #[error("the load did not begin: it was to {} ms ago", late_ns / 1_000_000)]
    TooLate {
        /// For how long it had.
        late_ns: u64,
    },
    /// The load was to be made elsewhere, and came to nothing there.
    #[error("{0}")]
    Elsewhere(String),
    /// A thread of the generator ended before its time.
    #[error("a generator thread panicked; this is a bug in bourdon")]
    Panicked,
}

/// What a load may be asked for beyond its figures.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// Whether each second is told with its histograms.
    pub histograms: bool,
    /// Which of the load's threads are made here; all of them where it is not said.
    pub share: Option<Share>,
    /// Folder in which each thread writes into a file of its own how long each reply was waited for whose request the books count, in nanoseconds
    /// (64 bits, little-endian), to try these against. That costs time.
    pub raw_log: Option<&'static Path>,
}

/// The threads of a load that one of several generators makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The first of them.
    pub first_thread: u32,
    /// How many they are.
    pub threads: u32,
}

impl Share {
    /// How many of so many things fall on it, where the load has so many threads.
    pub fn of(self, count: u64, threads: u32) -> u64 {
        (self.first_thread..self.first_thread + self.threads).map(|thread| share(count, thread, threads)).sum()
    }
}

impl RunOptions {
    /// Whether others make a part of it elsewhere.
    pub(crate) fn is_shared(self, spec: &LoadSpec) -> bool {
        self.share.is_some_and(|share| share.threads < spec.threads)
    }

    /// The threads that are made here.
    pub(crate) fn threads(self, spec: &LoadSpec) -> Range<u32> {
        self.share.map_or(0..spec.threads, |Share { first_thread, threads }| first_thread..first_thread + threads)
    }
}

/// Threads that wait for the next load, with all connections open.
pub(crate) struct Session<'a> {
    threads: Vec<Thread>,
    options: RunOptions,
    stop: &'a AtomicBool,
    /// By server, of the load under way ([`Task::served`]).
    served: &'a [AtomicBool],
    /// When its loads begin, on the engine's clock, where somebody else says it: the next may not be earlier.
    pub(crate) begin_ns: Option<u64>,
}

/// One load that has been made.
pub(crate) struct Home {
    /// When it began, with its warm-up.
    pub(crate) begin_ns: u64,
    pub(crate) totals: Totals,
    pub(crate) brought: Brought,
}

/// The session's side of a thread.
struct Thread {
    orders: Sender<Order>,
    /// What each order brought; nothing more comes from a thread that is lost.
    parts: Receiver<Part>,
}

/// One load of a thread, on its connections to one of the servers.
struct Order {
    server: usize,
    turn: OneLoad,
}

/// Starts the threads and opens their connections to the servers of `servers`, which are asked for the same but for the
/// address; `conduct` gives them loads, one after the other.
///
/// # Errors
/// When the generator itself cannot run.
pub(crate) fn session<'a, P: Protocol, T>(
    speak: fn(&'a LoadSpec, u32) -> P,
    servers: &'a [LoadSpec],
    options: RunOptions,
    stop: &'a AtomicBool,
    conduct: impl FnOnce(&mut Session<'_>) -> Result<T, LoadError>,
) -> Result<T, LoadError> {
    let secured = |spec: &LoadSpec| spec.tls.as_ref().map(Secure::speaking::<P>).transpose();
    let secured = servers.iter().map(secured).collect::<Result<Vec<Option<Secure>>, TlsError>>()?;
    let lost = AtomicBool::new(false);
    let served: Vec<AtomicBool> = servers.iter().map(|_| AtomicBool::new(false)).collect();
    std::thread::scope(|scope| {
        let (mut handles, threads) = (Vec::new(), Vec::new());
        let mut session = Session { threads, options, stop, served: &served, begin_ns: None };
        let mut ready = Vec::new();
        for thread in options.threads(&servers[0]) {
            let ((orders, taken), (brought, parts), (open, opened)) =
                (mpsc::channel(), mpsc::channel(), mpsc::channel());
            let (secured, lost, served, place) = (&secured, &lost, &served, handles.len() as u32);
            let body = move || {
                let mut attendance = Attendance { lost, is_over: false };
                let seats = open_all(speak, servers, secured, ([place, thread], stop, lost, served))?;
                // Whoever conducts has gone where another thread is lost.
                let _ = open.send(());
                serve(seats, &taken, &brought)?;
                attendance.is_over = true;
                Ok(())
            };
            let name = format!("generator-{thread}");
            match std::thread::Builder::new().name(name).spawn_scoped(scope, body) {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    lost.store(true, Ordering::Relaxed);
                    return Err(LoadError::Thread(error));
                }
            }
            session.threads.push(Thread { orders, parts });
            ready.push(opened);
        }
        let all_ready = ready.iter().try_for_each(|opened| opened.recv().map_err(|_| LoadError::Abandoned));
        let conducted = all_ready.and_then(|()| conduct(&mut session));
        // Without orders to come the threads end.
        drop(session);
        // All of them, for a thread that fell and was not waited for would take this one with it.
        let ended: Vec<_> = handles.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        let ended = ended.into_iter().try_for_each(|ended| ended.map_err(|_| LoadError::Panicked)?);
        // The cause before its consequence.
        ended.and(conducted)
    })
}

impl Session<'_> {
    /// Makes one load on the connections to one of the servers. `spec` is what the connections were opened for, with the
    /// warm-up, the spread of the starts, the extent and the seed of this load, in whose course a step has so many seconds; whatever is in flight
    /// `drain_ns` after its window is given up.
    ///
    /// # Errors
    /// When the generator itself cannot run.
    pub(crate) fn load(
        &mut self,
        server: usize,
        spec: &LoadSpec,
        (drain_ns, step_s): (u64, u64),
        listener: Listener<'_>,
    ) -> Result<Home, LoadError> {
        let (full, seconds) = mpsc::channel();
        let mut collector = Collector::new(Felt::of(spec), step_s, self.threads.len(), self.options.histograms);
        self.served[server].store(self.options.is_shared(spec), Ordering::Relaxed);
        let (begin_ns, checkpoints, mut empties) = (self.begins_ns()?, listener.stopped.is_some(), Vec::new());
        for ((place, thread), to) in (0..).zip(self.options.threads(spec)).zip(&self.threads) {
            let (mut port, empty) = Port::new(place, full.clone());
            let raw = self.options.raw_log.map(|folder| RawLog::create(folder, thread));
            port.raw = raw.transpose().map_err(LoadError::RawLog)?;
            empties.push(empty);
            let turn = OneLoad { demand: Demand::new(spec, thread, begin_ns), drain_ns, port, checkpoints };
            to.orders.send(Order { server, turn }).map_err(|_| LoadError::Abandoned)?;
        }
        drop(full);
        collector.collect(&seconds, &empties, listener);
        let part = |thread: &Thread| thread.parts.recv().map_err(|_| LoadError::Abandoned);
        let parts = self.threads.iter().map(part).collect::<Result<Vec<Part>, LoadError>>()?;
        let totals = collector.totals();
        let stopped = self.stop.load(Ordering::Relaxed).then(|| self.options.threads(spec));
        Ok(Home { begin_ns, totals, brought: Brought::new(spec, parts, collector, stopped) })
    }

    /// When the next load begins: with all threads at once, a moment from now or when it was said.
    fn begins_ns(&self) -> Result<u64, LoadError> {
        let soonest_ns = MonotonicClock.now_ns() + LEAD_NS;
        match self.begin_ns {
            Some(begin_ns) if begin_ns < soonest_ns => Err(LoadError::TooLate { late_ns: soonest_ns - begin_ns }),
            said => Ok(said.unwrap_or(soonest_ns)),
        }
    }
}

/// Tells the other threads should this one end by an error or a panic.
struct Attendance<'a> {
    lost: &'a AtomicBool,
    is_over: bool,
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

/// A thread's connections to one server, whatever it speaks and over which wire.
trait Seat<'a> {
    /// Makes one load; gives the connections back.
    fn serve(self: Box<Self>, turn: OneLoad) -> Result<(Part, Box<dyn Seat<'a> + 'a>), Errno>;
}

impl<'a, P: Protocol + 'a, W: Wire + 'a> Seat<'a> for Resting<'a, P, W, MonotonicClock> {
    fn serve(self: Box<Self>, turn: OneLoad) -> Result<(Part, Box<dyn Seat<'a> + 'a>), Errno> {
        let (part, rested) = Resting::serve(*self, turn, ThreadTimes::now)?;
        Ok((part, Box::new(rested)))
    }
}

/// Opens the connections of the calling thread to each server: it is so many-th here, and of the load.
fn open_all<'a: 'b, 'b, P: Protocol + 'b>(
    speak: fn(&'a LoadSpec, u32) -> P,
    servers: &'a [LoadSpec],
    secured: &[Option<Secure>],
    ([place, thread], stop, lost, served): ([u32; 2], &'b AtomicBool, &'b AtomicBool, &'b [AtomicBool]),
) -> Result<Vec<Option<Box<dyn Seat<'b> + 'b>>>, LoadError> {
    prepare_thread(own_cpu(&servers[0].cpus, place));
    let open = |((spec, secure), served): ((&'a LoadSpec, &Option<Secure>), &'b AtomicBool)| {
        let task = Task { spec, thread, stop, lost, served };
        let (slots, protocol, clock) = (task.slots(), speak(spec, thread), MonotonicClock);
        let wire = TcpWire::new(spec.address, &spec.sources, slots, spec.quick_ack)?;
        let seat: Box<dyn Seat<'b> + 'b> = match secure {
            None => Box::new(Resting::opened(task, protocol, wire, clock)?),
            Some(secure) => {
                Box::new(Resting::opened(task, protocol, Secured::new(wire, secure.clone(), slots), clock)?)
            }
        };
        Ok(Some(seat))
    };
    servers.iter().zip(secured).zip(served).map(open).collect()
}

/// Makes one load after another, until no more are ordered.
fn serve<'a>(
    mut seats: Vec<Option<Box<dyn Seat<'a> + 'a>>>,
    orders: &Receiver<Order>,
    parts: &Sender<Part>,
) -> Result<(), LoadError> {
    for Order { server, turn } in orders {
        let Some(seat) = seats[server].take() else { break };
        let (part, seat) = seat.serve(turn)?;
        seats[server] = Some(seat);
        if parts.send(part).is_err() {
            break;
        }
    }
    Ok(())
}

/// Gives the calling thread timers that fire at their time, where they might be 50 µs late, and these CPUs, if any are
/// named. Where the kernel denies it, the lateness that follows is measured and reported like any other.
pub fn prepare_thread(cpus: &[u32]) {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    if !cpus.is_empty() {
        let mut allowed = CpuSet::new();
        cpus.iter().for_each(|cpu| allowed.set(*cpu as usize));
        let _ = sched_setaffinity(None, &allowed);
    }
}

/// The CPU of a thread of those that are taken in turn; none where none is named.
fn own_cpu(cpus: &[u32], thread: u32) -> &[u32] {
    let place = thread as usize % cpus.len().max(1);
    cpus.get(place..=place).unwrap_or_default()
}
