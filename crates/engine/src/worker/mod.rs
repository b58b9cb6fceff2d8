//! The loop of one generator thread: one copy for every load model and protocol.
//!
//! Its clock is read after each receive, and that reading serves as the stamp of the send that follows; in the
//! open model also before each send that is due. Due sends come first and are looked at again between events.

mod busy;
mod opening;
mod receiving;
mod sending;
mod wrong;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Clock, Extent, LoadSpec, NS_PER_S, NotSent, RequestCount};
use rustix::io::Errno;

use busy::BusyMeter;
use wrong::Unended;

use crate::clock::ThreadTimes;
use crate::connection::{Connections, State};
use crate::demand::{DRAIN_NS, Demand};
use crate::ledger::Ledger;
use crate::part::Part;
use crate::reply::HeadCache;
use crate::request::Requests;
use crate::run::opening_books;
use crate::standstill::STANDSTILL_NS;
use crate::wire::{Ready, Wire};

/// Connections that one thread has in the making at once: below the smallest usual accept queue (128), so that
/// opening them does not overflow it.
const CONNECTING_AT_ONCE: usize = 64;

/// Longest sleep without a look at the stop flag and the clock: a standstill that begins in a sleep is known only from
/// when the sleep should have ended.
const LONGEST_WAIT_NS: u64 = 10_000_000;

/// With `spin`, the last of a wait is spent awake: longer than a sleep overshoots on a busy machine.
const SPIN_NS: u64 = 1_000_000;

/// Bytes received at once: a whole pipeline of small replies.
const BUFFER_BYTES: usize = 256 * 1024;

/// Full buffers taken from one connection in a row; then it is the others' turn, and the schedule's.
const RECEIVES_IN_A_ROW: usize = 4;

/// How often the age of requests is looked at, as parts of the time-out: a time-out is noticed at most 1/32 late.
const LOOKS_PER_TIMEOUT: u64 = 32;

/// Connections whose state is fetched into the cache at once, before their events are handled.
const SLOTS_WARMED: usize = 16;

/// Slots looked at in a row for time-outs: some microseconds of work.
const SLOTS_PER_LOOK: usize = 1024;

/// Longest time the connections may take to open before the load starts without the rest.
const OPENING_NS: u64 = 5 * NS_PER_S;

/// One thread's part of a load.
pub(crate) struct Worker<'a, W, C> {
    spec: &'a LoadSpec,
    thread: u32,
    wire: W,
    clock: C,
    requests: Requests<'a>,
    demand: Demand,
    ledger: Ledger,
    connections: Connections,
    /// Slots that can take the next due request (open model).
    free: VecDeque<u32>,
    /// Since when `free` has not been empty.
    free_since_ns: u64,
    /// Slots to connect again, by time.
    reconnects: BinaryHeap<Reverse<(u64, u32)>>,
    /// Slots that have never been opened yet, from this one on.
    unopened: u32,
    /// Slots that have not begun with the load yet, from this one on.
    unstarted: u32,
    connecting: usize,
    in_flight: usize,
    next_timeout_look_ns: u64,
    /// The slot with which the next look begins.
    next_timeout_slot: u32,
    /// Connections with more to receive than their turn allowed: their edge will not be reported again.
    unfinished: Vec<Ready>,
    unended: Option<Unended>,
    buffer: Vec<u8>,
    cache: HeadCache,
    stop: &'a AtomicBool,
    counts: Counts,
    /// Within the window.
    longest_stall_ns: u64,
    /// When the thread last looked at the clock, or should have woken up to do so.
    looked_ns: u64,
    /// A longer time between two looks is the longest so far, or a standstill.
    remarkable_ns: u64,
    /// Stood still since the last wait: replies that came meanwhile still lie in the sockets.
    to_catch_up: bool,
    last_ended_ns: u64,
}

/// Connection events of one thread, over the whole load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    pub(crate) connect_failed: u64,
    /// Those of them that the peer refused, or with whom no handshake came to its end.
    pub(crate) refused: u64,
    pub(crate) closed_idle: u64,
    pub(crate) closed_by_reply: u64,
    pub(crate) unasked_replies: u64,
}

impl Counts {
    /// Adds those of other connections.
    pub(crate) fn add(&mut self, other: Counts) {
        self.opened += other.opened;
        self.connect_failed += other.connect_failed;
        self.refused += other.refused;
        self.closed_idle += other.closed_idle;
        self.closed_by_reply += other.closed_by_reply;
        self.unasked_replies += other.unasked_replies;
    }
}

impl<'a, W: Wire, C: Clock> Worker<'a, W, C> {
    pub(crate) fn new(spec: &'a LoadSpec, thread: u32, slots: u32, wire: W, clock: C, stop: &'a AtomicBool) -> Self {
        let now_ns = clock.now_ns();
        let (demand, ledger) = opening_books(spec, now_ns);
        Self {
            spec,
            thread,
            wire,
            requests: Requests::new(spec, thread),
            demand,
            ledger,
            connections: Connections::new(slots, spec.pipeline.max(1)),
            free: VecDeque::with_capacity(slots as usize),
            free_since_ns: now_ns,
            reconnects: BinaryHeap::new(),
            unopened: 0,
            unstarted: 0,
            connecting: 0,
            in_flight: 0,
            next_timeout_look_ns: 0,
            next_timeout_slot: 0,
            unfinished: Vec::new(),
            unended: None,
            buffer: vec![0; BUFFER_BYTES],
            cache: HeadCache::default(),
            stop,
            counts: Counts::default(),
            longest_stall_ns: 0,
            looked_ns: now_ns,
            remarkable_ns: 0,
            to_catch_up: false,
            last_ended_ns: now_ns,
            clock,
        }
    }

    /// Opens the connections before the load starts, so that opening them is not lateness. Those that cannot be
    /// opened are tried again under load, where their failure counts.
    pub(crate) fn open_connections(&mut self) -> Result<(), Errno> {
        if !self.spec.keep_alive {
            self.unopened = self.connections.len() as u32;
            return Ok(());
        }
        let deadline_ns = self.clock.now_ns() + OPENING_NS;
        loop {
            let now_ns = self.clock.now_ns();
            self.open_some(now_ns);
            let all_tried = self.connecting == 0 && self.unopened as usize == self.connections.len();
            if all_tried || now_ns >= deadline_ns || self.stopped() {
                return Ok(());
            }
            let edges = self.wire.wait(LONGEST_WAIT_NS)?;
            for index in 0..edges {
                let ready = self.wire.ready(index);
                self.on_ready(ready);
            }
        }
    }

    /// The load proper, on the demand and the books that were made when all threads were ready.
    pub(crate) fn run(
        mut self,
        demand: Demand,
        ledger: Ledger,
        thread_times: fn() -> ThreadTimes,
    ) -> Result<Part, Errno> {
        let opening = std::mem::replace(&mut self.ledger, ledger);
        self.ledger.add_opening(&opening);
        // Its histograms are 1.5 MiB that nobody needs while the load runs.
        drop(opening);
        if self.requests.count() > 1 {
            self.ledger.by_request = vec![RequestCount::default(); self.requests.count()];
        }
        self.demand = demand;
        let mut busy = BusyMeter::new(thread_times);
        self.await_start()?;
        self.looked_ns = self.demand.start_ns;
        loop {
            let now_ns = self.clock.now_ns();
            self.look(now_ns);
            busy.look(now_ns, self.demand.window);
            if self.stopped() || self.nobody_listens(now_ns) {
                self.end_window(now_ns);
            }
            self.do_due(now_ns);
            if self.is_done(now_ns) {
                busy.end(now_ns);
                return Ok(self.finish(now_ns, busy));
            }
            let now_ns = self.after_sending();
            let timeout_ns = self.time_to_next(now_ns);
            self.to_catch_up = false;
            let edges = self.wire.wait(timeout_ns)?;
            // It may have been held up in its sleep as well.
            self.looked_ns = now_ns + timeout_ns;
            self.handle(edges);
        }
    }

    /// Whether every attempt to connect was refused up to the end of the warm-up: the window would be no different. An
    /// exact number of requests ends by itself.
    fn nobody_listens(&self, now_ns: u64) -> bool {
        let Counts { opened, connect_failed, refused, .. } = self.counts;
        opened == 0
            && refused > 0
            && refused == connect_failed
            && now_ns > self.demand.window.start_ns
            && matches!(self.spec.extent, Extent::Window(_))
    }

    /// All threads begin at one instant; until then connections that close or open are looked after.
    fn await_start(&mut self) -> Result<(), Errno> {
        loop {
            let now_ns = self.clock.now_ns();
            if now_ns >= self.demand.start_ns {
                return Ok(());
            }
            let edges = self.wire.wait(self.demand.start_ns - now_ns)?;
            self.handle(edges);
        }
    }

    fn handle(&mut self, edges: usize) {
        for ready in std::mem::take(&mut self.unfinished) {
            self.connections[ready.slot].unfinished = false;
            self.on_ready(ready);
            self.dispatch();
        }
        for index in 0..edges {
            if index % SLOTS_WARMED == 0 {
                let next = index..edges.min(index + SLOTS_WARMED);
                self.connections.warm(next.map(|index| self.wire.ready(index).slot));
            }
            let ready = self.wire.ready(index);
            self.on_ready(ready);
            if self.demand.is_open() {
                self.dispatch();
            }
        }
    }

    /// Slots whose time has come begin with what the load model wants of them.
    fn start_slots(&mut self) {
        while (self.unstarted as usize) < self.connections.len() {
            // Each first send has its own stamp: a thousand of them take milliseconds.
            let now_ns = self.clock.now_ns();
            self.look(now_ns);
            let slot = self.unstarted;
            if self.start_of(slot) > now_ns {
                return;
            }
            self.unstarted += 1;
            match self.connections[slot].state {
                State::Open => self.offer(slot, now_ns),
                State::Closed if !self.spec.keep_alive => self.offer(slot, now_ns),
                State::Closed if slot < self.unopened => self.reopen(slot, now_ns),
                _ => {}
            }
        }
    }

    /// When a slot begins: those of all threads evenly over the spread, so that handlers that all wait for the same
    /// time do not do so in lockstep.
    fn start_of(&self, slot: u32) -> u64 {
        let place = u128::from(slot) * u128::from(self.spec.threads) + u128::from(self.thread);
        let after_ns = u128::from(self.spec.start_spread_ns) * place / u128::from(self.spec.connections.max(1));
        self.demand.start_ns + after_ns as u64
    }

    fn slots(&self) -> Range<u32> {
        0..self.connections.len() as u32
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Notes the time. What passed since the last look is the thread's own doing.
    fn look(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.looked_ns) > self.remarkable_ns {
            self.note_gap(self.looked_ns, now_ns);
        }
        self.looked_ns = now_ns;
    }

    /// The time of the last look; under the open model, whose sends have stamps of their own, of one now.
    fn after_sending(&mut self) -> u64 {
        if self.demand.is_open() {
            self.look_now();
        }
        self.looked_ns
    }

    /// Looks at the clock between two pieces of work, so that together they are no standstill.
    fn look_now(&mut self) -> u64 {
        let now_ns = self.clock.now_ns();
        self.look(now_ns);
        now_ns
    }

    /// The thread was held up from one moment to another; as its longest stall counts what of it lies in the window.
    #[cold]
    fn note_gap(&mut self, from_ns: u64, until_ns: u64) {
        let window = self.demand.window;
        let stall_ns = window.clamp(until_ns) - window.clamp(from_ns);
        self.longest_stall_ns = self.longest_stall_ns.max(stall_ns);
        self.remarkable_ns = self.longest_stall_ns.min(STANDSTILL_NS - 1);
        if until_ns - from_ns >= STANDSTILL_NS {
            self.to_catch_up = true;
            self.ledger.stood_still(from_ns, until_ns);
        }
    }

    fn end_window(&mut self, now_ns: u64) {
        if now_ns < self.demand.window.end_ns {
            self.demand.stop(now_ns);
            self.ledger.move_end(self.demand.window);
        }
    }

    /// Everything whose time has come.
    fn do_due(&mut self, now_ns: u64) {
        self.ledger.tick(now_ns);
        self.start_slots();
        self.dispatch();
        // Sending takes time, and what follows must not look at the requests just sent from before their send.
        let now_ns = self.after_sending();
        while let Some(Reverse((at_ns, slot))) = self.reconnects.peek().copied()
            && at_ns <= now_ns
        {
            self.reconnects.pop();
            let now_ns = self.look_now();
            self.reopen(slot, now_ns);
        }
        self.open_some(now_ns);
        if !self.to_catch_up {
            self.look_for_timeouts(now_ns);
        }
    }

    fn is_done(&self, now_ns: u64) -> bool {
        let end_ns = self.demand.window.end_ns;
        let idle = self.in_flight == 0;
        let held = || self.connections.iter().any(|connection| connection.reserved.is_some());
        if now_ns >= end_ns {
            let drained = idle && (self.demand.is_open() || !held());
            return drained || now_ns >= end_ns.saturating_add(DRAIN_NS);
        }
        self.demand.is_over(now_ns) && idle && !held()
    }

    fn time_to_next(&self, now_ns: u64) -> u64 {
        if !self.unfinished.is_empty() {
            return 0;
        }
        let window = self.demand.window;
        let mut next_ns = now_ns + LONGEST_WAIT_NS;
        let mut until = |at_ns: u64| next_ns = next_ns.min(at_ns);
        if let Some(due_ns) = self.demand.next_due_ns()
            && !self.free.is_empty()
            && now_ns < window.end_ns
        {
            until(due_ns);
        }
        if let Some(Reverse((at_ns, _))) = self.reconnects.peek() {
            until(*at_ns);
        }
        if (self.unstarted as usize) < self.connections.len() {
            until(self.start_of(self.unstarted));
        }
        if self.spec.timeout_ns.is_some() && self.in_flight + self.connecting > 0 {
            until(self.next_timeout_look_ns);
        }
        let drained_ns = window.end_ns.saturating_add(DRAIN_NS);
        for edge_ns in [window.start_ns, self.demand.earliest_end_ns, window.end_ns, drained_ns] {
            if edge_ns > now_ns {
                until(edge_ns);
            }
        }
        let left_ns = next_ns.saturating_sub(now_ns);
        if self.spec.spin { left_ns.saturating_sub(SPIN_NS) } else { left_ns }
    }

    fn finish(mut self, now_ns: u64, busy: BusyMeter) -> Part {
        if now_ns < self.demand.window.end_ns {
            // An exact number of requests is done before its time: the window ends with the last of them, or when the
            // next one at their rate would be due.
            let earliest_end_ns = self.demand.earliest_end_ns.max(self.demand.window.start_ns + 1);
            self.demand.stop(self.last_ended_ns.max(earliest_end_ns));
            self.ledger.move_end(self.demand.window);
        }
        self.charge_unsent(now_ns);
        self.look_for_unasked();
        for slot in self.slots() {
            while let Some(moments) = self.connections.pop_oldest(slot) {
                self.ledger.unfinished(moments, now_ns);
            }
        }
        self.ledger.close(now_ns);
        Part {
            counts: self.counts,
            completed: self.connections.iter().map(|connection| connection.completed).collect(),
            threads: vec![busy.thread_use(self.longest_stall_ns)],
            tls: self.wire.tls(),
            ..self.ledger.into_part()
        }
    }

    /// What came after a connection's last reply belongs to no request.
    fn look_for_unasked(&mut self) {
        for slot in self.slots() {
            let connection = &self.connections[slot];
            if connection.state == State::Open && connection.in_flight() == 0 {
                let more = self.wire.receive(slot, &mut self.buffer);
                self.counts.unasked_replies += u64::from(more.is_ok_and(|more| more.bytes > 0));
            }
        }
    }

    /// Requests that came due and never left: those held by a connection, and those the schedule still owes.
    fn charge_unsent(&mut self, now_ns: u64) {
        for slot in self.slots() {
            if let Some(reserved) = self.connections[slot].reserved.take() {
                self.ledger.not_sent(reserved.intended_ns, 1, NotSent::WaitingAtEnd, 0, now_ns);
            }
        }
        charge_owed(&mut self.demand, &mut self.ledger, now_ns);
    }
}

/// Books what the schedule still owes, in as many steps as the books tell apart: there may be more of them than there is
/// time to look at.
fn charge_owed(demand: &mut Demand, ledger: &mut Ledger, now_ns: u64) {
    while let Some(intended_ns) = demand.next_due_ns() {
        let count = demand.take_before(ledger.alike_until(intended_ns, now_ns));
        ledger.scheduled(intended_ns, count);
        ledger.not_sent(intended_ns, count, NotSent::WaitingAtEnd, 0, now_ns);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
