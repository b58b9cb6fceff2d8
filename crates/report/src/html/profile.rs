//! Where the CPU time of servers goes, by their profiles.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use model::{CellProfile, StackNode};

use super::{beside, table, text};
use crate::format::{counted, percent, signed};
use crate::picture::chosen::ByTrial;
use crate::picture::launches::stacks;
use crate::picture::series::{Rows, Series};
use crate::picture::{Picture, Subject};

/// Functions that are told of a profile.
const MOST_OWN: usize = 10;
/// Functions whose share is told of two profiles.
const MOST_FUNCTIONS: usize = 15;

/// A row with its profile, and its stacks where it has any.
struct Profiled<'a> {
    name: String,
    /// What its flame graph is of.
    picture: Subject,
    profile: &'a CellProfile,
    stacks: StackNode,
    /// CPU time of a request in µs, where it is known.
    us_per_request: Option<f64>,
}

/// The section; nothing where no server has a profile.
pub(super) fn section(all: &[Rows<'_>], timelines: &ByTrial<'_>, pictures: &[Picture]) -> Markup {
    let groups: Vec<Vec<Profiled>> = all.iter().enumerate().map(|of| profiled(of, timelines)).collect();
    let has_some = groups.iter().any(|group| !group.is_empty());
    html! {
        @if has_some {
            section #profile {
                h2 { "Where the CPU time goes" }
                @for group in &groups {
                    @for one in group { (of_one(one, pictures)) }
                    @if let [a, b] = &group[..] { (difference(a, b)) }
                }
            }
        }
    }
}

/// The rows that have a profile, with the stacks of the launches that count.
fn profiled<'a>((at, rows): (usize, &Rows<'a>), timelines: &ByTrial<'_>) -> Vec<Profiled<'a>> {
    let of = |(row, one): (usize, &Series<'a>)| {
        let profile = one.cell.profile.as_ref().filter(|profile| profile.samples > 0)?;
        let us_per_request = one.cell.cpu_us_per_request.estimate;
        let (name, stacks) = (rows.name(one), stacks(one, timelines));
        Some(Profiled { name, picture: Subject::Profile(at, row), profile, stacks, us_per_request })
    };
    rows.series.iter().enumerate().filter_map(of).collect()
}

fn of_one(one: &Profiled<'_>, pictures: &[Picture]) -> Markup {
    let rows: Vec<Vec<String>> = own(one).into_iter().map(|(function, share)| vec![function, percent(share)]).collect();
    let caption = format!("{}: functions that ran most themselves", one.name);
    html! {
        section {
            h3 { (text(&one.name)) }
            p.dim {
                (counted(one.profile.samples, "sample", "samples")) " of "
                (counted(one.profile.launches.into(), "launch", "launches"))
                @if one.stacks.samples == 0 { "; by single functions, without what called them" }
            }
            (beside(pictures, one.picture))
            (table(&caption, &[("function", false), ("share", true)], &rows, 1))
        }
    }
}

/// Functions that ran most themselves, with their share of the samples: by the stacks where they are known.
fn own(one: &Profiled<'_>) -> Vec<(String, f64)> {
    if one.stacks.samples == 0 {
        return one.profile.functions.iter().map(|function| (function.name.clone(), function.flat_share)).collect();
    }
    let mut own: Vec<(String, f64)> =
        shares(&one.stacks).into_iter().map(|(name, share)| (name.to_owned(), share)).collect();
    own.sort_by(|one, other| other.1.total_cmp(&one.1));
    own.truncate(MOST_OWN);
    own
}

/// In which functions two servers ran more and less: in CPU time a request where that is known, for a share of more is more; else in
/// points of their samples.
fn difference(a: &Profiled<'_>, b: &Profiled<'_>) -> Markup {
    let per_request = [a, b].map(|one| one.us_per_request);
    let [shares_a, shares_b] = [&a.stacks, &b.stacks].map(shares);
    let functions: BTreeSet<&str> = shares_a.keys().chain(shares_b.keys()).copied().collect();
    let of = |shares: &BTreeMap<&str, f64>, name: &str| shares.get(name).copied().unwrap_or(0.0);
    let [times_a, times_b] = match per_request {
        [Some(a), Some(b)] => [a, b],
        _ => [1.0, 1.0],
    };
    let mut rows: Vec<(&str, f64, f64)> = functions
        .into_iter()
        .map(|name| (name, times_a * of(&shares_a, name), times_b * of(&shares_b, name)))
        .collect();
    rows.sort_by(|one, other| (other.2 - other.1).abs().total_cmp(&(one.2 - one.1).abs()));
    rows.truncate(MOST_FUNCTIONS);
    let is_timed = per_request.iter().all(Option::is_some);
    let shown = |value: f64| if is_timed { format!("{value:.2} µs") } else { percent(value) };
    let change = |value: f64| match is_timed {
        true => format!("{} µs", signed(value, 2)),
        false => format!("{} points", signed(100.0 * value, 1)),
    };
    let row = |(name, a, b): &(&str, f64, f64)| vec![(*name).to_owned(), shown(*a), shown(*b), change(b - a)];
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    let last = format!("{} less {}", b.name, a.name);
    let header = [("function", false), (a.name.as_str(), true), (b.name.as_str(), true), (last.as_str(), true)];
    let of_what = if is_timed { "CPU time a request" } else { "The share of its samples" };
    html! {
        @if !shares_a.is_empty() && !shares_b.is_empty() {
            section {
                h3 { "The difference" }
                p.dim {
                    (of_what) " in which each function ran itself, where the two differ most, by samples of a profile: of a few samples "
                    "one more or less is chance."
                }
                (table("Where the two profiles differ most", &header, &rows, 1))
            }
        }
    }
}

/// The share of all samples in which each function itself was running.
fn shares(stacks: &StackNode) -> BTreeMap<&str, f64> {
    stacks.own().into_iter().map(|(name, own)| (name, own as f64 / stacks.samples as f64)).collect()
}
