//! A thread that makes no load: before the first one, while its connections are opened, and between two.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use model::{Clock, NS_PER_S, RequestCount};
use rustix::io::Errno;

use super::connecting::ToConnect;
use super::looks::Looks;
use super::receiving::{Inbox, Timeouts};
use super::sending::Free;
use super::{Task, Worker};
use crate::clock::ThreadTimes;
use crate::connection::{Connections, State};
use crate::demand::Demand;
use crate::ledger::Ledger;
use crate::part::{Counts, Part};
use crate::port::Port;
use crate::protocol::Protocol;
use crate::standstill::LONGEST_WAIT_NS;
use crate::wire::Wire;

/// Longest time the connections may take to open before the load starts without the rest.
const OPENING_NS: u64 = 5 * NS_PER_S;

/// One load on the connections of a thread.
pub(crate) struct OneLoad {
    /// What is wanted, made when all threads were ready.
    pub(crate) demand: Demand,
    /// Longest time its end waits for replies still in flight.
    pub(crate) drain_ns: u64,
    /// Where its seconds go.
    pub(crate) port: Port,
    /// Whether it tells after each second of the window what it would have brought home.
    pub(crate) checkpoints: bool,
}

/// A thread that wants nothing. Its connections stay open.
pub(crate) struct Resting<'a, P: Protocol, W, C> {
    task: Task<'a>,
    wire: W,
    clock: C,
    protocol: P,
    connections: Connections<P::Conversation>,
    to_connect: ToConnect,
    inbox: Inbox,
    timeouts: Timeouts,
    /// Before the first load: how its connections were opened, which is told with that load.
    opened: Option<(Ledger, Counts)>,
}

impl<'a, P: Protocol, W: Wire, C: Clock> Resting<'a, P, W, C> {
    /// A thread whose connections were opened before its first load, so that opening them is not lateness. Those that
    /// cannot be opened are tried again under load, where their failure counts.
    ///
    /// # Errors
    /// When the kernel cannot wait.
    pub(crate) fn opened(task: Task<'a>, protocol: P, wire: W, clock: C) -> Result<Self, Errno> {
        let slots = task.slots();
        let closed = Self {
            task,
            wire,
            clock,
            protocol,
            connections: Connections::new(slots, task.spec.pipeline.max(1)),
            to_connect: ToConnect::default(),
            inbox: Inbox::default(),
            timeouts: Timeouts::default(),
            opened: None,
        };
        let (demand, now_ns) = (Demand::none(task.spec), closed.clock.now_ns());
        let ledger = Ledger::of_opening(task.spec, &demand, now_ns);
        let mut worker = closed.work((ledger, Counts::default()), demand, now_ns, 0);
        worker.open_all()?;
        let (resting, ledger, counts) = worker.rest();
        Ok(Self { opened: Some((ledger, counts)), ..resting })
    }

    /// Makes one load, up to the end of its drain; gives what it brought, and the thread for another.
    ///
    /// # Errors
    /// When the kernel cannot wait.
    pub(crate) fn serve(mut self, turn: OneLoad, thread_times: fn() -> ThreadTimes) -> Result<(Part, Self), Errno> {
        let OneLoad { demand, drain_ns, port, checkpoints } = turn;
        let (start_ns, window) = (demand.start_ns, demand.window);
        let (mut ledger, counts) = self.opened.take().unwrap_or_else(|| {
            let kept = self.connections.iter().filter(|connection| connection.state == State::Open).count() as u64;
            (Ledger::of_opening(self.task.spec, &demand, start_ns), Counts { kept, ..Counts::default() })
        });
        if counts.opened + counts.kept > 0 {
            self.task.served.store(true, Ordering::Relaxed);
        }
        ledger.begin(window, start_ns, port);
        let requests = self.protocol.count();
        if requests > 1 {
            ledger.by_request = vec![RequestCount::default(); requests];
        }
        let checkpoint_ns = if checkpoints { window.start_ns + NS_PER_S } else { u64::MAX };
        let worker = self.work((ledger, counts), demand, start_ns, drain_ns);
        Worker { checkpoint_ns, ..worker }.run(thread_times)
    }

    fn work(
        self,
        (ledger, counts): (Ledger, Counts),
        demand: Demand,
        now_ns: u64,
        drain_ns: u64,
    ) -> Worker<'a, P, W, C> {
        let slots = self.connections.len();
        Worker {
            task: self.task,
            wire: self.wire,
            clock: self.clock,
            protocol: self.protocol,
            demand,
            drain_ns,
            ledger,
            connections: self.connections,
            free: Free { slots: VecDeque::with_capacity(slots), since_ns: now_ns },
            to_connect: self.to_connect,
            inbox: self.inbox,
            timeouts: self.timeouts,
            looks: Looks::new(now_ns),
            counts,
            last_failed_ns: now_ns,
            checkpoint_ns: u64::MAX,
            turned_away: false,
        }
    }
}

impl<'a, P: Protocol, W: Wire, C: Clock> Worker<'a, P, W, C> {
    fn open_all(&mut self) -> Result<(), Errno> {
        if !self.task.spec.keep_alive {
            self.to_connect.unopened = self.connections.len() as u32;
            return Ok(());
        }
        let deadline_ns = self.clock.now_ns() + OPENING_NS;
        loop {
            let now_ns = self.clock.now_ns();
            self.open_some(now_ns);
            let to_connect = &self.to_connect;
            let all_tried = to_connect.under_way == 0 && to_connect.unopened as usize == self.connections.len();
            if all_tried || now_ns >= deadline_ns || self.task.stopped() {
                return Ok(());
            }
            let edges = self.wire.wait(LONGEST_WAIT_NS)?;
            for index in 0..edges {
                let ready = self.wire.ready(index);
                self.on_ready(ready);
            }
        }
    }

    /// Takes off a thread what belongs to one load. None of its connections has begun with the next.
    pub(super) fn rest(mut self) -> (Resting<'a, P, W, C>, Ledger, Counts) {
        for slot in self.slots() {
            let connection = &mut self.connections[slot];
            (connection.completed, connection.queued) = (0, false);
        }
        self.to_connect.unstarted = 0;
        let resting = Resting {
            task: self.task,
            wire: self.wire,
            clock: self.clock,
            protocol: self.protocol,
            connections: self.connections,
            to_connect: self.to_connect,
            inbox: self.inbox,
            timeouts: self.timeouts,
            opened: None,
        };
        (resting, self.ledger, self.counts)
    }
}
