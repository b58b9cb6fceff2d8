use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How often something is looked for of which nothing tells.
pub(crate) const AGAIN: Duration = Duration::from_millis(20);

/// The monotonic clock, which all processes share.
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time that is left until `at_ns`.
pub(crate) fn left(at_ns: u64) -> Duration {
    Duration::from_nanos(at_ns.saturating_sub(now_ns()))
}

/// The instant that is so long from now.
pub(crate) fn after(length: Duration) -> u64 {
    now_ns() + length.as_nanos() as u64
}

/// Waits until it is time to look again.
pub(crate) fn pause() {
    std::thread::sleep(AGAIN);
}
