//! What the script of a page draws from: columns as JSON, compressed, in base64, for a browser's `DecompressionStream`.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use model::{LatencyCounts, TimelineStep};
use serde::Serialize;

use super::text;
use crate::picture::amounts::{AMOUNTS, Amount, Shown, THROUGHPUT};

/// Figures that a page holds at most of each kind, so that it stays below some 12 MB: a figure takes three bytes and less.
const MOST_FIGURES: usize = 2_500_000;

/// A cell with its launches.
pub(super) struct Cell<'a> {
    pub(super) name: String,
    /// The launch that stands for all.
    pub(super) middle: Option<&'a str>,
    /// Each with what is said of it where it is chosen, and what becomes of it where it does not simply count.
    pub(super) launches: Vec<(Shown<'a>, String, Option<String>)>,
}

#[derive(Serialize)]
struct Data {
    panels: Vec<Panel>,
    cells: Vec<CellData>,
}

#[derive(Serialize)]
struct Panel {
    id: &'static str,
    title: &'static str,
    unit: &'static str,
}

#[derive(Serialize)]
struct CellData {
    name: String,
    middle: Option<String>,
    launches: Vec<LaunchData>,
}

/// The columns of a launch: a figure for each step, null where there is none.
#[derive(Serialize)]
struct LaunchData {
    id: String,
    label: String,
    /// What becomes of it where it does not simply count.
    note: Option<String>,
    is_void: bool,
    fault: Option<String>,
    at_s: Vec<f64>,
    length_s: Vec<f64>,
    failures: Vec<u64>,
    p50_us: Vec<Option<f64>>,
    p99_us: Vec<Option<f64>>,
    exact_below_us: Vec<Option<f64>>,
    /// The amounts in the order of the panels; empty where the launch has none.
    amounts: Vec<Vec<Option<f64>>>,
    /// For each step how far its bucket is from the one before and its count, in turn.
    latencies: Vec<Vec<i64>>,
}

/// The data of a page, and from which block on it has no map of latency, or nothing, because there is too much.
pub(super) struct Packed {
    pub(super) base64: String,
    pub(super) maps_until: Option<u32>,
    pub(super) launches_until: Option<u32>,
}

pub(super) fn pack(cells: &[Cell<'_>]) -> Packed {
    let counts = |step: &TimelineStep| 2 * step.latencies.len();
    let maps_until = until(cells, |shown| shown.timeline.steps.iter().map(counts).sum());
    let launches_until = until(cells, |shown| shown.timeline.steps.len() * (AMOUNTS.len() + 7));
    let within = |shown: &Shown, until: Option<u32>| until.is_none_or(|until| shown.launch.block < until);
    let cell = |cell: &Cell| {
        let kept = cell.launches.iter().filter(|(shown, _, _)| within(shown, launches_until));
        let launch = kept.map(|(shown, label, note)| launch(*shown, (label, note), within(shown, maps_until)));
        CellData { name: text(&cell.name), middle: cell.middle.map(text), launches: launch.collect() }
    };
    let panel = |of: &Amount| Panel { id: of.id, title: of.title, unit: of.unit.id() };
    let panels = [&THROUGHPUT].into_iter().chain(&AMOUNTS).map(panel).collect();
    let data = Data { panels, cells: cells.iter().map(cell).collect() };
    Packed { base64: compressed(&data), maps_until, launches_until }
}

/// The block from which on launches are too much, taken block by block; none where all find room.
fn until(cells: &[Cell<'_>], weight: impl Fn(&Shown) -> usize) -> Option<u32> {
    let launches = cells.iter().flat_map(|cell| &cell.launches);
    let mut weights: Vec<(u32, usize)> = launches.map(|(shown, _, _)| (shown.launch.block, weight(shown))).collect();
    weights.sort_unstable();
    let mut sum = 0;
    weights.into_iter().find_map(|(block, weight)| {
        sum += weight;
        (sum > MOST_FIGURES).then_some(block)
    })
}

fn launch(shown: Shown<'_>, (label, note): (&str, &Option<String>), has_map: bool) -> LaunchData {
    let steps = &shown.timeline.steps;
    let column = |of: &dyn Fn(&TimelineStep) -> Option<f64>| -> Vec<Option<f64>> {
        steps.iter().map(|step| of(step).map(|value| rounded(value, 1e6))).collect()
    };
    let amount = |amount: &Amount| {
        let values = column(&amount.of);
        if values.iter().any(Option::is_some) { values } else { Vec::new() }
    };
    LaunchData {
        id: text(&shown.launch.id),
        label: text(label),
        note: note.as_deref().map(text),
        is_void: shown.launch.used == model::LaunchUse::Void,
        fault: shown.timeline.fault.as_deref().map(text),
        at_s: steps.iter().map(|step| rounded(step.at_s, 1e6)).collect(),
        length_s: steps.iter().map(|step| rounded(step.length_s, 1e6)).collect(),
        failures: steps.iter().map(|step| step.failures).collect(),
        p50_us: column(&|step| step.p50_us),
        p99_us: column(&|step| step.p99_us),
        exact_below_us: column(&|step| step.exact_below_us),
        amounts: [&THROUGHPUT].into_iter().chain(&AMOUNTS).map(amount).collect(),
        latencies: steps.iter().map(|step| if has_map { steps_of(&step.latencies) } else { Vec::new() }).collect(),
    }
}

/// To a part of one, so that sums of tenths do not take seventeen digits.
fn rounded(value: f64, parts: f64) -> f64 {
    let rounded = (value * parts).round() / parts;
    if rounded.is_finite() { rounded } else { value }
}

fn steps_of(counts: &LatencyCounts) -> Vec<i64> {
    let mut before = 0;
    let mut steps = Vec::with_capacity(2 * counts.len());
    for (bucket, count) in counts {
        steps.extend([i64::from(bucket - before), i64::try_from(*count).unwrap_or(i64::MAX)]);
        before = *bucket;
    }
    steps
}

/// Nothing of base64 ends a script element.
fn compressed(data: &Data) -> String {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    // Nothing fails that is written to memory, and our types have text keys.
    let written = serde_json::to_vec(data).is_ok_and(|json| gzip.write_all(&json).is_ok());
    let packed = gzip.finish().unwrap_or_default();
    if written { STANDARD.encode(packed) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_told_by_how_far_they_are_from_the_one_before() {
        assert_eq!(steps_of(&vec![(-3, 1), (40, 2), (41, 9)]), [-3, 1, 43, 2, 1, 9]);
        assert_eq!((rounded(0.1 + 0.2, 1e6), rounded(1e300, 1e6)), (0.3, 1e300));
    }
}
