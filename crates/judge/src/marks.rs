//! What a reader must know about a result without its being void.

use model::{
    Elsewhere, FailedRequests, Failure, LateCause, LatencySummary, MarkCause, MarkNote, Measurement, Metric,
    Observation, Reopened, SpentElsewhere, Touched, TouchedFigure, Verdict, sum,
};

use crate::asked::Asked;
use crate::limit::Limit;
use crate::others;
use crate::silence;
use crate::thresholds::{
    ASKED_AGAIN_S, ASKED_AGAIN_WITHIN, LATENESS_FACTOR, NOISY_OTHERS, NOISY_STEAL, RECONNECTS, RESOLVED, SERVED_SHARE,
    THIN_COMPLETIONS, TOUCHED_PART,
};

/// The generator may have been the limit.
pub(crate) fn generator(limit: &Limit) -> Option<MarkNote> {
    let Limit { cause, cure } = limit;
    let note = || MarkNote { cure: *cure, ..MarkNote::new(MarkCause::Limit(cause.clone())) };
    (limit.verdict() == Verdict::AtLeast).then(note)
}

/// Latency figures that one lateness can be held against.
const LATENCIES: [Metric; 7] =
    [Metric::P50, Metric::P75, Metric::P90, Metric::P95, Metric::P99, Metric::P999, Metric::Mean];

/// Share of the requests that lie above a latency figure; for the mean a hundredth, which is enough to decide it.
pub(crate) fn share_above(figure: Metric) -> f64 {
    match figure {
        Metric::P50 => 0.5,
        Metric::P75 => 0.25,
        Metric::P90 => 0.1,
        Metric::P95 => 0.05,
        Metric::P999 => 0.001,
        _ => 0.01,
    }
}

/// Quantiles of the lateness that are recorded, from the highest: the share of requests above it, and its value.
fn recorded(lateness: &LatencySummary) -> [(f64, Option<f64>); 7] {
    [
        (0.000_1, lateness.p9999),
        (0.001, lateness.p999),
        (0.01, lateness.p99),
        (0.05, lateness.p95),
        (0.1, lateness.p90),
        (0.25, lateness.p75),
        (0.5, lateness.p50),
    ]
}

/// The lateness that a response figure is held against: the quantile above which lie a tenth of the requests
/// that lie above the figure, for fewer cannot move it by much, and all that waited for a connection, for it may be their
/// waiting that lies there. The next lower one where that is not recorded or not estimable. A mean against the mean, which
/// is its sum, unless waiting is in it.
fn held_against(figure: Metric, lateness: &LatencySummary, waited_share: f64) -> Option<f64> {
    if figure == Metric::Mean {
        return lateness.mean.filter(|_| waited_share < share_above(figure));
    }
    let above = (TOUCHED_PART * share_above(figure) + waited_share) * (1.0 - 1e-9);
    let enough = |(share, us): (f64, Option<f64>)| us.filter(|_| share >= above);
    recorded(lateness).into_iter().find_map(enough)
}

/// Response figures of which the generator's lateness may be over a tenth.
pub(crate) fn lateness(measured: &Measurement) -> Option<MarkNote> {
    let (latencies, books) = (&measured.latency_us, &measured.accounting);
    let (response, lateness) = (latencies.response.as_ref()?, latencies.lateness.as_ref()?);
    let waited = books.sent_late.get(&LateCause::NoConnection).copied().unwrap_or(0);
    let waited_share = waited as f64 / books.sent.max(1) as f64;
    let near = |figure: &Metric| {
        let us = figure.of(response)?;
        let late_us = held_against(*figure, lateness, waited_share)?;
        (us < LATENESS_FACTOR * late_us).then_some((*figure, us))
    };
    let figures: Vec<(Metric, f64)> = LATENCIES.iter().filter_map(near).collect();
    (!figures.is_empty()).then(|| {
        let metrics = figures.iter().map(|(metric, _)| *metric).collect();
        MarkNote { metrics, ..MarkNote::new(MarkCause::Late(figures)) }
    })
}

/// Latency figures that the generator's standstills touched: more requests came due or waited in one than a tenth of those
/// that lie above the figure, and all of them together are over a tenth of it, for no request lost more. The mean is
/// touched where the requests lost a tenth of it at least. `told` says that the limit has told how long it stood still.
pub(crate) fn standstill(measured: &Measurement, told: bool) -> Option<MarkNote> {
    let stood = measured.standstills.as_ref().filter(|stood| stood.count > 0)?;
    let felt = measured.latency_us.felt()?;
    let without = stood.without_us.felt();
    let held = stood.requests.min(felt.count);
    let (share, sum_us) = (held as f64 / felt.count.max(1) as f64, stood.sum_s * 1e6);
    let is_touched = |figure: &Metric| {
        let Some(us) = figure.of(felt) else { return false };
        let (share, needed) = match figure {
            Metric::Mean => (1.0, share * sum_us),
            _ => (share, sum_us),
        };
        // A figure that is the same without the standstills was not made by them.
        let moved = without.and_then(|rest| figure.of(rest)).is_none_or(|bare| bare < us * (1.0 - RESOLVED));
        share > TOUCHED_PART * share_above(*figure) && us < LATENESS_FACTOR * needed && moved
    };
    let metrics: Vec<Metric> = LATENCIES.into_iter().filter(is_touched).collect();
    let least = measured.least_latencies().and_then(|least| least.felt());
    let touched = |metric: &Metric| TouchedFigure {
        metric: *metric,
        us: metric.of(felt),
        least_us: least.and_then(|least| metric.of(least)).filter(|us| *us >= 1.0),
    };
    let cause = || Touched {
        stood: (!told).then_some((stood.count, stood.sum_s)),
        requests: stood.requests,
        scheduled: measured.accounting.scheduled,
        figures: metrics.iter().map(touched).collect(),
    };
    let cause = (!metrics.is_empty()).then(cause)?;
    Some(MarkNote { metrics, ..MarkNote::new(MarkCause::Touched(cause)) })
}

/// The server gave no reply for long, and went on: one that stopped is told so already.
pub(crate) fn silent(measured: &Measurement) -> Option<MarkNote> {
    let silent = silence::silent(measured).filter(|_| silence::stopped(measured).is_none())?;
    Some(MarkNote::new(MarkCause::Silence(silent)))
}

/// The server ended connections that were to be kept, so that opening others is part of what was measured. Not where most
/// of them brought no reply: those are failures.
pub(crate) fn reconnects(asked: &Asked<'_>, measured: &Measurement) -> Option<MarkNote> {
    let counts = &measured.connections;
    let failed = |kind| measured.accounting.failed.get(&kind).copied().unwrap_or(0);
    let in_place = failed(Failure::ClosedBeforeReply).saturating_add(failed(Failure::ResetBeforeReply));
    let silently = counts.closed_idle.saturating_add(in_place);
    let seconds: u64 = measured.steps.iter().fold(0, |sum, second| sum.saturating_add(second.completed));
    let replies = seconds.max(measured.in_window.completed);
    let again = counts.opened.saturating_sub(asked.load.connections.into());
    let is_servers =
        silently.saturating_add(counts.closed_by_reply) >= again.div_ceil(2) && replies >= again.div_ceil(2);
    let is_much = again as f64 > RECONNECTS * replies as f64;
    (asked.load.keep_alive && again > 0 && is_servers && is_much).then(|| {
        let cause = Reopened {
            connections: asked.load.connections,
            opened: counts.opened,
            replies,
            said: counts.closed_by_reply,
            idle: counts.closed_idle,
            in_place,
        };
        MarkNote::new(MarkCause::Reopened(cause))
    })
}

/// Connections that opened only when the kernel had asked again, while others opened sooner: the first packet of a connection
/// is dropped where the queue of those to be accepted is full.
pub(crate) fn backlog(measured: &Measurement) -> Option<MarkNote> {
    let connect = measured.latency_us.connect.as_ref()?;
    let is_asked_again =
        |us: f64| ASKED_AGAIN_S.iter().any(|s| (1.0..1.0 + ASKED_AGAIN_WITHIN).contains(&(us / (s * 1e6))));
    let quantiles = [Metric::P99, Metric::P90, Metric::P50].into_iter();
    let (metric, us) = quantiles.filter_map(|metric| Some((metric, metric.of(connect)?))).next()?;
    let is_late = is_asked_again(us) && connect.min.is_some_and(|least| least < ASKED_AGAIN_S[0] * 1e6 / 2.0);
    is_late.then(|| MarkNote::new(MarkCause::OpenedLate { metric, us }))
}

/// Connections that completed nothing, or κ = time of completed requests ÷ (N·T) below 0.9, in so many windows. Closed model
/// only; not where a number of requests ends the load, for then connections fall idle one by one.
pub(crate) fn unserved(asked: &Asked<'_>, measured: &Measurement, windows: f64) -> Option<MarkNote> {
    let available_s = asked.load.slots() * measured.window_s;
    if !asked.is_closed() || asked.fixed_count() || available_s <= 0.0 {
        return None;
    }
    let never = measured.connections.never_served;
    let served_s = measured.residence.completed_s + answered_later_s(asked, measured, windows);
    let kappa = served_s / available_s;
    let served_share = Some(kappa).filter(|kappa| *kappa < SERVED_SHARE);
    let elsewhere = served_share.and_then(|_| elsewhere(asked, measured, (available_s, served_s)));
    let cause = || MarkCause::Unserved { never, connections: asked.load.connections.into(), served_share, elsewhere };
    (never > 0 || served_share.is_some()).then(|| MarkNote::new(cause()))
}

/// How long, in seconds, requests were in flight that the end of a window cut off and that were answered after it: one of each slot,
/// but for those that never were, and each as long as one that completed. At most what such requests, and those that failed, took.
fn answered_later_s(asked: &Asked<'_>, measured: &Measurement, windows: f64) -> f64 {
    let residence = &measured.residence;
    let cut_off = (windows * asked.load.slots() - measured.accounting.in_flight_at_end as f64).max(0.0);
    let mean_s = residence.completed_s / measured.in_window.completed.max(1) as f64;
    (cut_off * mean_s).min((residence.requests_s - residence.completed_s).max(0.0))
}

/// What most of the connections' time went into that was none of completed requests, where that is known. Where each request
/// opens its connection, connecting is part of them.
fn elsewhere(asked: &Asked<'_>, measured: &Measurement, (available_s, served_s): (f64, f64)) -> Option<SpentElsewhere> {
    let residence = &measured.residence;
    let connecting_s = if asked.load.keep_alive { available_s - residence.requests_s } else { 0.0 };
    let others_s = available_s - served_s - connecting_s;
    let is_timed_out = 2 * measured.accounting.failed.get(&Failure::TimedOut).copied().unwrap_or(0)
        > sum([measured.accounting.failed_total(), measured.accounting.in_flight_at_end]);
    let parts = [
        (Elsewhere::Connecting, connecting_s),
        (if is_timed_out { Elsewhere::TimedOut } else { Elsewhere::Unanswered }, others_s),
    ];
    let of_most = |(_, seconds): &(Elsewhere, f64)| *seconds > (available_s - served_s) / 2.0;
    parts.into_iter().find(of_most).map(|(what, seconds)| SpentElsewhere { what, share: seconds / available_s })
}

/// Few completions per connection slot. Closed model only: an open load leaves connections idle by design. Not where a
/// number of requests ends the load: no request lies across the end of its window.
pub(crate) fn thin(asked: &Asked<'_>, measured: &Measurement) -> Option<MarkNote> {
    let per_slot = measured.in_window.completed as f64 / asked.load.slots().max(1.0);
    (asked.is_closed() && !asked.fixed_count() && per_slot < THIN_COMPLETIONS)
        .then(|| MarkNote::new(MarkCause::CompletionsPerSlot(per_slot)))
}

/// Throughput is what the handler delay allows.
pub(crate) fn at_ceiling(asked: &Asked<'_>, measured: &Measurement) -> Option<MarkNote> {
    let ceiling = asked.reached_ceiling(measured).filter(|_| asked.is_closed())?;
    Some(MarkNote::new(MarkCause::Ceiling(ceiling)))
}

/// The machine was disturbed: of the CPUs of target or generator so much may be gone.
pub(crate) fn noisy(seen: &Observation, measured: &Measurement) -> Option<MarkNote> {
    let host = &seen.host;
    let is_over = |share: f64, limit: f64| others::of_the_smaller_side(share, seen, measured) > limit;
    let steal_share = Some(host.steal_share).filter(|share| is_over(*share, NOISY_STEAL));
    let others_share = Some(host.others_share).filter(|share| is_over(*share, NOISY_OTHERS));
    let cause = || MarkCause::Taken { cpus: host.cpus, steal_share, others_share };
    (steal_share.is_some() || others_share.is_some()).then(|| MarkNote::new(cause()))
}

/// Requests that failed.
pub(crate) fn errors(measured: &Measurement) -> Option<MarkNote> {
    let books = &measured.accounting;
    (books.error_share() > 0.0).then(|| MarkNote::new(MarkCause::Failures(FailedRequests::of(books))))
}
