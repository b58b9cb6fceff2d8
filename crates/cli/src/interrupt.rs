use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::MonotonicClock;
use model::Clock;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::exit::{Exit, Failure};

/// Signals within so long are one: `timeout` sends it to a process and to its group, and nobody presses twice in that time.
const ONE_SIGNAL_NS: u64 = 300_000_000;

/// A flag that the first Ctrl-C, TERM or HUP sets, so that what was measured is kept; the second ends the process.
pub(crate) fn flag_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // `nohup` means what it says.
    let watched: Vec<i32> = [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|signal| *signal != SIGHUP || !reaper::is_ignored(*signal))
        .collect();
    let tells_apart = end_on_second(&watched);
    for signal in watched {
        let second = || match tells_apart {
            true => Ok(()),
            false => flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop)).map(|_| ()),
        };
        let registered = second().and_then(|()| flag::register(signal, Arc::clone(&stop)));
        registered.map_err(|error| Failure::usage(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(stop)
}

/// Ends the process with the second of these signals, which is not one with the first; false where nobody can wait for it here.
fn end_on_second(watched: &[i32]) -> bool {
    let Ok(mut signals) = Signals::new(watched) else { return false };
    let waits = move || {
        let mut first_ns = None;
        for _ in signals.forever() {
            let now_ns = MonotonicClock.now_ns();
            if now_ns - *first_ns.get_or_insert(now_ns) > ONE_SIGNAL_NS {
                low_level::exit(i32::from(Exit::Interrupted.status()));
            }
        }
    };
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(waits).is_ok()
}

/// Has a write beyond the limit of a file's size fail instead of ending the process. What is started from here has the
/// signal's default again: a handler does not pass to another program.
pub(crate) fn outlive_file_limits() {
    // Where that cannot be had, the process ends as it would without.
    let _ = flag::register(SIGXFSZ, Arc::default());
}
