//! One connection: its socket, what has been read and not yet understood, what is yet to be sent.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use rustix::io::{self, Errno};
use rustix::net::{SendFlags, Shutdown, send, shutdown, sockopt};

use crate::clock;
use crate::request::{self, Job, Parsed};
use crate::ticket::Ticket;

/// With this many requests in their delay or behind one, no more are read.
const QUEUE_LIMIT: usize = 1024;

/// With this many bytes unsent, no more requests are read.
const OUTPUT_LIMIT: usize = 1024 * 1024;

/// Buffers that grew beyond this are given back once they are empty.
const KEEP_CAPACITY: usize = 16 * 1024;

/// What becomes of the bytes a client sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// They are requests to answer.
    Open,
    /// They are requests that come too late: the connection was closed while idle.
    HalfClosed,
    /// They are read and thrown away.
    Deaf,
}

/// What happens to the connection once everything has been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// RST.
    Reset,
    /// FIN; then the client has some time to close its side.
    Finish,
    /// FIN as a defect; then the client has all the time it wants.
    IdleClose,
}

/// An open connection.
pub(crate) struct Conn {
    pub(crate) ticket: Ticket,
    /// What the event loop is asked to report.
    pub(crate) interest: EventFlags,
    pub(crate) state: State,
    pub(crate) ending: Option<Ending>,
    /// When its client sent something last, in nanoseconds.
    pub(crate) heard_at: u64,
    /// Requests in their delay, and those behind them that have none.
    pub(crate) queue: VecDeque<Job>,
    /// Requests that were in their delay when an idle close was decided.
    pub(crate) orphans: usize,
    /// Bytes read and not yet understood.
    pub(crate) input: Vec<u8>,
    /// Whether nothing can be made of the input without more of it.
    pub(crate) starved: bool,
    /// Bytes to send.
    pub(crate) output: Vec<u8>,
    sent: usize,
    seen: usize,
    body: Option<(Job, u64)>,
    socket: OwnedFd,
}

impl Conn {
    pub(crate) fn new(socket: OwnedFd, ticket: Ticket) -> Self {
        Conn {
            ticket,
            interest: EventFlags::IN,
            state: State::Open,
            ending: None,
            heard_at: clock::now(),
            queue: VecDeque::new(),
            orphans: 0,
            input: Vec::new(),
            starved: false,
            output: Vec::new(),
            sent: 0,
            seen: 0,
            body: None,
            socket,
        }
    }

    /// Whether no more requests may be taken in for now.
    pub(crate) fn blocked(&self) -> bool {
        self.ending.is_some() || self.queue.len() >= QUEUE_LIMIT || self.output.len() - self.sent >= OUTPUT_LIMIT
    }

    /// What the event loop ought to report.
    pub(crate) fn wanted_interest(&self) -> EventFlags {
        let mut interest = EventFlags::empty();
        interest.set(EventFlags::IN, !self.blocked());
        interest.set(EventFlags::OUT, !self.output.is_empty());
        interest
    }

    /// Takes one step through `data`: how many bytes it used up, and the request it completed.
    pub(crate) fn take(&mut self, data: &[u8]) -> (usize, Option<Job>) {
        if let Some((job, left)) = self.body {
            return self.take_body(data, job, left);
        }
        match request::parse(data, self.seen) {
            Parsed::Partial => {
                self.seen = data.len();
                self.starved = true;
                (0, None)
            }
            Parsed::Head { job, head, body: 0 } => {
                self.seen = 0;
                (head, Some(job))
            }
            Parsed::Head { job, head, body } => {
                self.seen = 0;
                self.body = Some((job, body));
                (head, None)
            }
            Parsed::Refused(page) => {
                self.seen = 0;
                (data.len(), Some(Job { page, close: true, delayed: false }))
            }
        }
    }

    fn take_body(&mut self, data: &[u8], job: Job, left: u64) -> (usize, Option<Job>) {
        let used = usize::try_from(left).map_or(data.len(), |left| left.min(data.len()));
        let left = left - used as u64;
        if left > 0 {
            self.body = Some((job, left));
            return (used, None);
        }
        self.body = None;
        (used, Some(job))
    }

    /// Decides how the connection ends; what else the client asked for is forgotten. Returns how many
    /// counted requests that were.
    pub(crate) fn end_with(&mut self, ending: Ending) -> usize {
        self.ending = Some(ending);
        if ending != Ending::IdleClose {
            self.state = State::Deaf;
        }
        self.forget()
    }

    /// Empties the queue; returns how many requests in their delay were in it.
    pub(crate) fn forget(&mut self) -> usize {
        let delayed = self.queued();
        self.queue.clear();
        delayed
    }

    /// How many requests in their delay are in the queue.
    pub(crate) fn queued(&self) -> usize {
        self.queue.iter().filter(|job| job.delayed).count()
    }

    /// Hands to the kernel as much of the output as it takes.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while self.sent < self.output.len() {
            match send(&self.socket, &self.output[self.sent..], SendFlags::NOSIGNAL) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.drop_sent();
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        self.sent = 0;
        reset(&mut self.output);
        Ok(())
    }

    /// Keeps a client that reads slowly from growing the part that was sent.
    fn drop_sent(&mut self) {
        if self.sent > self.output.len() / 2 {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Forgets the first `used` bytes of the input.
    pub(crate) fn drop_input(&mut self, used: usize) {
        if used == self.input.len() {
            reset(&mut self.input);
        } else {
            self.input.drain(..used);
        }
    }

    /// Sends FIN. That it fails on a connection that is gone does not matter: the next read tells.
    pub(crate) fn finish(&self) {
        let _ = shutdown(&self.socket, Shutdown::Write);
    }

    /// Makes the close to come an RST.
    pub(crate) fn reset_on_close(&self) {
        // Fails only where there is no connection to reset any more.
        let _ = sockopt::set_socket_linger(&self.socket, Some(Duration::ZERO));
    }
}

impl AsFd for Conn {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Empties a buffer, and keeps it if it is of the usual size.
fn reset(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEEP_CAPACITY {
        *buffer = Vec::new();
    }
}
