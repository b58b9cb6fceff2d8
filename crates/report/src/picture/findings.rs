//! A finding: how many requests a server worked on at once under each load, against the rule that names it.

use model::{Analysis, Finding, POOL_SHARE_OF_CONNECTIONS, Pathology, Plateau, SERIAL_AT_MOST, Unit};

use super::mark::Glyph;
use super::plot::{ACROSS, BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::conditions::conditions;
use crate::format::{duration_us, number, percent, thousands, tick};
use crate::words::{self, bracketed};

/// Height of the panel.
const HEIGHT: f64 = 140.0;
/// Ticks at its side, and beneath it, at most.
const ROWS: usize = 4;
const COLUMNS: usize = 6;

/// The picture; none without evidence.
pub(super) fn draw(analysis: &Analysis, finding: &Finding) -> Option<Drawn> {
    let loads = &finding.evidence;
    let slots: Vec<f64> = loads.iter().map(|load| load.connections as f64).filter(|slots| *slots > 0.0).collect();
    let most = |slots: f64| finding.pathology.most_at_once(slots);
    let rule = slots.iter().map(|slots| most(*slots));
    let values: Vec<f64> = loads.iter().map(|load| load.at_once).chain(rule).filter(|value| *value > 0.0).collect();
    let x = Scale::around(Steps::Log, &slots, 1.3, ACROSS)?;
    let around = Scale::around(Steps::Log, &[&values[..], &slots].concat(), 1.3, [0.0, 1.0])?;
    let title = format!("{}{}", words::finding_title(finding), bracketed(&conditions(&finding.conditions)));
    let mut sheet = Sheet::new(&title, words::preliminary(analysis).as_slice());
    sheet.line(("", "Requests at once, by connections"), ("small", "log scales"), 0.0);
    sheet.gap(2.0);
    let (top, bottom) = (sheet.y(), sheet.y() + HEIGHT);
    let y = Scale { from: bottom, to: top, ..around };
    let rows = y.ticks(ROWS).into_iter().map(|value| (value, tick(value, Unit::None))).collect();
    let columns: Ticks = columns(&slots, &x).into_iter().map(|slots| (slots, thousands(slots as u64))).collect();
    let mut nodes = ground((&x, &columns), (&y, &rows));
    let ends = [x.low, x.high];
    let [left, right] = ends.map(|slots| [x.place(slots), y.place(most(slots).clamp(y.low, y.high))]);
    let foot = [[right[0], bottom], [left[0], bottom], left];
    nodes.push(Node::path("shade", &[&[left, right][..], &foot].concat()));
    nodes.push(Node::path("edge", &[left, right]));
    nodes.push(Node::path("other", &ends.map(|slots| [x.place(slots), y.place(slots)])));
    nodes.extend(loads.iter().map(|load| mark(load, finding, (&x, &y))));
    sheet.draw(HEIGHT + 4.0, nodes);
    let numbers = beneath((&x, &columns), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    let rule = match finding.pathology {
        Pathology::SerialisedHandler => format!("named so: at most {SERIAL_AT_MOST} at once"),
        Pathology::FixedWorkerPool => {
            format!("named so: alike, and under {} of the connections", percent(POOL_SHARE_OF_CONNECTIONS))
        }
    };
    sheet.key(&[(Glyph::Dot, "a load"), (Glyph::Grey, "as many as there are connections"), (Glyph::Shade, &rule)]);
    sheet.small(&words::certainty(finding), 2);
    let says = format!(
        "{title}: how many requests {} worked on at once under each load, and up to where the rule names it.",
        finding.target
    );
    Some(sheet.finish(&says, &words::header(analysis).join(" · ")))
}

/// The numbers of connections that were tried, or where these are many round ones.
pub(super) fn columns(slots: &[f64], x: &Scale) -> Vec<f64> {
    let mut tried = slots.to_vec();
    tried.sort_by(f64::total_cmp);
    tried.dedup();
    if tried.len() <= COLUMNS { tried } else { x.ticks(COLUMNS) }
}

fn mark(load: &Plateau, finding: &Finding, (x, y): (&Scale, &Scale)) -> Node {
    let delay = duration_us(load.handler_delay_s * 1e6);
    let of = format!("{} connections, {delay} handler delay", thousands(load.connections));
    let said = format!("{}, {of}: {} requests at once", finding.target, number(load.at_once));
    let group = Node::group("value", &said).with("data-of", of).with("data-unit", Unit::None.id());
    let place = [x.place(load.connections as f64), y.place(load.at_once)];
    group.figure("data-value", Some(load.at_once)).hold([Glyph::Dot.draw(place)])
}
