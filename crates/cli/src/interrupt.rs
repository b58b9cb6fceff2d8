use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::exit::Failure;

/// A flag that the first Ctrl-C, TERM or HUP sets, so that what was measured is kept; the second ends the process.
pub(crate) fn flag_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // `nohup` means what it says.
        if signal == SIGHUP && reaper::is_ignored(signal) {
            continue;
        }
        let registered = flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)));
        registered.map_err(|error| Failure::usage(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(stop)
}

/// Has a write beyond the limit of a file's size fail instead of ending the process. What is started from here has the
/// signal's default again: a handler does not pass to another program.
pub(crate) fn outlive_file_limits() {
    // Where that cannot be had, the process ends as it would without.
    let _ = flag::register(SIGXFSZ, Arc::default());
}
