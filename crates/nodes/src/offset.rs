//! By how much one machine's clock is ahead of another's.

use serde::{Deserialize, Serialize};

/// A question for the time and its answer, in nanoseconds: sent and returned on the clock of who asks, received and replied on that of who
/// answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) sent_ns: u64,
    pub(crate) received_ns: u64,
    pub(crate) replied_ns: u64,
    /// Not known before it has.
    #[serde(default)]
    pub(crate) returned_ns: u64,
}

/// How far the clock of who answered is ahead, and how far off that may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    /// In nanoseconds; negative where it is behind.
    pub ahead_ns: i64,
    /// At most, in nanoseconds: half of the way there and back, on which nobody knows how long each took.
    pub within_ns: u64,
    /// When that was known, on the clock of who asked.
    pub at_ns: u64,
}

/// How fast two clocks may drift apart, in nanoseconds per second: more than the quartzes of servers do.
const DRIFT_NS_PER_S: u64 = 100_000;

impl Offset {
    /// The same as far as it is known at another time.
    pub(crate) fn by(self, at_ns: u64) -> Self {
        let drift = u128::from(at_ns.abs_diff(self.at_ns)) * u128::from(DRIFT_NS_PER_S) / 1_000_000_000;
        Self { within_ns: self.within_ns.saturating_add(drift as u64), ..self }
    }

    /// Whether a later one is of a clock that kept time with the one of who asked.
    pub(crate) fn kept_time(self, later: Offset) -> bool {
        let most_ns = self.by(later.at_ns).within_ns.saturating_add(later.within_ns);
        later.ahead_ns.abs_diff(self.ahead_ns) <= most_ns
    }
}

impl Exchange {
    /// ((t2 − t1) + (t3 − t4)) ÷ 2, off by at most ((t4 − t1) − (t3 − t2)) ÷ 2 (RFC 5905, section 8). None of times that run backwards.
    fn offset(self) -> Option<Offset> {
        let [sent, received, replied, returned] =
            [self.sent_ns, self.received_ns, self.replied_ns, self.returned_ns].map(i128::from);
        let way = (returned - sent) - (replied - received);
        if returned < sent || replied < received || way < 0 {
            return None;
        }
        let ahead_ns = i64::try_from(((received - sent) + (replied - returned)) / 2).ok()?;
        Some(Offset { ahead_ns, within_ns: u64::try_from(way / 2).ok()?, at_ns: self.returned_ns })
    }
}

/// That of the exchange which took the shortest way.
pub(crate) fn best(exchanges: &[Exchange]) -> Option<Offset> {
    exchanges.iter().filter_map(|exchange| exchange.offset()).min_by_key(|offset| offset.within_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_known_to_half_of_the_shortest_way() {
        let ahead = -5_000_000_000_i64;
        let asked = |there: u64, back: u64| {
            let sent_ns: u64 = 9_000_000_000;
            let received_ns = (sent_ns + there).checked_add_signed(ahead).unwrap();
            let replied_ns = received_ns + 40;
            Exchange { sent_ns, received_ns, replied_ns, returned_ns: sent_ns + there + 40 + back }
        };
        let offset = best(&[asked(90_000, 10_000), asked(300, 500), asked(700_000, 1)]).unwrap();
        let at_ns = 9_000_000_840;
        assert_eq!(offset, Offset { ahead_ns: ahead - 100, within_ns: 400, at_ns });
        assert!((offset.ahead_ns - ahead).unsigned_abs() <= offset.within_ns);
    }

    #[test]
    fn a_clock_that_stood_still_did_not_keep_time() {
        let before = Offset { ahead_ns: 7_000, within_ns: 100_000, at_ns: 1_000_000_000 };
        let after = |ahead_ns| Offset { ahead_ns, within_ns: 100_000, at_ns: 11_000_000_000 };
        assert_eq!(before.by(11_000_000_000).within_ns, 1_100_000, "a tenth of a millisecond a second");
        assert!(before.kept_time(after(1_200_000)) && before.kept_time(after(-1_100_000)));
        assert!(!before.kept_time(after(-1_000_000_000)), "its machine was paused for a second");
    }

    #[test]
    fn times_that_run_backwards_say_nothing() {
        let exchange = Exchange { sent_ns: 10, received_ns: 5, replied_ns: 4, returned_ns: 20 };
        assert_eq!(best(&[exchange, Exchange { replied_ns: u64::MAX, ..exchange }]), None);
        assert_eq!(best(&[Exchange { sent_ns: 21, replied_ns: 6, ..exchange }]), None);
    }
}
