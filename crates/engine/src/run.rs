//! Starts the threads of a load, lets them begin together, and puts together what they bring home.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Condvar, Mutex, PoisonError};

use model::{Clock, Extent, LoadSpec, Measurement};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::{MonotonicClock, ThreadTimes};
use crate::collector::{Collector, Passed};
use crate::demand::Demand;
use crate::http1::Http1;
use crate::part::Part;
use crate::protocol::Protocol;
use crate::second::{Felt, SecondPort};
use crate::tcp::TcpWire;
use crate::tls::{Secure, Secured, TlsError};
use crate::wire::Wire;
use crate::worker::{Opening, Task};

/// Time between the moment at which all threads are ready and the start of the load.
const LEAD_NS: u64 = 1_000_000;

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
    /// Another thread could not take part, so the load did not begin.
    #[error("the load did not begin because a generator thread could not take part")]
    Abandoned,
    /// A thread of the generator ended before its time.
    #[error("a generator thread panicked; this is a bug in bourdon")]
    Panicked,
}

/// What a load may be asked for beyond its figures.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions {
    /// Whether each second is told with its histograms.
    pub histograms: bool,
}

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

/// Makes the load that `spec` describes and measures it. Setting `stop` ends it early; what was measured is kept.
/// `progress` is called once for each second that has passed, and for the time after the window.
///
/// # Errors
/// When the generator itself cannot run; whatever the server does is a result.
pub fn run(
    spec: &LoadSpec,
    options: RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<LoadOutput, LoadError> {
    run_speaking(Http1::new, spec, options, stop, progress)
}

/// Makes a load of any protocol; `speak` gives what a thread speaks.
pub(crate) fn run_speaking<'a, P: Protocol>(
    speak: fn(&'a LoadSpec, u32) -> P,
    spec: &'a LoadSpec,
    options: RunOptions,
    stop: &'a AtomicBool,
    progress: &mut dyn FnMut(&Passed),
) -> Result<LoadOutput, LoadError> {
    let secure = spec.tls.as_ref().map(Secure::speaking::<P>).transpose()?;
    let start = Start::new(spec.threads);
    let (full, seconds) = mpsc::channel();
    let mut collector = Collector::new(Felt::of(spec), spec.step_s(), spec.threads as usize, options.histograms);
    let results: Result<Vec<Part>, LoadError> = std::thread::scope(|scope| {
        let (mut handles, mut empties, mut refused) = (Vec::new(), Vec::new(), None);
        for thread in 0..spec.threads {
            let (port, empty) = SecondPort::new(thread, full.clone());
            empties.push(empty);
            let (start, secure) = (&start, secure.as_ref());
            let name = format!("generator-{thread}");
            let task = Task { spec, thread, stop, lost: &start.lost };
            let speak = move || speak(spec, thread);
            let body = move || generate(speak, task, start, secure, port);
            let handle = std::thread::Builder::new().name(name).spawn_scoped(scope, body);
            match handle {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    start.abandon();
                    refused = Some(LoadError::Thread(error));
                    break;
                }
            }
        }
        drop(full);
        collector.collect(&seconds, &empties, progress);
        let results: Vec<_> =
            handles.into_iter().map(|handle| handle.join().map_err(|_| LoadError::Panicked)?).collect();
        // The cause before its consequence: threads that were left waiting only say so.
        let (abandoned, others): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|result| matches!(result, Err(LoadError::Abandoned)));
        let all = others.into_iter().chain(abandoned).collect();
        refused.map_or(all, Err)
    });
    Ok(conclude(spec, results?, collector, stop.load(Ordering::Relaxed)))
}

/// The common start of all threads.
struct Start {
    threads: u32,
    state: Mutex<StartState>,
    changed: Condvar,
    /// Whether a thread has ended before its time. Looked at under load, where nobody waits for a lock.
    lost: AtomicBool,
}

#[derive(Default)]
struct StartState {
    ready: u32,
    /// A thread will never come: nobody may wait for it.
    abandoned: bool,
    at_ns: Option<u64>,
}

impl Start {
    fn new(threads: u32) -> Self {
        Self { threads, state: Mutex::default(), changed: Condvar::new(), lost: AtomicBool::new(false) }
    }

    /// Waits for all threads; gives the instant at which the load starts.
    ///
    /// # Errors
    /// When a thread will never come.
    fn wait(&self, clock: &impl Clock) -> Result<u64, LoadError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready += 1;
        if state.ready == self.threads {
            state.at_ns = Some(clock.now_ns() + LEAD_NS);
            self.changed.notify_all();
        }
        loop {
            if let Some(at_ns) = state.at_ns {
                return Ok(at_ns);
            }
            if state.abandoned {
                return Err(LoadError::Abandoned);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn abandon(&self) {
        self.lost.store(true, Ordering::Relaxed);
        self.state.lock().unwrap_or_else(PoisonError::into_inner).abandoned = true;
        self.changed.notify_all();
    }
}

/// Tells the other threads should this one end by an error or a panic, before all could start or under load.
struct Attendance<'a> {
    start: &'a Start,
    is_over: bool,
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.start.abandon();
        }
    }
}

fn generate<P: Protocol>(
    speak: impl FnOnce() -> P,
    task: Task<'_>,
    start: &Start,
    secure: Option<&Secure>,
    port: SecondPort,
) -> Result<Part, LoadError> {
    let mut attendance = Attendance { start, is_over: false };
    prepare_thread(own_cpu(&task.spec.cpus, task.thread));
    let (slots, protocol) = (task.slots(), speak());
    let wire = TcpWire::new(task.spec.address, &task.spec.sources, slots)?;
    let part = match secure {
        None => work(task, start, protocol, wire, port),
        Some(secure) => work(task, start, protocol, Secured::new(wire, secure.clone(), slots), port),
    }?;
    attendance.is_over = true;
    Ok(part)
}

/// What one thread does, whatever it speaks and over which wire.
fn work(
    task: Task<'_>,
    start: &Start,
    protocol: impl Protocol,
    wire: impl Wire,
    port: SecondPort,
) -> Result<Part, LoadError> {
    let (spec, clock) = (task.spec, MonotonicClock);
    let mut opening = Opening::new(task, protocol, wire, clock);
    opening.open_all()?;
    let at_ns = start.wait(&clock)?;
    let demand = Demand::new(spec, task.thread, at_ns);
    Ok(opening.begin(demand, at_ns, port).run(ThreadTimes::now)?)
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

/// Puts together what the threads bring home.
pub(crate) fn conclude(spec: &LoadSpec, parts: Vec<Part>, collector: Collector, stopped: bool) -> LoadOutput {
    let together = |mut whole: Part, part: Part| {
        whole.merge(part);
        whole
    };
    let mut whole = parts.into_iter().reduce(together).expect("a load has a thread");
    let answered_until_s = collector.answered_until_s();
    let (steps, distributions) = collector.end();
    // The threads have handed theirs over, second by second.
    whole.distributions = distributions;
    let (window_start_ns, window_end_ns) = (whole.window_start_ns, whole.window_end_ns);
    let interrupted = stopped && !is_whole(spec, &whole);
    let measurement = Measurement { interrupted, steps, answered_until_s, ..whole.summarise() };
    LoadOutput { measurement, window_start_ns, window_end_ns }
}

/// Whether a load came to its end, though somebody may have asked for another: what is left then is to wait for replies.
fn is_whole(spec: &LoadSpec, brought: &Part) -> bool {
    match spec.extent {
        Extent::Window(window_ns) => brought.window_end_ns - brought.window_start_ns >= window_ns,
        Extent::Requests { count, .. } => brought.books.scheduled == count && brought.books.in_flight_at_end == 0,
    }
}

#[cfg(test)]
mod tests;
