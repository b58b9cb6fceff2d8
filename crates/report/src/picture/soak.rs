//! What a server has after each cycle of a soak: what it keeps grows again after the pause, and not in it.

use model::{Kept, Soak, SoakCycle, SoakPart, Unit};

use super::mark::Glyph;
use super::plot::{ACROSS, BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::format::{elapsed, quantity, tick};
use crate::soak_words;

/// Height of a panel.
const HEIGHT: f64 = 132.0;
/// Ticks at its side and along it, at most.
const ROWS: usize = 5;
/// Seconds of a minute.
const MINUTE_S: f64 = 60.0;

/// The picture; none without two cycles that show it.
pub(super) fn draw(soak: &Soak) -> Option<Drawn> {
    let shown = [Kept::Heap, Kept::Memory].into_iter().filter(|of| points(soak, *of).len() > 1);
    let shown: Vec<Kept> = shown.collect();
    shown.first()?;
    let end_min = soak.cycles.last()?.at_s / MINUTE_S;
    let x = Scale { steps: Steps::Even, low: 0.0, high: end_min, from: ACROSS[0], to: ACROSS[1] };
    let mut sheet = Sheet::new("What it has after each cycle", &[]);
    for of in shown {
        panel(&mut sheet, soak, of, &x)?;
    }
    let ticks: Ticks = x.ticks(ROWS).into_iter().map(|minutes| (minutes, tick(minutes, Unit::None))).collect();
    let numbers = beneath((&x, &ticks), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    sheet.small("minutes", 1);
    sheet.key(&[
        (Glyph::Dot, "after a load"),
        (Glyph::Open, "after a cycle of the pause"),
        (Glyph::Shade, "the pause"),
    ]);
    let says = "What the server had after each cycle of load, a second after its connections were closed; in the pause it was hardly asked.";
    Some(sheet.finish(says, &soak_words::header(soak).join(" · ")))
}

/// The cycles that show it, each with how much there was, in MiB.
fn points(soak: &Soak, of: Kept) -> Vec<(&SoakCycle, f64)> {
    let has = |cycle: &SoakCycle| cycle.kept.iter().find(|(kept, _)| *kept == of).map(|(_, bytes)| *bytes);
    soak.cycles.iter().filter_map(|cycle| Some((cycle, has(cycle)? / f64::from(1 << 20)))).collect()
}

fn panel(sheet: &mut Sheet, soak: &Soak, of: Kept, x: &Scale) -> Option<()> {
    let points = points(soak, of);
    let values: Vec<f64> = points.iter().map(|(_, mib)| *mib).chain([0.0]).collect();
    let around = Scale::around(Steps::Even, &values, 0.1, [0.0, 1.0])?;
    sheet.line(("strong", if of == Kept::Heap { "Alive on the heap" } else { "Memory" }), ("", ""), 0.0);
    sheet.gap(2.0);
    let y = Scale { low: 0.0, from: sheet.y() + HEIGHT, to: sheet.y(), ..around };
    let ticks = y.ticks(ROWS).into_iter().map(|mib| (mib, format!("{} MiB", tick(mib, Unit::None)))).collect();
    let mut nodes = ground((x, &Vec::new()), (&y, &ticks));
    let at_min = |cycle: &SoakCycle| cycle.at_s / MINUTE_S;
    let is_idle = |cycle: &&SoakCycle| cycle.part == SoakPart::Idle;
    let before = soak.cycles.iter().rev().find(|cycle| cycle.part == SoakPart::First);
    if let Some((from, to)) = before.zip(soak.cycles.iter().rev().find(is_idle)) {
        let edges = [from, to].map(at_min);
        let shade = Node::area("shade", [x.place(edges[0]), y.to], [x.place(edges[1]), y.from]);
        nodes.push(shade.figure("data-from", Some(edges[0])).figure("data-to", Some(edges[1])));
    }
    let places: Vec<[f64; 2]> = points.iter().map(|(cycle, mib)| [x.place(at_min(cycle)), y.place(*mib)]).collect();
    nodes.push(Node::path("thin", &places));
    nodes.extend(points.iter().zip(&places).map(|((cycle, mib), place)| {
        let bytes = mib * f64::from(1 << 20);
        let when = elapsed(cycle.at_s);
        let said = format!("after {when}: {}", quantity(bytes, Unit::Bytes));
        let glyph = if cycle.part == SoakPart::Idle { Glyph::Open } else { Glyph::Dot };
        let group = Node::group("cycle", &said).with("data-of", when).with("data-series", of.id());
        group.with("data-unit", Unit::Bytes.id()).figure("data-estimate", Some(bytes)).hold([glyph.draw(*place)])
    }));
    sheet.draw(HEIGHT + 8.0, nodes);
    Some(())
}
