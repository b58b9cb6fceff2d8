use std::collections::VecDeque;

use model::NS_PER_S;

use crate::ledger::Moments;
use crate::reply::ReplyReader;

/// First pause before reconnecting; it doubles to [`BACKOFF_MAX_NS`] until a reply comes.
const BACKOFF_MIN_NS: u64 = 10_000_000;
const BACKOFF_MAX_NS: u64 = NS_PER_S;

/// Where a connection slot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Not connected, and nothing under way.
    Closed,
    /// Will connect again at the time the reconnect queue holds.
    Waiting,
    /// Connecting since then.
    Connecting { since_ns: u64 },
    /// Connected.
    Open,
}

/// A request that was taken from the demand and that the kernel has not yet taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reserved {
    pub(crate) intended_ns: u64,
    /// Whether it had to wait for a connection.
    pub(crate) blocked: bool,
}

/// One connection slot: its state, what is in flight on it, and the reader of its replies.
pub(crate) struct Connection {
    pub(crate) state: State,
    pub(crate) generation: u32,
    pub(crate) in_flight: VecDeque<Moments>,
    pub(crate) reserved: Option<Reserved>,
    /// Bytes of the last request that the kernel has not yet taken.
    pub(crate) unsent: usize,
    /// Its place in the mix; it may be out of flight already, for a server may answer what it has not yet read.
    pub(crate) unsent_of: u32,
    pub(crate) reader: ReplyReader,
    /// Whether it stands in the queue of connections free for the next due request.
    pub(crate) queued: bool,
    /// Whether more is to be received than its last turn allowed.
    pub(crate) unfinished: bool,
    /// Whether this opening of it has completed a reply.
    pub(crate) proven: bool,
    backoff_ns: u64,
    /// Completions inside the window.
    pub(crate) completed: u64,
}

impl Connection {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed,
            generation: 0,
            in_flight: VecDeque::new(),
            reserved: None,
            unsent: 0,
            unsent_of: 0,
            reader: ReplyReader::default(),
            queued: false,
            unfinished: false,
            proven: false,
            backoff_ns: 0,
            completed: 0,
        }
    }

    /// Begins a new opening of the slot; gives its generation.
    pub(crate) fn begin_connecting(&mut self, now_ns: u64) -> u32 {
        self.state = State::Connecting { since_ns: now_ns };
        self.generation = self.generation.wrapping_add(1);
        self.reader.reset();
        self.unsent = 0;
        self.proven = false;
        self.generation
    }

    /// Notes a complete reply: the next loss of the connection is no reason to wait.
    pub(crate) fn prove(&mut self) {
        self.proven = true;
        self.backoff_ns = 0;
    }

    /// How long to wait before the next opening.
    pub(crate) fn pause_ns(&mut self) -> u64 {
        if self.proven {
            return 0;
        }
        let pause = self.backoff_ns.max(BACKOFF_MIN_NS);
        self.backoff_ns = (pause * 2).min(BACKOFF_MAX_NS);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_to_a_second_until_a_reply_comes() {
        let mut connection = Connection::new();
        let pauses: Vec<u64> = (0..9).map(|_| connection.pause_ns() / 1_000_000).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        connection.prove();
        assert_eq!(connection.pause_ns(), 0);
        connection.begin_connecting(0);
        assert_eq!(connection.pause_ns() / 1_000_000, 10);
    }
}
