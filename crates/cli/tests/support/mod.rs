//! What the end-to-end tests of `bourdon load` share: the program, its JSON document, specimens and a recording server.

mod document;
pub(crate) mod interval_log;
mod program;
mod recorder;
mod specimen;
mod stall;

pub(crate) use document::Document;
pub(crate) use program::{Ended, bourdon, load, on_a_shell, spawn, without_a_reader};
pub(crate) use recorder::Recorder;
pub(crate) use specimen::{Closed, Specimen};
pub(crate) use stall::Replay;

use engine::MonotonicClock;
use model::{Clock, NS_PER_S};

/// How long a state may take to come before a test says that it does not.
const PATIENCE_NS: u64 = 20 * NS_PER_S;

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
