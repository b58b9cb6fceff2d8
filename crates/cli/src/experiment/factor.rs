//! Factors and their values: what may stand in `[vary]`, and how each is read.

use std::collections::BTreeSet;

use model::{Level, SettingKind, format_duration};

use super::diagnostic::{Read, Span};
use super::load::LoadKey;
use super::section::Item;

/// A value as read, before it becomes a level.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A whole number.
    Whole(u64),
    /// Another number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A duration.
    DurationNs(u64),
    /// Text.
    Text(String),
}

impl Value {
    /// The value of a number.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Whole(value) => Some(*value as f64),
            Value::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The level of a cell that has it.
    pub(super) fn level(&self) -> Level {
        match self {
            Value::Whole(value) => Level::Integer(*value),
            Value::Number(value) if value.fract() == 0.0 && (0.0..1e15).contains(value) => {
                Level::Integer(*value as u64)
            }
            Value::Number(value) => Level::Text(value.to_string()),
            Value::Flag(value) => Level::Text(value.to_string()),
            Value::DurationNs(ns) => Level::Text(format_duration(*ns)),
            Value::Text(text) => Level::Text(text.clone()),
        }
    }
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) value: Value,
    pub(super) span: Span,
}

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
    /// A setting that targets declare.
    Setting(SettingKind),
}

/// Words of `[vary]` that are neither keys of the load nor settings.
pub(super) const TARGET: &str = "target";
const TARGET_CPUS: &str = "target_cpus";
const RUNTIME: &str = "runtime";
const PROFILE: &str = "profile";

/// `target_cpus = "all"`.
pub(super) const ALL_CPUS: &str = "all";

impl FactorKind {
    /// The factor of that name which needs no target to declare it.
    pub(super) fn common(name: &str) -> Option<FactorKind> {
        match name {
            TARGET_CPUS => Some(FactorKind::TargetCpus),
            RUNTIME => Some(FactorKind::Runtime),
            PROFILE => Some(FactorKind::Profile),
            _ => LoadKey::from_name(name).map(FactorKind::Load),
        }
    }

    /// Names that no setting may have.
    pub(super) fn common_names() -> Vec<&'static str> {
        let load = LoadKey::ALL.iter().map(|(name, _)| *name);
        [TARGET, TARGET_CPUS, RUNTIME, PROFILE].into_iter().chain(load).collect()
    }

    /// Reads one value.
    pub(super) fn read(self, item: Item) -> Read<Placed> {
        let value = match self {
            FactorKind::Load(key) => key.read(item)?,
            FactorKind::TargetCpus if item.is_whole() => Value::Whole(item.whole(1, "1")?),
            FactorKind::TargetCpus => Value::Text(item.word(&[ALL_CPUS])?.to_owned()),
            FactorKind::Profile => Value::Flag(item.flag()?),
            FactorKind::Runtime | FactorKind::Setting(SettingKind::Text) => Value::Text(item.text()?.to_owned()),
            FactorKind::Setting(SettingKind::Duration) => Value::DurationNs(item.duration()?),
            FactorKind::Setting(SettingKind::Integer) => Value::Whole(item.whole(0, "1")?),
        };
        Ok(Placed { value, span: item.span() })
    }
}

/// A factor of one `[vary]` table with its levels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factor {
    pub(super) name: String,
    pub(super) kind: FactorKind,
    pub(super) key_span: Span,
    pub(super) values: Vec<Placed>,
}

impl Factor {
    /// Reads a factor's one value or list; a value that stands there twice is refused.
    pub(super) fn read(kind: FactorKind, item: Item) -> Read<Factor> {
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
        Ok(Factor { name: item.name().to_owned(), kind, key_span: item.key_span(), values })
    }
}
