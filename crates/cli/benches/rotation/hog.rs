//! Who takes the target's CPU now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::MonotonicClock;
use model::Clock;

/// Its period, and for how much of it it computes.
const HOG_EVERY: Duration = Duration::from_secs(7);
const HOG_FOR: Duration = Duration::from_secs(2);

/// A thread on the first CPU, the target's, that computes for 2 s in every 7.
pub(crate) struct Hog {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hog {
    pub(crate) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let body = move || {
            let mut first = rustix::thread::CpuSet::new();
            first.set(0);
            rustix::thread::sched_setaffinity(None, &first).unwrap();
            let begun_ns = MonotonicClock.now_ns();
            while !stopped.load(Ordering::Relaxed) {
                let within_ns = (MonotonicClock.now_ns() - begun_ns) % HOG_EVERY.as_nanos() as u64;
                if within_ns >= HOG_FOR.as_nanos() as u64 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        };
        Hog { stop, thread: Some(std::thread::spawn(body)) }
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}
