//! The seconds of a load while it runs: a line on the terminal that follows it, and what the documents about it have of them.

use std::sync::mpsc::Sender;

use indicatif::{ProgressBar, ProgressStyle};
use model::{Extent, Interval, LoadSecond, LoadSpec, NS_PER_S};

use crate::output::{say, stderr_text};
use crate::progress::keep_drawing;

/// The seconds of a load, for the documents about it: 128 bytes each.
pub(crate) struct Seconds(Vec<Interval>);

/// Seconds for which memory is asked for ahead: a day.
const MOST_SECONDS_AHEAD: u64 = 24 * 3600;

impl Seconds {
    /// Telling of them asks for no memory while the load runs, as far as its length is known.
    pub(crate) fn of(spec: &LoadSpec) -> Self {
        let seconds = spec.warm_up_ns.saturating_add(spec.window_ns()).div_ceil(NS_PER_S);
        Self(Vec::with_capacity(seconds.min(MOST_SECONDS_AHEAD) as usize))
    }

    /// Adds one; false where it is none, but the time after the window.
    pub(crate) fn add(&mut self, second: &LoadSecond) -> bool {
        self.0.extend((!second.drain).then_some(second.interval));
        !second.drain
    }

    /// All of them in order: a thread that was held up tells late.
    pub(crate) fn end(mut self) -> Vec<Interval> {
        self.0.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        self.0
    }
}

/// A line on the terminal that follows the load; nothing where stderr is not a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    _drawing: Option<Sender<()>>,
    warm_up_s: f64,
}

impl Progress {
    pub(crate) fn new(spec: &LoadSpec) -> Self {
        let warm_up_s = spec.warm_up_ns as f64 / NS_PER_S as f64;
        let length_ns = match spec.extent {
            Extent::Window(ns) => Some(ns),
            Extent::Requests { .. } => None,
        };
        let bar = match length_ns {
            Some(ns) => ProgressBar::new((spec.warm_up_ns + ns).div_ceil(NS_PER_S)),
            None => ProgressBar::new_spinner(),
        };
        let template = if length_ns.is_some() { "{elapsed} {wide_bar} {msg}" } else { "{elapsed} {spinner} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let drawing = keep_drawing(&bar);
        Self { bar, _drawing: drawing, warm_up_s }
    }

    /// Says something beside the line.
    pub(crate) fn say(&self, text: &str) {
        if self.bar.is_hidden() { say(text) } else { self.bar.println(stderr_text(text)) }
    }

    pub(crate) fn show(&self, interval: &Interval) {
        let passed = (interval.at_s + interval.length_s + self.warm_up_s).max(0.0);
        self.bar.set_position(passed.round() as u64);
        let phase = if interval.at_s < 0.0 { "warming up, " } else { "" };
        let p99 = interval.p99_us.map_or(String::new(), |us| {
            let bound = if interval.is_lower_bound(us) { "≥ " } else { "" };
            format!(", p99 {bound}{}", report::format::duration_us(us))
        });
        let rate = interval.completed as f64 / interval.length_s.max(0.001);
        let failed = interval.failures();
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        self.bar.set_message(format!("{phase}{} requests/s{p99}{failed}", report::format::number(rate)));
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
