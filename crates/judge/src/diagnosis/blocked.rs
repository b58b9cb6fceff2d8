//! A loop that computes for one request while all others wait.
//!
//! A light request that comes at any time waits for what is left of a heavy one, which lies anywhere between nothing and all of it. Of k
//! that waited the slowest one waited for at least the share 0.05^(1/k) of it, with 95 %.

use model::{Experiment, Measured, ServerFault, Suspect, Unit, WhyOpen};

use super::beliefs::heavy_per_s;
use super::case::Case;
use super::proof::{Examined, Stands, Steps};
use super::reading::Reading;
use super::signs::{Sign, computes, sign};
use super::thresholds::{PROBES_PER_S, SLOW_ALONE, WAITS_FOR_ALL};
use crate::statistics::mean;

/// How many times as much light requests wait for twice as many heavy ones: two, and more where these wait for each other.
const TWICE: std::ops::RangeInclusive<f64> = 1.3..=3.5;

pub(super) fn examine(case: &Case<'_>) -> Option<Examined> {
    let heavy_per_s = heavy_per_s(case)?;
    let (one, two) = (Experiment::Beside { heavy_per_s }, Experiment::Beside { heavy_per_s: 2.0 * heavy_per_s });
    let decoys = Experiment::Decoys { light_per_s: heavy_per_s };
    let first = case.first(one).filter(|reading| sign(case, Suspect::BlockedLoop, reading) == Sign::Shows)?;
    let heavy_s = case.first(Experiment::Heavy)?.service_s()?;
    let steps = Steps::of(case, &[Experiment::Probes, one, decoys, two, one, Experiment::Probes]);
    let slowest = |readings: &[&Reading<'_>]| readings.iter().filter_map(|it| it.slowest_s()).reduce(f64::max);
    let beside_s = slowest(&case.valid(one).collect::<Vec<_>>())?;
    let felt = |all: &[&Reading<'_>]| mean(&all.iter().filter_map(|it| it.felt_s()).collect::<Vec<f64>>());
    let alone = felt(&case.valid(Experiment::Probes).collect::<Vec<_>>());
    let more = felt(&case.valid(one).collect::<Vec<_>>()).zip(alone).map(|(beside, alone)| beside - alone);
    // One that comes at any time waits for half of a heavy one on average, if it waits.
    let share = more.map(|more_s| more_s / (heavy_per_s * heavy_s * heavy_s / 2.0));
    let came: f64 = case.valid(one).map(|it| PROBES_PER_S * it.window_s() * heavy_per_s * heavy_s).sum();
    let waited = came * share.unwrap_or(1.0).clamp(0.0, 1.0);
    let fault = ServerFault::BlockedLoop {
        blocked: Measured {
            estimate: Some(beside_s * 1e6),
            low: Some(beside_s.min(heavy_s) * 1e6),
            high: Some(beside_s * 0.05_f64.powf(-1.0 / waited.max(1.0)) * 1e6),
            unit: Unit::Us,
        },
        alone_s: slowest(&case.valid(Experiment::Probes).collect::<Vec<_>>())?,
        beside_s,
        share,
        computes: computes(case),
    };
    let by: Vec<&Reading<'_>> =
        case.first(Experiment::Heavy).into_iter().chain([first]).chain(steps.made.iter().copied()).collect();
    let stands = steps.next.unwrap_or_else(|| {
        let is_calm = |experiment| slowest(&steps.all(experiment)).is_some_and(|s| s < SLOW_ALONE * heavy_s);
        let waits = |experiment| {
            steps.all(experiment).iter().filter_map(|it| it.slowest_s()).all(|s| s >= WAITS_FOR_ALL * heavy_s)
        };
        let alone = felt(&steps.all(Experiment::Probes)).unwrap_or(0.0);
        let felt = |experiment| felt(&steps.all(experiment)).map(|felt_s| felt_s - alone);
        let twice = felt(two).zip(felt(one)).map(|(two, one)| two / one);
        if !waits(one) || !waits(two) || !twice.is_some_and(|times| TWICE.contains(&times)) {
            Stands::Refuted(WhyOpen::NotByDose)
        } else if !is_calm(decoys) {
            Stands::Refuted(WhyOpen::NotByControl)
        } else if !is_calm(Experiment::Probes) {
            Stands::Refuted(WhyOpen::NotAgain)
        } else {
            Stands::Proved
        }
    });
    Some(Examined::new(fault, &by, stands))
}
