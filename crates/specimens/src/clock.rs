//! Time as whole nanoseconds of `CLOCK_MONOTONIC`.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

const SECOND_NS: u64 = 1_000_000_000;

/// The present, in nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // Neither part is ever negative on this clock.
    time.tv_sec.cast_unsigned() * SECOND_NS + time.tv_nsec.cast_unsigned()
}

/// A duration in nanoseconds, at most `u64::MAX`.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A span of nanoseconds as the kernel takes it.
pub(crate) fn timespec(span_ns: u64) -> Timespec {
    Timespec { tv_sec: (span_ns / SECOND_NS).cast_signed(), tv_nsec: (span_ns % SECOND_NS).cast_signed() }
}
