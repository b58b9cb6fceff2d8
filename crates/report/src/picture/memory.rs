//! Memory against connections: each launch, its memory at rest apart, and what a connection costs.

use model::{Analysis, CellAnalysis, CellLaunch, Factor, LoadKey, MemorySlope, Unit};

use super::mark::Glyph;
use super::plot::{ACROSS, BENEATH, Ticks, beneath, ground};
use super::scale::{Scale, Steps};
use super::series::counted;
use super::sheet::{Drawn, Sheet};
use super::svg::Node;
use crate::blanks::memory_words;
use crate::conditions::{Conditions, without};
use crate::format::{measured_of, quantity, thousands, tick};
use crate::words::{self, bracketed};

/// Height of a panel.
const HEIGHT: f64 = 96.0;
/// Ticks at its side, at most.
const ROWS: usize = 4;
/// Width of the column of memory at rest.
const REST: f64 = 40.0;
/// Panels, at most.
const PANELS: usize = 12;

const CONNECTIONS: Factor = Factor::Load(LoadKey::Connections);

/// A launch with its connections.
type Point<'a> = (u64, &'a CellLaunch);

/// The picture; none where no cells differ in their connections alone.
pub(super) fn draw(analysis: &Analysis, conditions: &Conditions) -> Option<Drawn> {
    let panels: Vec<(&MemorySlope, Vec<Point>)> =
        analysis.memory_slopes.iter().map(|slope| (slope, points(analysis, slope))).collect();
    let all = || panels.iter().flat_map(|(_, points)| points);
    let bytes = all().flat_map(|(_, launch)| [launch.peak_memory_bytes, launch.memory_at_rest_bytes]).flatten();
    let bytes: Vec<f64> = bytes.filter(|bytes| *bytes > 0).map(mib).collect();
    let around = Scale::around(Steps::Log, &bytes, 1.1, [0.0, 1.0])?;
    let counts: Vec<f64> = all().map(|(connections, _)| *connections as f64).filter(|count| *count > 0.0).collect();
    let x = Scale::around(Steps::Log, &counts, 1.1, [ACROSS[0] + REST, ACROSS[1]])?;
    let mut sheet = Sheet::new("Memory against connections", words::preliminary(analysis).as_slice());
    sheet.line(("", "A dot for each launch"), ("small", "log scales"), 0.0);
    for (slope, points) in panels.iter().take(PANELS) {
        // What its memory counts, where that is not the pages of one process.
        let counts = of_slope(analysis, slope).find_map(memory_words);
        panel(&mut sheet, (&x, &around), (slope, points), (conditions, counts));
    }
    let ticks: Ticks = steps(&counts, &x).into_iter().map(|count| (count, thousands(count as u64))).collect();
    let mut numbers = beneath((&x, &ticks), sheet.y() - 4.0);
    numbers.push(super::sheet::letters("small middle", [ACROSS[0] + REST / 2.0, sheet.y() + 10.0], "at rest"));
    sheet.draw(BENEATH, numbers);
    if panels.len() > PANELS {
        sheet.small(&format!("and {} more, in analysis.json", panels.len() - PANELS), 1);
    }
    sheet.key(&[(Glyph::Dot, "peak in the window"), (Glyph::Open, "before any load")]);
    let says = "The peak memory of each launch against its connections, its memory before any load apart, and what a connection costs \
                from the fewest to the most.";
    Some(sheet.finish(says, &words::header(analysis).join(" · ")))
}

/// What the scale is in, so that its ticks are round.
fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1 << 20) as f64
}

/// The numbers of connections that were measured, as long as they leave each other room; else round ones.
fn steps(counts: &[f64], x: &Scale) -> Vec<f64> {
    let mut steps = counts.to_vec();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    let has_room = steps.windows(2).all(|two| x.place(two[1]) - x.place(two[0]) > REST);
    if has_room { steps } else { x.ticks(ROWS) }
}

/// The cells that differ from each other in their connections alone.
fn of_slope<'a>(analysis: &'a Analysis, slope: &MemorySlope) -> impl Iterator<Item = &'a CellAnalysis> {
    analysis.cells.iter().filter(move |cell| without(&cell.levels, &[CONNECTIONS.id()]) == slope.levels)
}

/// Their launches that count.
fn points<'a>(analysis: &'a Analysis, slope: &MemorySlope) -> Vec<Point<'a>> {
    let with = of_slope(analysis, slope)
        .filter_map(|cell| Some((cell.levels.level(CONNECTIONS)?.to_string().parse().ok()?, cell)));
    let launches = |(connections, cell): (u64, &'a CellAnalysis)| {
        counted(cell).map(move |launch| (connections, launch)).collect::<Vec<Point>>()
    };
    with.flat_map(launches).collect()
}

fn panel(
    sheet: &mut Sheet,
    (x, around): (&Scale, &Scale),
    (slope, points): (&MemorySlope, &[Point]),
    (conditions, counts): (&Conditions, Option<&str>),
) {
    let name = format!("{}{}", slope.levels.target(), bracketed(&conditions.title(&slope.levels)));
    let costs = measured_of(&slope.bytes, " a connection").unwrap_or_default();
    sheet.line(("strong", &name), ("", ""), 0.0);
    sheet.line(("", ""), ("small number", &costs), 0.0);
    if let Some(counts) = counts {
        sheet.small(counts, 2);
    }
    sheet.gap(2.0);
    let y = Scale { from: sheet.y() + HEIGHT, to: sheet.y(), ..*around };
    let ticks = y.ticks(ROWS).into_iter().map(|bytes| (bytes, format!("{} MiB", tick(bytes, Unit::None)))).collect();
    let whole = Scale { from: ACROSS[0], ..*x };
    let mut nodes = ground((&whole, &Vec::new()), (&y, &ticks));
    nodes.push(Node::line("grid", [x.from, y.to], [x.from, y.from]));
    nodes.extend(points.iter().map(|(connections, launch)| {
        let said =
            |bytes: Option<u64>| bytes.map_or("nothing seen".to_owned(), |bytes| quantity(bytes as f64, Unit::Bytes));
        let said = format!(
            "{}, {} connections: {} before any load, {} at most in the window",
            launch.id,
            thousands(*connections),
            said(launch.memory_at_rest_bytes),
            said(launch.peak_memory_bytes)
        );
        let (rest, peak) = (launch.memory_at_rest_bytes, launch.peak_memory_bytes);
        let mark = |glyph: Glyph, x: f64, bytes: Option<u64>| {
            bytes.filter(|bytes| *bytes > 0).map(|bytes| glyph.draw([x, y.place(mib(bytes))]))
        };
        let group = Node::group("launch", &said).with("data-of", launch.id.as_str()).with("data-series", name.as_str());
        let group = group.with("data-connections", connections.to_string()).with("data-unit", Unit::Bytes.id());
        let group = group.figure("data-rest", rest.map(|bytes| bytes as f64));
        group
            .figure("data-peak", peak.map(|bytes| bytes as f64))
            .hold(mark(Glyph::Open, ACROSS[0] + REST / 2.0, rest))
            .hold(mark(Glyph::Dot, x.place(*connections as f64), peak))
    }));
    sheet.draw(HEIGHT + 8.0, nodes);
}
