use std::cell::RefCell;
use std::collections::BTreeMap;

use model::{Code, Failing, Measurement, NS_PER_S, ObservedSecond, Plan, sum};

use crate::asked::Asked;
use crate::failing::{failing, hung_in_flight, wrong_replies};
use crate::hung::hung;
use crate::launch::Launch;
use crate::limit::nothing_completed;
use crate::put_off::{AtRest, PutOff};
use crate::statistics::{Interval, geometric_interval, mean};
use crate::thresholds::{CONFIDENCE, SLICE_DRAIN_S, SLICES_TOLD, THROUGHPUT_CHANGE};
use crate::{slices, steps};

/// What the launches of a cell say together that is in doubt of each of them.
#[derive(Debug, Clone)]
pub(crate) struct Joint {
    /// By how much they were still getting faster.
    pub(crate) gain: Option<Interval>,
    /// By how much less CPU their requests took towards the end, where that was seen.
    pub(crate) gain_of_cpu: Option<Interval>,
    /// How their requests fared.
    pub(crate) failing: Failing,
    /// Whether requests waited long in most slices, for which it was made again alone, where they seldom did.
    pub(crate) stalls_at_pauses: bool,
    /// What the target put off in slices until those of others: it may have been launched alone for that.
    pub(crate) in_slices: PutOff,
    /// What it did once it was not loaded any more.
    pub(crate) at_rest: AtRest,
    /// Intervals of the share of requests that failed, by the bits of their level: each launch has the same, and it takes long to find.
    pub(crate) shares: RefCell<BTreeMap<u64, Option<Interval>>>,
}

impl Joint {
    /// What the launches of a cell of the plan say: those that count, and everywhere, with those that were set aside or made again, and the
    /// twin's, too. Of what is compared the clients that are left waiting count.
    pub(crate) fn of(
        plan: &Plan,
        (cell, is_compared): (usize, bool),
        (launches, everywhere): (&[&Launch], &[&Launch]),
    ) -> Self {
        let asked = Asked::from(&plan.cells[cell]);
        let valid: Vec<&Launch> = launches.iter().copied().filter(|launch| launch.judgement.is_valid()).collect();
        let used = [&valid, launches, everywhere].into_iter().find(|all| !all.is_empty()).unwrap_or_default();
        Joint {
            gain: gain(&valid),
            gain_of_cpu: gain_of_cpu(&valid),
            failing: fared(&asked, (used, everywhere), plan.allow_failures, is_compared),
            stalls_at_pauses: stalls_at_pauses(&valid, everywhere),
            in_slices: PutOff::in_slices(everywhere),
            at_rest: AtRest::of(
                everywhere,
                used.iter().any(|launch| launch.record.slices.is_empty()),
                asked_rest_s(plan),
            ),
            shares: RefCell::default(),
        }
    }
}

/// For how long the targets of a plan were to be watched after a load, in seconds.
fn asked_rest_s(plan: &Plan) -> f64 {
    plan.comparison.as_ref().map_or(0.0, |asked| asked.rest_ns as f64 / NS_PER_S as f64)
}

/// Whether in most slices requests waited longer for their replies than a slice waits for them, and in the windows of launches alone,
/// which never pause, the p99 did so in fewer than half of the seconds: then it does something when the load pauses, which may be what
/// it put off. A server that stalls so often of its own accord does so alone, too, and who never answers some clients leaves no more of
/// them at the end of a slice. Slices in which others had the CPUs say nothing of it.
fn stalls_at_pauses(valid: &[&Launch], everywhere: &[&Launch]) -> bool {
    let count = |(slow, all): (u32, u32), is_slow: bool| (slow + u32::from(is_slow), all + 1);
    let quiet = everywhere.iter().flat_map(|launch| slices::quiet(launch.measured(), launch.record));
    let alone = || valid.iter().filter(|launch| launch.rounds.is_none()).filter_map(|launch| launch.measured());
    let never_answered = alone().filter_map(hung).map(|it| it.requests).max().unwrap_or(0);
    let (slow, all) = quiet.map(|slice| slice.not_drained > never_answered).fold((0, 0), count);
    let seconds = alone().flat_map(|load| load.steps.iter().filter(|step| step.at_s >= 0.0));
    let is_slow = |second: &model::Interval| second.p99_us.is_none_or(|us| us > SLICE_DRAIN_S * 1e6);
    let (slow_alone, all_alone) = seconds.map(is_slow).fold((0, 0), count);
    2 * slow > all && all >= SLICES_TOLD && 2 * slow_alone < all_alone
}

/// By how much the servers were slower in the first half of their windows than in the second, where that is more than
/// chance and a small change: by the mean service times of either half, over the launches. Service times, for the number of
/// replies also depends on where bursts of them fall.
fn gain(valid: &[&Launch]) -> Option<Interval> {
    let gain = |measured: &Measurement| {
        let [first, second] = measured.in_window.halves;
        Some(first.mean_service_us()? / second.mean_service_us()?)
    };
    let gains = valid.iter().map(|launch| gain(launch.measured()?));
    of_most(gains).filter(|gain| gain.low > 1.0 + THROUGHPUT_CHANGE)
}

/// The mean of what launches say, where at least half of them say something: one without a reply in half of its window must
/// not keep the others from it.
fn of_most(said: impl ExactSizeIterator<Item = Option<f64>>) -> Option<Interval> {
    let launches = said.len();
    let said: Vec<f64> = said.flatten().collect();
    geometric_interval(&said, CONFIDENCE).filter(|_| said.len() * 2 >= launches)
}

/// By how much less CPU a reply took in the second half of the windows than in the first.
fn gain_of_cpu(valid: &[&Launch]) -> Option<Interval> {
    let gain = |launch: &&Launch| {
        let (measured, seen) = (launch.measured()?, launch.record.observation.as_ref()?);
        let cost = |(second, seen): (model::Interval, ObservedSecond)| seen.cpu_s / second.completed.max(1) as f64;
        let costs: Vec<f64> = steps::with_seen(measured, &seen.seconds).into_iter().map(cost).collect();
        let half = costs.len() / 2;
        let (first, second) = (mean(&costs[..half])?, mean(&costs[costs.len() - half..])?);
        (first > 0.0 && second > 0.0).then(|| first / second)
    };
    of_most(valid.iter().map(gain))
}

/// How the requests fared, over the valid launches; over all of them when none is valid, and over those of blocks that were set aside
/// when there is no other, so that a cell whose replies were all wrong does not show 0. What one launch is enough for counts wherever it was seen, in those of the twin, of blocks
/// that were set aside, and in those made in slices that were made again alone, too: the launches that a server survived must not
/// speak for it. Wrong content and a server that died void their launch.
fn fared(
    asked: &Asked<'_>,
    (launches, everywhere): (&[&Launch], &[&Launch]),
    allowed: f64,
    is_compared: bool,
) -> Failing {
    let any_valid = launches.iter().any(|launch| launch.judgement.is_valid());
    let of = |all: &[&Launch], is_told_by: fn(&Launch) -> bool| {
        let used = all.iter().filter(|launch| launch.judgement.is_valid() || !any_valid || is_told_by(launch));
        failing(asked, used.filter_map(|launch| Some((launch.measured()?, &launch.record.slices[..]))), allowed)
    };
    let wrong_content = sum(everywhere.iter().filter_map(|launch| launch.measured()).map(wrong_replies));
    let died = everywhere.iter().filter(|launch| launch.record.died().is_some()).count() as u64;
    let Failing { failed_share, hung_share, .. } = of(launches, |_| false);
    let clients = || hung_in_flight(asked, launches.iter().filter_map(|launch| launch.measured()));
    let hung_clients_share = if is_compared { clients() } else { 0.0 };
    let of_requests = Failing { failed_share, hung_share, hung_clients_share, ..of(everywhere, tells_in_slices) };
    let seen = Failing { wrong_content, died, ..of_requests };
    Failing { bad: seen.is_of_replies() || died > 0, ..seen }
}

/// Whether a launch is void only for its load cannot be cut into slices, and its slices show all the same how the server fared: who
/// does not answer within one may have been about to, unless it refused.
fn tells_in_slices(launch: &Launch) -> bool {
    let is_unsliced = launch.judgement.void.as_ref().is_some_and(|why| matches!(why.code(), Code::Unsliced(_)));
    let is_seen = |load: &Measurement| !nothing_completed(load) || load.accounting.failures() > 0;
    is_unsliced && launch.measured().is_some_and(is_seen)
}
