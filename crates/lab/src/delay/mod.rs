//! A network delay on loopback, where the kernel cannot make one: a proxy between generator and target, or between target and what it asks, that
//! holds every byte for half of the delay in each direction, so that a round trip costs the whole.
//!
//! It keeps the order of bytes and passes on how a connection ends: a FIN after what was held before it, a reset at its
//! time. No byte is early; what the proxy itself needs is added on top. It holds about 256 KiB a direction and
//! connection and then stops reading, so that a sender feels a slow receiver. Connecting is not delayed, for the
//! kernel answers it before the proxy knows; the connection to the target is opened as soon as the other is
//! accepted, and one that the target refuses is reset.
//!
//! What it costs, in latency and CPU, is told in docs/METHOD.md, section 7.

mod connection;
mod relay;

use std::io::PipeWriter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use engine::{MonotonicClock, prepare_thread};
use model::{BackendUse, Clock, NS_PER_S, ThreadUse};
use rustix::io::Errno;

use relay::{Relay, Traffic};

/// A proxy that runs on a thread of its own. Dropping it closes every connection and ends the thread.
pub(crate) struct DelayProxy {
    address: SocketAddr,
    traffic: Arc<Traffic>,
    /// Closing it ends the thread.
    running: Option<PipeWriter>,
    thread: Option<JoinHandle<ThreadUse>>,
}

impl DelayProxy {
    /// Listens on a free port of loopback for connections to `target`, and runs on `cpus` (none leaves it to the
    /// kernel). The delay is that of a round trip.
    ///
    /// # Errors
    /// When the kernel gives it no socket or thread.
    pub(crate) fn start(target: SocketAddr, delay_ns: u64, cpus: &[u32]) -> std::io::Result<Self> {
        let (stopped, running) = std::io::pipe()?;
        let mut relay = Relay::new(target, delay_ns.div_ceil(2), stopped)?;
        let (address, traffic, cpus) = (relay.address(), relay.traffic(), cpus.to_vec());
        let thread = std::thread::Builder::new().name("network delay".to_owned()).spawn(move || {
            // On the generator's CPUs, not the target's. Where the kernel denies it, the delay is longer.
            prepare_thread(&cpus);
            let start = (MonotonicClock.now_ns(), engine::thread_cpu_ns());
            // Without readiness nothing can be relayed: the connections are closed, which the load reports.
            let _: Result<(), Errno> = relay.run();
            let since_s = |now_ns: u64, start_ns: u64| (now_ns - start_ns) as f64 / NS_PER_S as f64;
            let wall_s = since_s(MonotonicClock.now_ns(), start.0);
            let cpu_s = since_s(engine::thread_cpu_ns(), start.1);
            ThreadUse { cpu_s, wall_s, ..ThreadUse::default() }
        })?;
        Ok(Self { address, traffic, running: Some(running), thread: Some(thread) })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A load begins: the most at once is told anew. What went through it before.
    pub(crate) fn begin(&self) -> BackendUse {
        self.traffic.begin()
    }

    /// What went through it so far.
    pub(crate) fn seen(&self) -> BackendUse {
        self.traffic.seen()
    }

    /// Ends it; gives what it used from its start on.
    pub(crate) fn stop(mut self) -> ThreadUse {
        self.end()
    }

    fn end(&mut self) -> ThreadUse {
        self.running = None;
        // A panic of the thread has been reported by its hook, and its connections are closed.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for DelayProxy {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
