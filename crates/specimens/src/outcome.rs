//! Which request meets which outcome.

use fastrand::Rng;

use crate::kind::Kind;
use crate::log::Action;
use crate::settings::Settings;

/// What 40 % of the requests to [`Kind::Mixed`] share evenly.
const MIXED: [Action; 10] = [
    Action::WrongBody,
    Action::ResetBeforeReply,
    Action::CloseBeforeReply,
    Action::ResetInReply,
    Action::CloseInReply,
    Action::IdleClose,
    Action::NoAnswer,
    Action::MalformedHead,
    Action::ShortBody,
    Action::Unavailable,
];

/// Out of 100 requests to [`Kind::Mixed`], how many get a proper reply.
const MIXED_REPLIES: usize = 60;

/// Decides the outcome of one request after the other.
pub(crate) enum Outcomes {
    /// Every request gets a proper reply.
    Proper,
    /// Each `every`-th request meets the defect.
    Every { defect: Action, every: u64, count: u64 },
    /// Drawn at random.
    Mixed(Rng),
}

impl Outcomes {
    pub(crate) fn new(settings: &Settings) -> Self {
        match settings.kind.defect() {
            Some(defect) => Outcomes::Every { defect, every: settings.every.max(1), count: 0 },
            None if settings.kind == Kind::Mixed => Outcomes::Mixed(Rng::with_seed(settings.seed)),
            None => Outcomes::Proper,
        }
    }

    /// The outcome of the next request. Taken when the server acts on it, so that the sequence in the
    /// log does not depend on requests whose clients went away.
    pub(crate) fn next(&mut self) -> Action {
        match self {
            Outcomes::Proper => Action::Reply,
            Outcomes::Every { defect, every, count } => {
                *count = (*count + 1) % *every;
                if *count == 0 { *defect } else { Action::Reply }
            }
            Outcomes::Mixed(rng) => {
                let each = (100 - MIXED_REPLIES) / MIXED.len();
                match rng.usize(..100).checked_sub(MIXED_REPLIES) {
                    None => Action::Reply,
                    Some(rest) => MIXED[rest / each],
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(settings: &Settings, length: usize) -> Vec<Action> {
        let mut outcomes = Outcomes::new(settings);
        (0..length).map(|_| outcomes.next()).collect()
    }

    #[test]
    fn every_nth_is_defective() {
        let settings = Settings { every: 3, ..Settings::new(Kind::ShortBody) };
        let (good, bad) = (Action::Reply, Action::ShortBody);
        assert_eq!(sequence(&settings, 7), [good, good, bad, good, good, bad, good]);
        let all = Settings { every: 0, ..settings };
        assert_eq!(sequence(&all, 2), [bad, bad]);
    }

    #[test]
    fn mixed_follows_its_seed_and_its_shares() {
        let settings = Settings::new(Kind::Mixed);
        let drawn = sequence(&settings, 10_000);
        assert_eq!(drawn, sequence(&settings, 10_000));
        assert_ne!(drawn, sequence(&Settings { seed: 2, ..settings }, 10_000));
        let share = |action| drawn.iter().filter(|&&drawn| drawn == action).count();
        assert!((5_800..6_200).contains(&share(Action::Reply)));
        for action in MIXED {
            assert!((300..500).contains(&share(action)), "{action:?}: {}", share(action));
        }
    }
}
