//! From requests to actions: what a specimen does with the bytes of a connection.

use std::collections::VecDeque;
use std::time::Duration;
use std::{io, mem, thread};

use crate::clock;
use crate::conn::{Conn, Ending, State};
use crate::idleness::Idleness;
use crate::kind::Kind;
use crate::log::{Action, Log};
use crate::outcome::Outcomes;
use crate::reply::{MALFORMED, Replies};
use crate::request::Job;
use crate::schedule::Schedule;
use crate::settings::Settings;
use crate::ticket::Ticket;

/// How long after FIN a client may take to close its side, in nanoseconds.
const LINGER_NS: u64 = 2_000_000_000;

/// Whether a connection lives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    Close,
}

/// The one pause of [`Kind::Stall`]; times in nanoseconds.
enum Stall {
    Never,
    /// Waits for the first request; the stall comes this long after it.
    Unarmed(u64),
    At(u64),
}

/// Everything a specimen knows apart from its sockets.
pub(crate) struct Desk {
    pub(crate) schedule: Schedule,
    /// Every how-many-th counted request has the handler delay, and how many there were.
    delayed_every: u64,
    asked: u64,
    pub(crate) log: Log,
    replies: Replies,
    outcomes: Outcomes,
    stall: Stall,
    stall_for: Duration,
    pub(crate) idleness: Idleness,
    /// What [`Kind::Leaking`] has kept, of which size each is, and of how many requests.
    kept: Vec<Box<[u8]>>,
    keep: (usize, usize),
    lingering: VecDeque<(u64, Ticket)>,
}

/// How many bytes are kept of a request, and of how many requests.
fn keep(settings: &Settings) -> (usize, usize) {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    match settings {
        Settings { kind: Kind::Leaking, keep_of: 0, .. } => (size(settings.keep), usize::MAX),
        Settings { kind: Kind::Leaking, .. } => (size(settings.keep), size(settings.keep_of)),
        _ => (0, 0),
    }
}

impl Desk {
    pub(crate) fn new(settings: &Settings, log: Log) -> Self {
        let stall_at = clock::nanos(settings.stall_at);
        Desk {
            schedule: Schedule::new(clock::nanos(settings.handler_delay), settings.slots()),
            delayed_every: if settings.kind == Kind::LateReplies { settings.every.max(1) } else { 1 },
            asked: 0,
            log,
            replies: Replies::new(),
            outcomes: Outcomes::new(settings),
            stall: if settings.kind == Kind::Stall { Stall::Unarmed(stall_at) } else { Stall::Never },
            stall_for: settings.stall_for,
            idleness: Idleness::new(settings),
            kept: Vec::new(),
            keep: keep(settings),
            lingering: VecDeque::new(),
        }
    }

    /// When the loop has something to do even if nothing happens on its sockets; nanoseconds.
    pub(crate) fn next_at(&self) -> Option<u64> {
        let stall = if let Stall::At(at) = self.stall { Some(at) } else { None };
        let linger = self.lingering.front().map(|&(at, _)| at);
        [self.schedule.next_at(), linger, stall, self.idleness.next_at()].into_iter().flatten().min()
    }

    /// Stops the thread if it is time for it.
    ///
    /// # Errors
    ///
    /// The log cannot be written.
    pub(crate) fn stall(&mut self, now: u64) -> io::Result<()> {
        if let Stall::At(at) = self.stall
            && at <= now
        {
            self.stall = Stall::Never;
            self.log.flush()?;
            thread::sleep(self.stall_for);
        }
        Ok(())
    }

    /// A connection whose time to close after FIN is over at `now`.
    pub(crate) fn lingered(&mut self, now: u64) -> Option<Ticket> {
        self.lingering.pop_front_if(|&mut (at, _)| at <= now).map(|(_, ticket)| ticket)
    }

    /// Takes in what was read from a connection, acts on it, and sends what there is to send.
    pub(crate) fn pump(&mut self, conn: &mut Conn, fresh: &[u8]) -> Fate {
        if !fresh.is_empty() {
            let older = !conn.input.is_empty();
            let used = if older { 0 } else { self.consume(conn, fresh) };
            conn.input.extend_from_slice(&fresh[used..]);
            conn.starved &= !older;
        }
        loop {
            if conn.flush().is_err() {
                return Fate::Close;
            }
            if conn.output.is_empty()
                && let Some(ending) = conn.ending.take()
                && self.end(conn, ending) == Fate::Close
            {
                return Fate::Close;
            }
            if conn.input.is_empty() || conn.starved || conn.blocked() {
                return Fate::Keep;
            }
            let input = mem::take(&mut conn.input);
            let used = self.consume(conn, &input);
            conn.input = input;
            conn.drop_input(used);
        }
    }

    /// Acts on the requests in `data` for as long as it may; returns how many bytes are used up.
    fn consume(&mut self, conn: &mut Conn, data: &[u8]) -> usize {
        conn.starved = false;
        let mut used = 0;
        while used < data.len() && !conn.starved && !conn.blocked() {
            if conn.state == State::Deaf {
                return data.len();
            }
            let (count, job) = conn.take(&data[used..]);
            used += count;
            if let Some(job) = job {
                self.dispatch(conn, job);
            }
        }
        used
    }

    /// A whole request has arrived.
    fn dispatch(&mut self, conn: &mut Conn, mut job: Job) {
        let too_late = conn.state == State::HalfClosed;
        if job.close {
            conn.state = State::Deaf;
        }
        if too_late {
            if job.page.counted() {
                self.log.record(conn.ticket.serial, Action::CloseBeforeReply);
            }
            return;
        }
        if job.page.counted() {
            self.arm();
            self.asked += 1;
            job.delayed = self.schedule.delays() && self.asked.is_multiple_of(self.delayed_every);
            if job.delayed {
                self.schedule.arrive(clock::now(), conn.ticket);
                conn.queue.push_back(job);
                return;
            }
        }
        if conn.queue.is_empty() {
            self.act(conn, job);
        } else {
            conn.queue.push_back(job);
        }
    }

    fn arm(&mut self) {
        if let Stall::Unarmed(after) = self.stall {
            self.stall = Stall::At(clock::now().saturating_add(after));
        }
    }

    /// The delay of the first request in the queue is over: acts on it and on those behind it that
    /// have none.
    pub(crate) fn answer(&mut self, conn: &mut Conn) {
        let Some(job) = conn.queue.pop_front() else { return };
        self.act(conn, job);
        while let Some(job) = conn.queue.pop_front_if(|job| !job.delayed) {
            self.act(conn, job);
        }
    }

    fn act(&mut self, conn: &mut Conn, job: Job) {
        if job.page.counted() {
            self.idleness.work();
            let (bytes, of) = self.keep;
            if self.kept.len() < of {
                // Zeroes would be pages that nobody has touched.
                self.kept.push(vec![1; bytes].into_boxed_slice());
            }
            let action = self.outcomes.next();
            self.perform(conn, job, action);
        } else {
            conn.output.extend_from_slice(self.replies.proper(job.page, job.close).whole());
        }
        if job.close && conn.ending.is_none() {
            conn.ending = Some(Ending::Finish);
        }
    }

    fn perform(&mut self, conn: &mut Conn, job: Job, action: Action) {
        let proper = self.replies.proper(job.page, job.close);
        let (bytes, ending) = match action {
            Action::Reply | Action::RepeatedReply => (proper.whole(), None),
            Action::WrongBody => (self.replies.wrong(job.page, job.close).whole(), None),
            // What could not be sent before the body goes with it.
            Action::SplitReply => (proper.pieces().1, None),
            Action::NoContent => (self.replies.no_content(job.close).whole(), None),
            Action::BodyAfterNoContent => (self.replies.body_after_no_content(job.close).whole(), None),
            Action::Unavailable => (self.replies.unavailable(job.close).whole(), None),
            Action::IdleClose => (proper.whole(), Some(Ending::IdleClose)),
            Action::ResetBeforeReply => (&[][..], Some(Ending::Reset)),
            Action::CloseBeforeReply => (&[][..], Some(Ending::Finish)),
            Action::ResetInReply => (proper.half_body(), Some(Ending::Reset)),
            Action::CloseInReply => (proper.half_head(), Some(Ending::Finish)),
            Action::ShortBody => (proper.half_body(), Some(Ending::Finish)),
            Action::MalformedHead => (MALFORMED, Some(Ending::Finish)),
            Action::NoAnswer => (&[][..], None),
        };
        let logged = if action == Action::IdleClose { Action::Reply } else { action };
        self.log.record(conn.ticket.serial, logged);
        if action == Action::SplitReply {
            conn.output.extend_from_slice(proper.pieces().0);
            // Fails only on a connection that is gone already, which the next read finds out.
            let _ = conn.flush();
        }
        conn.output.extend_from_slice(bytes);
        if action == Action::RepeatedReply {
            conn.output.extend_from_slice(bytes);
        }
        if let Some(ending) = ending {
            let forgotten = conn.end_with(ending);
            self.schedule.abandon(forgotten);
            if ending == Ending::IdleClose {
                conn.orphans = forgotten;
            }
        }
        if action == Action::NoAnswer {
            self.silence(conn);
        }
    }

    /// Nothing is answered on this connection any more; it stays open.
    fn silence(&mut self, conn: &mut Conn) {
        conn.state = State::Deaf;
        let forgotten = conn.forget();
        self.schedule.abandon(forgotten);
    }

    /// Everything has been sent: ends the connection, or one side of it.
    fn end(&mut self, conn: &mut Conn, ending: Ending) -> Fate {
        match ending {
            Ending::Reset => {
                conn.reset_on_close();
                return Fate::Close;
            }
            Ending::Finish => {
                conn.finish();
                self.lingering.push_back((clock::now() + LINGER_NS, conn.ticket));
            }
            Ending::IdleClose => self.close_idle(conn),
        }
        Fate::Keep
    }

    fn close_idle(&mut self, conn: &mut Conn) {
        self.log.record(conn.ticket.serial, Action::IdleClose);
        conn.finish();
        if conn.state == State::Open {
            conn.state = State::HalfClosed;
        }
        for _ in 0..mem::take(&mut conn.orphans) {
            self.log.record(conn.ticket.serial, Action::CloseBeforeReply);
        }
    }
}
