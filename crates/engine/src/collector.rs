//! Puts the seconds of all threads together, on the thread that waits for them.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};

use hdrhistogram::Histogram;
use model::{Interval, NS_PER_S};

use crate::interval_log::IntervalLog;
use crate::second::{Distributions, Felt, Second, add_to, histogram};
use crate::summary::micros;

/// Seconds for which memory is asked for ahead: a day.
const MOST_SECONDS_AHEAD: usize = 24 * 3600;

/// How many seconds the threads may be apart before one that has told nothing is no longer waited for.
const SECONDS_APART: i64 = 2;

/// A thread's full second, with the way back for the emptied one.
pub(crate) struct Collector<'a> {
    threads: usize,
    pub(crate) felt: Felt,
    pub(crate) whole: Distributions,
    pending: BTreeMap<i64, Pending>,
    pub(crate) intervals: Vec<Interval>,
    log: Option<IntervalLog<'a>>,
}

/// One second of which not all threads have told yet.
struct Pending {
    told: usize,
    interval: Interval,
    felt: Histogram<u64>,
}

impl<'a> Collector<'a> {
    /// `seconds` is how many are expected, so that telling of them asks for no memory while the load runs.
    pub(crate) fn new(threads: usize, felt: Felt, seconds: usize, log: Option<IntervalLog<'a>>) -> Self {
        Self {
            threads,
            felt,
            whole: Distributions::new(felt),
            pending: BTreeMap::new(),
            intervals: Vec::with_capacity(seconds.min(MOST_SECONDS_AHEAD)),
            log,
        }
    }

    /// Takes seconds until every thread has gone, calling `progress` with each second that is complete.
    pub(crate) fn collect(
        &mut self,
        seconds: &Receiver<Box<Second>>,
        empty: &[Sender<Box<Second>>],
        progress: &mut dyn FnMut(&Interval),
    ) {
        for mut second in seconds {
            self.take(&second, progress);
            second.distributions.clear();
            // A thread that has gone needs no empty second.
            let _ = empty[second.thread].send(second);
        }
        while let Some((_, pending)) = self.pending.pop_first() {
            self.publish(pending, progress);
        }
        // A thread that was held up over a whole second never told of it, which delayed that second to here.
        self.intervals.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    }

    fn take(&mut self, second: &Second, progress: &mut dyn FnMut(&Interval)) {
        if second.index >= 0 || second.drain {
            self.whole.add(&second.distributions);
            self.write_log(second);
        }
        if second.drain || second.end_ns <= second.start_ns {
            return;
        }
        let felt = second.distributions.felt();
        let pending = self.pending.entry(second.index).or_insert_with(|| Pending {
            told: 0,
            interval: Interval { at_s: second.index as f64, ..Interval::default() },
            felt: histogram(),
        });
        pending.told += 1;
        let interval = &mut pending.interval;
        interval.length_s = interval.length_s.max((second.end_ns - second.start_ns) as f64 / NS_PER_S as f64);
        interval.completed += second.completed;
        interval.ok += second.ok;
        interval.sent += second.sent;
        interval.failed += second.failed;
        add_to(&mut pending.felt, felt);
        let complete = pending.told == self.threads;
        // A thread that has done its share, or was held up over a whole second, tells nothing of it.
        while let Some(oldest) = self.pending.first_entry()
            && (complete && *oldest.key() == second.index || *oldest.key() < second.index - SECONDS_APART)
        {
            let pending = oldest.remove();
            self.publish(pending, progress);
        }
    }

    fn publish(&mut self, pending: Pending, progress: &mut dyn FnMut(&Interval)) {
        let Pending { mut interval, felt, .. } = pending;
        if !felt.is_empty() {
            interval.p50_us = Some(micros(felt.value_at_quantile(0.5)));
            interval.p99_us = Some(micros(felt.value_at_quantile(0.99)));
            interval.max_us = Some(micros(felt.max()));
        }
        progress(&interval);
        self.intervals.push(interval);
    }

    fn write_log(&mut self, second: &Second) {
        let Some(log) = &mut self.log else { return };
        let start_ns = second.index.max(0) as u64 * NS_PER_S;
        let length_ns = second.end_ns.saturating_sub(second.start_ns).min(NS_PER_S);
        let distributions = &second.distributions;
        log.add("service", start_ns, length_ns, &distributions.service);
        log.add("first-byte", start_ns, length_ns, &distributions.first_byte);
        let lateness = distributions.lateness.as_ref().map(|lateness| ("lateness", lateness));
        let felt = distributions.felt.as_ref().map(|felt| (self.felt.tag(), felt));
        for (tag, histogram) in felt.into_iter().chain(lateness) {
            log.add(tag, start_ns, length_ns, histogram);
        }
    }

    /// Ends the interval log; gives why it is not whole, if it is not.
    pub(crate) fn end_log(self) -> Option<std::io::Error> {
        self.log.and_then(IntervalLog::end)
    }
}
