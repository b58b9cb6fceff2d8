use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::{
    Arrivals, Backend, Cell, ComparePlan, DiagnosePlan, Fault, GeneratorLimits, Level, Load, Metric, Reason, Rotation,
    SoakPlan, Target, Trying, Upstream, WHOAMI,
};

/// Schema number of `plan.toml`.
pub const PLAN_SCHEMA: &str = "bourdon.plan/3";

/// Those that are read, the newest first. In the second a rotation has one number of rounds for all of the plan, and the first
/// says in words why what a target serves is not known.
pub const PLAN_SCHEMAS: [&str; 3] = [PLAN_SCHEMA, "bourdon.plan/2", "bourdon.plan/1"];

/// A plan in the making, every default filled in: it may still change, and rates that are a share of capacity may not be
/// known yet. Its serialised form is `plan.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Version of this document's shape.
    pub schema: String,
    /// Short name, from the file's name.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// Who published what is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether this is the quick form.
    pub quick: bool,
    /// Seed of the order of trials, of Poisson arrivals and of mixes.
    pub seed: u64,
    /// Half width of the band in which two targets count as the same, as a share (0.05 is 5 %).
    pub margin: f64,
    /// Stop once every compared throughput's half width is below this share.
    pub precision: f64,
    /// The largest share of requests that may fail before the answer is bad; a hundredth in plans that do not say.
    #[serde(default = "a_hundredth")]
    pub allow_failures: f64,
    /// The metrics whose ratios are to be known so precisely; throughput in plans that do not say.
    #[serde(default = "throughput_alone")]
    pub precise: Vec<Metric>,
    /// How often everything is repeated.
    pub blocks: Blocks,
    /// What `blocks` was before it was raised to resume the run, the first value first; none where it never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks_before: Vec<Blocks>,
    /// How many blocks at most are launched again because the machine was busy; none in plans that do not say.
    #[serde(default)]
    pub repeats: u32,
    /// The cell that each block launches once more, so that its target is measured against itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<usize>,
    /// The cell that half of the blocks launch once more instead, so that neither of two that are compared has more launches behind it than the
    /// other. None where it is always the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin_in_turn: Option<usize>,
    /// The factor whose levels are loaded one after the other in one launch, in the order of the cells; none where
    /// each cell has a launch of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladder: Option<String>,
    /// How loads go round among the targets that share their conditions, where they can; none where each launch is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// The functions whose share of a CPU profile counts: those whose name, without the path of its package, contains
    /// one of these words; none where the experiment names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profile_functions: Vec<String>,
    /// How many threads the generator uses, and on which CPUs.
    pub generator: GeneratorPlan,
    /// CPUs of the target unless a cell says otherwise; empty leaves it to the kernel.
    pub target_cpus: Vec<u32>,
    /// Names of the factors that differ between cells, in the order of the file.
    pub factors: Vec<String>,
    /// The targets, each named by at least one cell.
    pub targets: Vec<Target>,
    /// Targets that were asked for and cannot run here, with the reason.
    #[serde(default)]
    pub absent: Vec<AbsentTarget>,
    /// One trial of each is a block. Those whose rate is a share of capacity are closed until it is known.
    pub cells: Vec<CellPlan>,
    /// Cells that a planner added while the plan was carried out. They are in no block and in no table, and not in
    /// `plan.toml`: what is added is recorded beside it.
    #[serde(skip)]
    pub added: Vec<CellPlan>,
    /// What the rates that are shares of capacity come to; none where all rates are figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relative_rates: Vec<RelativeRate>,
    /// Statements to be tried.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// What a comparison asked for; none where the plan is not one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<ComparePlan>,
    /// What a diagnosis asked for; none where the plan is not one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<DiagnosePlan>,
    /// What a soak asked for; none where the plan is not one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<SoakPlan>,
}

fn a_hundredth() -> f64 {
    0.01
}

fn throughput_alone() -> Vec<Metric> {
    vec![Metric::Throughput]
}

/// A plan that can be carried out: an experiment, resolved, every impossible mix refused. It does not change; what
/// differs is another plan, made of its draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan(Draft);

impl Deref for Plan {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.0
    }
}

impl Plan {
    /// The same but for what `change` does to it.
    ///
    /// # Errors
    /// What keeps that from being carried out.
    pub fn with(&self, change: impl FnOnce(&mut Draft)) -> Result<Plan, Fault> {
        let mut draft = self.0.clone();
        change(&mut draft);
        draft.resolve()
    }
}

impl Draft {
    /// Asks for so many blocks after a look at those before, and for as large a share of them to be launched again where the
    /// machine was busy; never for fewer, for a block that was set aside and replaced would count again.
    pub fn raise(&mut self, blocks: u32) {
        let before = std::mem::replace(&mut self.blocks, Blocks { min: blocks, max: blocks });
        let repeats = u64::from(self.repeats) * u64::from(blocks) / u64::from(before.max.max(1));
        self.repeats = u32::try_from(repeats).unwrap_or(u32::MAX).max(self.repeats);
        self.blocks_before.push(before);
    }

    /// The plan that it is, in the shape of today.
    ///
    /// # Errors
    /// What keeps it from being carried out.
    pub fn resolve(self) -> Result<Plan, Fault> {
        match self.fault() {
            Some(fault) => Err(fault),
            None => Ok(Plan(Draft { schema: PLAN_SCHEMA.to_owned(), ..self })),
        }
    }

    /// The same without targets that cannot run here, and without their cells.
    pub fn without(mut self, absent: impl IntoIterator<Item = AbsentTarget>) -> Draft {
        self.absent.extend(absent);
        let absent = &self.absent;
        self.cells.retain(|cell| !absent.iter().any(|absent| absent.covers(cell.levels.target(), &cell.runtime)));
        self
    }

    /// The target of that name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// Whether two cells are rungs of one ladder: they differ in its factor alone and are loaded in one launch. A cell that
    /// was added has its own, except in a soak.
    pub fn same_launch(&self, a: usize, b: usize) -> bool {
        let asked = |cell: usize| cell < self.cells.len();
        if self.soak.is_some() && !asked(a) && !asked(b) {
            return true;
        }
        match &self.ladder {
            Some(ladder) if asked(a) && asked(b) => self.but_for(ladder, a).eq(self.but_for(ladder, b)),
            _ => a == b,
        }
    }

    /// The cells by the launch that they share, each launch's in the order of its rungs.
    pub fn launches(&self) -> Vec<Vec<usize>> {
        let cells = 0..self.cells.len();
        match &self.ladder {
            None => cells.map(|cell| vec![cell]).collect(),
            Some(ladder) => alike(cells.map(|cell| self.but_for(ladder, cell).collect::<Vec<_>>())),
        }
    }

    /// The cells by the conditions that they share, in which targets are compared.
    pub fn by_conditions(&self) -> Vec<Vec<usize>> {
        alike(self.cells.iter().map(|cell| cell.levels.conditions()))
    }

    /// The levels of a cell without one factor.
    fn but_for(&self, factor: &str, cell: usize) -> impl Iterator<Item = (&String, &Level)> {
        self.cells[cell].levels.0.iter().filter(move |(other, _)| *other != factor)
    }
}

/// The places of equal keys together, in the order in which each key first comes.
pub fn alike<K: Ord>(keys: impl IntoIterator<Item = K>) -> Vec<Vec<usize>> {
    let (mut known, mut groups) = (BTreeMap::new(), Vec::<Vec<usize>>::new());
    for (place, key) in keys.into_iter().enumerate() {
        let group = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

/// Fewest blocks, or launches of each server, that a verdict rests on; why, stands with the thresholds of `judge`.
pub const BLOCKS_FOR_A_VERDICT: u32 = 6;

/// How often a block is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocks {
    /// At least so often.
    pub min: u32,
    /// At most so often.
    pub max: u32,
}

/// A rate that is a share of what the targets under the same conditions serve in a closed load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelativeRate {
    /// The conditions, the share as their level of `rate`.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// What it comes to: that share of the least.
    pub rate_per_s: f64,
    /// What each target served in a closed load before the run, in requests a second.
    pub closed_per_s: BTreeMap<String, f64>,
    /// The targets of which that is not known, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub without: BTreeMap<String, NotServed>,
    /// The targets that may serve more than their closed load shows, each with what held that load back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at_least: BTreeMap<String, Reason>,
}

impl RelativeRate {
    /// The target that served least in its closed load, and so many requests a second.
    pub fn slowest(&self) -> Option<(&str, f64)> {
        let served = self.closed_per_s.iter().map(|(target, per_s)| (target.as_str(), *per_s));
        served.filter(|(_, per_s)| *per_s > 0.0).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Why what a target serves is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NotServed {
    /// In words, as plans of earlier versions have it.
    Said(String),
    /// What voided its load, limited it, or made its figure one of failures.
    Seen(Reason),
}

/// The generator's share of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratorPlan {
    /// Threads.
    pub threads: u32,
    /// Their CPUs; empty leaves them to the kernel.
    pub cpus: Vec<u32>,
    /// Whether a thread watches the clock instead of sleeping until the next request of an open load is due.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spin: bool,
    /// What one thread can do on this machine, where it was calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<GeneratorLimits>,
    /// How many nodes make each load, with as many threads each, on CPUs of their own; none where this machine makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
}

/// A target that cannot run here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AbsentTarget {
    /// Its name.
    pub name: String,
    /// The one runtime with which it cannot run; none when that holds for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// What is missing and how to get it.
    pub reason: String,
    /// Whether its toolchain is here, and it could not be built all the same. Records of earlier versions do not tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl AbsentTarget {
    /// Whether a cell of this target and runtime is among what cannot run.
    pub fn covers(&self, target: &str, runtime: &str) -> bool {
        self.name == target && self.runtime.as_deref().is_none_or(|absent| absent == runtime)
    }

    /// Its name for people, with the runtime if it is only that: `go-net-http with runtime 1.9`.
    pub fn label(&self) -> String {
        match &self.runtime {
            Some(runtime) => format!("{} with runtime {runtime}", self.name),
            None => self.name.clone(),
        }
    }
}

/// One cell with everything a trial in it needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    /// Its levels, the target among them.
    pub levels: Cell,
    /// The load on it.
    pub load: Load,
    /// Environment variables that carry its settings to the target.
    pub settings: BTreeMap<String, String>,
    /// Runtime the target is built with.
    pub runtime: String,
    /// The handler delay in nanoseconds, where the target has one; its ceiling follows from it.
    pub handler_delay_ns: u64,
    /// CPUs of the target; empty leaves it to the kernel.
    pub target_cpus: Vec<u32>,
    /// The share of what the slowest of the compared targets serves in a closed load, where the rate is that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_share: Option<f64>,
    /// How arrivals are spaced once that rate is known; none where they are at equal distances, or the rate is a figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_arrivals: Option<Arrivals>,
    /// Whether its trials take a CPU profile of the target over the window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub profile: bool,
    /// Whether the target is launched without the port for its runtime's figures, so that it serves none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_admin: bool,
    /// Another load on the target at the same time, of which it is only counted what it got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Load>,
    /// The server that its handlers ask; none where they ask none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// The server of somebody else's that it asks, where it is told where that is; none where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
    /// Whether its load is over TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls: bool,
    /// Whether a new connection may resume the TLS session of an earlier one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tls_resume: bool,
    /// Whether it is counted how many units of execution serve its connections. Plans from before do not say: theirs are
    /// the cells that load `/whoami`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub census: Option<bool>,
    /// Whether what its target sends is acknowledged at once, see [`crate::LoadSpec::quick_ack`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick_ack: bool,
    /// The experiment of a diagnosis that it is; none of any other cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<Trying>,
}

impl CellPlan {
    /// Whether it is counted how many units of execution serve its connections.
    pub fn takes_census(&self) -> bool {
        self.census.unwrap_or_else(|| self.load.mix.first().request.path == WHOAMI)
    }

    /// Whether its rate is a share of capacity that is not known yet. Until then its load is the closed one by which that is
    /// measured, and no load model of its own: the engine, which shares the type, could not make it.
    pub fn awaits_rate(&self) -> bool {
        self.rate_share.is_some() && !self.load.model.has_schedule()
    }
}

/// A published statement, made into a test whose threshold is fixed before any run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Short name.
    pub name: String,
    /// The statement.
    pub says: String,
    /// Levels that hold for every call in `expect` that does not fix them itself.
    #[serde(default, rename = "where")]
    pub conditions: Cell,
    /// Published figures, by target or label.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// The published value of the expression, where it can be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_value: Option<f64>,
    /// The test, for instance `throughput(a) / throughput(b) < 0.05`.
    pub expect: String,
    /// What it says to the question of the experiment, where it holds: a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// How many cores the statement is about, where it is about many. Absent where it holds for any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u32>,
    /// Why it cannot be tried here, when it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_testable: Option<String>,
}
