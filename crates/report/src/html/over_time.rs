//! Launches over time: one of each cell drawn, and with the script any of them.

use maud::{Markup, PreEscaped, html};
use model::{CellLaunch, Metric, Timeline, VoidTrial};

use super::chosen::{ByTrial, by_trial, middle, shown, use_words};
use super::data::{Cell, Packed, pack};
use super::{list, text};
use crate::format::{counted, number};
use crate::picture::amounts::Shown;
use crate::picture::over_time::{LEVELS, draw};
use crate::picture::series::{Series, metric};
use crate::picture::within_a_page;
use crate::words::{bracketed, latency};

/// Launches that are drawn without the script, at most: a page of a great run must open.
const MOST_DRAWN: usize = 24;
/// Fields in the maps of all that are drawn, at most: each takes some twenty bytes.
const MOST_FIELDS: usize = 100_000;

/// The rows of a table with the words of their conditions.
pub(super) struct Rows<'a> {
    pub(super) title: String,
    pub(super) series: Vec<Series<'a>>,
}

/// The section; nothing where nothing is known over time.
pub(super) fn section(all: &[Rows<'_>], timelines: &[Timeline], void: &[VoidTrial], made: &str) -> Markup {
    let timelines = by_trial(timelines);
    let rows = || all.iter().flat_map(|rows| rows.series.iter().map(|one| (rows.title.as_str(), one)));
    let cells: Vec<Cell> = rows().map(|(title, one)| cell(title, one, &timelines, void)).collect();
    let cells: Vec<Cell> = cells.into_iter().filter(|cell| !cell.launches.is_empty()).collect();
    if cells.is_empty() {
        return html! {};
    }
    let mut room = MOST_FIELDS;
    let drawn = rows().filter_map(|(title, one)| still(title, one, &timelines, (void, made, &mut room)));
    let drawn: Vec<(String, String)> = drawn.take(MOST_DRAWN).collect();
    let left_out = cells.len().saturating_sub(MOST_DRAWN);
    let packed = pack(&cells);
    html! {
        section #time {
            h2 { "Over time" }
            (list(left_out_words(&packed)))
            (explorer())
            details {
                summary { "The middle launch of each cell, drawn (" (drawn.len()) ")" }
                @if left_out > 0 {
                    p.dim {
                        (counted(left_out as u64, "cell is", "cells are")) " not drawn here, to keep this page small: choose "
                        "them above, where scripts run; the record has all of them."
                    }
                }
                div.pictures.over-time-all { @for (name, svg) in &drawn { figure data-name=(name) { (PreEscaped(svg)) } } }
            }
            script #timelines type="text/plain" { (PreEscaped(&packed.base64)) }
        }
    }
}

fn left_out_words(packed: &Packed) -> Vec<String> {
    let from = |block: Option<u32>, what: &str| {
        Some(format!(
            "From block {} on this page leaves out {what}, to stay small enough to open; the record has it.",
            block?
        ))
    };
    let said = [from(packed.maps_until, "how many replies took how long"), from(packed.launches_until, "all launches")];
    said.into_iter().flatten().collect()
}

fn name(title: &str, one: &Series<'_>) -> String {
    format!("{}{}", one.name, bracketed(title))
}

fn cell<'a>(title: &str, one: &Series<'a>, timelines: &ByTrial<'a>, void: &[VoidTrial]) -> Cell<'a> {
    let launch = |it: Shown<'a>| {
        let note = use_words(it.launch, void);
        (it, label(it.launch, note.as_deref()), note)
    };
    let all = shown(one, timelines);
    let middle = middle(one, &all).map(|it| it.launch.id.as_str());
    Cell { name: name(title, one), middle, launches: all.into_iter().map(launch).collect() }
}

fn label(launch: &CellLaunch, note: Option<&str>) -> String {
    let p99 = launch.quantile_us(0.99).map(|us| format!("p99 {}", latency(us, launch.latency.is_lower_bound(us))));
    let rate = launch.throughput.map(|rate| format!("{} requests/s", number(rate)));
    let parts = [Some(format!("block {}", launch.block)), rate, p99, note.map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The picture of the launch that stands for a row, and the name of the row.
fn still(
    title: &str,
    one: &Series<'_>,
    timelines: &ByTrial<'_>,
    (void, made, room): (&[VoidTrial], &str, &mut usize),
) -> Option<(String, String)> {
    let all = shown(one, timelines);
    let chosen = middle(one, &all)?;
    let by = if metric(std::slice::from_ref(one)) == Metric::P99 { "p99" } else { "requests/s" };
    let counted = one.counted().count();
    let which = if counted > 1 {
        format!("Block {}: the middle launch by {by} of {counted} that count.", chosen.launch.block)
    } else {
        format!("Block {}.", chosen.launch.block)
    };
    let mut said = vec![which];
    said.extend(use_words(chosen.launch, void).into_iter().chain(chosen.timeline.fault.clone()));
    let fields = chosen.timeline.steps.iter().map(|step| step.latencies.len()).sum();
    let without_map = room.checked_sub(fields).is_none().then(|| chosen.timeline.without_latencies());
    match &without_map {
        Some(_) => said.push("How many replies took how long is left out, to keep this page small.".to_owned()),
        None => *room -= fields,
    }
    let chosen = Shown { timeline: without_map.as_ref().unwrap_or(chosen.timeline), ..chosen };
    let name = name(title, one);
    let drawn = draw(&format!("{name} over time"), chosen, &said, made)?;
    Some((text(&name), within_a_page(&drawn.svg)))
}

/// The colours of counts, from few to many.
fn ramp() -> Markup {
    const WIDE: usize = 10;
    html! {
        svg.bourdon.ramp viewBox={ "0 0 " (WIDE * LEVELS) " 10" } preserveAspectRatio="none" aria-hidden="true" {
            @for at in 0..LEVELS {
                rect class={ "heat-" (at + 1) } x=(WIDE * at) width=(WIDE) height="10" {}
            }
        }
    }
}

/// Where the script draws any launch; without one it stays hidden.
fn explorer() -> Markup {
    html! {
        div.scripted #explorer hidden {
            div.controls {
                label { "Filter by name" input #filter type="search" autocomplete="off"; }
                label { "Cell" select #cell {} }
                label { "Launch" select #launch {} }
                div role="group" aria-label="Zoom" {
                    button #closer type="button" aria-label="Zoom in" { "+" } " "
                    button #wider type="button" aria-label="Zoom out" { "−" } " "
                    button #whole type="button" { "Whole launch" }
                }
            }
            p #found.dim role="status" {}
            p #note.alert.unsure hidden {}
            p.dim.small {
                "Latency: one reply" (ramp()) "to the most replies of a field, in log steps; p50 dashed, p99 solid. "
                "✕: requests failed. The axes are the same for all launches of a cell."
            }
            p.dim.small #keys {
                "Point at a panel, or move with the arrow keys, Home and End; drag to zoom, or + and −; 0 shows the whole launch. "
            }
            div.panels #panels tabindex="0" role="group" aria-label="Launch over time" aria-describedby="keys" {}
            p.values #values role="status" aria-live="polite" {}
        }
    }
}
