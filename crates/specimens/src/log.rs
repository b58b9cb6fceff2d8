//! What was done to which request, and when.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, mem};

use crate::clock;

/// What the server did with one request (for `IdleClose`: with the connection after it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A proper reply.
    Reply,
    /// A reply of the right length with the wrong bytes.
    WrongBody,
    /// RST in place of a reply.
    ResetBeforeReply,
    /// FIN in place of a reply.
    CloseBeforeReply,
    /// RST after the head and half the body.
    ResetInReply,
    /// FIN after half the head.
    CloseInReply,
    /// FIN on an idle connection; the reply before it has its own entry.
    IdleClose,
    /// Nothing, on a connection that stays open.
    NoAnswer,
    /// A head that is not HTTP, then FIN.
    MalformedHead,
    /// FIN after the head and half the body.
    ShortBody,
    /// A 204 without a length.
    NoContent,
    /// A 204 and a body.
    BodyAfterNoContent,
    /// A proper 503.
    Unavailable,
    /// A proper reply, twice.
    RepeatedReply,
    /// A proper reply, in two writes.
    SplitReply,
}

impl Action {
    /// Every action, in the order of declaration.
    pub const ALL: [Action; 15] = [
        Action::Reply,
        Action::WrongBody,
        Action::ResetBeforeReply,
        Action::CloseBeforeReply,
        Action::ResetInReply,
        Action::CloseInReply,
        Action::IdleClose,
        Action::NoAnswer,
        Action::MalformedHead,
        Action::ShortBody,
        Action::NoContent,
        Action::BodyAfterNoContent,
        Action::Unavailable,
        Action::RepeatedReply,
        Action::SplitReply,
    ];

    /// The kebab-case name, as it stands in a log file.
    pub fn name(self) -> &'static str {
        match self {
            Action::Reply => "reply",
            Action::WrongBody => "wrong-body",
            Action::ResetBeforeReply => "reset-before-reply",
            Action::CloseBeforeReply => "close-before-reply",
            Action::ResetInReply => "reset-in-reply",
            Action::CloseInReply => "close-in-reply",
            Action::IdleClose => "idle-close",
            Action::NoAnswer => "no-answer",
            Action::MalformedHead => "malformed-head",
            Action::ShortBody => "short-body",
            Action::NoContent => "no-content",
            Action::BodyAfterNoContent => "body-after-no-content",
            Action::Unavailable => "unavailable",
            Action::RepeatedReply => "repeated-reply",
            Action::SplitReply => "split-reply",
        }
    }

    /// The action with exactly this [`name`](Action::name).
    pub fn from_name(name: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.name() == name)
    }
}

/// One line of the log. Its `Display` is the line of a log file, without the line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Entry {
    /// When the action was taken, in nanoseconds of `CLOCK_MONOTONIC`; for bytes and closes, the
    /// moment immediately before they were handed to the kernel.
    pub at_ns: u64,
    /// Serial number of the connection in the order of acceptance, from 1 (connections that only
    /// pinged count too).
    pub connection: u64,
    /// What was done.
    pub action: Action,
}

impl Entry {
    /// Reads one line of a log file; `None` if it is not one.
    pub fn from_line(line: &str) -> Option<Entry> {
        let mut words = line.split_ascii_whitespace();
        let at_ns = words.next()?.parse().ok()?;
        let connection = words.next()?.parse().ok()?;
        let action = Action::from_name(words.next()?)?;
        words.next().is_none().then_some(Entry { at_ns, connection, action })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.at_ns, self.connection, self.action.name())
    }
}

/// Where the log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogSink {
    /// Nowhere, at no cost.
    None,
    /// Into memory, for [`Server::log`](crate::Server::log); it grows for as long as the server runs.
    Memory,
    /// Into this file, truncated at the start: lines `<at_ns> <connection> <action>`, flushed before
    /// every wait for events.
    File(PathBuf),
}

/// The entries of a [`LogSink::Memory`], shared with the thread that asks for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Vec<Entry>>>);

impl Shared {
    fn push(&self, entry: Entry) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
    }

    /// A copy of the entries so far.
    pub(crate) fn copy(&self) -> Vec<Entry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The entries so far, taken out.
    pub(crate) fn take(&self) -> Vec<Entry> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

enum Sink {
    None,
    Memory(Shared),
    File { path: PathBuf, file: BufWriter<File>, error: Option<io::Error> },
}

/// What went wrong with a log file, with its name.
fn of_file(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("cannot write the log {}: {error}", path.display()))
}

/// The open log of a running server.
pub(crate) struct Log(Sink);

impl Log {
    /// Opens the log, and for a file creates it.
    pub(crate) fn open(sink: LogSink) -> io::Result<Log> {
        Ok(Log(match sink {
            LogSink::None => Sink::None,
            LogSink::Memory => Sink::Memory(Shared::default()),
            LogSink::File(path) => {
                let file = BufWriter::new(File::create(&path).map_err(of_file(&path))?);
                Sink::File { path, file, error: None }
            }
        }))
    }

    /// The shared entries, if they go to memory.
    pub(crate) fn shared(&self) -> Option<Shared> {
        match &self.0 {
            Sink::Memory(shared) => Some(shared.clone()),
            Sink::None | Sink::File { .. } => None,
        }
    }

    /// Notes an action that is about to be taken.
    pub(crate) fn record(&mut self, connection: u64, action: Action) {
        if matches!(self.0, Sink::None) {
            return;
        }
        let entry = Entry { at_ns: clock::now(), connection, action };
        match &mut self.0 {
            Sink::None => {}
            Sink::Memory(shared) => shared.push(entry),
            Sink::File { file, error, .. } => {
                if let Err(failure) = writeln!(file, "{entry}") {
                    error.get_or_insert(failure);
                }
            }
        }
    }

    /// Writes out what is buffered; reports the first failure since the last call.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Sink::File { path, file, error } = &mut self.0 else { return Ok(()) };
        error.take().map_or_else(|| file.flush(), Err).map_err(of_file(path))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lines_are_read_back() {
        for action in Action::ALL {
            let entry = Entry { at_ns: 12, connection: 3, action };
            assert_eq!(Entry::from_line(&entry.to_string()), Some(entry));
        }
        for line in ["", "1 2", "1 2 dance", "1 2 reply 3", "x 2 reply", "-1 2 reply"] {
            assert_eq!(Entry::from_line(line), None, "{line}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_reported() {
        let mut log = Log::open(LogSink::File("/dev/full".into())).unwrap();
        log.record(1, Action::Reply);
        let said = log.flush().unwrap_err().to_string();
        assert!(said.starts_with("cannot write the log /dev/full: No space left on device"), "{said}");
        let missing = Log::open(LogSink::File("/no/such/folder".into())).map(|_| ()).unwrap_err().to_string();
        assert!(missing.starts_with("cannot write the log /no/such/folder: No such file"), "{missing}");
    }
}
