//! A panel with two axes: its values lie above the places along its width.

use super::scale::Scale;
use super::sheet::{MARGIN, WIDTH, letters};
use super::svg::Node;
use super::text::{LINE, SMALL};

/// Units to the left of a panel, for the words of its ticks.
pub(crate) const SIDE: f64 = 58.0;

/// From where to where panels reach.
pub(crate) const ACROSS: [f64; 2] = [MARGIN + SIDE, WIDTH - MARGIN];

/// Values with their words.
pub(crate) type Ticks = Vec<(f64, String)>;

/// The ground of a panel with lines across at the ticks of both axes, and the words of those at its side.
pub(crate) fn ground(x: (&Scale, &Ticks), y: (&Scale, &Ticks)) -> Vec<Node> {
    let ((across, columns), (up, rows)) = (x, y);
    let (top, bottom) = (up.from.min(up.to), up.from.max(up.to));
    let mut nodes = vec![Node::area("strip", [across.from, top], [across.to, bottom])];
    nodes.extend(columns.iter().map(|(value, _)| {
        let at = across.place(*value);
        Node::line("grid", [at, top], [at, bottom])
    }));
    for (value, words) in rows {
        let at = up.place(*value);
        nodes.push(Node::line("grid", [across.from, at], [across.to, at]));
        let text = letters("small number end", [across.from - 6.0, at + SMALL / 3.0], words);
        nodes.push(text.figure("data-tick", Some(*value)));
    }
    nodes
}

/// The words of the ticks along the width.
pub(crate) fn beneath(x: (&Scale, &Ticks), top: f64) -> Vec<Node> {
    let (scale, ticks) = x;
    let label = |(value, words): &(f64, String)| {
        let text = letters("small number middle", [scale.place(*value), top + SMALL + 2.0], words);
        text.figure("data-tick", Some(*value))
    };
    ticks.iter().map(label).collect()
}

/// Height of these words.
pub(crate) const BENEATH: f64 = LINE;
