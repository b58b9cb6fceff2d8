//! The processes of one target.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

/// All processes of one target.
pub(super) struct Processes(Vec<Pid>);

impl Processes {
    /// Of the target that was told to listen on a port: all that have it from their parents.
    pub(super) fn told(port: u16) -> Self {
        let told = format!("PORT={port}");
        let has = |path: &PathBuf| {
            let environment = std::fs::read(path.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == told.as_bytes())
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let found: Vec<Pid> = all.filter(has).filter(|path| !is_guard(path)).filter_map(|path| pid(&path)).collect();
        assert!(!found.is_empty(), "no process was told to listen on {port}");
        Self(found)
    }

    /// Sends it to each; one that is gone needs none.
    pub(super) fn send(&self, signal: Signal) {
        self.0.iter().for_each(|pid| kill_process(*pid, signal).unwrap_or_default());
    }
}

/// Whether it is who ends a target that bourdon cannot end any more.
fn is_guard(process: &Path) -> bool {
    std::fs::read_to_string(process.join("comm")).is_ok_and(|comm| comm == "reaper\n")
}

fn pid(process: &Path) -> Option<Pid> {
    Pid::from_raw(process.file_name()?.to_str()?.parse().ok()?)
}
