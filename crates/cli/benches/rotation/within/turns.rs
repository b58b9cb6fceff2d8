//! The turns of a session, and under which condition each of them is taken.

use std::fmt;

use model::{Done, Next, Plan, Planner, Together, TrialRecord, TrialSpec, Turn};
use rustix::process::Signal;

use crate::is_smoke;

const MS: u64 = 1_000_000;

/// A slice's length.
const SLICE_NS: u64 = 250 * MS;

/// What a round is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// B has a slice, and A has one.
    Alive,
    /// A has a slice while B is stopped.
    Stopped,
    /// A has a slice, B is no more.
    Ended,
    /// Both have a slice, of twice the length.
    TwiceAsLong,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::Alive => "alive",
            Condition::Stopped => "stopped",
            Condition::Ended => "ended",
            Condition::TwiceAsLong => "twice as long",
        })
    }
}

/// All turns of a session.
pub(super) struct Steps {
    turns: Vec<Turn>,
    /// Of each round from 1.
    conditions: Vec<Condition>,
}

impl Steps {
    /// Rounds of both conditions in the order A B B A, and those of the last at the end. A condition holds for two rounds at most,
    /// since a shared machine's speed changes within a second. A record has at most 120 steps of a launch.
    pub(super) fn new([first, second]: [Condition; 2], last: Option<Condition>, plan: &Plan) -> Self {
        let rounds = if is_smoke() { 16 } else { 96 };
        let of_round = |round: usize| if matches!(round % 4, 0 | 3) { first } else { second };
        let ended = last.map_or(0, |_| rounds / 4);
        let mut conditions: Vec<Condition> = (0..rounds).map(of_round).collect();
        conditions.extend(last.into_iter().cycle().take(ended));
        let warm_within_ns = plan.targets.iter().map(|target| target.launch.warm_within_ns).max().unwrap_or(0);
        let warm_up_ns = if is_smoke() { 500 * MS } else { warm_within_ns.max(2_000 * MS) };
        let turn = |(launch, round, window_ns)| Turn {
            launch,
            round,
            lead_in_ns: if round == 0 { 0 } else { 20 * MS },
            window_ns,
            seed: u64::from(round),
        };
        let warm_up = [(0, 0, warm_up_ns), (1, 0, warm_up_ns), (0, 0, SLICE_NS), (1, 0, SLICE_NS)];
        let turns_of = |(round, condition): (u32, &Condition)| {
            let window_ns = if *condition == Condition::TwiceAsLong { 2 * SLICE_NS } else { SLICE_NS };
            // B has its slice before A's.
            let launches: &[usize] =
                if matches!(condition, Condition::Alive | Condition::TwiceAsLong) { &[1, 0] } else { &[0] };
            launches.iter().map(move |launch| (*launch, round, window_ns))
        };
        let counted = (1..).zip(&conditions).flat_map(turns_of);
        Self { turns: warm_up.into_iter().chain(counted).map(turn).collect(), conditions }
    }

    /// Of a round; none of the warm-up.
    pub(super) fn condition(&self, round: u32) -> Option<Condition> {
        self.conditions.get((round as usize).checked_sub(1)?).copied()
    }

    /// What B is sent before a turn, where the one before was under another condition.
    pub(super) fn before(&self, turn: usize) -> Option<Signal> {
        let of = |turn: usize| self.condition(self.turns.get(turn)?.round);
        let (now, then) = (of(turn)?, turn.checked_sub(1).and_then(of));
        (then != Some(now)).then_some(match now {
            Condition::Alive | Condition::TwiceAsLong => Signal::CONT,
            Condition::Stopped => Signal::STOP,
            Condition::Ended => Signal::KILL,
        })
    }
}

/// Asks once for a launch of each target.
pub(super) struct Once<'a> {
    steps: &'a Steps,
    recorded: usize,
}

impl<'a> Once<'a> {
    pub(super) fn new(steps: &'a Steps) -> Self {
        Self { steps, recorded: 0 }
    }
}

impl Planner for Once<'_> {
    fn take(&mut self, _: &TrialRecord) {
        self.recorded += 1;
    }

    fn next(&mut self) -> Next {
        if self.recorded > 0 {
            return Next::Done(Done::Planned { blocks: 1, aside: 0 });
        }
        let spec = |(position, cell)| TrialSpec { block: 1, position, cell, twin: false };
        let trials = [(1, 0), (2, 1)].map(spec).to_vec();
        Next::Rotate(Together { trials, turns: self.steps.turns.clone() })
    }

    fn expected_trials(&self) -> usize {
        2
    }
}
