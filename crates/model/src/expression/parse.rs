//! Text to tree.

use super::units::{Number, band, is_unit, settle};
use super::{Bound, Call, Expectation, Expression, ParseError};
use crate::{Metric, parse_duration};

/// What there is to do where a second figure stands behind the sign.
const FIGURES_FIRST: &str = ": figures stand before the sign, two of them as a quotient, as in `p99(a) / p99(b) < 1`";

/// Bytes that a claim's test may have: far more than anybody writes, and too few to nest deeper than the stack is.
const MOST_BYTES: usize = 1_000;

/// Reads a claim's test.
///
/// # Errors
/// When the text does not follow the grammar or names an unknown metric; the offset points at the place.
pub fn parse_expectation(text: &str) -> Result<Expectation, ParseError> {
    let mut parser = Parser { text, at: 0 };
    if text.len() > MOST_BYTES {
        return Err(parser.expected(&format!("a test of at most {MOST_BYTES} bytes")));
    }
    let mut expression = parser.sum()?;
    let mut bound = parser.bound()?;
    parser.skip_space();
    if parser.at < text.len() {
        let mut error = parser.expected("the end of the test");
        error.message.push_str("; a number is written like `5000`, `5k`, `50ms`, `20MiB` or `1%`");
        return Err(error);
    }
    let bare = settle(&mut expression, std::slice::from_mut(&mut bound.number))?;
    Ok(Expectation { expression, bound: bound.settled(), bare })
}

/// A bound as it is written.
struct Written {
    side: Side,
    number: Number,
}

enum Side {
    Below,
    Above,
    WithinPercent(f64),
}

impl Written {
    fn settled(&self) -> Bound {
        match self.side {
            Side::Below => Bound::Below(self.number.value),
            Side::Above => Bound::Above(self.number.value),
            Side::WithinPercent(percent) => band(self.number, percent),
        }
    }
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

    /// Whether a word and then `(` are here, as of a metric.
    fn is_at_call(&self) -> bool {
        let word = self.rest().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        word.len() < self.rest().len() && word.trim_start().starts_with('(')
    }

    /// The digits here.
    fn digits(&mut self) -> Result<&'a str, ParseError> {
        self.skip_space();
        let end = self.rest().find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest().len());
        let digits = &self.rest()[..end];
        if digits.parse::<f64>().is_err() {
            let expected = self.expected("a number");
            let message = if self.is_at_call() { expected.message + FIGURES_FIRST } else { expected.message };
            return Err(ParseError { message, ..expected });
        }
        self.at += end;
        Ok(digits)
    }

    /// A number with its unit, if it has one: `50ms`, `20 MiB`, `1%`, `5k`.
    fn number(&mut self) -> Result<Number, ParseError> {
        let digits = self.digits()?;
        let offset = self.at - digits.len();
        let after = self.rest().trim_start();
        let gap = self.rest().len() - after.len();
        let in_unit = |c: char| c.is_alphabetic() || c == '%';
        let word = &after[..after.find(|c| !in_unit(c)).unwrap_or(after.len())];
        // Behind a space another word may follow, which is no unit.
        let (gap, unit) = if gap == 0 || is_unit(word) { (gap, word) } else { (0, "") };
        self.at += gap + unit.len();
        Number::read(digits, unit, offset..self.at)
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
            message: format!("unknown metric `{name}`"),
            candidates: Metric::ALL.iter().map(|metric| metric.id()).collect(),
        })?;
        self.require("(", "`(` and a target")?;
        let target = self.word("a target")?.to_owned();
        let mut levels = Vec::new();
        while self.take(",") {
            let factor = self.word("a factor")?.to_owned();
            self.require("=", "`=` and a level")?;
            levels.push((factor, canonical_level(self.level()?)));
        }
        self.require(")", "`,` or `)`")?;
        Ok(Call { metric, target, levels, offset })
    }

    /// A level, bare or in quotes, as an experiment file has it elsewhere.
    fn level(&mut self) -> Result<&'a str, ParseError> {
        for quote in ["\"", "'"] {
            if !self.take(quote) {
                continue;
            }
            let end = self.rest().find(quote).ok_or_else(|| self.expected(&format!("a level and then {quote}")))?;
            let level = &self.rest()[..end];
            self.at += end + quote.len();
            return Ok(level);
        }
        self.word("a level")
    }

    fn bound(&mut self) -> Result<Written, ParseError> {
        // On a continuous scale a bound that is included is the same bound.
        let side = if self.take("within") {
            let percent = self.digits()?.parse().unwrap_or_default();
            self.require("%", "`%`")?;
            self.require("of", "`of` and a number")?;
            Side::WithinPercent(percent)
        } else if self.take("<=") || self.take("<") {
            Side::Below
        } else if self.take(">=") || self.take(">") {
            Side::Above
        } else {
            return Err(self.expected("`< number`, `> number` or `within 5% of 1`"));
        };
        Ok(Written { side, number: self.number()? })
    }
}

fn canonical_level(word: &str) -> String {
    parse_duration(word).map_or_else(|_| word.to_owned(), crate::format_duration)
}
