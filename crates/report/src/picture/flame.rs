//! A CPU profile as a flame graph: functions from the outermost down, each as wide as its share of the samples.

use model::{StackNode, Unit, short_name};

use super::sheet::{Drawn, MARGIN, Sheet, WIDTH, letters};
use super::svg::Node;
use super::text::{SMALL, fit};
use crate::format::{counted, percent};

/// Height of a function.
const ROW: f64 = 17.0;
/// Functions above each other, at most.
const ROWS: usize = 32;
/// What is narrower is left out: it could be seen by nobody.
const LEAST: f64 = 1.5;
/// From this width on a function has its name in it.
const NAMED: f64 = 26.0;

/// The picture; none without a sample.
pub(crate) fn draw(title: &str, all: &StackNode, made: &str) -> Option<Drawn> {
    if all.samples == 0 {
        return None;
    }
    let mut sheet = Sheet::new(title, &[]);
    let samples = counted(all.samples, "sample", "samples");
    sheet.line(("", "As wide as its share of the samples"), ("small number", &samples), 0.0);
    sheet.gap(4.0);
    let mut flame = Flame { all: all.samples, top: sheet.y(), rows: 0, nodes: Vec::new() };
    flame.callees(all, (0, MARGIN));
    sheet.draw(flame.rows as f64 * ROW + 4.0, flame.nodes);
    sheet.small(
        "What a function called is below it. What is narrower than a hair, or deeper than 32 functions, is left out.",
        2,
    );
    let says = "Where the CPU time of the server goes: each function as wide as its share of the samples, below what called it.";
    Some(sheet.finish(says, made))
}

struct Flame {
    all: u64,
    top: f64,
    rows: usize,
    nodes: Vec<Node>,
}

impl Flame {
    /// What a function called, side by side from a place on, in the order of the alphabet: so the same is found at the same place in
    /// two profiles.
    fn callees(&mut self, of: &StackNode, (row, mut x): (usize, f64)) {
        for (name, callee) in of.callees.iter().filter(|_| row < ROWS) {
            let width = callee.samples as f64 / self.all as f64 * (WIDTH - 2.0 * MARGIN);
            if width >= LEAST {
                self.rows = self.rows.max(row + 1);
                self.function((name, callee), (row, x), width);
                self.callees(callee, (row + 1, x));
            }
            x += width;
        }
    }

    fn function(&mut self, (name, node): (&str, &StackNode), (row, x): (usize, f64), width: f64) {
        let share = node.samples as f64 / self.all as f64;
        let y = self.top + row as f64 * ROW;
        let group = Node::group("function", &format!("{name}: {}", percent(share)));
        let group = group.with("data-of", name).with("data-unit", Unit::Share.id()).figure("data-share", Some(share));
        let mut drawn = vec![Node::area("frame", [x, y], [x + width, y + ROW])];
        if width >= NAMED {
            let shown = fit(short_name(name), width - 6.0, SMALL);
            drawn.push(letters("framed", [x + 3.0, y + SMALL + 1.0], &shown));
        }
        self.nodes.push(group.hold(drawn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_lie_below_what_called_them_as_wide_as_their_share() {
        let (mut all, mut most) = (StackNode::default(), 99);
        for (stack, samples) in [(&["main", "a/serve"][..], 75), (&["main"], 15), (&["gc"], 9), (&["rare"], 1)] {
            all.add(stack.iter().copied(), samples, &mut most);
        }
        let drawn = draw("where", &all, "made").unwrap();
        let csv = drawn.values.csv();
        assert_eq!(csv, "of,share (share)\ngc,0.09\nmain,0.9\na/serve,0.75\nrare,0.01\n");
        assert!(drawn.svg.contains(">serve<") && drawn.svg.contains("a/serve: 75 %"), "{}", drawn.svg);
        assert!(draw("where", &StackNode::default(), "made").is_none());
        let (mut thin, mut most) = (StackNode::default(), 9);
        thin.add(["wide"], 1_000, &mut most);
        thin.add(["thin"], 1, &mut most);
        assert!(!draw("where", &thin, "made").unwrap().svg.contains("thin:"));
    }
}
