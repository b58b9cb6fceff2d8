//! Launches by block as a strip plot: each against the mean of its target, in the order in which they were made.

use model::{CellLaunch, LaunchSlice, LaunchUse, Measured, Metric};

use super::mark::Glyph;
use super::plot::{ACROSS, BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::series::{About, Series, figure, metric};
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::format::{measured, quantity, signed_tick};
use crate::words::{at_least, bracketed};

/// Height of a panel.
const HEIGHT: f64 = 72.0;
/// Ticks at its side, at most.
const ROWS: usize = 4;
/// Blocks that have room for their numbers.
const NUMBERED: usize = 16;
/// Share of a block's column that slices take; of one with twins half.
const SLICES: f64 = 0.8;
/// Lines of void launches, at most.
const TOLD: usize = 6;

/// What is the same in all panels.
struct Frame {
    metric: Metric,
    x: (Scale, Ticks),
    low: f64,
    high: f64,
}

/// The picture; none without a launch that has a figure.
pub(super) fn draw(series: &[Series<'_>], about: &About<'_>) -> Option<Drawn> {
    let metric = metric(series);
    let frame = Frame::around(series, metric)?;
    let mut sheet =
        Sheet::new(&format!("Launches by block, {}{}", metric.words(), bracketed(about.title)), about.cautions);
    sheet.words("", "Change from the mean of each, in the order of the blocks", 2);
    sheet.gap(4.0);
    for one in series {
        frame.panel(&mut sheet, one);
    }
    let numbers = beneath((&frame.x.0, &frame.x.1), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    let launches = || series.iter().flat_map(|one| &one.cell.launches);
    let any = |used: LaunchUse| launches().any(|launch| launch.used == used);
    let mut key = Vec::new();
    key.extend(any(LaunchUse::Counts).then_some((Glyph::Dot, "launch")));
    key.extend(
        launches().any(|launch| launch.twin).then_some((Glyph::Twin, "the same server again: the gap is noise")),
    );
    key.extend(launches().any(|launch| !launch.slices.is_empty()).then_some((Glyph::Speck, "its slices, in order")));
    key.extend(any(LaunchUse::SetAside).then_some((Glyph::Open, "set aside: the machine was busy")));
    key.extend(any(LaunchUse::Void).then_some((Glyph::Cross, "void, not used")));
    sheet.key(&key);
    let is_beyond = |one: &Series<'_>| {
        let mean = figure(one.cell, metric).estimate.unwrap_or(0.0);
        let changes =
            one.cell.launches.iter().flat_map(|launch| values(launch, metric)).map(|value| value / mean - 1.0);
        changes.filter(|change| change.is_finite()).any(|change| change < frame.low || change > frame.high)
    };
    if series.iter().any(is_beyond) {
        sheet.small("What lies beyond the scale, which is that of the launches that count, is drawn at its edge", 2);
    }
    about.void.iter().take(TOLD).for_each(|text| sheet.small(&format!("Void: {text}"), 2));
    if about.void.len() > TOLD {
        sheet.small(&format!("and {} more void ones", about.void.len() - TOLD), 1);
    }
    let says = format!(
        "Each launch in the order of the blocks, its {} as a change from the mean of its target, so that drift, noise and what was \
         not used are seen{}.",
        metric.words(),
        bracketed(about.title)
    );
    Some(sheet.finish(&says, about.made))
}

impl Frame {
    fn around(series: &[Series<'_>], metric: Metric) -> Option<Self> {
        let launches = || series.iter().flat_map(|one| &one.cell.launches);
        let (first, last) = (launches().map(|it| it.block).min()?, launches().map(|it| it.block).max()?);
        let [from, to] = ACROSS;
        let scale = Scale { steps: Steps::Even, low: f64::from(first) - 0.5, high: f64::from(last) + 0.5, from, to };
        let every = ((last - first) as usize / NUMBERED + 1) as u32;
        let numbers = (first..=last).filter(|block| (block - first).is_multiple_of(every));
        let numbers = numbers.map(|block| (f64::from(block), block.to_string())).collect();
        // What does not count may be so far off that no difference between those that do would be seen.
        let of = |one: &Series| {
            let mean = figure(one.cell, metric).estimate.unwrap_or(0.0);
            let counted = one.cell.launches.iter().filter(|launch| launch.used == LaunchUse::Counts);
            let values = counted.flat_map(|launch| values(launch, metric));
            values.map(|value| value / mean - 1.0).filter(|change| change.is_finite()).collect::<Vec<f64>>()
        };
        let changes: Vec<f64> = series.iter().flat_map(of).collect();
        (!changes.is_empty()).then_some(())?;
        let held = [&changes[..], &[0.0]].concat();
        let around = Scale::around(Steps::Even, &held, 0.005, [0.0, 1.0])?;
        Some(Self { metric, x: (scale, numbers), low: around.low, high: around.high })
    }

    fn panel(&self, sheet: &mut Sheet, one: &Series<'_>) {
        let mean = figure(one.cell, self.metric);
        let is_bound = if self.metric == Metric::P99 { one.is_bound(0.99) } else { one.cell.at_least };
        let said =
            measured(mean).map_or("no launch counts".to_owned(), |said| format!("mean {}", at_least(is_bound, said)));
        sheet.line(("strong", &one.name), ("small number", &said), 0.0);
        sheet.gap(8.0);
        let (top, bottom) = (sheet.y(), sheet.y() + HEIGHT);
        let y = Scale { steps: Steps::Even, low: self.low, high: self.high, from: bottom, to: top };
        let ticks = y.ticks(ROWS).into_iter().map(|tick| (tick, signed_tick(tick))).collect();
        let mut nodes = ground((&self.x.0, &Vec::new()), (&y, &ticks));
        let [left, right] = ACROSS;
        nodes.push(Node::line("reference", [left, y.place(0.0)], [right, y.place(0.0)]));
        let has_twins = one.cell.launches.iter().any(|launch| launch.twin);
        let on = Panel { frame: self, y, mean, has_twins };
        nodes.extend(one.cell.launches.iter().flat_map(|launch| on.slices(launch)));
        nodes.extend(one.cell.launches.iter().filter(|launch| launch.twin).filter_map(|twin| on.joined(one, twin)));
        nodes.extend(one.cell.launches.iter().map(|launch| on.launch(&one.name, launch)));
        sheet.draw(HEIGHT + 8.0, nodes);
    }
}

/// The value of a launch, then those of its slices.
fn values(launch: &CellLaunch, metric: Metric) -> Vec<f64> {
    let slices =
        launch.slices.iter().filter_map(|slice| if metric == Metric::P99 { slice.p99_us } else { slice.throughput });
    value(launch, metric).into_iter().chain(slices).collect()
}

fn value(launch: &CellLaunch, metric: Metric) -> Option<f64> {
    if metric == Metric::P99 { launch.quantile_us(0.99) } else { launch.throughput }
}

/// The panel of one target.
struct Panel<'a> {
    frame: &'a Frame,
    y: Scale,
    mean: &'a Measured,
    has_twins: bool,
}

impl Panel<'_> {
    fn height(&self, value: Option<f64>) -> Option<f64> {
        let change = value? / self.mean.estimate? - 1.0;
        change.is_finite().then(|| self.y.place(change.clamp(self.y.low, self.y.high)))
    }

    /// Where a launch lies, twins at either side of the middle; one without a value at the foot.
    fn place(&self, launch: &CellLaunch) -> [f64; 2] {
        let aside = match (self.has_twins, launch.twin) {
            (false, _) => 0.0,
            (true, false) => -SLICES / 4.0,
            (true, true) => SLICES / 4.0,
        };
        let height = self.height(value(launch, self.frame.metric)).unwrap_or(self.y.from - 8.0);
        [self.frame.x.0.place(f64::from(launch.block) + aside), height]
    }

    fn launch(&self, name: &str, launch: &CellLaunch) -> Node {
        let value = value(launch, self.frame.metric);
        let (glyph, words) = match launch.used {
            LaunchUse::Counts if launch.twin => (Glyph::Twin, ", the second of its target in the block"),
            LaunchUse::Counts => (Glyph::Dot, ""),
            LaunchUse::SetAside => (Glyph::Open, ", set aside"),
            LaunchUse::Void => (Glyph::Cross, ", void"),
        };
        let unit = self.frame.metric.unit();
        let is_bound = |value: f64| self.frame.metric == Metric::P99 && launch.latency.is_lower_bound(value);
        let figure = value.map_or("no figure".to_owned(), |value| at_least(is_bound(value), quantity(value, unit)));
        let group = Node::group("launch", &format!("{}: {figure}{words}", launch.id));
        let group = group.with("data-of", launch.id.as_str()).with("data-series", name);
        let group = group.with("data-block", launch.block.to_string()).with("data-use", launch.used.id());
        let group = group.with("data-unit", unit.id()).figure("data-value", value);
        let bound: &[&str] = if value.is_some_and(is_bound) { &["value"] } else { &[] };
        group.at_least(bound).hold([glyph.draw(self.place(launch))])
    }

    /// The line between a launch and its twin.
    fn joined(&self, one: &Series<'_>, twin: &CellLaunch) -> Option<Node> {
        let is_first = |it: &&CellLaunch| it.block == twin.block && !it.twin && it.used == twin.used;
        let first = one.cell.launches.iter().find(is_first)?;
        Some(Node::path("bracket", &[self.place(first), self.place(twin)]))
    }

    /// The slices of a launch in the order of their rounds.
    fn slices(&self, launch: &CellLaunch) -> Vec<Node> {
        let [middle, _] = self.place(launch);
        let x = &self.frame.x.0;
        let column = (x.to - x.from) / (x.high - x.low);
        let wide = if self.has_twins { column * SLICES / 2.0 } else { column * SLICES };
        let (count, unit) = (launch.slices.len() as f64, self.frame.metric.unit());
        let slice = |(at, slice): (usize, &LaunchSlice)| {
            let value = if self.frame.metric == Metric::P99 { slice.p99_us } else { slice.throughput };
            let x = middle + ((at as f64 + 0.5) / count - 0.5) * wide;
            let of = format!("{} round {}", launch.id, slice.round);
            Some(
                Glyph::Speck
                    .draw([x, self.height(value)?])
                    .with("data-of", of)
                    .with("data-unit", unit.id())
                    .figure("data-value", value),
            )
        };
        launch.slices.iter().enumerate().filter_map(slice).collect()
    }
}
