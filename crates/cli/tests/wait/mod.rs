//! Waiting for a state by looking for it, with an end that only a hang reaches.

use engine::MonotonicClock;
use model::{Clock, NS_PER_S};

/// How long a state may take to come before a test says that it does not.
const PATIENCE_NS: u64 = 60 * NS_PER_S;

/// Looks again and again until `found` gives something.
pub(crate) fn wait_until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let give_up_ns = MonotonicClock.now_ns() + PATIENCE_NS;
    loop {
        if let Some(it) = found() {
            return it;
        }
        assert!(MonotonicClock.now_ns() < give_up_ns, "waited in vain: {what}");
        std::thread::yield_now();
    }
}
