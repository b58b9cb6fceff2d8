//! The loop of one generator thread: one copy for every load model and protocol.
//!
//! Its clock is read after each receive, and that reading serves as the stamp of the send that follows; in the
//! open model also before each send that is due. Due sends come first and are looked at again between events.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Clock, LoadSpec, NS_PER_S, NotSent, ThreadUse};
use rustix::io::Errno;

use crate::connection::{Connection, Reserved, State};
use crate::demand::{DRAIN_NS, Demand, Window};
use crate::ledger::{Ledger, Moments};
use crate::outcome::{Loss, not_sent};
use crate::reply::{Advance, HeadCache, Reply};
use crate::request::RequestBatch;
use crate::wire::{Ready, Wire};

/// Connections that one thread has in the making at once: below the smallest usual accept queue (128), so that
/// opening them does not overflow it.
const CONNECTING_AT_ONCE: usize = 64;

/// Longest sleep without a look at the stop flag.
const LONGEST_WAIT_NS: u64 = 50_000_000;

/// Bytes received at once: a whole pipeline of small replies.
const BUFFER_BYTES: usize = 256 * 1024;

/// Full buffers taken from one connection in a row; then it is the others' turn, and the schedule's.
const RECEIVES_IN_A_ROW: usize = 4;

/// How often the age of requests is looked at, as parts of the time-out: a time-out is noticed at most 1/32 late.
const LOOKS_PER_TIMEOUT: u64 = 32;

/// Longest time the connections may take to open before the load starts without the rest.
const OPENING_NS: u64 = 5 * NS_PER_S;

/// One thread's part of a load.
pub(crate) struct Worker<'a, W, C> {
    spec: &'a LoadSpec,
    wire: W,
    clock: C,
    batch: RequestBatch,
    head_only: bool,
    pipeline: usize,
    demand: Demand,
    ledger: Ledger,
    connections: Vec<Connection>,
    /// Slots that can take the next due request (open model).
    free: VecDeque<u32>,
    /// Since when `free` has not been empty.
    free_since_ns: u64,
    /// Slots to connect again, by time.
    reconnects: BinaryHeap<Reverse<(u64, u32)>>,
    /// Slots that have never been opened yet, from this one on.
    unopened: u32,
    connecting: usize,
    in_flight: usize,
    next_timeout_look_ns: u64,
    /// Connections with more to receive than their turn allowed: their edge will not be reported again.
    unfinished: Vec<Ready>,
    buffer: Vec<u8>,
    cache: HeadCache,
    stop: &'a AtomicBool,
    counts: Counts,
    longest_stall_ns: u64,
    /// Last reading of the clock since the thread woke up.
    last_look_ns: Option<u64>,
    last_ended_ns: u64,
}

/// Connection events of one thread, over the whole load.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    pub(crate) connect_failed: u64,
    pub(crate) closed_idle: u64,
    pub(crate) unasked_replies: u64,
}

/// What one thread brings home.
pub(crate) struct WorkerResult {
    pub(crate) ledger: Ledger,
    pub(crate) counts: Counts,
    /// Completions inside the window, by slot.
    pub(crate) completed: Vec<u64>,
    pub(crate) thread: ThreadUse,
    pub(crate) window_start_ns: u64,
    pub(crate) window_end_ns: u64,
}

impl<'a, W: Wire, C: Clock> Worker<'a, W, C> {
    pub(crate) fn new(
        spec: &'a LoadSpec,
        slots: u32,
        wire: W,
        clock: C,
        demand: Demand,
        ledger: Ledger,
        stop: &'a AtomicBool,
    ) -> Self {
        let now_ns = clock.now_ns();
        Self {
            spec,
            wire,
            batch: RequestBatch::new(spec),
            head_only: spec.request.method == "HEAD",
            pipeline: spec.pipeline.max(1) as usize,
            demand,
            ledger,
            connections: (0..slots).map(|_| Connection::new()).collect(),
            free: VecDeque::with_capacity(slots as usize),
            free_since_ns: now_ns,
            reconnects: BinaryHeap::new(),
            unopened: 0,
            connecting: 0,
            in_flight: 0,
            next_timeout_look_ns: 0,
            unfinished: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
            cache: HeadCache::default(),
            stop,
            counts: Counts::default(),
            longest_stall_ns: 0,
            last_look_ns: None,
            last_ended_ns: now_ns,
            clock,
        }
    }

    /// Opens the connections before the load starts, so that opening them is no lateness. Those that cannot be
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
        thread_cpu_ns: fn() -> u64,
    ) -> Result<WorkerResult, Errno> {
        let opening = std::mem::replace(&mut self.ledger, ledger);
        self.ledger.connect.add(&opening.connect).ok();
        self.demand = demand;
        let mut busy = BusyMeter::new(thread_cpu_ns);
        self.await_start()?;
        self.start_slots();
        loop {
            let now_ns = self.clock.now_ns();
            busy.look(now_ns, self.demand.window);
            if self.stopped() {
                self.end_window(now_ns);
            }
            self.do_due(now_ns);
            if self.is_done(now_ns) {
                busy.end(now_ns);
                return Ok(self.finish(now_ns, busy));
            }
            let timeout_ns = self.time_to_next(if self.demand.is_open() { self.clock.now_ns() } else { now_ns });
            let edges = self.wire.wait(timeout_ns)?;
            self.last_look_ns = None;
            self.handle(edges);
        }
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
            self.on_ready(ready);
        }
        for index in 0..edges {
            let ready = self.wire.ready(index);
            self.on_ready(ready);
            if self.demand.is_open() {
                self.dispatch();
            }
        }
    }

    /// A connection that stays open from one load phase to the next begins with what the load model wants of it.
    fn start_slots(&mut self) {
        let now_ns = self.clock.now_ns();
        for slot in 0..self.connections.len() as u32 {
            match self.connections[slot as usize].state {
                State::Open => self.offer(slot, now_ns),
                State::Closed if !self.spec.keep_alive => self.offer(slot, now_ns),
                State::Closed if slot < self.unopened => self.reopen(slot, now_ns),
                _ => {}
            }
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
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
        self.dispatch();
        while let Some(Reverse((at_ns, slot))) = self.reconnects.peek().copied()
            && at_ns <= now_ns
        {
            self.reconnects.pop();
            self.reopen(slot, now_ns);
        }
        self.open_some(now_ns);
        self.look_for_timeouts(now_ns);
    }

    fn is_done(&self, now_ns: u64) -> bool {
        let end_ns = self.demand.window.end_ns;
        let idle = self.in_flight == 0;
        if now_ns >= end_ns {
            return idle || now_ns >= end_ns.saturating_add(DRAIN_NS);
        }
        let held = || self.connections.iter().any(|connection| connection.reserved.is_some());
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
        if self.spec.timeout_ns.is_some() && self.in_flight > 0 {
            until(self.next_timeout_look_ns);
        }
        for edge_ns in [window.start_ns, window.end_ns, window.end_ns.saturating_add(DRAIN_NS)] {
            if edge_ns > now_ns {
                until(edge_ns);
            }
        }
        next_ns.saturating_sub(now_ns)
    }

    // Opening and closing.

    fn open_some(&mut self, now_ns: u64) {
        while self.connecting < CONNECTING_AT_ONCE && (self.unopened as usize) < self.connections.len() {
            let slot = self.unopened;
            self.unopened += 1;
            self.connect(slot, now_ns);
        }
    }

    /// Opens a slot again after a loss or a pause: under the closed model that is the attempt at a request.
    fn reopen(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Closed;
        if connection.reserved.is_none() && !self.demand.is_open() {
            if self.demand.closed_now(1, now_ns) == 0 {
                return;
            }
            connection.reserved = Some(Reserved { intended_ns: now_ns, blocked: true });
            self.demand.consume(1, now_ns);
            self.ledger.scheduled(now_ns, 1);
        } else if now_ns >= self.demand.window.end_ns {
            return;
        }
        if self.connections[slot as usize].reserved.is_some() || self.spec.keep_alive {
            self.connect(slot, now_ns);
        } else {
            self.offer(slot, now_ns);
        }
    }

    fn connect(&mut self, slot: u32, now_ns: u64) {
        let generation = self.connections[slot as usize].begin_connecting(now_ns);
        self.connecting += 1;
        if let Err(errno) = self.wire.connect(slot, generation) {
            self.connect_failed(slot, errno, now_ns);
        }
    }

    fn connect_failed(&mut self, slot: u32, errno: Errno, now_ns: u64) {
        self.counts.connect_failed += 1;
        self.connecting -= 1;
        self.last_ended_ns = now_ns;
        let connection = &mut self.connections[slot as usize];
        let reserved = connection.reserved.take().map(|reserved| reserved.intended_ns);
        // Under the open model it is the request that has waited longest whose user is turned away.
        let charged = reserved.or_else(|| self.take_due(now_ns));
        if let Some(intended_ns) = charged {
            self.ledger.not_sent(intended_ns, not_sent(errno), errno.raw_os_error(), now_ns);
        }
        self.close(slot, now_ns);
    }

    fn on_connected(&mut self, slot: u32, since_ns: u64, now_ns: u64) {
        self.counts.opened += 1;
        self.connecting -= 1;
        crate::ledger::record(&mut self.ledger.connect, now_ns - since_ns);
        self.connections[slot as usize].state = State::Open;
        self.offer(slot, now_ns);
    }

    /// Closes a slot and lets it open again after its pause. While the connections are first being opened there is
    /// no demand, and the slot stays closed until the load starts.
    fn close(&mut self, slot: u32, now_ns: u64) {
        self.wire.close(slot);
        let connection = &mut self.connections[slot as usize];
        let pause_ns = connection.pause_ns();
        if pause_ns == 0 {
            self.reopen(slot, now_ns);
        } else {
            connection.state = State::Waiting;
            self.reconnects.push(Reverse((now_ns + pause_ns, slot)));
        }
    }

    /// The connection is lost, and with it every request in flight on it.
    fn lose(&mut self, slot: u32, loss: Loss, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        self.counts.closed_idle += u64::from(connection.in_flight.is_empty());
        self.last_ended_ns = now_ns;
        self.in_flight -= connection.in_flight.len();
        let begun = connection.reader.begun();
        for (index, moments) in connection.in_flight.drain(..).enumerate() {
            // Whatever ended the connection ended every request on it; only the first one's reply may have begun.
            self.ledger.failed(moments, loss, index == 0 && begun, now_ns);
        }
        self.close(slot, now_ns);
    }

    // Sending.

    /// The slot can take a request: under the closed model it gets one, under the open one it queues for the next.
    fn offer(&mut self, slot: u32, now_ns: u64) {
        if !self.demand.is_open() || self.connections[slot as usize].reserved.is_some() {
            self.fill(slot, now_ns);
        }
        let connection = &mut self.connections[slot as usize];
        let able = match connection.state {
            State::Open => connection.unsent == 0 && connection.in_flight.len() < self.pipeline,
            State::Closed => !self.spec.keep_alive,
            _ => false,
        };
        if self.demand.is_open() && able && !connection.queued && connection.reserved.is_none() {
            connection.queued = true;
            if self.free.is_empty() {
                self.free_since_ns = now_ns;
            }
            self.free.push_back(slot);
        }
    }

    /// Open model: takes the next request if it is due.
    fn take_due(&mut self, now_ns: u64) -> Option<u64> {
        let due_ns = self.demand.next_due_ns().filter(|due_ns| *due_ns <= now_ns)?;
        self.demand.take_due(due_ns);
        self.ledger.scheduled(due_ns, 1);
        Some(due_ns)
    }

    /// Open model: sends what is due on the connections that are free.
    fn dispatch(&mut self) {
        while let (Some(due_ns), false) = (self.demand.next_due_ns(), self.free.is_empty()) {
            let now_ns = self.clock.now_ns();
            if due_ns > now_ns || now_ns >= self.demand.window.end_ns {
                return;
            }
            let Some(slot) = self.free.pop_front() else { return };
            let connection = &mut self.connections[slot as usize];
            connection.queued = false;
            let able = connection.state == State::Open || !self.spec.keep_alive;
            if !able {
                continue;
            }
            let blocked = self.free_since_ns > due_ns || connection.state != State::Open;
            connection.reserved = Some(Reserved { intended_ns: due_ns, blocked });
            self.demand.take_due(due_ns);
            self.ledger.scheduled(due_ns, 1);
            match self.connections[slot as usize].state {
                State::Open => self.offer(slot, now_ns),
                _ => self.connect(slot, now_ns),
            }
        }
    }

    /// Sends what the slot holds, and under the closed model as many new requests as the pipeline has room for.
    fn fill(&mut self, slot: u32, now_ns: u64) {
        if now_ns >= self.demand.window.end_ns {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        if connection.state != State::Open {
            if connection.state == State::Closed {
                self.reopen(slot, now_ns);
            }
            return;
        }
        if connection.unsent > 0 {
            return;
        }
        let held = usize::from(connection.reserved.is_some());
        let room =
            if self.spec.keep_alive { self.pipeline } else { 1 }.saturating_sub(connection.in_flight.len() + held);
        let count = held + self.demand.closed_now(room, now_ns);
        if count == 0 {
            return;
        }
        match self.wire.send(slot, self.batch.of(count)) {
            Ok(bytes) => self.on_sent(slot, bytes, now_ns),
            Err(Errno::AGAIN) => {
                if let Some(reserved) = &mut self.connections[slot as usize].reserved {
                    reserved.blocked = true;
                }
            }
            Err(errno) => self.lose(slot, Loss::Errno(errno), now_ns),
        }
    }

    fn on_sent(&mut self, slot: u32, bytes: usize, now_ns: u64) {
        let taken = bytes.div_ceil(self.batch.length());
        let connection = &mut self.connections[slot as usize];
        connection.unsent = taken * self.batch.length() - bytes;
        self.in_flight += taken;
        let mut fresh = 0;
        for _ in 0..taken {
            let (intended_ns, blocked) = match connection.reserved.take() {
                Some(reserved) if self.demand.is_open() => (reserved.intended_ns, reserved.blocked),
                // The closed model's attempt began when its connection did; its request is measured from its send.
                Some(reserved) => (reserved.intended_ns, true),
                None => {
                    fresh += 1;
                    (now_ns, false)
                }
            };
            connection.in_flight.push_back(Moments { intended_ns, sent_ns: now_ns, first_byte_ns: 0 });
            if !self.demand.is_open() && fresh > 0 {
                self.ledger.scheduled(now_ns, 1);
            }
            self.ledger.sent(intended_ns, now_ns, blocked);
        }
        self.demand.consume(fresh, now_ns);
    }

    /// The kernel takes bytes again.
    fn on_writable(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.unsent > 0 {
            match self.wire.send(slot, self.batch.tail(connection.unsent)) {
                Ok(bytes) => connection.unsent -= bytes,
                Err(Errno::AGAIN) => return,
                Err(errno) => return self.lose(slot, Loss::Errno(errno), now_ns),
            }
        }
        if self.connections[slot as usize].unsent == 0 {
            self.offer(slot, now_ns);
        }
    }

    // Receiving.

    fn on_ready(&mut self, ready: Ready) {
        let connection = &self.connections[ready.slot as usize];
        if connection.generation != ready.generation {
            return;
        }
        match connection.state {
            State::Connecting { since_ns } if ready.writable => {
                let now_ns = self.clock.now_ns();
                match self.wire.connected(ready.slot) {
                    Ok(()) => self.on_connected(ready.slot, since_ns, now_ns),
                    Err(errno) => return self.connect_failed(ready.slot, errno, now_ns),
                }
                // An edge that came with the connection (a greeting, an early close) is not reported again.
                if ready.readable {
                    self.receive(ready);
                }
            }
            State::Open => {
                let wants_to_send = connection.unsent > 0
                    || connection.reserved.is_some()
                    || (!self.demand.is_open() && connection.in_flight.len() < self.pipeline);
                if ready.writable && wants_to_send {
                    let now_ns = self.clock.now_ns();
                    self.on_writable(ready.slot, now_ns);
                }
                if ready.readable {
                    self.receive(ready);
                }
            }
            _ => {}
        }
    }

    /// Receives until the kernel has nothing more, the connection is lost, or its turn is over.
    fn receive(&mut self, ready: Ready) {
        for _ in 0..RECEIVES_IN_A_ROW {
            let connection = &self.connections[ready.slot as usize];
            if connection.generation != ready.generation || connection.state != State::Open {
                return;
            }
            let mut buffer = std::mem::take(&mut self.buffer);
            let received = self.wire.receive(ready.slot, &mut buffer);
            let now_ns = self.clock.now_ns();
            if let Some(last_ns) = self.last_look_ns.replace(now_ns) {
                self.longest_stall_ns = self.longest_stall_ns.max(now_ns.saturating_sub(last_ns));
            }
            let more = match received {
                Ok(0) => {
                    self.on_end(ready.slot, now_ns);
                    false
                }
                Ok(count) => {
                    // With the peer's side closed the end is still to be received, and no further request may leave.
                    let full = count == buffer.len();
                    self.on_bytes(ready.slot, &buffer[..count], ready.hangup, now_ns);
                    full || ready.hangup
                }
                Err(Errno::AGAIN | Errno::INTR) => false,
                Err(errno) => {
                    self.lose(ready.slot, Loss::Errno(errno), now_ns);
                    false
                }
            };
            self.buffer = buffer;
            if !more {
                return;
            }
        }
        self.unfinished.push(ready);
    }

    fn on_bytes(&mut self, slot: u32, mut input: &[u8], hangup: bool, now_ns: u64) {
        while !input.is_empty() {
            let connection = &mut self.connections[slot as usize];
            let Some(moments) = connection.in_flight.front_mut() else {
                self.counts.unasked_replies += 1;
                return self.close(slot, now_ns);
            };
            if moments.first_byte_ns == 0 {
                moments.first_byte_ns = now_ns;
            }
            match connection.reader.advance(&mut input, &self.spec.expect, self.head_only, &mut self.cache) {
                Advance::NeedMore => {}
                Advance::Malformed => return self.lose(slot, Loss::Malformed, now_ns),
                Advance::Complete(reply) => {
                    if !self.on_reply(slot, &reply, now_ns) {
                        return;
                    }
                }
            }
        }
        if !hangup {
            self.offer(slot, now_ns);
        }
    }

    /// Books a reply; gives whether its connection lives on.
    fn on_reply(&mut self, slot: u32, reply: &Reply, now_ns: u64) -> bool {
        let inside = self.demand.window.contains(now_ns);
        let connection = &mut self.connections[slot as usize];
        let Some(moments) = connection.in_flight.pop_front() else { return true };
        connection.prove();
        connection.completed += u64::from(inside);
        self.in_flight -= 1;
        self.last_ended_ns = now_ns;
        self.ledger.completed(moments, reply, now_ns);
        let lives = reply.keep_alive && self.spec.keep_alive;
        if !lives {
            self.retire(slot, now_ns);
        }
        lives
    }

    /// Closes a connection that has served its last request; what is still in flight on it is lost.
    fn retire(&mut self, slot: u32, now_ns: u64) {
        if self.connections[slot as usize].in_flight.is_empty() {
            self.close(slot, now_ns);
        } else {
            self.lose(slot, Loss::Closed, now_ns);
        }
    }

    fn on_end(&mut self, slot: u32, now_ns: u64) {
        let connection = &mut self.connections[slot as usize];
        match connection.reader.end(&self.spec.expect) {
            Some(reply) => {
                self.on_reply(slot, &reply, now_ns);
            }
            None => self.lose(slot, Loss::Closed, now_ns),
        }
    }

    fn look_for_timeouts(&mut self, now_ns: u64) {
        let Some(timeout_ns) = self.spec.timeout_ns else { return };
        if now_ns < self.next_timeout_look_ns {
            return;
        }
        self.next_timeout_look_ns = now_ns + (timeout_ns / LOOKS_PER_TIMEOUT).clamp(100_000, 100_000_000);
        for slot in 0..self.connections.len() as u32 {
            let oldest = self.connections[slot as usize].in_flight.front();
            if oldest.is_some_and(|moments| now_ns - moments.sent_ns >= timeout_ns) {
                self.lose(slot, Loss::TimedOut, now_ns);
            }
        }
    }

    // The end.

    fn finish(mut self, now_ns: u64, busy: BusyMeter) -> WorkerResult {
        if self.demand.window.end_ns == u64::MAX {
            self.demand.stop(self.last_ended_ns.max(self.demand.window.start_ns + 1));
            self.ledger.move_end(self.demand.window);
        }
        self.charge_unsent(now_ns);
        for connection in &mut self.connections {
            for moments in connection.in_flight.drain(..) {
                self.ledger.unfinished(moments, now_ns);
            }
        }
        self.ledger.close(now_ns);
        WorkerResult {
            counts: self.counts,
            completed: self.connections.iter().map(|connection| connection.completed).collect(),
            thread: busy.thread_use(self.longest_stall_ns),
            window_start_ns: self.demand.window.start_ns,
            window_end_ns: self.demand.window.end_ns,
            ledger: self.ledger,
        }
    }

    /// Requests that came due and never left: those held by a connection, and those the schedule still owes.
    fn charge_unsent(&mut self, now_ns: u64) {
        for connection in &mut self.connections {
            if let Some(reserved) = connection.reserved.take() {
                self.ledger.not_sent(reserved.intended_ns, NotSent::WaitingAtEnd, 0, now_ns);
            }
        }
        while let Some(intended_ns) = self.take_due(self.demand.window.end_ns) {
            self.ledger.not_sent(intended_ns, NotSent::WaitingAtEnd, 0, now_ns);
        }
    }
}

/// The thread's CPU time between the window's start and its end; the drain after it would dilute the busy share.
struct BusyMeter {
    thread_cpu_ns: fn() -> u64,
    start: Option<(u64, u64)>,
    used: Option<(u64, u64)>,
}

impl BusyMeter {
    fn new(thread_cpu_ns: fn() -> u64) -> Self {
        Self { thread_cpu_ns, start: None, used: None }
    }

    fn look(&mut self, now_ns: u64, window: Window) {
        if self.start.is_none() && now_ns >= window.start_ns {
            self.start = Some((now_ns, (self.thread_cpu_ns)()));
        }
        if now_ns >= window.end_ns {
            self.end(now_ns);
        }
    }

    fn end(&mut self, now_ns: u64) {
        if let (Some((wall_ns, cpu_ns)), None) = (self.start, self.used) {
            self.used = Some((now_ns - wall_ns, (self.thread_cpu_ns)() - cpu_ns));
        }
    }

    fn thread_use(&self, longest_stall_ns: u64) -> ThreadUse {
        let (wall_ns, cpu_ns) = self.used.unwrap_or_default();
        ThreadUse {
            cpu_s: cpu_ns as f64 / NS_PER_S as f64,
            wall_s: wall_ns as f64 / NS_PER_S as f64,
            longest_stall_us: longest_stall_ns as f64 / 1e3,
        }
    }
}
