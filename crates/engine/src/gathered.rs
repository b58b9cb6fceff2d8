//! The distributions of all threads put together, with and without what the generator's standstills held up.

use hdrhistogram::Histogram;
use model::{Latencies, NS_PER_S, Standstills};

use crate::collector::Collector;
use crate::ledger::Ledger;
use crate::second::{Distributions, Felt, add_to, histogram};
use crate::standstill::Held;
use crate::summary::{summarise, without};
use crate::worker::WorkerResult;

const RESPONSE: &str = "requests due in the window; those timed out, never sent or unfinished count with their age";
const TOTAL: &str = "requests begun in the window; those timed out, never sent or unfinished count with their age";
const SERVICE: &str = "requests sent for the window; those timed out or unfinished count with their age";

/// What the threads of a load bring home of latencies.
pub(crate) struct Gathered<'a> {
    felt: Felt,
    whole: &'a Distributions,
    censored_felt: Histogram<u64>,
    censored_service: Histogram<u64>,
    results: &'a [WorkerResult],
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(results: &'a [WorkerResult], collector: &'a Collector<'_>) -> Self {
        Self {
            felt: collector.felt,
            whole: &collector.whole,
            censored_felt: sum(results, |ledger| Some(&ledger.censored_felt)),
            censored_service: sum(results, |ledger| Some(&ledger.censored_service)),
            results,
        }
    }

    pub(crate) fn latencies(&self) -> Latencies {
        let whole = self.whole;
        let lateness = whole.lateness.as_ref();
        let connect = sum(self.results, |ledger| Some(&ledger.connect));
        let handshake = sum(self.results, |ledger| ledger.handshake.as_ref());
        Latencies {
            lateness: lateness.and_then(|it| summarise(it, None, "requests due in the window that were sent")),
            first_byte: summarise(&whole.first_byte, None, "requests of the window with a complete reply"),
            connect: summarise(&connect, None, "connections opened, before the window too"),
            handshake: summarise(&handshake, None, "TLS handshakes, before the window too"),
            ..self.waiting([whole.felt(), &self.censored_felt], [&whole.service, &self.censored_service])
        }
    }

    /// The times until the reply, from distributions of what ended and ages of what did not.
    fn waiting(&self, felt: [&Histogram<u64>; 2], service: [&Histogram<u64>; 2]) -> Latencies {
        let summary = |[ended, ages]: [&Histogram<u64>; 2], population| summarise(ended, Some(ages), population);
        let felt = |which: Felt, population| (self.felt == which).then(|| summary(felt, population)).flatten();
        Latencies {
            response: felt(Felt::Response, RESPONSE),
            total: felt(Felt::Total, TOTAL),
            service: summary(service, SERVICE),
            ..Latencies::default()
        }
    }

    /// The generator's standstills; none where it never stood still while a request waited or came due.
    pub(crate) fn standstills(&self, window_start_ns: u64) -> Option<Standstills> {
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        let all = || self.results.iter().map(|result| &result.ledger.standstills);
        let total = |pick: fn(&crate::standstill::Standstills) -> u64| all().map(pick).sum::<u64>();
        let (count, requests) = (total(|it| it.count), total(|it| it.requests));
        let spans = all().enumerate().flat_map(|(thread, it)| it.spans(thread, window_start_ns));
        (count + requests > 0).then(|| Standstills {
            count,
            sum_s: seconds(all().map(|it| it.sum_ns).max().unwrap_or(0)),
            longest_s: seconds(all().map(|it| it.longest_ns).max().unwrap_or(0)),
            requests,
            never_sent: total(|it| it.never_sent),
            spans: spans.collect(),
            without_us: self.undisturbed(),
        })
    }

    /// The times until the reply without the requests that came due or waited in a standstill.
    fn undisturbed(&self) -> Latencies {
        let held = |pick: fn(&Held) -> &Histogram<u64>| {
            sum(self.results, |ledger: &Ledger| ledger.standstills.held().map(pick))
        };
        let felt = without(self.whole.felt(), &held(|held| &held.felt));
        let service = without(&self.whole.service, &held(|held| &held.service));
        let censored_felt = without(&self.censored_felt, &held(|held| &held.censored_felt));
        let censored_service = without(&self.censored_service, &held(|held| &held.censored_service));
        self.waiting([&felt, &censored_felt], [&service, &censored_service])
    }
}

fn sum<'a>(results: &'a [WorkerResult], pick: impl Fn(&'a Ledger) -> Option<&'a Histogram<u64>>) -> Histogram<u64> {
    let mut all = histogram();
    results.iter().filter_map(|result| pick(&result.ledger)).for_each(|one| add_to(&mut all, one));
    all
}
