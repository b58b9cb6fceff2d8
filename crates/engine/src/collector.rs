//! Puts the seconds of all threads together, on the thread that waits for them, and tells of each as it is complete.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};

use hdrhistogram::Histogram;
use model::{EncodedHistogram, HistogramTag, Interval, LoadSecond, NS_PER_S};

use crate::interval_log::Encoder;
use crate::second::{Distributions, Felt, Second};
use crate::steps::{Steps, quantiles};
use crate::summary::micros;

/// How many seconds the threads may be apart before one that has told nothing is no longer waited for.
const SECONDS_APART: i64 = 2;

/// A second that has passed, as it is told while the load runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passed {
    /// When the window begins, on the engine's clock.
    pub window_start_ns: u64,
    /// What it was like. A thread that was held up may tell of it later, in another of the same second.
    pub second: LoadSecond,
}

/// Collects full seconds and sends back emptied ones. It keeps none: what a load takes does not depend on how long it is.
pub(crate) struct Collector {
    threads: usize,
    pub(crate) felt: Felt,
    pub(crate) whole: Distributions,
    /// How long the slowest reply was waited for; 0 while none has come.
    slowest_ticks: u64,
    all: Totals,
    pending: BTreeMap<(i64, bool), Pending>,
    steps: Steps,
    encoder: Option<Encoder>,
}

/// A load from its begin to the end of its drain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// When its last thread was done.
    pub(crate) end_ns: u64,
    /// Replies of any kind.
    pub(crate) replies: u64,
    /// Requests that failed, without a whole reply or with a wrong one.
    pub(crate) failed: u64,
}

/// One second of which not all threads have told yet: what they told so far, in the set of the first that did.
struct Pending {
    told: usize,
    length_ns: u64,
    second: Box<Second>,
}

impl Collector {
    /// `step_s` is how many seconds a step of the course has, `encoded` whether seconds are told with their histograms.
    pub(crate) fn new(felt: Felt, step_s: u64, threads: usize, encoded: bool) -> Self {
        Self {
            threads,
            felt,
            whole: Distributions::new(felt),
            slowest_ticks: 0,
            all: Totals::default(),
            pending: BTreeMap::new(),
            steps: Steps::new(step_s),
            encoder: encoded.then(Encoder::new),
        }
    }

    /// Takes seconds until every thread has gone, calling `progress` with each that is complete.
    pub(crate) fn collect(
        &mut self,
        seconds: &Receiver<Box<Second>>,
        empty: &[Sender<Box<Second>>],
        progress: &mut dyn FnMut(&Passed),
    ) {
        let mut give_back = |mut second: Box<Second>| {
            second.clear();
            // A thread that has gone needs no empty second.
            let _ = empty[second.thread].send(second);
        };
        for second in seconds {
            self.take(second, &mut give_back, progress);
        }
        while let Some((_, pending)) = self.pending.pop_first() {
            give_back(self.publish(pending, progress));
        }
    }

    fn take(&mut self, second: Box<Second>, give_back: &mut dyn FnMut(Box<Second>), progress: &mut dyn FnMut(&Passed)) {
        if second.index >= 0 || second.drain {
            self.whole.add(&second.distributions);
        }
        self.slowest_ticks = self.slowest_ticks.max(second.slowest_ticks());
        self.all.end_ns = self.all.end_ns.max(second.end_ns);
        self.all.replies += second.completed;
        self.all.failed += second.failed + second.completed - second.ok;
        let (key, length_ns) = ((second.index, second.drain), second.length_ns());
        let told = match self.pending.get_mut(&key) {
            Some(pending) => {
                pending.told += 1;
                pending.length_ns = pending.length_ns.max(length_ns);
                pending.second.add(&second);
                give_back(second);
                pending.told
            }
            None => {
                self.pending.insert(key, Pending { told: 1, length_ns, second });
                1
            }
        };
        let complete = told == self.threads;
        // A thread that has done its share, or was held up over a whole second, tells nothing of it.
        while let Some(oldest) = self.pending.first_entry()
            && (complete && *oldest.key() == key || oldest.key().0 < key.0 - SECONDS_APART)
        {
            let pending = oldest.remove();
            give_back(self.publish(pending, progress));
        }
    }

    /// Tells of a second; gives back the set in which it was.
    fn publish(&mut self, pending: Pending, progress: &mut dyn FnMut(&Passed)) -> Box<Second> {
        let Pending { length_ns, second, .. } = pending;
        // A second that was over before it began has nothing in it, unless the window's end was moved into it.
        if length_ns == 0 && second.sent + second.completed + second.failed == 0 {
            return second;
        }
        let interval = self.step(&second, length_ns);
        let histograms = self.encode(&second.distributions);
        let told = LoadSecond { interval, drain: second.drain, histograms };
        let mut passed = Passed { window_start_ns: second.window_start_ns, second: told };
        progress(&passed);
        if let Some(encoder) = &mut self.encoder {
            encoder.take_back(&mut passed.second.histograms);
        }
        second
    }

    /// What a second was like, which enters the course of the load.
    fn step(&mut self, second: &Second, length_ns: u64) -> Interval {
        let felt = second.felt();
        let (p50_us, p99_us, max_us) = quantiles(&felt);
        let ages = second.unanswered.as_deref();
        let interval = Interval {
            at_s: second.index as f64,
            length_s: length_ns.min(NS_PER_S) as f64 / NS_PER_S as f64,
            completed: second.completed,
            ok: second.ok,
            sent: second.sent,
            failed: second.failed,
            p50_us,
            p99_us,
            max_us,
            exact_below_us: ages.map(|ages| micros(ages.min())),
            replied_max_us: ages.and_then(|_| quantiles(second.distributions.felt()).2),
        };
        if !second.drain {
            self.steps.add(&interval, &felt);
        }
        interval
    }

    fn encode(&mut self, distributions: &Distributions) -> Vec<EncodedHistogram> {
        let Some(encoder) = &mut self.encoder else { return Vec::new() };
        let all: [(HistogramTag, Option<&Histogram<u64>>); 4] = [
            (HistogramTag::Service, Some(&distributions.service)),
            (HistogramTag::FirstByte, Some(&distributions.first_byte)),
            (self.felt.tag(), distributions.felt.as_ref()),
            (HistogramTag::Lateness, distributions.lateness.as_ref()),
        ];
        all.into_iter().filter_map(|(tag, histogram)| encoder.encode(tag, histogram?)).collect()
    }

    /// What the whole load came to, the warm-up included.
    pub(crate) fn totals(&self) -> Totals {
        self.all
    }

    /// Until when replies came in the warm-up, in seconds of the window.
    pub(crate) fn answered_until_s(&self) -> Option<f64> {
        self.steps.answered_until_s
    }

    /// How long the slowest reply was waited for, whenever it came and whatever it belongs to.
    pub(crate) fn slowest_reply_s(&self) -> Option<f64> {
        (self.slowest_ticks > 0).then(|| micros(self.slowest_ticks) / 1e6)
    }

    /// The course of the load, and the distributions of all its replies.
    pub(crate) fn end(self) -> (Vec<Interval>, Distributions) {
        (self.steps.end(), self.whole)
    }
}

#[cfg(test)]
#[path = "collector/tests.rs"]
mod tests;
