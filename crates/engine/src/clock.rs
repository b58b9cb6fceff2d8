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

/// CPU time of the calling thread, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}

/// What a thread has used since it began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ThreadTimes {
    pub(crate) cpu_ns: u64,
    /// Time in which it could have run and waited for a CPU; none where the kernel does not say.
    pub(crate) run_delay_ns: Option<u64>,
}

impl ThreadTimes {
    /// Those of the calling thread.
    pub(crate) fn now() -> Self {
        Self { cpu_ns: thread_cpu_ns(), run_delay_ns: run_delay_ns() }
    }

    pub(crate) fn since(self, before: Self) -> Self {
        let delay_ns = self.run_delay_ns.zip(before.run_delay_ns);
        Self {
            cpu_ns: self.cpu_ns - before.cpu_ns,
            run_delay_ns: delay_ns.map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

/// The calling thread's wait on the run queue (second field of `schedstat`; kernels that do not count say 0 0 0).
fn run_delay_ns() -> Option<u64> {
    parse_run_delay(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

fn parse_run_delay(schedstat: &str) -> Option<u64> {
    let mut fields = schedstat.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
    let (ran_ns, waited_ns) = (fields.next()??, fields.next()??);
    (ran_ns > 0).then_some(waited_ns)
}

fn read(id: ClockId) -> u64 {
    let time = clock_gettime(id);
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_delay_is_the_second_field_and_absent_where_nothing_is_counted() {
        assert_eq!(parse_run_delay("5120361 88123 77\n"), Some(88_123));
        assert_eq!(parse_run_delay("0 0 0\n"), None);
        assert_eq!(parse_run_delay("garbage"), None);
    }
}
