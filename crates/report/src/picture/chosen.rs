//! Which launches are shown over time, and which one of a cell where only one is.

use std::collections::{BTreeMap, BTreeSet};

use model::{CellLaunch, LaunchUse, Timeline, VoidTrial};

use super::amounts::Shown;
use super::series::{Series, metric};
use crate::reason_words;
use crate::words::words;

/// Timelines by the name of their launch.
pub(crate) type ByTrial<'a> = BTreeMap<&'a str, &'a Timeline>;

pub(crate) fn by_trial(timelines: &[Timeline]) -> ByTrial<'_> {
    timelines.iter().map(|timeline| (timeline.trial.as_str(), timeline)).collect()
}

/// The launches of a row whose figures over time are known, in order. Of two with one name the later, which comes first, is known.
pub(crate) fn shown<'a>(one: &Series<'a>, timelines: &ByTrial<'a>) -> Vec<Shown<'a>> {
    let of = |launch: &'a CellLaunch| Some(Shown { launch, timeline: timelines.get(launch.id.as_str())? });
    let mut named = BTreeSet::new();
    one.cell.launches.iter().filter(|launch| named.insert(launch.id.as_str())).filter_map(of).collect()
}

/// The one that stands for all: the middle one, by the figure that launches are shown by, of those that count; the lower of
/// two. Where none counts, the first.
pub(crate) fn middle<'a>(one: &Series<'_>, shown: &[Shown<'a>]) -> Option<Shown<'a>> {
    let by = metric(std::slice::from_ref(one));
    let value = |it: &Shown| match by {
        model::Metric::P99 => it.launch.quantile_us(0.99),
        _ => it.launch.throughput,
    };
    let counts = |it: &&Shown| it.launch.used == LaunchUse::Counts && !it.launch.twin;
    let mut counted: Vec<(f64, Shown<'a>)> =
        shown.iter().filter(counts).filter_map(|it| Some((value(it)?, *it))).collect();
    counted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let middle = counted.len().saturating_sub(1) / 2;
    counted.get(middle).map(|(_, it)| *it).or_else(|| shown.first().copied())
}

/// What becomes of a launch, where it is not simply counted; of a void one why.
pub(crate) fn use_words(launch: &CellLaunch, void: &[VoidTrial]) -> Option<String> {
    match launch.used {
        LaunchUse::Counts if launch.twin => Some("launched again for the noise".to_owned()),
        LaunchUse::Counts => None,
        LaunchUse::SetAside => Some("set aside: the machine was busy".to_owned()),
        LaunchUse::Void => Some(match void.iter().find(|trial| trial.id == launch.id) {
            Some(VoidTrial { reason, .. }) => format!("void: {}: {}", words(reason.code().id()), reason_words(reason)),
            None => "void".to_owned(),
        }),
    }
}
