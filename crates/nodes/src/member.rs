//! A node, as who commands a load knows it.

use std::collections::BTreeMap;

use engine::{Brought, Share};
use model::NS_PER_S;

use crate::key::Unheeded;
use crate::message::{Body, Presence};
use crate::offset::{Exchange, Offset, best};
use crate::outcome::NodeName;
use crate::pieces::{Assembly, Piece, When};

/// Checkpoints of a node that are kept; of one that is so far ahead of another the older ones are of no use.
const MOST_KEPT: usize = 256;

/// What time it is: when that was asked, on the clock of who asks, and the how many-th time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) sent_ns: u64,
    pub(crate) times: u32,
}

/// A node that makes a share of the load.
pub(crate) struct Member {
    /// Its session.
    pub(crate) name: String,
    pub(crate) presence: Presence,
    pub(crate) share: Share,
    pub(crate) is_ready: bool,
    /// Whether it has said that it begins.
    pub(crate) begins: bool,
    pub(crate) heard_ns: u64,
    /// Its last message.
    number: u64,
    /// Exchanges before the load, and after it.
    pub(crate) exchanges: [Vec<Exchange>; 2],
    /// What it is being asked, while its time is asked for.
    pub(crate) question: Option<Question>,
    assembly: Assembly,
    /// What it would have brought after so many seconds, as it is written.
    checkpoints: BTreeMap<u64, Vec<u8>>,
    /// What it brought.
    pub(crate) home: Option<Brought>,
    /// Whether it brought something that is not its share.
    pub(crate) is_unsound: bool,
}

impl Member {
    pub(crate) fn new(name: String, presence: Presence, now_ns: u64, number: u64) -> Self {
        Self {
            name,
            presence,
            share: Share { first_thread: 0, threads: 0 },
            is_ready: false,
            begins: false,
            heard_ns: now_ns,
            number,
            exchanges: [Vec::new(), Vec::new()],
            question: None,
            assembly: Assembly::default(),
            checkpoints: BTreeMap::new(),
            home: None,
            is_unsound: false,
        }
    }

    /// Notes that it has spoken.
    ///
    /// # Errors
    /// When it has said that before. What it brought comes by another way, maybe more than once.
    pub(crate) fn spoke(&mut self, now_ns: u64, number: u64, body: &Body) -> Result<(), Unheeded> {
        if matches!(body, Body::Result(_)) {
            return Ok(());
        }
        if number <= self.number {
            return Err(Unheeded::Repeated);
        }
        (self.heard_ns, self.number) = (now_ns, number);
        Ok(())
    }

    /// Which node it is.
    pub(crate) fn named(&self) -> NodeName {
        NodeName { session: self.name.clone(), host: self.presence.host.clone() }
    }

    /// How far its clock is ahead: before the load, and after it.
    pub(crate) fn offsets(&self) -> [Option<Offset>; 2] {
        self.exchanges.each_ref().map(|exchanges| best(exchanges))
    }

    /// Takes a piece of what it brought; gives why it is not heeded.
    pub(crate) fn take(&mut self, piece: &Piece) -> Option<Unheeded> {
        let bytes = self.assembly.take(piece)?;
        match piece.when {
            When::After(seconds) => match self.checkpoints.get(&seconds) {
                Some(before) if *before != bytes => return Some(Unheeded::Contradiction),
                _ => {
                    self.checkpoints.insert(seconds, bytes);
                    if self.checkpoints.len() > MOST_KEPT {
                        self.checkpoints.pop_first();
                    }
                }
            },
            When::AtEnd => {
                let Some(brought) = self.sound(&bytes) else {
                    self.is_unsound = true;
                    return Some(Unheeded::Unknown);
                };
                match &self.home {
                    Some(before) if *before != brought => return Some(Unheeded::Contradiction),
                    _ => self.home = Some(brought),
                }
            }
        }
        None
    }

    /// What it would have brought after so many seconds: all that it did, where it was done before.
    pub(crate) fn after(&self, seconds: u64) -> Option<Brought> {
        match self.checkpoints.get(&seconds) {
            Some(bytes) => self.sound(bytes),
            None => self.home.clone(),
        }
    }

    /// Whether it is known what it would have brought after so many seconds.
    pub(crate) fn has(&self, seconds: u64) -> bool {
        let last = || self.checkpoints.last_key_value().map_or(0, |(last, _)| *last);
        let is_done_by = |home: &Brought| {
            let (begun_ns, ended_ns) = home.window_ns();
            ended_ns.saturating_sub(begun_ns) <= seconds.saturating_mul(NS_PER_S)
        };
        // A second that was held up is not told of, and who is done may have gone on after it.
        self.checkpoints.contains_key(&seconds) || seconds > last() && self.home.as_ref().is_some_and(is_done_by)
    }

    /// The seconds of which it has told what it would have brought.
    pub(crate) fn seconds(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.checkpoints.keys().copied()
    }

    /// Forgets what it would have brought earlier: all have told of a later second.
    pub(crate) fn forget_before(&mut self, seconds: u64) {
        self.checkpoints = self.checkpoints.split_off(&seconds);
    }

    /// What was written, where it is of its threads.
    fn sound(&self, bytes: &[u8]) -> Option<Brought> {
        let brought = Brought::from_bytes(bytes).ok()?;
        (brought.threads() == self.share.threads as usize).then_some(brought)
    }
}
