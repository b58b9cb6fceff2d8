//! The small language of claims: `throughput(a) / throughput(b, connections = 1000) < 0.05`, or
//! `… within 5% of 1`. Arithmetic over metrics of one block, and one bound.

use crate::{Metric, parse_duration};

/// A claim's test: an expression and the bound its value must keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// What is evaluated.
    pub expression: Expression,
    /// What it must be.
    pub bound: Bound,
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
    Number(f64),
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
            Expression::Number(value) => *value,
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
            Expression::Number(value) => *value > 0.0,
            Expression::Metric(_) => true,
            Expression::Binary(operator, left, right) => {
                matches!(operator, '*' | '/') && left.is_ratio() && right.is_ratio()
            }
        }
    }
}

/// A text that is no expectation.
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

/// Reads a claim's test.
///
/// # Errors
/// When the text does not follow the grammar or names an unknown metric; the offset points at the place.
pub fn parse_expectation(text: &str) -> Result<Expectation, ParseError> {
    let mut parser = Parser { text, at: 0 };
    let expression = parser.sum()?;
    let bound = parser.bound()?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.expected("the end of the test"));
    }
    Ok(Expectation { expression, bound })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn expected(&self, what: &str) -> ParseError {
        let length = self.rest().chars().next().map_or(1, char::len_utf8);
        ParseError { offset: self.at, length, message: format!("expected {what} here"), candidates: Vec::new() }
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn require(&mut self, token: &str, what: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        self.skip_space();
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ':');
        let end = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
        if end == 0 {
            return Err(self.expected(what));
        }
        let word = &self.rest()[..end];
        self.at += end;
        Ok(word)
    }

    fn number(&mut self) -> Result<f64, ParseError> {
        self.skip_space();
        let end = self.rest().find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest().len());
        let value = self.rest()[..end].parse().map_err(|_| self.expected("a number"))?;
        self.at += end;
        Ok(value)
    }

    fn sum(&mut self) -> Result<Expression, ParseError> {
        self.chain(['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Expression, ParseError> {
        self.chain(['*', '/'], Self::factor)
    }

    fn chain(
        &mut self,
        operators: [char; 2],
        operand: fn(&mut Self) -> Result<Expression, ParseError>,
    ) -> Result<Expression, ParseError> {
        let mut left = operand(self)?;
        loop {
            self.skip_space();
            let Some(operator) = self.rest().chars().next().filter(|c| operators.contains(c)) else {
                return Ok(left);
            };
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(operand(self)?));
        }
    }

    fn factor(&mut self) -> Result<Expression, ParseError> {
        if self.take("(") {
            let inner = self.sum()?;
            self.require(")", "`)`")?;
            return Ok(inner);
        }
        match self.rest().chars().next() {
            Some(c) if c.is_ascii_digit() => self.number().map(Expression::Number),
            _ => self.call().map(Expression::Metric),
        }
    }

    fn call(&mut self) -> Result<Call, ParseError> {
        self.skip_space();
        let offset = self.at;
        let name = self.word("a metric such as `throughput(target)`, or a number")?;
        let metric = Metric::from_id(name).ok_or_else(|| ParseError {
            offset,
            length: name.len(),
            message: format!("`{name}` is no metric"),
            candidates: Metric::ALL.iter().map(|metric| metric.id()).collect(),
        })?;
        self.require("(", "`(` and a target")?;
        let target = self.word("a target")?.to_owned();
        let mut levels = Vec::new();
        while self.take(",") {
            let factor = self.word("a factor")?.to_owned();
            self.require("=", "`=` and a level")?;
            levels.push((factor, canonical_level(self.word("a level")?)));
        }
        self.require(")", "`,` or `)`")?;
        Ok(Call { metric, target, levels, offset })
    }

    fn bound(&mut self) -> Result<Bound, ParseError> {
        self.skip_space();
        if self.take("within") {
            let percent = self.number()?;
            self.require("%", "`%`")?;
            self.require("of", "`of` and a number")?;
            let middle = self.number()?;
            return Ok(Bound::Between(middle * (1.0 - percent / 100.0), middle * (1.0 + percent / 100.0)));
        }
        // On a continuous scale a bound that is included is the same bound.
        if self.take("<=") || self.take("<") {
            return Ok(Bound::Below(self.number()?));
        }
        if self.take(">=") || self.take(">") {
            return Ok(Bound::Above(self.number()?));
        }
        Err(self.expected("`< number`, `> number` or `within 5% of 1`"))
    }
}

fn canonical_level(word: &str) -> String {
    parse_duration(word).map_or_else(|_| word.to_owned(), crate::format_duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Expectation {
        parse_expectation(text).unwrap()
    }

    #[test]
    fn a_ratio_of_two_cells_is_read() {
        let read = parse("throughput(go-a, connections = 1000) / throughput(go-b, handler_delay = 1000ms) > 3");
        assert_eq!(read.bound, Bound::Above(3.0));
        assert!(read.expression.is_ratio());
        let calls = read.expression.calls();
        assert_eq!(calls[0].target, "go-a");
        assert_eq!(calls[0].levels, [("connections".to_owned(), "1000".to_owned())]);
        assert_eq!(calls[1].levels, [("handler_delay".to_owned(), "1s".to_owned())]);
    }

    #[test]
    fn arithmetic_follows_the_usual_order() {
        let value = |text: &str| parse(text).expression.evaluate(&|_| Some(10.0)).unwrap();
        assert_eq!(value("1 + 2 * 3 < 1"), 7.0);
        assert_eq!(value("(1 + 2) * p99(x) < 1"), 30.0);
        assert_eq!(value("p99(x) / 4 / 5 < 1"), 0.5);
        assert_eq!(parse("1 / p50(x) < 1").expression.evaluate(&|_| Some(0.0)), None, "not finite");
    }

    #[test]
    fn within_is_a_band() {
        let Bound::Between(low, high) = parse("p99(a) / p99(b) within 5% of 1").bound else { panic!("a band") };
        assert!((low - 0.95).abs() < 1e-12 && (high - 1.05).abs() < 1e-12);
    }

    #[test]
    fn errors_point_at_their_place() {
        for (text, offset, message) in [
            ("troughput(a) < 1", 0, "`troughput` is no metric"),
            ("throughput a < 1", 11, "expected `(` and a target here"),
            ("throughput(a) = 1", 14, "expected `< number`, `> number` or `within 5% of 1` here"),
            ("throughput(a) < fast", 16, "expected a number here"),
            ("throughput(a) < 1 or so", 18, "expected the end of the test here"),
            ("throughput(a, b) < 1", 15, "expected `=` and a level here"),
            ("", 0, "expected a metric such as `throughput(target)`, or a number here"),
        ] {
            let error = parse_expectation(text).unwrap_err();
            assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
        }
    }
}
