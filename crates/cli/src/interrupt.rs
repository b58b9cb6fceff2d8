use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Failure;

/// A flag that the first Ctrl-C (or TERM) sets, so that what was measured is kept; the second ends the process.
pub(crate) fn flag_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let registered = flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)));
        registered.map_err(|error| Failure::usage(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(stop)
}
