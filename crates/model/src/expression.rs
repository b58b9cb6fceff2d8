//! The small language of claims: `throughput(a) / throughput(b, connections = 1000) < 0.05`, or
//! `… within 5% of 1`. Arithmetic over metrics of one block, and one bound.

mod parse;
#[cfg(test)]
mod tests;
mod units;

use crate::Metric;

pub use parse::parse_expectation;
pub use units::Number;

/// A claim's test: an expression and the bound its value must keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// What is evaluated.
    pub expression: Expression,
    /// What it must be.
    pub bound: Bound,
    /// The first number that stands for a time or a size and has no unit; it is read in the unit of its metric (µs, ms,
    /// bytes), as tests were written before numbers could have units.
    pub bare: Option<Bare>,
}

/// A number without the unit that it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bare {
    /// Byte offset in the text.
    pub offset: usize,
    /// Its bytes.
    pub length: usize,
    /// How such a number is written.
    pub example: &'static str,
}

/// The side of the threshold on which a claim holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Below the threshold.
    Below(f64),
    /// Above the threshold.
    Above(f64),
    /// Between the two, both included: "the same within a margin".
    Between(f64, f64),
}

/// Arithmetic over metrics.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(Number),
    /// A metric of one cell.
    Metric(Call),
    /// Two operands and `+`, `-`, `*` or `/`.
    Binary(char, Box<Expression>, Box<Expression>),
}

/// `metric(target, factor = level, …)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The metric.
    pub metric: Metric,
    /// The target.
    pub target: String,
    /// Levels fixed by the call, as written.
    pub levels: Vec<(String, String)>,
    /// Byte offset of the call in the text, for messages.
    pub offset: usize,
}

impl std::fmt::Display for Call {
    /// As it would be written.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({}", self.metric, self.target)?;
        self.levels.iter().try_for_each(|(factor, level)| write!(f, ", {factor} = {level}"))?;
        f.write_str(")")
    }
}

impl Expression {
    /// Every metric in it, from left to right.
    pub fn calls(&self) -> Vec<&Call> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Metric(call) => vec![call],
            Expression::Binary(_, left, right) => {
                let mut calls = left.calls();
                calls.extend(right.calls());
                calls
            }
        }
    }

    /// Its value, with `look_up` giving each metric's; none when a metric has none or the result is not finite.
    pub fn evaluate(&self, look_up: &dyn Fn(&Call) -> Option<f64>) -> Option<f64> {
        let value = match self {
            Expression::Number(number) => number.value,
            Expression::Metric(call) => look_up(call)?,
            Expression::Binary(operator, left, right) => {
                let (left, right) = (left.evaluate(look_up)?, right.evaluate(look_up)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                }
            }
        };
        value.is_finite().then_some(value)
    }

    /// Whether it is a product or quotient throughout: then it is positive, and its logarithm is what varies evenly.
    pub fn is_ratio(&self) -> bool {
        match self {
            Expression::Number(number) => number.value > 0.0,
            Expression::Metric(_) => true,
            Expression::Binary(operator, left, right) => {
                matches!(operator, '*' | '/') && left.is_ratio() && right.is_ratio()
            }
        }
    }
}

/// A text that is not an expectation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Byte offset at which reading stopped.
    pub offset: usize,
    /// Bytes that are wrong, at least 1.
    pub length: usize,
    /// What was expected there.
    pub message: String,
    /// The word that may have been mistyped, with the words that would be right.
    pub candidates: Vec<&'static str>,
}
