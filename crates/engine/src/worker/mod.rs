//! The loop of one generator thread: one copy for every load model and protocol.
//!
//! Its clock is read after each receive, and that reading serves as the stamp of the send that follows; in the
//! open model also before each send that is due. Due sends come first and are looked at again between events.

mod busy;
mod connecting;
mod finish;
mod looks;
mod opening;
mod receiving;
mod sending;
mod wrong;

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Clock, Extent, LoadSpec, NS_PER_S};
use rustix::io::Errno;

use busy::BusyMeter;
use connecting::ToConnect;
use looks::Looks;
pub(crate) use opening::{OneLoad, Resting};
use receiving::{Inbox, Timeouts};
use sending::Free;

use crate::clock::ThreadTimes;
use crate::connection::Connections;
use crate::demand::{Demand, share};
use crate::ledger::Ledger;
use crate::part::{Counts, Part};
use crate::port::{Checkpoint, Told};
use crate::protocol::Protocol;
use crate::standstill::LONGEST_WAIT_NS;
use crate::wire::Wire;

/// With `spin`, the last of a wait is spent awake: longer than a sleep overshoots on a busy machine.
const SPIN_NS: u64 = 1_000_000;

/// A thread that was held up for longer over the end of a second does not tell what it would have brought by then: others told of another time.
const LATEST_CHECKPOINT_NS: u64 = 50_000_000;

/// Connections whose state is fetched into the cache at once, before their events are handled.
const SLOTS_WARMED: usize = 16;

/// What a thread is to do: its part of a load.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) spec: &'a LoadSpec,
    /// Its number among the load's threads.
    pub(crate) thread: u32,
    /// Ends the load early.
    pub(crate) stop: &'a AtomicBool,
    /// Ends it, too: another of its threads is lost, without which nothing is kept.
    pub(crate) lost: &'a AtomicBool,
    /// Whether a thread has a connection to this server in the load under way, or others make a part of it elsewhere.
    pub(crate) served: &'a AtomicBool,
}

impl Task<'_> {
    /// Its connections.
    pub(crate) fn slots(&self) -> u32 {
        share(u64::from(self.spec.connections), self.thread, self.spec.threads) as u32
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.lost.load(Ordering::Relaxed)
    }
}

/// A thread under load.
pub(crate) struct Worker<'a, P: Protocol, W, C> {
    task: Task<'a>,
    wire: W,
    clock: C,
    protocol: P,
    demand: Demand,
    /// Longest time the end of the load waits for replies still in flight.
    drain_ns: u64,
    ledger: Ledger,
    connections: Connections<P::Conversation>,
    free: Free,
    to_connect: ToConnect,
    inbox: Inbox,
    timeouts: Timeouts,
    looks: Looks,
    counts: Counts,
    last_failed_ns: u64,
    /// When it next tells what it would have brought home; never where that is `u64::MAX`.
    checkpoint_ns: u64,
    /// Whether the last connection that failed was turned away, and not lost or kept back by this machine.
    turned_away: bool,
}

impl<'a, P: Protocol, W: Wire, C: Clock> Worker<'a, P, W, C> {
    /// The load, up to the end of its drain.
    fn run(mut self, thread_times: fn() -> ThreadTimes) -> Result<(Part, Resting<'a, P, W, C>), Errno> {
        let mut busy = BusyMeter::new(thread_times);
        self.await_start()?;
        self.looks.at_ns = self.demand.start_ns;
        loop {
            let now_ns = self.clock.now_ns();
            self.look(now_ns);
            busy.look(now_ns, self.demand.window);
            if now_ns >= self.checkpoint_ns {
                // What is due by now leaves before, or it would be in the books as late.
                self.do_due(now_ns);
                let now_ns = self.after_sending();
                self.tell_checkpoint(now_ns, &busy);
            }
            if self.task.stopped() || self.nobody_listens(now_ns) {
                self.end_window(now_ns);
            }
            self.do_due(now_ns);
            if self.is_done(now_ns) {
                busy.end(now_ns);
                return Ok(self.finish(now_ns, busy));
            }
            let now_ns = self.after_sending();
            let timeout_ns = self.time_to_next(now_ns);
            let edges = self.wire.wait(timeout_ns)?;
            self.looks.waited(edges);
            // It may have been held up in its sleep as well.
            self.looks.at_ns = now_ns + timeout_ns;
            self.handle(edges);
        }
    }

    /// Tells what it would have brought home, had it been stopped now.
    #[cold]
    fn tell_checkpoint(&mut self, now_ns: u64, busy: &BusyMeter) {
        let window = self.demand.window;
        let since_ns = now_ns.saturating_sub(window.start_ns);
        let seconds = since_ns / NS_PER_S;
        self.checkpoint_ns = window.start_ns + (seconds + 1) * NS_PER_S;
        if since_ns % NS_PER_S > LATEST_CHECKPOINT_NS {
            return;
        }
        if now_ns >= window.end_ns {
            self.checkpoint_ns = u64::MAX;
            return;
        }
        // The second that has passed goes before it.
        self.ledger.tick(now_ns);
        let (part, second) = self.stopped_now(now_ns, busy);
        let part = Box::new(part);
        self.ledger.tell(|thread| Told::Checkpoint(Checkpoint { thread, seconds, part, second }));
    }

    /// Whether every attempt to connect was refused up to the end of the warm-up: the window would be no different. An
    /// exact number of requests ends by itself. Where another thread is served, what this one owes until the end of the window
    /// is part of the books.
    fn nobody_listens(&self, now_ns: u64) -> bool {
        let Counts { opened, kept, connect_failed, refused, .. } = self.counts;
        opened + kept == 0
            && !self.task.served.load(Ordering::Relaxed)
            && refused > 0
            && refused == connect_failed
            && now_ns > self.demand.window.start_ns
            && matches!(self.task.spec.extent, Extent::Window(_))
    }

    /// All threads begin at one instant; until then connections that close or open are looked after.
    fn await_start(&mut self) -> Result<(), Errno> {
        loop {
            let now_ns = self.clock.now_ns();
            if now_ns >= self.demand.start_ns || self.task.stopped() {
                return Ok(());
            }
            let edges = self.wire.wait((self.demand.start_ns - now_ns).min(LONGEST_WAIT_NS))?;
            self.handle(edges);
        }
    }

    fn handle(&mut self, edges: usize) {
        for ready in std::mem::take(&mut self.inbox.unfinished) {
            self.connections[ready.slot].unfinished = false;
            self.on_ready(ready);
            self.dispatch();
            self.ledger.tick(self.looks.at_ns);
        }
        for index in 0..edges {
            if index % SLOTS_WARMED == 0 {
                let next = index..edges.min(index + SLOTS_WARMED);
                self.connections.warm(next.map(|index| self.wire.ready(index).slot));
            }
            let ready = self.wire.ready(index);
            self.on_ready(ready);
            // Those that send without end may take so long in turn that a second, or the window, passes among them.
            if self.connections[ready.slot].unfinished {
                self.ledger.tick(self.looks.at_ns);
            }
            if self.demand.is_open() {
                self.dispatch();
            }
        }
    }

    fn slots(&self) -> Range<u32> {
        0..self.connections.len() as u32
    }

    fn end_window(&mut self, now_ns: u64) {
        if now_ns < self.demand.window.end_ns {
            // What left at this very moment is in the books already.
            self.demand.stop(now_ns + 1);
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
        self.reopen_paused(now_ns);
        self.open_some(now_ns);
        if !self.looks.to_catch_up() {
            self.look_for_timeouts(now_ns);
        }
    }

    fn is_done(&mut self, now_ns: u64) -> bool {
        let end_ns = self.demand.window.end_ns;
        let idle = self.connections.all_in_flight() == 0;
        let held = || self.connections.iter().any(|connection| connection.reserved.is_some());
        if now_ns >= end_ns {
            let drained = idle && (self.demand.is_open() || !held());
            // Who slept through the drain has yet to look at what came in it.
            return drained
                || now_ns >= end_ns.saturating_add(self.drain_ns) && self.looks.has_caught_up(self.connections.len());
        }
        self.demand.is_over(now_ns) && idle && !held()
    }

    fn time_to_next(&self, now_ns: u64) -> u64 {
        if !self.inbox.unfinished.is_empty() {
            return 0;
        }
        let window = self.demand.window;
        let mut next_ns = now_ns + LONGEST_WAIT_NS;
        let mut until = |at_ns: u64| next_ns = next_ns.min(at_ns);
        if let Some(due_ns) = self.demand.next_due_ns()
            && !self.free.slots.is_empty()
            && now_ns < window.end_ns
        {
            until(due_ns);
        }
        if let Some(Reverse((at_ns, slot))) = self.to_connect.again.peek() {
            until(*at_ns);
            self.paused_wanted_ns(*slot, now_ns).into_iter().for_each(&mut until);
        }
        if (self.to_connect.unstarted as usize) < self.connections.len() {
            until(self.start_of(self.to_connect.unstarted));
        }
        if self.task.spec.timeout_ns.is_some() && self.connections.all_in_flight() + self.to_connect.under_way > 0 {
            until(self.timeouts.next_look_ns);
        }
        let drained_ns = window.end_ns.saturating_add(self.drain_ns);
        for edge_ns in [window.start_ns, self.demand.earliest_end_ns, window.end_ns, drained_ns, self.checkpoint_ns] {
            if edge_ns > now_ns {
                until(edge_ns);
            }
        }
        let left_ns = next_ns.saturating_sub(now_ns);
        if self.task.spec.spin { left_ns.saturating_sub(SPIN_NS) } else { left_ns }
    }
}
