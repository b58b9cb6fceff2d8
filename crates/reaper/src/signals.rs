use std::sync::Arc;

use nix::sys::signal::SigSet;
use signal_hook::consts::{FORBIDDEN, SIGCHLD};
use signal_hook::flag::register;

/// The last of the usual signals; behind it are the C library's.
const LAST: i32 = 31;

/// Has signals come as they usually do, whatever was blocked by whoever started this: an end that nobody hears of is waited
/// for to the last. What is started from here has none blocked, either.
pub fn let_signals_come() {
    // Only a wrong argument makes it fail.
    let _ = SigSet::empty().thread_set_mask();
    // Of children that nobody cares for the kernel does not say how they ended.
    if is_ignored(SIGCHLD) {
        let _ = register(SIGCHLD, Arc::default());
    }
}

/// Has what this process becomes ignore no signal: a handler does not pass to another program, and leaves the default.
pub(crate) fn ignore_none() {
    for signal in (1..=LAST).filter(|signal| !FORBIDDEN.contains(signal) && is_ignored(*signal)) {
        let _ = register(signal, Arc::default());
    }
}

/// Whether this process ignores a signal, as it may have been started to.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & 1 << (signal - 1) != 0
}
