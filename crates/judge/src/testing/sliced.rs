use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use model::{LatencySummary, Slice, TrialRecord};

use super::summary;

/// Cuts a trial's load into so many slices, which share evenly what was measured, each after a lead-in of a tenth of it; the
/// target used no CPU between them.
pub(crate) fn cut(trial: &mut TrialRecord, rounds: u32) {
    let (measured, seen) = (trial.measurement.as_ref().unwrap(), trial.observation.as_ref());
    let window_s = measured.window_s / f64::from(rounds);
    let felt = measured.latency_us.felt();
    let part = |whole: u64, round: u32| {
        let until = |round: u32| whole * u64::from(round) / u64::from(rounds);
        until(round) - until(round - 1)
    };
    let slice = |round: u32| {
        let completed = part(measured.in_window.completed, round);
        Slice {
            round,
            position: 1,
            at_s: f64::from(round) * 3.0 * window_s,
            length_s: 1.1 * window_s,
            window_s,
            completed,
            ok: part(measured.in_window.ok, round),
            replies: completed + completed / 10,
            p50_us: felt.and_then(|felt| felt.p50),
            p99_us: felt.and_then(|felt| felt.p99),
            cpu_s: 1.1 * seen.map_or(0.0, |seen| seen.cpu_s()) / f64::from(rounds),
            idle_s: 1.9 * window_s,
            generator_run_delay_s: Some(0.0),
            ..Slice::default()
        }
    };
    trial.slices = (1..=rounds).map(slice).collect();
}

/// Gives a trial's slices these felt latencies by round, in µs, and the trial what they come to.
pub(crate) fn feel(trial: &mut TrialRecord, of_round: impl Fn(u32) -> Vec<f64>) {
    let mut whole = Histogram::<u64>::new(3).unwrap();
    for slice in &mut trial.slices {
        let mut felt = Histogram::<u64>::new(3).unwrap();
        of_round(slice.round).iter().for_each(|us| felt.record((us * 10.0) as u64).unwrap());
        whole.add(&felt).unwrap();
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&felt, &mut bytes).unwrap();
        let us = |q| (!felt.is_empty()).then(|| felt.value_at_quantile(q) as f64 / 10.0);
        (slice.p50_us, slice.p99_us, slice.felt) = (us(0.5), us(0.99), Some(STANDARD.encode(bytes)));
    }
    let us = |q| Some(whole.value_at_quantile(q) as f64 / 10.0);
    let felt = LatencySummary {
        mean: Some(whole.mean() / 10.0),
        p50: us(0.5),
        p90: us(0.9),
        p99: us(0.99),
        p999: us(0.999),
        ..summary(whole.mean() / 10.0, whole.len())
    };
    trial.measurement.as_mut().unwrap().latency_us.service = Some(felt);
}
