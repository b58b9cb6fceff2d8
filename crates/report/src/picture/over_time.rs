//! One launch over time: panels one above the other on the same seconds, a unit each.

use std::collections::BTreeMap;

use model::{LaunchUse, TimelineStep, Unit, bucket_from_us};

use super::amounts::{AMOUNTS, Amount, Shown, THROUGHPUT};
use super::mark::Glyph;
use super::plot::{ACROSS, BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::sheet::{Drawn, MARGIN, Sheet, letters};
use super::svg::Node;
use super::text::{LINE, SMALL};
use crate::format::{counted, quantity, tick};

/// Height of a panel of an amount, and of the one of latency.
const HEIGHT: f64 = 56.0;
const LATENCY_HEIGHT: f64 = 132.0;
/// Ticks at the side of a panel, and beneath all of them, at most.
const ROWS: usize = 3;
const COLUMNS: usize = 7;
/// Steps of the ramp of counts.
pub(crate) const LEVELS: usize = 8;
/// From which on steps do not touch, in seconds.
const GAP_S: f64 = 0.01;

/// What is the same in all panels.
struct Frame<'a> {
    steps: &'a [TimelineStep],
    of: &'a str,
    x: (Scale, Ticks),
    is_void: bool,
}

/// The picture; none without a step. `said` are sentences about the launch, above it.
pub(crate) fn draw(title: &str, shown: Shown<'_>, said: &[String], made: &str) -> Option<Drawn> {
    let steps = &shown.timeline.steps;
    let frame = Frame::around(shown)?;
    let mut sheet = Sheet::new(title, said);
    frame.amount(&mut sheet, &THROUGHPUT);
    frame.latency(&mut sheet);
    AMOUNTS.iter().for_each(|amount| frame.amount(&mut sheet, amount));
    let numbers = beneath((&frame.x.0, &frame.x.1), sheet.y() - 4.0);
    sheet.draw(BENEATH, numbers);
    sheet.small("Seconds of the window; the darker ground before 0 is the warm-up.", 2);
    let mut key = vec![(Glyph::Dashed, "p50"), (Glyph::Line, "p99")];
    key.extend(steps.iter().any(|step| step.failures > 0).then_some((Glyph::Cross, "requests failed")));
    key.extend(
        steps.iter().any(|step| is_bound(step, step.p99_us)).then_some((Glyph::Open, "at least: unfinished requests")),
    );
    sheet.key(&key);
    if steps.iter().any(|step| !step.latencies.is_empty()) {
        frame.ramp(&mut sheet);
    }
    let says = format!("{title}: throughput, latency, CPU and memory of this one launch from step to step.");
    Some(Drawn { steps: Some(csv(steps)), ..sheet.finish(&says, made) })
}

/// Whether a quantile of a step is a lower bound.
fn is_bound(step: &TimelineStep, us: Option<f64>) -> bool {
    us.zip(step.exact_below_us).is_some_and(|(us, limit)| us >= limit)
}

/// The steps as CSV: each with its begin and length, and what is drawn of it, nothing where that is not known.
fn csv(steps: &[TimelineStep]) -> String {
    let amounts = || [&THROUGHPUT].into_iter().chain(&AMOUNTS);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header =
        ["begin (s)", "length (s)", "failed (requests)", "p50 (us)", "p99 (us)", "exact below (us)"].map(str::to_owned);
    let named = |amount: &Amount| match amount.unit {
        Unit::None => amount.id.to_owned(),
        unit => format!("{} ({})", amount.id, unit.id()),
    };
    // Nothing fails that is written to memory.
    let _ = writer.write_record(header.into_iter().chain(amounts().map(named)));
    for step in steps {
        let told = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let first = [step.at_s, step.length_s, step.failures as f64].map(Some);
        let latencies = [step.p50_us, step.p99_us, step.exact_below_us];
        let figures = first.into_iter().chain(latencies).chain(amounts().map(|amount| (amount.of)(step)));
        let _ = writer.write_record(figures.map(told));
    }
    writer.into_inner().ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

impl<'a> Frame<'a> {
    fn around(shown: Shown<'a>) -> Option<Self> {
        let steps = &shown.timeline.steps;
        let (low, last) = (steps.first()?.at_s, steps.last()?);
        let [from, to] = ACROSS;
        let high = (last.at_s + last.length_s).max(low + 0.001);
        let scale = Scale { steps: Steps::Even, low, high, from, to };
        let ticks = scale.ticks(COLUMNS).into_iter().map(|at_s| (at_s, tick(at_s, Unit::None))).collect();
        let is_void = shown.launch.used == LaunchUse::Void;
        Some(Self { steps, of: &shown.launch.id, x: (scale, ticks), is_void })
    }

    fn titled(&self, sheet: &mut Sheet, title: &str, most: &str) {
        sheet.line(("strong", title), ("small number", most), 0.0);
        sheet.gap(2.0);
    }

    /// The ground of a panel, with the warm-up shaded.
    fn ground(&self, y: &Scale, ticks: &Ticks) -> Vec<Node> {
        let mut nodes = ground((&self.x.0, &self.x.1), (y, ticks));
        let end = self.steps.iter().filter(|step| step.is_warm_up()).map(|step| step.at_s + step.length_s);
        if let Some(end) = end.reduce(f64::max) {
            let [left, right] = [self.x.0.low, end].map(|at| self.x.0.place(at));
            nodes.insert(1, Node::area("warm-up", [left, y.to], [right, y.from]));
        }
        nodes
    }

    /// A panel of an amount from zero; nothing where none is known.
    fn amount(&self, sheet: &mut Sheet, amount: &Amount) {
        let values: Vec<Option<f64>> = self.steps.iter().map(amount.of).collect();
        let Some(most) = values.iter().flatten().copied().reduce(f64::max) else { return };
        // What is counted comes whole.
        let said = match amount.unit {
            Unit::Threads | Unit::Connections | Unit::Collections => tick(most, amount.unit),
            unit => quantity(most, unit),
        };
        self.titled(sheet, amount.title, &format!("at most {said}"));
        let (top, bottom) = (sheet.y(), sheet.y() + HEIGHT);
        let high = if most > 0.0 { most * 1.08 } else { 1.0 };
        let y = Scale { steps: Steps::Even, low: 0.0, high, from: bottom, to: top };
        let ticks = ticks(&y, amount.unit);
        let mut nodes = self.ground(&y, &ticks);
        nodes.push(self.line("line", &y, amount.id, &values));
        if amount.id == THROUGHPUT.id {
            nodes.extend(self.failures(&y));
        }
        nodes.extend(self.void(&y));
        sheet.draw(HEIGHT + 8.0, nodes);
    }

    /// Values as lines from the begin of a step to its end, with a gap where a step or its value is missing.
    fn line(&self, class: &str, y: &Scale, id: &str, values: &[Option<f64>]) -> Node {
        let mut parts: Vec<Vec<[f64; 2]>> = Vec::new();
        let mut end_s = f64::NEG_INFINITY;
        for (step, value) in self.steps.iter().zip(values) {
            let Some(value) = value else { continue };
            if (step.at_s - end_s).abs() > GAP_S {
                parts.push(Vec::new());
            }
            end_s = step.at_s + step.length_s;
            let places = [step.at_s, end_s].map(|at_s| [self.x.0.place(at_s), y.place(*value)]);
            parts.last_mut().into_iter().for_each(|part| part.extend(places));
        }
        let said = |value: &Option<f64>| value.map_or("-".to_owned(), |value| value.to_string());
        let figures: Vec<String> = values.iter().map(said).collect();
        let group = Node::new("g").with("class", "over-time").with("data-of", self.of).with("data-panel", id);
        let lines = parts.iter().map(|part| Node::path(class, part));
        group.with("data-values", figures.join(" ")).hold(lines)
    }

    /// A cross at the foot of each step in which requests failed.
    fn failures(&self, y: &Scale) -> Vec<Node> {
        let failed = self.steps.iter().filter(|step| step.failures > 0);
        let cross = |step: &TimelineStep| {
            let x = self.x.0.place(step.at_s + step.length_s / 2.0);
            let said = format!("{} failed from second {}", step.failures, tick(step.at_s, Unit::None));
            let group = Node::group("failures", &said).figure("data-at", Some(step.at_s));
            group.figure("data-failures", Some(step.failures as f64)).hold([Glyph::Cross.draw([x, y.from - 6.0])])
        };
        failed.map(cross).collect()
    }

    fn void(&self, y: &Scale) -> Vec<Node> {
        let ([left, right], [top, bottom]) = (ACROSS, [y.to, y.from]);
        let lines =
            [Node::line("cross", [left, top], [right, bottom]), Node::line("cross", [left, bottom], [right, top])];
        lines.into_iter().filter(|_| self.is_void).collect()
    }

    /// Counts by latency, with the median and the 99th percentile over them.
    fn latency(&self, sheet: &mut Sheet) {
        let of = |value: fn(&TimelineStep) -> Option<f64>| -> Vec<Option<f64>> {
            self.steps.iter().map(|step| value(step).filter(|us| *us > 0.0)).collect()
        };
        let (p50, p99) = (of(|step| step.p50_us), of(|step| step.p99_us));
        let buckets = self.steps.iter().flat_map(|step| &step.latencies);
        let edges = buckets.flat_map(|(bucket, _)| [bucket_from_us(*bucket), bucket_from_us(*bucket + 1)]);
        let held: Vec<f64> = p50.iter().chain(&p99).flatten().copied().chain(edges).collect();
        let Some(y) = Scale::around(Steps::Log, &held, 1.05, [sheet.y() + LATENCY_HEIGHT, sheet.y()]) else { return };
        let has_map = self.steps.iter().any(|step| !step.latencies.is_empty());
        self.titled(sheet, "Latency, log scale", if has_map { "each reply counted" } else { "" });
        let (top, bottom) = (sheet.y(), sheet.y() + LATENCY_HEIGHT);
        let y = Scale { from: bottom, to: top, ..y };
        let ticks = y.ticks(ROWS + 2).into_iter().map(|us| (us, tick(us, Unit::Us))).collect();
        let mut nodes = self.ground(&y, &ticks);
        nodes.extend(self.heat(&y));
        for (class, id, values) in [("line few", "p50", &p50), ("line", "p99", &p99)] {
            nodes.push(self.halo(&y, values));
            nodes.push(self.line(class, &y, id, values));
        }
        nodes.extend(self.bounds(&y));
        nodes.extend(self.void(&y));
        sheet.draw(LATENCY_HEIGHT + 8.0, nodes);
    }

    /// A hollow mark on each p99 that is a lower bound.
    fn bounds(&self, y: &Scale) -> Vec<Node> {
        let bound = self.steps.iter().filter(|step| is_bound(step, step.p99_us));
        let mark = |step: &TimelineStep| {
            let us = step.p99_us.filter(|us| *us > 0.0)?;
            let said = format!("p99 from second {}: ≥ {}", tick(step.at_s, Unit::None), quantity(us, Unit::Us));
            let place = [self.x.0.place(step.at_s + step.length_s / 2.0), y.place(us)];
            Some(Node::group("bound", &said).hold([Glyph::Open.draw(place)]))
        };
        bound.filter_map(mark).collect()
    }

    /// The same line wider, in the colour of the paper, so that it is seen over any colour.
    fn halo(&self, y: &Scale, values: &[Option<f64>]) -> Node {
        let line = self.line("halo", y, "", values);
        Node::new("g").hold(line.into_children())
    }

    fn most(&self) -> u64 {
        self.steps.iter().flat_map(|step| &step.latencies).map(|(_, count)| *count).max().unwrap_or(0)
    }

    /// One path for each level of the ramp.
    fn heat(&self, y: &Scale) -> Vec<Node> {
        let most = self.most();
        let mut levels: BTreeMap<usize, String> = BTreeMap::new();
        for step in self.steps {
            let [left, right] = [step.at_s, step.at_s + step.length_s].map(|at_s| self.x.0.place(at_s));
            // Neighbours of one level are one area.
            let alike =
                |one: &(i16, u64), next: &(i16, u64)| one.0 + 1 == next.0 && level(one.1, most) == level(next.1, most);
            for fields in step.latencies.chunk_by(alike) {
                let [low, high] = [fields[0].0, fields[fields.len() - 1].0 + 1];
                let [from, to] = [low, high].map(|bucket| y.place(bucket_from_us(bucket)));
                let area = format!("M{left:.1} {to:.1}H{right:.1}V{from:.1}H{left:.1}z");
                levels.entry(level(fields[0].1, most)).or_default().push_str(&area);
            }
        }
        let path = |(level, places): (usize, String)| {
            Node::new("path").with("class", format!("heat-{level}")).with("d", places)
        };
        levels.into_iter().map(path).collect()
    }

    /// What the colours mean.
    fn ramp(&self, sheet: &mut Sheet) {
        const WIDE: f64 = 16.0;
        let (most, top) = (self.most(), sheet.y());
        let mut x = MARGIN + 44.0;
        let mut nodes = vec![letters("small", [MARGIN, top + SMALL], "1 reply")];
        for level in 1..=LEVELS {
            nodes.push(Node::area(&format!("heat-{level}"), [x, top + 2.0], [x + WIDE, top + SMALL + 2.0]));
            x += WIDE;
        }
        let said = format!("{}, log steps", counted(most, "reply", "replies"));
        nodes.push(letters("small", [x + 6.0, top + SMALL], &said));
        sheet.draw(LINE, nodes);
    }
}

/// Round values at the side of a panel, of bytes by powers of 1024.
fn ticks(y: &Scale, unit: Unit) -> Ticks {
    let of_one = match unit {
        Unit::Bytes => 1024_f64.powf((y.high.max(1.0).log2() / 10.0).floor()),
        _ => 1.0,
    };
    let scale = Scale { low: y.low / of_one, high: y.high / of_one, ..*y };
    scale.ticks(ROWS).into_iter().map(|value| (value * of_one, tick(value * of_one, unit))).collect()
}

/// The level of a count: 1 for a lone reply, the last one for the most that there is, and between them equal factors.
pub(crate) fn level(count: u64, most: u64) -> usize {
    if count <= 1 || most <= 1 {
        return 1;
    }
    let share = (count as f64).ln() / (most as f64).ln();
    1 + (share * (LEVELS - 1) as f64).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_reply_has_a_level_of_its_own_and_the_most_the_last() {
        assert_eq!([1, 2, 10, 1_000, 10_000].map(|count| level(count, 10_000)), [1, 2, 3, 7, 8]);
        assert_eq!((level(1, 1), level(2, 2)), (1, LEVELS));
    }
}
