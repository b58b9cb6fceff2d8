//! Launches over time: one of each cell drawn, and with the script any of them.

use maud::{Markup, PreEscaped, html};
use model::{CellLaunch, VoidTrial};

use super::data::{Cell, Packed, pack};
use super::{list, text};
use crate::cell_words::with_failures;
use crate::format::{counted, number};
use crate::picture::Picture;
use crate::picture::amounts::Shown;
use crate::picture::chosen::{ByTrial, middle, shown, use_words};
use crate::picture::launches::MOST_OVER_TIME;
use crate::picture::over_time::LEVELS;
use crate::picture::series::{Rows, Series};
use crate::words::latency;

/// The section; nothing where nothing is known over time.
pub(super) fn section(all: &[Rows<'_>], timelines: &ByTrial<'_>, void: &[VoidTrial], pictures: &[Picture]) -> Markup {
    let rows = all.iter().flat_map(|rows| rows.series.iter().map(move |one| (rows.name(one), one)));
    let cells: Vec<Cell> = rows.map(|(name, one)| cell(name, one, timelines, void)).collect();
    let cells: Vec<Cell> = cells.into_iter().filter(|cell| !cell.launches.is_empty()).collect();
    if cells.is_empty() {
        return html! {};
    }
    let drawn: Vec<&Picture> = pictures.iter().filter(|picture| picture.is_over_time()).collect();
    let left_out = cells.len().saturating_sub(MOST_OVER_TIME);
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
                div.pictures.over-time-all { @for one in &drawn { figure data-name=(text(one.title.trim_end_matches(" over time"))) { (PreEscaped(one.within_a_page())) } } }
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

fn cell<'a>(name: String, one: &Series<'a>, timelines: &ByTrial<'a>, void: &[VoidTrial]) -> Cell<'a> {
    let launch = |it: Shown<'a>| {
        let note = use_words(it.launch, void);
        (it, label(it.launch, note.as_deref()), note)
    };
    let all = shown(one, timelines);
    let middle = middle(one, &all).map(|it| it.launch.id.as_str());
    Cell { name, middle, launches: all.into_iter().map(launch).collect() }
}

fn label(launch: &CellLaunch, note: Option<&str>) -> String {
    let p99 = launch.quantile_us(0.99).map(|us| format!("p99 {}", latency(us, launch.latency.is_lower_bound(us))));
    let rate = launch.throughput.map(|rate| format!("{} requests/s", number(rate)));
    let rate = rate.map(|rate| with_failures(rate, launch.errors.unwrap_or(0.0)));
    let parts = [Some(format!("block {}", launch.block)), rate, p99, note.map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
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
