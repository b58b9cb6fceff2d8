//! The targets an experiment may name: the zoo's, its own, and the specimens.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use model::{BuildRecipe, Factor, LaunchRecipe, READY_WITHIN_NS, Setting, SettingKind, Target, format_duration};
use specimens::{Kind, Settings};

use super::diagnostic::{Read, Span};
use super::load;
use super::recipe::{
    environment, launch_words, name, path_in, ready_within_ns, runtimes, settings, tls, warm_within_ns, words,
};
use super::section::{Item, Section};

/// Before the name of a specimen.
pub(crate) const SPECIMEN: &str = "specimen:";

/// Where a target comes from, and with it what is known of its paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A folder of `targets/`, which keeps the contract, or a specimen that has it.
    Zoo,
    /// A `[[target]]` of the file.
    Own,
    /// Another of bourdon's own specimens.
    Specimen,
}

impl Origin {
    /// Whether a request for this path waits for the handler delay, by targets/CONTRACT.md and by the specimens.
    pub(super) fn waits_on(self, path: &str) -> bool {
        match self {
            Origin::Zoo => matches!(path, "/rest/hello" | "/index" | "/work"),
            Origin::Own => true,
            Origin::Specimen => path != "/ping",
        }
    }
}

/// A target named in `[vary]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entrant {
    pub(super) target: Target,
    pub(super) origin: Origin,
    pub(super) span: Span,
}

/// Everything that can be named as a target.
#[derive(Debug)]
pub(super) struct Roster<'a> {
    zoo: &'a [Target],
    own: Vec<(Target, Span)>,
    base: &'a Path,
}

impl<'a> Roster<'a> {
    /// The zoo, and what the file's `[[target]]` tables add.
    pub(super) fn read(tables: &[Section], zoo: &'a [Target], base: &'a Path) -> Read<Self> {
        let mut roster = Roster { zoo, own: Vec::new(), base };
        for table in tables {
            let target = own_target(table, base)?;
            let item = table.require("name", "")?;
            if roster.zoo.iter().any(|known| known.name == target.name) {
                let message = format!("the name `{}` is taken by a target of the zoo", target.name);
                return Err(item.fault(message).help("choose another name"));
            }
            if roster.own.iter().any(|(known, _)| known.name == target.name) {
                return Err(item.fault(format!("two targets are named `{}`", target.name)).help("choose another name"));
            }
            roster.own.push((target, table.span()));
        }
        Ok(roster)
    }

    /// The file's own target, if it is the only one there.
    pub(super) fn only_own(&self) -> Option<Entrant> {
        match &self.own[..] {
            [(target, span)] => Some(Entrant { target: target.clone(), origin: Origin::Own, span: span.clone() }),
            _ => None,
        }
    }

    /// Every name.
    pub(super) fn names(&self) -> Vec<String> {
        let own = self.own.iter().map(|(target, _)| target.name.clone());
        let zoo = self.zoo.iter().map(|target| target.name.clone());
        own.chain(zoo).chain(Kind::ALL.map(|kind| format!("{SPECIMEN}{kind}"))).collect()
    }

    /// The target that a value of `target` names.
    pub(super) fn find(&self, item: Item) -> Read<Entrant> {
        let (name, span) = (item.text()?, item.span());
        let own = self.own.iter().map(|(target, _)| (target, Origin::Own));
        let mut known = own.chain(self.zoo.iter().map(|target| (target, Origin::Zoo)));
        if let Some((target, origin)) = known.find(|(target, _)| target.name == name) {
            return Ok(Entrant { target: target.clone(), origin, span });
        }
        if let Some(kind) = name.strip_prefix(SPECIMEN).and_then(Kind::from_name) {
            let origin = if kind.has_contract() { Origin::Zoo } else { Origin::Specimen };
            return Ok(Entrant { target: specimen(kind, self.base), origin, span });
        }
        let names = self.names();
        let fault = item.fault(format!("unknown target `{name}`")).nearest(name, &names);
        Err(fault.help(self.cure()))
    }

    fn cure(&self) -> String {
        let named: Vec<&str> =
            self.own.iter().map(|(target, _)| target).chain(self.zoo).map(|target| target.name.as_str()).collect();
        let specimens = format!("specimens are named like `{SPECIMEN}{}`", Kind::Clean);
        if named.is_empty() {
            return format!(
                "no targets/ folder was found: run bourdon in its repository, or set BOURDON_HOME to it; {specimens}"
            );
        }
        format!("the targets are {}; {specimens}", named.join(", "))
    }
}

const OWN_KEYS: [&str; 13] = [
    "name",
    "title",
    "run",
    "ready",
    "ready_within",
    "warm_within",
    "metrics",
    "tls",
    "build",
    "env",
    "cwd",
    "settings",
    "runtimes",
];

/// Reads one `[[target]]`.
fn own_target(table: &Section, base: &Path) -> Read<Target> {
    table.only(&OWN_KEYS)?;
    let name = name(table.require("name", "write `name = \"mine\"`, the word for it in this file")?)?;
    let run = table.require("run", "write the command: `run = \"./server --port $PORT\"`")?;
    let cwd = path_in(base, table.read("cwd", |item| item.text())?.unwrap_or("."));
    let env = table.read("env", environment)?.unwrap_or_default();
    let build = table.read("build", words)?;
    let build = build.map(|run| BuildRecipe { run, cwd: cwd.clone(), inputs: Vec::new(), env: env.clone() });
    // Where it is not named, what a cell asks for: see `resolve`.
    let ready = table.read("ready", load::path)?.unwrap_or_default().to_owned();
    let launch = LaunchRecipe {
        run: launch_words(run, build.as_ref())?,
        cwd,
        env,
        ready,
        metrics: table.read("metrics", load::path)?.map(str::to_owned),
        ready_within_ns: ready_within_ns(table)?,
        warm_within_ns: warm_within_ns(table)?,
    };
    Ok(Target {
        title: table.read("title", |item| item.text())?.unwrap_or(&name).to_owned(),
        tls: table.read("tls", |item| tls(item, base))?.flatten(),
        build,
        settings: table.read("settings", settings)?.unwrap_or_default(),
        runtimes: table.read("runtimes", runtimes)?.unwrap_or_default(),
        ..Target::of(&name, launch)
    })
}

/// A specimen as a target, launched through the running executable.
pub(crate) fn specimen(kind: Kind, base: &Path) -> Target {
    let run = ["$BOURDON", "specimen", kind.name()].map(str::to_owned).to_vec();
    let launch = LaunchRecipe {
        run,
        cwd: path_in(base, "."),
        env: BTreeMap::new(),
        ready: "/ping".to_owned(),
        metrics: None,
        ready_within_ns: READY_WITHIN_NS,
        warm_within_ns: 0,
    };
    Target {
        title: format!("specimen {kind}"),
        language: "rust".to_owned(),
        framework: "bourdon's own specimen".to_owned(),
        about: kind.about().to_owned(),
        settings: specimen_settings(&Settings::new(kind)),
        ..Target::of(&format!("{SPECIMEN}{kind}"), launch)
    }
}

fn specimen_settings(defaults: &Settings) -> BTreeMap<String, Setting> {
    let duration = |duration: Duration| format_duration(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    let settings = [
        (Factor::HandlerDelay.id(), SettingKind::Duration, duration(defaults.handler_delay)),
        ("workers", SettingKind::Integer, defaults.workers.to_string()),
        ("stall_at", SettingKind::Duration, duration(defaults.stall_at)),
        ("stall_for", SettingKind::Duration, duration(defaults.stall_for)),
        ("every", SettingKind::Integer, defaults.every.to_string()),
        ("seed", SettingKind::Integer, defaults.seed.to_string()),
        ("work", SettingKind::Integer, defaults.work.to_string()),
    ];
    let setting = |(name, kind, default): (&str, SettingKind, String)| {
        (name.to_owned(), Setting { env: name.to_ascii_uppercase(), kind, default, values: Vec::new() })
    };
    settings.into_iter().map(setting).collect()
}
