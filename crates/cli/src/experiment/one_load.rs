//! A plan that is asked for by arguments, not by a file: targets under one load.

use std::collections::BTreeMap;
use std::path::Path;

use judge::thresholds::ALLOWED_FAILURES;
use model::{
    Blocks, BuildRecipe, CURRENT_RUNTIME, Cell, CellPlan, Draft, LaunchRecipe, Level, Load, Metric, PLAN_SCHEMA,
    READY_WITHIN_NS, Rotation, Target, TargetTls, WHOAMI,
};

use super::factor::TARGET;
use super::generator::Share;
use super::recipe::{TARGET_BIN, path_in};
use super::trials::{BLOCKS_TO_A_REPEAT, FULL_BLOCKS};
use super::{GeneratorAsked, Machine};

/// What is asked of it. What is not said is as in an experiment without it.
#[derive(Debug)]
pub(crate) struct OneLoad<'a> {
    /// Name of the plan.
    pub(crate) name: &'a str,
    /// What is asked.
    pub(crate) question: String,
    /// What all that is drawn depends on.
    pub(crate) seed: u64,
    /// Half width of "the same", as a share.
    pub(crate) margin: f64,
    /// What is to be known how precisely before it may end.
    pub(crate) precise: Vec<Metric>,
    pub(crate) precision: f64,
    /// How its loads go round among the targets.
    pub(crate) rotation: Option<Rotation>,
    /// Exactly so many blocks.
    pub(crate) blocks: Option<u32>,
    /// The share of requests that may fail.
    pub(crate) allow_failures: Option<f64>,
    /// The generator's part of the machine.
    pub(crate) generator: GeneratorAsked,
    /// The machine.
    pub(crate) machine: Machine,
    /// The targets; of two, that of which ratios are taken comes first.
    pub(crate) targets: Vec<Target>,
    /// The load on each; over TLS where the target serves that.
    pub(crate) load: Load,
    /// Whether a new connection may resume the TLS session of an earlier one.
    pub(crate) tls_resume: bool,
}

impl OneLoad<'_> {
    /// The plan: a cell for each target.
    pub(crate) fn draft(self) -> Draft {
        let share = Share::of(self.machine, self.generator);
        let blocks = self.blocks.map_or(FULL_BLOCKS, |exactly| Blocks { min: exactly, max: exactly });
        let cell = |target: &Target| CellPlan {
            levels: Cell(BTreeMap::from([(TARGET.to_owned(), Level::Text(target.name.clone()))])),
            load: self.load.clone(),
            settings: BTreeMap::new(),
            runtime: CURRENT_RUNTIME.to_owned(),
            handler_delay_ns: 0,
            target_cpus: share.target.clone(),
            rate_share: None,
            rate_arrivals: None,
            profile: false,
            without_admin: false,
            beside: None,
            backend: None,
            upstream: None,
            tls: target.tls.is_some(),
            tls_resume: self.tls_resume,
            census: Some(self.load.mix.first().request.path == WHOAMI),
            quick_ack: false,
            tried: None,
        };
        Draft {
            schema: PLAN_SCHEMA.to_owned(),
            name: self.name.to_owned(),
            question: self.question,
            source: None,
            quick: false,
            seed: self.seed,
            margin: self.margin,
            precision: self.precision,
            allow_failures: self.allow_failures.unwrap_or(ALLOWED_FAILURES),
            precise: self.precise,
            blocks,
            blocks_before: Vec::new(),
            repeats: blocks.max / BLOCKS_TO_A_REPEAT,
            twin: None,
            twin_in_turn: None,
            ladder: None,
            rotation: self.rotation,
            profile_functions: Vec::new(),
            cells: self.targets.iter().map(cell).collect(),
            generator: share.generator,
            target_cpus: share.target,
            factors: vec![TARGET.to_owned()],
            targets: self.targets,
            absent: Vec::new(),
            added: Vec::new(),
            relative_rates: Vec::new(),
            claims: Vec::new(),
            comparison: None,
            diagnosis: None,
            soak: None,
        }
    }
}

/// A server of the user's: how it is built and launched, and where.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Server<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its name for people.
    pub(crate) title: &'a str,
    /// The command line that launches it.
    pub(crate) run: &'a str,
    /// The command line that builds it.
    pub(crate) build: Option<&'a str>,
    /// Where both run.
    pub(crate) cwd: &'a Path,
    /// What answers once it is ready.
    pub(crate) ready: &'a str,
    /// How it serves TLS, where it does.
    pub(crate) tls: Option<TargetTls>,
}

impl Server<'_> {
    /// The target that it is, or what is wrong with a command line.
    pub(crate) fn target(self) -> Result<Target, String> {
        let cwd = path_in(self.cwd, ".");
        let run = split("--run", self.run)?;
        let build = self.build.map(|build| split("--build", build)).transpose()?;
        if build.is_none() && run.iter().any(|word| word.contains(TARGET_BIN)) {
            return Err(format!(
                "`{TARGET_BIN}` is what the build makes; say how it is built (--build), or name the file"
            ));
        }
        let build = build.map(|run| BuildRecipe { run, cwd: cwd.clone(), inputs: Vec::new(), env: BTreeMap::new() });
        let launch = LaunchRecipe {
            run,
            cwd,
            env: BTreeMap::new(),
            ready: self.ready.to_owned(),
            metrics: None,
            ready_within_ns: READY_WITHIN_NS,
            warm_within_ns: 0,
        };
        Ok(Target { title: self.title.to_owned(), build, tls: self.tls, ..Target::of(self.name, launch) })
    }
}

/// The words of a command line.
fn split(option: &str, line: &str) -> Result<Vec<String>, String> {
    let words = shlex::split(line);
    if words.as_ref().is_some_and(Vec::is_empty) {
        return Err(format!("{option} is empty; write a command"));
    }
    words.ok_or_else(|| {
        format!("{option} `{line}` cannot be split into words; close every quote; it is split as a shell would")
    })
}
