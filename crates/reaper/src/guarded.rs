use std::fmt::{self, Display};
use std::fs::File;
use std::io::{ErrorKind, PipeReader, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use model::{GuardEnd, ProcessEnd};
use observe::ProcSource;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::children::{MARK, signal_one, sweep, wait_for_adopted};
use crate::clock::{after, left, pause};
use crate::guard::KILLED;
use crate::order::{Order, call};
use crate::removal::remove_folder;
use crate::said::Said;
use crate::steps::{AWAITED, start};

/// How long everything may take to end: longer than a warden needs that has to kill its reaper.
const LONGEST_END: Duration = AWAITED.saturating_add(KILLED).saturating_add(Duration::from_secs(2));

/// How long what has escaped is looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Variables by which git is tied to one repository (`git rev-parse --local-env-vars`, without those that only configure
/// it). Git sets them for its hooks: whatever is started from a bourdon in a hook would take them for its own.
const TIED_TO_A_REPOSITORY: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Longest line that is heard. A target that writes to its reaper's socket must not fill bourdon's memory.
const LONGEST_LINE: usize = 64 * 1024;

/// A command under a reaper of its own: whatever it starts ends with it, and with bourdon.
#[derive(Debug)]
pub struct Guarded {
    /// The first step, which ends once the others stand.
    detaching: Child,
    /// To the others, and from them while there are any. That nothing more can come from here tells them to end the
    /// command.
    steps: Option<UnixStream>,
    ending: bool,
    line: Vec<u8>,
    started: Option<Started>,
    ended: Option<Ended>,
    /// Whether those who guarded it went without a word of how it ended.
    wordless: bool,
    done: bool,
    launch: String,
    scratch: Option<PathBuf>,
}

/// A command that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    /// Its process.
    pub pid: u32,
    /// The process above it, which adopts and waits for what loses its parent below it.
    pub reaper: u32,
    /// When it began, on the monotonic clock.
    pub at_ns: u64,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It cannot be run: there is no such program or folder, or it may not be used.
    NotStarted(String),
    /// It was not run, because what guards it is missing: a process, a file, a scratch folder. Why, and what to do about it.
    Unguarded(String),
    /// It ran, and came to this end.
    Ran(ProcessEnd),
}

impl Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::NotStarted(text) | Ended::Unguarded(text) => f.write_str(text),
            Ended::Ran(end) => end.fmt(f),
        }
    }
}

impl Guarded {
    /// Carries out an order by the hidden subcommand of `executable`. The first and the last 8 KiB of what the command
    /// prints go to `output`; `prepare` sets folder and environment, which ties git to no repository.
    ///
    /// # Errors
    /// Why nothing has been started, where that is known at once.
    pub fn start(
        executable: &Path,
        order: &Order,
        output: File,
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self, Ended> {
        let stdout =
            output.try_clone().map_err(|error| Ended::Unguarded(format!("its output cannot be kept: {error}")))?;
        Self::begin(executable, order, (stdout.into(), output.into()), prepare)
    }

    /// With a stdout of its own, if the order says so.
    pub(crate) fn begin(
        executable: &Path,
        order: &Order,
        (stdout, stderr): (OwnedFd, OwnedFd),
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self, Ended> {
        let (steps, stdin) =
            pair().map_err(|error| Ended::Unguarded(format!("a socket to its reaper cannot be made: {error}")))?;
        let launch = format!("{:016x}", fastrand::u64(..));
        let mut command = call(executable, order);
        TIED_TO_A_REPOSITORY.iter().for_each(|name| {
            command.env_remove(name);
        });
        prepare(&mut command);
        command.get_current_dir().map_or(Ok(()), enterable).map_err(Ended::NotStarted)?;
        say_where(&mut command);
        command.stdin(OwnedFd::from(stdin)).stdout(stdout).stderr(stderr).env(MARK, &launch);
        let detaching = start(command).map_err(Ended::Unguarded)?;
        Ok(Self {
            detaching,
            steps: Some(steps),
            ending: false,
            line: Vec::new(),
            started: None,
            ended: None,
            wordless: false,
            done: false,
            launch,
            scratch: order.scratch.clone(),
        })
    }

    /// The command's process, once it has begun.
    pub fn started(&mut self) -> Option<Started> {
        self.listen();
        self.started
    }

    /// How the command ended, if it has ended by itself.
    pub fn ended(&mut self) -> Option<&Ended> {
        self.listen();
        if let (None, Some(Started { pid, .. })) = (&self.ended, self.started)
            && let Some(reaper) = observe::parent_of_the_dead(pid, &ProcSource::default())
        {
            self.hear_of_the_dead(reaper);
        }
        self.ended.as_ref()
    }

    /// The command is dead. Its reaper says how it died, at once unless somebody has stopped it and killed the warden, who
    /// would have continued it.
    fn hear_of_the_dead(&mut self, reaper: u32) {
        signal_one(reaper, Signal::CONT);
        let give_up_ns = after(KILLED);
        while self.listen() && self.ended.is_none() && !left(give_up_ns).is_zero() {
            self.wait(None, left(give_up_ns));
        }
        self.ended.get_or_insert(Ended::Ran(ProcessEnd::Unknown));
    }

    /// Whether it ended because somebody took away what guarded it. That says nothing of the command, unless it did so itself.
    pub fn is_bereft(&self) -> bool {
        self.wordless || matches!(self.ended, Some(Ended::Ran(end)) if end.is_unguarded())
    }

    /// The scratch folder, if it is there: after the end, something in it could not be removed.
    pub fn left(&self) -> Option<&Path> {
        self.scratch.as_deref().filter(|folder| folder.symlink_metadata().is_ok())
    }

    /// Tells who guards it to end it, and does not wait.
    pub fn ask_to_end(&mut self) {
        // Who cannot be told so hears that nobody listens any more, and is not waited for.
        if self.steps.as_ref().is_some_and(|steps| steps.shutdown(Shutdown::Write).is_err()) {
            self.steps = None;
        }
    }

    /// Ends it with everything it started: TERM, then KILL. Returns when nothing of it is left.
    pub fn end(&mut self) {
        if std::mem::replace(&mut self.ending, true) {
            return;
        }
        self.ask_to_end();
        let give_up_ns = after(LONGEST_END);
        while self.listen() && !left(give_up_ns).is_zero() {
            self.wait(None, left(give_up_ns));
        }
        if !self.done {
            sweep(&self.launch, SWEEP);
            self.scratch.iter().for_each(|folder| remove_folder(folder));
        }
        // It has long ended, unless somebody stopped it.
        if let Ok(None) = self.detaching.try_wait() {
            let _ = self.detaching.kill();
            let _ = self.detaching.wait();
        }
        wait_for_adopted();
    }

    /// Waits until something is said, or there is something to read from `other`.
    pub(crate) fn wait(&self, other: Option<&PipeReader>, within: Duration) {
        let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
        let mut sources: Vec<PollFd<'_>> = self.steps.iter().map(|steps| PollFd::new(steps, PollFlags::IN)).collect();
        sources.extend(other.map(|other| PollFd::new(other, PollFlags::IN)));
        // Where it fails, whoever waits looks again soon; at once after a signal.
        if poll(&mut sources, Some(&timeout)).is_err_and(|errno| errno != Errno::INTR) {
            pause();
        }
    }

    /// Takes what has been said; false once there is nobody left to say anything.
    fn listen(&mut self) -> bool {
        let mut bytes = [0; 1024];
        while let Some(steps) = &mut self.steps {
            match steps.read(&mut bytes) {
                Ok(count @ 1..) => self.hear(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => self.hear_the_end(),
            }
        }
        false
    }

    fn hear(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    Said::parse(&String::from_utf8_lossy(&line)).into_iter().for_each(|said| self.note(said));
                }
                _ if self.line.len() < LONGEST_LINE => self.line.push(*byte),
                _ => {}
            }
        }
    }

    fn note(&mut self, said: Said) {
        match said {
            Said::Started { pid, reaper, at_ns } => self.started = Some(Started { pid, reaper, at_ns }),
            Said::Failed(text) => {
                self.started = None;
                self.ended.get_or_insert(Ended::NotStarted(text));
            }
            Said::Unguarded(text) => drop(self.ended.get_or_insert(Ended::Unguarded(text))),
            Said::Ended(end) => drop(self.ended.get_or_insert(Ended::Ran(end))),
            Said::Done => self.done = true,
        }
    }

    /// Those who guarded it are gone. Unless they said how it ended, somebody killed them.
    fn hear_the_end(&mut self) {
        self.steps = None;
        let lost = match self.started {
            Some(_) => Ended::Ran(ProcessEnd::Unguarded(GuardEnd::Unknown)),
            None => Ended::Unguarded("its reaper was killed before it began".to_owned()),
        };
        self.wordless = self.ended.is_none();
        self.ended.get_or_insert(lost);
    }
}

/// Whether a command can be run in a folder. Said here, it is not taken for what its guards lack.
fn enterable(folder: &Path) -> Result<(), String> {
    let entered = std::fs::metadata(folder).and_then(|found| match found.is_dir() {
        true => Ok(access(folder, Access::EXEC_OK)?),
        false => Err(ErrorKind::NotADirectory.into()),
    });
    entered.map_err(|error| format!("it cannot be run in {} (cwd): {error}", folder.display()))
}

/// Gives a command that is run in a folder that folder as `PWD`: the caller's shell has its own there, and programs believe it.
fn say_where(command: &mut Command) {
    let is_set = command.get_envs().any(|(name, _)| name == "PWD");
    let folder = command.get_current_dir().and_then(|folder| std::path::absolute(folder).ok());
    if let Some(folder) = folder.filter(|_| !is_set) {
        // Without a slash at its end: what a build writes of its folder must not change.
        command.env("PWD", folder.components().collect::<PathBuf>());
    }
}

/// A socket to the steps, which is read without waiting, and theirs.
fn pair() -> std::io::Result<(UnixStream, UnixStream)> {
    let (steps, theirs) = UnixStream::pair()?;
    steps.set_nonblocking(true)?;
    Ok((steps, theirs))
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_command_finds_its_own_folder_in_pwd_unless_it_was_given_another() {
        let pwd = |command: &Command| {
            let found = command.get_envs().find(|(name, _)| *name == "PWD");
            found.and_then(|(_, value)| value).map(OsStr::to_owned)
        };
        let mut command = Command::new("true");
        say_where(&mut command);
        assert_eq!(pwd(&command), None, "it runs where its caller does");
        command.current_dir("/usr/./lib/");
        say_where(&mut command);
        assert_eq!(pwd(&command).as_deref(), Some(OsStr::new("/usr/lib")));
        command.env("PWD", "/elsewhere");
        say_where(&mut command);
        assert_eq!(pwd(&command).as_deref(), Some(OsStr::new("/elsewhere")));
    }
}
