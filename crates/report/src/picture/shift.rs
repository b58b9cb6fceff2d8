//! The latencies of two as a shift function: each quantile of the one as a multiple of the other's. Shown, not judged.

use model::{QuantileShift, Shift};

use super::axis::change_words;
use super::mark::{Glyph, Value, held, is_positive};
use super::percentiles::{self, FEW, MEANING, named, nines};
use super::plot::{BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::series::About;
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::answer::why_withheld;
use crate::format::measured;
use crate::words::bracketed;

/// Height of the panel.
const HEIGHT: f64 = 168.0;
/// Ticks at its side, at most.
const ROWS: usize = 7;

/// The picture under a set of conditions; `of` names the ratio, `margin` is half the width of "the same".
pub(super) fn draw(shift: &Shift, of: &str, margin: f64, about: &About<'_>) -> Option<Drawn> {
    let band = [1.0 / (1.0 + margin), 1.0 + margin];
    let shown: Vec<&QuantileShift> = shift.quantiles.iter().filter(|known| is_positive(&known.ratio)).collect();
    let values: Vec<_> = shown.iter().map(|known| &known.ratio).collect();
    let across = percentiles::axis(shown.last()?.q)?;
    let around = Scale::around(Steps::Log, &held(Steps::Log, &band, &values), 1.02, [0.0, 1.0])?;
    let mut sheet = Sheet::new(&format!("Latency by percentile, {of}{}", bracketed(about.title)), about.cautions);
    sheet.line(("", "Above the dashed line is slower"), ("small", "log scale"), 0.0);
    sheet.gap(2.0);
    let (top, bottom) = (sheet.y(), sheet.y() + HEIGHT);
    let y = Scale { from: bottom, to: top, ..around };
    sheet.draw(HEIGHT + 4.0, panel(&shown, &across, &y, band));
    let numbers = beneath((&across.0, &across.1), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    sheet.small(MEANING, 1);
    sheet.gap(2.0);
    key(&mut sheet, &shown, margin);
    open(&shown).iter().for_each(|why| sheet.small(why, 3));
    sheet.small("Each interval stands for itself, not adjusted for their number: shown, not judged.", 2);
    let says = format!(
        "By how much each percentile of the latency differs, {of}, with its 95 % interval{}: shown, not judged.",
        bracketed(about.title)
    );
    Some(sheet.finish(&says, about.made))
}

fn panel(shown: &[&QuantileShift], x: &(Scale, Ticks), y: &Scale, band: [f64; 2]) -> Vec<Node> {
    let words = change_words(y);
    let ticks = y.ticks(ROWS).into_iter().map(|ratio| (ratio, words(ratio))).collect();
    let mut nodes = ground((&x.0, &x.1), (y, &ticks));
    let [least, most] = band.map(|ratio| y.place(ratio));
    let shade = Node::area("shade", [x.0.from, most], [x.0.to, least]);
    nodes.push(shade.figure("data-from", Some(band[0])).figure("data-to", Some(band[1])));
    nodes.push(Node::line("reference", [x.0.from, y.place(1.0)], [x.0.to, y.place(1.0)]));
    let place = |known: &QuantileShift| Some([x.0.place(nines(known.q)), y.place(known.ratio.estimate?)]);
    nodes.extend(shown.windows(2).filter_map(|pair| {
        let class = if is_few(pair[1]) { "thin few" } else { "thin" };
        Some(Node::path(class, &[place(pair[0])?, place(pair[1])?]))
    }));
    nodes.extend(shown.iter().filter_map(|known| {
        let glyph = if is_open(known) { Glyph::Open } else { Glyph::Dot };
        let name = named(known.q);
        let said = format!("{name}: {}", measured(&known.ratio).unwrap_or_default());
        Value { of: &name, said, measured: &known.ratio, glyph, line: Glyph::Line }
            .draw_upright(y, x.0.place(nines(known.q)))
    }));
    nodes
}

fn is_few(known: &QuantileShift) -> bool {
    (known.beyond as f64) < FEW
}

fn is_open(known: &QuantileShift) -> bool {
    is_few(known) || (known.censored && !known.settled) || known.withheld.is_some()
}

fn key(sheet: &mut Sheet, shown: &[&QuantileShift], margin: f64) {
    let within = format!("the same: within {}", crate::format::tick(margin, model::Unit::Share));
    let mut key = Vec::new();
    key.extend(shown.iter().any(|known| !is_open(known)).then_some((Glyph::Dot, "ratio, with its 95 % interval")));
    key.extend(
        shown.iter().any(|known| is_open(known)).then_some((Glyph::Open, "ratio that proves nothing, see below")),
    );
    key.push((Glyph::Shade, within.as_str()));
    sheet.key(&key);
}

/// Why marks are hollow, a sentence for each reason.
fn open(shown: &[&QuantileShift]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for known in shown {
        let held_back = known.withheld.map(|why| why_withheld(why).unwrap_or("nothing rests on it"));
        let unfinished = (known.censored && !known.settled).then_some("requests were unfinished");
        let few = is_few(known).then_some("fewer than 10 requests of a launch lie beyond it");
        let mut said: Vec<&str> = held_back.into_iter().chain(unfinished).chain(few).collect();
        said.dedup();
        for why in said {
            match reasons.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, all)) => all.push(named(known.q)),
                None => reasons.push((why, vec![named(known.q)])),
            }
        }
    }
    let bounds = shown.iter().filter(|known| known.censored && known.settled).map(|known| named(known.q));
    let bounds: Vec<String> = bounds.collect();
    let bounds = (!bounds.is_empty()).then(|| {
        format!(
            "Requests were unfinished at {}: however long they would have taken, it would say the same.",
            bounds.join(", ")
        )
    });
    let hollow = reasons.into_iter().map(|(why, all)| format!("Hollow at {}: {why}.", all.join(", ")));
    hollow.chain(bounds).collect()
}
