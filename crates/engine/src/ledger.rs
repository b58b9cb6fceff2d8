//! The books and histograms of one thread. Recording touches memory only; once a second a full set of histograms
//! is handed to the collector and an empty one taken.

mod closed;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use model::{
    Accounting, Failure, FailureKind, LateCause, LoadSpec, NS_PER_S, NotSent, RequestCount, WindowCount, WrongReply,
};

use crate::demand::{Demand, Window};
use crate::in_flight::Moments;
use crate::outcome::Loss;
use crate::port::{Port, Told};
use crate::protocol::Reply;
use crate::second::{Alike, Felt, Second, TICK_NS, Times, histogram, record, record_n, ticks};
use crate::silence::Silences;
use crate::standstill::{Standstills, Waited};

/// A request of the open model that leaves later than this after its time counts as sent late: above what a timer
/// and a wake-up cost on a loaded machine, below what a user could feel.
const LATE_NS: u64 = 1_000_000;

/// One thread's books.
#[derive(Clone)]
pub(crate) struct Ledger {
    felt: Felt,
    window: Window,
    second: Box<Second>,
    second_end_ns: u64,
    /// When there is something to do beside the books: a second has passed, or no reply has come for long.
    look_ns: u64,
    /// Replies of this second that are not in its distributions yet.
    alike: Alike,
    /// None once the books are closed: the collector waits until every port is gone.
    port: Option<Port>,
    pub(crate) books: Accounting,
    pub(crate) failures: BTreeMap<(FailureKind, i32), u64>,
    pub(crate) bad_statuses: BTreeMap<u16, u64>,
    /// The first reply that was not as expected.
    pub(crate) first_wrong: Option<(u64, WrongReply)>,
    /// By place in the mix; empty for a single request, whose counts are those of the books.
    pub(crate) by_request: Vec<RequestCount>,
    pub(crate) in_window: WindowCount,
    pub(crate) connect: Histogram<u64>,
    /// Over TLS: from when the kernel was connected.
    pub(crate) handshake: Option<Histogram<u64>>,
    /// Ages of requests that never got a reply.
    pub(crate) censored_felt: Histogram<u64>,
    pub(crate) censored_service: Histogram<u64>,
    pub(crate) standstills: Standstills,
    pub(crate) silences: Silences,
    in_flight: u64,
    in_flight_since_ns: u64,
    in_flight_ns: u128,
    requests_ns: u128,
    completed_ns: u128,
    not_sent: [u64; NotSent::ALL.len()],
    failed: [u64; Failure::ALL.len()],
    late: [u64; LateCause::ALL.len()],
}

impl Ledger {
    pub(crate) fn new(felt: Felt, tls: bool, window: Window, now_ns: u64, port: Port) -> Self {
        let mut ledger = Self {
            felt,
            window,
            second: Box::new(Second::new(port.thread, felt)),
            second_end_ns: 0,
            look_ns: 0,
            alike: Alike::default(),
            port: Some(port),
            books: Accounting::default(),
            failures: BTreeMap::new(),
            bad_statuses: BTreeMap::new(),
            first_wrong: None,
            by_request: Vec::new(),
            in_window: WindowCount::default(),
            connect: histogram(),
            handshake: tls.then(histogram),
            censored_felt: histogram(),
            censored_service: histogram(),
            standstills: Standstills::default(),
            silences: Silences::default(),
            in_flight: 0,
            in_flight_since_ns: now_ns,
            in_flight_ns: 0,
            requests_ns: 0,
            completed_ns: 0,
            not_sent: [0; NotSent::ALL.len()],
            failed: [0; Failure::ALL.len()],
            late: [0; LateCause::ALL.len()],
        };
        ledger.begin_second(now_ns);
        ledger
    }

    /// Books for the time in which connections are opened; only their connect times are kept.
    pub(crate) fn of_opening(spec: &LoadSpec, demand: &Demand, now_ns: u64) -> Self {
        Self::new(Felt::of(spec), spec.tls.is_some(), demand.window, now_ns, Port::to_nobody())
    }

    /// Makes books for a load of those of the time in which its connections were opened: how long that took is kept, and
    /// all else in them is empty. A new set would be another megabyte.
    pub(crate) fn begin(&mut self, window: Window, now_ns: u64, port: Port) {
        (self.window, self.in_flight_since_ns) = (window, now_ns);
        (self.standstills, self.silences) = Default::default();
        self.second.thread = port.thread;
        self.port = Some(port);
        self.begin_second(now_ns);
    }

    /// Hands over the seconds that have passed.
    #[inline(always)]
    pub(crate) fn tick(&mut self, now_ns: u64) {
        if now_ns >= self.look_ns {
            self.look(now_ns);
        }
    }

    #[cold]
    fn look(&mut self, now_ns: u64) {
        if now_ns >= self.second_end_ns {
            self.second.end_ns = self.second_end_ns;
            self.hand_over();
            self.begin_second(now_ns);
        }
        self.plan_look();
    }

    /// A reply came, maybe after a silence.
    #[cold]
    fn look_at_reply(&mut self, now_ns: u64) {
        self.silences.end(now_ns);
        self.look(now_ns);
    }

    fn plan_look(&mut self) {
        self.look_ns = self.second_end_ns.min(self.silences.begin_ns());
    }

    fn hand_over(&mut self) {
        self.record_alike();
        let Some(port) = &self.port else { return };
        let empty = port.emptied().unwrap_or_else(|| Box::new(Second::new(port.thread, self.felt)));
        let full = std::mem::replace(&mut self.second, empty);
        // While connections are opened nobody collects; under load the collector outlives every thread.
        let _ = port.told.send(Told::Second(full));
    }

    fn begin_second(&mut self, now_ns: u64) {
        let since_start = now_ns as i64 - self.window.start_ns as i64;
        let index = since_start.div_euclid(NS_PER_S as i64);
        self.second.begin(index, now_ns, self.window.start_ns, now_ns >= self.window.end_ns);
        let natural = (self.window.start_ns as i64 + (index + 1) * NS_PER_S as i64) as u64;
        self.second_end_ns = if now_ns < self.window.end_ns { natural.min(self.window.end_ns) } else { u64::MAX };
        self.plan_look();
    }

    /// The window ends at another time than planned.
    pub(crate) fn move_end(&mut self, window: Window) {
        self.window = window;
        if !self.second.drain {
            self.second_end_ns = self.second_end_ns.min(window.end_ns);
            self.plan_look();
        }
    }

    /// Whether a request that was due at `intended_ns` belongs to the books.
    fn counts(&self, intended_ns: u64) -> bool {
        self.window.contains(intended_ns)
    }

    /// The thread stood still between two looks at the clock.
    pub(crate) fn stood_still(&mut self, from_ns: u64, until_ns: u64) {
        let load = (self.felt == Felt::Response, self.window);
        self.standstills.note((from_ns, until_ns), self.in_flight, load);
    }

    /// `count` requests came due.
    pub(crate) fn scheduled(&mut self, intended_ns: u64, count: u64) {
        if self.in_flight == 0 {
            self.silences.owe(intended_ns);
        }
        if self.counts(intended_ns) {
            self.books.scheduled += count;
        }
    }

    /// The kernel took a request's first byte. `blocked` says that no connection was free when it was due.
    // The loop calls it in one place; that there is a loop for each wire must not make it a call.
    #[inline(always)]
    pub(crate) fn sent(&mut self, intended_ns: u64, now_ns: u64, blocked: bool) {
        self.tick(now_ns);
        self.change_in_flight(now_ns, 1);
        self.second.sent += 1;
        let counts = self.counts(intended_ns);
        self.books.sent += u64::from(counts);
        if let Some(lateness) = &mut self.second.distributions.lateness
            && (counts || now_ns < self.window.start_ns)
        {
            let late_ns = now_ns.saturating_sub(intended_ns);
            record(lateness, late_ns);
            if counts && late_ns > LATE_NS {
                self.late[self.standstills.late_cause(intended_ns, now_ns, blocked) as usize] += 1;
            }
        }
    }

    /// A request got its complete reply.
    #[inline(always)]
    pub(crate) fn completed(&mut self, moments: Moments, reply: &Reply, now_ns: u64) {
        if now_ns >= self.look_ns {
            self.look_at_reply(now_ns);
        }
        self.silences.last_reply_ns = now_ns;
        let inside = self.leave(moments.sent_ns, now_ns);
        let ok = reply.status_ok && reply.body_ok;
        self.second.completed += 1;
        self.second.ok += u64::from(ok);
        if self.window.contains(now_ns) {
            self.completed_ns += u128::from(inside + self.connecting_ns(moments));
            self.in_window.completed += 1;
            let half = &mut self.in_window.halves[usize::from(now_ns >= self.window.middle_ns())];
            self.felt.count(half, moments, now_ns);
            self.in_window.ok += u64::from(ok);
            self.in_window.ok_bytes += if ok { reply.bytes } else { 0 };
        }
        let counts = self.counts(moments.intended_ns);
        if counts {
            if moments.intended_ns < self.standstills.touched_until_ns {
                self.replied_after_standstill(moments, now_ns);
            }
            self.books.completed += 1;
            if let Some(raw) = self.port.as_mut().and_then(|port| port.raw.as_mut()) {
                raw.push(self.felt.age_ns(moments, now_ns));
            }
            if let Some(count) = self.by_request.get_mut(moments.place as usize) {
                count.completed += 1;
                count.wrong += u64::from(!ok);
            }
            match (reply.status_ok, reply.body_ok) {
                (true, true) => self.books.ok += 1,
                (true, false) => self.books.bad_body += 1,
                (false, _) => {
                    self.books.bad_status += 1;
                    *self.bad_statuses.entry(reply.status).or_default() += 1;
                }
            }
        }
        if counts || now_ns < self.window.start_ns {
            self.record_reply(moments, now_ns);
        } else {
            self.second.carried_over(now_ns.saturating_sub(moments.intended_ns));
        }
    }

    /// The part of a request's life inside the window that went into the connection it opened for itself.
    fn connecting_ns(&self, moments: Moments) -> u64 {
        if self.felt != Felt::Total {
            return 0;
        }
        self.window.clamp(moments.sent_ns).saturating_sub(self.window.clamp(moments.intended_ns))
    }

    fn record_reply(&mut self, moments: Moments, now_ns: u64) {
        let times = Times {
            service_ns: now_ns - moments.sent_ns,
            first_byte_ns: moments.first_byte_ns.saturating_sub(moments.sent_ns),
            felt_ns: now_ns - moments.intended_ns.min(now_ns),
        };
        if self.alike.times != times {
            self.record_alike();
            self.alike.times = times;
        }
        self.alike.count += 1;
    }

    #[cold]
    fn replied_after_standstill(&mut self, moments: Moments, now_ns: u64) {
        self.standstills.replied(Waited { moments, now_ns });
        self.see_end_of_wake(moments, now_ns);
    }

    /// What a standstill held up may be worked off now. Under the closed model no more are ever in flight than before.
    fn see_end_of_wake(&mut self, moments: Moments, now_ns: u64) {
        let is_open = self.felt == Felt::Response;
        let was_late = is_open && moments.sent_ns.saturating_sub(moments.intended_ns) > LATE_NS;
        if !was_late {
            self.standstills.ended(moments.intended_ns, if is_open { self.in_flight } else { 0 }, now_ns);
        }
    }

    /// How long a request waited that was sent, if it came due or waited in a standstill or its wake.
    fn stood_with(&self, moments: Moments, now_ns: u64) -> Option<Waited> {
        let is_touched = moments.intended_ns < self.standstills.touched_until_ns;
        is_touched.then_some(Waited { moments, now_ns })
    }

    fn record_alike(&mut self) {
        self.second.distributions.record(std::mem::take(&mut self.alike));
    }

    /// A request that was sent failed.
    pub(crate) fn failed(&mut self, moments: Moments, loss: Loss, now_ns: u64) {
        self.tick(now_ns);
        self.leave(moments.sent_ns, now_ns);
        self.second.failed += 1;
        let (counts, timed_out) = (self.counts(moments.intended_ns), loss == Loss::TimedOut);
        if timed_out && (counts || now_ns < self.window.start_ns) {
            self.second.censor(self.felt.age_ns(moments, now_ns), 1);
        }
        self.silences.fail(u64::from(counts), !timed_out, moments.intended_ns, now_ns);
        if !counts {
            return;
        }
        let kind = loss.failure(moments.first_byte_ns > 0);
        self.failed[kind as usize] += 1;
        *self.failures.entry((FailureKind::Failed(kind), loss.errno())).or_default() += 1;
        if timed_out {
            self.censor(moments, now_ns);
        } else if self.stood_with(moments, now_ns).is_some() {
            self.standstills.requests += 1;
        }
        if moments.intended_ns < self.standstills.touched_until_ns {
            self.see_end_of_wake(moments, now_ns);
        }
    }

    /// `count` requests that were due, and are one to the books, were never sent.
    pub(crate) fn not_sent(&mut self, intended_ns: u64, count: u64, kind: NotSent, errno: i32, now_ns: u64) {
        if !self.counts(intended_ns) {
            return;
        }
        let age_ns = (self.felt.is_separate() && kind.has_age()).then(|| now_ns.saturating_sub(intended_ns));
        // An attempt of the closed model was never late: it had begun to wait for its connection.
        let left_ns = if self.felt == Felt::Response { now_ns } else { intended_ns };
        let held_back = self.standstills.held_back(intended_ns, left_ns);
        let kind = if held_back && kind == NotSent::WaitingAtEnd { NotSent::LateAtEnd } else { kind };
        self.second.failed += if kind.is_at_end() { 0 } else { count };
        self.silences.not_sent(count, kind, intended_ns, now_ns);
        self.not_sent[kind as usize] += count;
        *self.failures.entry((FailureKind::NotSent(kind), errno)).or_default() += count;
        if held_back {
            self.standstills.unsent(count, kind, age_ns);
        }
        if let Some(age_ns) = age_ns {
            record_n(&mut self.censored_felt, age_ns, count);
            self.second.censor(age_ns, count);
        }
    }

    /// Open model: requests that were due from `intended_ns` on and before this moment, and have not left until now, are
    /// one to the books.
    pub(crate) fn alike_until(&self, intended_ns: u64, now_ns: u64) -> u64 {
        let least_ticks = self.censored_felt.lowest_equivalent(ticks(now_ns.saturating_sub(intended_ns)));
        // All times up to a whole tick are that tick.
        let least_ns = (least_ticks - 1) * TICK_NS;
        let same_age_ns = if least_ns == 0 { u64::MAX } else { now_ns - least_ns };
        let edges = [self.window.start_ns, self.window.end_ns, same_age_ns].into_iter();
        let edges = edges.chain(self.standstills.edges_of_held_back(now_ns));
        edges.filter(|edge_ns| *edge_ns > intended_ns).min().unwrap_or(u64::MAX)
    }

    /// A request's reply was still awaited when the drain ended.
    pub(crate) fn unfinished(&mut self, moments: Moments, now_ns: u64) {
        self.leave(moments.sent_ns, now_ns);
        self.silences.owed_in_vain(moments.intended_ns);
        if self.counts(moments.intended_ns) {
            self.books.in_flight_at_end += 1;
            self.second.censor(self.felt.age_ns(moments, now_ns), 1);
            self.censor(moments, now_ns);
        }
    }

    fn censor(&mut self, moments: Moments, now_ns: u64) {
        let service_ns = now_ns.saturating_sub(moments.sent_ns);
        let felt_ns = self.felt.is_separate().then(|| now_ns.saturating_sub(moments.intended_ns));
        if let Some(waited) = self.stood_with(moments, now_ns) {
            self.standstills.unanswered(waited, felt_ns.is_some());
        }
        record(&mut self.censored_service, service_ns);
        if let Some(felt_ns) = felt_ns {
            record(&mut self.censored_felt, felt_ns);
        }
    }

    /// Counts a request out of flight; gives the part of its life that lay inside the window.
    fn leave(&mut self, sent_ns: u64, now_ns: u64) -> u64 {
        self.change_in_flight(now_ns, -1);
        let inside = self.window.clamp(now_ns).saturating_sub(self.window.clamp(sent_ns));
        self.requests_ns += u128::from(inside);
        inside
    }

    fn change_in_flight(&mut self, now_ns: u64, by: i64) {
        let now_ns = self.window.clamp(now_ns);
        self.in_flight_ns += u128::from(self.in_flight) * u128::from(now_ns.saturating_sub(self.in_flight_since_ns));
        self.in_flight_since_ns = now_ns;
        self.in_flight = self.in_flight.wrapping_add_signed(by);
    }

    /// Tells of what does not go with a second.
    #[cold]
    pub(crate) fn tell(&self, told: impl FnOnce(usize) -> Told) {
        if let Some(port) = &self.port {
            let _ = port.told.send(told(port.thread));
        }
    }
}
