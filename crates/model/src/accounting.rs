use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Failure, LateCause, NotSent};

/// The books of one load: every request that was due appears exactly once on each side.
///
/// scheduled = sent + Σ not_sent, and sent = ok + bad_status + bad_body + Σ failed + in_flight_at_end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounting {
    /// Requests due in the window; in the closed model, attempts.
    pub scheduled: u64,
    /// Requests of which the kernel took at least the first byte.
    pub sent: u64,
    /// Requests never sent, by kind.
    pub not_sent: BTreeMap<NotSent, u64>,
    /// Complete replies: ok + bad_status + bad_body.
    pub completed: u64,
    /// Complete replies that were as expected.
    pub ok: u64,
    /// Complete replies with another status than expected.
    pub bad_status: u64,
    /// Complete replies with the expected status and another body.
    pub bad_body: u64,
    /// Requests sent that never got a complete reply, by kind.
    pub failed: BTreeMap<Failure, u64>,
    /// Requests sent whose reply was still awaited when the drain ended.
    pub in_flight_at_end: u64,
    /// Open model: requests sent after their time, by cause. They are among `sent`.
    pub sent_late: BTreeMap<LateCause, u64>,
}

/// An identity of the books that does not hold; sums are 2⁶⁴ − 1 where they are more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Imbalance {
    /// What was due is not what was sent and what was not.
    Scheduled {
        /// Requests that were due.
        scheduled: u64,
        /// Those that were sent.
        sent: u64,
        /// Those that were not.
        not_sent: u64,
    },
    /// Complete replies are not those that were right and those that were wrong.
    Completed {
        /// Complete replies.
        completed: u64,
        /// Right and wrong ones.
        replies: u64,
    },
    /// What was sent is not what came of it.
    Sent {
        /// Requests that were sent.
        sent: u64,
        /// Right and wrong replies.
        replies: u64,
        /// Requests that failed.
        failed: u64,
        /// Requests in flight at the end.
        in_flight_at_end: u64,
    },
    /// In words: of a record of an earlier version.
    #[serde(untagged)]
    Said(String),
}

impl Accounting {
    /// The identity that does not hold, if one does not.
    pub fn imbalance(&self) -> Option<Imbalance> {
        // Records come from anywhere: sums that do not fit in 64 bits must not balance by wrapping.
        let wide = |counts: &[u64]| -> u128 { counts.iter().copied().map(u128::from).sum() };
        let not_sent: u128 = self.not_sent.values().copied().map(u128::from).sum();
        let failed: u128 = self.failed.values().copied().map(u128::from).sum();
        let replied = wide(&[self.ok, self.bad_status, self.bad_body]);
        let shown = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
        if u128::from(self.scheduled) != u128::from(self.sent) + not_sent {
            let (scheduled, sent) = (self.scheduled, self.sent);
            return Some(Imbalance::Scheduled { scheduled, sent, not_sent: shown(not_sent) });
        }
        if u128::from(self.completed) != replied {
            return Some(Imbalance::Completed { completed: self.completed, replies: shown(replied) });
        }
        let accounted = replied + failed + u128::from(self.in_flight_at_end);
        (u128::from(self.sent) != accounted).then(|| Imbalance::Sent {
            sent: self.sent,
            replies: shown(replied),
            failed: shown(failed),
            in_flight_at_end: self.in_flight_at_end,
        })
    }

    /// Requests sent that never got a complete reply.
    pub fn failed_total(&self) -> u64 {
        sum(self.failed.values().copied())
    }

    /// Those of them that have no time, not even an age: they were refused, reset or closed.
    pub fn failed_without_time(&self) -> u64 {
        sum(self.failed.iter().filter(|(kind, _)| !kind.has_age()).map(|(_, count)| *count))
    }

    /// The same of those that were never sent.
    pub fn not_sent_without_time(&self) -> u64 {
        sum(self.not_sent.iter().filter(|(kind, _)| !kind.has_age()).map(|(_, count)| *count))
    }

    /// Requests never sent.
    pub fn not_sent_total(&self) -> u64 {
        sum(self.not_sent.values().copied())
    }

    /// Requests that were never sent because the server or the network would not have them, by kind.
    pub fn turned_away(&self) -> impl Iterator<Item = (NotSent, u64)> {
        self.not_sent.iter().map(|(kind, count)| (*kind, *count)).filter(|(kind, _)| kind.is_turned_away())
    }

    /// Requests that failed: a reply with another status or body than expected, no complete reply, or turned away.
    pub fn failures(&self) -> u64 {
        let turned_away = self.turned_away().map(|(_, count)| count);
        sum(turned_away.chain([self.bad_status, self.bad_body, self.failed_total()]))
    }

    /// Requests of which it is known how they went: with a reply, or failed.
    pub fn ended(&self) -> u64 {
        let turned_away = self.turned_away().map(|(_, count)| count);
        sum(turned_away.chain([self.completed, self.failed_total()]))
    }

    /// Those that failed as a share (0 to 1) of what was scheduled.
    pub fn error_share(&self) -> f64 {
        if self.scheduled == 0 { 0.0 } else { self.failures() as f64 / self.scheduled as f64 }
    }

    /// Adds the books of another thread.
    pub fn merge(&mut self, other: &Accounting) {
        add(&mut self.scheduled, other.scheduled);
        add(&mut self.sent, other.sent);
        add(&mut self.completed, other.completed);
        add(&mut self.ok, other.ok);
        add(&mut self.bad_status, other.bad_status);
        add(&mut self.bad_body, other.bad_body);
        add(&mut self.in_flight_at_end, other.in_flight_at_end);
        add_all(&mut self.not_sent, &other.not_sent);
        add_all(&mut self.failed, &other.failed);
        add_all(&mut self.sent_late, &other.sent_late);
    }
}

fn add_all<K: Ord + Copy>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (kind, count) in from {
        add(into.entry(*kind).or_default(), *count);
    }
}

/// The sum of counts that may come from a damaged record: where it does not fit, the most that can be said.
pub fn sum(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// The same into a count.
pub(crate) fn add(to: &mut u64, count: u64) {
    *to = to.saturating_add(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_books_have_no_imbalance_and_unbalanced_ones_name_it() {
        let mut books =
            Accounting { scheduled: 5, sent: 4, completed: 2, ok: 2, in_flight_at_end: 1, ..Default::default() };
        books.not_sent.insert(NotSent::Refused, 1);
        books.failed.insert(Failure::TimedOut, 1);
        assert_eq!(books.imbalance(), None);
        books.ok = 1;
        assert_eq!(books.imbalance(), Some(Imbalance::Completed { completed: 2, replies: 1 }));
        books.completed = 1;
        let sent = Imbalance::Sent { sent: 4, replies: 1, failed: 1, in_flight_at_end: 1 };
        assert_eq!(books.imbalance(), Some(sent));
        books.sent = 3;
        assert_eq!(books.imbalance(), Some(Imbalance::Scheduled { scheduled: 5, sent: 3, not_sent: 1 }));
    }

    #[test]
    fn damaged_books_do_not_balance_by_wrapping() {
        // In 64 bits, ok + bad status would be 1.
        let mut books = Accounting { scheduled: 1, sent: 1, completed: 1, ok: u64::MAX, ..Default::default() };
        books.bad_status = 2;
        assert_eq!(books.imbalance(), Some(Imbalance::Completed { completed: 1, replies: u64::MAX }));
        assert_eq!(books.failures(), 2);
        books.failed.extend([(Failure::TimedOut, u64::MAX), (Failure::ResetBeforeReply, u64::MAX)]);
        assert_eq!((books.failed_total(), books.failures()), (u64::MAX, u64::MAX));
    }
}
