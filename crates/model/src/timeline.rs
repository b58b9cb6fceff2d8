//! A launch over time, as a page draws it. It is made from the record and stands in no document: `trials.jsonl` has its figures.

use crate::StackNode;

/// Buckets of latency for each factor of ten: each is 12 % wide.
pub const BUCKETS_PER_DECADE: f64 = 20.0;

/// Replies by how long they took: a bucket and how many lie in it. Bucket `b` reaches from 10^(b/20) µs to 10^((b+1)/20) µs.
pub type LatencyCounts = Vec<(i16, u64)>;

/// The bucket of a latency in microseconds; whatever is shorter than what is measured (100 ns) lies in the lowest.
pub fn latency_bucket(us: f64) -> i16 {
    // What lies on an edge belongs above it, also where its logarithm was rounded down.
    (us.max(0.1).log10() * BUCKETS_PER_DECADE + 1e-9).floor() as i16
}

/// Where a bucket begins, in microseconds.
pub fn bucket_from_us(bucket: i16) -> f64 {
    10_f64.powf(f64::from(bucket) / BUCKETS_PER_DECADE)
}

/// What lies beside a trial's record, reduced to what a page draws.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The lines of its interval log, each with the second in which it begins.
    pub latencies: Vec<(f64, LatencyCounts)>,
    /// Looks at its target.
    pub looks: Vec<TraceLook>,
    /// Its CPU profile, where it has one with stacks.
    pub stacks: Option<StackNode>,
    /// Why something of it cannot be read, in words; what comes before that was.
    pub fault: Option<String>,
}

/// One look at a target.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TraceLook {
    /// Seconds since the window's start.
    pub at_s: f64,
    /// Threads of its processes.
    pub threads: u32,
    /// Established connections; none where it was not looked.
    pub established: Option<u32>,
}

/// A launch step by step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Its name in the run folder.
    pub trial: String,
    /// Its steps in order: seconds, several of them where the window is long, or slices. The warm-up is one, which ends at 0.
    pub steps: Vec<TimelineStep>,
    /// Its CPU profile, where it has one with stacks.
    pub stacks: Option<StackNode>,
    /// Why something of it cannot be read, in words.
    pub fault: Option<String>,
}

impl Timeline {
    /// The same without how many replies took how long.
    pub fn without_latencies(&self) -> Self {
        let steps = self.steps.iter().map(|step| TimelineStep { latencies: Vec::new(), ..step.clone() });
        Self { steps: steps.collect(), ..self.clone() }
    }
}

/// One step of a launch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimelineStep {
    /// Its begin, in seconds since the window's start.
    pub at_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// Replies in it that were as expected.
    pub ok: u64,
    /// Requests that failed in it, without a whole reply or with a wrong one.
    pub failures: u64,
    /// Median felt latency in microseconds.
    pub p50_us: Option<f64>,
    /// 99th percentile of the same.
    pub p99_us: Option<f64>,
    /// Quantiles from here on are lower bounds, in microseconds.
    pub exact_below_us: Option<f64>,
    /// CPU seconds of the target in it.
    pub cpu_s: Option<f64>,
    /// Memory of the target at its end.
    pub memory_bytes: Option<u64>,
    /// Garbage collections in it.
    pub gc_count: Option<f64>,
    /// Milliseconds in their pauses.
    pub gc_pause_ms: Option<f64>,
    /// Most threads that were seen in it.
    pub threads: Option<u32>,
    /// Most established connections that were seen in it.
    pub connections: Option<u32>,
    /// Replies by felt latency.
    pub latencies: LatencyCounts,
}

impl TimelineStep {
    /// Whether it is the warm-up.
    pub fn is_warm_up(&self) -> bool {
        self.at_s < 0.0
    }

    /// Replies a second that were as expected.
    pub fn ok_per_s(&self) -> f64 {
        if self.length_s > 0.0 { self.ok as f64 / self.length_s } else { 0.0 }
    }

    /// CPUs' worth of time that the target used.
    pub fn cpus(&self) -> Option<f64> {
        self.cpu_s.filter(|_| self.length_s > 0.0).map(|cpu_s| cpu_s / self.length_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_lies_in_its_bucket() {
        for us in [0.1, 0.2, 1.0, 1.3, 10.0, 99.9, 100.0, 1234.5, 1e6, 3.6e9] {
            let bucket = latency_bucket(us);
            assert!(bucket_from_us(bucket) <= us * (1.0 + 1e-9) && us < bucket_from_us(bucket + 1), "{us}: {bucket}");
        }
        assert_eq!([0.0, 0.1, 1.0, 10.0].map(latency_bucket), [-20, -20, 0, 20]);
    }
}
