//! Every threshold of a soak, each with the reason for its value.

use model::Kept;

/// Cycles of a part at least for a trend: a line through fewer fits whatever it is.
pub(super) const FEWEST_CYCLES: usize = 5;

/// Pairs of cycles at least for a statement about latencies: of six on a quiet machine p50 was 1.25 times as long (1.11 to 1.41) with nothing
/// changed (28 November 2026).
pub(super) const FEWEST_PAIRS: usize = 10;

/// Which part of the first load is left out: in it caches, pools and heaps get their size.
pub(super) const WARMS_UP: f64 = 0.25;

/// Growth towards the end below which share of the growth before it counts as slowing: what fills falls to nothing, and half is far from either.
pub(super) const SLOWING: f64 = 0.5;

/// Which share of the growth a second under load a server may show that is hardly asked: more is growth with time.
pub(super) const GROWS_IDLE: f64 = 0.25;

/// Share of the memory that a server had by which it must grow: heaps, and the system's pages, move by some per cent.
pub(super) const MEMORY_MATTERS: f64 = 0.1;

/// Share of the machine that others may take before latencies of a cycle say nothing of the server.
pub(super) const TAKEN_BY_OTHERS: f64 = 0.05;

/// How many half widths of its interval growth must have to be seen as a rule: at one, half of all soaks would see it.
pub(super) const SEEN: f64 = 1.8;

/// Requests a second of a server that is left alone: one that is not asked at all could not be told from one that hangs.
pub(super) const IDLE_PER_S: f64 = 1.0;

/// How many growers are told, and which share of the growth each has at least.
pub(super) const GROWERS: usize = 5;
pub(super) const LEAST_SHARE: f64 = 0.01;

/// Growth below which nothing is said, whatever its interval: of memory twice what the resident pages of a quiet server move by, of a heap
/// that was just collected what runtimes keep for themselves, and of pieces more than a pool adds now and then.
pub(super) fn least(of: Kept) -> f64 {
    match of {
        Kept::Heap => 256.0 * 1024.0,
        Kept::Memory => 2.0 * 1024.0 * 1024.0,
        Kept::Threads | Kept::Processes | Kept::Files | Kept::Unclosed => 8.0,
    }
}
