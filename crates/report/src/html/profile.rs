//! Where the CPU time of servers goes, by their profiles.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, PreEscaped, html};
use model::{CellProfile, StackNode};

use super::chosen::ByTrial;
use super::over_time::Rows;
use super::{table, text, values_of};
use crate::format::{counted, percent, signed};
use crate::picture::flame::draw;
use crate::picture::series::Series;
use crate::picture::within_a_page;
use crate::words::bracketed;

/// Flame graphs that are drawn, at most: each is up to 100 KB.
const MOST_DRAWN: usize = 20;
/// Functions whose share is told of two profiles.
const MOST_FUNCTIONS: usize = 15;

/// A row with its profile, and its stacks where it has any.
struct Profiled<'a> {
    name: String,
    profile: &'a CellProfile,
    stacks: StackNode,
}

/// The section; nothing where no server has a profile.
pub(super) fn section(all: &[Rows<'_>], timelines: &ByTrial<'_>, made: &str) -> Markup {
    let groups: Vec<Vec<Profiled>> = all.iter().map(|rows| profiled(rows, timelines)).collect();
    let has_some = groups.iter().any(|group| !group.is_empty());
    let mut drawn = 0;
    html! {
        @if has_some {
            section #profile {
                h2 { "Where the CPU time goes" }
                @for group in &groups {
                    @for one in group { (of_one(one, made, &mut drawn)) }
                    @if let [a, b] = &group[..] { (difference(a, b)) }
                }
            }
        }
    }
}

/// The rows that have a profile, with the stacks of the launches that count.
fn profiled<'a>(rows: &Rows<'a>, timelines: &ByTrial<'_>) -> Vec<Profiled<'a>> {
    let of = |one: &Series<'a>| {
        let profile = one.cell.profile.as_ref().filter(|profile| profile.samples > 0)?;
        let mut stacks = StackNode::default();
        let launches = one.counted().filter_map(|launch| timelines.get(launch.id.as_str()));
        launches.filter_map(|timeline| timeline.stacks.as_ref()).for_each(|of| stacks.merge(of));
        Some(Profiled { name: format!("{}{}", one.name, bracketed(&rows.title)), profile, stacks })
    };
    rows.series.iter().filter_map(of).collect()
}

fn of_one(one: &Profiled<'_>, made: &str, drawn: &mut usize) -> Markup {
    let is_drawn = *drawn < MOST_DRAWN;
    let flame = draw(&format!("{}: where its CPU time goes", one.name), &one.stacks, made).filter(|_| is_drawn);
    *drawn += usize::from(flame.is_some());
    let row = |function: &model::ProfiledFunction| vec![function.name.clone(), percent(function.flat_share)];
    let rows: Vec<Vec<String>> = one.profile.functions.iter().map(row).collect();
    let caption = format!("{}: functions that ran most themselves", one.name);
    html! {
        section {
            h3 { (text(&one.name)) }
            p.dim {
                (counted(one.profile.samples, "sample", "samples")) " of "
                (counted(one.profile.launches.into(), "launch", "launches"))
                @if one.stacks.samples == 0 { "; by single functions, without what called them" }
            }
            @if let Some(flame) = &flame {
                div.pictures { figure { (PreEscaped(within_a_page(&flame.svg))) (values_of(&flame.title, &flame.values)) } }
            }
            (table(&caption, &[("function", false), ("share", true)], &rows, 1))
        }
    }
}

/// In which functions two servers ran more and less, in points of their samples.
fn difference(a: &Profiled<'_>, b: &Profiled<'_>) -> Markup {
    let [shares_a, shares_b] = [&a.stacks, &b.stacks].map(shares);
    let functions: BTreeSet<&str> = shares_a.keys().chain(shares_b.keys()).copied().collect();
    let of = |shares: &BTreeMap<&str, f64>, name: &str| shares.get(name).copied().unwrap_or(0.0);
    let mut rows: Vec<(&str, f64, f64)> =
        functions.into_iter().map(|name| (name, of(&shares_a, name), of(&shares_b, name))).collect();
    rows.sort_by(|one, other| (other.2 - other.1).abs().total_cmp(&(one.2 - one.1).abs()));
    rows.truncate(MOST_FUNCTIONS);
    let row = |(name, a, b): &(&str, f64, f64)| {
        vec![(*name).to_owned(), percent(*a), percent(*b), format!("{} points", signed(100.0 * (b - a), 1))]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let header = [("function", false), (a.name.as_str(), true), (b.name.as_str(), true), ("difference", true)];
    html! {
        @if !shares_a.is_empty() && !shares_b.is_empty() {
            section {
                h3 { "The difference" }
                p.dim { "The share of its samples in which each function ran itself, where the two differ most." }
                (table("Where the two profiles differ most", &header, &rows, 1))
            }
        }
    }
}

/// The share of all samples in which each function itself was running.
fn shares(stacks: &StackNode) -> BTreeMap<&str, f64> {
    stacks.own().into_iter().map(|(name, own)| (name, own as f64 / stacks.samples as f64)).collect()
}
