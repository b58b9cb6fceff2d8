//! `[vary]`: the conditions that are compared. Each table is a full cross product; several make a union.

use std::collections::BTreeSet;

use ::report::format::thousands;

use super::diagnostic::{Fault, Read, Span, nearest};
use super::factor::{FactorKind, TARGET, Varied};
use super::load::{FIXED, Load};
use super::roster::{Entrant, Roster};
use super::section::{Item, Section};

/// Cells of an experiment at most. A block launches each of them: at a second a launch, six blocks of so many take eight
/// hours, and their records hundreds of megabytes.
const MOST_CELLS: usize = 5_000;

/// Targets of an experiment at most: each is compared with all others under the same conditions.
const MOST_TARGETS: usize = 100;

/// Every `[vary]` table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vary {
    pub(super) tables: Vec<VaryTable>,
    names: Vec<String>,
}

/// One `[vary]` table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VaryTable {
    pub(super) span: Span,
    pub(super) targets: Vec<Entrant>,
    /// The other factors, in the order of the file.
    pub(super) factors: Vec<Varied>,
}

impl Vary {
    /// Reads `[vary]` or every `[[vary]]`; without it, the file's one own target is tried under the load as it is.
    pub(super) fn read(file: &Section, load: &Load, roster: &Roster) -> Read<Vary> {
        let sections = match file.get("vary") {
            None => Vec::new(),
            Some(item) if item.is_list() => item.sections()?,
            Some(item) => vec![item.section("[vary]")?],
        };
        let mut vary = Vary { tables: Vec::new(), names: Vec::new() };
        for section in &sections {
            vary.tables.push(table(section, load, roster)?);
            vary.names.extend(section.items().iter().map(|item| item.name().to_owned()));
        }
        if sections.is_empty() {
            let targets = vec![only_own(file.span(), roster)?];
            vary.tables.push(VaryTable { span: file.span(), targets, factors: Vec::new() });
        }
        if !vary.names.iter().any(|name| name == TARGET) {
            vary.names.insert(0, TARGET.to_owned());
        }
        let mut seen = BTreeSet::new();
        vary.names.retain(|name| seen.insert(name.clone()));
        vary.check_size()?;
        Ok(vary)
    }

    /// Refuses what would be too large, before it is expanded.
    fn check_size(&self) -> Read<()> {
        let mut targets = BTreeSet::new();
        for entrant in self.tables.iter().flat_map(|table| &table.targets) {
            targets.insert(&entrant.target.name);
            if targets.len() > MOST_TARGETS {
                let message = format!("more than {MOST_TARGETS} targets");
                return Err(Fault::new(entrant.span.clone(), message)
                    .help("each is compared with all others: write several experiments"));
            }
        }
        let mut cells: usize = 0;
        for table in &self.tables {
            cells = cells.saturating_add(table.cells());
            if cells > MOST_CELLS {
                let (cells, most) = (thousands(cells as u64), thousands(MOST_CELLS as u64));
                let message = format!("this makes {cells} cells; an experiment has {most} at most");
                return Err(Fault::new(table.span.clone(), message)
                    .help("each block launches all of them: vary fewer levels, or write several experiments"));
            }
        }
        Ok(())
    }

    /// Every factor, the target among them, in the order of the file.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn factors(&self) -> impl Iterator<Item = &Varied> {
        self.tables.iter().flat_map(|table| &table.factors)
    }

    /// What a varied factor acts on; none for the target and for what is not varied.
    pub(super) fn kind(&self, name: &str) -> Option<FactorKind> {
        self.factors().find(|factor| factor.name == name).map(|factor| factor.kind)
    }

    /// The names of the targets, each once, in the order of the file.
    pub(super) fn target_names(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let names = self.tables.iter().flat_map(|table| &table.targets).map(|entrant| entrant.target.name.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }
}

impl VaryTable {
    /// How many cells it makes: the product of its levels.
    fn cells(&self) -> usize {
        let levels = self.factors.iter().map(|factor| factor.values.len());
        levels.fold(self.targets.len(), usize::saturating_mul)
    }
}

fn table(section: &Section, load: &Load, roster: &Roster) -> Read<VaryTable> {
    let targets = targets(section, roster)?;
    let mut factors = Vec::new();
    for item in section.items().iter().filter(|item| item.name() != TARGET) {
        let kind = match FactorKind::common(item.name()) {
            Some(kind) => kind,
            None => setting_kind(section, item, &targets)?,
        };
        if let FactorKind::Load(key) = kind {
            load.allow(key, item.key_span())?;
        }
        let factor = Varied::read(kind, *item)?;
        if kind == FactorKind::Runtime {
            known_runtimes(&factor, &targets)?;
        }
        factors.push(factor);
    }
    Ok(VaryTable { span: section.span(), targets, factors })
}

fn targets(section: &Section, roster: &Roster) -> Read<Vec<Entrant>> {
    let Some(item) = section.get(TARGET) else { return Ok(vec![only_own(section.span(), roster)?]) };
    let (mut entrants, mut known): (Vec<Entrant>, _) = (Vec::new(), BTreeSet::new());
    for one in item.values()? {
        let entrant = roster.find(one)?;
        if !known.insert(entrant.target.name.clone()) {
            let message = format!("`{}` stands twice in `target`", entrant.target.name);
            return Err(one.fault(message).help("leave one out"));
        }
        entrants.push(entrant);
    }
    Ok(entrants)
}

/// The target of an experiment that names none.
fn only_own(span: Span, roster: &Roster) -> Read<Entrant> {
    roster.only_own().ok_or_else(|| {
        let fault = Fault::new(span, "no target is named");
        fault.help("add `target = [\"…\"]` to [vary]; only a file with exactly one [[target]] can leave it out")
    })
}

/// What a setting's values are: every target of the table must declare it, and alike.
fn setting_kind(section: &Section, item: &Item, targets: &[Entrant]) -> Read<FactorKind> {
    let name = item.name();
    let declared = |entrant: &Entrant| entrant.target.settings.get(name).map(|setting| setting.kind);
    let Some(kind) = targets.iter().find_map(declared) else { return Err(unknown(section, item, targets)) };
    for entrant in targets {
        let target = &entrant.target;
        match declared(entrant) {
            Some(own) if own == kind => {}
            Some(_) => {
                let message =
                    format!("`{name}` of `{}` has other values than that of the targets before it", target.name);
                return Err(Fault::new(item.key_span(), message).help("write a [[vary]] table for each kind"));
            }
            None => {
                let has: Vec<&str> = target.settings.keys().map(String::as_str).collect();
                let has = if has.is_empty() { "no settings".to_owned() } else { has.join(", ") };
                let fault = Fault::new(item.key_span(), format!("`{}` has no setting `{name}`", target.name));
                return Err(fault.help(format!("it has {has}; leave the target out of this table, or vary another")));
            }
        }
    }
    Ok(FactorKind::Setting(kind))
}

fn unknown(section: &Section, item: &Item, targets: &[Entrant]) -> Fault {
    let mut settings: Vec<&str> =
        targets.iter().flat_map(|entrant| entrant.target.settings.keys()).map(String::as_str).collect();
    settings.sort_unstable();
    settings.dedup();
    if FIXED.contains(&item.name()) {
        let message = format!("`{}` cannot be varied", item.name());
        return Fault::new(item.key_span(), message)
            .help("it belongs in [load]; write a second experiment for another");
    }
    let known: Vec<&str> = FactorKind::common_names().into_iter().chain(settings).collect();
    let fault = section.unknown(item, &known);
    if nearest(item.name(), &known).is_some() {
        return fault;
    }
    let declaration = format!("settings.{} = {{ env = \"…\", type = \"…\" }}", item.name());
    fault.help(format!("a setting must be declared by every target of the table: `{declaration}`"))
}

fn known_runtimes(factor: &Varied, targets: &[Entrant]) -> Read<()> {
    for placed in &factor.values {
        let runtime = placed.value.level().to_string();
        for entrant in targets {
            let known: Vec<&str> = entrant.target.runtimes.keys().map(String::as_str).collect();
            if !known.contains(&runtime.as_str()) {
                let message = format!("`{}` has no runtime `{runtime}`", entrant.target.name);
                let has = if known.is_empty() {
                    "it declares none".to_owned()
                } else {
                    format!("it has {}", known.join(", "))
                };
                return Err(Fault::new(placed.span.clone(), message).nearest(&runtime, &known).help(has));
            }
        }
    }
    Ok(())
}
