//! Pictures of the launches behind a table: the one that stands for each row over time, and where the CPU time of its server goes.

use model::{Judged, LaunchUse, Metric, StackNode, Timeline, VoidTrial};

use super::amounts::Shown;
use super::chosen::{ByTrial, by_trial, middle, shown, use_words};
use super::series::{Rows, Series, metric, rows_of_comparison, rows_of_run};
use super::{Picture, Subject, flame, over_time, picture};
use crate::conditions::Conditions;
use crate::rows::groups;
use crate::{compare_words, words};

/// Launches that are drawn over time, at most: a page of a great run must open.
pub(crate) const MOST_OVER_TIME: usize = 24;
/// Fields in the maps of all that are drawn, at most: each takes some twenty bytes.
const MOST_FIELDS: usize = 100_000;
/// Flame graphs that are drawn, at most: each is up to 100 KB.
const MOST_FLAMES: usize = 20;

/// Those of what a record means, as far as its launches are known over time.
pub fn pictures_of_launches(judged: &Judged, timelines: &[Timeline]) -> Vec<Picture> {
    match judged {
        Judged::Run(analysis) => {
            let tables = rows_of_run(&groups(analysis, &Conditions::of(analysis)));
            draw(&tables, timelines, &analysis.void_trials, &words::header(analysis).join(" · "))
        }
        Judged::Diagnosis(_) | Judged::Soak(_) => Vec::new(),
        Judged::Comparison(analysis) => {
            let tables = rows_of_comparison(analysis);
            draw(&tables, timelines, &analysis.void_trials, &compare_words::header(analysis).join(" · "))
        }
    }
}

fn draw(tables: &[Rows<'_>], timelines: &[Timeline], void: &[VoidTrial], made: &str) -> Vec<Picture> {
    let timelines = by_trial(timelines);
    let rows = || {
        let numbered = tables.iter().enumerate();
        numbered.flat_map(|(at, table)| table.series.iter().enumerate().map(move |(row, one)| ((at, row), table, one)))
    };
    let mut room = MOST_FIELDS;
    let over_time = rows().filter_map(|(place, table, one)| {
        let drawn = still((&table.name(one), one), &timelines, (void, made, &mut room))?;
        Some(picture(Subject::OverTime(place.0, place.1), "time", drawn))
    });
    let over_time: Vec<Picture> = over_time.take(MOST_OVER_TIME).collect();
    let flames = rows().filter_map(|(place, table, one)| {
        let title = format!("{}: where its CPU time goes", table.name(one));
        Some(picture(
            Subject::Profile(place.0, place.1),
            "profile",
            flame::draw(&title, &stacks(one, &timelines), made)?,
        ))
    });
    over_time.into_iter().chain(flames.take(MOST_FLAMES)).collect()
}

/// The stacks of the launches of a row that count, together.
pub(crate) fn stacks(one: &Series<'_>, timelines: &ByTrial<'_>) -> StackNode {
    let mut stacks = StackNode::default();
    let launches = one.counted().filter_map(|launch| timelines.get(launch.id.as_str()));
    launches.filter_map(|timeline| timeline.stacks.as_ref()).for_each(|of| stacks.merge(of));
    stacks
}

/// The picture of the launch that stands for a row.
fn still(
    (name, one): (&str, &Series<'_>),
    timelines: &ByTrial<'_>,
    (void, made, room): (&[VoidTrial], &str, &mut usize),
) -> Option<super::Drawn> {
    let all = shown(one, timelines);
    let chosen = middle(one, &all)?;
    let by = if metric(std::slice::from_ref(one)) == Metric::P99 { "p99" } else { "requests/s" };
    let counted = one.counted().count();
    let which = if counted > 1 && chosen.launch.used == LaunchUse::Counts {
        format!("Block {}: the middle launch by {by} of {counted} that count.", chosen.launch.block)
    } else {
        format!("Block {}.", chosen.launch.block)
    };
    let mut said = vec![which];
    said.extend(use_words(chosen.launch, void).into_iter().chain(chosen.timeline.fault.clone()));
    let fields = chosen.timeline.steps.iter().map(|step| step.latencies.len()).sum();
    let without_map = room.checked_sub(fields).is_none().then(|| chosen.timeline.without_latencies());
    match &without_map {
        Some(_) => said.push("How many replies took how long is left out, to keep the page small.".to_owned()),
        None => *room -= fields,
    }
    let chosen = Shown { timeline: without_map.as_ref().unwrap_or(chosen.timeline), ..chosen };
    over_time::draw(&format!("{name} over time"), chosen, &said, made)
}
