//! Waiting for an answer: not for ever, and not once nobody wants it any more.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::MonotonicClock;
use model::Clock;

/// How often a client that waits asks whether it is to wait on.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Whether a client is to wait on.
pub(crate) type GoesOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// When all of an answer must be there, on the clock, unless nobody waits for it any more.
pub(crate) struct Deadline<'a> {
    at_ns: AtomicU64,
    goes_on: GoesOn<'a>,
}

impl<'a> Deadline<'a> {
    pub(crate) fn new(goes_on: GoesOn<'a>) -> Arc<Self> {
        Arc::new(Self { at_ns: AtomicU64::new(0), goes_on })
    }

    /// From now on.
    pub(crate) fn set(&self, after: Duration) {
        self.at_ns.store(MonotonicClock.now_ns() + after.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Waits for something that is told how long it may take, again and again until it comes or the time has run out.
    pub(crate) fn wait<T>(&self, mut once: impl FnMut(Duration) -> Result<T>) -> Result<T> {
        while (self.goes_on)() {
            let left_ns = self.at_ns.load(Ordering::Relaxed).saturating_sub(MonotonicClock.now_ns());
            if left_ns == 0 {
                return Err(ErrorKind::TimedOut.into());
            }
            match once(Duration::from_nanos(left_ns).min(LOOK_EVERY)) {
                // What a socket says whose time has run out.
                Err(error)
                    if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                }
                done => return done,
            }
        }
        Err(Error::other("interrupted"))
    }
}

/// Looks again and again until something is there; none once it is looked for no longer.
pub(crate) fn look_until<T>(
    every: Duration,
    mut look: impl FnMut() -> Option<T>,
    goes_on: impl Fn() -> bool,
) -> Option<T> {
    loop {
        let found = look();
        if found.is_some() || !goes_on() {
            return found;
        }
        std::thread::sleep(every);
    }
}

/// A connection on which nothing is waited for beyond a moment: what drips for ever must not keep anybody waiting.
pub(crate) struct Until<'a> {
    stream: TcpStream,
    deadline: Arc<Deadline<'a>>,
}

impl<'a> Until<'a> {
    pub(crate) fn new(stream: TcpStream, deadline: Arc<Deadline<'a>>) -> Self {
        Self { stream, deadline }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.deadline.wait(|at_most| {
            self.stream.set_read_timeout(Some(at_most))?;
            self.stream.read(buffer)
        })
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.deadline.wait(|at_most| {
            self.stream.set_write_timeout(Some(at_most))?;
            self.stream.write(bytes)
        })
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}
