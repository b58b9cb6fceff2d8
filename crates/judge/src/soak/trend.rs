//! Whether something grows: with each request, with time, or not.

use model::{Kept, KeptTrend, Measured, SoakPart, TrendVerdict, Unit, WhyMayGrow};

use super::line::{slope, theil_sen};
use super::part;
use super::thresholds::{FEWEST_CYCLES, GROWS_IDLE, MEMORY_MATTERS, SLOWING, least};
use super::watched::Cycle;
use crate::statistics::Interval;

/// How each thing went that is seen.
pub(super) fn all(cycles: &[Cycle<'_>]) -> Vec<KeptTrend> {
    let heap = of(cycles, Kept::Heap, None);
    let rest = Kept::ALL.iter().filter(|kept| **kept != Kept::Heap);
    let rest: Vec<KeptTrend> = rest.filter_map(|kept| of(cycles, *kept, heap.as_ref())).collect();
    heap.into_iter().chain(rest).collect()
}

/// A load of the soak, as points of requests and what there was afterwards.
struct Load {
    points: Vec<(f64, f64)>,
    slope: Interval,
    /// Seconds from its first point to its last.
    lasted_s: f64,
}

impl Load {
    fn of(cycles: &[&Cycle<'_>], kept: Kept) -> Option<Load> {
        let seen: Vec<(&&Cycle<'_>, f64)> = cycles.iter().filter_map(|it| Some((it, it.kept(kept)?))).collect();
        let points: Vec<(f64, f64)> = seen.iter().map(|(cycle, value)| (cycle.requests as f64, *value)).collect();
        let slope = slope(&points).filter(|_| points.len() >= FEWEST_CYCLES)?;
        let lasted_s = seen.last()?.0.at_s - seen.first()?.0.at_s;
        Some(Load { points, slope, lasted_s })
    }

    fn requests(&self) -> f64 {
        self.points[self.points.len() - 1].0 - self.points[0].0
    }

    /// By how much the line rises over it.
    fn grown(&self) -> f64 {
        self.slope.estimate * self.requests()
    }

    fn grows(&self, kept: Kept) -> bool {
        self.slope.low > 0.0 && self.grown() >= least(kept)
    }
}

/// How one thing went; none where nobody saw it.
fn of(cycles: &[Cycle<'_>], kept: Kept, heap: Option<&KeptTrend>) -> Option<KeptTrend> {
    let seen: Vec<f64> = cycles.iter().filter_map(|cycle| cycle.kept(kept)).collect();
    let (first, last) = (*seen.first()?, *seen.last()?);
    let counted = cycles.iter().find_map(|cycle| cycle.observed()?.heap.as_ref());
    let by = counted.filter(|_| kept == Kept::Heap).map(|heap| heap.by);
    let begin = part(cycles, SoakPart::First);
    let (early, again) = (Load::of(&begin, kept), Load::of(&part(cycles, SoakPart::Again), kept));
    let trend = |verdict, why, load: Option<&Load>, idle_per_s| {
        let is_there = matches!(verdict, TrendVerdict::Grows | TrendVerdict::GrowsWithTime | TrendVerdict::MayGrow);
        KeptTrend {
            of: kept,
            by,
            first,
            last,
            per_request: load.map(|load| measured(kept, load.slope)),
            idle_per_s,
            visible_from: load.filter(|_| !is_there).map(|load| visible_from(load, kept)),
            verdict,
            why,
        }
    };
    let Some(late) = again.as_ref().or(early.as_ref()) else {
        return Some(trend(TrendVerdict::TooShort, None, None, None));
    };
    let idle_per_s = idle_per_s(cycles, kept);
    let (verdict, why) = if !late.grows(kept) {
        let grew = early.as_ref().is_some_and(|early| early.grows(kept)) || late.points[0].1 - first >= least(kept);
        (if grew { TrendVerdict::LevelledOff } else { TrendVerdict::Steady }, None)
    } else {
        grows(kept, early.as_ref(), again.as_ref(), idle_per_s, Known { heap, jvm: is_jvm(cycles) })
    };
    Some(trend(verdict, why, Some(late), idle_per_s))
}

/// What else is known of a server.
#[derive(Clone, Copy)]
struct Known<'a> {
    heap: Option<&'a KeptTrend>,
    jvm: bool,
}

/// What is to be said of something that grows under load.
fn grows(
    kept: Kept,
    early: Option<&Load>,
    again: Option<&Load>,
    idle_per_s: Option<f64>,
    known: Known<'_>,
) -> (TrendVerdict, Option<WhyMayGrow>) {
    let may = |why| (TrendVerdict::MayGrow, Some(why));
    let (Some(early), Some(again), Some(idle_per_s)) = (early, again, idle_per_s) else {
        return may(WhyMayGrow::NotAgain);
    };
    if idle_per_s > GROWS_IDLE * again.grown() / again.lasted_s {
        return (TrendVerdict::GrowsWithTime, None);
    }
    if again.slope.estimate < SLOWING * early.slope.estimate {
        return may(WhyMayGrow::Slowing);
    }
    match known.heap {
        _ if kept != Kept::Memory => (TrendVerdict::Grows, None),
        Some(heap) if heap.verdict != TrendVerdict::Grows => may(WhyMayGrow::HeapSteady),
        None if known.jvm => may(WhyMayGrow::HeapUnknown),
        _ if again.grown() < MEMORY_MATTERS * again.points[0].1 => may(WhyMayGrow::Small),
        _ => (TrendVerdict::Grows, None),
    }
}

fn is_jvm(cycles: &[Cycle<'_>]) -> bool {
    cycles.iter().filter_map(Cycle::observed).any(|seen| seen.jvm)
}

/// By how much it grows in a second in which the server is hardly asked, from the last cycle under load on.
fn idle_per_s(cycles: &[Cycle<'_>], kept: Kept) -> Option<f64> {
    let begin = cycles.iter().rev().find(|cycle| cycle.part == SoakPart::First)?;
    let idle: Vec<&Cycle<'_>> = cycles.iter().filter(|cycle| cycle.part == SoakPart::Idle).collect();
    let points = std::iter::once(&begin).chain(&idle).filter_map(|cycle| Some((cycle.at_s, cycle.kept(kept)?)));
    // What a server gives back when it comes to rest does not count.
    theil_sen(&points.collect::<Vec<_>>()).filter(|_| !idle.is_empty()).map(|(slope, _)| slope.max(0.0))
}

/// The least growth with a request that would have been seen: what the interval still allows, and what is looked at at all.
fn visible_from(load: &Load, kept: Kept) -> f64 {
    let half_width = (load.slope.high - load.slope.low) / 2.0;
    load.slope.high.max(half_width).max(least(kept) / load.requests().max(1.0))
}

fn measured(kept: Kept, slope: Interval) -> Measured {
    let unit = if matches!(kept, Kept::Heap | Kept::Memory) { Unit::Bytes } else { Unit::Units };
    Measured { estimate: Some(slope.estimate), low: Some(slope.low), high: Some(slope.high), unit }
}
