//! Factors and their values: what may stand in `[vary]`, and how each is read.

use std::collections::BTreeSet;

use model::{ALL_CPUS, Factor, Level, LoadKey, SettingKind, format_duration};

use super::diagnostic::{Read, Span};
use super::load;
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
            Value::Flag(value) => Level::of_flag(*value),
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

/// The factor whose levels are the targets.
pub(super) const TARGET: &str = Factor::Target.id();

impl FactorKind {
    /// The factor of that name which needs no target to declare it.
    pub(super) fn common(name: &str) -> Option<FactorKind> {
        match Factor::from_id(name)? {
            Factor::TargetCpus => Some(FactorKind::TargetCpus),
            Factor::Runtime => Some(FactorKind::Runtime),
            Factor::Profile => Some(FactorKind::Profile),
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
