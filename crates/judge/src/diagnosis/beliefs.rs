//! How likely each suspect is, and which experiment tells most in its time.
//!
//! Each suspect is there or not, whatever else is, so that a server with two faults needs no hypothesis of its own. An experiment tells something
//! of several. What it is expected to tell is the expected fall of entropy (de Kleer & Williams, *Diagnosing multiple faults*, 1987),
//! which adds up over suspects that do not depend on each other; the one that tells most a second comes next.

use model::{Experiment, Suspect};

use super::case::Case;
use super::signs::{Sign, is_disturbed, sign};
use super::thresholds::{
    CROWDS, HEAVY_PER_S, HEAVY_SHARE, LEAST_GAIN_BITS, LIKELY, LONGEST_PROBES, LONGEST_WINDOW_S, PACED, PATIENT,
    SERVICE_TIMES, SETTLED, STEADY,
};
use super::upstream;

/// How often an experiment shows a suspect that is there, and one that is not.
struct Tells {
    suspect: Suspect,
    there: f64,
    not: f64,
}

const fn tells(suspect: Suspect, there: f64, not: f64) -> Tells {
    Tells { suspect, there, not }
}

/// What is believed before anything was tried: guesses, of which the order of the first experiments depends, and no finding.
fn before(suspect: Suspect) -> f64 {
    match suspect {
        Suspect::Limit => 0.15,
        Suspect::BlockedLoop => 0.2,
        Suspect::RoundTrips => 0.1,
        Suspect::HeldWorkers | Suspect::Stalls | Suspect::MemoryGrowth | Suspect::Failures => 0.05,
        Suspect::DelayedAck | Suspect::ClosedConnections | Suspect::ThreadGrowth | Suspect::FileGrowth => 0.03,
    }
}

/// What an experiment tells. A limit may lie beyond four fifths of the connections, hence the lower shares of small crowds.
fn told_by(case: &Case<'_>, experiment: Experiment) -> Vec<Tells> {
    use Suspect::{
        BlockedLoop, ClosedConnections, DelayedAck, Failures, FileGrowth, HeldWorkers, Limit, MemoryGrowth, RoundTrips,
        Stalls, ThreadGrowth,
    };
    match experiment {
        Experiment::Crowd { connections: 1 } => {
            vec![tells(DelayedAck, 0.95, 0.005), tells(ClosedConnections, 0.95, 0.002), tells(Failures, 0.6, 0.005)]
        }
        Experiment::Crowd { connections: 8 } => {
            vec![tells(Limit, 0.45, 0.01), tells(HeldWorkers, 0.3, 0.002), tells(Failures, 0.7, 0.005)]
        }
        Experiment::Crowd { connections: 64 } => {
            vec![tells(Limit, 0.75, 0.01), tells(HeldWorkers, 0.6, 0.002), tells(Failures, 0.7, 0.005)]
        }
        Experiment::Crowd { connections: 512 } => {
            vec![tells(Limit, 0.95, 0.01), tells(HeldWorkers, 0.95, 0.002), tells(Failures, 0.8, 0.005)]
        }
        Experiment::Patient => vec![tells(Failures, 0.9, 0.005)],
        Experiment::Steady { .. } => vec![tells(Stalls, 0.8, 0.002), tells(Failures, 0.7, 0.005)],
        Experiment::Dose { requests } if case.dose() != Some(requests) => {
            vec![tells(MemoryGrowth, 0.95, 0.05), tells(ThreadGrowth, 0.95, 0.01), tells(FileGrowth, 0.95, 0.005)]
        }
        Experiment::Paced { .. } => vec![
            tells(DelayedAck, 0.9, 0.005),
            tells(ClosedConnections, 0.95, 0.002),
            tells(Failures, 0.6, 0.005),
            tells(Stalls, 0.8, 0.002),
        ],
        Experiment::Beside { .. } => vec![tells(BlockedLoop, 0.95, 0.01)],
        Experiment::Upstream { delay_ns: 1.., .. } => vec![tells(RoundTrips, 0.95, 0.002)],
        _ => Vec::new(),
    }
}

/// How likely a suspect is, by all that was tried.
pub(super) fn probability(case: &Case<'_>, suspect: Suspect) -> f64 {
    screening(case).into_iter().fold(before(suspect), |p, experiment| {
        let told = told_by(case, experiment).into_iter().find(|tells| tells.suspect == suspect);
        match (told, shown(case, suspect, experiment)) {
            (Some(told), Some(Sign::Shows)) => updated(p, told.there, told.not),
            (Some(told), Some(Sign::Lacks)) => updated(p, 1.0 - told.there, 1.0 - told.not),
            _ => p,
        }
    })
}

/// What an experiment showed of a suspect when it first could tell; none where it never could.
fn shown(case: &Case<'_>, suspect: Suspect, experiment: Experiment) -> Option<Sign> {
    case.valid(experiment).map(|reading| sign(case, suspect, reading)).find(|sign| *sign != Sign::CannotTell)
}

/// Whether anything told something of a suspect, one way or the other.
pub(super) fn is_told(case: &Case<'_>, suspect: Suspect) -> bool {
    screening(case).into_iter().any(|experiment| {
        let tells = told_by(case, experiment).iter().any(|tells| tells.suspect == suspect);
        tells && shown(case, suspect, experiment).is_some()
    })
}

/// Bayes' rule.
fn updated(p: f64, there: f64, not: f64) -> f64 {
    p * there / (p * there + (1.0 - p) * not)
}

/// Every experiment that tells something, as far as it is known by now how it would be made.
pub(super) fn screening(case: &Case<'_>) -> Vec<Experiment> {
    let crowds = CROWDS.map(|connections| Experiment::Crowd { connections });
    let steady =
        case.steady_per_s().map(|rate_per_s| Experiment::Steady { rate_per_s, window_s: STEADY * case.window_s() });
    // Memory, threads and files of a server that was not launched are not seen.
    let dose = case
        .dose()
        .filter(|_| case.asked.running.is_none())
        .map(|requests| Experiment::Dose { requests: 4 * requests });
    let beside = heavy_per_s(case).map(|heavy_per_s| Experiment::Beside { heavy_per_s });
    let farther = upstream::probes(case).map(|[_, farther]| farther);
    let all = crowds.into_iter().chain(patient(case)).chain(steady).chain(dose).chain(beside).chain(farther);
    let all = all.chain(case.paced());
    all.filter(|experiment| case.allows(*experiment)).collect()
}

/// A longer look at a server that gave one connection no reply.
pub(super) fn patient(case: &Case<'_>) -> Option<Experiment> {
    let alone = case.first(Experiment::Crowd { connections: 1 })?;
    (alone.completed() == 0).then_some(Experiment::Patient)
}

/// The rate of heavy requests beside light ones: so few that one ends before the next comes.
pub(super) fn heavy_per_s(case: &Case<'_>) -> Option<f64> {
    let heavy_s = case.first(Experiment::Heavy)?.service_s()?;
    Some((HEAVY_SHARE / heavy_s).min(HEAVY_PER_S))
}

/// What must be made before an experiment can be, or says something.
fn before_it(case: &Case<'_>, experiment: Experiment) -> Vec<Experiment> {
    match experiment {
        Experiment::Crowd { connections: 1 } | Experiment::Paced { .. } => Vec::new(),
        Experiment::Beside { .. } => vec![Experiment::Probes],
        Experiment::Upstream { connections, .. } => vec![Experiment::Upstream { connections, delay_ns: 0 }],
        Experiment::Dose { .. } => case.dose().map(|requests| Experiment::Dose { requests }).into_iter().collect(),
        _ => vec![Experiment::Crowd { connections: 1 }],
    }
}

/// An experiment that may be next.
pub(super) struct Choice {
    /// What is made first for it: itself, or what it needs.
    pub(super) first: Experiment,
    /// What it tells something of, with how likely that is.
    pub(super) told: Vec<(Suspect, f64)>,
    bits: f64,
    cost_s: f64,
}

/// The one that tells most in its time; none where nothing would tell enough.
pub(super) fn most_telling(case: &Case<'_>) -> Option<Choice> {
    let choices = screening(case).into_iter().filter(|experiment| is_open(case, *experiment));
    let choices = choices.filter_map(|experiment| choice(case, experiment));
    let telling = choices.filter(|choice| choice.bits >= LEAST_GAIN_BITS);
    let best = telling.max_by(|a, b| (a.bits / a.cost_s).total_cmp(&(b.bits / b.cost_s)));
    best.or_else(|| heavy_alone(case))
}

/// Whether it was not made yet, or never while others left the CPU to the server.
fn is_open(case: &Case<'_>, experiment: Experiment) -> bool {
    case.valid(experiment).all(is_disturbed)
        && !case.in_vain_unless(experiment, |reading| reading.valid && !is_disturbed(reading))
}

/// What an experiment is expected to tell, and what it costs with all that it needs; none where something of that cannot be had.
fn choice(case: &Case<'_>, experiment: Experiment) -> Option<Choice> {
    let mut needed = before_it(case, experiment);
    if needed.iter().any(|it| case.in_vain(*it)) {
        return None;
    }
    needed.retain(|it| case.first(*it).is_none());
    let mut all = told_by(case, experiment);
    all.retain(|it| shown(case, it.suspect, experiment).is_none());
    let told: Vec<(Suspect, f64)> = all.iter().map(|it| (it.suspect, probability(case, it.suspect))).collect();
    Some(Choice {
        first: needed.first().copied().unwrap_or(experiment),
        bits: all.iter().zip(&told).map(|(tells, (_, p))| gain_bits(*p, tells)).sum(),
        cost_s: needed.iter().chain([&experiment]).map(|it| cost_s(case, *it)).sum(),
        told,
    })
}

/// Of what costs much nothing is known before it was seen by itself.
fn heavy_alone(case: &Case<'_>) -> Option<Choice> {
    let first = Experiment::Heavy;
    let is_wanted = case.asked.heavy.is_some() && is_open(case, first) && case.allows(first);
    let told = vec![(Suspect::BlockedLoop, probability(case, Suspect::BlockedLoop))];
    is_wanted.then(|| Choice { first, told, bits: 0.0, cost_s: cost_s(case, first) })
}

/// The expected fall of the entropy of a suspect.
fn gain_bits(p: f64, tells: &Tells) -> f64 {
    let shows = p * tells.there + (1.0 - p) * tells.not;
    let after = shows * entropy_bits(updated(p, tells.there, tells.not))
        + (1.0 - shows) * entropy_bits(updated(p, 1.0 - tells.there, 1.0 - tells.not));
    entropy_bits(p) - after
}

fn entropy_bits(p: f64) -> f64 {
    [p, 1.0 - p].into_iter().filter(|p| *p > 0.0).map(|p| -p * p.log2()).sum()
}

/// How long an experiment takes, in seconds.
pub(super) fn cost_s(case: &Case<'_>, experiment: Experiment) -> f64 {
    let base_s = (case.base.load.warm_up_ns + case.base.load.window_ns()) as f64 / 1e9;
    let service_s = case.service_s().unwrap_or(0.0);
    let load_s = match experiment {
        Experiment::Steady { window_s, .. } => window_s,
        Experiment::Paced { .. } => PACED * case.window_s(),
        Experiment::Patient => PATIENT * case.window_s(),
        Experiment::Probes | Experiment::Beside { .. } | Experiment::Decoys { .. } => LONGEST_PROBES * case.window_s(),
        Experiment::Dose { requests } => requests as f64 / case.dose().unwrap_or(requests) as f64 * case.window_s(),
        Experiment::Settled { .. } => base_s.max(SERVICE_TIMES * service_s) + SETTLED * case.window_s(),
        Experiment::Burst { .. } => 3.0 * service_s,
        _ => base_s.max((SERVICE_TIMES * service_s).min(LONGEST_WINDOW_S)),
    };
    load_s + case.launch_s()
}

/// Those that are likelier than not, the likeliest first.
pub(super) fn likely(case: &Case<'_>) -> Vec<(Suspect, f64)> {
    let mut all: Vec<(Suspect, f64)> =
        Suspect::ALL.iter().map(|suspect| (*suspect, probability(case, *suspect))).collect();
    all.retain(|(_, p)| *p >= LIKELY);
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}
