//! The event loop: level-triggered epoll over non-blocking sockets.

use std::io;
use std::net::TcpListener;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketFlags, accept_with, listen, recv, sockopt};
use rustix::thread::set_current_timer_slack;

use crate::clock;
use crate::conn::Conn;
use crate::connections::Connections;
use crate::desk::{Desk, Fate};
use crate::kind::Kind;
use crate::log::{Action, Log};
use crate::settings::Settings;
use crate::ticket::Ticket;

/// Event data that is not the token of a connection: no connection has the greatest index.
const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - (1 << 32);

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// The most connections accepted before those that are open get their turn.
const ACCEPTS: usize = 256;

/// The most events taken at a time.
const EVENTS: usize = 256;

/// The most bytes read at a time.
const READ: usize = 64 * 1024;

/// How long no connection is accepted after that failed, in nanoseconds.
const BACK_OFF_NS: u64 = 20_000_000;

/// How often it is looked for unused connections within the time for which they may be that.
const LOOKS_FOR_UNUSED: u64 = 10;

/// A specimen, ready to run.
pub(crate) struct EventLoop {
    epoll: OwnedFd,
    listener: TcpListener,
    // Kept open for as long as it is waited on.
    _wake: Arc<OwnedFd>,
    conns: Connections,
    accepted: u64,
    nodelay: bool,
    accept_from: Option<u64>,
    /// Every how-many-th connection is left open that its client closed, and how many these were so far.
    left_open: Option<(u64, u64)>,
    /// How long a connection may go unused, and when that is looked at next; nanoseconds.
    unused: Option<(u64, u64)>,
    desk: Desk,
    buffer: Vec<u8>,
}

impl EventLoop {
    /// Prepares to serve `listener` until `wake`, an eventfd, is written to.
    pub(crate) fn new(listener: TcpListener, wake: Arc<OwnedFd>, settings: &Settings, log: Log) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        // On a socket that listens already, this changes the length of the queue.
        listen(&listener, BACKLOG)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(EventLoop {
            epoll,
            listener,
            _wake: wake,
            conns: Connections::default(),
            accepted: 0,
            nodelay: settings.kind != Kind::SplitReply,
            accept_from: None,
            left_open: (settings.kind == Kind::Unclosed).then_some((settings.every.max(1), 0)),
            unused: (settings.kind == Kind::IdleTimeout).then(|| (clock::nanos(settings.idle_for), 0)),
            desk: Desk::new(settings, log),
            buffer: vec![0; READ],
        })
    }

    /// Serves until woken.
    pub(crate) fn run(mut self) -> io::Result<()> {
        set_current_timer_slack(NonZeroU64::new(1))?;
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            self.desk.log.flush()?;
            self.wait(&mut events)?;
            if self.next_at().is_some() {
                self.act_on_time()?;
            }
            for event in &events {
                let Event { flags, data } = *event;
                match data.u64() {
                    LISTENER => self.accept()?,
                    WAKE => return self.desk.log.flush(),
                    token => self.handle(token, flags),
                }
            }
            let conns = &self.conns;
            self.desk.schedule.sweep(|ticket| wanted(conns, ticket));
        }
    }

    /// When there is something to do even without an event; nanoseconds.
    fn next_at(&self) -> Option<u64> {
        let unused = self.unused.map(|(_, at)| at);
        [self.desk.next_at(), self.accept_from, unused].into_iter().flatten().min()
    }

    fn wait(&self, events: &mut Vec<Event>) -> io::Result<()> {
        events.clear();
        let timeout = self.next_at().map(|at| clock::timespec(at.saturating_sub(clock::now())));
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Does what is due.
    fn act_on_time(&mut self) -> io::Result<()> {
        self.desk.stall(clock::now())?;
        let now = clock::now();
        loop {
            let conns = &self.conns;
            let Some(ticket) = self.desk.schedule.expire(now, |ticket| wanted(conns, ticket)) else { break };
            if let Some(conn) = self.conns.get_mut(ticket) {
                self.desk.answer(conn);
                let fate = self.desk.pump(conn, &[]);
                self.settle(ticket, fate);
            }
        }
        self.desk.idleness.act(now);
        self.close_unused(now);
        while let Some(ticket) = self.desk.lingered(now) {
            self.close(ticket);
        }
        if self.accept_from.is_some_and(|from| from <= now) {
            self.accept_from = None;
            self.watch_listener(EventFlags::IN)?;
        }
        Ok(())
    }

    /// Closes the connections that nobody has used for so long.
    fn close_unused(&mut self, now: u64) {
        let Some((longest, at)) = self.unused.filter(|(_, at)| *at <= now) else { return };
        let is_unused = |conn: &&Conn| conn.queue.is_empty() && conn.heard_at.saturating_add(longest) <= now;
        let unused: Vec<Ticket> = self.conns.all().filter(is_unused).map(|conn| conn.ticket).collect();
        for ticket in unused {
            self.desk.log.record(ticket.serial, Action::IdleClose);
            self.close(ticket);
        }
        self.unused = Some((longest, now.max(at).saturating_add((longest / LOOKS_FOR_UNUSED).max(1))));
    }

    fn watch_listener(&self, flags: EventFlags) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, &self.listener, EventData::new_u64(LISTENER), flags)?)
    }

    fn accept(&mut self) -> io::Result<()> {
        for _ in 0..ACCEPTS {
            match accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => self.open(socket),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                // Mostly no descriptors or no memory left. The connection keeps waiting, and with it
                // the event; without a pause the loop would spin.
                Err(_) => {
                    self.accept_from = Some(clock::now() + BACK_OFF_NS);
                    return self.watch_listener(EventFlags::empty());
                }
            }
        }
        Ok(())
    }

    fn open(&mut self, socket: OwnedFd) {
        self.accepted += 1;
        // Fails only on a connection that is gone already, which the first read finds out.
        let _ = sockopt::set_tcp_nodelay(&socket, self.nodelay);
        let conn = self.conns.insert(self.accepted, |ticket| Conn::new(socket, ticket));
        let ticket = conn.ticket;
        let added = epoll::add(&self.epoll, &*conn, EventData::new_u64(ticket.token()), conn.interest);
        if added.is_err() {
            self.close(ticket);
        }
    }

    fn handle(&mut self, token: u64, flags: EventFlags) {
        let Some(conn) = self.conns.by_token(token) else { return };
        let ticket = conn.ticket;
        let count = if conn.interest.contains(EventFlags::IN) && flags != EventFlags::OUT {
            match recv(&*conn, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((0, _)) => return self.hung_up(ticket),
                Ok((count, _)) => {
                    conn.heard_at = clock::now();
                    count
                }
                Err(Errno::AGAIN | Errno::INTR) => 0,
                Err(_) => return self.close(ticket),
            }
        } else if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            // Reported again and again, and nothing that is waited for will come any more.
            return self.close(ticket);
        } else {
            0
        };
        let fate = self.desk.pump(conn, &self.buffer[..count]);
        self.settle(ticket, fate);
    }

    /// Brings what the event loop reports into line with what the connection waits for.
    fn settle(&mut self, ticket: Ticket, fate: Fate) {
        let Some(conn) = self.conns.get_mut(ticket) else { return };
        let interest = conn.wanted_interest();
        if fate == Fate::Keep && interest == conn.interest {
            return;
        }
        conn.interest = interest;
        let data = EventData::new_u64(ticket.token());
        if fate == Fate::Close || epoll::modify(&self.epoll, &*conn, data, interest).is_err() {
            self.close(ticket);
        }
    }

    /// Its client has closed it.
    fn hung_up(&mut self, ticket: Ticket) {
        if let Some((every, hung_up)) = &mut self.left_open {
            *hung_up += 1;
            if hung_up.is_multiple_of(*every)
                && let Some(conn) = self.conns.get_mut(ticket)
                && epoll::delete(&self.epoll, &*conn).is_ok()
            {
                return;
            }
        }
        self.close(ticket);
    }

    fn close(&mut self, ticket: Ticket) {
        if let Some(conn) = self.conns.remove(ticket) {
            self.desk.schedule.abandon(conn.queued());
        }
    }
}

/// Whether a request of this connection is still waited for.
fn wanted(conns: &Connections, ticket: Ticket) -> bool {
    conns.get(ticket).is_some_and(|conn| !conn.queue.is_empty())
}
