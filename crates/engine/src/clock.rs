use model::{Clock, NS_PER_S};
use rustix::time::{ClockId, clock_gettime};

/// The machine's monotonic clock (CLOCK_MONOTONIC).
#[derive(Debug, Clone, Copy, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now_ns(&self) -> u64 {
        read(ClockId::Monotonic)
    }
}

/// CPU nanoseconds the calling thread has used.
pub(crate) fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

fn read(id: ClockId) -> u64 {
    let time = clock_gettime(id);
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}
