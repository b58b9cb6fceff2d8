//! What a target's handlers ask: a backend of ours, or somebody else's server, also through a relay that makes it further away.

use std::io::Result;
use std::net::SocketAddr;

use model::{BackendUse, CellPlan, ThreadUse};

use crate::backend::{BACKEND, RunningBackend};
use crate::delay::DelayProxy;

/// The variable that tells a target where somebody else's server is that it asks.
pub(crate) const UPSTREAM: &str = "UPSTREAM";

/// What stands behind a target while it runs.
pub(crate) enum Behind {
    Backend(RunningBackend),
    /// A relay, with what went through it before the load that is on.
    Relay(DelayProxy, BackendUse),
    /// Nothing of ours is between the two.
    Direct(SocketAddr),
}

impl Behind {
    /// What a cell has behind its target, running on these CPUs; none where it has nothing.
    ///
    /// # Errors
    /// When it cannot listen, or no thread can be had.
    pub(crate) fn start(cell: &CellPlan, cpus: &[u32]) -> Result<Option<Self>> {
        if let Some(backend) = cell.backend {
            return RunningBackend::start(backend, cell.load.connections, cpus).map(|it| Some(Behind::Backend(it)));
        }
        let Some(upstream) = cell.upstream else { return Ok(None) };
        let Some(delay_ns) = upstream.delay_ns else { return Ok(Some(Behind::Direct(upstream.address))) };
        let relay = DelayProxy::start(upstream.address, delay_ns, cpus)?;
        Ok(Some(Behind::Relay(relay, BackendUse::default())))
    }

    /// How its target is told of it.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        match self {
            Behind::Backend(backend) => (BACKEND, backend.url()),
            Behind::Relay(relay, _) => (UPSTREAM, relay.address().to_string()),
            Behind::Direct(address) => (UPSTREAM, address.to_string()),
        }
    }

    /// A load begins: what was before is not its.
    pub(crate) fn begin(&mut self) {
        match self {
            Behind::Backend(backend) => backend.begin(),
            Behind::Relay(relay, before) => *before = relay.begin(),
            Behind::Direct(_) => {}
        }
    }

    /// What it did since the load began; none where nobody sees that.
    pub(crate) fn seen(&self) -> Option<BackendUse> {
        match self {
            Behind::Backend(backend) => Some(backend.seen()),
            Behind::Relay(relay, before) => {
                let seen = relay.seen();
                let (opened, replies) = (seen.opened - before.opened, seen.replies - before.replies);
                Some(BackendUse { opened, replies, ..seen })
            }
            Behind::Direct(_) => None,
        }
    }

    /// What it used of the generator's CPUs since then; none where that is not known, or nothing.
    pub(crate) fn used(&self) -> Option<ThreadUse> {
        match self {
            Behind::Backend(backend) => Some(backend.used()),
            Behind::Relay(..) | Behind::Direct(_) => None,
        }
    }
}
