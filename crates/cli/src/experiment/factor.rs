//! Factors: what may stand in `[vary]`, and how the values of each are read.

use std::collections::BTreeSet;

use model::{ALL_CPUS, Factor, LoadKey, SettingKind};

use super::diagnostic::{Read, Span};
use super::load;
use super::section::Item;
use super::value::{Placed, Value};

/// What a factor acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactorKind {
    /// A key of the load.
    Load(LoadKey),
    /// How many CPUs the target has.
    TargetCpus,
    /// What the target is built with.
    Runtime,
    /// Whether a CPU profile of the target is taken.
    Profile,
    /// Whether the target is given a port for its runtime's figures.
    Admin,
    /// Whether the load of `[beside]` is on the target, too.
    Beside,
    /// How long the server takes that the target's handlers ask.
    BackendDelay,
    /// How many requests that one serves at once.
    BackendWorkers,
    /// Whether that one refuses where all of these are busy.
    BackendRefuses,
    /// A setting that targets declare.
    Setting(SettingKind),
}

/// The factor whose levels are the targets.
pub(super) const TARGET: &str = Factor::Target.id();

impl FactorKind {
    /// The factor of that name which needs no target to declare it.
    pub(super) fn common(name: &str) -> Option<FactorKind> {
        match Factor::from_id(name)? {
            Factor::TargetCpus => Some(FactorKind::TargetCpus),
            Factor::Runtime => Some(FactorKind::Runtime),
            Factor::Profile => Some(FactorKind::Profile),
            Factor::Admin => Some(FactorKind::Admin),
            Factor::Beside => Some(FactorKind::Beside),
            Factor::BackendDelay => Some(FactorKind::BackendDelay),
            Factor::BackendWorkers => Some(FactorKind::BackendWorkers),
            Factor::BackendRefuses => Some(FactorKind::BackendRefuses),
            Factor::Load(key) => Some(FactorKind::Load(key)),
            Factor::Target | Factor::HandlerDelay => None,
        }
    }

    /// Names that no setting may have.
    pub(super) fn common_names() -> Vec<&'static str> {
        Factor::all().filter(|factor| *factor != Factor::HandlerDelay).map(Factor::id).collect()
    }

    /// Reads one value.
    pub(super) fn read(self, item: Item) -> Read<Placed> {
        let value = match self {
            FactorKind::Load(key) => load::value(key, item)?,
            FactorKind::TargetCpus if item.is_whole() => Value::Whole(item.whole(1, "1")?),
            FactorKind::TargetCpus => Value::Text(item.word(&[ALL_CPUS])?.to_owned()),
            FactorKind::Profile | FactorKind::Admin | FactorKind::Beside | FactorKind::BackendRefuses => {
                Value::Flag(item.flag()?)
            }
            FactorKind::BackendDelay => Value::DurationNs(item.duration()?),
            FactorKind::BackendWorkers => Value::Whole(item.whole(1, "10")?),
            FactorKind::Runtime | FactorKind::Setting(SettingKind::Text) => Value::Text(item.text()?.to_owned()),
            FactorKind::Setting(SettingKind::Duration) => Value::DurationNs(item.duration()?),
            FactorKind::Setting(SettingKind::Integer) => Value::Whole(item.whole(0, "1")?),
        };
        Ok(Placed { value, span: item.span() })
    }
}

/// A factor of one `[vary]` table with its levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Varied {
    pub(super) name: String,
    pub(super) kind: FactorKind,
    pub(super) key_span: Span,
    pub(super) values: Vec<Placed>,
}

impl Varied {
    /// Reads a factor's one value or list; a value that stands there twice is refused.
    pub(super) fn read(kind: FactorKind, item: Item) -> Read<Varied> {
        let (mut values, mut known): (Vec<Placed>, _) = (Vec::new(), BTreeSet::new());
        for one in item.values()? {
            let placed = kind.read(one)?;
            let level = placed.value.level();
            if known.contains(&level) {
                return Err(one.fault(format!("`{level}` stands twice in `{}`", item.name())).help("leave one out"));
            }
            known.insert(level);
            values.push(placed);
        }
        Ok(Varied { name: item.name().to_owned(), kind, key_span: item.key_span(), values })
    }
}
