//! A target that is not ready, and listens elsewhere than it was told to.

use std::time::Duration;

/// How often it is looked for where a target listens that is not ready.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Looks at where a target listens, until two in a row see the same. That is told and ends no wait: a server may open
/// the port of its debugger or its metrics long before the one that it serves on, and from outside nothing tells such a
/// port from one that it serves on by mistake. How long it may take is `ready_within`, which is the user's to say.
#[derive(Debug)]
pub(crate) struct Looks<S> {
    seen: Option<S>,
    looked: Duration,
    told: bool,
}

impl<S> Default for Looks<S> {
    fn default() -> Self {
        Looks { seen: None, looked: Duration::ZERO, told: false }
    }
}

impl<S: Clone + PartialEq> Looks<S> {
    /// Looks again if it is time to; gives what was seen twice, once.
    pub(crate) fn again(&mut self, passed: Duration, look: impl FnOnce() -> Option<S>) -> Option<S> {
        if self.told || passed < self.looked + LOOK_EVERY {
            return None;
        }
        self.looked = passed;
        let before = std::mem::replace(&mut self.seen, look());
        self.told = self.seen.is_some() && self.seen == before;
        self.seen.clone().filter(|_| self.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_in_two_looks_a_second_apart_is_told_once() {
        let mut looks = Looks::default();
        let mut at = |ms: u64, seen: Option<&str>| {
            looks.again(Duration::from_millis(ms), || {
                Some(seen.expect("no look is due").to_owned()).filter(|seen| !seen.is_empty())
            })
        };
        assert_eq!(at(999, None), None);
        assert_eq!(at(1_000, Some("")), None, "it listens nowhere yet");
        assert_eq!(at(2_000, Some("on 1")), None, "it may open another one");
        assert_eq!(at(2_500, None), None);
        assert_eq!(at(3_000, Some("on 1 and 2")), None);
        assert_eq!(at(4_000, Some("on 1 and 2")).as_deref(), Some("on 1 and 2"));
        assert_eq!(at(9_000, None), None, "nothing is looked for any more");
    }
}
