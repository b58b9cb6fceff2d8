use model::{Slice, TrialRecord};

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
