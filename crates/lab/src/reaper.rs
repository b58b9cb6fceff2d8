//! The small process between bourdon and a target. It adopts whatever the target starts, and when its pipe to
//! bourdon closes, for whatever reason, it ends all of it: even kill -9 on bourdon leaves nothing running.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use engine::MonotonicClock;
use model::Clock;
use observe::ProcSource;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::contract;

/// How long a target may take to end after TERM before it is killed.
pub const GRACE: Duration = Duration::from_secs(5);

/// How often what is left is killed again: a process may start another between two looks.
const KILL_AGAIN: Duration = Duration::from_millis(50);

/// What happens to the reaper.
enum Happening {
    /// bourdon has closed its end of the pipe, or asked in some other way.
    Stop,
    /// A child, the target or something it left behind, has ended.
    Ended(i32, WaitStatus),
    /// Nothing is left to wait for.
    Childless,
}

/// Runs `command` on `cpus` until stdin ends, then ends everything it started. Says `pid N` and, should the target
/// end by itself, `exit TEXT` on stdout, a line each; what the target prints goes to stderr. The folder `scratch` is made first, with the
/// file that `/hash` reads, and removed last.
///
/// # Errors
/// When the command cannot be started.
pub fn run(command: &[OsString], cpus: &[u32], scratch: Option<&Path>) -> std::io::Result<()> {
    let Some(scratch) = scratch else { return guard(command, cpus) };
    // Others may read in it: a server's workers may run as another user.
    DirBuilder::new().mode(0o755).create(scratch)?;
    let furnished = std::fs::write(scratch.join(contract::DATA_FILE), contract::data());
    let ended = furnished.and_then(|()| guard(command, cpus));
    // What remains where this fails is a folder under /tmp, and nobody is left to be told.
    let _ = std::fs::remove_dir_all(scratch);
    ended
}

fn guard(command: &[OsString], cpus: &[u32]) -> std::io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    if !cpus.is_empty() {
        let mut set = CpuSet::new();
        cpus.iter().for_each(|cpu| set.set(*cpu as usize));
        sched_setaffinity(None, &set)?;
    }
    let (happen, happenings) = mpsc::channel();
    watch_stdin(happen.clone());
    watch_signals(happen.clone())?;
    let target = start(command)?;
    say(&format!("pid {target}"));
    std::thread::spawn(move || watch_children(&happen));
    supervise(target as i32, &happenings);
    Ok(())
}

fn start(command: &[OsString]) -> std::io::Result<u32> {
    let (program, arguments) = command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    let output = std::io::stderr().as_fd().try_clone_to_owned()?;
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(output).process_group(0).spawn()?;
    Ok(child.id())
}

/// bourdon may be gone; then nobody listens, and the end of stdin says so.
fn say(line: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn watch_stdin(happen: Sender<Happening>) {
    std::thread::spawn(move || {
        let mut byte = [0];
        while !matches!(std::io::stdin().read(&mut byte), Ok(0) | Err(_)) {}
        let _ = happen.send(Happening::Stop);
    });
}

fn watch_signals(happen: Sender<Happening>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let _ = happen.send(Happening::Stop);
        }
    });
    Ok(())
}

fn watch_children(happen: &Sender<Happening>) {
    loop {
        let happening = match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => Happening::Ended(pid.as_raw_nonzero().get(), status),
            Ok(None) => continue,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => Happening::Childless,
        };
        let over = matches!(happening, Happening::Childless);
        if happen.send(happening).is_err() || over {
            return;
        }
    }
}

fn supervise(target: i32, happenings: &Receiver<Happening>) {
    loop {
        match happenings.recv() {
            Ok(Happening::Ended(pid, status)) if pid == target => say(&format!("exit {}", describe(status))),
            Ok(Happening::Ended(..)) => {}
            Ok(Happening::Childless) => return wait_for_stop(happenings),
            Ok(Happening::Stop) | Err(_) => return end_all(happenings),
        }
    }
}

/// The target is gone with all it started; bourdon will notice and close the pipe.
fn wait_for_stop(happenings: &Receiver<Happening>) {
    while !matches!(happenings.recv(), Ok(Happening::Stop) | Err(_)) {}
}

fn end_all(happenings: &Receiver<Happening>) {
    let signal_all = |signal| signal_descendants(getpid().as_raw_nonzero().get() as u32, signal);
    signal_all(Signal::TERM);
    let mut deadline_ns = MonotonicClock.now_ns() + GRACE.as_nanos() as u64;
    loop {
        // The deadline is fixed: a target that keeps starting and losing children must not put it off.
        let left = Duration::from_nanos(deadline_ns.saturating_sub(MonotonicClock.now_ns()));
        if left.is_zero() {
            signal_all(Signal::KILL);
            deadline_ns = MonotonicClock.now_ns() + KILL_AGAIN.as_nanos() as u64;
            continue;
        }
        if let Ok(Happening::Childless) | Err(RecvTimeoutError::Disconnected) = happenings.recv_timeout(left) {
            return;
        }
    }
}

/// Signals everything that a process started, and not the process itself.
pub(crate) fn signal_descendants(root_pid: u32, signal: Signal) {
    for pid in observe::descendants(root_pid, &ProcSource::default()) {
        if let Some(pid) = Pid::from_raw(pid as i32) {
            let _ = kill_process(pid, signal);
        }
    }
}

fn describe(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exited with status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        _ => "ended".to_owned(),
    }
}
