use model::{NS_PER_S, ThreadUse};

use crate::demand::Window;

/// The thread's CPU time between the window's start and its end; the drain after it would dilute the busy share.
pub(super) struct BusyMeter {
    thread_cpu_ns: fn() -> u64,
    start: Option<(u64, u64)>,
    used: Option<(u64, u64)>,
}

impl BusyMeter {
    pub(super) fn new(thread_cpu_ns: fn() -> u64) -> Self {
        Self { thread_cpu_ns, start: None, used: None }
    }

    pub(super) fn look(&mut self, now_ns: u64, window: Window) {
        if self.start.is_none() && now_ns >= window.start_ns {
            self.start = Some((now_ns, (self.thread_cpu_ns)()));
        }
        if now_ns >= window.end_ns {
            self.end(now_ns);
        }
    }

    pub(super) fn end(&mut self, now_ns: u64) {
        if let (Some((wall_ns, cpu_ns)), None) = (self.start, self.used) {
            self.used = Some((now_ns - wall_ns, (self.thread_cpu_ns)() - cpu_ns));
        }
    }

    pub(super) fn thread_use(&self, longest_stall_ns: u64) -> ThreadUse {
        let (wall_ns, cpu_ns) = self.used.unwrap_or_default();
        ThreadUse {
            cpu_s: cpu_ns as f64 / NS_PER_S as f64,
            wall_s: wall_ns as f64 / NS_PER_S as f64,
            longest_stall_us: longest_stall_ns as f64 / 1e3,
        }
    }
}
