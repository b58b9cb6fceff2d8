//! What is seen by itself, or by what one switch changes.

use model::{Experiment, Measured, STALLS_OF_REQUESTS, ServerFault, Suspect, Unit, Unproved, WhyOpen};

use super::case::Case;
use super::proof::{Examined, Stands, Steps};
use super::reading::Reading;
use super::signs::{Sign, closed_share, sign};
use super::thresholds::{STALLS_OF_A_TIMER, STEADY_PROOF};
use crate::statistics::{mean, share_interval};
use crate::thresholds::CONFIDENCE;

const ALONE: Experiment = Experiment::Crowd { connections: 1 };

/// Replies wait for an acknowledgement where the kernel delays it, on two connections as well, and do not where it does not.
pub(super) fn delayed_ack(case: &Case<'_>) -> Option<Examined> {
    let service_us = case.first(case.paced().unwrap_or(ALONE))?.delayed_ack_us()?;
    let two = Experiment::Crowd { connections: 2 };
    let steps = Steps::of(case, &[ALONE, Experiment::QuickAck, two, Experiment::QuickAck, ALONE]);
    let quick = steps.all(Experiment::QuickAck);
    let quick_us = mean(&quick.iter().filter_map(|it| it.service_s()).collect::<Vec<f64>>()).map(|s| s * 1e6);
    let fault = ServerFault::DelayedAck { service_us, quick_us };
    let waits = |readings: Vec<&Reading<'_>>| readings.iter().all(|it| it.delayed_ack_us().is_some());
    let stands = steps.next.unwrap_or_else(|| {
        if quick.iter().any(|it| it.delayed_ack_us().is_some()) {
            Stands::Refuted(WhyOpen::NotByDose)
        } else if !waits(steps.all(two)) {
            Stands::Refuted(WhyOpen::NotByControl)
        } else if !waits(steps.all(ALONE)) {
            Stands::Refuted(WhyOpen::NotAgain)
        } else {
            Stands::Proved
        }
    });
    Some(Examined::new(fault, &steps.made, stands))
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
    let connections = seen.iter().map(|reading| reading.cell.load.connections).min()?;
    let (failed, of) = seen.iter().map(|it| it.failed()).fold((0, 0), |(a, b), (failed, of)| (a + failed, b + of));
    let interval = share_interval(failed, of, CONFIDENCE);
    let share = Measured {
        estimate: Some(failed as f64 / of.max(1) as f64),
        low: interval.map(|it| it.low),
        high: interval.map(|it| it.high),
        unit: Unit::Share,
    };
    Some(Examined::new(ServerFault::Failures { share, connections }, &seen, Stands::Proved))
}

/// It stops answering: as often at twice the rate where something on a timer makes it stop, and twice as often where requests do.
pub(super) fn stalls(case: &Case<'_>) -> Option<Examined> {
    let rate_per_s = case.asked.running.map_or_else(|| case.steady_per_s(), |running| Some(running.rate_per_s))?;
    let steady =
        |times: f64| Experiment::Steady { rate_per_s: times * rate_per_s, window_s: STEADY_PROOF * case.window_s() };
    let is_steady =
        |reading: &&Reading<'_>| matches!(reading.experiment(), Experiment::Steady { .. } | Experiment::Paced { .. });
    let seen: Vec<&Reading<'_>> =
        case.counting().filter(is_steady).filter(|reading| !reading.stalls().is_empty()).collect();
    let lengths: Vec<f64> = seen.iter().flat_map(|reading| reading.stalls()).map(|it| it.length_s).collect();
    let steps = Steps::of(case, &[steady(1.0), steady(2.0), steady(2.0), steady(1.0)]);
    let count =
        |times: f64| -> f64 { steps.all(steady(times)).into_iter().map(|reading| reading.stalls().len() as f64).sum() };
    let recurs = count(1.0) >= 2.0 && steps.made.iter().all(|reading| !reading.stalls().is_empty());
    let at_twice = (steps.next.is_none() && recurs).then(|| count(2.0) / count(1.0));
    let fault = ServerFault::Stalls {
        count: lengths.len() as u64,
        in_s: case.counting().filter(is_steady).map(Reading::window_s).sum(),
        length_s: mean(&lengths)?,
        at_twice_the_rate: at_twice,
    };
    let told = |times: f64| times <= STALLS_OF_A_TIMER || times >= STALLS_OF_REQUESTS;
    let stands = steps.next.unwrap_or(match at_twice {
        Some(times) if told(times) => Stands::Proved,
        _ => Stands::Unproved(Unproved::NoProof),
    });
    let by: Vec<&Reading<'_>> = seen.into_iter().chain(steps.made.iter().copied()).collect();
    Some(Examined::new(fault, &by, stands))
}
