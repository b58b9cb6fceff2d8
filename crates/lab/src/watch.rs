//! Who watches a target while a load is on it. What they see is told and reduced as it comes, so that nothing is kept of a
//! long load that is not kept of a short one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use engine::MonotonicClock;
use model::{CellPlan, RuntimeSample, Sample};
use observe::{Observer, ProcSource, Summary};

use crate::launch::Running;
use crate::scrape::Scraper;

/// How often a target is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The watchers of one load, and what they saw.
pub(crate) struct Watch {
    observer: Option<Observer>,
    scraper: Option<Scraper>,
    window_ns: u64,
    step_s: u64,
    /// The first look, before any load.
    first: Option<Sample>,
    /// From when the window's begin is known; looks from before that wait with the observer.
    summary: Option<Summary>,
}

impl Watch {
    /// Begins to watch what runs, and to ask `metrics` of it where it has an admin port.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(crate) fn start(running: &dyn Running, metrics: Option<&str>, cell: &CellPlan) -> std::io::Result<Self> {
        let port = running.address().port();
        let observe =
            |pid| Observer::start(pid, Some(port), ProcSource::default(), Arc::new(MonotonicClock), LOOK_EVERY);
        let scrape = |(path, admin): (&str, SocketAddr)| Scraper::start(admin, path);
        Ok(Self {
            observer: running.pid().map(observe).transpose()?,
            scraper: metrics.zip(running.admin_address()).map(scrape).transpose()?,
            window_ns: cell.load.window_ns(),
            step_s: cell.load.step_s(),
            first: None,
            summary: None,
        })
    }

    /// Whether anybody looks.
    pub(crate) fn is_on(&self) -> bool {
        self.observer.is_some()
    }

    /// Takes what was seen since the last time, and gives the looks to `tell`. The window begins at `start_ns`.
    pub(crate) fn take(&mut self, start_ns: u64, tell: &mut dyn FnMut(&[Sample])) {
        let samples = self.observer.as_ref().map(Observer::take).unwrap_or_default();
        let told = self.scraper.as_ref().map(Scraper::take).unwrap_or_default();
        self.see(&samples, &told, start_ns, tell);
    }

    /// Ends the watching; gives the looks that are left to `tell`. What is given back is the first look and what all of
    /// them come to: none where nobody looked, or there was no load.
    pub(crate) fn stop(mut self, start_ns: Option<u64>, tell: &mut dyn FnMut(&[Sample])) -> Option<(Sample, Summary)> {
        let told = self.scraper.take().map(Scraper::stop).unwrap_or_default();
        let samples = self.observer.take().map(Observer::stop).unwrap_or_default();
        self.see(&samples, &told, start_ns?, tell);
        self.first.zip(self.summary)
    }

    fn see(&mut self, samples: &[Sample], told: &[RuntimeSample], start_ns: u64, tell: &mut dyn FnMut(&[Sample])) {
        let (end_ns, step_s) = (start_ns.saturating_add(self.window_ns), self.step_s);
        let summary = self.summary.get_or_insert_with(|| Summary::new(start_ns, end_ns, step_s));
        samples.iter().for_each(|sample| summary.add(sample));
        told.iter().for_each(|told| summary.add_told(told));
        self.first = self.first.or(samples.first().copied());
        if !samples.is_empty() {
            tell(samples);
        }
    }
}
