//! Round trips to what is behind a server, one after another.
//!
//! Where each of them takes longer by a known time, a request takes longer by as many times that as it waits for one after another; what it asks
//! at the same time it waits for once. The same time between client and server costs once, however many there are. It is also the yardstick: a
//! relay holds bytes for a little longer than it was told, and whoever waits for longer takes longer to wake, so that a round trip costs a few per
//! cent more than the time that was added to it, on either side of the server.

use model::{Experiment, Measured, ServerFault, Suspect, Unit, WhyOpen};

use super::case::Case;
use super::proof::{Examined, Stands, Steps, are_equal};
use super::reading::Reading;
use super::signs::{Sign, round_trips, sign};
use super::thresholds::{EQUAL, FARTHER_MOST_S, FARTHER_S, FARTHER_SHARE, TRIPS_AGREE};
use crate::statistics::{Interval, logarithms, mean, unpaired};
use crate::thresholds::CONFIDENCE;

/// The load by which it is seen, and the same without the delay; none where nothing behind the server was named, or nothing is known of it yet.
pub(super) fn probes(case: &Case<'_>) -> Option<[Experiment; 2]> {
    case.asked.upstream?;
    let farther_s = (case.service_s()? * FARTHER_SHARE).clamp(FARTHER_S, FARTHER_MOST_S);
    // To a tenth of a millisecond, as it is told.
    let delay_ns = (farther_s * 1e4).round() as u64 * 100_000;
    let upstream = |delay_ns| Experiment::Upstream { connections: 1, delay_ns };
    Some([upstream(0), upstream(delay_ns)])
}

pub(super) fn examine(case: &Case<'_>) -> Option<Examined> {
    let [near, far] = probes(case)?;
    let first = case.valid(far).find(|reading| sign(case, Suspect::RoundTrips, reading) == Sign::Shows)?;
    let Experiment::Upstream { connections, delay_ns } = far else { return None };
    let twice = Experiment::Upstream { connections, delay_ns: 2 * delay_ns };
    let [client, client_twice] =
        [delay_ns, 2 * delay_ns].map(|network_delay_ns| Experiment::Delayed { connections, network_delay_ns });
    let order = [near, far, client, client_twice, twice, twice, client_twice, client, far, near];
    let steps = Steps::undisturbed(case, &order);
    let trips = match added(&steps, (far, twice)) {
        pairs if pairs.is_empty() => steps.all(far).iter().filter_map(|reading| round_trips(case, reading)).collect(),
        pairs => pairs,
    };
    let fault = fault(case, &steps, (first, counted(&trips, &added(&steps, (client, client_twice)))))?;
    let by: Vec<&Reading<'_>> = std::iter::once(first).chain(steps.made.iter().copied()).collect();
    let service_s = |experiment| steps.all(experiment).into_iter().filter_map(Reading::service_s).collect::<Vec<f64>>();
    let holds = || {
        let (nears, far) = (service_s(near), mean(&service_s(far))?);
        let delays = |service_s: f64| Some((service_s - mean(&nears)?) / (delay_ns as f64 / 1e9));
        let (once, by_client) = (delays(far)?, delays(mean(&service_s(client))?)?);
        Some(
            if asked(&steps).is_some_and(|asked| mean(&trips).is_some_and(|trips| trips > (1.0 + TRIPS_AGREE) * asked))
            {
                Stands::Refuted(WhyOpen::Relayed)
            } else if !are_equal(once, mean(&trips)?, TRIPS_AGREE) {
                Stands::Refuted(WhyOpen::NotByDose)
            } else if by_client >= once / 2.0 {
                Stands::Refuted(WhyOpen::NotByControl)
            } else if !is_as_before(&nears, delay_ns) || !agree(&trips) {
                Stands::Refuted(WhyOpen::NotAgain)
            } else {
                Stands::Proved
            },
        )
    };
    let stands = steps.next.or_else(holds).unwrap_or(Stands::Refuted(WhyOpen::Void));
    Some(Examined::new(fault, &by, stands))
}

/// How many times the time that was added a request takes longer, by each pair of delays. What a relay adds of itself is in both, and would be
/// counted by what a request takes without a delay.
fn added(steps: &Steps<'_, '_>, (once, twice): (Experiment, Experiment)) -> Vec<f64> {
    let times = |(once, twice): (&&Reading<'_>, &&Reading<'_>)| {
        Some((twice.service_s()? - once.service_s()?) / ((delay_ns(twice) - delay_ns(once)) as f64 / 1e9))
    };
    steps.all(once).iter().zip(&steps.all(twice)).filter_map(times).collect()
}

/// How many round trips that are, by what the same times added between client and server: there a request costs one, or as many more as
/// whoever opens a connection for each waits for.
fn counted(trips: &[f64], by_client: &[f64]) -> Option<(f64, Option<Interval>)> {
    let trips_mean = mean(trips)?;
    let Some(cost) = mean(by_client).filter(|cost| *cost >= 0.5).map(|cost| cost / cost.round()) else {
        return Some((trips_mean, None));
    };
    let interval = logarithms(trips).zip(logarithms(by_client)).and_then(|(trips, by_client)| {
        // Welch's, of the ratio of two that were measured in loads of their own.
        let ratio = unpaired(&trips, &by_client, CONFIDENCE)?.interval;
        let estimate = trips_mean / cost;
        let bound = |log: f64| estimate * (log - ratio.estimate).exp();
        Some(Interval { estimate, low: bound(ratio.low), high: bound(ratio.high) })
    });
    Some((trips_mean / cost, interval))
}

/// Whether a request without the delay takes what it took at first, but for what would be a small part of a round trip.
pub(super) fn is_as_before(nears_s: &[f64], delay_ns: u64) -> bool {
    let [first, .., last] = nears_s else { return false };
    are_equal(*first, *last, 2.0 * EQUAL) || (first - last).abs() <= EQUAL * delay_ns as f64 / 1e9
}

/// Whether the first and the last of these are the same.
fn agree(trips: &[f64]) -> bool {
    matches!(trips, [first, .., last] if are_equal(*first, *last, TRIPS_AGREE))
}

fn fault(
    case: &Case<'_>,
    steps: &Steps<'_, '_>,
    (first, trips): (&Reading<'_>, Option<(f64, Option<Interval>)>),
) -> Option<ServerFault> {
    let farther: Vec<&Reading<'_>> = steps.made.iter().copied().filter(|it| is_farther(it)).collect();
    let farther = if farther.is_empty() { vec![first] } else { farther };
    let slowest = farther.iter().max_by_key(|reading| delay_ns(reading))?;
    let (estimate, interval) = trips.map_or((round_trips(case, first), None), |(trips, it)| (Some(trips), it));
    let [near, _] = probes(case)?;
    let a_request = |count: fn(&model::BackendUse) -> u64| {
        let shares: Vec<f64> = farther.iter().filter_map(|it| it.asked_a_request(count)).collect();
        mean(&shares)
    };
    Some(ServerFault::RoundTrips {
        round_trips: Measured {
            estimate,
            low: interval.map(|it| it.low.max(0.0)),
            high: interval.map(|it| it.high),
            unit: Unit::None,
        },
        service_s: mean(&case.valid(near).filter_map(Reading::service_s).collect::<Vec<f64>>())?,
        slowed_s: slowest.service_s()?,
        delay_s: delay_ns(slowest) as f64 / 1e9,
        asked: a_request(|seen| seen.replies),
        opened: a_request(|seen| seen.opened),
    })
}

/// How many times a request asked what is behind the server, as the relay saw it.
fn asked(steps: &Steps<'_, '_>) -> Option<f64> {
    let farther = steps.made.iter().filter(|it| is_farther(it));
    mean(&farther.filter_map(|it| it.asked_a_request(|seen| seen.replies)).collect::<Vec<f64>>())
}

/// Whether what is behind the server was farther away.
fn is_farther(reading: &Reading<'_>) -> bool {
    matches!(reading.experiment(), Experiment::Upstream { delay_ns: 1.., .. })
}

/// What was added to each round trip, on whichever side of the server.
fn delay_ns(reading: &Reading<'_>) -> u64 {
    match reading.experiment() {
        Experiment::Upstream { delay_ns, .. } | Experiment::Delayed { network_delay_ns: delay_ns, .. } => delay_ns,
        _ => 0,
    }
}
