use serde::{Deserialize, Serialize};

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
    /// The host's CPU seconds stolen by the hypervisor since boot, over all CPUs.
    pub host_steal_s: f64,
    /// The host's busy CPU seconds since boot, over all CPUs.
    pub host_busy_s: f64,
    /// bourdon's own CPU seconds since it started.
    pub own_cpu_s: f64,
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
    /// CPUs the target was allowed to use.
    pub cpus: u32,
    /// Resident bytes when the target was ready, before any load.
    pub memory_at_rest_bytes: u64,
    /// Largest resident bytes seen.
    pub peak_memory_bytes: u64,
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
    /// The rest of the machine.
    pub host: HostUse,
    /// The window's whole seconds, in order; empty in records that did not look at them one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<ObservedSecond>,
}

/// One whole second of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ObservedSecond {
    /// Seconds from the window's start to its beginning.
    pub at_s: f64,
    /// The target's CPU seconds in it.
    pub cpu_s: f64,
    /// Resident bytes of the target at its end.
    pub memory_bytes: u64,
}

impl Observation {
    /// CPU seconds of the target.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_user_s + self.cpu_system_s
    }

    /// Busy share (0 to 1) of the CPUs the target was allowed to use.
    pub fn busy(&self) -> f64 {
        let available = self.window_s * f64::from(self.cpus);
        if available > 0.0 { self.cpu_s() / available } else { 0.0 }
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
