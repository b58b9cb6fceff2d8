//! The simulated server, and the wire to it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use model::{Clock, stirred};
use rustix::io::Errno;

use super::echo::{self, Kind};
use super::{Language, VirtualClock};
use crate::wire::{EDGES_PER_WAIT, Progress, Ready, Received, Wire};

/// How the simulated server behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedServer {
    /// Time each request takes once it is its turn.
    pub service_ns: u64,
    /// Requests served at once; the others wait in order of arrival.
    pub workers: usize,
    /// Time until a connection is open.
    pub connect_ns: u64,
    /// From when, since the load's start, and for how long the server answers nothing.
    pub stall: Option<(u64, u64)>,
    /// From when, since the load's start, and for how long its machine lets the generator sleep on.
    pub overslept: Option<(u64, u64)>,
    /// From when, since the load's start, and for how long the generator is held up after a send.
    pub held_up: Option<(u64, u64)>,
    /// How long the generator is busy with opening a connection.
    pub opening_ns: u64,
    /// From when on, since the load's start, connections are refused.
    pub refuses_from: Option<u64>,
    /// The reply to each request of the mix, in its order.
    pub replies: Vec<Vec<u8>>,
    /// Bytes that one send takes at most.
    pub takes: usize,
    /// What it speaks.
    pub language: Language,
    /// What it says first on each connection.
    pub says_first: Vec<u8>,
    /// Every so many requests take so much longer than the others, which do not wait for them.
    pub slow: Option<(u64, u64)>,
    /// By how much longer a request takes at most, each by a share of it that is drawn from its number.
    pub jitter_ns: u64,
    /// How many of the first connection slots the server closes, and after how long without a request on them.
    pub closes_idle: Option<(u32, u64)>,
}

impl SimulatedServer {
    /// A server that answers `body` after `service_ns`, to any number of requests at once.
    pub fn new(service_ns: u64, body: &str) -> Self {
        Self::of(service_ns, &[body])
    }

    /// One that answers each request of a mix with its body.
    pub fn of(service_ns: u64, bodies: &[&str]) -> Self {
        let reply =
            |body: &&str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes();
        let replies = bodies.iter().map(reply).collect();
        Self {
            service_ns,
            workers: usize::MAX,
            connect_ns: 0,
            stall: None,
            overslept: None,
            held_up: None,
            opening_ns: 0,
            refuses_from: None,
            replies,
            takes: usize::MAX,
            language: Language::Http1,
            says_first: Vec::new(),
            slow: None,
            jitter_ns: 0,
            closes_idle: None,
        }
    }
}

/// The wire to the simulated server, and the server.
pub(super) struct SimulatedWire {
    server: SimulatedServer,
    /// Whether every request takes the same time.
    is_even: bool,
    clock: VirtualClock,
    requests: Vec<Vec<u8>>,
    slots: Vec<Slot>,
    arrivals: u64,
    waiting: VecDeque<Job>,
    busy: usize,
    /// Replies to come, by time.
    due: BinaryHeap<Reverse<(u64, Job)>>,
    ready: Vec<Ready>,
    /// Connections that will be open, by time.
    connecting: VecDeque<(u64, Ready)>,
    /// Edges that come at once.
    immediate: Vec<Ready>,
}

/// A request that arrived whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    /// Its number among all that have arrived: those of one moment are served in order.
    number: u64,
    slot: u32,
    generation: u32,
    /// Its place in the mix.
    place: u32,
    /// Its number on its connection.
    id: u32,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    generation: u32,
    open: bool,
    received: Vec<u8>,
    inbox: Vec<u8>,
    /// When something was last sent on it.
    used_ns: u64,
    /// Whether the server has closed it.
    ended: bool,
}

impl SimulatedWire {
    pub(super) fn new(server: SimulatedServer, requests: Vec<Vec<u8>>, slots: u32, clock: VirtualClock) -> Self {
        let is_even = server.slow.is_none() && server.stall.is_none() && server.jitter_ns == 0;
        Self {
            server,
            is_even,
            clock,
            requests,
            slots: vec![Slot::default(); slots as usize],
            arrivals: 0,
            waiting: VecDeque::new(),
            busy: 0,
            due: BinaryHeap::new(),
            ready: Vec::new(),
            connecting: VecDeque::new(),
            immediate: Vec::new(),
        }
    }

    /// A request's turn has come, if a worker is free.
    fn begin(&mut self, job: Job, now_ns: u64) {
        if self.busy >= self.server.workers {
            return self.waiting.push_back(job);
        }
        self.busy += 1;
        let even_ns = now_ns + self.server.service_ns;
        // Whoever counts the loop's instructions counts these: they are few.
        let end_ns = if self.is_even { even_ns } else { self.uneven(&job, now_ns, even_ns) };
        self.due.push(Reverse((end_ns, job)));
    }

    /// When a request ends that would have ended at `even_ns`.
    #[inline(never)]
    fn uneven(&self, job: &Job, now_ns: u64, even_ns: u64) -> u64 {
        let mut end_ns = even_ns + stirred(job.number) % (self.server.jitter_ns + 1);
        if let Some((every, longer_ns)) = self.server.slow
            && job.number.is_multiple_of(every)
        {
            end_ns += longer_ns;
        }
        if let Some((from_ns, for_ns)) = self.server.stall
            && end_ns > from_ns
            && now_ns < from_ns + for_ns
        {
            // Whatever is under way or arrives while the server stands still ends that much later at the earliest.
            end_ns = end_ns.max(from_ns + for_ns);
        }
        end_ns
    }

    /// A request ended then: the next one is begun at once, whenever the generator looks for the reply.
    fn finish(&mut self, Job { slot, generation, place, id, .. }: Job, at_ns: u64) {
        self.busy -= 1;
        let target = &mut self.slots[slot as usize];
        if target.open && target.generation == generation {
            let reply = &self.server.replies[place as usize];
            match self.server.language {
                Language::Http1 => target.inbox.extend_from_slice(reply),
                Language::Echo => target.inbox.extend(echo::frame(Kind::Answer, id, reply)),
            }
            self.ready.push(Ready { slot, generation, readable: true, writable: true, hangup: false });
        }
        if let Some(job) = self.waiting.pop_front() {
            self.begin(job, at_ns);
        }
    }
}

impl SimulatedWire {
    fn close_idle(&mut self) {
        let Some((slots, after_ns)) = self.server.closes_idle else { return };
        let now_ns = self.clock.now_ns();
        for (slot, it) in (0..slots).zip(&mut self.slots) {
            if it.open && !it.ended && now_ns > it.used_ns + after_ns {
                it.ended = true;
                let generation = it.generation;
                self.ready.push(Ready { slot, generation, readable: true, writable: true, hangup: true });
            }
        }
    }

    /// Takes the next whole request out of what a slot has received; gives its place in the mix and its number.
    fn arrived(&mut self, slot: u32) -> Option<(u32, u32)> {
        let received = &mut self.slots[slot as usize].received;
        let Language::Echo = self.server.language else {
            let place = self.requests.iter().position(|request| received.starts_with(request))?;
            received.drain(..self.requests[place].len());
            return Some((place as u32, 0));
        };
        if received.starts_with(echo::GREETING) {
            received.drain(..echo::GREETING.len());
        }
        loop {
            let (kind, id, payload) = echo::head(received.first_chunk()?).expect("what a client sends is a frame");
            let whole: Vec<u8> = received.get(..echo::HEAD_BYTES + payload)?.to_vec();
            received.drain(..whole.len());
            if kind == Kind::Ask {
                let place = self.requests.iter().position(|request| *request == whole[echo::HEAD_BYTES..])?;
                return Some((place as u32, id));
            }
        }
    }
}

impl Wire for SimulatedWire {
    fn connect(&mut self, slot: u32, generation: u32) -> Result<(), Errno> {
        let inbox = self.server.says_first.clone();
        let open = Ready { slot, generation, readable: !inbox.is_empty(), writable: true, hangup: false };
        let used_ns = self.clock.now_ns();
        self.slots[slot as usize] = Slot { generation, open: true, inbox, used_ns, ..Slot::default() };
        self.clock.advance_to(self.clock.now_ns() + self.server.opening_ns);
        if self.server.refuses_from.is_some_and(|from_ns| self.clock.now_ns() >= from_ns) {
            return Err(Errno::CONNREFUSED);
        }
        match self.server.connect_ns {
            0 => self.immediate.push(open),
            after_ns => self.connecting.push_back((self.clock.now_ns() + after_ns, open)),
        }
        Ok(())
    }

    fn progress(&mut self, _slot: u32) -> Result<Progress, Errno> {
        Ok(Progress::Open)
    }

    fn send(&mut self, slot: u32, bytes: &[u8]) -> Result<usize, Errno> {
        let taken = bytes.len().min(self.server.takes);
        let target = &mut self.slots[slot as usize];
        if target.ended {
            return Err(Errno::PIPE);
        }
        target.received.extend_from_slice(&bytes[..taken]);
        target.used_ns = self.clock.now_ns();
        let generation = target.generation;
        if taken < bytes.len() {
            self.immediate.push(Ready { slot, generation, readable: false, writable: true, hangup: false });
        }
        while let Some((place, id)) = self.arrived(slot) {
            self.arrivals += 1;
            self.begin(Job { number: self.arrivals, slot, generation, place, id }, self.clock.now_ns());
        }
        if let Some((from_ns, for_ns)) = self.server.held_up
            && self.clock.now_ns() >= from_ns
        {
            self.clock.advance_to(from_ns + for_ns);
        }
        Ok(taken)
    }

    fn receive(&mut self, slot: u32, buffer: &mut [u8]) -> Result<Received, Errno> {
        let Slot { inbox, ended, .. } = &mut self.slots[slot as usize];
        if inbox.is_empty() {
            return if *ended { Ok(Received { bytes: 0, more: false }) } else { Err(Errno::AGAIN) };
        }
        let count = inbox.len().min(buffer.len());
        buffer[..count].copy_from_slice(&inbox[..count]);
        inbox.drain(..count);
        Ok(Received { bytes: count, more: count == buffer.len() })
    }

    fn close(&mut self, slot: u32) {
        self.slots[slot as usize].open = false;
    }

    fn wait(&mut self, timeout_ns: u64) -> Result<usize, Errno> {
        self.ready = std::mem::take(&mut self.immediate);
        if self.ready.is_empty() {
            let until_ns = self.clock.now_ns() + timeout_ns;
            let next_ns = self.due.peek().map_or(u64::MAX, |Reverse((at_ns, _))| *at_ns);
            let next_ns = self.connecting.front().map_or(next_ns, |(at_ns, _)| next_ns.min(*at_ns));
            self.clock.advance_to(next_ns.min(until_ns));
            if let Some((from_ns, for_ns)) = self.server.overslept
                && self.clock.now_ns() >= from_ns
            {
                self.clock.advance_to(from_ns + for_ns);
            }
            while let Some((_, open)) = self.connecting.pop_front_if(|(at_ns, _)| *at_ns <= self.clock.now_ns()) {
                self.ready.push(open);
            }
            while let Some(Reverse((at_ns, job))) = self.due.peek().copied()
                && at_ns <= self.clock.now_ns()
            {
                self.due.pop();
                self.finish(job, at_ns);
            }
        }
        self.close_idle();
        if self.ready.len() > EDGES_PER_WAIT {
            self.immediate.extend(self.ready.drain(EDGES_PER_WAIT..));
        }
        Ok(self.ready.len())
    }

    fn ready(&self, index: usize) -> Ready {
        self.ready[index]
    }
}
