#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::Clock;
use observe::SharedClock;
use rustix::time::{ClockId, clock_gettime};

/// The machine's monotonic clock.
pub(crate) struct Monotonic;

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * model::NS_PER_S + now.tv_nsec as u64
    }
}

/// A clock that stands where it was put.
#[derive(Default)]
pub(crate) struct Stopped(AtomicU64);

impl Stopped {
    pub(crate) fn set(&self, ns: u64) {
        self.0.store(ns, Ordering::SeqCst);
    }
}

impl Clock for Stopped {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) fn monotonic() -> SharedClock {
    Arc::new(Monotonic)
}

/// A process of a captured `/proc`.
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) user: u64,
    pub(crate) system: u64,
    pub(crate) reaped_user: u64,
    pub(crate) faults: u64,
    pub(crate) reaped_faults: u64,
    pub(crate) threads: u32,
    pub(crate) start: u64,
    pub(crate) pages: u64,
    pub(crate) files: u32,
    pub(crate) children: &'static str,
}

impl Process {
    pub(crate) fn new(pid: u32, parent: u32) -> Self {
        Self {
            pid,
            parent,
            user: 0,
            system: 0,
            reaped_user: 0,
            faults: 20,
            reaped_faults: 0,
            threads: 1,
            start: 5,
            pages: 10,
            files: 3,
            children: "",
        }
    }

    pub(crate) fn write(&self, root: &Path, with_children: bool) {
        let home = root.join(self.pid.to_string());
        fs::create_dir_all(home.join("fd")).unwrap();
        let Self { pid, parent, user, system, reaped_user, faults, reaped_faults, threads, start, .. } = self;
        let times = format!("{user} {system} {reaped_user} 0 20 0 {threads} 0 {start} 1 1");
        fs::write(
            home.join("stat"),
            format!("{pid} (a server) S {parent} 1 1 0 -1 0 {faults} {reaped_faults} 0 0 {times}\n"),
        )
        .unwrap();
        fs::write(home.join("statm"), format!("999 {} 1 1 0 1 0\n", self.pages)).unwrap();
        for file in 0..self.files {
            fs::write(home.join("fd").join(file.to_string()), "").unwrap();
        }
        for thread in 0..*threads {
            let task = home.join("task").join((pid + thread).to_string());
            fs::create_dir_all(&task).unwrap();
            let status = "Name:\tx\nvoluntary_ctxt_switches:\t10\nnonvoluntary_ctxt_switches:\t2\n";
            fs::write(task.join("status"), status).unwrap();
            if with_children {
                fs::write(task.join("children"), if thread + 1 == *threads { self.children } else { "" }).unwrap();
            }
        }
    }
}

/// For how long the one CPU of that host was idle, waited for a disk, or was stolen.
pub(crate) const HOST_AWAY_S: f64 = 90.35;

/// The host's figures, with so many processes and threads started since boot.
pub(crate) fn write_host(root: &Path, started: u64) {
    let stat = format!("cpu  1000 0 500 9000 5 0 50 30 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nprocesses {started}\n");
    fs::write(root.join("stat"), stat).unwrap();
    fs::create_dir_all(root.join("self")).unwrap();
    fs::write(root.join("self/stat"), "9 (bourdon) S 1 1 1 0 -1 0 0 0 0 0 40 20 0 0 20 0 4 0 1 1 1\n").unwrap();
}
