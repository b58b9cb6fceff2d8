use crate::outcome::kinds;
use crate::{LatencySummary, REQUIRED_SAMPLES, TrialRecord};
use serde::{Deserialize, Serialize};

kinds! {
    /// A figure of one trial, usable in claims and comparisons.
    Metric {
        /// Ok replies a second.
        Throughput = "throughput",
        /// Mean felt latency, µs.
        Mean = "mean",
        /// Median felt latency, µs.
        P50 = "p50",
        /// 75th percentile, µs.
        P75 = "p75",
        /// 90th percentile, µs.
        P90 = "p90",
        /// 95th percentile, µs.
        P95 = "p95",
        /// 99th percentile, µs.
        P99 = "p99",
        /// 99.9th percentile, µs.
        P999 = "p999",
        /// Target's CPU per completed request, µs.
        CpuPerRequest = "cpu_per_request",
        /// Context switches of the target, voluntary or not, per completed request.
        SwitchesPerRequest = "switches_per_request",
        /// Elapsed time ÷ completed requests, µs: what ab calls the mean across all concurrent requests.
        ElapsedPerRequest = "elapsed_per_request",
        /// Peak memory, bytes: resident, of several processes proportional.
        PeakMemory = "peak_memory",
        /// The same before any load.
        MemoryAtRest = "memory_at_rest",
        /// The same after the load; on a ladder, once it has settled.
        MemoryAfter = "memory_after",
        /// Proportional memory (each shared page divided among those that share it) before any load, bytes.
        PssAtRest = "pss_at_rest",
        /// Proportional memory after the load, bytes.
        PssAfter = "pss_after",
        /// Largest heap that the runtime told of in the window, bytes.
        PeakHeap = "peak_heap",
        /// Most threads.
        Threads = "threads",
        /// Most processes.
        Processes = "processes",
        /// Most established connections.
        Established = "established",
        /// Most connections that waited to be accepted.
        AcceptQueue = "accept_queue",
        /// Connections that the kernel turned away because the accept queue was full, on the whole host.
        ListenOverflows = "listen_overflows",
        /// Units of execution (goroutines, threads, processes) that answered so many clients at once, five times each.
        Units = "units",
        /// Connections that never got a reply.
        NeverServed = "never_served",
        /// Most connections to the server that its handlers ask.
        BackendConnections = "backend_connections",
        /// Most requests that this server served at once.
        BackendAtOnce = "backend_at_once",
        /// Garbage collections in the window.
        GcCount = "gc_count",
        /// Those of them that were of all generations.
        GcMajor = "gc_major",
        /// Time in the pauses of garbage collection in the window, ms.
        GcPause = "gc_pause",
        /// Share of the CPU profile's samples in the functions that the experiment names, 0 to 1.
        ProfileShare = "profile_share",
        /// Share of requests that went wrong, 0 to 1.
        Errors = "errors",
        /// From launch to the first good answer, ms.
        TimeToReady = "time_to_ready",
    }
}

kinds! {
    /// What a figure is counted in.
    Unit {
        /// Nothing, or what has no name: a product of two metrics, say.
        None = "",
        /// One figure as a multiple of another.
        Ratio = "ratio",
        /// A part of a whole, from 0 to 1.
        Share = "share",
        /// Microseconds.
        Us = "us",
        /// Milliseconds.
        Ms = "ms",
        /// Bytes.
        Bytes = "bytes",
        /// Requests a second.
        RequestsPerS = "requests/s",
        /// Requests that are worked on at the same time.
        RequestsAtOnce = "requests at once",
        /// Context switches for each request.
        SwitchesPerRequest = "switches/request",
        /// Threads.
        Threads = "threads",
        /// Processes.
        Processes = "processes",
        /// Units of execution.
        Units = "units",
        /// Connections.
        Connections = "connections",
        /// Garbage collections.
        Collections = "collections",
    }
}

/// On which scale two values of a metric are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// new ÷ old.
    Ratio,
    /// new − old: of shares, which may be zero, in percentage points.
    Difference,
}

impl Metric {
    /// As people say it.
    pub fn words(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::Mean => "mean latency",
            Metric::P50 => "latency p50",
            Metric::P75 => "latency p75",
            Metric::P90 => "latency p90",
            Metric::P95 => "latency p95",
            Metric::P99 => "latency p99",
            Metric::P999 => "latency p99.9",
            Metric::CpuPerRequest => "CPU per request",
            Metric::SwitchesPerRequest => "context switches per request",
            Metric::ElapsedPerRequest => "elapsed time per request",
            Metric::PeakMemory => "peak memory",
            Metric::MemoryAtRest => "memory at rest",
            Metric::MemoryAfter => "memory after the load",
            Metric::PssAtRest => "proportional memory at rest",
            Metric::PssAfter => "proportional memory after the load",
            Metric::PeakHeap => "peak heap",
            Metric::Threads => "threads",
            Metric::Processes => "processes",
            Metric::Established => "established connections",
            Metric::AcceptQueue => "accept queue",
            Metric::ListenOverflows => "listen overflows",
            Metric::Units => "units of execution",
            Metric::NeverServed => "connections never served",
            Metric::BackendConnections => "connections to the backend",
            Metric::BackendAtOnce => "requests at the backend at once",
            Metric::GcCount => "garbage collections",
            Metric::GcMajor => "major garbage collections",
            Metric::GcPause => "pauses of garbage collection",
            Metric::ProfileShare => "share of the profile",
            Metric::Errors => "errors",
            Metric::TimeToReady => "time to ready",
        }
    }

    /// Unit of its values.
    pub fn unit(self) -> Unit {
        match self {
            Metric::Throughput => Unit::RequestsPerS,
            Metric::Errors | Metric::ProfileShare => Unit::Share,
            Metric::PeakMemory
            | Metric::MemoryAtRest
            | Metric::MemoryAfter
            | Metric::PssAtRest
            | Metric::PssAfter
            | Metric::PeakHeap => Unit::Bytes,
            Metric::TimeToReady | Metric::GcPause => Unit::Ms,
            Metric::SwitchesPerRequest => Unit::SwitchesPerRequest,
            Metric::Threads => Unit::Threads,
            Metric::Processes => Unit::Processes,
            Metric::Units => Unit::Units,
            Metric::Established
            | Metric::AcceptQueue
            | Metric::ListenOverflows
            | Metric::NeverServed
            | Metric::BackendConnections => Unit::Connections,
            Metric::BackendAtOnce => Unit::RequestsAtOnce,
            Metric::GcCount | Metric::GcMajor => Unit::Collections,
            Metric::Mean
            | Metric::P50
            | Metric::P75
            | Metric::P90
            | Metric::P95
            | Metric::P99
            | Metric::P999
            | Metric::CpuPerRequest
            | Metric::ElapsedPerRequest => Unit::Us,
        }
    }

    /// On which scale its values are compared.
    pub fn scale(self) -> Scale {
        if self.unit() == Unit::Share { Scale::Difference } else { Scale::Ratio }
    }

    /// Whether it is a time that a client waits for its reply.
    pub fn is_latency(self) -> bool {
        self == Metric::Mean || self.quantile().is_some()
    }

    /// Whether it is a rate or a time, which change when something else uses the machine.
    pub fn is_timed(self) -> bool {
        self.is_speed() || self == Metric::CpuPerRequest
    }

    /// Whether it is a rate or a time by the clock, of which one says faster and slower.
    pub fn is_speed(self) -> bool {
        let others = [Metric::Throughput, Metric::ElapsedPerRequest, Metric::TimeToReady, Metric::GcPause];
        self.is_latency() || others.contains(&self)
    }

    /// Which quantile of the latency it is, 0 to 1.
    pub fn quantile(self) -> Option<f64> {
        Some(match self {
            Metric::P50 => 0.5,
            Metric::P75 => 0.75,
            Metric::P90 => 0.9,
            Metric::P95 => 0.95,
            Metric::P99 => 0.99,
            Metric::P999 => 0.999,
            _ => return None,
        })
    }

    /// Requests without which it cannot be estimated: those that a quantile needs.
    pub fn required_samples(self) -> Option<u64> {
        let q = self.quantile()?;
        REQUIRED_SAMPLES.iter().find(|(known, _)| *known == q).map(|(_, samples)| *samples)
    }

    /// Whether it is taken before there is any load, so that a cold server has it too.
    pub fn is_before_load(self) -> bool {
        matches!(self, Metric::TimeToReady | Metric::MemoryAtRest | Metric::PssAtRest)
    }

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        self == Metric::Throughput
    }

    /// Its value in a distribution, in µs; none where it is not a latency or the samples are too few.
    pub fn of(self, latency: &LatencySummary) -> Option<f64> {
        match self {
            Metric::Mean => latency.mean,
            Metric::P50 => latency.p50,
            Metric::P75 => latency.p75,
            Metric::P90 => latency.p90,
            Metric::P95 => latency.p95,
            Metric::P99 => latency.p99,
            Metric::P999 => latency.p999,
            _ => None,
        }
    }

    /// Its value in a trial; none where the trial does not support it.
    pub fn value(self, trial: &TrialRecord) -> Option<f64> {
        let measured = trial.measurement.as_ref()?;
        let seen = trial.observation.as_ref();
        let sockets = || seen.and_then(|seen| seen.sockets.as_ref());
        let runtime = || seen.and_then(|seen| seen.runtime.as_ref());
        let per = |value: f64, replies: u64| (replies > 0).then(|| value / replies as f64);
        // What a server used for two loads is not the cost of one.
        let per_seen = |value: f64| per(value, trial.replies_seen()).filter(|_| trial.beside.is_none());
        match self {
            Metric::Throughput => Some(measured.requests_per_s()),
            Metric::Mean | Metric::P50 | Metric::P75 | Metric::P90 | Metric::P95 | Metric::P99 | Metric::P999 => {
                measured.latency_us.felt().and_then(|felt| self.of(felt))
            }
            Metric::CpuPerRequest => {
                let seen = seen?;
                per_seen(seen.cpu_s() * 1e6).filter(|_| seen.has_cpu_for_a_figure())
            }
            Metric::SwitchesPerRequest => {
                let seen = seen?;
                per_seen((seen.voluntary_switches? + seen.involuntary_switches?) as f64)
            }
            Metric::ElapsedPerRequest => per(measured.window_s * 1e6, measured.in_window.completed),
            Metric::PeakMemory => seen.map(|o| o.peak_memory() as f64),
            Metric::MemoryAtRest => seen.map(|o| o.memory_at_rest() as f64),
            Metric::MemoryAfter => seen?.memory_after().map(|bytes| bytes as f64),
            Metric::PssAtRest => seen?.pss_at_rest_bytes.map(|bytes| bytes as f64),
            Metric::PssAfter => seen?.pss_after_bytes.map(|bytes| bytes as f64),
            Metric::PeakHeap => runtime()?.peak_heap_bytes.map(|bytes| bytes as f64),
            Metric::Threads => seen.map(|o| f64::from(o.threads_max)),
            Metric::Processes => seen.map(|o| f64::from(o.processes_max)),
            Metric::Established => sockets().map(|sockets| f64::from(sockets.established_max)),
            Metric::AcceptQueue => sockets().map(|sockets| f64::from(sockets.accept_queue_max)),
            Metric::ListenOverflows => sockets()?.listen_overflows.map(|count| count as f64),
            Metric::Units => seen?.census.as_ref().map(|census| f64::from(census.units)),
            Metric::NeverServed => Some(measured.connections.never_served as f64),
            Metric::BackendConnections => trial.backend.map(|backend| f64::from(backend.connections_max)),
            Metric::BackendAtOnce => trial.backend.map(|backend| f64::from(backend.at_once_max)),
            Metric::GcCount => runtime()?.gc_count,
            Metric::GcMajor => runtime()?.gc_major,
            Metric::GcPause => runtime()?.gc_pause_s.map(|seconds| seconds * 1e3),
            Metric::ProfileShare => seen?.profile.as_ref()?.share,
            // Of what was asked and never ended none has failed so far: how much of it would have is for the judge to doubt.
            Metric::Errors => (measured.accounting.scheduled > 0).then(|| measured.accounting.error_share()),
            Metric::TimeToReady => trial.time_to_ready_ms,
        }
    }
}
