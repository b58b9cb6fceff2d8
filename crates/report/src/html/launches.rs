//! Every launch, those that do not count among them.

use maud::{Markup, html};
use model::{CellLaunch, LaunchUse};

use super::table;
use crate::format::{counted, number, percent};
use crate::picture::series::Series;
use crate::words::latency;

/// The launches of a table's rows, folded away. Before they are looked at their picture has shown them.
pub(super) fn of(title: &str, series: &[Series<'_>]) -> Markup {
    let mut rows: Vec<(u32, Vec<String>)> = Vec::new();
    for one in series {
        rows.extend(one.cell.launches.iter().map(|launch| (launch.block, row(&one.name, launch))));
    }
    if rows.is_empty() {
        return html! {};
    }
    let twins = series.iter().flat_map(|one| &one.cell.launches).filter(|launch| launch.twin).count();
    let twins = if twins > 0 { format!(" ({twins} of them to measure the noise)") } else { String::new() };
    rows.sort_by_key(|(block, _)| *block);
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, row)| row).collect();
    let header = [
        ("block", true),
        ("server", false),
        ("use", false),
        ("requests/s", true),
        ("failed", true),
        ("p50", true),
        ("p99", true),
    ];
    let caption = if title.is_empty() { "Launches".to_owned() } else { format!("Launches: {title}") };
    html! {
        details {
            summary { (counted(rows.len() as u64, "launch", "launches")) ", one by one" (twins) }
            (table(&caption, &header, &rows, 2))
        }
    }
}

fn row(name: &str, launch: &CellLaunch) -> Vec<String> {
    let dash = || "–".to_owned();
    let quantile = |q: f64| {
        let us = launch.quantile_us(q)?;
        Some(latency(us, launch.latency.is_lower_bound(us)))
    };
    vec![
        launch.block.to_string(),
        name.to_owned(),
        used(launch).to_owned(),
        launch.throughput.map_or_else(dash, number),
        launch.errors.map_or_else(dash, percent),
        quantile(0.5).unwrap_or_else(dash),
        quantile(0.99).unwrap_or_else(dash),
    ]
}

fn used(launch: &CellLaunch) -> &'static str {
    match launch.used {
        LaunchUse::Counts if launch.twin => "for the noise",
        LaunchUse::Counts => "counts",
        LaunchUse::SetAside => "set aside: the machine was busy",
        LaunchUse::Void => "void",
    }
}
