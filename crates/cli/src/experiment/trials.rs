//! `[trials]` and `[quick]`: how long and how often.

use std::collections::BTreeSet;

use judge::thresholds::ALLOWED_FAILURES;
use model::{Blocks, Cell, CellPlan, LoadKey, NS_PER_S, Rotation};

use super::diagnostic::{Fault, Read, Span};
use super::factor::{FactorKind, TARGET, Varied};
use super::roster::Roster;
use super::rotation::{ROTATION, rotation};
use super::section::{Item, Section};
use super::value::Placed;
use super::vary::Vary;

/// Six pairs at least, else no verdict (the sign test on six blocks reaches 96.9 %).
pub(super) const FULL_BLOCKS: Blocks = Blocks { min: 6, max: 12 };
const QUICK_BLOCKS: Blocks = Blocks { min: 6, max: 6 };

/// One block in so many is launched again, unless the file says otherwise, when the machine was disturbed: enough for
/// a passing disturbance, and a machine that is always disturbed makes no run much longer.
pub(super) const BLOCKS_TO_A_REPEAT: u32 = 6;

/// How long and how often, in one form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trials {
    pub(super) warm_up_ns: u64,
    pub(super) window_ns: u64,
    /// Whether launches may get less load before the window than their target needs to be warm.
    pub(super) cold: bool,
    pub(super) blocks: Blocks,
    pub(super) precision: f64,
    pub(super) allow_failures: f64,
    /// Blocks that may be launched again; none leaves it to their number.
    pub(super) repeats: Option<u32>,
    /// How loads go round; none where each launch is to be alone.
    pub(super) rotation: Option<Rotation>,
}

impl Trials {
    /// Reads `[trials]`.
    pub(super) fn read(section: Option<&Section>) -> Read<Trials> {
        let defaults = Trials {
            warm_up_ns: NS_PER_S,
            window_ns: 10 * NS_PER_S,
            cold: false,
            blocks: FULL_BLOCKS,
            precision: 0.03,
            allow_failures: ALLOWED_FAILURES,
            repeats: None,
            rotation: Some(ROTATION),
        };
        let Some(section) = section else { return Ok(defaults) };
        section.only(&[
            "warm_up",
            "window",
            "blocks",
            "precision",
            "allow_failures",
            "repeats",
            "rotation",
            "ladder",
        ])?;
        let precision = section.read("precision", |item| item.share())?.unwrap_or(defaults.precision);
        let allow_failures = section.read("allow_failures", |item| item.any_share())?.unwrap_or(ALLOWED_FAILURES);
        let rotation = section.read("rotation", |item| rotation(item, section.get("ladder").is_some()))?;
        let rotation = rotation.unwrap_or(defaults.rotation);
        Ok(Trials { precision, allow_failures, rotation, ..defaults.overridden(section)? })
    }

    /// The same, but for what a section says of warm-up, window, blocks and repeats.
    fn overridden(self, section: &Section) -> Read<Trials> {
        Ok(Trials {
            warm_up_ns: section.read("warm_up", |item| item.duration())?.unwrap_or(self.warm_up_ns),
            window_ns: section.read("window", |item| item.positive_duration())?.unwrap_or(self.window_ns),
            cold: self.cold,
            blocks: section.read("blocks", blocks)?.unwrap_or(self.blocks),
            precision: self.precision,
            allow_failures: self.allow_failures,
            repeats: section.read("repeats", |item| item.small(0, "1"))?.or(self.repeats),
            rotation: self.rotation,
        })
    }
}

/// The factor of a ladder: a key of the load that is varied, its levels in the order in which they are climbed.
pub(super) fn ladder(item: Item, vary: &Vary) -> Read<String> {
    let name = item.text()?;
    let help = "a ladder climbs the load on one launch: write `ladder = \"connections\"` and vary `connections`";
    match vary.kind(name) {
        Some(FactorKind::Load(LoadKey::Tls)) => {
            return Err(item.fault(format!("`{name}` cannot change while a server runs")).help(help));
        }
        Some(FactorKind::Load(_)) => {}
        Some(_) => return Err(item.fault(format!("`{name}` cannot change while a server runs")).help(help)),
        None => return Err(item.fault(format!("this experiment does not vary `{name}`")).help(help)),
    }
    for factor in vary.tables.iter().flat_map(|table| &table.factors).filter(|factor| factor.name == name) {
        let steps: Vec<f64> = factor.values.iter().filter_map(|placed| placed.value.number()).collect();
        if let Some(place) = steps.windows(2).position(|pair| pair[1] <= pair[0]) {
            let fault = Fault::new(factor.values[place + 1].span.clone(), format!("the rungs of `{name}` must rise"));
            return Err(fault.help("each rung is loaded after the one before it: write the smallest first"));
        }
    }
    Ok(name.to_owned())
}

/// A number of blocks, or `{ min, max }`.
fn blocks(item: Item) -> Read<Blocks> {
    if !item.is_table() {
        let exactly = item.small(1, "6")?;
        return Ok(Blocks { min: exactly, max: exactly });
    }
    let section = item.section("`blocks`")?;
    section.only(&["min", "max"])?;
    let cure = "write `blocks = { min = 6, max = 12 }`";
    let min = section.require("min", cure)?.small(1, "6")?;
    let most = section.require("max", cure)?;
    let max = most.small(1, "12")?;
    if max < min {
        return Err(most.fault(format!("`max` is below `min`, which is {min}")).help(cure));
    }
    Ok(Blocks { min, max })
}

/// What `--quick` changes.
#[derive(Debug, Clone)]
pub(super) struct Quick {
    /// Place of the section, for messages.
    pub(super) span: Span,
    /// Lengths and blocks of the quick form.
    pub(super) trials: Trials,
    /// The targets that stay; none means all.
    pub(super) targets: Option<Vec<String>>,
    /// The levels that stay, by factor.
    pub(super) keeps: Vec<Varied>,
    /// Whether of these only the cells stay that a claim is about.
    pub(super) claimed_only: bool,
}

impl Quick {
    /// Reads `[quick]`, whose factors and levels must be those of `[vary]`.
    pub(super) fn read(section: Option<&Section>, full: Trials, vary: &Vary, roster: &Roster) -> Read<Quick> {
        let trials = Trials { blocks: QUICK_BLOCKS, ..full };
        let mut quick = Quick { span: 0..0, trials, targets: None, keeps: Vec::new(), claimed_only: false };
        let Some(section) = section else { return Ok(quick) };
        quick.span = section.span();
        quick.trials = trials.overridden(section)?;
        quick.trials.cold = section.read("cold", |item| item.flag())?.unwrap_or(false);
        quick.claimed_only = section.read("claimed_only", |item| item.flag())?.unwrap_or(false);
        for item in section.items() {
            match item.name() {
                "window" | "warm_up" | "cold" | "blocks" | "repeats" | "claimed_only" => {}
                TARGET => quick.targets = Some(targets(*item, vary, roster)?),
                name => match vary.kind(name) {
                    Some(kind) => quick.keeps.push(Varied::read(kind, *item)?),
                    None => return Err(unknown(section, item, vary)),
                },
            }
        }
        Ok(quick)
    }

    /// Refuses levels that no cell has.
    pub(super) fn check(&self, cells: &[CellPlan]) -> Read<()> {
        for factor in &self.keeps {
            let levels = cells.iter().filter_map(|cell| cell.levels.get(&factor.name)).map(ToString::to_string);
            let mut seen = BTreeSet::new();
            let levels: Vec<String> = levels.filter(|level| seen.insert(level.clone())).collect();
            let foreign = |placed: &&Placed| !levels.contains(&placed.value.level().to_string());
            if let Some(placed) = factor.values.iter().find(foreign) {
                let level = placed.value.level().to_string();
                let message = format!("`{level}` is not a level of `{}` in [vary]", factor.name);
                let fault = Fault::new(placed.span.clone(), message).nearest(&level, &levels);
                return Err(fault.help(format!("its levels are {}", levels.join(", "))));
            }
        }
        Ok(())
    }

    /// Whether a cell's levels are among those that stay.
    pub(super) fn keeps_levels_of(&self, cell: &Cell) -> bool {
        let keeps = |factor: &Varied| {
            cell.get(&factor.name).is_none_or(|level| factor.values.iter().any(|placed| placed.value.level() == *level))
        };
        self.keeps.iter().all(keeps)
    }
}

fn targets(item: Item, vary: &Vary, roster: &Roster) -> Read<Vec<String>> {
    let known = vary.target_names();
    let mut names = Vec::new();
    for one in item.values()? {
        let name = roster.find(one)?.target.name;
        if !known.contains(&name.as_str()) {
            let fault = one.fault(format!("`{name}` is not among the targets of [vary]")).nearest(&name, &known);
            return Err(fault.help(format!("they are {}", known.join(", "))));
        }
        names.push(name);
    }
    Ok(names)
}

fn unknown(section: &Section, item: &Item, vary: &Vary) -> Fault {
    let own = ["window", "warm_up", "cold", "blocks", "repeats", "claimed_only", TARGET].map(str::to_owned);
    let keys: Vec<String> = own.into_iter().chain(vary.names().into_iter().filter(|name| name != TARGET)).collect();
    section.unknown(item, &keys)
}
