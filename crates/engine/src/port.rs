//! How what a thread saw comes to whoever puts it together, while the load runs.

use std::sync::mpsc::{self, Receiver, Sender};

use crate::part::Part;
use crate::raw_log::RawLog;
use crate::second::{Felt, Second};

/// What a thread tells.
pub(crate) enum Told {
    /// A second has passed.
    Second(Box<Second>),
    /// What it would have brought home, had the load been stopped now.
    Checkpoint(Checkpoint),
}

/// What a thread would have brought home, had its load been stopped.
pub(crate) struct Checkpoint {
    /// Whose it is.
    pub(crate) thread: usize,
    /// Whole seconds of the window that had passed.
    pub(crate) seconds: u64,
    /// But for its replies, which are in its seconds.
    pub(crate) part: Box<Part>,
    /// The second under way.
    pub(crate) second: Box<Second>,
}

/// Where full seconds go and empty ones come from.
pub(crate) struct Port {
    /// Whose it is.
    pub(crate) thread: usize,
    pub(crate) told: Sender<Told>,
    pub(crate) empty: Receiver<Box<Second>>,
    /// Whether the thread waits for an empty one, of which there is one.
    pub(crate) waits: bool,
    /// Where each reply is written down by itself.
    pub(crate) raw: Option<RawLog>,
}

impl Port {
    /// A thread's, with the way back for the emptied seconds.
    pub(crate) fn new(thread: u32, told: Sender<Told>) -> (Self, Sender<Box<Second>>) {
        let (empty, empties) = mpsc::channel();
        (Self { thread: thread as usize, told, empty: empties, waits: false, raw: None }, empty)
    }

    /// That of the only thread in virtual time, which would else be hours ahead of whoever collects.
    pub(crate) fn in_step(felt: Felt, told: Sender<Told>) -> (Self, Sender<Box<Second>>) {
        let (port, empty) = Self::new(0, told);
        // The port holds the other end.
        let _ = empty.send(Box::new(Second::new(0, felt)));
        (Self { waits: true, ..port }, empty)
    }

    /// An empty second; none where none came back yet.
    pub(crate) fn emptied(&self) -> Option<Box<Second>> {
        if self.waits { self.empty.recv().ok() } else { self.empty.try_recv().ok() }
    }

    /// One to which nobody listens.
    pub(crate) fn to_nobody() -> Self {
        Self::new(0, mpsc::channel().0).0
    }
}

impl Clone for Port {
    /// Of what is copied nobody is told.
    fn clone(&self) -> Self {
        Self { thread: self.thread, ..Self::to_nobody() }
    }
}
