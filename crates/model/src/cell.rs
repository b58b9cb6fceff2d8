use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// A factor's value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A whole number.
    Integer(u64),
    /// Text: a name, or a duration in its shortest form.
    Text(String),
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

    /// The target's name; every cell has one.
    pub fn target(&self) -> &str {
        match self.get("target") {
            Some(Level::Text(name)) => name,
            _ => "",
        }
    }

    /// The cell without its target: the conditions under which targets are compared.
    pub fn conditions(&self) -> Cell {
        Cell(self.0.iter().filter(|(factor, _)| *factor != "target").map(|(f, l)| (f.clone(), l.clone())).collect())
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
