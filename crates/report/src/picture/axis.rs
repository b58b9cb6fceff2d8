//! An axis along the width of a picture, and the strips in which its values lie.

use model::Unit;

use super::scale::Scale;
use super::sheet::{MARGIN, WIDTH};
use super::svg::Node;
use super::text::{LINE, SMALL, width};
use crate::format::{signed_tick, tick};

/// Height of a strip.
pub(crate) const STRIP: f64 = 22.0;

/// Most ticks of an axis along the width.
const TICKS: usize = 7;

/// Ratios as changes: in per cent, which are read at once as long as they are few.
pub(crate) fn change_words(scale: &Scale) -> impl Fn(f64) -> String + use<> {
    let wide = scale.high > 3.0 || scale.low < 1.0 / 3.0;
    move |ratio| if wide { format!("× {}", tick(ratio, Unit::Ratio)) } else { signed_tick(ratio - 1.0) }
}

/// Round values with their words.
pub(crate) struct Axis {
    pub(crate) scale: Scale,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    pub(crate) fn new(scale: Scale, words: impl Fn(f64) -> String) -> Self {
        let ticks = scale.ticks(TICKS).into_iter().map(|tick| (tick, words(tick))).collect();
        Self { scale, ticks }
    }

    /// The ground that values lie on, with a region shaded and lines across.
    pub(crate) fn strip(&self, top: f64, region: Option<[f64; 2]>, lines: &[(&str, f64)]) -> Vec<Node> {
        let (scale, bottom) = (&self.scale, top + STRIP);
        let across = |class: &str, value: f64| {
            let x = scale.place(value);
            Node::line(class, [x, top], [x, bottom])
        };
        let mut nodes = vec![Node::area("strip", [scale.from, top], [scale.to, bottom])];
        nodes.extend(region.map(|[from, to]| {
            Node::area("shade", [scale.place(from), top], [scale.place(to), bottom])
                .figure("data-from", from.is_finite().then_some(from))
                .figure("data-to", to.is_finite().then_some(to))
        }));
        nodes.extend(self.ticks.iter().map(|(tick, _)| across("grid", *tick)));
        nodes.extend(lines.iter().map(|(class, value)| across(class, *value)));
        nodes
    }

    /// The words of the ticks beneath, as far as they leave each other room.
    pub(crate) fn labels(&self, top: f64) -> Vec<Node> {
        let mut free = 0.0;
        let label = |(tick, words): &(f64, String)| {
            let half = width(words, SMALL) / 2.0;
            let x = self.scale.place(*tick).clamp(MARGIN + half, WIDTH - MARGIN - half);
            (x - half >= free).then(|| {
                free = x + half + SMALL / 2.0;
                let text = Node::new("text").with("class", "small number middle");
                text.at([("x", x), ("y", top + SMALL)]).figure("data-tick", Some(*tick)).text(words)
            })
        };
        self.ticks.iter().filter_map(label).collect()
    }

    /// Height of the labels.
    pub(crate) const LABELS: f64 = LINE;
}
