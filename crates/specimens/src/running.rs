//! Starting and stopping a specimen.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};

use crate::contract;
use crate::log::{Entry, Log, LogSink, Shared};
use crate::server::EventLoop;
use crate::settings::Settings;

/// A specimen running in a thread of this process. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    wake: Arc<OwnedFd>,
    entries: Option<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a specimen on a free port of 127.0.0.1. It accepts connections when this returns.
///
/// # Errors
///
/// No socket, descriptor or thread can be had, or the log file cannot be created.
pub fn start(settings: Settings, log: LogSink) -> io::Result<Server> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let wake = new_wake()?;
    let log = Log::open(log)?;
    let entries = log.shared();
    let kind = settings.kind;
    let run = prepare(listener, wake.clone(), settings, log)?;
    let thread = thread::Builder::new().name(kind.name().to_owned()).spawn(move || {
        // Nobody waits for the result; clients see that the server is gone.
        if let Err(error) = run() {
            eprintln!("specimen {kind}: stopped: {error}");
        }
    })?;
    Ok(Server { address, wake, entries, thread: Some(thread) })
}

/// Serves `listener` in the calling thread, for ever. The listener is made non-blocking and its
/// backlog is set to 4096; the timer slack of the thread is set to 1 ns. With
/// [`LogSink::Memory`] the entries cannot be had back.
///
/// # Errors
///
/// The event loop cannot be set up, or the log file cannot be created or written.
pub fn serve(listener: TcpListener, settings: Settings, log: LogSink) -> io::Result<()> {
    prepare(listener, new_wake()?, settings, Log::open(log)?)?()
}

type Run = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// Makes ready what serves `listener` until `wake` is written to.
fn prepare(listener: TcpListener, wake: Arc<OwnedFd>, settings: Settings, log: Log) -> io::Result<Run> {
    if settings.kind.has_contract() {
        return Ok(Box::new(move || contract::serve(&listener, &wake, &settings)));
    }
    let event_loop = EventLoop::new(listener, wake, &settings, log)?;
    Ok(Box::new(move || event_loop.run()))
}

fn new_wake() -> io::Result<Arc<OwnedFd>> {
    Ok(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The log so far, in the order of the actions. Empty unless it goes to [`LogSink::Memory`].
    pub fn log(&self) -> Vec<Entry> {
        self.entries.as_ref().map_or_else(Vec::new, Shared::copy)
    }

    /// Stops the server (after a stall that is going on), closes its connections, and returns the
    /// whole log, like [`log`](Server::log).
    pub fn stop(mut self) -> Vec<Entry> {
        self.halt();
        self.entries.as_ref().map_or_else(Vec::new, Shared::take)
    }

    fn halt(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Cannot fail: a single increment does not fill the counter.
            let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
            // A panic has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.halt();
    }
}
