//! What a part of a load brings home. Parts can be merged, whoever made them: one thread, or a whole generator; and so can
//! those of loads that follow each other. What cannot be merged, such as quantiles, is taken once, of the whole.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::{
    Accounting, ConnectionCounts, FailureCount, FailureKind, GeneratorUse, HalfCount, Latencies, Measurement, Members,
    NS_PER_S, RequestCount, Residence, Silence, Standstills, ThreadUse, TlsUse, WindowCount, WrongReply,
};
use serde::{Deserialize, Serialize};

use crate::awaited::Ages;
use crate::joint::Joint;
use crate::second::{Distributions, Felt, add_to};
use crate::serial::{is_within, one, one_or_none, pairs};
use crate::silence::{SILENCE_NS, Silent, in_turn, of_both};
use crate::standstill::StandstillTotals;
use crate::summary::{instead, jain, summarise};

/// Everything about one part: counts, sums and whole distributions. Times are on the engine's clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) felt: Felt,
    pub(crate) window_start_ns: u64,
    pub(crate) window_end_ns: u64,
    pub(crate) books: Accounting,
    #[serde(with = "pairs")]
    pub(crate) failures: BTreeMap<(FailureKind, i32), u64>,
    pub(crate) bad_statuses: BTreeMap<u16, u64>,
    /// The first reply that was not as expected, and when it came.
    pub(crate) first_wrong: Option<(u64, WrongReply)>,
    /// By place in the mix; empty for a single request.
    pub(crate) by_request: Vec<RequestCount>,
    /// But for the halves, which are the whole's.
    pub(crate) in_window: WindowCount,
    /// Replies by half windows, two for each of the loads that followed each other.
    pub(crate) halves: Vec<HalfCount>,
    pub(crate) residence: ResidenceNs,
    pub(crate) distributions: Distributions,
    /// Ages of requests that never got a reply.
    #[serde(with = "one")]
    pub(crate) censored_felt: Histogram<u64>,
    #[serde(with = "one")]
    pub(crate) censored_service: Histogram<u64>,
    #[serde(with = "one")]
    pub(crate) connect: Histogram<u64>,
    /// Over TLS only.
    #[serde(with = "one_or_none")]
    pub(crate) handshake: Option<Histogram<u64>>,
    pub(crate) standstills: StandstillTotals,
    /// When no reply came, by time; the last has no end.
    pub(crate) silences: Vec<Silent>,
    /// Requests that were still in flight at the end.
    pub(crate) awaited: Ages,
    pub(crate) counts: Counts,
    /// Completions inside the window, by connection slot.
    pub(crate) completed: Vec<u64>,
    pub(crate) threads: Vec<ThreadUse>,
    pub(crate) tls: Option<TlsUse>,
}

/// Both sides of Little's identity, in whole nanoseconds, so that sums do not depend on their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResidenceNs {
    pub(crate) in_flight: u128,
    pub(crate) requests: u128,
    pub(crate) completed: u128,
}

/// Connection events of one thread, over the whole load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) opened: u64,
    /// Those of them that were inside the window.
    pub(crate) opened_in_window: u64,
    /// Connections that were open when the load began, from one before it.
    pub(crate) kept: u64,
    pub(crate) connect_failed: u64,
    /// When the first of them was, and its error.
    pub(crate) connect_errno: Option<(u64, i32)>,
    /// Those of them that the peer refused, or with whom no handshake came to its end.
    pub(crate) refused: u64,
    pub(crate) closed_idle: u64,
    pub(crate) closed_by_reply: u64,
    pub(crate) unasked_replies: u64,
}

impl Counts {
    /// Adds those of other connections.
    pub(crate) fn add(&mut self, other: Counts) {
        self.opened += other.opened;
        self.opened_in_window += other.opened_in_window;
        self.kept += other.kept;
        self.connect_failed += other.connect_failed;
        self.connect_errno = self.connect_errno.into_iter().chain(other.connect_errno).min();
        self.refused += other.refused;
        self.closed_idle += other.closed_idle;
        self.closed_by_reply += other.closed_by_reply;
        self.unasked_replies += other.unasked_replies;
    }
}

impl Part {
    /// Adds another part of the same load; its threads and slots come behind those that are here.
    pub(crate) fn merge(&mut self, mut other: Part) {
        self.window_start_ns = self.window_start_ns.min(other.window_start_ns);
        self.window_end_ns = self.window_end_ns.max(other.window_end_ns);
        let wrong = [self.first_wrong.take(), other.first_wrong.take()];
        self.first_wrong = wrong.into_iter().flatten().min_by_key(|(at_ns, _)| *at_ns);
        add_each(&mut self.halves, &other.halves, add_half);
        self.standstills.merge(std::mem::take(&mut other.standstills), self.threads.len() as u32);
        self.silences = of_both(&self.silences, &other.silences);
        self.counts.add(other.counts);
        self.completed.append(&mut other.completed);
        self.threads.append(&mut other.threads);
        self.add(other);
    }

    /// Adds what the same thread brought of its next load, on the same slots. The times of all loads but the first are told
    /// as if each window began where the one before it ends.
    pub(crate) fn follow(&mut self, mut next: Part) {
        let joint = Joint { end_ns: self.window_end_ns, begin_ns: next.window_start_ns };
        self.window_end_ns = joint.after(next.window_end_ns);
        self.first_wrong = self.first_wrong.take().or(next.first_wrong.take());
        self.halves.append(&mut next.halves);
        self.standstills.follow(std::mem::take(&mut next.standstills), joint);
        self.silences = in_turn(std::mem::take(&mut self.silences), &next.silences, joint);
        // What a load kept that is not the first, those before it had opened or kept.
        self.counts.add(Counts { kept: 0, ..next.counts });
        add_each(&mut self.completed, &next.completed, |mine, more| *mine += more);
        add_each(&mut self.threads, &next.threads, add_thread);
        self.add(next);
    }

    /// Adds the connections that the same thread opened on these slots in a load before, of which nothing else counts: who ended
    /// some while others were warmed up has waited longer than it ever does between two slices.
    pub(crate) fn opened_in(&mut self, warm_up: Part) {
        let own = std::mem::replace(&mut self.counts, Counts { opened_in_window: 0, closed_idle: 0, ..warm_up.counts });
        self.counts.add(Counts { kept: 0, ..own });
        if let Some(mut tls) = warm_up.tls {
            tls.merge(&self.tls.take().unwrap_or_default());
            self.tls = Some(tls);
        }
    }

    /// Puts it on another clock, by which it is so much later.
    pub(crate) fn move_by(&mut self, by_ns: i64) {
        let place = |at_ns: u64| if at_ns == u64::MAX { at_ns } else { at_ns.saturating_add_signed(by_ns) };
        self.window_start_ns = place(self.window_start_ns);
        self.window_end_ns = place(self.window_end_ns);
        self.first_wrong.iter_mut().for_each(|(at_ns, _)| *at_ns = place(*at_ns));
        self.counts.connect_errno.iter_mut().for_each(|(at_ns, _)| *at_ns = place(*at_ns));
        self.standstills.move_by(place);
        self.silences.iter_mut().for_each(|silent| *silent = silent.at(place));
    }

    /// What keeps one that somebody else made from being added to others and summed up; none where nothing does.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let counts = &self.counts;
        let Accounting { scheduled, sent, completed, ok, bad_status, bad_body, in_flight_at_end, .. } = self.books;
        let by_kind =
            [self.books.not_sent.values().copied().collect::<Vec<_>>(), self.books.failed.values().copied().collect()];
        let all = [scheduled, sent, completed, ok, bad_status, bad_body, in_flight_at_end]
            .into_iter()
            .chain(by_kind.into_iter().flatten())
            .chain(self.books.sent_late.values().copied())
            .chain([self.in_window.completed, self.in_window.ok, self.in_window.ok_bytes])
            .chain(self.halves.iter().map(|half| half.completed))
            .chain(self.silences.iter().flat_map(|silent| [silent.failed(), silent.refused()]))
            .chain(self.failures.values().chain(self.bad_statuses.values()).copied())
            .chain(self.by_request.iter().flat_map(|request| [request.completed, request.wrong]))
            .chain([counts.opened, counts.opened_in_window, counts.kept, counts.connect_failed, counts.refused])
            .chain([counts.closed_idle, counts.closed_by_reply, counts.unasked_replies])
            .chain(self.completed.iter().copied());
        let mut histograms =
            [&self.censored_felt, &self.censored_service, &self.connect].into_iter().chain(&self.handshake);
        let ResidenceNs { in_flight, requests, completed } = self.residence;
        let too_much = "a count in it is larger than any load has";
        match () {
            () if self.window_start_ns > self.window_end_ns || self.window_end_ns > u64::MAX / 2 => {
                Some("its window ends before it begins")
            }
            () if self.threads.is_empty() => Some("it has no thread"),
            () if !all.into_iter().all(is_within)
                || [in_flight, requests, completed].iter().any(|ns| *ns > 1 << 96) =>
            {
                Some(too_much)
            }
            () if !histograms.all(|it| is_within(it.len())) || !self.distributions.are_within() => Some(too_much),
            () if !self.awaited.are_within() || !self.standstills.are_of(self.threads.len()) => Some(too_much),
            () if self.books.imbalance().is_some() => Some("its books do not balance"),
            () => None,
        }
    }

    /// Adds what adds up, whoever saw it and whenever.
    fn add(&mut self, other: Part) {
        self.books.merge(&other.books);
        add_counts(&mut self.failures, other.failures);
        add_counts(&mut self.bad_statuses, other.bad_statuses);
        add_each(&mut self.by_request, &other.by_request, add_request);
        self.in_window.completed += other.in_window.completed;
        self.in_window.ok += other.in_window.ok;
        self.in_window.ok_bytes += other.in_window.ok_bytes;
        self.residence.in_flight += other.residence.in_flight;
        self.residence.requests += other.residence.requests;
        self.residence.completed += other.residence.completed;
        self.distributions.add(&other.distributions);
        add_to(&mut self.censored_felt, &other.censored_felt);
        add_to(&mut self.censored_service, &other.censored_service);
        add_to(&mut self.connect, &other.connect);
        match (&mut self.handshake, other.handshake) {
            (Some(mine), Some(theirs)) => add_to(mine, &theirs),
            (mine, theirs) => *mine = mine.take().or(theirs),
        }
        self.awaited.merge(other.awaited);
        if let Some(tls) = &other.tls {
            self.tls.get_or_insert_default().merge(tls);
        }
    }

    /// The figures of the whole. What a second was like is told while the load runs.
    pub(crate) fn summarise(self) -> Measurement {
        debug_assert!(self.books.imbalance().is_none(), "{:?}", self.books);
        let seconds = |ns: u128| ns as f64 / NS_PER_S as f64;
        let count = |((kind, errno), count): (&(FailureKind, i32), &u64)| FailureCount {
            kind: *kind,
            side: kind.side(),
            errno: *errno,
            count: *count,
        };
        Measurement {
            window_s: seconds(self.window_end_ns.saturating_sub(self.window_start_ns).into()),
            latency_us: self.latencies(),
            standstills: self.stood_still(),
            silences: self.silences(),
            awaited: self.awaited.summarise(),
            connections: self.connections(),
            failures: self.failures.iter().map(count).collect(),
            residence: Residence {
                in_flight_s: seconds(self.residence.in_flight),
                requests_s: seconds(self.residence.requests),
                completed_s: seconds(self.residence.completed),
            },
            accounting: self.books,
            bad_statuses: self.bad_statuses,
            first_wrong: self.first_wrong.map(|(_, reply)| reply),
            by_request: self.by_request,
            in_window: WindowCount { halves: halves(&self.halves), ..self.in_window },
            generator: GeneratorUse { threads: self.threads, network_delay: None, backend: None },
            tls: self.tls,
            ..Measurement::default()
        }
    }

    fn latencies(&self) -> Latencies {
        let all = &self.distributions;
        let handshake = self.handshake.as_ref();
        Latencies {
            lateness: all.lateness.as_ref().and_then(|it| summarise(it, None, Members::DueAndSent)),
            first_byte: summarise(&all.first_byte, None, Members::Completed),
            connect: summarise(&self.connect, None, Members::Connections),
            handshake: handshake.and_then(|it| summarise(it, None, Members::Handshakes)),
            ..self.waiting([all.felt(), &self.censored_felt], [&all.service, &self.censored_service])
        }
    }

    /// The times until the reply, from distributions of what ended and ages of what did not.
    fn waiting(&self, felt: [&Histogram<u64>; 2], service: [&Histogram<u64>; 2]) -> Latencies {
        let summary = |[ended, ages]: [&Histogram<u64>; 2], population| summarise(ended, Some(ages), population);
        let lost = self.books.failed_without_time();
        let never_sent = self.books.not_sent_without_time();
        let felt = |which: Felt, population| {
            let summary = if self.felt == which { summary(felt, population) } else { None };
            summary.map(|it| it.beside(lost + never_sent))
        };
        Latencies {
            response: felt(Felt::Response, Members::Due),
            total: felt(Felt::Total, Members::Begun),
            service: summary(service, Members::Sent).map(|it| it.beside(lost)),
            ..Latencies::default()
        }
    }

    /// The generator's standstills; none where it never stood still while a request waited or came due.
    fn stood_still(&self) -> Option<Standstills> {
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        let totals = &self.standstills;
        (totals.count + totals.requests > 0).then(|| Standstills {
            count: totals.count,
            sum_s: seconds(totals.sum_ns),
            longest_s: seconds(totals.longest_ns),
            requests: totals.requests,
            never_sent: totals.never_sent,
            spans: totals.spans(self.window_start_ns),
            without_us: self.undisturbed(),
            wakes_off: true,
        })
    }

    /// What of the times without a reply lies in the window.
    fn silences(&self) -> Vec<Silence> {
        let seconds = |ns: u64| ns as f64 / NS_PER_S as f64;
        let (start_ns, end_ns) = (self.window_start_ns, self.window_end_ns);
        let silence = |silent: &Silent| {
            let (from_ns, until_ns) = (silent.owed_from().max(start_ns), silent.until_ns.min(end_ns));
            let length_ns = until_ns.saturating_sub(from_ns);
            let of = || Silence {
                at_s: seconds(from_ns - start_ns),
                length_s: seconds(length_ns),
                failed: Some(silent.failed()),
                refused: Some(silent.refused()),
                answered_in_drain: (end_ns..u64::MAX).contains(&silent.until_ns),
            };
            (length_ns >= SILENCE_NS).then(of)
        };
        self.silences.iter().filter_map(silence).collect()
    }

    /// The times until the reply, each less what of it lies in a standstill or its wake.
    fn undisturbed(&self) -> Latencies {
        let Some(held) = &self.standstills.held else {
            let all = &self.distributions;
            return self.waiting([all.felt(), &self.censored_felt], [&all.service, &self.censored_service]);
        };
        let (whole, less) = (&held.whole, &held.less);
        let felt = instead(self.distributions.felt(), &whole.felt, &less.felt);
        let service = instead(&self.distributions.service, &whole.service, &less.service);
        let censored_felt = instead(&self.censored_felt, &whole.censored_felt, &less.censored_felt);
        let censored_service = instead(&self.censored_service, &whole.censored_service, &less.censored_service);
        self.waiting([&felt, &censored_felt], [&service, &censored_service])
    }

    fn connections(&self) -> ConnectionCounts {
        let mut completed = self.completed.clone();
        completed.sort_unstable();
        ConnectionCounts {
            opened: self.counts.opened,
            opened_in_window: Some(self.counts.opened_in_window),
            kept: self.counts.kept,
            connect_failed: self.counts.connect_failed,
            connect_errno: self.counts.connect_errno.map(|(_, errno)| errno),
            closed_idle: self.counts.closed_idle,
            closed_by_reply: self.counts.closed_by_reply,
            unasked_replies: self.counts.unasked_replies,
            never_served: completed.iter().filter(|count| **count == 0).count() as u64,
            completed_min: completed.first().copied().unwrap_or(0),
            completed_median: completed.get(completed.len() / 2).copied().unwrap_or(0),
            completed_max: completed.last().copied().unwrap_or(0),
            jain: jain(&completed),
        }
    }
}

fn add_counts<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(key).or_default() += count;
    }
}

/// Adds to each what stands in the same place; what has no counterpart comes behind.
fn add_each<T: Copy>(into: &mut Vec<T>, from: &[T], add: fn(&mut T, T)) {
    into.iter_mut().zip(from).for_each(|(into, from)| add(into, *from));
    into.extend(from.iter().skip(into.len()));
}

fn add_request(into: &mut RequestCount, from: RequestCount) {
    into.completed += from.completed;
    into.wrong += from.wrong;
}

fn add_half(into: &mut HalfCount, from: HalfCount) {
    into.completed += from.completed;
    // Sums of times, which somebody else may have made.
    into.service_ns = into.service_ns.saturating_add(from.service_ns);
    into.response_ns = into.response_ns.saturating_add(from.response_ns);
}

fn add_thread(into: &mut ThreadUse, from: ThreadUse) {
    into.cpu_s += from.cpu_s;
    into.wall_s += from.wall_s;
    into.run_delay_s = into.run_delay_s.zip(from.run_delay_s).map(|(mine, more)| mine + more);
    into.longest_stall_us = into.longest_stall_us.max(from.longest_stall_us);
}

/// The halves of the whole window.
fn halves(all: &[HalfCount]) -> [HalfCount; 2] {
    let mut halves = [HalfCount::default(); 2];
    for (at, half) in all.iter().enumerate() {
        add_half(&mut halves[usize::from(2 * at >= all.len())], *half);
    }
    halves
}

#[cfg(test)]
#[path = "part/tests.rs"]
mod tests;
