//! What a specimen puts off until nobody asks for anything, or does then of its own accord.

use crate::clock;
use crate::kind::Kind;
use crate::settings::Settings;

/// How much slower [`Kind::SlowAfterIdle`] is at first.
const SLOWER: u64 = 3;

/// [`Kind::Restless`] looks for something to do so often, in nanoseconds, and then computes for a fifth of that.
const RESTLESS_EVERY_NS: u64 = 1_000_000;
const RESTLESS_FOR_NS: u64 = RESTLESS_EVERY_NS / 5;

/// Uses CPU in proportion to `rounds`: each waits for the one before, so that no compiler or processor shortens it.
fn compute(rounds: u64) {
    let mut state = rounds;
    for _ in 0..rounds {
        state = std::hint::black_box(state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17));
    }
}

/// When it was asked last, and what that leaves to be done. Times are nanoseconds.
pub(crate) struct Idleness {
    kind: Kind,
    /// Rounds of computing for each counted request.
    work: u64,
    /// How long nobody asks before it is idle.
    idle_for: u64,
    /// When it was asked last.
    asked_at: u64,
    /// Rounds that it has put off.
    owed: u64,
    /// Until when it is slow.
    slow_until: u64,
    /// When it will be restless next.
    restless_at: u64,
}

impl Idleness {
    pub(crate) fn new(settings: &Settings) -> Self {
        let idle_for = clock::nanos(settings.idle_for);
        Idleness {
            kind: settings.kind,
            work: settings.work,
            idle_for,
            asked_at: 0,
            owed: 0,
            slow_until: 0,
            restless_at: 0,
        }
    }

    /// Does the work for a request, or puts it off.
    pub(crate) fn work(&mut self) {
        let now = match self.kind {
            Kind::Deferred | Kind::Restless | Kind::SlowAfterIdle => clock::now(),
            _ => return compute(self.work),
        };
        if self.kind == Kind::SlowAfterIdle && now >= self.asked_at.saturating_add(self.idle_for) {
            self.slow_until = now.saturating_add(self.idle_for);
        }
        self.asked_at = now;
        self.restless_at = now.saturating_add(RESTLESS_EVERY_NS);
        match self.kind {
            Kind::Deferred => self.owed = self.owed.saturating_add(self.work),
            Kind::SlowAfterIdle if now < self.slow_until => compute(self.work.saturating_mul(SLOWER)),
            _ => compute(self.work),
        }
    }

    /// When it has something to do that nobody asks for.
    pub(crate) fn next_at(&self) -> Option<u64> {
        match self.kind {
            Kind::Deferred => (self.owed > 0).then(|| self.asked_at.saturating_add(self.idle_for)),
            Kind::Restless => Some(self.restless_at),
            _ => None,
        }
    }

    /// Does it, if it is time for it.
    pub(crate) fn act(&mut self, now: u64) {
        if self.next_at().is_none_or(|at| at > now) {
            return;
        }
        if self.kind == Kind::Deferred {
            return compute(std::mem::take(&mut self.owed));
        }
        while clock::now() < now.saturating_add(RESTLESS_FOR_NS) {
            compute(100);
        }
        self.restless_at = now.saturating_add(RESTLESS_EVERY_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind) -> Idleness {
        Idleness::new(&Settings { work: 7, ..Settings::new(kind) })
    }

    #[test]
    fn what_is_put_off_is_done_once_nobody_asks() {
        let mut idleness = of(Kind::Deferred);
        assert_eq!(idleness.next_at(), None);
        idleness.work();
        idleness.work();
        assert_eq!(idleness.owed, 14);
        let due = idleness.next_at().unwrap();
        assert_eq!(due, idleness.asked_at + 50_000_000);
        idleness.act(due - 1);
        assert_eq!(idleness.owed, 14);
        idleness.act(due);
        assert_eq!((idleness.owed, idleness.next_at()), (0, None));
    }

    #[test]
    fn the_restless_computes_a_fifth_of_the_time_and_never_when_it_was_just_asked() {
        let mut idleness = of(Kind::Restless);
        let now = clock::now();
        idleness.act(now);
        assert!(clock::now() - now >= RESTLESS_FOR_NS);
        assert_eq!(idleness.next_at(), Some(now + RESTLESS_EVERY_NS));
        idleness.work();
        assert_eq!(idleness.next_at(), Some(idleness.asked_at + RESTLESS_EVERY_NS));
    }

    #[test]
    fn it_is_slow_for_as_long_after_it_was_idle() {
        let mut idleness = of(Kind::SlowAfterIdle);
        idleness.work();
        let slow_until = idleness.slow_until;
        assert_eq!(slow_until, idleness.asked_at + 100_000_000, "the first request follows idleness");
        idleness.work();
        assert_eq!(idleness.slow_until, slow_until, "one that follows another does not");
        assert_eq!(of(Kind::Clean).next_at(), None);
    }
}
