//! From an experiment file and a command line to a plan.

use std::collections::BTreeSet;
use std::path::Path;

use judge::ResolvedClaim;
use model::{Blocks, Cell, CellPlan, Claim, Draft, Factor, Metric, Mix, PLAN_SCHEMA, Target};

use super::cells::Ground;
use super::claims::{Court, too_quick};
use super::diagnostic::{Diagnostic, Fault, Read};
use super::generator::{GeneratorAsked, Share};
use super::load::Load;
use super::roster::Roster;
use super::section::{Item, Section, parse};
use super::trials::{BLOCKS_TO_A_REPEAT, Quick, Trials, ladder};
use super::vary::Vary;
use super::{Options, Source};

const KEYS: [&str; 13] = [
    "question",
    "source",
    "seed",
    "margin",
    "load",
    "beside",
    "generator",
    "profile",
    "vary",
    "trials",
    "quick",
    "claim",
    "target",
];

/// Of those of a load, the keys of the one beside it.
const BESIDE_KEYS: [&str; 10] =
    ["model", "headers", "path", "method", "body", "expect_status", "expect_body", "rate", "arrivals", "connections"];

/// The order of trials, and what else is drawn, unless somebody asks for another.
const DEFAULT_SEED: u64 = 42;

/// Half width of "the same" unless the file says otherwise.
const DEFAULT_MARGIN: f64 = 0.05;

/// Reads an experiment and resolves it for a command line and a machine.
///
/// # Errors
/// When the file or the command line asks for something that is unknown or impossible, with the place and the cure.
pub(crate) fn plan(source: &Source, options: &Options) -> Result<Draft, Diagnostic> {
    read(source, options).map_err(|fault| fault.within(&source.name, &source.text))
}

fn read(source: &Source, options: &Options) -> Read<Draft> {
    let document = parse(&source.text)?;
    let file = Section::file(&document, &source.text);
    file.only(&KEYS)?;
    let question = file.require("question", "ask it in one sentence: `question = \"…?\"`")?.text()?;
    let seed = file.read("seed", |item| item.whole(0, "42"))?;
    let seed = options.seed.or(seed).unwrap_or(DEFAULT_SEED);
    let margin = file.read("margin", |item| item.share())?;
    let experiment = Experiment::read(&file, options)?;
    let cells = experiment.cells(options.quick, seed)?;
    let mut plan = Draft {
        schema: PLAN_SCHEMA.to_owned(),
        name: stem(&source.name),
        question: question.to_owned(),
        source: file.read("source", |item| item.text().map(str::to_owned))?,
        quick: options.quick,
        seed,
        margin: margin.unwrap_or(DEFAULT_MARGIN),
        precision: experiment.trials.precision,
        allow_failures: options.allow_failures.unwrap_or(experiment.trials.allow_failures),
        precise: vec![Metric::Throughput],
        blocks: experiment.blocks(options)?,
        blocks_before: Vec::new(),
        repeats: 0,
        twin: None,
        twin_in_turn: None,
        ladder: experiment.ladder.clone(),
        rotation: experiment.trials.rotation.filter(|_| options.rotates),
        profile_functions: file.read("profile", profile_functions)?.unwrap_or_default(),
        generator: experiment.share.generator.clone(),
        target_cpus: experiment.share.target.clone(),
        factors: experiment.vary.names(),
        targets: experiment.targets(&cells),
        absent: Vec::new(),
        cells,
        added: Vec::new(),
        relative_rates: Vec::new(),
        claims: Vec::new(),
        comparison: None,
        diagnosis: None,
        soak: None,
    };
    plan.repeats = experiment.form(options.quick).repeats.unwrap_or(plan.blocks.max / BLOCKS_TO_A_REPEAT);
    experiment.quick.check(&plan.cells)?;
    let Experiment { vary, roster, .. } = &experiment;
    let full_form = experiment.cells(false, seed)?;
    let machine = options.machine;
    let court = Court { text: &source.text, full: &plan, full_form: &full_form, vary, roster, machine };
    let claims = court.claims(&tables(&file, "claim")?)?;
    experiment.narrow(&mut plan, &claims, options)?;
    Ok(plan)
}

/// The path that a load asks for first, if a good answer to it says that a server is ready, asking changes nothing, and asking
/// without the load's own headers is the same request; else none: ``.
pub(crate) fn ready_path(mix: &Mix) -> &str {
    let first = mix.first();
    let is_good = first.expect.status.is_none_or(|status| (200..400).contains(&status));
    if first.request.method == "GET" && first.request.headers.is_empty() && is_good { &first.request.path } else { "" }
}

/// What the file says, before the command line chooses from it.
struct Experiment<'a> {
    roster: Roster<'a>,
    load: Load,
    beside: Option<Load>,
    vary: Vary,
    trials: Trials,
    ladder: Option<String>,
    quick: Quick,
    share: Share,
}

impl<'a> Experiment<'a> {
    fn read(file: &Section, options: &Options<'a>) -> Read<Self> {
        let section = |key: &str| file.read(key, |item| item.section(&format!("[{key}]")));
        let roster = Roster::read(&tables(file, "target")?, options.zoo, options.base)?;
        let load = Load::read(section("load")?.as_ref(), options.base)?;
        let beside = section("beside")?.map(|section| beside(&section, options.base)).transpose()?;
        let vary = Vary::read(file, &load, &roster)?;
        if let Some(item) = file.get("beside").filter(|_| !vary.names().iter().any(|name| name == Factor::Beside.id()))
        {
            let fault = Fault::new(item.key_span(), "`[beside]` is on no target");
            return Err(fault.help("write `beside = [false, true]` in [vary]"));
        }
        let trials = section("trials")?;
        let ladder = trials.as_ref().map_or(Ok(None), |trials| trials.read("ladder", |item| ladder(item, &vary)))?;
        let trials = Trials::read(trials.as_ref())?;
        let quick = Quick::read(section("quick")?.as_ref(), trials, &vary, &roster)?;
        let generator = GeneratorAsked::read(section("generator")?.as_ref(), options.machine)?;
        let share = Share::of(options.machine, options.generator.or(generator));
        Ok(Experiment { roster, load, beside, vary, trials, ladder, quick, share })
    }

    fn form(&self, quick: bool) -> Trials {
        if quick { self.quick.trials } else { self.trials }
    }

    fn cells(&self, quick: bool, seed: u64) -> Read<Vec<CellPlan>> {
        let Experiment { vary, load, beside, share, .. } = self;
        Ground { vary, load, beside: beside.as_ref(), share, trials: self.form(quick), quick, seed }.cells()
    }

    fn blocks(&self, options: &Options) -> Read<Blocks> {
        match options.blocks {
            None => Ok(self.form(options.quick).blocks),
            Some(0) => {
                let fault = Fault::of_argument("--blocks 0".to_owned(), 9..10, "there must be at least one block");
                Err(fault.help("a verdict needs six: `--blocks 6`"))
            }
            Some(exactly) => Ok(Blocks { min: exactly, max: exactly }),
        }
    }

    /// Every target of the file once. One that does not say which path answers once it is ready is asked for what its first
    /// cell asks for, where that is a request to ask again and again, and else for `/`.
    fn targets(&self, cells: &[CellPlan]) -> Vec<Target> {
        let mut targets: Vec<Target> = Vec::new();
        for entrant in self.vary.tables.iter().flat_map(|table| &table.targets) {
            if targets.iter().all(|known| known.name != entrant.target.name) {
                targets.push(entrant.target.clone());
            }
        }
        for target in targets.iter_mut().filter(|target| target.launch.ready.is_empty()) {
            let first = cells.iter().find(|cell| cell.levels.target() == target.name);
            target.launch.ready = first.map_or("", |cell| ready_path(&cell.load.mix)).to_owned();
        }
        targets
    }

    /// Why a cell of the full plan is not part of this run, when it is not.
    fn left_out(&self, cell: &Cell, options: &Options) -> Option<String> {
        let target = cell.target();
        if let Some(asked) = options.targets {
            if !asked.iter().any(|name| name == target) {
                return Some(format!("target {target} is not part of this run"));
            }
        } else if options.quick && self.quick.targets.as_ref().is_some_and(|kept| !kept.iter().any(|n| n == target)) {
            return Some("not part of the quick form".to_owned());
        }
        let dropped = options.quick && !self.quick.keeps_levels_of(cell);
        dropped.then(|| "not part of the quick form".to_owned())
    }

    /// Takes the cells out that this run leaves out, and those that only claims ask for which this machine is too small
    /// for. A claim that needs one of them stays, and says why it is not testable.
    fn narrow(&self, plan: &mut Draft, claims: &[(Claim, ResolvedClaim)], options: &Options) -> Read<()> {
        self.check_asked(options)?;
        let reasons: Vec<Option<String>> = plan.cells.iter().map(|cell| self.left_out(&cell.levels, options)).collect();
        let reason_of = |resolved: &ResolvedClaim| {
            let left_out = resolved.cells.values().find_map(|cell| reasons[*cell].clone());
            left_out.or_else(|| too_quick(resolved, &plan.cells))
        };
        plan.claims = claims
            .iter()
            .map(|(claim, resolved)| Claim {
                not_testable: claim.not_testable.clone().or_else(|| reason_of(resolved)),
                ..claim.clone()
            })
            .collect();
        let asked = |testable: bool| -> BTreeSet<usize> {
            let those = claims.iter().filter(|(claim, _)| claim.not_testable.is_none() == testable);
            those.flat_map(|(_, resolved)| resolved.cells.values().copied()).collect()
        };
        let (tested, untested) = (asked(true), asked(false));
        // Who names targets wants to see them, whatever claims are about.
        let claimed_only = options.quick && self.quick.claimed_only && options.targets.is_none();
        let may_stay = |cell: &usize| tested.contains(cell) || !(claimed_only || untested.contains(cell));
        let stays: Vec<bool> = (0..plan.cells.len()).map(|cell| reasons[cell].is_none() && may_stay(&cell)).collect();
        let mut stays = stays.iter();
        plan.cells.retain(|_| stays.next().is_some_and(|stays| *stays));
        let named: BTreeSet<&str> = plan.cells.iter().map(|cell| cell.levels.target()).collect();
        plan.targets.retain(|target| named.contains(target.name.as_str()));
        if plan.cells.is_empty() {
            let fault = Fault::new(self.quick.span.clone(), "the quick form has no cell");
            return Err(fault.help("keep levels of [vary] that occur together"));
        }
        Ok(())
    }

    /// Refuses a `--target` that is not in the file.
    fn check_asked(&self, options: &Options) -> Read<()> {
        let Some(asked) = options.targets else { return Ok(()) };
        let known = self.vary.target_names();
        let mut at = "--target ".len();
        for name in asked {
            if !known.contains(&name.as_str()) {
                let typed = format!("--target {}", asked.join(","));
                let message = format!("unknown target `{name}`");
                return Err(Fault::of_argument(typed, at..at + name.len(), message)
                    .nearest(name, &known)
                    .help(format!("its targets are {}", known.join(", "))));
            }
            at += name.len() + 1;
        }
        Ok(())
    }
}

/// `[beside]`: a load of one request on connections of its own, at the same time as that of `[load]`.
fn beside(section: &Section, base: &Path) -> Read<Load> {
    section.only(&BESIDE_KEYS)?;
    section.require("connections", "say how many there are: `connections = 1`")?;
    if let Some(rate) = section.get("rate").filter(Item::is_text) {
        return Err(rate.fault("the load beside has a rate of its own").help("write requests a second: `rate = 5`"));
    }
    Load::read(Some(section), base)
}

/// `[profile]`: words that the names of functions contain.
fn profile_functions(item: Item) -> Read<Vec<String>> {
    let section = item.section("[profile]")?;
    section.only(&["functions"])?;
    let functions = section.require("functions", "name some: `functions = [\"futex\", \"addtimer\"]`")?;
    functions.values()?.iter().map(|word| Ok(word.text()?.to_owned())).collect()
}

/// The tables of `[[key]]`, none if there are none.
fn tables<'a>(file: &Section<'a>, key: &str) -> Read<Vec<Section<'a>>> {
    Ok(file.read(key, |item| item.sections())?.unwrap_or_default())
}

/// The file's name without folder and ending.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
