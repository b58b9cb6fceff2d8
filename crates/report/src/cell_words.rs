//! Figures of a cell as tables write them.

use model::{CellAnalysis, Mark, Measured, MemoryCount, Metric};

use crate::format::{bytes, duration_us, percent};
use crate::words::at_least;

pub(crate) fn cpu(cell: &CellAnalysis) -> String {
    bounded(is_at_least(cell, Metric::CpuPerRequest), &cell.cpu_us_per_request, duration_us)
}

/// The peak in the window.
pub(crate) fn memory(cell: &CellAnalysis) -> String {
    bounded(is_at_least(cell, Metric::PeakMemory), &cell.peak_memory_bytes, bytes)
}

/// A rate beside the share of requests that failed, where some did: `9,214 requests/s, 0.9 % failed`.
pub(crate) fn with_failures(rate: String, errors: f64) -> String {
    if errors > 0.0 { format!("{rate}, {} failed", percent(errors)) } else { rate }
}

/// Whether a cell's figure is what it is at least: of a peak where memory still grew when the window ended, a part of it counts
/// for others, or processes came and went.
pub(crate) fn is_at_least(cell: &CellAnalysis, metric: Metric) -> bool {
    match metric {
        Metric::Throughput => cell.at_least,
        Metric::CpuPerRequest => cell.cpu_at_least,
        Metric::PeakMemory => {
            let is_growing = cell.marks.iter().any(|note| note.mark() == Mark::Growing);
            is_growing || cell.peak_at_least || cell.memory_count == MemoryCount::ProportionalAtLeast
        }
        metric => metric.is_latency() && cell.latency_us.censored,
    }
}

/// A figure, or what it is at least.
fn bounded(is_at_least: bool, value: &Measured, show: fn(f64) -> String) -> String {
    at_least(is_at_least && value.estimate.is_some(), estimate(value, show))
}

/// A figure, or a dash where there is none.
pub(crate) fn estimate(value: &Measured, show: fn(f64) -> String) -> String {
    value.estimate.map_or("–".to_owned(), show)
}
