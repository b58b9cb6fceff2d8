//! Times in which no reply came to any connection, though one was due.

use model::NotSent;
use serde::{Deserialize, Serialize};

use crate::joint::Joint;

/// Shortest time without a reply that is kept.
pub(crate) const SILENCE_NS: u64 = 500_000_000;

/// How many are kept: the longest.
const SPANS_KEPT: usize = 1024;

/// A time in which no reply came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Silent {
    pub(crate) from_ns: u64,
    pub(crate) until_ns: u64,
    /// From here on a request was due or in flight, so that a reply was owed; `u64::MAX` where none was.
    pub(crate) owed_ns: u64,
    failed: Tally,
    refused: Tally,
}

/// How many, and when the last of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tally {
    count: u64,
    last_ns: u64,
}

impl Tally {
    fn add(&mut self, count: u64, now_ns: u64) {
        self.count += count;
        self.last_ns = now_ns;
    }

    /// It, if the last of them came no earlier than this.
    fn since(self, from_ns: u64) -> Tally {
        if self.last_ns >= from_ns { self } else { Tally::default() }
    }

    /// It, as if all of it had come at another time.
    fn at(self, place: impl Fn(u64) -> u64) -> Tally {
        // None came at no time.
        if self.count == 0 { self } else { Tally { last_ns: place(self.last_ns), ..self } }
    }

    fn with(self, other: Tally) -> Tally {
        Tally { count: self.count + other.count, last_ns: self.last_ns.max(other.last_ns) }
    }
}

impl Silent {
    /// How long a reply was owed.
    pub(crate) fn owed_from(&self) -> u64 {
        self.owed_ns.max(self.from_ns)
    }

    /// Requests that failed in it; where several parts were silent together, no fewer: a part whose own silence lasted longer
    /// counts all that failed there in that, if one did from the begin of this one on.
    pub(crate) fn failed(&self) -> u64 {
        self.failed.count
    }

    /// Those of them that the server refused, closed or reset: what timed out, bourdon gave up.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.count
    }

    fn with(self, other: Silent) -> Silent {
        let from_ns = self.from_ns.max(other.from_ns);
        // What failed before the last reply to the other part did so before the silence.
        let both = |one: Tally, other: Tally| one.since(from_ns).with(other.since(from_ns));
        Silent {
            from_ns,
            until_ns: self.until_ns.min(other.until_ns),
            owed_ns: self.owed_ns.min(other.owed_ns),
            failed: both(self.failed, other.failed),
            refused: both(self.refused, other.refused),
        }
    }

    /// It at other times.
    pub(crate) fn at(self, place: impl Fn(u64) -> u64) -> Silent {
        Silent {
            from_ns: place(self.from_ns),
            until_ns: place(self.until_ns),
            owed_ns: place(self.owed_ns),
            failed: self.failed.at(&place),
            refused: self.refused.at(&place),
        }
    }

    /// It and one that begins where it ends.
    fn then(self, next: Silent) -> Silent {
        Silent {
            from_ns: self.from_ns,
            until_ns: next.until_ns,
            owed_ns: self.owed_ns.min(next.owed_ns),
            failed: self.failed.with(next.failed),
            refused: self.refused.with(next.refused),
        }
    }

    fn length_ns(&self) -> u64 {
        self.until_ns.saturating_sub(self.from_ns)
    }
}

/// The times between one thread's replies, those that are long.
#[derive(Clone, Default)]
pub(crate) struct Silences {
    pub(crate) last_reply_ns: u64,
    /// When a request was due first after the last reply that left none in flight; no later than that reply where it left
    /// some, or none has been due since.
    owed_ns: u64,
    failed: Tally,
    refused: Tally,
    /// By time.
    spans: Vec<Silent>,
}

impl Silences {
    /// When it is a silence if no reply comes until then.
    pub(crate) fn begin_ns(&self) -> u64 {
        self.last_reply_ns.saturating_add(SILENCE_NS)
    }

    /// A request is due while none is in flight.
    #[inline(always)]
    pub(crate) fn owe(&mut self, due_ns: u64) {
        if self.owed_ns <= self.last_reply_ns {
            self.owed_ns = due_ns.max(self.last_reply_ns + 1);
        }
    }

    /// A request that was due from then on ends without a reply.
    pub(crate) fn owed_in_vain(&mut self, due_ns: u64) {
        let after_ns = self.last_reply_ns + 1;
        self.owed_ns = match self.owed_ns {
            owed_ns if owed_ns >= after_ns => owed_ns.min(due_ns.max(after_ns)),
            // It came due beside another that the last reply left in flight, or was left by that itself.
            _ => after_ns,
        };
    }

    /// Requests that were due from then on failed; `refused` says that it was the server who ended them.
    pub(crate) fn fail(&mut self, count: u64, refused: bool, due_ns: u64, now_ns: u64) {
        self.owed_in_vain(due_ns);
        let after_ns = self.last_reply_ns + 1;
        [self.failed, self.refused] = [self.failed, self.refused].map(|tally| tally.since(after_ns));
        self.failed.add(count, now_ns);
        if refused {
            self.refused.add(count, now_ns);
        }
    }

    /// Requests that were due from then on never left.
    pub(crate) fn not_sent(&mut self, count: u64, kind: NotSent, due_ns: u64, now_ns: u64) {
        match kind {
            // A handshake may have ended with a time-out of ours, and what was turned away at the end saw no attempt.
            NotSent::Refused | NotSent::ConnectFailed => self.fail(count, true, due_ns, now_ns),
            _ if kind.is_turned_away() => self.fail(count, false, due_ns, now_ns),
            NotSent::WaitingAtEnd | NotSent::PausedAtEnd => self.owed_in_vain(due_ns),
            // What the generator could not send, the server did not owe.
            _ => {}
        }
    }

    /// A reply comes.
    pub(crate) fn end(&mut self, now_ns: u64) {
        if now_ns >= self.begin_ns() {
            self.spans.push(self.since_last_reply(now_ns));
            keep_longest(&mut self.spans);
        }
        self.last_reply_ns = now_ns;
    }

    fn since_last_reply(&self, until_ns: u64) -> Silent {
        let after_ns = self.last_reply_ns + 1;
        Silent {
            from_ns: self.last_reply_ns,
            until_ns,
            owed_ns: self.owed_ns.max(after_ns),
            failed: self.failed.since(after_ns),
            refused: self.refused.since(after_ns),
        }
    }

    /// All of them, with the one after the last reply, of which this thread knows no end. Whatever was in flight then has
    /// been booked as unfinished.
    pub(crate) fn spans(mut self) -> Vec<Silent> {
        let mut last = self.since_last_reply(u64::MAX);
        if self.owed_ns <= self.last_reply_ns {
            last.owed_ns = u64::MAX;
        }
        self.spans.push(last);
        self.spans
    }
}

fn keep_longest(spans: &mut Vec<Silent>) {
    while spans.len() > SPANS_KEPT {
        let shortest = (0..spans.len()).min_by_key(|at| spans[*at].length_ns()).unwrap_or(0);
        spans.remove(shortest);
    }
}

/// Where neither of two parts of a load got a reply; both by time.
pub(crate) fn of_both(one: &[Silent], other: &[Silent]) -> Vec<Silent> {
    let (mut both, mut at, mut beside) = (Vec::new(), 0, 0);
    while let (Some(mine), Some(theirs)) = (one.get(at), other.get(beside)) {
        let silent = mine.with(*theirs);
        if silent.length_ns() >= SILENCE_NS {
            both.push(silent);
        }
        if mine.until_ns <= theirs.until_ns {
            at += 1;
        } else {
            beside += 1;
        }
    }
    both
}

/// One thread's under a load and under the next. Where neither the end of the one nor the begin of the other had a reply, that
/// is one time; nobody knows when a thread's first reply came where its first time does not begin with the clock.
pub(crate) fn in_turn(mut all: Vec<Silent>, next: &[Silent], joint: Joint) -> Vec<Silent> {
    all.iter_mut().for_each(|mine| *mine = mine.at(|at_ns| joint.before(at_ns)));
    let mut next = next.iter().map(|theirs| (theirs.from_ns, theirs.at(|at_ns| joint.after(at_ns)))).peekable();
    if let Some(last) = all.last_mut() {
        let at_once = Silent { from_ns: joint.end_ns, until_ns: joint.end_ns, owed_ns: u64::MAX, ..Silent::default() };
        *last = last.then(next.next_if(|(from_ns, _)| *from_ns == 0).map_or(at_once, |(_, first)| first));
    }
    all.extend(next.map(|(_, theirs)| theirs));
    all.retain(|silent| silent.length_ns() >= SILENCE_NS || silent.until_ns == u64::MAX);
    keep_longest(&mut all);
    all
}
