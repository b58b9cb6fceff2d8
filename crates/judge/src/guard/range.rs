//! Interval arithmetic: what an expression can be when each of its figures is only known to lie between two.

use model::{Call, Expression};

/// From the least that a figure can be to the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    /// A figure without doubt.
    pub(crate) fn exactly(value: f64) -> Self {
        Range { low: value, high: value }
    }

    /// The least range that holds both.
    pub(crate) fn hull(self, other: Range) -> Self {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// 1 ÷ x. Where x can be nothing, there is no most; where it can be on both sides of it, nothing is known.
    pub(crate) fn reciprocal(self) -> Self {
        match self {
            Range { low, high } if low < 0.0 && high > 0.0 => Range { low: f64::NEG_INFINITY, high: f64::INFINITY },
            Range { low, high } if low >= 0.0 => Range { low: 1.0 / high, high: 1.0 / low },
            Range { low, high } => {
                Range { low: if high == 0.0 { f64::NEG_INFINITY } else { 1.0 / high }, high: 1.0 / low }
            }
        }
    }

    fn negated(self) -> Self {
        Range { low: -self.high, high: -self.low }
    }

    fn plus(self, other: Range) -> Self {
        Range { low: self.low + other.low, high: self.high + other.high }
    }

    pub(crate) fn times(self, other: Range) -> Self {
        // Nothing of something without a most is nothing.
        let product = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        let ends = [
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ];
        Range {
            low: ends.into_iter().fold(f64::INFINITY, f64::min),
            high: ends.into_iter().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// The range of an expression, with `look_up` giving each metric's. A figure that stands in it twice counts as two, which
/// can only widen the range.
pub(crate) fn range(expression: &Expression, look_up: &dyn Fn(&Call) -> Option<Range>) -> Option<Range> {
    Some(match expression {
        Expression::Number(number) => Range::exactly(number.value),
        Expression::Metric(call) => look_up(call)?,
        Expression::Binary(operator, left, right) => {
            let (left, right) = (range(left, look_up)?, range(right, look_up)?);
            match operator {
                '+' => left.plus(right),
                '-' => left.plus(right.negated()),
                '*' => left.times(right),
                _ => left.times(right.reciprocal()),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use model::{Metric, parse_expectation};

    use super::*;

    const INF: f64 = f64::INFINITY;

    /// The range of a test's expression where a throughput is 1 to 2, a p99 at least 3, a mean −1 to 1, and errors 0 to 1.
    fn of(text: &str) -> (f64, f64) {
        let look_up = |call: &Call| {
            Some(match call.metric {
                Metric::Throughput => Range { low: 1.0, high: 2.0 },
                Metric::P99 => Range { low: 3.0, high: INF },
                Metric::Mean => Range { low: -1.0, high: 1.0 },
                _ => Range { low: 0.0, high: 1.0 },
            })
        };
        let test = parse_expectation(&format!("{text} > 0")).unwrap();
        let found = range(&test.expression, &look_up).unwrap();
        (found.low, found.high)
    }

    #[test]
    fn each_end_is_the_worst_that_its_parts_allow() {
        for (text, expected) in [
            ("throughput(a) + p99(b)", (4.0, INF)),
            ("throughput(a) - p99(b)", (-INF, -1.0)),
            ("throughput(a) - throughput(b)", (-1.0, 1.0)),
            ("throughput(a) * 3", (3.0, 6.0)),
            ("throughput(a) / throughput(b)", (0.5, 2.0)),
            ("throughput(a) / p99(b)", (0.0, 2.0 / 3.0)),
            ("p99(a) / throughput(b)", (1.5, INF)),
            ("throughput(a) / errors(b)", (1.0, INF)),
            ("throughput(a) / mean(b)", (-INF, INF)),
            ("mean(a) * throughput(b)", (-2.0, 2.0)),
            ("errors(a) * p99(b)", (0.0, INF)),
            ("throughput(a) / (throughput(b) - 3)", (-2.0, -0.5)),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
