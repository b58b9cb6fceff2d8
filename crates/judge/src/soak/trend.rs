//! Whether something grows: with each request, with time, or not.

use model::{HeapCountedBy, Kept, KeptTrend, Measured, SoakPart, TrendVerdict, Unit, WhyMayGrow};

use super::line::{median, slope, theil_sen};
use super::part;
use super::thresholds::{FEWEST_CYCLES, GROWS_IDLE, MEMORY_MATTERS, SEEN, SLOWING, least};
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

    /// What there was at its end: the middle of three, for one look may catch anything.
    fn end(&self) -> f64 {
        let mut last: Vec<f64> = self.points.iter().rev().take(3).map(|(_, value)| *value).collect();
        median(&mut last).unwrap_or(0.0)
    }

    /// By how much the line rises over it.
    fn grown(&self) -> f64 {
        self.slope.estimate * self.requests()
    }

    /// Whether its interval has ends: cycles that depend on those before them leave none where there are few.
    fn is_bounded(&self) -> bool {
        self.slope.low.is_finite() && self.slope.high.is_finite()
    }

    /// Whether it grew as an earlier one did, and its interval does not say so: it neither goes on for certain nor came to rest.
    fn may_go_on(&self, early: &Load, kept: Kept) -> bool {
        let goes_on = self.grown() >= least(kept) && self.slope.estimate >= SLOWING * early.slope.estimate;
        early.grows(kept) && goes_on && !self.grows(kept)
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
    let known = Known { heap, jvm: is_jvm(cycles) };
    let trend = |verdict, why, load: Option<&Load>, idle_per_s| {
        let is_there = matches!(verdict, TrendVerdict::Grows | TrendVerdict::GrowsWithTime | TrendVerdict::MayGrow);
        KeptTrend {
            of: kept,
            by,
            first,
            last,
            per_request: load.map(|load| measured(kept, load.slope)),
            idle_per_s,
            visible_from: load.filter(|_| !is_there).and_then(|load| visible_from(load, kept, known)),
            verdict,
            why,
        }
    };
    let has_again = cycles.iter().any(|cycle| cycle.part == SoakPart::Again);
    // Where too little is known of the second load, the first does not stand for it.
    let late = if has_again { again.as_ref() } else { early.as_ref() };
    let Some(late) = late.filter(|late| late.is_bounded()) else {
        return Some(trend(TrendVerdict::TooShort, None, None, None));
    };
    let idle = Idle::of(cycles, kept);
    let (verdict, why) = if early.as_ref().is_some_and(|early| late.may_go_on(early, kept)) {
        (TrendVerdict::MayGrow, Some(WhyMayGrow::Scattered))
    } else if !late.grows(kept) {
        let grew = early.as_ref().is_some_and(|early| early.grows(kept)) || late.points[0].1 - first >= least(kept);
        (if grew { TrendVerdict::LevelledOff } else { TrendVerdict::Steady }, None)
    } else {
        grows(kept, early.as_ref(), again.as_ref(), idle, known)
    };
    Some(trend(verdict, why, Some(late), idle.map(|idle| idle.per_s)))
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
    idle: Option<Idle>,
    known: Known<'_>,
) -> (TrendVerdict, Option<WhyMayGrow>) {
    let may = |why| (TrendVerdict::MayGrow, Some(why));
    let (Some(early), Some(again), Some(idle)) = (early, again, idle) else {
        return may(WhyMayGrow::NotAgain);
    };
    if let Some(why) = unsure_of_memory(kept, again, known) {
        return may(why);
    }
    if !early.grows(kept) {
        return may(WhyMayGrow::OnlyAgain);
    }
    // What fills does that, with requests as with time.
    if again.slope.estimate < SLOWING * early.slope.estimate {
        return may(WhyMayGrow::Slowing);
    }
    let is_idle_growth = idle.per_s > GROWS_IDLE * again.grown() / again.lasted_s;
    if is_idle_growth && idle.is_certain(kept) {
        return (TrendVerdict::GrowsWithTime, None);
    }
    // It may be a slow growth with time that the pause was too short for.
    if is_idle_growth {
        return may(WhyMayGrow::GrewInThePause);
    }
    if again.end() - early.end() < SLOWING * again.grown() {
        return may(WhyMayGrow::TakenAgain);
    }
    (TrendVerdict::Grows, None)
}

/// Why memory that grows need not be what the server keeps.
fn unsure_of_memory(kept: Kept, again: &Load, known: Known<'_>) -> Option<WhyMayGrow> {
    // A Node has heaps of its workers beside the one that is counted.
    let counted = known.heap.filter(|heap| heap.by != Some(HeapCountedBy::Node));
    match counted.map(|heap| heap.verdict) {
        _ if kept != Kept::Memory => None,
        Some(TrendVerdict::Steady | TrendVerdict::LevelledOff) => Some(WhyMayGrow::HeapSteady),
        None if known.jvm => Some(WhyMayGrow::HeapUnknown),
        _ if again.grown() < MEMORY_MATTERS * again.points[0].1 => Some(WhyMayGrow::Small),
        _ => None,
    }
}

fn is_jvm(cycles: &[Cycle<'_>]) -> bool {
    cycles.iter().filter_map(Cycle::observed).any(|seen| seen.jvm)
}

/// How it went in the pause.
#[derive(Clone, Copy)]
struct Idle {
    /// By how much it grew in a second.
    per_s: f64,
    /// The same at least.
    low_per_s: f64,
    lasted_s: f64,
}

impl Idle {
    /// From the last cycle under load on; none without a pause.
    fn of(cycles: &[Cycle<'_>], kept: Kept) -> Option<Idle> {
        let begin = cycles.iter().rev().find(|cycle| cycle.part == SoakPart::First)?;
        let idle: Vec<&Cycle<'_>> = cycles.iter().filter(|cycle| cycle.part == SoakPart::Idle).collect();
        let points = std::iter::once(&begin).chain(&idle).filter_map(|cycle| Some((cycle.at_s, cycle.kept(kept)?)));
        let points: Vec<(f64, f64)> = points.collect();
        let (per_s, _) = theil_sen(&points).filter(|_| !idle.is_empty())?;
        let low_per_s = slope(&points).map_or(f64::NEG_INFINITY, |slope| slope.low);
        let lasted_s = points[points.len() - 1].0 - points[0].0;
        // What a server gives back when it comes to rest does not count.
        Some(Idle { per_s: per_s.max(0.0), low_per_s, lasted_s })
    }

    fn is_certain(&self, kept: Kept) -> bool {
        self.low_per_s > 0.0 && self.per_s * self.lasted_s >= least(kept)
    }
}

/// The least growth with a request that would have been seen as a rule, and that is looked at at all. Of memory whose heap may take what it
/// has for long nobody can say.
fn visible_from(load: &Load, kept: Kept, known: Known<'_>) -> Option<f64> {
    let half_width = (load.slope.high - load.slope.low) / 2.0;
    let least = load.slope.high.max(SEEN * half_width).max(least(kept) / load.requests().max(1.0));
    let is_hidden = kept == Kept::Memory && known.jvm;
    Some(least).filter(|least| least.is_finite() && !is_hidden)
}

fn measured(kept: Kept, slope: Interval) -> Measured {
    let unit = if matches!(kept, Kept::Heap | Kept::Memory) { Unit::Bytes } else { Unit::Units };
    let known = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
    Measured { estimate: Some(slope.estimate), low: known(slope.low), high: known(slope.high), unit }
}
