//! Launches of which a share of the requests fails, judged as a claim about that share.

use model::{Failure, TrialRecord};

use crate::testing::{Session, normal, without_course};

/// The share that fails on average over all launches that there could be.
pub(super) const SHARE: f64 = 0.005;
/// Requests of a launch.
const REQUESTS: u64 = 10_000;

/// Where the interval of a claim about errors lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interval {
    Holds,
    Below,
    Above,
}

/// What is seen of so many launches whose shares scatter by `scatter` (standard deviation of the logarithm) about the truth.
pub(super) fn interval(blocks: u32, scatter: f64, seed: u64) -> Interval {
    let session = Session::new().cell("a", REQUESTS as f64 / 10.0).noise(0.0).blocks(blocks).planned(blocks, blocks);
    let session = session.claim("errors(a) < 0.5");
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut records = session.records();
    for trial in &mut records {
        let share = SHARE * (scatter * normal(&mut rng) - scatter * scatter / 2.0).exp();
        fail(trial, failing(REQUESTS, share.min(1.0), &mut rng));
    }
    let measured = session.analyse_these(&records).claims.remove(0).measured;
    let (low, high) = measured.low.zip(measured.high).expect("six launches and more have an interval");
    match SHARE {
        share if share > high => Interval::Below,
        share if share < low => Interval::Above,
        _ => Interval::Holds,
    }
}

/// How many of so many fail, each by itself: one goes from one to the next, by distances that are geometric.
fn failing(requests: u64, share: f64, rng: &mut fastrand::Rng) -> u64 {
    let mut next = || 1.0 + ((1.0 - rng.f64()).ln() / (-share).ln_1p()).floor();
    let (mut at, mut failing) = (next(), 0);
    while at <= requests as f64 {
        (at, failing) = (at + next(), failing + 1);
    }
    failing
}

/// Makes so many requests of a trial ones whose connection was closed.
fn fail(trial: &mut TrialRecord, failed: u64) {
    without_course(trial);
    let measured = trial.measurement.as_mut().expect("it was measured");
    measured.accounting.ok -= failed;
    measured.accounting.completed -= failed;
    measured.accounting.failed.insert(Failure::ClosedBeforeReply, failed);
    measured.in_window.completed -= failed;
    measured.in_window.ok -= failed;
}
