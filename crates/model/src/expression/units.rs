//! Numbers with units: what `50ms` is in the unit of the metric that it is compared with.

use std::ops::Range;

use super::{Bare, Bound, Expression, ParseError};
use crate::{Metric, Unit, parse_duration};

/// Units of memory in bytes.
const SIZES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1024.0 * 1024.0),
    ("GiB", 1024.0 * 1024.0 * 1024.0),
];

/// The units that a number may have.
const UNITS: [&str; 11] = ["us", "ms", "s", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "%"];

/// What a number may be a multiple of, as rates on the command line are.
const THOUSANDS: [(&str, f64); 3] = [("k", 1e3), ("K", 1e3), ("M", 1e6)];

/// Whether a word is a unit, or one that is only spelt wrong.
pub(super) fn is_unit(word: &str) -> bool {
    let named = UNITS.iter().any(|unit| unit.eq_ignore_ascii_case(word));
    named || THOUSANDS.iter().any(|(name, _)| *name == word) || parse_duration(&format!("1{word}")).is_ok()
}

/// What a number with a unit measures, in its base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension {
    /// Microseconds.
    Time,
    /// Bytes.
    Size,
}

impl Dimension {
    /// How many base units one of this unit is; none of a unit of something else.
    fn base_units_in(self, unit: Unit) -> Option<f64> {
        match (self, unit) {
            (Dimension::Time, Unit::Us) | (Dimension::Size, Unit::Bytes) => Some(1.0),
            (Dimension::Time, Unit::Ms) => Some(1e3),
            _ => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Dimension::Time => "a time",
            Dimension::Size => "a size",
        }
    }

    /// The unit of a number that stands beside no metric.
    fn base(self) -> Unit {
        match self {
            Dimension::Time => Unit::Us,
            Dimension::Size => Unit::Bytes,
        }
    }
}

/// A number as it was written, in the base unit of what it measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// Its value: as written where it has no unit, else in the unit of what it is compared with.
    pub value: f64,
    dimension: Option<Dimension>,
    offset: usize,
    length: usize,
}

impl Number {
    /// Reads a number and the unit that follows it, if one does; both are at `place`.
    pub(super) fn read(digits: &str, unit: &str, place: Range<usize>) -> Result<Number, ParseError> {
        let (offset, length) = (place.start, place.len());
        let thousands = THOUSANDS.iter().find(|(name, _)| *name == unit).map(|(_, times)| times);
        let size = || SIZES.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| bytes);
        let value: f64 = digits.parse().map_err(|_| wrong(offset, length, "expected a number here"))?;
        let (value, dimension) = match unit {
            "" => (value, None),
            "%" => (value / 100.0, None),
            _ => match (thousands, size(), parse_duration(&format!("{digits}{unit}"))) {
                (Some(times), ..) => (value * times, None),
                (None, Some(bytes), _) => (value * bytes, Some(Dimension::Size)),
                (None, None, Ok(ns)) => (ns as f64 / 1e3, Some(Dimension::Time)),
                (None, None, Err(_)) => return Err(unknown(unit, place.end - unit.len())),
            },
        };
        Ok(Number { value, dimension, offset, length })
    }

    /// The same in a unit; it says whether the number lacks one that it needs. Nothing of anything is 0.
    fn fit(&mut self, unit: Unit, of: &str) -> Result<Option<Bare>, ParseError> {
        match self.dimension {
            None => Ok(example(unit).filter(|_| self.value != 0.0).map(|example| Bare {
                offset: self.offset,
                length: self.length,
                example,
            })),
            Some(dimension) => match dimension.base_units_in(unit) {
                Some(base_units) => {
                    self.value /= base_units;
                    Ok(None)
                }
                None => Err(self.misfit(dimension, &format!("{of} {}", in_unit(unit)))),
            },
        }
    }

    fn misfit(&self, dimension: Dimension, other: &str) -> ParseError {
        wrong(self.offset, self.length, format!("this is {}, and {other}", dimension.words()))
    }
}

fn in_unit(unit: Unit) -> String {
    match unit {
        Unit::None => "has no unit".to_owned(),
        Unit::Ratio => "is a ratio without a unit".to_owned(),
        unit => format!("is in {unit}"),
    }
}

fn wrong(offset: usize, length: usize, message: impl Into<String>) -> ParseError {
    ParseError { offset, length, message: message.into(), candidates: Vec::new() }
}

fn unknown(unit: &str, offset: usize) -> ParseError {
    ParseError { candidates: UNITS.to_vec(), ..wrong(offset, unit.len(), format!("unknown unit `{unit}`")) }
}

/// How a number in such a unit is written, where a bare one is easily mistaken: `50` may be meant as milliseconds.
fn example(unit: Unit) -> Option<&'static str> {
    match unit {
        Unit::Us | Unit::Ms => Some("50ms"),
        Unit::Bytes => Some("20MiB"),
        _ => None,
    }
}

/// Turns every number with a unit into the unit of what it is added to, divided by or compared with. Gives the first
/// bare number that stands for a time or a size.
pub(super) fn settle(expression: &mut Expression, bounds: &mut [Number]) -> Result<Option<Bare>, ParseError> {
    let mut bare = settle_within(expression)?;
    let unit = expression.unit();
    for bound in bounds {
        let found = bound.fit(unit, "what it is compared with")?;
        bare = bare.or(found);
    }
    Ok(bare)
}

fn settle_within(expression: &mut Expression) -> Result<Option<Bare>, ParseError> {
    let Expression::Binary(operator, left, right) = expression else { return Ok(None) };
    let found = settle_within(left)?.or(settle_within(right)?);
    let (of_left, of_right) = (left.unit(), right.unit());
    let (number, unit) = match (&mut **left, &mut **right) {
        (Expression::Number(_), Expression::Number(_)) => return Ok(found),
        (Expression::Number(number), _) => (number, of_right),
        (_, Expression::Number(number)) => (number, of_left),
        _ => return Ok(found),
    };
    match (*operator, number.dimension) {
        ('+' | '-', _) => Ok(found.or(number.fit(unit, "what it is added to")?)),
        ('/', Some(_)) => Ok(found.or(number.fit(unit, "the other side")?)),
        ('*', Some(dimension)) if unit != Unit::Ratio => {
            Err(number.misfit(dimension, "only a ratio can be multiplied by one"))
        }
        _ => Ok(found),
    }
}

impl Expression {
    /// Unit of its value: `ratio` for a quotient of like units, nothing for what has no common unit. A number is in the
    /// unit of what it is added to; what it multiplies or divides has none that is known, for it may be seconds or
    /// connections itself.
    pub fn unit(&self) -> Unit {
        let is_bare = |side: &Expression| matches!(side, Expression::Number(number) if number.dimension.is_none());
        match self {
            Expression::Number(number) => number.dimension.map_or(Unit::None, Dimension::base),
            Expression::Metric(call) => call.metric.unit(),
            Expression::Binary('+' | '-', number, other) if is_bare(number) => other.unit(),
            Expression::Binary('+' | '-', other, number) if is_bare(number) => other.unit(),
            Expression::Binary(operator, left, right) => combined(*operator, left, right),
        }
    }

    /// The metric whose value it is, where it is nothing else.
    pub fn only_metric(&self) -> Option<Metric> {
        match self {
            Expression::Metric(call) => Some(call.metric),
            _ => None,
        }
    }
}

fn combined(operator: char, left: &Expression, right: &Expression) -> Unit {
    let beside = |one: &Expression, other: &Expression| match one {
        // It was turned into the other's unit.
        Expression::Number(number) if number.dimension.is_some() => other.unit(),
        one => one.unit(),
    };
    match (operator, beside(left, right), beside(right, left)) {
        ('/', left, right) if left == right && left != Unit::None => Unit::Ratio,
        ('+' | '-', left, right) if left == right => left,
        ('*' | '/', left, Unit::Ratio) => left,
        ('*', Unit::Ratio, right) => right,
        _ => Unit::None,
    }
}

/// A bound's numbers as a bound.
pub(super) fn band(middle: Number, percent: f64) -> Bound {
    Bound::Between(middle.value * (1.0 - percent / 100.0), middle.value * (1.0 + percent / 100.0))
}
