//! What the clock and the sleeps of a generator thread are worth on this machine.

use model::{Clock, ClockPrecision, NS_PER_S, SleepError};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags};
use rustix::io::Errno;

use crate::clock::MonotonicClock;
use crate::second::bounded;
use crate::session::{LoadError, prepare_thread};
use crate::summary::quantile;

/// Readings of the clock: 20 ms of them.
const CLOCK_READINGS: u64 = 1_000_000;

/// Lengths of sleep, in nanoseconds, and how often each: between the dues of 20,000, 1,000 and 100 requests a second.
const SLEEPS: [(u64, u64); 3] = [(50_000, 4_000), (1_000_000, 600), (10_000_000, 60)];

/// What the clock can tell, and by how much a generator thread on `cpu` sleeps too long, for several lengths of sleep.
///
/// # Errors
/// When the kernel cannot wait at all, or has no thread left.
pub fn time_precision(cpu: u32) -> Result<(ClockPrecision, Vec<SleepError>), LoadError> {
    let clock = clock_precision(CLOCK_READINGS);
    let sleeps: Result<_, LoadError> =
        SLEEPS.iter().map(|(asked_ns, count)| sleep_error(*asked_ns, *count, cpu)).collect();
    Ok((clock, sleeps?))
}

/// Reads the clock `readings` times in a row.
fn clock_precision(readings: u64) -> ClockPrecision {
    let (mut step_ns, mut backward) = (u64::MAX, 0);
    let start_ns = MonotonicClock.now_ns();
    let mut last_ns = start_ns;
    for _ in 0..readings {
        let now_ns = MonotonicClock.now_ns();
        if now_ns > last_ns {
            step_ns = step_ns.min(now_ns - last_ns);
        }
        backward += u64::from(now_ns < last_ns);
        last_ns = now_ns;
    }
    let reading_ns = last_ns.saturating_sub(start_ns) as f64 / readings.max(1) as f64;
    ClockPrecision { readings, reading_ns, step_ns, backward }
}

/// Sleeps `count` times for `asked_ns`, as a generator thread on `cpu` does when nothing is due.
fn sleep_error(asked_ns: u64, count: u64, cpu: u32) -> Result<SleepError, LoadError> {
    let sleeps = move || {
        prepare_thread(&[cpu]);
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timeout = Timespec { tv_sec: (asked_ns / NS_PER_S) as i64, tv_nsec: (asked_ns % NS_PER_S) as _ };
        let mut late_ns = bounded(60 * NS_PER_S);
        let mut events: Vec<epoll::Event> = Vec::with_capacity(1);
        for _ in 0..count {
            let due_ns = MonotonicClock.now_ns() + asked_ns;
            match epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => late_ns.saturating_record(MonotonicClock.now_ns().saturating_sub(due_ns)),
                Err(errno) => return Err(errno),
            }
        }
        Ok(late_ns)
    };
    // A thread of its own: what is set for it must not stay with the caller's.
    let late_ns = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, sleeps).map_err(LoadError::Thread)?;
        Ok::<_, LoadError>(thread.join().map_err(|_| LoadError::Panicked)??)
    })?;
    let us = |ns: u64| ns as f64 / 1e3;
    Ok(SleepError {
        asked_us: us(asked_ns),
        count,
        p50_us: quantile(&late_ns, 0.5).map_or(0.0, us),
        p99_us: quantile(&late_ns, 0.99).map_or(0.0, us),
        max_us: us(late_ns.max()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_monotonic_clock_steps_forward() {
        let precision = clock_precision(10_000);
        assert_eq!((precision.readings, precision.backward), (10_000, 0));
        assert!(precision.step_ns > 0 && precision.step_ns < u64::MAX && precision.reading_ns > 0.0, "{precision:?}");
    }

    #[test]
    fn no_sleep_ends_early_and_its_quantiles_are_in_order() {
        let error = sleep_error(50_000, 40, 0).unwrap();
        assert_eq!((error.asked_us, error.count), (50.0, 40));
        // No machine wakes a thread within 100 ns: a smaller figure was not measured.
        assert!(error.p50_us > 0.1 && error.p50_us <= error.p99_us && error.p99_us <= error.max_us, "{error:?}");
    }
}
