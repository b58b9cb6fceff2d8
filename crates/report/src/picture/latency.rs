//! Latency by percentile: a thin line for each launch, the whole over it, on one grid for all.

use model::{CellAnalysis, CellLaunch, Measured, Unit};

use super::mark::{Glyph, Value};
use super::percentiles::{self, FEW, MEANING, named, nines};
use super::plot::{BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::series::{About, Series};
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::format::{measured, quantity, tick};
use crate::words::{at_least, bracketed};

/// Height of a panel.
const HEIGHT: f64 = 128.0;
/// Ticks at its side, at most.
const ROWS: usize = 5;

/// The quantiles with the attributes of a launch that have them.
const QUANTILES: [(f64, &str); 7] = [
    (0.5, "data-p50"),
    (0.75, "data-p75"),
    (0.9, "data-p90"),
    (0.95, "data-p95"),
    (0.99, "data-p99"),
    (0.999, "data-p99.9"),
    (0.9999, "data-p99.99"),
];

/// A point of a line: a quantile with its time.
#[derive(Clone, Copy)]
struct Point {
    q: f64,
    us: f64,
    /// How many samples lie beyond it.
    beyond: f64,
    /// Whether it is a lower bound.
    is_bound: bool,
}

/// What is the same in all panels.
struct Frame {
    x: (Scale, Ticks),
    low: f64,
    high: f64,
}

/// The picture of a table; none without a quantile.
pub(super) fn draw(series: &[Series<'_>], about: &About<'_>) -> Option<Drawn> {
    let frame = Frame::around(series)?;
    let population = series.first()?.cell.latency_us.population.id();
    let mut sheet =
        Sheet::new(&format!("Latency by percentile, {population} time{}", bracketed(about.title)), about.cautions);
    for (at, one) in series.iter().enumerate() {
        frame.panel(&mut sheet, series, at, one);
    }
    let numbers = beneath((&frame.x.0, &frame.x.1), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    sheet.small(MEANING, 1);
    sheet.gap(2.0);
    let mut key = vec![(Glyph::Thin, "a launch"), (Glyph::Dot, "all launches, with the 95 % interval")];
    key.push((Glyph::Dashed, "fewer than 10 requests beyond"));
    key.extend(
        (series.len() > 1).then_some((Glyph::Grey, if series.len() == 2 { "the other one" } else { "the others" })),
    );
    let bounds = series.iter().any(|one| one.counted().flat_map(points).any(|point| point.is_bound));
    key.extend(bounds.then_some((Glyph::Open, "at least: unfinished requests")));
    sheet.key(&key);
    let says = format!(
        "How long {population} times were at each percentile, both on log scales: a thin line for each launch, and the percentiles \
         over launches with their 95 % intervals{}.",
        bracketed(about.title)
    );
    Some(sheet.finish(&says, about.made))
}

fn points(launch: &CellLaunch) -> Vec<Point> {
    let count = launch.latency.count as f64;
    let point = |known: &model::Quantile| Point {
        q: known.q,
        us: known.us,
        beyond: count * (1.0 - known.q),
        is_bound: launch.latency.is_lower_bound(known.us),
    };
    launch.latency.quantiles.iter().filter(|known| known.us > 0.0).map(point).collect()
}

/// The percentiles over launches.
fn whole(cell: &CellAnalysis) -> Vec<(f64, &Measured)> {
    let known = cell.quantiles.iter().map(|known| (known.q, &known.us));
    known.filter(|(_, value)| value.estimate.is_some_and(|us| us > 0.0)).collect()
}

impl Frame {
    fn around(series: &[Series<'_>]) -> Option<Self> {
        let all: Vec<Point> = series.iter().flat_map(|one| one.counted().flat_map(points)).collect();
        let highest = all.iter().map(|point| point.q).reduce(f64::max)?;
        let ends = series.iter().flat_map(|one| whole(one.cell));
        let ends = ends.flat_map(|(_, value)| [value.low, value.estimate, value.high]).flatten().filter(|us| *us > 0.0);
        let times: Vec<f64> = all.iter().map(|point| point.us).chain(ends).collect();
        let around = Scale::around(Steps::Log, &times, 1.1, [0.0, 1.0])?;
        let x = percentiles::axis(highest)?;
        Some(Self { x, low: around.low, high: around.high })
    }

    fn panel(&self, sheet: &mut Sheet, all: &[Series<'_>], at: usize, one: &Series<'_>) {
        let p99 = measured(&one.cell.latency_us.p99)
            .map_or(String::new(), |said| format!("p99 {}", at_least(one.is_bound(0.99), said)));
        sheet.line(("strong", &one.name), ("small number", &p99), 0.0);
        sheet.gap(2.0);
        let (top, bottom) = (sheet.y(), sheet.y() + HEIGHT);
        let y = Scale { steps: Steps::Log, low: self.low, high: self.high, from: bottom, to: top };
        let ticks = y.ticks(ROWS).into_iter().map(|us| (us, tick(us, Unit::Us))).collect();
        let mut nodes = ground((&self.x.0, &self.x.1), (&y, &ticks));
        let others = all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
        nodes.extend(others.map(|other| {
            let points: Vec<[f64; 2]> =
                whole(other.cell).iter().filter_map(|(q, of)| self.place(&y, *q, of.estimate)).collect();
            Node::path("other", &points)
        }));
        nodes.extend(one.counted().map(|launch| self.launch(&y, &one.name, launch)));
        nodes.extend(self.whole(&y, one));
        sheet.draw(HEIGHT + 8.0, nodes);
    }

    fn place(&self, y: &Scale, q: f64, us: Option<f64>) -> Option<[f64; 2]> {
        Some([self.x.0.place(nines(q)), y.place(us?)])
    }

    /// A line from quantile to quantile, dashed towards those beyond which few samples lie.
    fn launch(&self, y: &Scale, name: &str, launch: &CellLaunch) -> Node {
        let points = points(launch);
        let place = |point: &Point| [self.x.0.place(nines(point.q)), y.place(point.us)];
        let solid: Vec<[f64; 2]> = points.iter().take_while(|point| point.beyond >= FEW).map(place).collect();
        let few: Vec<[f64; 2]> = points.iter().skip(solid.len().saturating_sub(1)).map(place).collect();
        let said: Vec<String> =
            points.iter().map(|point| at_least(point.is_bound, quantity(point.us, Unit::Us))).collect();
        let group =
            Node::group("launch", &format!("{}: {}", launch.id, said.join(", "))).with("data-of", launch.id.as_str());
        let group = group.with("data-series", name).with("data-unit", Unit::Us.id());
        let group = QUANTILES.iter().fold(group, |group, (q, attribute)| {
            group.figure(attribute, points.iter().find(|point| point.q == *q).map(|point| point.us))
        });
        let is_bound = |q: f64| points.iter().any(|point| point.q == q && point.is_bound);
        let bound = QUANTILES.iter().filter(|(q, _)| is_bound(*q));
        let bound: Vec<&str> = bound.map(|(_, attribute)| attribute.trim_start_matches("data-")).collect();
        let group = group.at_least(&bound);
        let bounds = points.iter().filter(|point| point.is_bound).map(|point| Glyph::Open.draw(place(point)));
        let lines = [("thin", solid), ("thin few", few)].into_iter().filter(|(_, places)| places.len() > 1);
        group.hold(lines.map(|(class, places)| Node::path(class, &places))).hold(bounds)
    }

    /// The percentiles over launches with their intervals upright.
    fn whole(&self, y: &Scale, one: &Series<'_>) -> Vec<Node> {
        let known = whole(one.cell);
        let fewest = one.counted().map(|launch| launch.latency.count).min().unwrap_or(0) as f64;
        let places: Vec<(f64, [f64; 2])> =
            known.iter().filter_map(|(q, of)| Some((*q, self.place(y, *q, of.estimate)?))).collect();
        let segment = |pair: &[(f64, [f64; 2])]| {
            let is_few = fewest * (1.0 - pair[1].0) < FEW;
            Node::path(if is_few { "line few" } else { "line" }, &[pair[0].1, pair[1].1])
        };
        let mut nodes: Vec<Node> = places.windows(2).map(segment).collect();
        let value = |(q, of): &(f64, &Measured)| {
            let name = format!("{} {}", one.name, named(*q));
            let is_bound = one.is_bound(*q);
            let said = format!("{name}: {}", at_least(is_bound, measured(of).unwrap_or_default()));
            let glyph = if is_bound { Glyph::Open } else { Glyph::Dot };
            let value = Value { of: &name, said, measured: of, glyph, line: Glyph::Line };
            let drawn = value.draw_upright(y, self.x.0.place(nines(*q)))?;
            Some(if is_bound { drawn.at_least(&["estimate"]) } else { drawn })
        };
        nodes.extend(known.iter().filter_map(value));
        nodes
    }
}
