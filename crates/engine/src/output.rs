//! What a load brings home, put together from what its threads bring.

use std::ops::Range;

use model::{Extent, Interval, LoadSpec, MOST_STEPS, Measurement, NS_PER_S};
use serde::{Deserialize, Serialize};

use crate::collector::{Collector, Stopped};
use crate::demand::share;
use crate::interval_log::encoded;
use crate::part::Part;
use crate::second::{add_to, histogram};
use crate::serial::is_within;
use crate::steps;

/// Most steps that are read of somebody else: those of several generators may lie at other times.
const MOST_STEPS_READ: usize = 16 * MOST_STEPS;

/// What a load brings home.
#[derive(Debug)]
pub struct LoadOutput {
    /// The figures.
    pub measurement: Measurement,
    /// When the window began, on the engine's clock.
    pub window_start_ns: u64,
    /// When it ended.
    pub window_end_ns: u64,
    /// CPU seconds that other processes of this machine used in it to make it.
    pub made_beside_s: f64,
}

/// What the threads bring home of one load, or of several that follow each other: whole distributions and sums, which can be put together
/// with those of other generators that made a part of the same load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brought {
    /// By thread. The distributions of all are the first one's, for threads hand theirs over second by second.
    parts: Vec<Part>,
    steps: Vec<Interval>,
    answered_until_s: Option<f64>,
    slowest_reply_s: Option<f64>,
    interrupted: bool,
}

impl Brought {
    /// Of one load. `stopped` is which of its threads were to make it, where somebody has stopped it.
    pub(crate) fn new(
        spec: &LoadSpec,
        mut parts: Vec<Part>,
        collector: Collector,
        stopped: Option<Range<u32>>,
    ) -> Self {
        let interrupted = stopped.is_some_and(|threads| !is_whole(spec, threads, &parts));
        let (answered_until_s, slowest_reply_s) = (collector.answered_until_s(), collector.slowest_reply_s());
        let (mut steps, distributions) = collector.end();
        let (start_ns, end_ns) = window_of(&parts);
        steps::end_at(&mut steps, (end_ns - start_ns) as f64 / NS_PER_S as f64);
        parts.iter_mut().take(1).for_each(|part| part.distributions.add(&distributions));
        Self { parts, steps, answered_until_s, slowest_reply_s, interrupted }
    }

    /// What a load would have brought, had it been stopped.
    pub(crate) fn stopped(stopped: Stopped) -> Self {
        let Stopped { parts, steps, answered_until_s, slowest_reply_s, .. } = stopped;
        Self { parts, steps, answered_until_s, slowest_reply_s, interrupted: true }
    }

    /// Adds what the same threads brought of the next load on their connections.
    pub(crate) fn follow(&mut self, next: Brought) {
        let (start_ns, end_ns) = window_of(&self.parts);
        let after_s = (end_ns - start_ns) as f64 / NS_PER_S as f64;
        let steps = next.steps.into_iter().filter(|step| step.at_s >= 0.0);
        self.steps.extend(steps.map(|step| Interval { at_s: after_s + step.at_s, ..step }));
        self.slowest_reply_s = self.slowest_reply_s.into_iter().chain(next.slowest_reply_s).reduce(f64::max);
        self.interrupted |= next.interrupted;
        self.parts.iter_mut().zip(next.parts).for_each(|(part, next)| part.follow(next));
    }

    /// Adds what a warm-up of the same connections brought, which is not part of it, so that the whole tells of its warm-up what any
    /// other load does.
    pub(crate) fn warmed_up_by(&mut self, warm_up: Brought) {
        let (start_ns, end_ns) = window_of(&warm_up.parts);
        let lasted_s = (end_ns - start_ns) as f64 / NS_PER_S as f64;
        let answered = warm_up.steps.iter().rev().find(|step| step.completed > 0);
        let until_s = answered.map(|step| 0.0 - (lasted_s - step.at_s - step.length_s).max(0.0).floor());
        self.answered_until_s = self.answered_until_s.or(until_s);
        self.slowest_reply_s = self.slowest_reply_s.into_iter().chain(warm_up.slowest_reply_s).reduce(f64::max);
        let window = self.steps.partition_point(|step| step.at_s < 0.0);
        let before = warm_up.steps.into_iter().chain(self.steps.drain(..window)).reduce(one_after_the_other);
        before.into_iter().for_each(|before| self.steps.insert(0, before));
        self.parts.iter_mut().zip(warm_up.parts).for_each(|(part, warm_up)| part.opened_in(warm_up));
    }

    /// What was felt by those that had a reply, as a record keeps histograms (HdrHistogram V2, deflate, base64); none where none had.
    pub fn felt(&self) -> Option<String> {
        let mut all = histogram();
        self.parts.iter().for_each(|part| add_to(&mut all, part.distributions.felt()));
        encoded(&all)
    }

    /// Whether another holds a thread that this one holds, too: the same load, or one that it was put together from. No two threads use the
    /// CPU for the same time, to the nanosecond.
    pub fn shares_a_thread_with(&self, other: &Brought) -> bool {
        let threads = |of: &Brought| of.parts.iter().flat_map(|part| part.threads.clone()).collect::<Vec<_>>();
        let theirs = threads(other);
        threads(self).iter().any(|mine| mine.cpu_s > 0.0 && theirs.contains(mine))
    }

    /// Adds what another generator brought of the same load, both on one clock. Its threads and connections come behind those that are here;
    /// the window is the one that began first, and as long as the longer one; steps are those of each since it began. Of the steps of two generators the
    /// quantiles are not known.
    ///
    /// None where they are not felt from the same moment on: then they are two loads.
    pub fn beside(mut self, other: Brought) -> Option<Self> {
        let length_ns = |(start_ns, end_ns): (u64, u64)| end_ns.saturating_sub(start_ns);
        let length_ns = length_ns(self.window_ns()).max(length_ns(other.window_ns()));
        let (mine, theirs) = (self.parts.first()?, other.parts.first()?);
        if mine.felt != theirs.felt || mine.handshake.is_some() != theirs.handshake.is_some() {
            return None;
        }
        steps::add_beside(&mut self.steps, &other.steps);
        self.parts.extend(other.parts);
        let (start_ns, _) = self.window_ns();
        self.parts.iter_mut().for_each(|part| part.window_end_ns = part.window_end_ns.min(start_ns + length_ns));
        self.answered_until_s = self.answered_until_s.into_iter().chain(other.answered_until_s).reduce(f64::max);
        self.slowest_reply_s = self.slowest_reply_s.into_iter().chain(other.slowest_reply_s).reduce(f64::max);
        self.interrupted |= other.interrupted;
        Some(self)
    }

    /// How many threads made it.
    pub fn threads(&self) -> usize {
        self.parts.len()
    }

    /// When its window began and ended, on its clock.
    pub fn window_ns(&self) -> (u64, u64) {
        window_of(&self.parts)
    }

    /// The same on another clock, by which it is so much later.
    #[must_use]
    pub fn moved(mut self, by_ns: i64) -> Self {
        self.parts.iter_mut().for_each(|part| part.move_by(by_ns));
        self
    }

    /// What is wrong with one that somebody else made; none where nothing is.
    pub(crate) fn fault(&self) -> Option<String> {
        let counts = self.steps.iter().flat_map(|step| [step.completed, step.ok, step.sent, step.failed]);
        let of_part = || self.parts.iter().find_map(Part::fault);
        let fault = match () {
            () if self.parts.is_empty() => Some("it has no thread"),
            () if self.steps.len() > MOST_STEPS_READ => Some("it has more steps than any load"),
            () if !counts.into_iter().all(is_within) => Some("a step in it has more than any load"),
            () => of_part(),
        };
        fault.map(str::to_owned).or_else(|| self.clone().concluded().measurement.fault())
    }

    /// The figures of the whole.
    pub fn conclude(self) -> LoadOutput {
        let output = self.concluded();
        debug_assert_eq!(output.measurement.fault(), None, "what is read of a record must be so, too: {output:?}");
        output
    }

    fn concluded(self) -> LoadOutput {
        let together = |mut whole: Part, part: Part| {
            whole.merge(part);
            whole
        };
        let whole = self.parts.into_iter().reduce(together).expect("a load has a thread");
        let (window_start_ns, window_end_ns) = (whole.window_start_ns, whole.window_end_ns);
        let measurement = Measurement {
            interrupted: self.interrupted,
            steps: self.steps,
            answered_until_s: self.answered_until_s,
            slowest_reply_s: self.slowest_reply_s,
            ..whole.summarise()
        };
        LoadOutput { measurement, window_start_ns, window_end_ns, made_beside_s: 0.0 }
    }
}

/// What came before the window as one step, which has no quantiles.
fn one_after_the_other(first: Interval, second: Interval) -> Interval {
    let length_s = first.length_s + second.length_s;
    Interval {
        at_s: -length_s,
        length_s,
        completed: first.completed + second.completed,
        ok: first.ok + second.ok,
        sent: first.sent + second.sent,
        failed: first.failed + second.failed,
        ..Interval::default()
    }
}

/// Whether a load came to its end, though somebody may have asked for another: what is left then is to wait for replies.
fn is_whole(spec: &LoadSpec, threads: Range<u32>, parts: &[Part]) -> bool {
    let (start_ns, end_ns) = window_of(parts);
    let sum = |count: fn(&Part) -> u64| parts.iter().map(count).sum::<u64>();
    match spec.extent {
        Extent::Window(window_ns) => end_ns - start_ns >= window_ns,
        Extent::Requests { count, .. } => {
            let asked: u64 = threads.map(|thread| share(count, thread, spec.threads)).sum();
            sum(|part| part.books.scheduled) == asked && sum(|part| part.books.in_flight_at_end) == 0
        }
    }
}

/// The window over all threads.
fn window_of(parts: &[Part]) -> (u64, u64) {
    let start_ns = parts.iter().map(|part| part.window_start_ns).min().unwrap_or(0);
    (start_ns, parts.iter().map(|part| part.window_end_ns).max().unwrap_or(start_ns))
}
