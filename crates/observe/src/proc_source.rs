use std::fmt::{Arguments, Write as _};
use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::time::ClockId;
use nix::unistd::Pid;
use rustix::fs::{PROC_SUPER_MAGIC, statfs};

/// What `/proc/PID/clear_refs` takes for that, since Linux 4.0 (proc_pid_clear_refs(5)).
const RESET_PEAK: &[u8] = b"5";

/// Where the kernel's figures are read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcSource {
    /// `/proc`, or a captured folder of the same shape.
    pub root: PathBuf,
}

impl Default for ProcSource {
    fn default() -> Self {
        Self::new("/proc")
    }
}

impl ProcSource {
    /// Reads below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

/// Reads small files below a root into one buffer that is kept between reads.
#[derive(Debug)]
pub(crate) struct Reader {
    root: String,
    path: String,
    buffer: Vec<u8>,
    counts_files_by_size: bool,
    /// Whether the processes are those of this machine, which has a clock for each.
    has_clocks: bool,
}

impl Reader {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_string_lossy().into_owned(),
            path: String::new(),
            buffer: Vec::with_capacity(4096),
            counts_files_by_size: counts_files_by_size(root),
            has_clocks: is_proc(root),
        }
    }

    /// The bytes of a file; none when it, or the process it is about, is gone or may not be read.
    pub(crate) fn read(&mut self, relative: Arguments<'_>) -> Option<&[u8]> {
        self.set_path(relative);
        self.buffer.clear();
        File::open(&self.path).ok()?.read_to_end(&mut self.buffer).ok()?;
        Some(&self.buffer)
    }

    /// The trimmed text of a file that is not empty.
    pub(crate) fn text(&mut self, relative: Arguments<'_>) -> Option<String> {
        let text = String::from_utf8_lossy(self.read(relative)?).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// The entries of a folder whose names are numbers, appended to `into`; false when it cannot be read.
    pub(crate) fn numbered(&mut self, relative: Arguments<'_>, into: &mut Vec<u32>) -> bool {
        self.set_path(relative);
        let Ok(entries) = fs::read_dir(&self.path) else { return false };
        into.extend(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()));
        true
    }

    /// Open file descriptors of a process; none where they may not be read.
    pub(crate) fn open_files(&mut self, pid: u32) -> Option<u32> {
        self.set_path(format_args!("{pid}/fd"));
        if self.counts_files_by_size {
            return fs::metadata(&self.path).ok().and_then(|folder| u32::try_from(folder.len()).ok());
        }
        fs::read_dir(&self.path).ok().and_then(|entries| u32::try_from(entries.flatten().count()).ok())
    }

    /// CPU time of a process in nanoseconds, of all its threads, also of those that have ended, by its own clock
    /// (`clock_getcpuclockid`); none where it has none.
    pub(crate) fn cpu_ns(&self, pid: u32) -> Option<u64> {
        if !self.has_clocks {
            return None;
        }
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(pid.try_into().ok()?)).ok()?;
        u64::try_from(Duration::from(clock.now().ok()?).as_nanos()).ok()
    }

    /// Under which name a process tells of its memory: its own, or that of a thread where the first one has ended; none of one that has
    /// none, for it has ended.
    pub(crate) fn who_has_memory(&mut self, pid: u32) -> Option<String> {
        let has_none = |reader: &mut Self, of: &str| {
            reader.read(format_args!("{of}/statm")).is_none_or(|pages| pages.starts_with(b"0 "))
        };
        let own = pid.to_string();
        if !has_none(self, &own) {
            return Some(own);
        }
        let mut threads = Vec::new();
        self.numbered(format_args!("{pid}/task"), &mut threads);
        let of_thread = threads.into_iter().map(|thread| format!("{pid}/task/{thread}"));
        of_thread.into_iter().find(|of| !has_none(self, of))
    }

    /// Has the kernel count anew what a process has most resident, from what it has now; false where it does not.
    pub(crate) fn reset_peak(&mut self, of: &str) -> bool {
        self.set_path(format_args!("{of}/clear_refs"));
        // The kernel is asked, and nothing is created: a captured folder has no such file.
        let asked = File::options().write(true).open(&self.path);
        asked.and_then(|mut file| file.write_all(RESET_PEAK)).is_ok()
    }

    /// Numbers of the sockets that a process holds.
    pub(crate) fn sockets(&mut self, pid: u32) -> Vec<u64> {
        self.set_path(format_args!("{pid}/fd"));
        let links = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let socket = |link: PathBuf| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
        links.filter_map(|link| socket(fs::read_link(link.path()).ok()?)).collect()
    }

    pub(crate) fn exists(&mut self, relative: Arguments<'_>) -> bool {
        self.set_path(relative);
        Path::new(&self.path).exists()
    }

    fn set_path(&mut self, relative: Arguments<'_>) {
        self.path.clear();
        self.path.push_str(&self.root);
        // Writing to a String cannot fail.
        let _ = write!(self.path, "/{relative}");
    }
}

/// Since Linux 6.2 the size of `/proc/PID/fd` is the number of open descriptors: one call instead of one per
/// descriptor, which matters for a server with thousands of connections. Older kernels say 0 there.
fn counts_files_by_size(root: &Path) -> bool {
    is_proc(root) && fs::metadata(root.join("self/fd")).is_ok_and(|folder| folder.len() > 0)
}

fn is_proc(root: &Path) -> bool {
    statfs(root).is_ok_and(|stats| stats.f_type == PROC_SUPER_MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_are_counted_alike_with_and_without_the_shortcut() {
        let mut reader = Reader::new(Path::new("/proc"));
        let own = std::process::id();
        let quick = reader.open_files(own).unwrap();
        reader.counts_files_by_size = false;
        // Reading the folder itself opens one more, and other tests of this process open and close theirs.
        assert!(reader.open_files(own).unwrap().abs_diff(quick) <= 8);
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        let mut reader = Reader::new(Path::new("/proc"));
        assert_eq!(reader.read(format_args!("0/stat")), None);
        assert!(!reader.numbered(format_args!("0/task"), &mut Vec::new()));
        assert_eq!(reader.open_files(0), None);
    }
}
