use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, PipeReader, Read, Seek};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::clock::{after, left};
use crate::guarded::{Ended, Guarded};
use crate::order::Order;

/// How often it is looked whether the question is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What is read at once: more than the pipe holds.
const AT_ONCE: usize = 1024 * 1024;

/// A program that is run for what it prints on stdout.
pub struct Question<'a> {
    /// Its hidden subcommand carries it out.
    pub executable: &'a Path,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// How long it may take; as long as it takes, if there is no limit.
    pub within: Option<Duration>,
    /// Setting it ends the program.
    pub stop: Option<&'a AtomicBool>,
}

/// How a program ended that was asked.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub ended: Ended,
    /// The first and the last 8 KiB of what it printed on stderr.
    pub errors: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// Nothing can be started; why, and what to do about it.
    NotStarted(String),
    /// It did not end in time.
    Late,
    /// It was stopped.
    Stopped,
}

/// Runs a program to its end. `hear` is given what it prints, as it comes; `prepare` sets folder and environment. What it
/// leaves running is ended with it, and not waited for.
///
/// # Errors
/// When it does not come to its end; then it is ended.
pub fn ask(
    question: Question<'_>,
    prepare: impl FnOnce(&mut Command),
    hear: &mut dyn FnMut(&[u8]),
) -> Result<Answer, Unanswered> {
    let cannot = |error: std::io::Error| Unanswered::NotStarted(format!("what it says cannot be read: {error}"));
    let (mut said, stdout) = std::io::pipe().map_err(cannot)?;
    rustix::io::ioctl_fionbio(&said, true).map_err(|error| cannot(error.into()))?;
    let mut errors =
        memfd_create("errors", MemfdFlags::CLOEXEC).map(File::from).map_err(|error| cannot(error.into()))?;
    let order = Order { apart: true, ..Order::new(question.command, &[], None) };
    let output = (stdout.into(), errors.try_clone().map_err(cannot)?.into());
    let mut guarded = Guarded::begin(question.executable, &order, output, prepare)
        .map_err(|why| Unanswered::NotStarted(why.to_string()))?;
    let give_up_ns = question.within.map(after);
    let ended = loop {
        // Asked first: once it has ended, all that it printed is there.
        let ended = guarded.ended().cloned();
        read(&mut said, hear);
        if let Some(ended) = ended {
            break ended;
        }
        if question.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Unanswered::Stopped);
        }
        if give_up_ns.is_some_and(|at_ns| left(at_ns).is_zero()) {
            return Err(Unanswered::Late);
        }
        guarded.wait(Some(&said), LOOK_EVERY);
    };
    guarded.end();
    let mut text = Vec::new();
    errors.rewind().and_then(|()| errors.read_to_end(&mut text)).map_err(cannot)?;
    Ok(Answer { ended, errors: text })
}

/// Reads what is there. Somebody who was left running may print for ever.
fn read(said: &mut PipeReader, hear: &mut dyn FnMut(&[u8])) {
    let (mut taken, mut buffer) = (0, [0; 64 * 1024]);
    while taken < AT_ONCE {
        match said.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                taken += count;
                hear(&buffer[..count]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
