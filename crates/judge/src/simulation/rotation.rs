//! Sessions of two targets on a machine whose speed drifts, launch after launch and in rotation, from the planner's first word to
//! the verdict.

use model::{
    Analysis, Comparison, ComparisonVerdict, Environment, Metric, Next, Plan, Planner, Rotation, Slice, TrialRecord,
    TrialSpec, Turn,
};

use super::machine::{Drift, Machine};
use crate::BlockPlanner;
use crate::testing::{Session, normal, without_course};

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
    /// How much faster, or cheaper, the second is over all that it does.
    pub(super) ratio: f64,
    /// What of that it does now and then.
    pub(super) burst: Burst,
    pub(super) rotates: bool,
}

/// What the second target does now and then, and the less evenly the faster it is meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Burst {
    /// Nothing: throughputs are compared.
    Never,
    /// It stands still once in each second of its load: throughputs are compared.
    Pauses,
    /// It collects so many times in the slices of a launch, more or less: CPU per request is compared.
    Collections(u32),
}

/// How long it stands still, in seconds.
const PAUSE_S: f64 = 0.04;

/// A tenth of its CPU on a machine at its best goes into collections, each after half to one and a half times as many replies as
/// their number a launch says.
const COLLECTED: f64 = 0.1;

/// Seconds of slices in a launch.
const SLICED_S: f64 = ROUNDS as f64 * ROTATION.slice_ns as f64 / 1e9;

impl Burst {
    pub(super) fn words(self) -> String {
        match self {
            Burst::Never => "throughput".to_owned(),
            Burst::Pauses => "throughput, one stands still for 40 ms each second".to_owned(),
            Burst::Collections(a_launch) => {
                format!("CPU per request, a tenth of one's in {a_launch} collections a launch")
            }
        }
    }

    fn metric(self) -> Metric {
        if matches!(self, Burst::Collections(_)) { Metric::CpuPerRequest } else { Metric::Throughput }
    }

    /// How many collections it makes a launch.
    fn collections(self) -> Option<f64> {
        if let Burst::Collections(a_launch) = self { Some(a_launch.into()) } else { None }
    }

    /// Replies from one collection to the next, in the mean.
    fn apart(self) -> f64 {
        self.collections().map_or(f64::INFINITY, |a_launch| SLICED_S * THROUGHPUT / a_launch)
    }

    /// How much faster than another it is between its bursts, so that it is this much faster or cheaper with them.
    fn between(self, ratio: f64) -> f64 {
        match self {
            Burst::Never => ratio,
            Burst::Pauses => ratio / (1.0 - PAUSE_S),
            Burst::Collections(_) => 1.0 / (1.0 / ratio - COLLECTED),
        }
    }
}

/// A launch under load.
struct Serving {
    /// What it serves a second on a machine at its best.
    level: f64,
    burst: Burst,
    /// For how long it has been under load, in seconds from the last pause before it was.
    loaded_s: f64,
    /// Replies until the next collection.
    until_collected: f64,
}

/// What a launch did for a while.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    replies: u64,
    cpu_s: f64,
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
        (draft.margin, draft.precision, draft.precise) = (0.01, 0.01, vec![self.burst.metric()]);
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
        let found = comparisons.into_iter().find(|found| found.metric == self.burst.metric());
        Seen { found: found.expect("two targets are compared"), took_s }
    }
}

impl Live<'_> {
    fn launch(&mut self, spec: &TrialSpec) -> Serving {
        let is_second = spec.cell == 1;
        let burst = if is_second { self.contest.burst } else { Burst::Never };
        let faster = if is_second { burst.between(self.contest.ratio) } else { 1.0 };
        let level = THROUGHPUT * faster * (LAUNCH * normal(&mut self.rng)).exp();
        // It is looked at from any moment on: of two collections farther apart more moments lie between.
        let mut any = || if burst == Burst::Never { 0.0 } else { self.rng.f64() };
        let (loaded_s, apart, passed) = (any(), (0.25 + 2.0 * any()).sqrt(), any());
        Serving { level, burst, loaded_s, until_collected: burst.apart() * apart * passed }
    }

    /// Loads it for so long from now on.
    fn load(&mut self, serving: &mut Serving, for_s: f64) -> Done {
        let speed = self.machine.speed(self.now_s, for_s);
        self.now_s += for_s;
        serving.serve(speed, for_s, &mut self.rng)
    }

    /// A launch with a window as long as all of its slices would be.
    fn alone(&mut self, spec: TrialSpec) -> TrialRecord {
        let mut serving = self.launch(&spec);
        self.now_s += READY_S;
        self.load(&mut serving, WARM_UP_S);
        let done = self.load(&mut serving, SLICED_S);
        self.record(spec, done, SLICED_S)
    }

    fn together(&mut self, specs: &[TrialSpec], turns: &[Turn]) -> Vec<TrialRecord> {
        let mut serving: Vec<Serving> = specs.iter().map(|spec| self.launch(spec)).collect();
        self.now_s += READY_S * specs.len() as f64;
        let mut slices: Vec<Vec<Slice>> = vec![Vec::new(); specs.len()];
        for turn in turns {
            let (lead_in_s, window_s) = (turn.lead_in_ns as f64 / 1e9, turn.window_ns as f64 / 1e9);
            let serving = &mut serving[turn.launch];
            // What wakes it counts nowhere, but takes time: twice that of a lead-in.
            if lead_in_s > 0.0 {
                self.load(serving, 2.0 * lead_in_s);
                self.now_s += EDGE_S;
            }
            let before = if lead_in_s > 0.0 { self.load(serving, lead_in_s) } else { Done::default() };
            let Done { replies: completed, cpu_s } = self.load(serving, window_s);
            self.now_s += EDGE_S;
            slices[turn.launch].push(Slice {
                round: turn.round,
                length_s: lead_in_s + window_s + EDGE_S,
                window_s,
                completed,
                ok: completed,
                replies: before.replies + completed,
                cpu_s: before.cpu_s + cpu_s,
                ..Slice::default()
            });
        }
        let record = |(spec, slices): (&TrialSpec, Vec<Slice>)| {
            let measured = || slices.iter().filter(|slice| slice.round > 0);
            let replies = measured().map(|it| it.completed).sum();
            let (cpu_s, window_s) = (measured().map(|it| it.cpu_s).sum(), measured().map(|it| it.window_s).sum());
            TrialRecord { slices: slices.clone(), ..self.record(*spec, Done { replies, cpu_s }, window_s) }
        };
        specs.iter().zip(slices).map(record).collect()
    }

    /// A record with nothing but the metric that is compared: others would only cost time.
    fn record(&self, spec: TrialSpec, done: Done, window_s: f64) -> TrialRecord {
        debug_assert!(spec.cell < self.plan.cells.len());
        let TrialSpec { block, position, cell, .. } = spec;
        let mut trial = TrialRecord { block, position, id: spec.id(), ..self.templates[cell].clone() };
        match &mut trial.observation {
            Some(seen) if self.contest.burst.collections().is_some() => seen.cpu_user_s = done.cpu_s,
            seen => *seen = None,
        }
        without_course(&mut trial);
        let measured = trial.measurement.as_mut().expect("it was measured");
        measured.latency_us = model::Latencies::default();
        measured.window_s = window_s;
        (measured.in_window.completed, measured.in_window.ok) = (done.replies, done.replies);
        trial
    }
}

impl Serving {
    /// What it does for so long on a machine of this speed. It computes all the time, but where it stands still.
    fn serve(&mut self, speed: f64, for_s: f64, rng: &mut fastrand::Rng) -> Done {
        let pause_s = if self.burst == Burst::Pauses { PAUSE_S } else { 0.0 };
        // Until a moment it stood still for so long.
        let paused_s = |at_s: f64| at_s.floor() * pause_s + at_s.fract().min(pause_s);
        let served_s = for_s - (paused_s(self.loaded_s + for_s) - paused_s(self.loaded_s));
        self.loaded_s += for_s;
        let replies = (self.level * speed * served_s).round();
        let mut cpu_s = served_s;
        if let Some(a_launch) = self.burst.collections() {
            self.until_collected -= replies;
            while self.until_collected <= 0.0 {
                self.until_collected += self.burst.apart() * (0.5 + rng.f64());
                cpu_s += COLLECTED * SLICED_S / a_launch / speed;
            }
        }
        Done { replies: replies as u64, cpu_s }
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
