use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use model::Sample;

use crate::{Family, ProcSource, Sampler, SharedClock};

/// Takes samples of a process tree on a thread of its own until it is stopped.
pub struct Observer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    stopped: Condvar,
}

struct State {
    sampler: Sampler,
    samples: Vec<Sample>,
    stop: bool,
}

impl Observer {
    /// Begins to watch these processes, and the sockets of `port`: one full sample before this returns,
    /// then one every `period`.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub fn start(
        family: Family,
        port: Option<u16>,
        proc: ProcSource,
        clock: SharedClock,
        period: Duration,
    ) -> std::io::Result<Observer> {
        let mut sampler = Sampler::new(family, port, &proc, Arc::clone(&clock));
        let samples = vec![sampler.sample_now()];
        let state = Mutex::new(State { sampler, samples, stop: false });
        let shared = Arc::new(Shared { state, stopped: Condvar::new() });
        let watched = Arc::clone(&shared);
        let thread = thread::Builder::new().name("observer".to_owned()).spawn(move || watched.watch(&clock, period))?;
        Ok(Observer { shared, thread: Some(thread) })
    }

    /// The samples since they were last taken, in the order of time.
    pub fn take(&self) -> Vec<Sample> {
        std::mem::take(&mut self.shared.lock().samples)
    }

    /// Takes a last full sample and returns all that are left in the order of time. Does not wait for the period to pass.
    pub fn stop(mut self) -> Vec<Sample> {
        self.end_thread();
        let mut state = self.shared.lock();
        let last = state.sampler.sample_now();
        state.samples.push(last);
        std::mem::take(&mut state.samples)
    }

    fn end_thread(&mut self) {
        self.shared.lock().stop = true;
        self.shared.stopped.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported by its hook; the samples up to it are still good.
            let _ = thread.join();
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.end_thread();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, clock: &SharedClock, period: Duration) {
        let period_ns = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
        let mut due_ns = clock.now_ns().saturating_add(period_ns);
        let mut state = self.lock();
        while !state.stop {
            let now_ns = clock.now_ns();
            if now_ns < due_ns {
                let wait = Duration::from_nanos((due_ns - now_ns).min(period_ns));
                state = self.stopped.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let sample = state.sampler.sample();
            state.samples.push(sample);
            let rest_ns = state.sampler.rest_ns();
            // Looks that were missed are not made up for.
            due_ns = due_ns.saturating_add(period_ns).max(now_ns.saturating_add(rest_ns));
        }
    }
}
