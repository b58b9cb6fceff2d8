//! How exact CPU times are. Alone in its program: what other tests start would be part of the tree.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use observe::{Family, ProcSource, Sampler};
use rustix::time::{ClockId, clock_gettime};
use support::monotonic;

/// Ticks of 10 ms would be far outside.
#[test]
fn cpu_time_is_that_of_the_processes_own_clock() {
    let own_ns = || {
        let used = clock_gettime(ClockId::ProcessCPUTime);
        used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
    };
    let mut sampler = Sampler::new(Family::of(std::process::id()), None, &ProcSource::default(), monotonic());
    let mut before_ns = own_ns();
    for _ in 0..20 {
        let seen = sampler.sample_now();
        assert!(seen.by_clock);
        let seen_ns = ((seen.cpu_user_s + seen.cpu_system_s) * 1e9).round() as u64;
        let after_ns = own_ns();
        assert!((before_ns..=after_ns).contains(&seen_ns), "{seen_ns} is not from {before_ns} to {after_ns}");
        before_ns = seen_ns;
    }
}
