//! The figures of one cell over its launches.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Accounting, BackendUse, CellAnalysis, CellBehind, CellBeside, CellCourse, CellHandshakes, CellLatency, CellLoad,
    CellProfile, CellRemarks, Coldness, Died, Invariant, InvariantCheck, LatencySummary, Launches, LimitCode, Load,
    Mark, MarkCause, MarkNote, Measured, Measurement, MemoryCount, Metric, NS_PER_S, Observation, Population, Profile,
    ProfiledBy, ProfiledFunction, RequestLine, Rotated, Suspicion, TlsUse, Unit, WeightedRequest, sum,
};

use crate::asked::Asked;
use crate::cell_launches;
use crate::course::steady_throughput;
use crate::launch::Launch;
use crate::rates::bounded_base;
use crate::records::Records;
use crate::remarks::remark_cell;
use crate::rotation;
use crate::silence::stopped;
use crate::statistics::{Interval, geometric_interval, geometric_mean, mean, t_interval_at};
use crate::suspicion;

impl Records<'_> {
    /// A value over launches: the geometric mean with the t interval of its logarithm; the arithmetic ones where a value
    /// is zero. The bounds are null under two launches, everything without one.
    pub(crate) fn measured(&self, values: &[f64], unit: Unit) -> Measured {
        let confidence = self.confidence();
        let interval = geometric_interval(values, confidence).or_else(|| t_interval_at(values, confidence));
        Measured {
            estimate: interval.map(|i| i.estimate).or_else(|| geometric_mean(values)).or_else(|| mean(values)),
            low: interval.map(|i| i.low),
            high: interval.map(|i| i.high),
            unit,
        }
    }
}

fn load(asked: &Load) -> CellLoad {
    let line = |WeightedRequest { request, .. }: &WeightedRequest| RequestLine {
        method: request.method.clone(),
        path: request.path.clone(),
    };
    CellLoad {
        requests: asked.mix.requests().iter().map(line).collect(),
        connections: asked.connections,
        rate_per_s: asked.rate_per_s(),
    }
}

/// Analyses one cell of the plan.
pub(crate) fn analyse(records: &Records, index: usize) -> CellAnalysis {
    let cell = &records.plan.cells[index];
    let asked = Asked::from(cell);
    let figure = |metric: Metric| records.measured(&records.values(index, metric), metric.unit());
    let throughput = figure(Metric::Throughput);
    let ceiling = asked.ceiling_per_s().filter(|_| asked.is_closed());
    let valid = records.valid(index).count();
    let failing = records.together(index).failing;
    let (warm_up_s, window_s) = lasted(records, index);
    let launches = cell_launches::of(records, index);
    let mut analysis = CellAnalysis {
        levels: cell.levels.clone(),
        load: Some(load(&cell.load)),
        trials: valid as u32,
        void: (records.launches(index).count() - valid) as u32,
        set_aside: records.repeated().values().filter(|block| block.contains_key(&(index, false))).count() as u32,
        warm_up_s,
        window_s,
        rotation: records.rotated(index),
        at_least: records.at_least(index),
        course: course(records, index),
        of_ceiling: ceiling.and_then(|most| Some(throughput.estimate? / most)),
        latency_us: latency(records, index),
        cpu_us_per_request: figure(Metric::CpuPerRequest),
        cpu_at_least: records.valid(index).any(Launch::lacks_cpu),
        target_busy: mean_of(records, index, |launch| launch.record.observation.as_ref().map(Observation::busy)),
        generator_busy: mean_of(records, index, |launch| Some(launch.measured()?.generator.busiest_thread())),
        generator_starved: mean_of(records, index, |launch| Some(starved(launch.measured()?))),
        peak_memory_bytes: figure(Metric::PeakMemory),
        peak_at_least: records.valid(index).any(Launch::lacks_peak),
        // The one that is most to be said where launches differ.
        memory_count: memory_counts(records, index).last().copied().unwrap_or_default(),
        time_to_ready_ms: figure(Metric::TimeToReady),
        profile: profile(records, index),
        behind: behind(records, index),
        handshakes: handshakes(records, index),
        beside: beside(records, index),
        backend: backend(records, index),
        errors: failing.failed_share,
        failing,
        died: died(records, index),
        first_wrong: records.everywhere(index).find_map(|launch| launch.measured()?.first_wrong.clone()),
        invariants: invariants(records, index),
        suspicions: suspicions(records, index),
        marks: Mark::ALL.iter().filter_map(|mark| mark_of(records, index, *mark)).collect(),
        throughput,
        remarks: CellRemarks::default(),
        quantiles: cell_launches::quantiles(&launches, |times| records.measured(times, Unit::Us)),
        launches,
    };
    remark_cell(&mut analysis);
    analysis
}

/// Seconds of warm-up and window, as planned. In slices a launch is warmed up for as long as its target says it needs, and its window
/// is what its slices come to, for their number is a whole one and their lengths differ.
fn lasted(records: &Records, index: usize) -> (f64, f64) {
    let load = &records.plan.cells[index].load;
    let Some(Rotated::Together { rounds, slice_s }) = records.rotated(index) else {
        return (seconds(load.warm_up_ns), seconds(load.window_ns()));
    };
    let measured = mean_of(records, index, |launch| Some(launch.measured()?.window_s));
    let warm_up_ns = rotation::warm_up_ns(records.plan, index);
    (seconds(warm_up_ns), measured.unwrap_or(f64::from(rounds) * slice_s))
}

/// How its launches went. A steady figure needs each of them to have settled at its best: what is left of a launch
/// that slowed down or never settled is not a steady state.
fn course(records: &Records, index: usize) -> CellCourse {
    let mut found = CellCourse::default();
    let (mut steady, mut cut) = (Vec::new(), 0.0_f64);
    for launch in records.valid(index) {
        let Some((went, measured)) = launch.judgement.went.as_ref().zip(launch.measured()) else { continue };
        *found.launches.entry(went.course).or_insert(0) += 1;
        if let Some((from_s, rate)) = went.steady_from_s.zip(steady_throughput(went, measured)) {
            cut = cut.max(from_s / measured.window_s);
            steady.push(rate);
        }
    }
    if !steady.is_empty() && steady.len() == records.valid(index).count() {
        found.steady_throughput = Some(records.measured(&steady, Metric::Throughput.unit()));
        found.cut = Some(cut);
    }
    found
}

/// Whether the servers were cold: by what their target says it needs, or by what was seen.
pub(crate) fn cold(records: &Records, index: usize) -> Option<MarkNote> {
    let cold = too_short_to_warm(records, index).or_else(|| still_warming(records, index).map(faster_by))?;
    Some(MarkNote::new(MarkCause::Cold(cold)))
}

fn low_rate(records: &Records, index: usize) -> Option<MarkNote> {
    let (target, per_s) = bounded_base(records.plan, index)?;
    Some(MarkNote::new(MarkCause::LowRate { target: target.to_owned(), per_s }))
}

/// What a gain of the second half of the windows over the first shows.
pub(crate) fn faster_by(gain: Interval) -> Coldness {
    let Interval { estimate, low, high } = gain.map(|gain| gain - 1.0);
    Coldness::FasterBy { share: estimate, low, high }
}

/// The load that the launch gives the target before the window, where it needs more to be warm.
pub(crate) fn too_short_to_warm(records: &Records, index: usize) -> Option<Coldness> {
    let target = records.plan.target(records.plan.cells[index].levels.target())?;
    let (given_ns, needed_ns) = (records.loaded_before_ns(index), target.launch.warm_within_ns);
    let short = || Coldness::WarmUp { given_s: seconds(given_ns), needed_s: seconds(needed_ns) };
    (given_ns < needed_ns).then(short)
}

/// By how much the servers were still getting faster when windows ended that are too short to classify. In others the
/// mark `warm-up` says it.
fn still_warming(records: &Records, index: usize) -> Option<Interval> {
    let is_short = records.valid(index).all(|launch| launch.judgement.went.is_none());
    records.together(index).gain.filter(|_| is_short)
}

/// Functions of a cell's profile that are told.
const TOLD_FUNCTIONS: usize = 5;

/// Where the target's CPU time went, over the launches that have a profile; none where no launch was asked for one.
fn profile(records: &Records, index: usize) -> Option<CellProfile> {
    let seen = || records.valid(index).filter_map(|launch| launch.record.observation.as_ref());
    let profiles: Vec<&Profile> = seen().filter_map(|seen| seen.profile.as_ref()).collect();
    let no_profile = seen().find_map(|seen| seen.no_profile.clone());
    if profiles.is_empty() && no_profile.is_none() {
        return None;
    }
    let samples: u64 = profiles.iter().map(|profile| profile.samples).fold(0, u64::saturating_add);
    let mut pooled: BTreeMap<&str, f64> = BTreeMap::new();
    for profile in &profiles {
        for function in &profile.functions {
            *pooled.entry(&function.name).or_default() += function.flat_share * profile.samples as f64;
        }
    }
    let share =
        |(name, count): (&str, f64)| ProfiledFunction { name: name.to_owned(), flat_share: count / samples as f64 };
    let mut functions: Vec<ProfiledFunction> = pooled.into_iter().map(share).collect();
    functions.sort_by(|a, b| b.flat_share.total_cmp(&a.flat_share));
    functions.truncate(TOLD_FUNCTIONS);
    let mut by: Vec<ProfiledBy> = Vec::new();
    for profile in &profiles {
        if !by.contains(&profile.by) {
            by.push(profile.by);
        }
    }
    Some(CellProfile {
        by,
        launches: profiles.len() as u32,
        samples,
        share: records.measured(&records.values(index, Metric::ProfileShare), Metric::ProfileShare.unit()),
        functions,
        no_profile,
    })
}

/// The handshakes of its valid launches, where each request has a connection of its own.
fn handshakes(records: &Records, index: usize) -> Option<CellHandshakes> {
    let cell = &records.plan.cells[index];
    if !cell.tls || cell.load.keep_alive {
        return None;
    }
    let loads = || records.valid(index).filter_map(Launch::measured);
    let of = |count: fn(&TlsUse) -> u64| sum(loads().filter_map(|load| load.tls.as_ref()).map(count));
    let medians: Vec<f64> = loads().filter_map(|load| load.latency_us.handshake.as_ref()?.p50).collect();
    Some(CellHandshakes {
        count: of(|tls| tls.handshakes),
        resumed: of(|tls| tls.resumed),
        failed: of(|tls| tls.failed),
        p50_us: records.measured(&medians, Unit::Us),
    })
}

fn beside(records: &Records, index: usize) -> Option<CellBeside> {
    let first = &records.plan.cells[index].beside.as_ref()?.mix.first().request;
    let loads = || records.valid(index).filter_map(|launch| launch.record.beside.as_ref());
    loads().next()?;
    let of = |count: fn(&Accounting) -> u64| sum(loads().map(|load| count(&load.accounting)));
    let asked = [first.method.as_str(), first.path.as_str()].join(" ");
    let medians: Vec<f64> = loads().filter_map(|load| load.latency_us.service.as_ref()?.p50).collect();
    Some(CellBeside {
        asked,
        scheduled: of(|books| books.scheduled),
        ok: of(|books| books.ok),
        p50_us: records.measured(&medians, Unit::Us),
    })
}

/// What at least half of its valid launches are consistent with, as the first of these shows it.
fn suspicions(records: &Records, index: usize) -> Vec<Suspicion> {
    let load = &records.plan.cells[index].load;
    let of = |launch: &Launch| launch.measured().map_or(Vec::new(), |measured| suspicion::of_trial(load, measured));
    let each: Vec<Vec<Suspicion>> = records.valid(index).map(of).collect();
    let suspected = each.iter().filter(|of| !of.is_empty()).count();
    each.iter().find(|of| !of.is_empty() && 2 * suspected >= each.len()).cloned().unwrap_or_default()
}

/// What the server did that its handlers ask, over the launches that count.
fn backend(records: &Records, index: usize) -> Option<BackendUse> {
    let launches = records.valid(index).filter_map(|launch| launch.record.backend);
    launches.reduce(|all, one| BackendUse {
        opened: sum([all.opened, one.opened]),
        connections_max: all.connections_max.max(one.connections_max),
        at_once_max: all.at_once_max.max(one.at_once_max),
        replies: sum([all.replies, one.replies]),
        refused: sum([all.refused, one.refused]),
        turned_away: sum([all.turned_away, one.turned_away]),
    })
}

/// The launches in which the server fell behind the rate. One that stopped answering is told as that.
fn behind(records: &Records, index: usize) -> Option<CellBehind> {
    let rate_per_s = records.plan.cells[index].load.rate_per_s()?;
    let share = |launch: &Launch| {
        let measured = launch.measured()?;
        let is_behind = launch.judgement.limit.code() == LimitCode::ServerBehind.into() && stopped(measured).is_none();
        let books = &measured.accounting;
        is_behind.then(|| (launch.record.id.clone(), books.sent as f64 / books.scheduled.max(1) as f64))
    };
    let behind: Vec<(String, f64)> = records.valid(index).filter_map(share).collect();
    let (with, of) = (behind.len() as u32, records.valid(index).count() as u32);
    let (told, sent_share) = behind.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(CellBehind { launches: Launches { with, of, told }, rate_per_s, sent_per_s: rate_per_s * sent_share })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S as f64
}

/// Share of the window for which the generator thread that waited most for a CPU did so.
fn starved(measured: &Measurement) -> f64 {
    measured.generator.threads.iter().map(|thread| thread.starved()).fold(0.0, f64::max)
}

fn mean_of(records: &Records, index: usize, value: impl Fn(&Launch) -> Option<f64>) -> Option<f64> {
    mean(&records.valid(index).filter_map(value).collect::<Vec<f64>>())
}

/// What the latency of a cell is that a client waits for.
fn population(records: &Records, index: usize) -> Population {
    let felt = records.plan.cells[index].load.felt();
    let mut latencies = records.valid(index).filter_map(Launch::measured).map(|measured| &measured.latency_us);
    match felt {
        // Records of earlier versions have no total time.
        Population::Total if latencies.any(|latency| latency.total.is_none()) => Population::Service,
        Population::Response | Population::Service | Population::Total => felt,
    }
}

fn latency(records: &Records, index: usize) -> CellLatency {
    let figure = |metric: Metric| records.measured(&records.values(index, metric), metric.unit());
    CellLatency {
        population: population(records, index),
        mean: figure(Metric::Mean),
        p50: figure(Metric::P50),
        p90: figure(Metric::P90),
        p99: figure(Metric::P99),
        censored: records.valid(index).any(is_censored),
        failed_share: records.valid(index).filter_map(failed_share).fold(0.0, f64::max),
        few_collections: records.valid(index).any(Launch::lacks_collections),
    }
}

fn failed_share(launch: &Launch) -> Option<f64> {
    Some(launch.measured()?.latency_us.felt()?.failed_share())
}

/// Whether a quantile that is printed is only a lower bound in this launch.
pub(crate) fn is_censored(launch: &Launch) -> bool {
    let bounded = |felt: &LatencySummary| {
        [felt.p50, felt.p90, felt.p99].into_iter().flatten().any(|value| felt.is_lower_bound(value))
    };
    launch.measured().and_then(|measured| measured.latency_us.felt()).is_some_and(bounded)
}

/// What the figures of a metric count in a cell: those of another kind cannot be held against them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Memory, in any launch; of its peak whether it is that at any moment, or in looks as in older records: none without a launch.
    Memory(BTreeSet<MemoryCount>, Option<bool>),
    /// The times of this population.
    Latency(Population),
    /// What every record counts alike.
    Alike,
}

/// What the figures of a metric count in a cell.
pub(crate) fn counted(records: &Records, index: usize, metric: Metric) -> Counted {
    match metric {
        Metric::PeakMemory => {
            Counted::Memory(memory_counts(records, index), records.valid(index).find_map(is_at_any_moment))
        }
        Metric::MemoryAtRest | Metric::MemoryAfter => Counted::Memory(memory_counts(records, index), None),
        metric if metric.is_latency() => Counted::Latency(population(records, index)),
        _ => Counted::Alike,
    }
}

/// Whether the peak of a launch is what it had at any moment.
fn is_at_any_moment(launch: &Launch) -> Option<bool> {
    let seen = launch.record.observation.as_ref()?;
    Some(seen.peak_unbounded || seen.peak_at_most_bytes.is_some())
}

/// What the memory of its launches counts.
fn memory_counts(records: &Records, index: usize) -> BTreeSet<MemoryCount> {
    let count = |launch: &Launch| {
        let count = launch.record.observation.as_ref()?.memory_count();
        let is_at_least = count == MemoryCount::Proportional && launch.rounds.is_some();
        Some(if is_at_least { MemoryCount::ProportionalAtLeast } else { count })
    };
    records.valid(index).filter_map(count).collect()
}

/// How the first server ended that did under load, wherever its launch stands: a crash is its own on a busy machine, too.
fn died(records: &Records, index: usize) -> Option<Died> {
    let first = records.everywhere(index).find_map(|launch| launch.record.died())?;
    Some(Died {
        of: records.everywhere(index).filter(|launch| launch.record.is_up()).count() as u32,
        why: first.why.clone(),
        printed: first.output.clone(),
    })
}

/// Every breach with the launch it happened in, and one line for each invariant that held in all.
fn invariants(records: &Records, index: usize) -> Vec<InvariantCheck> {
    Invariant::ALL.iter().flat_map(|invariant| invariant_lines(records, index, *invariant)).collect()
}

fn invariant_lines(records: &Records, index: usize, invariant: Invariant) -> Vec<InvariantCheck> {
    let mut applied = 0;
    let mut breaches = Vec::new();
    for launch in records.launches(index) {
        for check in launch.judgement.checks.iter().filter(|check| check.invariant == invariant) {
            applied += 1;
            if !check.holds {
                breaches.push(InvariantCheck { trial: Some(launch.record.id.clone()), ..check.clone() });
            }
        }
    }
    if breaches.is_empty() && applied > 0 {
        breaches.push(InvariantCheck { held_in: Some(applied), ..InvariantCheck::new(invariant, None) });
    }
    breaches
}

/// A mark that at least half of the valid launches have, with the figures of the one that has most of it, else of the first,
/// about the metrics that it is about in at least half of them. One disturbed launch is enough to widen an interval, and one
/// silence for users to see it, so `noisy`, `silent`, `hung` and `not-drained` are shown for each; `cold` is told by all together.
/// What a slice's end did not wait for is told of every launch, the twin's and those set aside, too, as failures are.
fn mark_of(records: &Records, index: usize, mark: Mark) -> Option<MarkNote> {
    match mark {
        Mark::Cold => return cold(records, index),
        Mark::LowRate => return low_rate(records, index),
        _ => {}
    }
    let one_is_enough = matches!(mark, Mark::Noisy | Mark::Silent | Mark::Hung | Mark::NotDrained);
    if !one_is_enough && !records.marked(index, mark) {
        return None;
    }
    let launches: Vec<&Launch> = match mark {
        Mark::NotDrained => records.everywhere(index).filter(|launch| launch.judgement.is_valid()).collect(),
        _ => records.valid(index).collect(),
    };
    let notes: Vec<(&str, &MarkNote)> = launches
        .iter()
        .flat_map(|launch| launch.judgement.marks.iter().map(|note| (launch.record.id.as_str(), note)))
        .filter(|(_, note)| note.mark() == mark)
        .collect();
    let in_most = |metric: &Metric| records.mostly(index, |launch| launch.is_about(mark, *metric));
    let named = |metric: &Metric| notes.iter().any(|(_, note)| note.metrics.contains(metric));
    let metrics: Vec<Metric> = Metric::ALL.iter().copied().filter(|it| named(it) && in_most(it)).collect();
    // Where launches have it for different metrics, none of these has it in most.
    let of_some = notes.iter().any(|(_, note)| !note.metrics.is_empty());
    // Figures of one launch do not contradict each other: of the first that shows most of what the mark is about.
    let shown = |note: &MarkNote| metrics.iter().filter(|metric| note.metrics.contains(metric)).count();
    let size = |note: &MarkNote| note.cause.size().unwrap_or_default();
    let most = |a: &MarkNote, b: &MarkNote| shown(a).cmp(&shown(b)).then(size(a).total_cmp(&size(b)));
    let (id, note) = notes.iter().rev().max_by(|(_, a), (_, b)| most(a, b))?;
    let of = Some(Launches { with: notes.len() as u32, of: launches.len() as u32, told: (*id).to_owned() });
    (!of_some || !metrics.is_empty()).then(|| MarkNote { metrics, launches: of, ..(*note).clone() })
}
