use std::collections::{HashMap, VecDeque};
use std::io::PipeReader;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::MonotonicClock;
use model::{BackendUse, Clock, NS_PER_S};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, acceptfrom_with, ipproto, sockopt};

use super::connection::{Connection, Next, Turns, reset};

/// Edges fetched by one wait.
const EVENTS_PER_WAIT: usize = 512;

/// Most bytes read at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Connections that may wait to be accepted; the kernel lowers it to its own limit.
const BACKLOG: i32 = 65_535;

/// What an event is about when it is about no connection: those are numbered from 1, and have two sockets each.
const STOPPED: u64 = 0;
const LISTENER: u64 = 1;

/// What goes through a relay, for whoever looks from another thread.
#[derive(Debug, Default)]
pub(super) struct Traffic(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// Open connections, and those of them on which an answer is owed.
    open: u32,
    asked: u32,
    seen: BackendUse,
}

impl Traffic {
    /// What went through so far.
    pub(super) fn seen(&self) -> BackendUse {
        self.counted().seen
    }

    /// From here on the most at once is told anew; what went through so far.
    pub(super) fn begin(&self) -> BackendUse {
        let mut counted = self.counted();
        (counted.seen.connections_max, counted.seen.at_once_max) = (counted.open, counted.asked);
        counted.seen
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        // What a thread that panicked has counted by then still holds.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(&self) {
        let mut counted = self.counted();
        counted.open += 1;
        counted.seen.opened += 1;
        counted.seen.connections_max = counted.seen.connections_max.max(counted.open);
    }

    fn turned(&self, turns: Turns) {
        let mut counted = self.counted();
        counted.asked += turns.asked as u32;
        counted.seen.at_once_max = counted.seen.at_once_max.max(counted.asked);
        counted.asked = counted.asked.saturating_sub(turns.answered as u32);
        counted.seen.replies += turns.answered;
    }

    fn closed(&self, was_asked: bool) {
        let mut counted = self.counted();
        counted.open = counted.open.saturating_sub(1);
        counted.asked = counted.asked.saturating_sub(u32::from(was_asked));
    }
}

/// The loop over all connections.
pub(super) struct Relay {
    target: SocketAddr,
    half_delay_ns: u64,
    address: SocketAddr,
    listener: OwnedFd,
    epoll: OwnedFd,
    /// Kept because its other end is what tells the end.
    _stopped: PipeReader,
    connections: HashMap<u64, Connection>,
    next_connection: u64,
    /// Connections with something that goes on at a time. All is held equally long, so they are in the order of time.
    due: VecDeque<(u64, u64)>,
    /// Whether a connection waits that could not be accepted for want of files.
    starved: bool,
    buffer: Vec<u8>,
    traffic: Arc<Traffic>,
}

impl Relay {
    pub(super) fn new(target: SocketAddr, half_delay_ns: u64, stopped: PipeReader) -> Result<Self, Errno> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let listener = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        rustix::net::bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        rustix::net::listen(&listener, BACKLOG)?;
        let address = SocketAddr::try_from(rustix::net::getsockname(&listener)?)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN | EventFlags::ET)?;
        epoll::add(&epoll, &stopped, EventData::new_u64(STOPPED), EventFlags::IN)?;
        Ok(Self {
            target,
            half_delay_ns,
            address,
            listener,
            epoll,
            _stopped: stopped,
            connections: HashMap::new(),
            next_connection: 1,
            due: VecDeque::new(),
            starved: false,
            buffer: vec![0; BUFFER_BYTES],
            traffic: Arc::default(),
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    /// Relays until the other end of the pipe is closed.
    pub(super) fn run(&mut self) -> Result<(), Errno> {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENTS_PER_WAIT);
        loop {
            self.send_due();
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), self.time_left().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
            for event in &events {
                let (token, flags) = (event.data.u64(), event.flags);
                match token {
                    STOPPED => return Ok(()),
                    LISTENER => self.accept(),
                    _ => self.ready(token / 2, (token % 2) as usize, flags),
                }
            }
        }
    }

    /// Until the next is due; none while nothing is held.
    fn time_left(&self) -> Option<Timespec> {
        let (due_ns, _) = self.due.front()?;
        let left_ns = due_ns.saturating_sub(MonotonicClock.now_ns());
        Some(Timespec { tv_sec: (left_ns / NS_PER_S) as i64, tv_nsec: (left_ns % NS_PER_S) as _ })
    }

    fn send_due(&mut self) {
        let now_ns = MonotonicClock.now_ns();
        while let Some((_, connection)) = self.due.pop_front_if(|(due_ns, _)| *due_ns <= now_ns) {
            self.pump(connection);
        }
    }

    fn ready(&mut self, connection: u64, side: usize, flags: EventFlags) {
        let over = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        let readable = over || flags.intersects(EventFlags::IN | EventFlags::RDHUP);
        if let Some(known) = self.connections.get_mut(&connection) {
            known.ready(side, readable, over || flags.contains(EventFlags::OUT));
            self.pump(connection);
        }
    }

    fn pump(&mut self, connection: u64) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        let (due, half_delay_ns) = (&mut self.due, self.half_delay_ns);
        // Read after the bytes were, so that they are not early.
        let mut hold = || {
            let due_ns = MonotonicClock.now_ns() + half_delay_ns;
            due.push_back((due_ns, connection));
            due_ns
        };
        let next = known.pump(MonotonicClock.now_ns(), &mut self.buffer, &mut hold);
        let turns = known.take_turns();
        if turns != Turns::default() {
            self.traffic.turned(turns);
        }
        if next == Next::Open {
            return;
        }
        let over = self.connections.remove(&connection);
        self.traffic.closed(over.as_ref().is_some_and(Connection::is_asked));
        if let (Some(over), Next::Reset) = (over, next) {
            over.reset();
        }
        if self.starved {
            self.accept();
        }
    }

    fn accept(&mut self) {
        self.starved = false;
        loop {
            match acceptfrom_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok((generator, _)) => self.open(generator),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => {
                    self.starved = true;
                    return;
                }
            }
        }
    }

    /// A connection to the target for one of the generator's, which is reset where there can be none.
    fn open(&mut self, generator: OwnedFd) {
        let number = self.next_connection;
        self.next_connection += 1;
        match self.connect(&generator, number) {
            Ok(target) => {
                self.connections.insert(number, Connection::new([generator, target]));
                self.traffic.opened();
            }
            Err(_) => reset(generator),
        }
    }

    fn connect(&self, generator: &OwnedFd, number: u64) -> Result<OwnedFd, Errno> {
        let family = if self.target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let target = rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        match rustix::net::connect(&target, &self.target) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(errno),
        }
        for (side, socket) in [(0, generator), (1, &target)] {
            // The delay is ours alone: what is due goes out at once.
            sockopt::set_tcp_nodelay(socket, true)?;
            let edges = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
            epoll::add(&self.epoll, socket, EventData::new_u64(number * 2 + side), edges)?;
        }
        Ok(target)
    }
}
