//! From `[vary]` to cells: every combination with everything a trial in it needs.

use std::collections::{BTreeMap, BTreeSet};

use model::{Arrivals, CURRENT_RUNTIME, Cell, CellPlan, Factor, Level, Setting, WHOAMI, WORK, WorkKind};

use super::backend::Asked;
use super::diagnostic::{Fault, Read};
use super::factor::{FactorKind, TARGET, Varied};
use super::generator::Share;
use super::load::Load;
use super::recipe::default_value;
use super::roster::{Entrant, Origin};
use super::trials::Trials;
use super::value::{Placed, Value};
use super::vary::{Vary, VaryTable};

/// The setting from which a cell's ceiling follows.
const HANDLER_DELAY: &str = Factor::HandlerDelay.id();

/// The setting that says which set of routes a target serves, and so which a mix asks for.
const ROUTES: &str = "routes";

/// How many delays, of handler and network together, a window holds at least, so that each connection completes so
/// many requests. The quick
/// form's cells are marked thin.
const DELAYS_IN_A_WINDOW: u64 = 30;
const DELAYS_IN_A_QUICK_WINDOW: u64 = 6;

/// What all cells have in common.
#[derive(Debug)]
pub(super) struct Ground<'a> {
    pub(super) vary: &'a Vary,
    pub(super) load: &'a Load,
    pub(super) beside: Option<&'a Load>,
    pub(super) share: &'a Share,
    pub(super) trials: Trials,
    pub(super) quick: bool,
    pub(super) seed: u64,
}

impl Ground<'_> {
    /// Every cell once: tables and factors in the order of the file, the last factor varying faster than those
    /// before it, and the target fastest, so that what is compared stands together.
    pub(super) fn cells(&self) -> Read<Vec<CellPlan>> {
        let mut cells = Vec::new();
        let mut seen = BTreeSet::new();
        for table in &self.vary.tables {
            for choice in combinations(&table.factors) {
                for entrant in &table.targets {
                    let cell = self.cell(table, entrant, &choice)?;
                    if seen.insert(cell.levels.clone()) {
                        cells.push(cell);
                    }
                }
            }
        }
        Ok(cells)
    }

    fn cell(&self, table: &VaryTable, entrant: &Entrant, choice: &[(&Varied, &Placed)]) -> Read<CellPlan> {
        let mut load = self.load.clone();
        let mut levels = BTreeMap::from([(TARGET.to_owned(), Level::Text(entrant.target.name.clone()))]);
        let mut settings = BTreeMap::new();
        let mut target_cpus = self.share.target.clone();
        let (mut runtime, mut profile, mut without_admin, mut beside) = (None, false, false, None);
        let mut asked = Asked::default();
        for (factor, placed) in choice {
            let level = placed.value.level();
            match factor.kind {
                FactorKind::Load(key) => load.set(key, placed),
                FactorKind::TargetCpus => target_cpus = self.share.cpus(placed)?,
                FactorKind::Runtime => runtime = Some(level.to_string()),
                FactorKind::Profile => profile = placed.value == Value::Flag(true),
                FactorKind::Admin => without_admin = without(entrant, placed)?,
                FactorKind::Beside => beside = self.beside(placed)?,
                FactorKind::BackendDelay | FactorKind::BackendWorkers | FactorKind::BackendRefuses => {
                    asked.take(factor.kind, placed);
                }
                FactorKind::Setting(_) => {
                    let setting = entrant.target.settings.get(&factor.name);
                    setting.map_or(Ok(()), |setting| is_known(setting, &level, placed, entrant))?;
                    settings.extend(setting.map(|setting| (setting.env.clone(), level.to_string())));
                }
            }
            levels.insert(factor.name.clone(), level);
        }
        check_tls(&load, entrant)?;
        let runtime = runtime.map_or_else(|| default_runtime(table, entrant), Ok)?;
        self.fill_in(&mut levels, entrant, &load, &runtime);
        let routes = routes(entrant, choice);
        let backend = asked.backend(entrant, work(choice))?;
        // Where a handler asks a server, it waits for that, unless it is refused.
        let waited_ns = backend.filter(|backend| !backend.refuses).map_or(0, |backend| backend.delay_ns);
        let handler_delay_ns = handler_delay(entrant, &load, choice, routes.is_some())?.max(waited_ns);
        let window_ns = self.window(handler_delay_ns + load.network_delay_ns());
        let (rate_share, arrivals) = (load.rate_share(), load.arrivals());
        let rate_arrivals = Some(arrivals).filter(|arrivals| rate_share.is_some() && *arrivals != Arrivals::Constant);
        let (tls, tls_resume) = (load.asks_for_tls().is_some(), load.tls_resume()?);
        let times = (self.warm_up(entrant), window_ns);
        let load = load.cell(times, self.seed, routes.as_ref())?;
        let beside = beside.map(|beside| beside.cell(times, self.seed, None)).transpose()?;
        Ok(CellPlan {
            levels: Cell(levels),
            census: Some(load.mix.first().request.path == WHOAMI),
            quick_ack: false,
            tried: None,
            load,
            settings,
            runtime,
            handler_delay_ns,
            target_cpus,
            rate_share,
            rate_arrivals,
            profile,
            without_admin,
            beside,
            backend,
            upstream: None,
            tls,
            tls_resume,
        })
    }

    /// The load beside, where one is asked for.
    fn beside(&self, placed: &Placed) -> Read<Option<&Load>> {
        let wanted = placed.value == Value::Flag(true);
        if wanted && self.beside.is_none() {
            return Err(Fault::new(placed.span.clone(), "`beside` asks for a load that no `[beside]` describes")
                .help("add `[beside]` with its `path`, and with a `rate` or `connections`"));
        }
        Ok(self.beside.filter(|_| wanted))
    }

    /// Gives a cell the levels of the factors that only other tables vary.
    fn fill_in(&self, levels: &mut BTreeMap<String, Level>, entrant: &Entrant, load: &Load, runtime: &str) {
        for name in self.vary.names() {
            let level = match self.vary.kind(&name) {
                _ if levels.contains_key(&name) => continue,
                None => None,
                Some(FactorKind::Load(key)) => load.get(key).map(Value::level),
                Some(FactorKind::TargetCpus) => Some(self.share.default_level()),
                Some(FactorKind::Runtime) => Some(Level::Text(runtime.to_owned())),
                Some(FactorKind::Profile) => Some(Value::Flag(false).level()),
                Some(FactorKind::Admin) => Some(Value::Flag(true).level()),
                Some(FactorKind::Beside) => Some(Value::Flag(false).level()),
                // None has its own defaults: most cells have no backend.
                Some(FactorKind::BackendDelay | FactorKind::BackendWorkers | FactorKind::BackendRefuses) => None,
                Some(FactorKind::Setting(_)) => {
                    entrant.target.settings.get(&name).and_then(default_value).map(|value| value.level())
                }
            };
            levels.extend(level.map(|level| (name, level)));
        }
    }

    /// The load before the window: at least what the target needs to be warm, unless the form leaves it cold.
    fn warm_up(&self, entrant: &Entrant) -> u64 {
        let needed_ns = if self.trials.cold { 0 } else { entrant.target.launch.warm_within_ns };
        self.trials.warm_up_ns.max(needed_ns)
    }

    fn window(&self, delay_ns: u64) -> u64 {
        let delays = if self.quick { DELAYS_IN_A_QUICK_WINDOW } else { DELAYS_IN_A_WINDOW };
        self.trials.window_ns.max(delay_ns.saturating_mul(delays))
    }
}

/// A level of a setting must be one of its values, where these are known.
fn is_known(setting: &Setting, level: &Level, placed: &Placed, entrant: &Entrant) -> Read<()> {
    if setting.values.is_empty() || setting.values.contains(&level.to_string()) {
        return Ok(());
    }
    let message = format!("`{level}` is not a value that `{}` knows", entrant.target.name);
    Err(Fault::new(placed.span.clone(), message).help(format!("there are {}", setting.values.join(", "))))
}

/// Whether a target is launched without the port for its figures: not where its command line names that port.
fn without(entrant: &Entrant, placed: &Placed) -> Read<bool> {
    let is_without = placed.value == Value::Flag(false);
    let names_it = || entrant.target.launch.run.iter().any(|word| word.contains("$ADMIN_PORT"));
    if is_without && names_it() {
        let message = format!("`{}` has $ADMIN_PORT in its command line", entrant.target.name);
        let cure = "let it read the variable ADMIN_PORT, which is not set where `admin` is false";
        return Err(Fault::new(placed.span.clone(), message).help(cure));
    }
    Ok(is_without)
}

/// A load over TLS needs a target that can serve it.
fn check_tls(load: &Load, entrant: &Entrant) -> Read<()> {
    let Some(span) = load.asks_for_tls().filter(|_| entrant.target.tls.is_none()) else { return Ok(()) };
    let cure = match entrant.origin {
        Origin::Own => {
            "if it can, write `tls = true` in its [[target]]: it finds its certificate in $TLS_CERT and $TLS_KEY"
        }
        _ => "leave it out of this table, or write `tls = false`",
    };
    Err(Fault::new(span, format!("`{}` does not say that it can serve TLS", entrant.target.name)).help(cure))
}

/// Every choice of one value for each factor; the last factor varies fastest.
fn combinations(factors: &[Varied]) -> Vec<Vec<(&Varied, &Placed)>> {
    let mut choices = vec![Vec::new()];
    for factor in factors {
        let with = |choice: &Vec<_>, placed| choice.iter().copied().chain([(factor, placed)]).collect();
        choices =
            choices.iter().flat_map(|choice| factor.values.iter().map(move |placed| with(choice, placed))).collect();
    }
    choices
}

fn default_runtime(table: &VaryTable, entrant: &Entrant) -> Read<String> {
    let target = &entrant.target;
    if target.runtimes.is_empty() || target.runtimes.contains_key(CURRENT_RUNTIME) {
        return Ok(CURRENT_RUNTIME.to_owned());
    }
    let known: Vec<&str> = target.runtimes.keys().map(String::as_str).collect();
    let message = format!("`{}` has no runtime `{CURRENT_RUNTIME}`", target.name);
    Err(Fault::new(table.span.clone(), message).help(format!("add `runtime = …` with one of {}", known.join(", "))))
}

/// The set of routes that the cell's target serves, where it has the setting.
fn routes(entrant: &Entrant, choice: &[(&Varied, &Placed)]) -> Option<Placed> {
    let chosen = choice.iter().find(|(factor, _)| factor.name == ROUTES).map(|(_, placed)| (*placed).clone());
    let default = || entrant.target.settings.get(ROUTES).and_then(default_value);
    chosen.or_else(|| default().map(|value| Placed { value, span: entrant.span.clone() }))
}

/// The kind of work that a target is asked for, where the experiment says which.
fn work<'a>(choice: &[(&Varied, &'a Placed)]) -> Option<&'a Placed> {
    choice.iter().find(|(factor, _)| factor.name == WORK).map(|(_, placed)| *placed)
}

/// Whether a target is asked for work that is not waiting.
fn works_otherwise(choice: &[(&Varied, &Placed)]) -> bool {
    let is_other =
        |value: &Value| matches!(value, Value::Text(work) if WorkKind::from_id(work) != Some(WorkKind::Sleep));
    work(choice).is_some_and(|placed| is_other(&placed.value))
}

/// How long the handler waits on this cell's path, in nanoseconds.
fn handler_delay(entrant: &Entrant, load: &Load, choice: &[(&Varied, &Placed)], serves_set: bool) -> Read<u64> {
    let waits = match load.asks_routes() {
        true if entrant.origin == Origin::Zoo => serves_set,
        _ => entrant.origin.waits_on(load.path_alone()) && !works_otherwise(choice),
    };
    let chosen = choice.iter().find(|(factor, _)| factor.name == HANDLER_DELAY).map(|(_, placed)| *placed);
    let default = || entrant.target.settings.get(HANDLER_DELAY).and_then(|setting: &Setting| default_value(setting));
    let delay_ns = match chosen.map(|placed| placed.value.clone()).or_else(default) {
        Some(Value::DurationNs(ns)) => ns,
        _ => 0,
    };
    match chosen {
        Some(placed) if delay_ns > 0 && !waits && entrant.origin == Origin::Zoo => {
            let message = format!("`{HANDLER_DELAY}` has no effect on {}", load.asks());
            let cure = "targets wait on `/rest/hello`, `/index`, `/work` with the work `sleep`, and the routes of their own \
                        set alone: write `path = \"/rest/hello\"` in [load], or vary `routes`";
            Err(Fault::new(placed.span.clone(), message).help(cure))
        }
        _ => Ok(if waits { delay_ns } else { 0 }),
    }
}
