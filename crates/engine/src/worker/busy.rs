use model::{NS_PER_S, ThreadUse};

use crate::clock::ThreadTimes;
use crate::demand::Window;

/// What the thread used between the window's start and its end; the drain after it would dilute the busy share.
#[derive(Clone)]
pub(super) struct BusyMeter {
    thread_times: fn() -> ThreadTimes,
    start: Option<(u64, ThreadTimes)>,
    used: Option<(u64, ThreadTimes)>,
}

impl BusyMeter {
    pub(super) fn new(thread_times: fn() -> ThreadTimes) -> Self {
        Self { thread_times, start: None, used: None }
    }

    pub(super) fn look(&mut self, now_ns: u64, window: Window) {
        if self.start.is_none() && now_ns >= window.start_ns {
            self.start = Some((now_ns, (self.thread_times)()));
        }
        if now_ns >= window.end_ns {
            self.end(now_ns);
        }
    }

    pub(super) fn end(&mut self, now_ns: u64) {
        if let (Some((wall_ns, before)), None) = (self.start, self.used) {
            self.used = Some((now_ns - wall_ns, (self.thread_times)().since(before)));
        }
    }

    pub(super) fn thread_use(&self, longest_stall_ns: u64) -> ThreadUse {
        let (wall_ns, used) = self.used.unwrap_or_default();
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        ThreadUse {
            cpu_s: seconds(used.cpu_ns),
            wall_s: seconds(wall_ns),
            run_delay_s: used.run_delay_ns.map(seconds),
            longest_stall_us: longest_stall_ns as f64 / 1e3,
        }
    }
}
