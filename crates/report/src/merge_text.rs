use model::Verdict;

use crate::format::{counted, duration_us, number, percent, seconds};
use crate::load_document::{MergedPart, PartOf, Partial};
use crate::page::{Page, Style, Tint};
use crate::table;

const HEADER: [&str; 7] = ["merged of", "machine", "began", "connections", "requests/s", "generator busy", "by itself"];

/// The loads that are put together in one, a line each.
pub fn merge_text(parts: &[MergedPart], style: Style) -> String {
    let row = |part: &MergedPart| {
        vec![
            name(&part.of),
            part.instrument.cpu.clone(),
            if part.begun_after_s > 0.0 { format!("+{}", seconds(part.begun_after_s)) } else { "first".to_owned() },
            part.connections.to_string(),
            number(part.requests_per_s),
            percent(part.busiest_thread),
            verdict(part.verdict).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = parts.iter().map(row).collect();
    let mut page = Page::new(style);
    for line in table::lines(Some(&HEADER.map(str::to_owned)), &rows, 2) {
        page.line(Tint::Plain, &line);
    }
    page.finish()
}

/// Digits of a node's name that tell it from others of its machine.
const DIGITS: usize = 4;

fn name(of: &PartOf) -> String {
    match of {
        PartOf::File { file } => file.clone(),
        PartOf::Node { node, host, .. } => node_name(host, node),
    }
}

/// What a node is called where others of its machine may be, too.
pub fn node_name(host: &str, node: &str) -> String {
    format!("{host}/{}", node.get(..DIGITS).unwrap_or(node))
}

/// What is to be known of a load that lost nodes, before its figures.
pub fn partial_text(partial: &Partial, style: Style) -> String {
    let mut page = Page::new(style);
    for lost in &partial.lost {
        let name = node_name(&lost.host, &lost.node);
        page.line(Tint::Bad, &format!("PARTIAL: node {name} was lost: {}.", lost.why));
    }
    let whole = counted(partial.whole_seconds, "second", "seconds");
    page.line(
        Tint::Plain,
        &format!("The figures are of the first {whole} of the window, in which all nodes made their shares."),
    );
    page.finish()
}

/// How far apart nodes may have begun; `is_one` says whether they were there at once until the end.
pub fn clocks_text(parts: &[MergedPart], is_one: bool, style: Style) -> String {
    let within = |part: &MergedPart| match part.of {
        PartOf::Node { clock_within_us, .. } => Some(clock_within_us),
        PartOf::File { .. } => None,
    };
    let moved = |part: &MergedPart| match part.of {
        PartOf::Node { clock_moved_us, .. } => clock_moved_us.map(f64::abs),
        PartOf::File { .. } => None,
    };
    let Some(within_us) = parts.iter().filter_map(within).reduce(f64::max) else { return String::new() };
    let moved = parts.iter().filter_map(moved).reduce(f64::max);
    let moved =
        moved.map_or(String::new(), |us| format!("; the clocks moved by up to {} during the load", duration_us(us)));
    let mut page = Page::new(style);
    let within = duration_us(2.0 * within_us);
    if is_one {
        page.line(Tint::Plain, &format!("All began at one instant, to within {within}{moved}."));
    } else {
        page.line(Tint::Bad, "NOT ONE LOAD: it is not known whether all were there at once until the end.");
        page.line(Tint::Plain, &format!("All were to begin at one instant, to within {within}{moved}."));
    }
    page.finish()
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::AtLeast => "a lower bound",
        Verdict::Void => "void",
    }
}
