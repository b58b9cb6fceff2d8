//! Linux `perf`: a CPU profile of any process, where it is installed and the kernel allows it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use engine::MonotonicClock;
use flate2::Compression;
use flate2::read::GzEncoder;
use model::{Clock, NoPerf, ProcessEnd};
use observe::ProcSource;
use reaper::{Ended, Guarded, Order, Started};
use rustix::process::Signal;

use crate::build::on_path;
use crate::printed::{last_lines, text};
use crate::scratch::scratch_folder;

/// Records into `$data` until it is told to end (a shell calls that status 128 + 15), then tells every sample in
/// `$text`. `perf script` takes the shell's place, so that ending what the shell started never ends it. No file grows
/// beyond 64 MiB: a minute of more than a hundred busy CPUs.
///
/// `cpu-clock` samples CPU time, as pprof does, on every machine; cycles are hidden in most virtual ones. 199 times a
/// second, so that it does not march with timers. No build ids: what they would find is what runs here anyway.
const SCRIPT: &str = r#"perf=$1 pids=$2 data=$3/perf.data text=$3/samples said=$3/said
ulimit -f 131072
"$perf" record -e cpu-clock -F 199 --no-buildid -o "$data" -p "$pids" 2>"$said" >&2
status=$?
[ $status -eq 0 ] || [ $status -eq 143 ] || exit $status
exec "$perf" script -i "$data" -F event,ip,sym,dso 2>"$said" >"$text""#;

/// How often a recording is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long `perf` may take to begin, and how long to name the functions afterwards.
const PATIENCE: Duration = Duration::from_secs(20);

/// Linux `perf` as it is here.
#[derive(Debug, Clone, Default)]
pub struct Perf {
    /// The running executable, whose hidden subcommand `reaper` is used.
    pub executable: PathBuf,
    /// The command; none where it is not installed.
    pub command: Option<PathBuf>,
}

impl Perf {
    /// The `perf` on PATH, if there is one, under the reaper of `executable`.
    pub fn on_path(executable: PathBuf) -> Self {
        Self { executable, command: on_path("perf") }
    }

    /// Samples a process and its descendants for so long, and gives what `perf script` tells of it, gzipped. `perf`
    /// runs on `cpus` (empty leaves it to the kernel), and ends when `stopped` is closed, or bourdon is gone.
    ///
    /// # Errors
    /// Why there is nothing, with the cure where there is one.
    pub(crate) fn record(
        &self,
        root: u32,
        cpus: &[u32],
        length: Duration,
        stopped: &Receiver<()>,
    ) -> Result<Vec<u8>, NoPerf> {
        let Some(command) = &self.command else {
            return Err(NoPerf::NotInstalled);
        };
        let start_ns = MonotonicClock.now_ns();
        let passed = || Duration::from_nanos(MonotonicClock.now_ns() - start_ns);
        // Its reaper makes it and removes it.
        let scratch = scratch_folder();
        let mut guarded = self.start(command, root, cpus, &scratch).map_err(NoPerf::NotStarted)?;
        // Ended before it has made its file, it would leave nothing that can be read.
        let begun = || scratch.join("perf.data").exists();
        let over = |started: bool| passed() >= length && (started && begun() || passed() >= PATIENCE);
        wait_until(&mut guarded, stopped, over)?;
        // The process of one that has ended may be another's by now.
        if let (None, Some(Started { pid, .. })) = (guarded.ended().cloned(), guarded.started()) {
            reaper::signal_descendants(pid, Signal::TERM);
        }
        let give_up = passed() + PATIENCE;
        wait_until(&mut guarded, stopped, |_| passed() >= give_up)?;
        match guarded.ended() {
            Some(Ended::Ran(ProcessEnd::Exited(0))) => pack(&scratch.join("samples")),
            Some(Ended::NotStarted(text) | Ended::Unguarded(text)) => Err(NoPerf::NotStarted(text.clone())),
            Some(Ended::Ran(end)) => Err(why(&text(&scratch.join("said")), *end)),
            None => Err(NoPerf::Late(PATIENCE.as_secs())),
        }
    }

    fn start(&self, command: &Path, root: u32, cpus: &[u32], scratch: &Path) -> Result<Guarded, String> {
        let mut pids = vec![root];
        pids.extend(observe::descendants(root, &ProcSource::default()));
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        let words = ["sh", "-c", SCRIPT, "sh", &command.to_string_lossy(), &pids.join(","), &scratch.to_string_lossy()];
        let nowhere = File::options().write(true).open("/dev/null").map_err(|error| error.to_string())?;
        let order = Order::new(words.map(OsString::from).to_vec(), cpus, Some(scratch));
        Guarded::start(&self.executable, &order, nowhere, |command| {
            // Neither the user's settings for perf nor a server of debug symbols has a say in what is measured.
            command.env("PERF_CONFIG", "/dev/null").env("DEBUGINFOD_URLS", "");
        })
        .map_err(|why| why.to_string())
    }
}

/// Waits until the command has ended, or `over`, which is given whether it has begun, says so.
fn wait_until(guarded: &mut Guarded, stopped: &Receiver<()>, over: impl Fn(bool) -> bool) -> Result<(), NoPerf> {
    while guarded.ended().is_none() && !over(guarded.started().is_some()) {
        if stopped.recv_timeout(LOOK_EVERY) != Err(RecvTimeoutError::Timeout) {
            return Err(NoPerf::GivenUp);
        }
    }
    Ok(())
}

fn pack(text: &Path) -> Result<Vec<u8>, NoPerf> {
    let mut packed = Vec::new();
    File::open(text)
        .and_then(|text| GzEncoder::new(text, Compression::default()).read_to_end(&mut packed))
        .map_err(|error| NoPerf::Unreadable(error.to_string()))?;
    Ok(packed)
}

/// Why `perf` failed, by what it said.
fn why(said: &str, how: ProcessEnd) -> NoPerf {
    if said.contains("perf_event_paranoid") {
        let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
        return NoPerf::NotAllowed(level.trim().parse().ok());
    }
    // Its last word may be where to read more.
    let said: Vec<&str> = said.lines().filter(|line| !line.contains("dmesg")).collect();
    NoPerf::Failed { how, said: last_lines(&said.join("\n"), 1).trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_by_its_last_line_or_as_a_lack_of_permission() {
        let paranoid = "Error:\nAccess to performance monitoring and observability operations is limited.\n\
                        perf_event_paranoid setting is 4:\n  -1: Allow use of (almost) all events by all users\n";
        let how = ProcessEnd::Exited(255);
        assert!(matches!(why(paranoid, how), NoPerf::NotAllowed(_)));
        let missing = "Error:\nThe sys_perf_event_open() syscall returned with 38 (Function not implemented).\n\
                       /bin/dmesg | grep -i perf may provide additional information.\n\n";
        let last = "The sys_perf_event_open() syscall returned with 38 (Function not implemented).";
        assert_eq!(why(missing, how), NoPerf::Failed { how, said: last.to_owned() });
        assert_eq!(why("\n", how), NoPerf::Failed { how, said: String::new() });
    }
}
