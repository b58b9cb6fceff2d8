//! The books and histograms of one thread. Recording touches memory only; once a second a full set of histograms
//! is handed to the collector and an empty one taken.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};

use hdrhistogram::Histogram;
use model::{
    Accounting, Failure, FailureKind, LateCause, NS_PER_S, NotSent, RequestCount, Residence, WindowCount, WrongReply,
};

use crate::demand::Window;
use crate::outcome::Loss;
use crate::reply::Reply;

/// Histogram resolution in nanoseconds.
pub(crate) const TICK_NS: u64 = 100;

/// Largest value that a histogram holds: one hour, in ticks.
pub(crate) const MAX_TICKS: u64 = 3600 * NS_PER_S / TICK_NS;

/// A request of the open model that leaves later than this after its time counts as sent late: above what a timer
/// and a wake-up cost on a loaded machine, below what a user could feel.
const LATE_NS: u64 = 1_000_000;

/// An empty histogram: 100 ns to 1 h at three significant digits.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, MAX_TICKS, 3).expect("constant bounds are valid")
}

pub(crate) fn record(histogram: &mut Histogram<u64>, ns: u64) {
    histogram.saturating_record(ticks(ns));
}

fn ticks(ns: u64) -> u64 {
    ns.div_ceil(TICK_NS).clamp(1, MAX_TICKS)
}

/// The distributions that are filled in the hot path. In the closed model nothing is intended, so response time
/// and lateness are absent.
pub(crate) struct Distributions {
    pub(crate) service: Histogram<u64>,
    pub(crate) first_byte: Histogram<u64>,
    pub(crate) open: Option<OpenDistributions>,
}

pub(crate) struct OpenDistributions {
    pub(crate) response: Histogram<u64>,
    pub(crate) lateness: Histogram<u64>,
}

impl Distributions {
    pub(crate) fn new(open: bool) -> Self {
        let open = open.then(|| OpenDistributions { response: histogram(), lateness: histogram() });
        Self { service: histogram(), first_byte: histogram(), open }
    }

    pub(crate) fn clear(&mut self) {
        self.service.reset();
        self.first_byte.reset();
        if let Some(open) = &mut self.open {
            open.response.reset();
            open.lateness.reset();
        }
    }

    /// What a user feels.
    pub(crate) fn felt(&self) -> &Histogram<u64> {
        self.open.as_ref().map_or(&self.service, |open| &open.response)
    }
}

/// What one thread saw in one second.
pub(crate) struct Second {
    /// Which thread's.
    pub(crate) thread: usize,
    /// Seconds since the window's start, negative during warm-up.
    pub(crate) index: i64,
    /// When it began, which for the first one is in its middle.
    pub(crate) start_ns: u64,
    /// When it ended, before its time if the load did.
    pub(crate) end_ns: u64,
    /// Whether it is the time after the window, when only replies still in flight come.
    pub(crate) drain: bool,
    pub(crate) completed: u64,
    pub(crate) ok: u64,
    pub(crate) sent: u64,
    pub(crate) failed: u64,
    pub(crate) distributions: Distributions,
}

impl Second {
    pub(crate) fn new(thread: usize, open: bool) -> Self {
        let distributions = Distributions::new(open);
        Self {
            thread,
            index: 0,
            start_ns: 0,
            end_ns: 0,
            drain: false,
            completed: 0,
            ok: 0,
            sent: 0,
            failed: 0,
            distributions,
        }
    }

    /// Takes an emptied one for second `index`; the collector has cleared its distributions.
    pub(crate) fn begin(&mut self, index: i64, start_ns: u64, drain: bool) {
        (self.index, self.start_ns, self.drain) = (index, start_ns, drain);
        (self.completed, self.ok, self.sent, self.failed) = (0, 0, 0, 0);
    }
}

/// Where full seconds go and empty ones come from.
pub(crate) struct SecondPort {
    /// Whose it is.
    pub(crate) thread: usize,
    pub(crate) full: Sender<Box<Second>>,
    pub(crate) empty: Receiver<Box<Second>>,
}

/// Which request it was, and its moments in nanoseconds on the clock. Aligned so that it lies in one cache line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(32))]
pub(crate) struct Moments {
    /// Open model: when it was due. Closed: when it was sent.
    pub(crate) intended_ns: u64,
    pub(crate) sent_ns: u64,
    /// 0 until the first byte of its reply has come.
    pub(crate) first_byte_ns: u64,
    /// Which request of the mix it was.
    pub(crate) place: u32,
}

/// How long one request took, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Times {
    service_ns: u64,
    first_byte_ns: u64,
    /// That of the open model; in the closed one nothing is recorded of it.
    response_ns: u64,
}

/// Replies that took the same times: those of a pipeline that came with one receive are recorded together.
#[derive(Debug, Clone, Copy, Default)]
struct Alike {
    times: Times,
    count: u64,
}

/// One thread's books.
pub(crate) struct Ledger {
    open: bool,
    window: Window,
    second: Box<Second>,
    second_end_ns: u64,
    /// Replies of this second that are not in its distributions yet.
    alike: Alike,
    /// None once the books are closed: the collector waits until every port is gone.
    port: Option<SecondPort>,
    pub(crate) books: Accounting,
    pub(crate) failures: BTreeMap<(FailureKind, i32), u64>,
    pub(crate) bad_statuses: BTreeMap<u16, u64>,
    /// The first reply that was not as expected.
    pub(crate) first_wrong: Option<(u64, WrongReply)>,
    /// By place in the mix; empty for a single request, whose counts are those of the books.
    pub(crate) by_request: Vec<RequestCount>,
    pub(crate) in_window: WindowCount,
    pub(crate) connect: Histogram<u64>,
    /// Ages of requests that never got a reply.
    pub(crate) censored_response: Histogram<u64>,
    pub(crate) censored_service: Histogram<u64>,
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
    pub(crate) fn new(open: bool, window: Window, now_ns: u64, port: SecondPort) -> Self {
        let mut ledger = Self {
            open,
            window,
            second: Box::new(Second::new(port.thread, open)),
            second_end_ns: 0,
            alike: Alike::default(),
            port: Some(port),
            books: Accounting::default(),
            failures: BTreeMap::new(),
            bad_statuses: BTreeMap::new(),
            first_wrong: None,
            by_request: Vec::new(),
            in_window: WindowCount::default(),
            connect: histogram(),
            censored_response: histogram(),
            censored_service: histogram(),
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

    /// Hands over the seconds that have passed.
    pub(crate) fn tick(&mut self, now_ns: u64) {
        if now_ns >= self.second_end_ns {
            self.second.end_ns = self.second_end_ns;
            self.hand_over();
            self.begin_second(now_ns);
        }
    }

    fn hand_over(&mut self) {
        self.record_alike();
        let Some(port) = &self.port else { return };
        let empty = port.empty.try_recv().unwrap_or_else(|_| Box::new(Second::new(port.thread, self.open)));
        let full = std::mem::replace(&mut self.second, empty);
        // While connections are opened nobody collects; under load the collector outlives every thread.
        let _ = port.full.send(full);
    }

    fn begin_second(&mut self, now_ns: u64) {
        let since_start = now_ns as i64 - self.window.start_ns as i64;
        let index = since_start.div_euclid(NS_PER_S as i64);
        self.second.begin(index, now_ns, now_ns >= self.window.end_ns);
        let natural = (self.window.start_ns as i64 + (index + 1) * NS_PER_S as i64) as u64;
        self.second_end_ns = if now_ns < self.window.end_ns { natural.min(self.window.end_ns) } else { u64::MAX };
    }

    /// The window ends at another time than planned.
    pub(crate) fn move_end(&mut self, window: Window) {
        self.window = window;
        if !self.second.drain {
            self.second_end_ns = self.second_end_ns.min(window.end_ns);
        }
    }

    /// Whether a request that was due at `intended_ns` belongs to the books.
    fn counts(&self, intended_ns: u64) -> bool {
        self.window.contains(intended_ns)
    }

    /// `count` requests came due.
    pub(crate) fn scheduled(&mut self, intended_ns: u64, count: u64) {
        if self.counts(intended_ns) {
            self.books.scheduled += count;
        }
    }

    /// The kernel took a request's first byte. `blocked` says that no connection was free when it was due.
    pub(crate) fn sent(&mut self, intended_ns: u64, now_ns: u64, blocked: bool) {
        self.tick(now_ns);
        self.change_in_flight(now_ns, 1);
        self.second.sent += 1;
        let counts = self.counts(intended_ns);
        self.books.sent += u64::from(counts);
        if self.open && (counts || now_ns < self.window.start_ns) {
            let late_ns = now_ns.saturating_sub(intended_ns);
            if let Some(open) = &mut self.second.distributions.open {
                record(&mut open.lateness, late_ns);
            }
            if counts && late_ns > LATE_NS {
                let cause = if blocked { LateCause::NoConnection } else { LateCause::Generator };
                self.late[cause as usize] += 1;
            }
        }
    }

    /// A request got its complete reply.
    pub(crate) fn completed(&mut self, moments: Moments, reply: &Reply, now_ns: u64) {
        self.tick(now_ns);
        let inside = self.leave(moments.sent_ns, now_ns);
        let ok = reply.status_ok && reply.body_ok;
        self.second.completed += 1;
        self.second.ok += u64::from(ok);
        if self.window.contains(now_ns) {
            self.completed_ns += u128::from(inside);
            self.in_window.completed += 1;
            let half = &mut self.in_window.halves[usize::from(now_ns >= self.window.middle_ns())];
            half.completed += 1;
            half.service_ns += now_ns.saturating_sub(moments.sent_ns);
            if ok {
                self.in_window.ok += 1;
                self.in_window.ok_bytes += reply.bytes;
            }
        }
        let counts = self.counts(moments.intended_ns);
        if counts {
            self.books.completed += 1;
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
        }
    }

    fn record_reply(&mut self, moments: Moments, now_ns: u64) {
        let times = Times {
            service_ns: now_ns - moments.sent_ns,
            first_byte_ns: moments.first_byte_ns.saturating_sub(moments.sent_ns),
            response_ns: now_ns - moments.intended_ns.min(now_ns),
        };
        if self.alike.times != times {
            self.record_alike();
            self.alike.times = times;
        }
        self.alike.count += 1;
    }

    fn record_alike(&mut self) {
        let Alike { times, count } = std::mem::take(&mut self.alike);
        if count == 0 {
            return;
        }
        let distributions = &mut self.second.distributions;
        distributions.service.saturating_record_n(ticks(times.service_ns), count);
        distributions.first_byte.saturating_record_n(ticks(times.first_byte_ns), count);
        if let Some(open) = &mut distributions.open {
            open.response.saturating_record_n(ticks(times.response_ns), count);
        }
    }

    /// A request that was sent failed.
    pub(crate) fn failed(&mut self, moments: Moments, loss: Loss, reply_begun: bool, now_ns: u64) {
        self.tick(now_ns);
        self.leave(moments.sent_ns, now_ns);
        self.second.failed += 1;
        if !self.counts(moments.intended_ns) {
            return;
        }
        let kind = loss.failure(reply_begun);
        self.failed[kind as usize] += 1;
        *self.failures.entry((FailureKind::Failed(kind), loss.errno())).or_default() += 1;
        if loss == Loss::TimedOut {
            self.censor(moments, now_ns);
        }
    }

    /// A request that was due was never sent.
    pub(crate) fn not_sent(&mut self, intended_ns: u64, kind: NotSent, errno: i32, now_ns: u64) {
        if !self.counts(intended_ns) {
            return;
        }
        self.second.failed += u64::from(kind != NotSent::WaitingAtEnd);
        self.not_sent[kind as usize] += 1;
        *self.failures.entry((FailureKind::NotSent(kind), errno)).or_default() += 1;
        if self.open {
            record(&mut self.censored_response, now_ns.saturating_sub(intended_ns));
        }
    }

    /// A request's reply was still awaited when the drain ended.
    pub(crate) fn unfinished(&mut self, moments: Moments, now_ns: u64) {
        self.leave(moments.sent_ns, now_ns);
        if self.counts(moments.intended_ns) {
            self.books.in_flight_at_end += 1;
            self.censor(moments, now_ns);
        }
    }

    fn censor(&mut self, moments: Moments, now_ns: u64) {
        record(&mut self.censored_service, now_ns.saturating_sub(moments.sent_ns));
        if self.open {
            record(&mut self.censored_response, now_ns.saturating_sub(moments.intended_ns));
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

    /// Closes the books: the last second goes to the collector.
    pub(crate) fn close(&mut self, now_ns: u64) {
        self.change_in_flight(now_ns, 0);
        self.second.end_ns = now_ns.min(self.second_end_ns);
        self.hand_over();
        self.port = None;
        self.books.not_sent = NotSent::ALL.iter().map(|kind| (*kind, self.not_sent[*kind as usize])).collect();
        self.books.failed = Failure::ALL.iter().map(|kind| (*kind, self.failed[*kind as usize])).collect();
        self.books.sent_late = LateCause::ALL.iter().map(|cause| (*cause, self.late[*cause as usize])).collect();
        self.books.not_sent.retain(|_, count| *count > 0);
        self.books.failed.retain(|_, count| *count > 0);
        self.books.sent_late.retain(|_, count| *count > 0);
    }

    /// Both sides of Little's identity.
    pub(crate) fn residence(&self) -> Residence {
        let seconds = |ns: u128| ns as f64 / NS_PER_S as f64;
        Residence {
            in_flight_s: seconds(self.in_flight_ns),
            requests_s: seconds(self.requests_ns),
            completed_s: seconds(self.completed_ns),
        }
    }
}
