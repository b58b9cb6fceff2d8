//! Values of factors as they are read, each with its place.

use model::{Level, format_duration};

use super::diagnostic::Span;

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
