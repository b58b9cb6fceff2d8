//! How long a target is waited for, by a bourdon that may itself stand still meanwhile: stopped, frozen, or without a CPU.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::Clock;

/// What a step of the waiting takes more than it should from which on bourdon stood still. Another's turns on its CPU hold it
/// up for less.
const STOOD_STILL: Duration = Duration::from_millis(100);

/// The time of a wait.
pub(crate) struct Patience<C> {
    clock: C,
    start_ns: u64,
    /// When the last step ended.
    at_ns: AtomicU64,
    stood_still_ns: AtomicU64,
}

impl<C: Clock> Patience<C> {
    /// A wait that begins now.
    pub(crate) fn new(clock: C) -> Self {
        let now_ns = clock.now_ns();
        Self { clock, start_ns: now_ns, at_ns: now_ns.into(), stood_still_ns: 0.into() }
    }

    /// A step has ended that takes so long at most. What it took more is bourdon's own doing.
    pub(crate) fn passed(&self, at_most: Duration) {
        let now_ns = self.clock.now_ns();
        let own = Duration::from_nanos(now_ns - self.at_ns.swap(now_ns, Ordering::Relaxed)).saturating_sub(at_most);
        if own > STOOD_STILL {
            self.stood_still_ns.fetch_add(own.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// How long the target has been waited for: time in which nobody looked does not count.
    pub(crate) fn waited(&self) -> Duration {
        let stood_still_ns = self.stood_still_ns.load(Ordering::Relaxed);
        Duration::from_nanos((self.clock.now_ns() - self.start_ns).saturating_sub(stood_still_ns))
    }

    /// Whether bourdon stood still, so that nobody knows when the target would have been seen.
    pub(crate) fn stood_still(&self) -> bool {
        self.stood_still_ns.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    struct Moved<'a>(&'a Cell<u64>);

    impl Clock for Moved<'_> {
        fn now_ns(&self) -> u64 {
            self.0.get()
        }
    }

    #[test]
    fn time_in_which_bourdon_stood_still_is_not_waited() {
        let now_ns = Cell::new(5_000_000_000);
        let patience = Patience::new(Moved(&now_ns));
        let step = |ms: u64, at_most_ms: u64| {
            now_ns.set(now_ns.get() + ms * 1_000_000);
            patience.passed(Duration::from_millis(at_most_ms));
            (patience.waited().as_millis(), patience.stood_still())
        };
        assert_eq!(step(2, 2), (2, false));
        assert_eq!(step(90, 2), (92, false), "a busy machine, which the target shares");
        assert_eq!(step(900, 1_000), (992, false), "it waited for the target");
        assert_eq!(step(4_002, 2), (994, true));
        assert_eq!(step(2, 2), (996, true), "and has, from then on");
    }
}
