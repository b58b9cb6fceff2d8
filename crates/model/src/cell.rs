use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::factor::{Factor, RateInWords};
use crate::units::parse_duration;

/// A factor's value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A whole number.
    Integer(u64),
    /// Text: a name, or a duration in its shortest form.
    Text(String),
}

impl Level {
    /// The level of a factor that is on or off.
    pub fn of_flag(on: bool) -> Level {
        Level::Text(on.to_string())
    }

    /// Whether a factor is on, where it is one that is on or off.
    pub fn flag(&self) -> Option<bool> {
        self.text()?.parse().ok()
    }

    /// A duration in nanoseconds, where it is one.
    pub fn duration_ns(&self) -> Option<u64> {
        parse_duration(self.text()?).ok()
    }

    /// A rate that is not a number, where it is one.
    pub fn rate_in_words(&self) -> Option<RateInWords> {
        RateInWords::parse(self.text()?)
    }

    fn text(&self) -> Option<&str> {
        match self {
            Level::Text(text) => Some(text),
            Level::Integer(_) => None,
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Level::Integer(value) => write!(f, "{value}"),
            Level::Text(value) => f.write_str(value),
        }
    }
}

/// One combination of levels, by factor.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cell(pub BTreeMap<String, Level>);

impl Cell {
    /// The level of a factor.
    pub fn get(&self, factor: &str) -> Option<&Level> {
        self.0.get(factor)
    }

    /// The level of a factor that means something here.
    pub fn level(&self, factor: Factor) -> Option<&Level> {
        self.get(factor.id())
    }

    /// The cell with this level of a factor.
    #[must_use]
    pub fn with(mut self, factor: Factor, level: Level) -> Cell {
        self.0.insert(factor.id().to_owned(), level);
        self
    }

    /// The target's name; every cell has one.
    pub fn target(&self) -> &str {
        match self.level(Factor::Target) {
            Some(Level::Text(name)) => name,
            _ => "",
        }
    }

    /// The cell without its target: the conditions under which targets are compared.
    pub fn conditions(&self) -> Cell {
        let mut conditions = self.clone();
        conditions.0.remove(Factor::Target.id());
        conditions
    }

    /// Whether every level that `other` fixes is the same here.
    pub fn matches(&self, other: &Cell) -> bool {
        other.0.iter().all(|(factor, level)| self.get(factor) == Some(level))
    }

    /// The factors it fixes.
    pub fn factors(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (factor, level)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{factor} = {level}")?;
        }
        Ok(())
    }
}
