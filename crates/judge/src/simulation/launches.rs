//! Launches whose seconds follow a known course.

use model::{Course, Interval, Measurement};

use crate::course::classify;
use crate::testing::normal;

/// Seconds in the window.
const SECONDS: usize = 10;

/// A course that a launch truly takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Launch {
    Flat,
    WarmsUp,
    SlowsDown,
    EndsUnsteady,
}

impl Launch {
    pub(super) const ALL: [Launch; 4] = [Launch::Flat, Launch::WarmsUp, Launch::SlowsDown, Launch::EndsUnsteady];

    pub(super) fn words(self) -> &'static str {
        match self {
            Launch::Flat => "flat",
            Launch::WarmsUp => "20 % slower for 3 s at first",
            Launch::SlowsDown => "20 % slower from the middle on",
            Launch::EndsUnsteady => "20 % slower in the last 2 s",
        }
    }

    /// What it should be called.
    pub(super) fn truth(self) -> Course {
        match self {
            Launch::Flat => Course::Flat,
            Launch::WarmsUp => Course::WarmUp,
            Launch::SlowsDown => Course::SlowDown,
            Launch::EndsUnsteady => Course::Unsteady,
        }
    }

    fn level(self, second: usize) -> f64 {
        let slow = match self {
            Launch::Flat => false,
            Launch::WarmsUp => second < 3,
            Launch::SlowsDown => second >= SECONDS / 2,
            Launch::EndsUnsteady => second >= SECONDS - 2,
        };
        if slow { 0.8 } else { 1.0 }
    }
}

/// What a launch is called whose seconds scatter by `noise` in throughput, and by three times that in p99.
pub(super) fn course(launch: Launch, noise: f64, rng: &mut fastrand::Rng) -> Option<Course> {
    let second = |second: usize, rng: &mut fastrand::Rng| Interval {
        at_s: second as f64,
        length_s: 1.0,
        ok: (10_000.0 * launch.level(second) * (noise * normal(rng)).exp()) as u64,
        p99_us: Some(5_000.0 / launch.level(second) * (3.0 * noise * normal(rng)).exp()),
        ..Interval::default()
    };
    let steps = (0..SECONDS).map(|number| second(number, rng)).collect();
    let measured = Measurement { window_s: SECONDS as f64, steps, ..Measurement::default() };
    classify(&measured, None, &[]).map(|went| went.course)
}
