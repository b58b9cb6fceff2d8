//! What is seen by itself, or by what one switch changes.

use model::{Accounting, Experiment, FailedRequests, Measured, ServerFault, Suspect, Unit, Unproved, WhyOpen};

use super::case::Case;
use super::proof::{Examined, Stands, Steps, are_equal};
use super::reading::{Reading, period_s};
use super::signs::{Sign, closed_share, is_unanswered, sign};
use super::thresholds::{MOST_STEADY, STEADY_PROOF, STEADY_STEP};
use crate::statistics::{mean, share_interval};
use crate::thresholds::{CONFIDENCE, REGULAR_STALLS, SAME_PERIOD, SILENCE_REPLIES, SILENCE_TOLD_S};

const ALONE: Experiment = Experiment::Crowd { connections: 1 };

/// Replies wait for an acknowledgement where the kernel delays it, on two connections as well, and do not where it does not.
pub(super) fn delayed_ack(case: &Case<'_>) -> Option<Examined> {
    let first = case.first(case.paced().unwrap_or(ALONE))?;
    let (quantile, service_us) = first.delayed_ack()?;
    let two = Experiment::Crowd { connections: 2 };
    let at_once = Experiment::QuickAck { connections: 1 };
    let steps = Steps::of(case, &[ALONE, at_once, two, at_once, ALONE]);
    let quick = steps.all(at_once);
    let quick_us = mean(&quick.iter().filter_map(|it| it.service_at_us(quantile)).collect::<Vec<f64>>());
    let fault = ServerFault::DelayedAck { quantile, service_us, quick_us };
    let waits = |readings: Vec<&Reading<'_>>| readings.iter().all(|it| it.delayed_ack().is_some());
    let stands = steps.next.unwrap_or_else(|| {
        if quick.iter().any(|it| it.delayed_ack().is_some()) {
            Stands::Refuted(WhyOpen::NotByDose)
        } else if !waits(steps.all(two)) {
            Stands::Refuted(WhyOpen::NotByControl)
        } else if !waits(steps.all(ALONE)) {
            Stands::Refuted(WhyOpen::NotAgain)
        } else {
            Stands::Proved
        }
    });
    let by: Vec<&Reading<'_>> = std::iter::once(first).chain(steps.made.iter().copied()).collect();
    Some(Examined::new(fault, &by, stands))
}

/// Replies end their connections: each was seen to.
pub(super) fn closed(case: &Case<'_>) -> Option<Examined> {
    let shows = |reading: &&Reading<'_>| {
        matches!(reading.experiment(), Experiment::Crowd { .. } | Experiment::Paced { .. })
            && sign(case, Suspect::ClosedConnections, reading) == Sign::Shows
    };
    let seen: Vec<&Reading<'_>> = case.counting().filter(shows).collect();
    let share = mean(&seen.iter().map(|reading| closed_share(reading)).collect::<Vec<f64>>())?;
    Some(Examined::new(ServerFault::ClosedConnections { share }, &seen, Stands::Proved))
}

/// Requests fail: each was seen to.
pub(super) fn failures(case: &Case<'_>) -> Option<Examined> {
    let shows = |reading: &&Reading<'_>| sign(case, Suspect::Failures, reading) == Sign::Shows;
    let seen: Vec<&Reading<'_>> = case.counting().filter(shows).collect();
    if let Some(silent) = seen.iter().find(|reading| is_unanswered(case, reading)) {
        let fault = ServerFault::Unanswered {
            under: silent.experiment(),
            after_s: silent.stopped_after_s().filter(|_| silent.completed() > 0),
            window_s: silent.window_s(),
        };
        return Some(Examined::new(fault, &[silent], Stands::Proved));
    }
    let busy = seen.iter().filter(|reading| matches!(reading.experiment(), Experiment::Crowd { .. }));
    let connections = busy.map(|reading| reading.cell.load.connections).min();
    seen.first()?;
    let (failed, of) = seen.iter().map(|it| it.failed()).fold((0, 0), |(a, b), (failed, of)| (a + failed, b + of));
    let interval = share_interval(failed, of, CONFIDENCE);
    let share = Measured {
        estimate: Some(failed as f64 / of.max(1) as f64),
        low: interval.map(|it| it.low),
        high: interval.map(|it| it.high),
        unit: Unit::Share,
    };
    let mut books = Accounting::default();
    seen.iter().filter_map(|reading| reading.books()).for_each(|of| books.merge(of));
    let first_wrong = seen.iter().find_map(|reading| reading.first_wrong()).cloned();
    let fault = ServerFault::Failures { share, connections, how: Some(FailedRequests::of(&books)), first_wrong };
    Some(Examined::new(fault, &seen, Stands::Proved))
}

/// It stops answering: at equal distances, the same at twice the rate where something on a timer makes it stop, and half as long where
/// requests do. Of stalls at other distances a proof would take many more.
pub(super) fn stalls(case: &Case<'_>) -> Option<Examined> {
    let rate_per_s =
        case.asked.running.as_ref().map_or_else(|| case.steady_per_s(), |running| Some(running.rate_per_s))?;
    let seen: Vec<&Reading<'_>> =
        case.counting().filter(is_steady).filter(|reading| !reading.stalls().is_empty()).collect();
    let window_s = proof_s(case, &seen);
    let steady = |times: f64| Experiment::Steady { rate_per_s: times * rate_per_s, window_s };
    let lengths: Vec<f64> = seen.iter().flat_map(|reading| reading.stalls()).map(|it| it.length_s).collect();
    let steps = Steps::of(case, &[steady(1.0), steady(2.0), steady(2.0), steady(1.0)]);
    let periods_s = |times: f64| {
        let all: Option<Vec<f64>> = steps.all(steady(times)).into_iter().map(period_s).collect();
        all.and_then(|periods| mean(&periods))
    };
    let at_twice = periods_s(1.0).zip(periods_s(2.0)).map(|(once, twice)| once / twice);
    let is_told = at_twice.is_some_and(|times| [1.0, 2.0].into_iter().any(|of| are_equal(times, of, SAME_PERIOD)));
    let fault = ServerFault::Stalls {
        count: lengths.len() as u64,
        in_s: looked_for_stalls_s(case),
        length_s: mean(&lengths)?,
        at_twice_the_rate: at_twice.filter(|_| is_told),
    };
    let stands = steps.next.unwrap_or(if is_told { Stands::Proved } else { Stands::Unproved(Unproved::NoProof) });
    let by: Vec<&Reading<'_>> = seen.into_iter().chain(steps.made.iter().copied()).collect();
    Some(Examined::new(fault, &by, stands))
}

fn is_steady(reading: &&Reading<'_>) -> bool {
    matches!(reading.experiment(), Experiment::Steady { .. } | Experiment::Paced { .. })
}

/// For how many seconds the server was looked at under a load in which a stall shows.
pub(super) fn looked_for_stalls_s(case: &Case<'_>) -> f64 {
    case.counting().filter(is_asked).map(Reading::window_s).sum()
}

/// The shortest stall that would have shown, in seconds: half a second, and ten times as long as from one request to the next.
pub(super) fn shortest_stall_s(case: &Case<'_>) -> Option<f64> {
    let most_per_s = case.counting().filter(is_asked).map(|reading| reading.per_s()).reduce(f64::max)?;
    Some(f64::max(SILENCE_TOLD_S, SILENCE_REPLIES / most_per_s))
}

/// Whether it is a steady load, and not one that hardly asks, in which no stall shows.
fn is_asked(reading: &&Reading<'_>) -> bool {
    match reading.experiment() {
        Experiment::Steady { rate_per_s, .. } => rate_per_s > 1.0,
        experiment => matches!(experiment, Experiment::Paced { .. }),
    }
}

/// How long a load is in which enough stalls come for their distances to be equal or not, in seconds: of the longest distance that was seen so
/// far, in steps, so that another reading that shows nearly the same asks for the same load.
fn proof_s(case: &Case<'_>, seen: &[&Reading<'_>]) -> f64 {
    let needed_s = |reading: &&Reading<'_>| {
        let stalls = reading.stalls();
        let (first, last) =
            (stalls.iter().map(|it| it.at_s).reduce(f64::min)?, stalls.iter().map(|it| it.at_s).reduce(f64::max)?);
        let longest_s = stalls.iter().map(|it| it.length_s).fold(0.0, f64::max);
        let distances = stalls.len().checked_sub(1).filter(|count| *count > 0)?;
        Some(REGULAR_STALLS as f64 * (last - first) / distances as f64 + longest_s)
    };
    let (usual_s, step_s) = (STEADY_PROOF * case.window_s(), STEADY_STEP * case.window_s());
    let needed_s = seen.iter().filter_map(needed_s).fold(0.0, f64::max);
    ((needed_s / step_s).ceil() * step_s).clamp(usual_s, MOST_STEADY * usual_s)
}
