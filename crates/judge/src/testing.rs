//! The vocabulary of the tests: sessions of synthetic launches whose books balance and whose rates and latencies
//! describe the same requests.

mod measured;
mod opened;
mod seen;
mod sliced;
mod spoilt;
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use measured::{WINDOW_S, over};
pub(crate) use measured::{lateness, load_spec, measurement, summary};
use model::*;
pub(crate) use opened::open;
pub(crate) use sliced::{cut, cut_in, feel, slice, woke};
pub(crate) use spoilt::{DIED, die, fail_at_launch, without_course, wrong_replies};

/// Standard normal noise (Box and Muller).
pub(crate) fn normal(rng: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * rng.f64()).cos()
}

/// Student's t noise with three degrees of freedom: heavy tails.
pub(crate) fn student3(rng: &mut fastrand::Rng) -> f64 {
    let numerator = normal(rng);
    let chi_squared: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
    numerator / (chi_squared / 3.0).sqrt()
}

/// From a launch to its target's end: it gets ready, is warmed up and loaded, and ends.
const TAKES: SignedDuration = SignedDuration::from_millis(80 + 1_000 + 10_000 + 420);

/// A session to be: cells with their true throughput, and how often each is launched.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    cells: Vec<(CellPlan, f64)>,
    claims: Vec<Claim>,
    absent: Vec<AbsentTarget>,
    noise: f64,
    block_noise: f64,
    drift: f64,
    blocks: u32,
    planned: Blocks,
    repeats: u32,
    twin: bool,
    seed: u64,
    warm_within_ns: u64,
    quick: bool,
    target_busy: f64,
    generator_busy: f64,
    window_s: u32,
}

impl Session {
    pub(crate) fn new() -> Self {
        Session {
            cells: Vec::new(),
            claims: Vec::new(),
            absent: Vec::new(),
            noise: 0.01,
            block_noise: 0.0,
            drift: 0.0,
            blocks: 6,
            planned: Blocks { min: 6, max: 6 },
            repeats: 0,
            twin: false,
            seed: 42,
            warm_within_ns: 0,
            quick: false,
            target_busy: 0.03,
            generator_busy: 0.43,
            window_s: WINDOW_S,
        }
    }

    /// A target at 10 connections, without delay, with its true throughput.
    pub(crate) fn cell(self, target: &str, throughput: f64) -> Self {
        self.push(cell_plan(target, &[], 10, 0), throughput)
    }

    /// A target at so many connections and a handler delay in ms.
    pub(crate) fn delayed(self, target: &str, connections: u32, delay_ms: u64, throughput: f64) -> Self {
        let delay = format_duration(delay_ms * 1_000_000);
        let levels = [("connections", Level::Integer(connections.into())), ("handler_delay", Level::Text(delay))];
        self.push(cell_plan(target, &levels, connections, delay_ms), throughput)
    }

    fn push(mut self, cell: CellPlan, throughput: f64) -> Self {
        self.cells.push((cell, throughput));
        self
    }

    /// Relative standard deviation between launches.
    pub(crate) fn noise(self, noise: f64) -> Self {
        Session { noise, ..self }
    }

    /// Relative standard deviation between blocks, shared by all targets.
    pub(crate) fn block_noise(self, block_noise: f64) -> Self {
        Session { block_noise, ..self }
    }

    /// Relative change of the first target from block to block.
    pub(crate) fn drift(self, drift: f64) -> Self {
        Session { drift, ..self }
    }

    pub(crate) fn blocks(self, blocks: u32) -> Self {
        Session { blocks, ..self }
    }

    pub(crate) fn planned(self, min: u32, max: u32) -> Self {
        Session { planned: Blocks { min, max }, ..self }
    }

    /// Blocks that are launched again when the machine was disturbed.
    pub(crate) fn repeats(self, repeats: u32) -> Self {
        Session { repeats, ..self }
    }

    /// With the first target measured against itself.
    pub(crate) fn twin(self) -> Self {
        Session { twin: true, ..self }
    }

    pub(crate) fn seed(self, seed: u64) -> Self {
        Session { seed, ..self }
    }

    /// What the first target needs to be warm, in seconds; cells give 1 s.
    pub(crate) fn warm_within(self, seconds: u64) -> Self {
        Session { warm_within_ns: seconds * NS_PER_S, ..self }
    }

    pub(crate) fn quick(self) -> Self {
        Session { quick: true, ..self }
    }

    pub(crate) fn target_busy(self, target_busy: f64) -> Self {
        Session { target_busy, ..self }
    }

    pub(crate) fn generator_busy(self, generator_busy: f64) -> Self {
        Session { generator_busy, ..self }
    }

    /// How long every cell is measured, in seconds: fewer than ten do not tell its course.
    pub(crate) fn window(mut self, window_s: u32) -> Self {
        let extent = Extent::Window(u64::from(window_s) * NS_PER_S);
        self.cells.iter_mut().for_each(|(cell, _)| cell.load.extent = extent);
        Session { window_s, ..self }
    }

    pub(crate) fn absent(mut self, name: &str, reason: &str) -> Self {
        self.absent.push(AbsentTarget {
            name: name.to_owned(),
            runtime: None,
            reason: reason.to_owned(),
            failed: false,
        });
        self
    }

    /// A claim without conditions.
    pub(crate) fn claim(self, expect: &str) -> Self {
        self.claim_where(&[], expect)
    }

    pub(crate) fn claim_where(mut self, conditions: &[(&str, Level)], expect: &str) -> Self {
        let conditions = conditions.iter().map(|(factor, level)| ((*factor).to_owned(), level.clone()));
        self.claims.push(Claim {
            name: format!("claim-{}", self.claims.len() + 1),
            says: "somebody said so".to_owned(),
            conditions: Cell(conditions.collect()),
            published: BTreeMap::new(),
            published_value: Some(0.5),
            expect: expect.to_owned(),
            answers: None,
            cores: None,
            not_testable: None,
        });
        self
    }

    pub(crate) fn plan(&self) -> Plan {
        self.draft().resolve().expect("a session can be carried out")
    }

    pub(crate) fn draft(&self) -> Draft {
        let mut names: Vec<&str> = self.cells.iter().map(|(cell, _)| cell.levels.target()).collect();
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        let mut factors: Vec<String> = vec!["target".to_owned()];
        if self.cells.iter().any(|(cell, _)| cell.levels.0.len() > 1) {
            factors.extend(["handler_delay".to_owned(), "connections".to_owned()]);
        }
        let mut targets: Vec<Target> = names.into_iter().map(target).collect();
        targets.iter_mut().take(1).for_each(|first| first.launch.warm_within_ns = self.warm_within_ns);
        Draft {
            schema: PLAN_SCHEMA.to_owned(),
            name: "session".to_owned(),
            question: "Which is faster?".to_owned(),
            source: None,
            quick: self.quick,
            seed: self.seed,
            margin: 0.05,
            precision: 0.03,
            allow_failures: crate::thresholds::ALLOWED_FAILURES,
            precise: vec![Metric::Throughput],
            blocks: self.planned,
            blocks_before: Vec::new(),
            repeats: self.repeats,
            twin: self.twin.then_some(0),
            twin_in_turn: None,
            ladder: None,
            rotation: None,
            profile_functions: vec![],
            generator: GeneratorPlan { threads: 1, cpus: Vec::new(), spin: false, limits: None, nodes: None },
            target_cpus: Vec::new(),
            factors,
            targets,
            absent: self.absent.clone(),
            cells: self.cells.iter().map(|(cell, _)| cell.clone()).collect(),
            added: Vec::new(),
            relative_rates: Vec::new(),
            claims: self.claims.clone(),
            comparison: None,
            diagnosis: None,
            soak: None,
        }
    }

    /// The records of all blocks, in order.
    pub(crate) fn records(&self) -> Vec<TrialRecord> {
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let mut block = |block: u32| -> Vec<f64> {
            let shared = self.block_noise * normal(&mut rng);
            let mut disturbance = |index: usize| {
                let drift = if index == 0 { f64::from(block - 1) * self.drift.ln_1p() } else { 0.0 };
                drift + self.noise * normal(&mut rng) + shared
            };
            (0..self.cells.len() + usize::from(self.twin)).map(&mut disturbance).collect()
        };
        self.records_of(&(1..=self.blocks).map(&mut block).collect::<Vec<_>>())
    }

    /// Records of blocks in which each cell's throughput is off by these, as logarithms; the twin's is the last one.
    pub(crate) fn records_of(&self, disturbances: &[Vec<f64>]) -> Vec<TrialRecord> {
        let block = |(block, off): (u32, &Vec<f64>)| -> Vec<TrialRecord> {
            let record = |(place, off): (usize, &f64)| {
                let twin = place == self.cells.len();
                let cell = if twin { 0 } else { place };
                let (plan, throughput) = &self.cells[cell];
                let spec = TrialSpec { block, position: place as u32 + 1, cell, twin };
                self.record(spec, plan, throughput * off.exp())
            };
            off.iter().enumerate().map(record).collect()
        };
        (1..).zip(disturbances).flat_map(block).collect()
    }

    fn record(&self, spec: TrialSpec, cell: &CellPlan, rate: f64) -> TrialRecord {
        let started_at = self.began(&spec);
        TrialRecord {
            schema: TRIAL_SCHEMA.to_owned(),
            id: spec.id(),
            block: spec.block,
            position: spec.position,
            cell: spec.cell,
            twin: spec.twin,
            levels: cell.levels.clone(),
            started_at,
            ended_at: Some(started_at + TAKES),
            time_to_ready_ms: Some(80.0),
            measurement: Some(over(self.window_s, f64::from(cell.load.connections), rate, self.generator_busy)),
            beside: None,
            backend: None,
            observation: Some(seen::observation(self.target_busy, self.window_s)),
            failure: None,
            slices: Vec::new(),
        }
    }

    /// When a launch began: one follows the other, second by second.
    fn began(&self, spec: &TrialSpec) -> Timestamp {
        let launches = (self.cells.len() + usize::from(self.twin)) as u32;
        let before = (spec.block - 1) * launches + spec.position - 1;
        Timestamp::UNIX_EPOCH + TAKES * before as i32 + SignedDuration::from_secs(before.into())
    }

    pub(crate) fn analyse(&self) -> Analysis {
        self.analyse_these(&self.records())
    }

    pub(crate) fn analyse_these(&self, records: &[TrialRecord]) -> Analysis {
        crate::analyse(&self.plan(), &Environment::default(), records)
    }
}

/// A closed cell of the plan, with a window of 10 s.
pub(crate) fn cell_plan(target: &str, levels: &[(&str, Level)], connections: u32, delay_ms: u64) -> CellPlan {
    let mut all: BTreeMap<String, Level> = levels.iter().map(|(f, level)| ((*f).to_owned(), level.clone())).collect();
    all.insert("target".to_owned(), Level::Text(target.to_owned()));
    CellPlan {
        levels: Cell(all),
        load: Load {
            mix: Mix::one(request(), ReplyExpectation::default()),
            model: LoadModel::Closed,
            connections,
            pipeline: 1,
            keep_alive: true,
            timeout_ns: None,
            network_delay_ns: 0,
            warm_up_ns: NS_PER_S,
            extent: Extent::Window(10 * NS_PER_S),
        },
        settings: BTreeMap::new(),
        runtime: String::new(),
        handler_delay_ns: delay_ms * 1_000_000,
        target_cpus: Vec::new(),
        rate_share: None,
        rate_arrivals: None,
        profile: false,
        without_admin: false,
        beside: None,
        backend: None,
        upstream: None,
        tls: false,
        tls_resume: false,
        census: Some(false),
        quick_ack: false,
        tried: None,
    }
}

pub(crate) fn request() -> Request {
    Request {
        method: "GET".to_owned(),
        path: "/".to_owned(),
        host: "localhost".to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        version: HttpVersion::Http11,
    }
}

fn target(name: &str) -> Target {
    let launch = LaunchRecipe {
        run: vec!["server".to_owned()],
        cwd: PathBuf::new(),
        env: BTreeMap::new(),
        ready: "/".to_owned(),
        metrics: None,
        ready_within_ns: model::READY_WITHIN_NS,
        warm_within_ns: 0,
    };
    let reconstruction = name.ends_with("-model").then(|| "a model of code that no longer runs".to_owned());
    Target { reconstruction, ..Target::of(name, launch) }
}
