//! A thread before the load.

use std::collections::VecDeque;

use model::{Clock, NS_PER_S, RequestCount};
use rustix::io::Errno;

use super::connecting::ToConnect;
use super::looks::Looks;
use super::receiving::{Inbox, Timeouts};
use super::sending::Free;
use super::{Task, Worker};
use crate::connection::Connections;
use crate::demand::Demand;
use crate::ledger::Ledger;
use crate::part::Counts;
use crate::protocol::Protocol;
use crate::second::SecondPort;
use crate::standstill::LONGEST_WAIT_NS;
use crate::wire::Wire;

/// Longest time the connections may take to open before the load starts without the rest.
const OPENING_NS: u64 = 5 * NS_PER_S;

/// A thread whose connections are being opened: a worker that wants nothing yet, and of whose books only the connect times
/// are kept.
pub(crate) struct Opening<'a, P: Protocol, W, C>(Worker<'a, P, W, C>);

impl<'a, P: Protocol, W: Wire, C: Clock> Opening<'a, P, W, C> {
    pub(crate) fn new(task: Task<'a>, protocol: P, wire: W, clock: C) -> Self {
        let (now_ns, slots) = (clock.now_ns(), task.slots());
        let demand = Demand::none(task.spec);
        Self(Worker {
            protocol,
            ledger: Ledger::of_opening(task.spec, &demand, now_ns),
            demand,
            connections: Connections::new(slots, task.spec.pipeline.max(1)),
            free: Free { slots: VecDeque::with_capacity(slots as usize), since_ns: now_ns },
            to_connect: ToConnect::default(),
            inbox: Inbox::default(),
            timeouts: Timeouts::default(),
            looks: Looks::new(now_ns),
            counts: Counts::default(),
            last_failed_ns: now_ns,
            turned_away: false,
            task,
            wire,
            clock,
        })
    }

    /// Opens the connections before the load starts, so that opening them is not lateness. Those that cannot be
    /// opened are tried again under load, where their failure counts.
    pub(crate) fn open_all(&mut self) -> Result<(), Errno> {
        let worker = &mut self.0;
        if !worker.task.spec.keep_alive {
            worker.to_connect.unopened = worker.connections.len() as u32;
            return Ok(());
        }
        let deadline_ns = worker.clock.now_ns() + OPENING_NS;
        loop {
            let now_ns = worker.clock.now_ns();
            worker.open_some(now_ns);
            let to_connect = &worker.to_connect;
            let all_tried = to_connect.under_way == 0 && to_connect.unopened as usize == worker.connections.len();
            if all_tried || now_ns >= deadline_ns || worker.task.stopped() {
                return Ok(());
            }
            let edges = worker.wire.wait(LONGEST_WAIT_NS)?;
            for index in 0..edges {
                let ready = worker.wire.ready(index);
                worker.on_ready(ready);
            }
        }
    }

    /// The thread under load, whose demand was made when all threads were ready.
    pub(crate) fn begin(self, demand: Demand, now_ns: u64, port: SecondPort) -> Worker<'a, P, W, C> {
        let ledger = self.0.ledger.begin(demand.window, now_ns, port);
        let mut worker = Worker { ledger, ..self.0 };
        let requests = worker.protocol.count();
        if requests > 1 {
            worker.ledger.by_request = vec![RequestCount::default(); requests];
        }
        worker.demand = demand;
        worker
    }
}
