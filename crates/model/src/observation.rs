use serde::{Deserialize, Serialize};

use crate::{AfterLoad, LiveHeap, NoProfile, Rest};

/// One look at the target's process tree and the host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Nanoseconds on the engine's clock.
    pub at_ns: u64,
    /// CPU seconds in user mode since the processes started, over the tree.
    pub cpu_user_s: f64,
    /// CPU seconds in the kernel.
    pub cpu_system_s: f64,
    /// Resident memory of the tree in bytes; pages shared between processes count in each.
    pub rss_bytes: u64,
    /// The most that each process which lives had resident since the look before, added up, in bytes; 0 where the kernel does not tell.
    #[serde(skip)]
    pub peak_rss_bytes: u64,
    /// Whether no process had any beside that: the kernel tells it, and none ended meanwhile.
    #[serde(skip)]
    pub peak_is_whole: bool,
    /// Processes in the tree.
    pub processes: u32,
    /// Threads in the tree.
    pub threads: u32,
    /// Open file descriptors; null where they may not be read.
    pub open_files: Option<u32>,
    /// Voluntary context switches since the start; null in samples that did not look.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches since the start; null in samples that did not look.
    pub involuntary_switches: Option<u64>,
    /// Seconds that a quota of CPU kept the control group of its first process from running, since that was made; none in samples that did not
    /// look, and where no group tells.
    #[serde(skip)]
    pub throttled_s: Option<f64>,
    /// Proportional memory of the tree in bytes; null in samples that did not look. In passing only trees of several
    /// processes are looked at.
    pub pss_bytes: Option<u64>,
    /// The target's sockets; null in samples that did not look.
    pub sockets: Option<SocketCounts>,
    /// The host's CPU seconds stolen by the hypervisor since boot, over all CPUs.
    pub host_steal_s: f64,
    /// CPU seconds that all of the host's CPUs together have worked, since a moment that is the same in all samples of a launch: by the
    /// clocks of all processes, and from one sample to the next between which some may have come or gone by the time in which the CPUs were
    /// neither idle nor stolen.
    pub host_busy_s: f64,
    /// bourdon's own CPU seconds since it started.
    pub own_cpu_s: f64,
    /// Whether the CPU times of the tree are by its processes' own clocks, to the nanosecond, and not by the kernel's ticks.
    #[serde(skip)]
    pub by_clock: bool,
    /// Processes and threads that the host had started since boot; none where it does not say.
    #[serde(skip)]
    pub started: Option<u64>,
    /// Whether a process of the tree was seen so far that ignores SIGCHLD: nobody waits for those that it starts.
    #[serde(skip)]
    pub ignores_children: bool,
    /// Whether a process of the tree was seen so far that ended without being waited for.
    #[serde(skip)]
    pub unwaited: bool,
}

/// The sockets of the target's port at one instant, by state, and what the kernel counted for the whole host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketCounts {
    /// Established connections; those that wait to be accepted are among them.
    pub established: u32,
    /// Half-open connections (SYN received).
    pub syn_received: u32,
    /// Connections that the peer has closed and the target has not.
    pub close_wait: u32,
    /// Connections that the target closed first (FIN-WAIT, CLOSING, LAST-ACK).
    pub closing: u32,
    /// Closed connections that the kernel still remembers at the target's end.
    pub time_wait: u32,
    /// Connections that wait to be accepted.
    pub accept_queue: u32,
    /// Connections turned away because an accept queue was full, since boot, on the whole host.
    pub listen_overflows: Option<u64>,
    /// Connection attempts dropped at listening sockets for any reason, since boot, on the whole host.
    pub listen_drops: Option<u64>,
}

/// What a runtime says of itself on the target's admin port, at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RuntimeSample {
    /// Nanoseconds on the engine's clock.
    pub at_ns: u64,
    /// Garbage collections since the start.
    pub gc_count: Option<f64>,
    /// Those of them that were of all generations, where the runtime has several.
    pub gc_major: Option<f64>,
    /// Seconds in their pauses since the start.
    pub gc_pause_s: Option<f64>,
    /// Bytes in use on the heap.
    pub heap_bytes: Option<u64>,
    /// Units of execution that the runtime counts: goroutines, threads of a JVM.
    pub units: Option<u64>,
    /// Longest delay of an event loop that the runtime told of, in seconds.
    pub loop_lag_s: Option<f64>,
}

/// The sockets of the target's port over the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SocketUse {
    /// Looks taken.
    pub looks: u32,
    /// Most established connections.
    pub established_max: u32,
    /// Most half-open connections.
    pub syn_received_max: u32,
    /// Most connections that the peer had closed and the target had not.
    pub close_wait_max: u32,
    /// Most connections in TIME-WAIT at the target's end.
    pub time_wait_max: u32,
    /// Most connections that waited to be accepted.
    pub accept_queue_max: u32,
    /// Connections turned away in the window because an accept queue was full, on the whole host.
    pub listen_overflows: Option<u64>,
    /// Connection attempts dropped in the window at listening sockets, on the whole host.
    pub listen_drops: Option<u64>,
}

/// What the runtime told of itself over the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct RuntimeUse {
    /// Answers that were had.
    pub looks: u32,
    /// Garbage collections in the window.
    pub gc_count: Option<f64>,
    /// Those of them that were of all generations; none where the runtime has one, of slices, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_major: Option<f64>,
    /// Seconds in their pauses in the window.
    pub gc_pause_s: Option<f64>,
    /// Largest heap that was told of.
    pub peak_heap_bytes: Option<u64>,
    /// Most units of execution (goroutines, threads of a JVM).
    pub units_max: Option<u64>,
    /// Longest delay of an event loop, in seconds.
    pub loop_lag_max_s: Option<f64>,
}

/// Which units of execution answered clients that asked at the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// Clients, each with one connection at a time.
    pub clients: u32,
    /// Questions.
    pub asked: u32,
    /// Answers.
    pub answered: u32,
    /// Different answers: goroutines, threads or processes.
    pub units: u32,
    /// One of them: `goroutine 42`.
    pub example: String,
}

/// What was seen of the target between the window's start and end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Seconds between the first and the last sample used.
    pub window_s: f64,
    /// Samples used.
    pub samples: u32,
    /// The target's CPU seconds in user mode.
    pub cpu_user_s: f64,
    /// The target's CPU seconds in the kernel.
    pub cpu_system_s: f64,
    /// Whether these are by the processes' own clocks, to the nanosecond, and not by the kernel's ticks of 10 ms, in which
    /// earlier versions counted, and in which is told what processes used that ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_clock: bool,
    /// Whether processes of it ended without being waited for, or may have: one of it ignores SIGCHLD, and something was started on
    /// the machine meanwhile. The kernel credits nobody with what these used, so the CPU seconds are at least those of the target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwaited: bool,
    /// CPUs the target was allowed to use.
    pub cpus: u32,
    /// Resident bytes when the target was ready, before any load.
    pub memory_at_rest_bytes: u64,
    /// Resident bytes at the last look after the load; null in records that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_after_bytes: Option<u64>,
    /// Proportional bytes (shared pages divided among those that share them) before any load; null where the kernel
    /// does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_at_rest_bytes: Option<u64>,
    /// Proportional bytes at the last look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_after_bytes: Option<u64>,
    /// Largest resident bytes from the window's start on: at any moment where the kernel tells what each process had most between two
    /// looks, of several of them added up; else at a look.
    pub peak_memory_bytes: u64,
    /// The most that its memory can have been at any moment from then on, counted as [`Self::peak_memory`] does; null where
    /// nobody knows, as in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_at_most_bytes: Option<u64>,
    /// Whether nobody knows because a process ended between two looks, or the kernel does not tell what processes had there; false
    /// in older records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub peak_unbounded: bool,
    /// Largest proportional bytes seen from the window's start on; null where nobody looked, as in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_pss_bytes: Option<u64>,
    /// Most threads seen.
    pub threads_max: u32,
    /// Most processes seen.
    pub processes_max: u32,
    /// Most open files seen.
    pub open_files_max: Option<u32>,
    /// Voluntary context switches in the window.
    pub voluntary_switches: Option<u64>,
    /// Involuntary context switches in the window.
    pub involuntary_switches: Option<u64>,
    /// Seconds of the window in which a quota of CPU kept its control group from running. Null where no group tells, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<f64>,
    /// Its sockets; null where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<SocketUse>,
    /// What its runtime told of itself; null where it told nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeUse>,
    /// What it did once it was asked nothing more; of a comparison, until it was once watched to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<Rest>,
    /// What it had once the load was over; only of a soak, and of a number of requests in a diagnosis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<AfterLoad>,
    /// What was alive on its heap then; only of a soak, and where its runtime tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<LiveHeap>,
    /// Whether a process of it is a JVM; false in older records.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub jvm: bool,
    /// Which units of execution serve its connections; only of cells that load `/whoami`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub census: Option<Census>,
    /// Where its CPU time went; null where no profile was asked for or had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Why there is no profile although one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_profile: Option<NoProfile>,
    /// The rest of the machine.
    pub host: HostUse,
    /// The window's whole steps, in order, each as long as those of [`crate::Measurement`]; empty in records that did not
    /// look at them one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<ObservedSecond>,
}

/// A CPU profile: which functions the samples found running. Flat: a sample counts for the innermost function of its
/// stack alone, and not for those that called it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What took it. Records from before there was a choice have it from the runtime.
    #[serde(default)]
    pub by: ProfiledBy,
    /// Samples taken.
    pub samples: u64,
    /// Share (0 to 1) of the samples in the functions that the plan names; null without such functions or any sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The functions with the most samples, at most ten, the most first.
    pub functions: Vec<ProfiledFunction>,
}

/// What took a CPU profile, and with it what time inside the kernel counts for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProfiledBy {
    /// The target's runtime, in the format of pprof: for the function that makes the system call.
    #[default]
    Pprof,
    /// Linux `perf`: for the function of the kernel.
    Perf,
    /// Linux `perf` where it may not look into the kernel: for nothing.
    PerfUser,
}

/// One function of a profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfiledFunction {
    /// Its name as the runtime gives it, with its package: `net/http.(*conn).serve`; or as `perf` does, with `[k]`
    /// before it in the kernel: `[k] tcp_sendmsg`.
    pub name: String,
    /// Share (0 to 1) of all samples whose innermost function it is.
    pub flat_share: f64,
}

/// A function's name without the path of its package: `net/http.(*conn).serve` as `http.(*conn).serve`. A slash in the
/// types of a method or of a generic function is part of no path.
pub fn short_name(function: &str) -> &str {
    let path = &function[..function.find(['(', '[']).unwrap_or(function.len())];
    path.rfind('/').map_or(function, |slash| &function[slash + 1..])
}

/// One step of the window: a whole second, or some of them where the window has many.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ObservedSecond {
    /// Seconds from the window's start to its beginning.
    pub at_s: f64,
    /// How many whole seconds it has.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub length_s: f64,
    /// The target's CPU seconds in it.
    pub cpu_s: f64,
    /// Resident bytes of the target at its end.
    pub memory_bytes: u64,
    /// Garbage collections in it, where the runtime tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_count: Option<f64>,
    /// Milliseconds in their pauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc_pause_ms: Option<f64>,
}

impl Default for ObservedSecond {
    fn default() -> Self {
        Self { at_s: 0.0, length_s: 1.0, cpu_s: 0.0, memory_bytes: 0, gc_count: None, gc_pause_ms: None }
    }
}

fn one() -> f64 {
    1.0
}

fn is_one(length_s: &f64) -> bool {
    *length_s == 1.0
}

/// What a figure of a target's memory counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryCount {
    /// Resident pages of its one process.
    #[default]
    Resident,
    /// Of several processes each page once: one that n processes share counts an nth in each.
    Proportional,
    /// The same beside other targets that live: what it shares with those counts in part, too, so that alone it has at least this.
    ProportionalAtLeast,
    /// Resident pages of several processes added up: those that they share count in each.
    ResidentSum,
}

impl Observation {
    /// What its memory counts: proportional where there are several processes, for what they share (the program, what
    /// the first of them had made ready before it forked) is there once.
    pub fn memory_count(&self) -> MemoryCount {
        match (self.processes_max > 1, self.peak_pss_bytes) {
            (false, _) => MemoryCount::Resident,
            (true, Some(_)) => MemoryCount::Proportional,
            (true, None) => MemoryCount::ResidentSum,
        }
    }

    fn counted(&self, resident: u64, proportional: Option<u64>) -> u64 {
        match self.memory_count() {
            MemoryCount::Proportional | MemoryCount::ProportionalAtLeast => proportional.unwrap_or(resident),
            MemoryCount::Resident | MemoryCount::ResidentSum => resident,
        }
    }

    /// Largest memory from the window's start on, in bytes, as [`Self::memory_count`] says.
    pub fn peak_memory(&self) -> u64 {
        self.counted(self.peak_memory_bytes, self.peak_pss_bytes)
    }

    /// Memory before any load.
    pub fn memory_at_rest(&self) -> u64 {
        self.counted(self.memory_at_rest_bytes, self.pss_at_rest_bytes)
    }

    /// Memory at the last look after the load.
    pub fn memory_after(&self) -> Option<u64> {
        self.memory_after_bytes.map(|resident| self.counted(resident, self.pss_after_bytes))
    }

    /// CPU seconds of the target.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// Whether enough CPU was used for a figure per request: 0.1 s where the kernel's ticks of 10 ms are counted, for the
    /// difference of two readings is off by up to 20 ms; 10 ms by the processes' own clocks, which some hundred requests take.
    pub fn has_cpu_for_a_figure(&self) -> bool {
        self.cpu_s() >= if self.by_clock { 0.01 } else { 0.1 }
    }

    /// How many CPUs' worth of time the target used.
    pub fn cpus_used(&self) -> f64 {
        if self.window_s > 0.0 { self.cpu_s() / self.window_s } else { 0.0 }
    }

    /// The same where none of it can be missing.
    pub fn all_cpus_used(&self) -> Option<f64> {
        (!self.unwaited).then(|| self.cpus_used())
    }

    /// Busy share (0 to 1) of the CPUs the target was allowed to use.
    pub fn busy(&self) -> f64 {
        if self.cpus > 0 { self.cpus_used() / f64::from(self.cpus) } else { 0.0 }
    }
}

/// CPU time during the window that is neither the target's nor bourdon's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostUse {
    /// CPUs of the machine.
    pub cpus: u32,
    /// Share (0 to 1) of all CPU time that the hypervisor took.
    pub steal_share: f64,
    /// Share (0 to 1) of all CPU time that other processes used.
    pub others_share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_profile_is_the_runtimes() {
        let old: Profile = toml::from_str("samples = 3\nfunctions = []").unwrap();
        assert_eq!(old, Profile { by: ProfiledBy::Pprof, samples: 3, ..Profile::default() });
        assert!(toml::to_string(&Profile { by: ProfiledBy::PerfUser, ..old }).unwrap().contains("by = \"perf-user\""));
    }

    #[test]
    fn a_short_name_has_no_path() {
        for (function, short) in [
            ("net/http.(*conn).serve", "http.(*conn).serve"),
            ("example.com/a/b.Map[example.com/c.T]", "b.Map[example.com/c.T]"),
            ("main.main", "main.main"),
            ("", ""),
        ] {
            assert_eq!(short_name(function), short);
        }
    }
}
