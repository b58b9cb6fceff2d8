//! Sessions of two targets on a machine whose speed drifts, launch after launch and in rotation, from the planner's first word to
//! the verdict.

use model::{
    Analysis, Comparison, ComparisonVerdict, Environment, Metric, Next, Plan, Planner, Rotation, Slice, TrialRecord,
    TrialSpec, Turn,
};

use super::machine::{Drift, Machine};
use crate::BlockPlanner;
use crate::testing::{Session, normal};

/// Replies a second, so many that counting whole ones adds no noise of its own.
const THROUGHPUT: f64 = 100_000.0;

/// Standard deviation of a launch's own level, which all of its slices share: its memory layout, say.
const LAUNCH: f64 = 0.003;

/// Seconds until a target is ready, and under load before it is measured.
const READY_S: f64 = 0.2;
const WARM_UP_S: f64 = 0.3;

/// Seconds that the end of a slice takes.
const EDGE_S: f64 = 0.002;

/// As `compare` has it.
const ROTATION: Rotation = Rotation { slice_ns: 250_000_000, lead_in_ns: 20_000_000, rounds: Some(ROUNDS) };
const ROUNDS: u32 = 12;

/// Seconds that a session may take.
const LONGEST_S: f64 = 150.0;

/// Two targets on a machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contest {
    pub(super) drift: Drift,
    /// Throughput of the second relative to the first.
    pub(super) ratio: f64,
    pub(super) rotates: bool,
}

/// What a session came to.
pub(super) struct Seen {
    pub(super) found: Comparison,
    pub(super) took_s: f64,
}

/// A session under way.
struct Live<'a> {
    contest: Contest,
    plan: &'a Plan,
    machine: Machine,
    templates: Vec<TrialRecord>,
    rng: fastrand::Rng,
    now_s: f64,
}

impl Contest {
    /// So many sessions, each with a seed of its own.
    pub(super) fn sessions(self, count: u32) -> impl Iterator<Item = Seen> {
        (0..count).map(move |seed| self.session(seed.into()))
    }

    fn session(self, seed: u64) -> Seen {
        let session = Session::new().planned(6, 12).seed(seed).cell("t1", THROUGHPUT).cell("t2", THROUGHPUT);
        let mut draft = session.draft();
        (draft.margin, draft.precision) = (0.01, 0.01);
        draft.rotation = self.rotates.then_some(ROTATION);
        draft.cells.iter_mut().for_each(|cell| cell.load.warm_up_ns = (WARM_UP_S * 1e9) as u64);
        let plan = draft.resolve().expect("it can be carried out");
        let mut rng = fastrand::Rng::with_seed(seed);
        let machine = Machine::new(self.drift, LONGEST_S, &mut rng);
        let templates = session.records_of(&[vec![0.0; 2]]);
        let mut live = Live { contest: self, plan: &plan, machine, templates, rng, now_s: 0.0 };
        let (mut planner, mut done) = (BlockPlanner::new(&plan), Vec::new());
        loop {
            let made: Vec<TrialRecord> = match planner.next() {
                Next::Run(specs) => specs.iter().map(|spec| live.alone(*spec)).collect(),
                Next::Rotate(together) => live.together(&together.trials, &together.turns),
                Next::Add(_) | Next::Done(_) => break,
            };
            made.iter().for_each(|trial| planner.take(trial));
            done.extend(made);
        }
        let took_s = live.now_s;
        let Analysis { comparisons, .. } = crate::analyse(&plan, &Environment::default(), &done);
        let found = comparisons.into_iter().find(|found| found.metric == Metric::Throughput);
        Seen { found: found.expect("two targets are compared"), took_s }
    }
}

impl Live<'_> {
    /// What a launch serves on a machine at its best.
    fn level(&mut self, spec: &TrialSpec) -> f64 {
        let truth = if spec.cell == 1 { self.contest.ratio } else { 1.0 };
        THROUGHPUT * truth * (LAUNCH * normal(&mut self.rng)).exp()
    }

    /// So many replies in so long a span from now on.
    fn served(&self, level: f64, for_s: f64) -> u64 {
        (level * self.machine.speed(self.now_s, for_s) * for_s).round() as u64
    }

    /// A launch with a window as long as all of its slices would be.
    fn alone(&mut self, spec: TrialSpec) -> TrialRecord {
        let level = self.level(&spec);
        self.now_s += READY_S + WARM_UP_S;
        let window_s = f64::from(ROUNDS) * ROTATION.slice_ns as f64 / 1e9;
        let completed = self.served(level, window_s);
        self.now_s += window_s;
        self.record(spec, completed, window_s)
    }

    fn together(&mut self, specs: &[TrialSpec], turns: &[Turn]) -> Vec<TrialRecord> {
        let levels: Vec<f64> = specs.iter().map(|spec| self.level(spec)).collect();
        self.now_s += READY_S * specs.len() as f64;
        let mut slices: Vec<Vec<Slice>> = vec![Vec::new(); specs.len()];
        for turn in turns {
            let window_s = turn.window_ns as f64 / 1e9;
            self.now_s += turn.lead_in_ns as f64 / 1e9;
            let completed = self.served(levels[turn.launch], window_s);
            self.now_s += window_s + EDGE_S;
            let (length_s, replies) = (window_s + EDGE_S, completed);
            let slice =
                Slice { round: turn.round, length_s, window_s, completed, ok: completed, replies, ..Slice::default() };
            slices[turn.launch].push(slice);
        }
        let record = |(spec, slices): (&TrialSpec, Vec<Slice>)| {
            let measured = || slices.iter().filter(|slice| slice.round > 0);
            let (completed, window_s) =
                (measured().map(|it| it.completed).sum(), measured().map(|it| it.window_s).sum());
            TrialRecord { slices: slices.clone(), ..self.record(*spec, completed, window_s) }
        };
        specs.iter().zip(slices).map(record).collect()
    }

    /// A record with nothing but a throughput: other metrics would only cost time.
    fn record(&self, spec: TrialSpec, completed: u64, window_s: f64) -> TrialRecord {
        debug_assert!(spec.cell < self.plan.cells.len());
        let TrialSpec { block, position, cell, .. } = spec;
        let mut trial = TrialRecord { block, position, id: spec.id(), ..self.templates[cell].clone() };
        trial.observation = None;
        let measured = trial.measurement.as_mut().expect("it was measured");
        measured.latency_us = model::Latencies::default();
        measured.window_s = window_s;
        (measured.in_window.completed, measured.in_window.ok) = (completed, completed);
        trial
    }
}

impl Seen {
    /// Whether the interval holds first ÷ second.
    pub(super) fn covers(&self, ratio: f64) -> bool {
        let (low, high) = (self.found.ratio.low, self.found.ratio.high);
        low.zip(high).is_some_and(|(low, high)| low <= ratio && ratio <= high)
    }

    /// Half of the interval, on the log scale.
    pub(super) fn half_width(&self) -> f64 {
        let (low, high) = (self.found.ratio.low, self.found.ratio.high);
        low.zip(high).map_or(f64::INFINITY, |(low, high)| (high / low).ln() / 2.0)
    }

    pub(super) fn is(&self, verdict: ComparisonVerdict) -> bool {
        self.found.verdict == verdict
    }
}
