use std::ffi::{CStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{Error, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, kill_process, set_child_subreaper, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_name};

use crate::children::own;
use crate::clock::now_ns;
use crate::end;
use crate::guard::{Ending, Guard, KILLED};
use crate::order::{Order, Step};
use crate::output::Output;
use crate::removal::remove_folder;
use crate::said::{Said, to_bourdon};
use crate::signals::ignore_none;
use crate::watch::Watch;

/// How long a target may take to end after TERM before it is killed.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// How long a warden waits for its reaper to end everything, before it does so itself: longer than that may take.
pub(crate) const AWAITED: Duration = GRACE.saturating_add(KILLED).saturating_add(Duration::from_secs(2));

/// What helps where the system gives no process or thread; it does not say which limit was met.
pub const MORE_PROCESSES: &str =
    "raise the limit of processes (ulimit -u, pids.max of the control group) or of address space (ulimit -v)";

/// What a command reads that is told nothing.
const NOTHING: &str = "/dev/null";

/// Puts what belongs into a scratch folder.
pub type Furnish<'a> = &'a dyn Fn(&Path) -> std::io::Result<()>;

/// Takes the step that the arguments of the hidden subcommand name. Stdin is the socket to bourdon, stderr takes what is
/// kept of what the command prints, and stdout is the command's where that is apart. False when the step could not be
/// taken, which has been said.
pub fn run(words: &[OsString], furnish: Furnish<'_>) -> bool {
    let taken = match Order::parse(words) {
        None => Err("this is a step of bourdon's own, and cannot be called".to_owned()),
        Some(order) => match order.step {
            Step::Detach => start(order.next(Step::Warden)).map(drop),
            Step::Warden => warden(&order, furnish),
            Step::Reaper => reap(&order),
            Step::Command { reaper } => become_command(&order, reaper),
        },
    };
    if let Err(text) = &taken {
        Said::Unguarded(text.clone()).say();
    }
    taken.is_ok()
}

/// Starts the next step.
pub(crate) fn start(mut step: Command) -> Result<Child, String> {
    step.spawn().map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => {
            format!("no process can be started to guard it: {error}; {MORE_PROCESSES}")
        }
        ErrorKind::ArgumentListTooLong => {
            format!("its command and its environment are longer than the kernel takes: {error}; shorten them")
        }
        ErrorKind::NotFound => format!("no process can be started to guard it: {error}; is /proc mounted?"),
        _ => format!("no process can be started to guard it: {error}"),
    })
}

fn warden(order: &Order, furnish: Furnish<'_>) -> Result<(), String> {
    let watch = guarding(c"warden")?;
    let scratch = Scratch::make(order.scratch.as_deref(), furnish)?;
    let reaper = start(order.next(Step::Reaper))?;
    let mut guard = Guard::new(watch, reaper.id(), Ending::Awaited(AWAITED));
    let gone = guard.stand::<File>(None, |status, _| {
        if status.exit_status().is_none() {
            Said::Ended(end::with_its_reaper(end::of(status))).say();
        }
    });
    guard.watch.wait_for_stop();
    drop(scratch);
    if gone {
        Said::Done.say();
    }
    Ok(())
}

fn reap(order: &Order) -> Result<(), String> {
    let watch = guarding(c"reaper")?;
    let cannot = |error: Error| format!("what it prints cannot be read: {error}");
    let (pipe, printed) = std::io::pipe().map_err(cannot)?;
    let mut output = Output::new(pipe, kept().map_err(cannot)?).map_err(cannot)?;
    keep_off(&order.cpus);
    let mut command = order.next(Step::Command { reaper: own() });
    command.stderr(printed);
    let target = start(command)?;
    let scratch = Scratch::hold(order.scratch.clone());
    let mut guard = Guard::new(watch, target.id(), Ending::Asked(GRACE));
    guard.stand(Some(&mut output), |status, output| {
        output.into_iter().for_each(Output::read);
        Said::Ended(end::of(status)).say();
    });
    output.finish();
    guard.watch.wait_for_stop();
    // Should the warden have been killed; or stopped, for bourdon may be gone.
    drop(scratch);
    let _ = getppid().map(|warden| kill_process(warden, Signal::CONT));
    Ok(())
}

/// Where what is kept of the output goes.
fn kept() -> std::io::Result<File> {
    std::io::stderr().as_fd().try_clone_to_owned().map(File::from)
}

/// Adopts what is started from here on, and is called by its part: by bourdon's name a user means bourdon.
fn guarding(name: &CStr) -> Result<Watch, String> {
    let ready = set_name(name).and_then(|()| set_child_subreaper(Some(getpid()))).map_err(Error::from);
    ready.and_then(|()| Watch::new()).map_err(|error| format!("it cannot be guarded: {error}"))
}

/// Leaves the command's CPUs to the command, if there are others. Where the kernel denies it, they are shared.
fn keep_off(cpus: &[u32]) {
    let Ok(mut allowed) = sched_getaffinity(None) else { return };
    cpus.iter().for_each(|cpu| allowed.unset(*cpu as usize));
    if allowed.count() > 0 {
        let _ = sched_setaffinity(None, &allowed);
    }
}

/// Becomes the command, to which nothing is said but what it is started with. It is killed when its reaper ends.
fn become_command(order: &Order, reaper: u32) -> Result<(), String> {
    let (program, arguments) = order.command.split_first().ok_or("the command is empty")?;
    let cannot = |error: Error| format!("cannot run `{}`: {error}", program.to_string_lossy());
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| cannot(error.into()))?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() as u32 != reaper) {
        return Err("its reaper ended before it began".to_owned());
    }
    if !order.cpus.is_empty() {
        let mut set = CpuSet::new();
        order.cpus.iter().for_each(|cpu| set.set(*cpu as usize));
        sched_setaffinity(None, &set).map_err(|error| cannot(error.into()))?;
    }
    // Opened here, for where it is missing the program is not what cannot be found.
    let nothing = File::open(NOTHING).map_err(|error| format!("{NOTHING} cannot be opened: {error}; mount /dev"))?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(nothing);
    if !order.apart {
        command.stdout(kept().map_err(cannot)?);
    }
    ignore_none();
    // Should it not run, that can still be said.
    let bourdon = to_bourdon().map_err(cannot)?;
    Said::Started { pid: own(), reaper, at_ns: now_ns() }.say_to(&bourdon);
    let error = command.exec();
    // The system's limits are no fault of the program.
    let lacking = matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::WouldBlock)
        || [Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error())).contains(&error.raw_os_error());
    let said = if lacking { Said::Unguarded } else { Said::Failed };
    said(cannot(error)).say_to(&bourdon);
    Ok(())
}

/// A folder that is there as long as this is. It is held, so that a later bourdon can tell it from one whose guards were all
/// killed.
struct Scratch {
    folder: Option<PathBuf>,
    _held: Option<File>,
}

impl Scratch {
    fn make(folder: Option<&Path>, furnish: Furnish<'_>) -> Result<Self, String> {
        let Some(folder) = folder else { return Ok(Self::hold(None)) };
        let cannot = |error: Error| {
            let cure = match error.kind() {
                ErrorKind::FileTooLarge => "raise the limit of a file's size (ulimit -f)",
                _ => "set TMPDIR to a folder that can be written and has room",
            };
            format!("cannot make the scratch folder {}: {error}; {cure}", folder.display())
        };
        // Others may read in it: a server's workers may run as another user.
        DirBuilder::new().mode(0o755).create(folder).map_err(cannot)?;
        let made = Self::hold(Some(folder.to_owned()));
        furnish(folder).map_err(cannot).map(|()| made)
    }

    /// Where it cannot be held it is there all the same.
    fn hold(folder: Option<PathBuf>) -> Self {
        let opened = folder.as_ref().and_then(|folder| File::open(folder).ok());
        Self { folder, _held: opened.filter(|folder| folder.try_lock_shared().is_ok()) }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.folder.iter().for_each(|folder| remove_folder(folder));
    }
}
