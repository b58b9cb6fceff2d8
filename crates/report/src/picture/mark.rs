//! Marks that stand for values.

use model::Measured;

use super::scale::{Scale, Steps};
use super::svg::Node;

/// What stands for one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyph {
    /// A value that something is decided by.
    Dot,
    /// A value that decides nothing.
    Open,
    /// A value that others published.
    Diamond,
    /// A value that is not used.
    Cross,
    /// The same once more.
    Twin,
    /// A part of a value.
    Speck,
    /// A line of one of many.
    Thin,
    /// A line of what is in the background.
    Grey,
    /// A line.
    Line,
    /// A line towards what little is known of.
    Dashed,
    /// A region.
    Shade,
}

/// Half the size of a mark.
const HALF: f64 = 4.5;

impl Glyph {
    pub(crate) fn draw(self, [x, y]: [f64; 2]) -> Node {
        let circle =
            |class: &str| Node::new("circle").with("class", class).at([("cx", x), ("cy", y), ("r", HALF - 1.0)]);
        match self {
            Glyph::Dot => circle("dot"),
            Glyph::Open => circle("open"),
            Glyph::Diamond => {
                Node::path("open", &[[x, y - HALF], [x + HALF, y], [x, y + HALF], [x - HALF, y], [x, y - HALF]])
            }
            Glyph::Cross => Node::new("g").hold([
                Node::line("cross", [x - HALF, y - HALF], [x + HALF, y + HALF]),
                Node::line("cross", [x - HALF, y + HALF], [x + HALF, y - HALF]),
            ]),
            Glyph::Twin => {
                Node::path("open", &[[x, y - HALF], [x + HALF, y + HALF], [x - HALF, y + HALF], [x, y - HALF]])
            }
            Glyph::Speck => Node::new("circle").with("class", "speck").at([("cx", x), ("cy", y), ("r", 1.5)]),
            Glyph::Thin => Node::line("thin", [x - HALF, y], [x + HALF, y]),
            Glyph::Grey => Node::line("other", [x - HALF, y], [x + HALF, y]),
            Glyph::Line => Node::line("line", [x - HALF, y], [x + HALF, y]),
            Glyph::Dashed => Node::line("line few", [x - HALF, y], [x + HALF, y]),
            Glyph::Shade => Node::area("shade", [x - HALF, y - HALF], [x + HALF, y + HALF]),
        }
    }
}

/// A value on its way to an axis.
pub(crate) struct Value<'a> {
    /// Whose it is, to be read back.
    pub(crate) of: &'a str,
    /// All of it in words, for hovering.
    pub(crate) said: String,
    pub(crate) measured: &'a Measured,
    pub(crate) glyph: Glyph,
    /// What its interval is drawn as. A dashed one goes on where it has no end.
    pub(crate) line: Glyph,
}

impl Value<'_> {
    /// The interval as a line along an axis and the estimate upon it, at this height; nothing where nothing was estimated. An end
    /// beyond the axis is an arrow.
    pub(crate) fn draw(&self, scale: &Scale, height: f64) -> Option<Node> {
        self.drawn(scale, |along, aside| [along, height + aside])
    }

    /// The same along an upright axis.
    pub(crate) fn draw_upright(&self, scale: &Scale, x: f64) -> Option<Node> {
        self.drawn(scale, |along, aside| [x + aside, along])
    }

    fn drawn(&self, scale: &Scale, at: impl Fn(f64, f64) -> [f64; 2]) -> Option<Node> {
        let Measured { estimate, low, high, unit } = *self.measured;
        let middle = at(scale.place(estimate?), 0.0);
        let group = Node::group("value", &self.said).with("data-of", self.of).with("data-unit", unit.id());
        let group = group.figure("data-estimate", estimate).figure("data-low", low).figure("data-high", high);
        let upwards = HALF * (scale.to - scale.from).signum();
        let without_end = |bound: Option<f64>, end: f64| bound.or((self.line == Glyph::Dashed).then_some(end));
        let ends = (without_end(low, f64::NEG_INFINITY), without_end(high, f64::INFINITY));
        let class = if self.line == Glyph::Dashed { "line few" } else { "line" };
        let interval = ends.0.zip(ends.1).map(|(low, high)| {
            let ends = [(low, upwards), (high, -upwards)].map(|(value, inward)| (value, scale.place(value), inward));
            let arrows = ends.into_iter().filter(|(value, _, _)| !scale.holds(*value)).map(|(_, end, inward)| {
                Node::path("line", &[at(end + inward, -HALF), at(end, 0.0), at(end + inward, HALF)])
            });
            let mut drawn = vec![Node::line(class, at(ends[0].1, 0.0), at(ends[1].1, 0.0))];
            drawn.extend(arrows);
            drawn
        });
        Some(group.hold(interval.into_iter().flatten()).hold([self.glyph.draw(middle)]))
    }
}

/// How far an interval may reach beyond everything else on a log axis, as a factor; further, it ends in an arrow, for else nobody
/// would see the rest.
const FURTHEST: f64 = 4.0;

/// The values that an axis must hold: all of `core`, and the ends of the intervals as far as they leave room for it.
pub(crate) fn held(steps: Steps, core: &[f64], values: &[&Measured]) -> Vec<f64> {
    let estimates = values.iter().filter_map(|value| value.estimate);
    let mut held: Vec<f64> = core.iter().copied().chain(estimates).collect();
    let (least, most) = (held.iter().copied().fold(f64::MAX, f64::min), held.iter().copied().fold(f64::MIN, f64::max));
    let ends = values.iter().flat_map(|value| [value.low, value.high]).flatten();
    held.extend(ends.map(|end| match steps {
        Steps::Log => end.clamp(least / FURTHEST, most * FURTHEST),
        Steps::Even => end,
    }));
    held
}

/// Whether all of a value is above zero, as a log axis needs it.
pub(crate) fn is_positive(value: &Measured) -> bool {
    [value.estimate, value.low, value.high].into_iter().flatten().all(|value| value > 0.0)
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;

    #[test]
    fn an_interval_that_reaches_too_far_ends_in_an_arrow_and_keeps_its_figures() {
        let measured = Measured { estimate: Some(1.0), low: Some(0.9), high: Some(1e6), unit: Unit::Ratio };
        let scale = Scale::around(Steps::Log, &held(Steps::Log, &[1.0], &[&measured]), 1.1, [0.0, 100.0]).unwrap();
        assert!(scale.high < 5.0);
        let value =
            Value { of: "a", said: "so".to_owned(), measured: &measured, glyph: Glyph::Open, line: Glyph::Line };
        let xml = value.draw(&scale, 10.0).unwrap().to_xml();
        assert_eq!(xml.matches("<path").count(), 1, "{xml}");
        assert!(xml.contains("data-estimate=\"1\" data-low=\"0.9\" data-high=\"1000000\""), "{xml}");
        let open = Measured { low: None, high: None, ..measured.clone() };
        let drawn =
            |line| Value { measured: &open, said: String::new(), line, ..value }.draw(&scale, 10.0).unwrap().to_xml();
        let dashed = drawn(Glyph::Dashed);
        assert!(
            dashed.matches("<path").count() == 2 && !dashed.contains("data-low"),
            "an arrow at either end: {dashed}"
        );
        assert!(!drawn(Glyph::Line).contains("<line"), "one launch has no interval");
        let nothing = Measured { estimate: None, ..measured };
        assert!(Value { measured: &nothing, ..value }.draw(&scale, 10.0).is_none());
    }
}
