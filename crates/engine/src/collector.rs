//! Puts the seconds of all threads together, on the thread that waits for them, and tells of each as it is complete.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};

use hdrhistogram::Histogram;
use model::{EncodedHistogram, HistogramTag, Interval, LoadSecond, NS_PER_S};

use crate::interval_log::Encoder;
use crate::part::Part;
use crate::port::{Checkpoint, Told};
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

/// What all threads would have brought home, had the load been stopped.
pub(crate) struct Stopped {
    /// Whole seconds of the window that had passed.
    pub(crate) seconds: u64,
    pub(crate) parts: Vec<Part>,
    pub(crate) steps: Vec<Interval>,
    pub(crate) answered_until_s: Option<f64>,
    pub(crate) slowest_reply_s: Option<f64>,
}

/// Who is told of a load while it runs.
pub(crate) struct Listener<'l> {
    /// Each second that has passed, and the time after the window.
    pub(crate) second: &'l mut dyn FnMut(&Passed),
    /// After each second of the window what the load would have brought home, had it been stopped; none where nobody asks.
    pub(crate) stopped: Option<&'l mut dyn FnMut(Stopped)>,
}

impl<'l> Listener<'l> {
    /// One who is told of seconds alone.
    pub(crate) fn of(second: &'l mut dyn FnMut(&Passed)) -> Self {
        Self { second, stopped: None }
    }

    /// The same for another load.
    pub(crate) fn again(&mut self) -> Listener<'_> {
        let stopped = self.stopped.as_mut().map(|stopped| &mut **stopped as &mut dyn FnMut(Stopped));
        Listener { second: self.second, stopped }
    }
}

/// What threads would have brought home, while not all have told.
struct Checkpoints {
    /// By thread, all replies up to its last second.
    replies: Vec<Distributions>,
    /// By whole seconds and thread.
    told: BTreeMap<u64, Vec<Option<OfThread>>>,
}

/// What one thread would have brought home, and the second in which that was.
type OfThread = (Part, Box<Second>);

impl Checkpoints {
    /// Takes a thread's; gives those of all threads once this is the last of them. What one thread was too late for is not told.
    fn take(&mut self, checkpoint: Checkpoint) -> Option<Vec<OfThread>> {
        let Checkpoint { thread, seconds, mut part, second } = checkpoint;
        part.distributions.add(&self.replies[thread]);
        part.distributions.add(&second.distributions);
        let threads = self.replies.len();
        let told = self.told.entry(seconds).or_insert_with(|| (0..threads).map(|_| None).collect());
        told[thread] = Some((*part, second));
        if told.iter().any(Option::is_none) {
            self.told.retain(|other, _| other + SECONDS_APART as u64 > seconds);
            return None;
        }
        let whole = self.told.remove(&seconds)?;
        self.told.retain(|other, _| *other > seconds);
        Some(whole.into_iter().flatten().collect())
    }
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
    checkpoints: Option<Checkpoints>,
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
            checkpoints: None,
        }
    }

    /// Takes seconds until every thread has gone, calling `progress` with each that is complete.
    pub(crate) fn collect(&mut self, told: &Receiver<Told>, empty: &[Sender<Box<Second>>], listener: Listener<'_>) {
        let Listener { second: progress, mut stopped } = listener;
        let replies = || (0..self.threads).map(|_| Distributions::new(self.felt)).collect();
        self.checkpoints = stopped.is_some().then(|| Checkpoints { replies: replies(), told: BTreeMap::new() });
        let mut give_back = |mut second: Box<Second>| {
            second.clear();
            // A thread that has gone needs no empty second.
            let _ = empty[second.thread].send(second);
        };
        for told in told {
            match told {
                Told::Second(second) => self.take(second, &mut give_back, progress),
                Told::Checkpoint(checkpoint) => {
                    let told = self.stopped(checkpoint);
                    told.zip(stopped.as_mut()).into_iter().for_each(|(told, stopped)| stopped(told));
                }
            }
        }
        while let Some((_, pending)) = self.pending.pop_first() {
            give_back(self.publish(pending, progress));
        }
    }

    fn take(&mut self, second: Box<Second>, give_back: &mut dyn FnMut(Box<Second>), progress: &mut dyn FnMut(&Passed)) {
        if second.index >= 0 || second.drain {
            self.whole.add(&second.distributions);
            let replies = self.checkpoints.as_mut().map(|it| &mut it.replies[second.thread]);
            replies.into_iter().for_each(|replies| replies.add(&second.distributions));
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

    /// Takes what a thread would have brought home; gives what all would have, once all have told.
    fn stopped(&mut self, checkpoint: Checkpoint) -> Option<Stopped> {
        let seconds = checkpoint.seconds;
        let told = self.checkpoints.as_mut()?.take(checkpoint)?;
        let mut steps = self.steps.clone();
        let mut add = |second: &Second, length_ns| {
            let felt = second.felt();
            steps.add(&interval(second, &felt, length_ns), &felt);
        };
        // Of which a thread has told nothing, for it was held up.
        let passed = self.pending.iter().filter(|((index, drain), _)| *index < seconds as i64 && !drain);
        passed.for_each(|(_, pending)| add(&pending.second, pending.length_ns));
        let (parts, under_way): (Vec<Part>, Vec<Box<Second>>) = told.into_iter().unzip();
        let together = |mut whole: Box<Second>, second: Box<Second>| {
            whole.end_ns = whole.end_ns.max(second.end_ns);
            whole.add(&second);
            whole
        };
        under_way.into_iter().reduce(together).iter().for_each(|second| add(second, second.length_ns()));
        Some(Stopped {
            seconds,
            parts,
            steps: steps.end(),
            answered_until_s: self.answered_until_s(),
            slowest_reply_s: self.slowest_reply_s(),
        })
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
        let interval = interval(second, &felt, length_ns);
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

/// What a second was like, of so long, with what was felt in it.
fn interval(second: &Second, felt: &Histogram<u64>, length_ns: u64) -> Interval {
    let (p50_us, p99_us, max_us) = quantiles(felt);
    let ages = second.unanswered.as_deref();
    Interval {
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
    }
}

#[cfg(test)]
#[path = "collector/tests.rs"]
mod tests;
