//! What is left of the books when a load is over, or would be if it were.

use model::{Failure, LateCause, NotSent, WindowCount};

use super::Ledger;
use crate::awaited::Ages;
use crate::part::{Counts, Part, ResidenceNs};
use crate::second::{Distributions, Second};

impl Ledger {
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

    /// What is left when a copy of the books is closed while the load does not end, with the second under way.
    pub(crate) fn closed_now(mut self, now_ns: u64) -> (Part, Box<Second>) {
        // So the second stays here.
        self.port = None;
        self.close(now_ns);
        (self.clone().into_part(), self.second)
    }

    /// What is left when the books are closed. The seconds, and with them the distributions of replies, are the
    /// collector's.
    pub(crate) fn into_part(self) -> Part {
        Part {
            felt: self.felt,
            window_start_ns: self.window.start_ns,
            window_end_ns: self.window.end_ns,
            books: self.books,
            failures: self.failures,
            bad_statuses: self.bad_statuses,
            first_wrong: self.first_wrong,
            by_request: self.by_request,
            in_window: WindowCount { halves: Default::default(), ..self.in_window },
            halves: self.in_window.halves.to_vec(),
            residence: ResidenceNs {
                in_flight: self.in_flight_ns,
                requests: self.requests_ns,
                completed: self.completed_ns,
            },
            distributions: Distributions::new(self.felt),
            censored_felt: self.censored_felt,
            censored_service: self.censored_service,
            connect: self.connect,
            handshake: self.handshake,
            standstills: self.standstills.totals(),
            silences: self.silences.spans(),
            awaited: Ages::default(),
            counts: Counts::default(),
            completed: Vec::new(),
            threads: Vec::new(),
            tls: None,
        }
    }
}
