//! A limited number of requests at once: a lock, a pool of workers, a pool of connections to something behind the server.
//!
//! Below the limit throughput follows the connections; at twice and four times the limit it does not; and it stays where it is when the
//! network keeps each request away from the server for as long as it takes, which would halve it if the connections were the limit, or if
//! idle ones held what works.

use model::{Experiment, Measured, ServerFault, Suspect, Unit, Unproved, WhyOpen};

use super::case::Case;
use super::proof::{Examined, Stands, Steps, are_equal};
use super::reading::Reading;
use super::signs::{Sign, at_once, is_full, sign};
use super::thresholds::{BURST_SERVICE_S, BURSTS_AGREE, EQUAL, EXCEEDS, FITS, MOST_BURSTS, MOST_CONNECTIONS};
use crate::statistics::{mean, t_interval};

/// The loads of a proof.
struct Arms {
    half: Experiment,
    twice: Experiment,
    four: Experiment,
    delayed: Experiment,
    settled: Experiment,
    /// Connections at twice the limit.
    connections: u32,
}

pub(super) fn examine(case: &Case<'_>) -> Option<Examined> {
    let shows = |reading: &&Reading<'_>| is_crowd(reading) && sign(case, Suspect::Limit, reading) == Sign::Shows;
    let first = case.counting().find(shows)?;
    let Some((service_s, at_once_first)) = case.work_s().zip(at_once(case, first)) else {
        return Some(Examined::new(
            fault(case, (case.crowd(1), &[first]), None, None)?,
            &[first],
            Stands::Wants(case.crowd(1)),
        ));
    };
    let limit = at_once_first.round().max(1.0) as u32;
    let arms = arms(case, limit, service_s);
    let order = [arms.half, arms.twice, arms.four, arms.delayed, arms.twice, arms.half, arms.settled];
    let steps = Steps::undisturbed(case, &order);
    if let Some(next) = steps.next {
        let by: Vec<&Reading<'_>> = std::iter::once(first).chain(steps.made).collect();
        return Some(Examined::new(fault(case, (arms.half, &[first]), None, None)?, &by, next));
    }
    let proved = match &case.asked.running {
        Some(_) => Stands::Unproved(Unproved::CpuUnseen),
        None => Stands::Proved,
    };
    let stands = holds(case, &arms, &steps, limit).map_or(proved, Stands::Refuted);
    let beyond: Vec<&Reading<'_>> = steps.made.iter().copied().filter(|it| it.experiment() != arms.half).collect();
    let (paths, bursts) = (paths(case, &arms), Bursts::of(case, at_once(case, beyond[0])?, service_s));
    let fault = fault(case, (arms.half, &beyond), bursts.exactly(), paths.together)?;
    let by: Vec<&Reading<'_>> = steps.made.iter().chain(&paths.by).chain(&bursts.by).copied().collect();
    let more = (!matches!(stands, Stands::Refuted(_))).then(|| paths.next.or(bursts.next())).flatten();
    Some(Examined { more, ..Examined::new(fault, &by, stands) })
}

fn is_crowd(reading: &Reading<'_>) -> bool {
    matches!(reading.experiment(), Experiment::Crowd { connections } if connections > 1)
}

fn arms(case: &Case<'_>, limit: u32, service_s: f64) -> Arms {
    let twice = (2 * limit).min(MOST_CONNECTIONS / 2);
    let four = (4 * limit).min(MOST_CONNECTIONS);
    let crowd = |connections| case.crowd(connections);
    Arms {
        half: crowd((limit / 2).max(1)),
        twice: crowd(twice),
        four: crowd(four),
        delayed: Experiment::Delayed { connections: four, network_delay_ns: (service_s * 1e6) as u64 * 1_000 },
        settled: Experiment::Settled { connections: four },
        connections: twice,
    }
}

/// What of the proof does not hold.
fn holds(case: &Case<'_>, arms: &Arms, steps: &Steps<'_, '_>, limit: u32) -> Option<WhyOpen> {
    let rates = |experiment| steps.all(experiment).into_iter().map(Reading::per_s).collect::<Vec<f64>>();
    let (half, twice) = (rates(arms.half), rates(arms.twice));
    let (four, delayed) = (mean(&rates(arms.four))?, mean(&rates(arms.delayed))?);
    let below = steps
        .all(arms.half)
        .iter()
        .filter_map(|it| at_once(case, it))
        .all(|at_once| are_equal(at_once, f64::from((limit / 2).max(1)), 2.0 * EQUAL));
    let again = [&half, &twice].into_iter().all(|rates| are_equal(rates[0], rates[rates.len() - 1], EQUAL));
    let plateau = mean(&twice).is_some_and(|twice| are_equal(four, twice, EQUAL));
    if steps.made.iter().any(|reading| is_full(case, reading)) {
        Some(WhyOpen::Busy)
    } else if !plateau || !below {
        Some(WhyOpen::NotByDose)
    } else if !are_equal(delayed, four, 2.0 * EQUAL) {
        Some(WhyOpen::NotByControl)
    } else if !mean(&rates(arms.settled)).is_some_and(|settled| are_equal(settled, four, EQUAL)) {
        Some(WhyOpen::Cold)
    } else {
        (!again).then_some(WhyOpen::NotAgain)
    }
}

/// The limit by loads beyond it: what they are served times what a request takes.
fn fault(
    case: &Case<'_>,
    (half, beyond): (Experiment, &[&Reading<'_>]),
    exactly: Option<u32>,
    paths_together: Option<f64>,
) -> Option<ServerFault> {
    let rates: Vec<f64> = beyond.iter().map(|reading| reading.per_s()).collect();
    let at_once = product(&rates, &services_s(case, half));
    let longest = beyond.iter().max_by_key(|reading| reading.cell.load.connections)?;
    Some(ServerFault::Limit {
        at_once: Measured {
            estimate: at_once.map(|(estimate, _)| estimate),
            low: at_once.and_then(|(estimate, off)| Some((estimate * (1.0 - off?)).max(0.0))),
            high: at_once.and_then(|(estimate, off)| Some(estimate * (1.0 + off?))),
            unit: Unit::RequestsAtOnce,
        },
        exactly,
        service_s: case.work_s().or_else(|| case.service_s())?,
        most_per_s: mean(&rates)?,
        waits_s: f64::from(longest.cell.load.connections) / longest.per_s(),
        connections: longest.cell.load.connections,
        paths_together,
    })
}

/// What a request takes where none waits for another, in seconds: alone, and in each of the loads at half of the limit. None where that is not
/// known yet.
fn services_s(case: &Case<'_>, half: Experiment) -> Vec<f64> {
    let of_half = case.valid(half).filter_map(Reading::service_s);
    // At half of a limit of one the load is the same.
    let alone = case.work_s().filter(|_| half != case.crowd(1));
    match case.work_s() {
        None => Vec::new(),
        Some(_) => alone.into_iter().chain(of_half).collect(),
    }
}

/// The product of two means, and by which share it may be off: the relative half widths of both added as squares, for they are measured in
/// different loads. Of what was measured once nobody knows how far it is off, and it adds nothing.
fn product(some: &[f64], others: &[f64]) -> Option<(f64, Option<f64>)> {
    let off = |values: &[f64]| t_interval(values).map(|it| (it.high - it.estimate) / it.estimate);
    let offs: Vec<f64> = [some, others].into_iter().filter_map(off).collect();
    let together = offs.iter().map(|off| off * off).sum::<f64>().sqrt();
    Some((mean(some)? * mean(others)?, (!offs.is_empty()).then_some(together)))
}

/// What two paths serve together.
#[derive(Default)]
struct Paths<'c, 'a> {
    together: Option<f64>,
    by: Vec<&'c Reading<'a>>,
    next: Option<Experiment>,
}

fn paths<'c, 'a>(case: &'c Case<'a>, arms: &Arms) -> Paths<'c, 'a> {
    if case.asked.other.is_none() {
        return Paths::default();
    }
    let connections = arms.connections;
    let (other, both) = (Experiment::Other { connections }, Experiment::Both { connections });
    let steps = Steps::undisturbed(case, &[other, both, both, other]);
    let next = match steps.next {
        Some(Stands::Wants(experiment)) => Some(experiment),
        _ => None,
    };
    let rate = |all: Vec<&Reading<'_>>| mean(&all.into_iter().map(Reading::per_s).collect::<Vec<f64>>());
    let together = || Some(rate(steps.all(both))? / rate(case.valid(arms.twice).collect())?);
    let together = if steps.next.is_none() { together() } else { None };
    Paths { together, by: steps.made, next }
}

/// Bursts of different sizes: one that is not larger than the limit takes as long as one request, and a larger one twice as long.
struct Bursts<'c, 'a> {
    /// The largest that took as long as one, and the smallest that did not.
    fits: u32,
    exceeds: Option<u32>,
    guess: u32,
    possible: bool,
    /// Whether each took as long as one request, or as two.
    is_plain: bool,
    by: Vec<&'c Reading<'a>>,
}

impl<'c, 'a> Bursts<'c, 'a> {
    fn of(case: &'c Case<'a>, at_once: f64, service_s: f64) -> Self {
        let is_burst = |reading: &&Reading<'_>| matches!(reading.experiment(), Experiment::Burst { .. });
        let by: Vec<&Reading<'_>> = case.counting().filter(is_burst).collect();
        let (mut fits, mut exceeds, mut is_plain) = (0, None::<u32>, true);
        for reading in &by {
            let Experiment::Burst { requests } = reading.experiment() else { continue };
            match reading.window_s() / service_s {
                times if times <= FITS => fits = fits.max(requests),
                times if times >= EXCEEDS => exceeds = Some(exceeds.map_or(requests, |least| least.min(requests))),
                // A time between one request and two is none of a server that works on so many at once.
                _ => is_plain = false,
            }
        }
        let guess = at_once.round().max(1.0) as u32;
        let made = case.readings.iter().filter(is_burst).count();
        let possible = is_plain && service_s >= BURST_SERVICE_S && made < MOST_BURSTS;
        Bursts { fits, exceeds, guess, possible, is_plain, by }
    }

    fn exactly(&self) -> Option<u32> {
        let agrees = are_equal(f64::from(self.fits), f64::from(self.guess), BURSTS_AGREE);
        (self.is_plain && agrees && self.exceeds == Some(self.fits + 1)).then_some(self.fits)
    }

    fn next(&self) -> Option<Experiment> {
        if !self.possible || self.exactly().is_some() {
            return None;
        }
        let requests = match (self.fits, self.exceeds) {
            (0, None) => self.guess,
            (fits, None) => fits + (fits - self.guess.min(fits)).max(1),
            (0, Some(1)) => return None,
            (0, Some(exceeds)) => exceeds - (self.guess.max(exceeds) - exceeds).clamp(1, exceeds - 1),
            (fits, Some(exceeds)) if exceeds > fits => fits + (exceeds - fits) / 2,
            // A larger one fitted where a smaller one did not: the server does not work so.
            _ => return None,
        };
        Some(Experiment::Burst { requests })
    }
}
