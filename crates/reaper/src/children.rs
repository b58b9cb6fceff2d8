use std::path::Path;
use std::time::Duration;

use observe::ProcSource;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, child_subreaper, getpgid, getpid, kill_process, kill_process_group, wait,
};

use crate::clock::{after, left, pause};

/// Names the launch in the environment of everything that it starts.
pub(crate) const MARK: &str = "BOURDON_LAUNCH";

/// Those of our children that have changed, stopped ones too, and whether there are any left.
pub(crate) fn changed() -> (Vec<(u32, WaitStatus)>, bool) {
    let mut changed = Vec::new();
    loop {
        match wait(WaitOptions::NOHANG | WaitOptions::UNTRACED) {
            Ok(Some((pid, status))) => changed.push((number(pid), status)),
            Ok(None) => return (changed, true),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return (changed, false),
        }
    }
}

/// Waits for what has ended of the strangers that this process adopts, as the first one of a container does: a warden has
/// no other parent. The children that bourdon starts itself are first steps, whose status nobody needs.
pub(crate) fn wait_for_adopted() {
    if own() == 1 || child_subreaper().is_ok_and(|adopts| adopts.is_some()) {
        changed();
    }
}

/// Signals everything that a process started, and not the process itself.
pub fn signal_descendants(root_pid: u32, signal: Signal) {
    for pid in observe::descendants(root_pid, &ProcSource::default()) {
        signal_one(pid, signal);
    }
}

/// Kills everything that this process started. A group is killed at once: none of it can start another meanwhile. It
/// must be led, or have been, by a descendant or by `child`: a target may have joined somebody else's.
pub(crate) fn kill_all(child: u32) {
    let descendants = observe::descendants(own(), &ProcSource::default());
    for group in descendants.iter().filter_map(|pid| getpgid(process(*pid)).ok()) {
        if number(group) == child || descendants.contains(&number(group)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    descendants.into_iter().for_each(|pid| signal_one(pid, Signal::KILL));
}

/// Kills whatever carries the mark of a launch, until there is none or the time is over.
pub(crate) fn sweep(launch: &str, within: Duration) {
    let (mark, give_up_ns) = (format!("{MARK}={launch}"), after(within));
    loop {
        let found = marked(&mark);
        found.iter().for_each(|pid| signal_one(*pid, Signal::KILL));
        if found.is_empty() || left(give_up_ns).is_zero() {
            return;
        }
        pause();
    }
}

/// Processes with this word in their environment.
fn marked(mark: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != own() && carries(*pid, mark)).collect()
}

fn carries(pid: u32, mark: &str) -> bool {
    let environment = std::fs::read(Path::new("/proc").join(pid.to_string()).join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
}

pub(crate) fn signal_one(pid: u32, signal: Signal) {
    if let Some(pid) = process(pid) {
        let _ = kill_process(pid, signal);
    }
}

pub(crate) fn own() -> u32 {
    number(getpid())
}

fn process(pid: u32) -> Option<Pid> {
    Pid::from_raw(pid as i32)
}

fn number(pid: Pid) -> u32 {
    pid.as_raw_nonzero().get() as u32
}
