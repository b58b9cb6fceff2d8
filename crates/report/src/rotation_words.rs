//! Which launches rotated, and why others were alone, in words that the run and the comparison share.

use std::collections::{BTreeMap, BTreeSet};

use model::{CellAnalysis, CompareAnalysis, CompareForm, CompareRest, Mark, Rotated, Whole};

use crate::format::{counted, duration_us, percent};
use crate::reason_words::reason_words;

/// How the launches of a cell were made, in a sentence without its full stop.
pub(crate) fn launched(cell: &CellAnalysis) -> String {
    match &cell.rotation {
        None => "Each launch was alone".to_owned(),
        Some(Rotated::Together { rounds, slice_s }) => format!(
            "Launches rotated: all targets ran at the same time while the load rotated among them, in {} of about {} per \
             launch",
            counted((*rounds).into(), "slice", "slices"),
            duration_us(slice_s * 1e6)
        ),
        Some(Rotated::Planned(why)) => format!("Each launch was alone: {}", planned(*why)),
        Some(Rotated::Seen { target, reason }) => {
            let of = target.as_ref().map(|target| format!(", because of {target}")).unwrap_or_default();
            format!("Each launch was alone{of}: {}", reason_words(reason))
        }
    }
}

/// The sentence that holds for all of these; none where they differ.
pub(crate) fn alike<'a>(cells: impl IntoIterator<Item = &'a CellAnalysis>) -> Option<String> {
    let said: BTreeSet<String> = cells.into_iter().filter(|cell| cell.trials > 0).map(launched).collect();
    if said.len() == 1 { said.into_iter().next() } else { None }
}

/// The sentences of these cells, each with its name where they differ: of those that were launched as was asked, or of those that
/// were alone although they were to rotate.
pub(crate) fn of_cells(named: &[(String, &CellAnalysis)], as_asked: bool) -> Vec<String> {
    let differ = alike(named.iter().map(|(_, cell)| *cell)).is_none();
    let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, cell) in named.iter().filter(|(_, cell)| cell.trials > 0 && fell_back(cell) != as_asked) {
        said.entry(launched(cell)).or_default().push(name);
    }
    let sentence = |(said, names): (String, Vec<&str>)| match differ {
        true => format!("{said} ({}).", names.join(", ")),
        false => format!("{said}."),
    };
    said.into_iter().map(sentence).collect()
}

/// Whether the launches of a cell began to rotate, and are alone.
fn fell_back(cell: &CellAnalysis) -> bool {
    matches!(cell.rotation, Some(Rotated::Seen { .. }))
}

/// That the margin of a comparison of two commands is one for slices, where their launches were alone although they were to rotate.
pub(crate) fn margin(analysis: &CompareAnalysis) -> Option<String> {
    let is_of_commands = analysis.form == CompareForm::Commands;
    (is_of_commands && analysis.cells.iter().any(|of| fell_back(&of.cell))).then(|| {
        format!(
            "The margin of {} is meant for launches in slices: alone, launches may need a wider one (--margin).",
            percent(analysis.margin)
        )
    })
}

/// For how long servers were watched after a load, and what they did then, or what nobody sees of those that were not.
pub(crate) fn watched(named: &[(String, &CellAnalysis)], rest: Option<CompareRest>) -> Option<String> {
    if let Some(CompareRest { length_s, old_cpu_s, new_cpu_s }) = rest {
        let of = |cpu_s: f64| {
            if cpu_s == 0.0 { "no CPU".to_owned() } else { format!("up to {} of CPU", duration_us(1e6 * cpu_s)) }
        };
        let used = match [old_cpu_s, new_cpu_s] {
            [old, new] if old + new == 0.0 => "neither was seen to use any CPU then".to_owned(),
            [old, new] => format!(
                "the old one was then seen to use {}, the new one {}, and what they used may be owed for requests",
                of(old),
                of(new)
            ),
        };
        return Some(format!(
            "Each server was watched for {length_s:.1} s after a load, while nobody asked it anything: {used}. Work that is put \
             off for longer is not seen."
        ));
    }
    let measured = || named.iter().filter(|(_, cell)| cell.trials > 0);
    let is_alone = |cell: &CellAnalysis| !matches!(cell.rotation, Some(Rotated::Together { .. }));
    let seen = match measured().any(|(_, cell)| is_alone(cell)) {
        true => {
            "work that a server puts off until its load pauses is in no figure of launches that were alone, whose load never pauses"
        }
        false => "work that a server puts off for longer than others have their slices is not seen",
    };
    measured().next().map(|_| format!("The servers were not both watched after their loads: {seen}."))
}

/// Of how many CPUs a server uses less where it rather waits for something else (one with a single thread can use one), where half
/// of its replies take so long at least, in microseconds: as long as a handler delay from which a closed load is not cut into slices
/// by the plan.
const WAITS_BELOW: f64 = 0.5;
const WAITS_FROM_US: f64 = 5_000.0;

/// That servers of a closed load in slices waited for something else than a CPU: nobody told the plan, and their CPU per request is
/// another one than that of one long window. Not where others had the CPUs: then they may have waited for those.
pub(crate) fn waiting(named: &[(String, &CellAnalysis)]) -> Option<String> {
    let waits = |cell: &CellAnalysis| {
        let is_closed = cell.load.as_ref().is_some_and(|load| load.rate_per_s.is_none());
        let is_sliced = matches!(cell.rotation, Some(Rotated::Together { .. }));
        let used = cell.cpu_us_per_request.estimate.zip(cell.throughput.estimate).map(|(us, rate)| us * rate / 1e6);
        let is_idle = used.is_some_and(|cpus| cpus < WAITS_BELOW) && !cell.cpu_at_least && !cell.at_least;
        let is_quiet = cell.marks.iter().all(|note| note.mark() != Mark::Noisy);
        is_closed
            && is_sliced
            && is_idle
            && is_quiet
            && cell.latency_us.p50.estimate.is_some_and(|us| us >= WAITS_FROM_US)
    };
    let who: Vec<&str> = named.iter().filter(|(_, cell)| waits(cell)).map(|(name, _)| name.as_str()).collect();
    (!who.is_empty()).then(|| {
        let wait = if who.len() == 1 { "it waits" } else { "they wait" };
        format!(
            "{} used less than half of one CPU while connections waited for replies, so {wait} for something other than \
             CPU. CPU per request then differs between slices, where requests start spread out, and one long closed load, \
             where they bunch up. --no-rotation measures the latter.",
            who.join(if who.len() == 2 { " and " } else { ", " })
        )
    })
}

fn planned(why: Whole) -> &'static str {
    match why {
        Whole::Ladder => "the levels of a ladder follow each other on one launch",
        Whole::OneTarget => "no other target shares its conditions",
        Whole::NewConnections => "each request has a connection of its own",
        Whole::Requests => "the load is a number of requests, not a window",
        Whole::NetworkDelay => "the load has a network delay",
        Whole::Profile => "a CPU profile was taken",
        Whole::Beside => "another load was on the target at the same time",
        Whole::Backend => "its handlers ask another server, which belongs to one launch",
        Whole::Census => "the run counts which threads or processes serve the connections",
        Whole::RateUnknown => "the rate was not known",
        Whole::HandlerDelay => "with a handler delay, slices are not the same load as one long window",
        Whole::ShortWindow => "the window has no room for two slices",
        Whole::FewRequests => "a slice would have too few requests",
        Whole::Claimed => "a claim or gate is about a p99.9 or major collections, which slices cannot measure",
    }
}
