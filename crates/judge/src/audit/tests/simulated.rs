//! Closed loads that took place, with their figures rounded as tools round them: as they are nobody is accused, and
//! with the rate of another load somebody is.

use fastrand::Rng;
use model::{AuditModel, AuditOutcome, AuditSource, Printed, Published};

use super::super::audit;

/// Loads that are simulated, one for each seed from 0.
const SEEDS: u64 = 200;

/// The latencies of replies inside a window of a closed load, in microseconds, ascending.
///
/// Each of the slots sends when its last reply came. Latencies have a tail as heavy as `tail` asks for.
fn closed_load(rng: &mut Rng, slots: u64, window_us: f64, tail: f64) -> Vec<f64> {
    let mut latencies = Vec::new();
    for _ in 0..slots {
        let mut now_us = 0.0;
        loop {
            let latency_us = 2_000.0 * (1.0 - rng.f64()).powf(-tail);
            now_us += latency_us;
            if now_us > window_us {
                break;
            }
            latencies.push(latency_us);
        }
    }
    latencies.sort_by(f64::total_cmp);
    latencies
}

/// Rounded to so many digits behind the point, as the interval that this leaves possible.
fn rounded(value: f64, digits: i32) -> Option<Printed> {
    let step = 10_f64.powi(-digits);
    let printed = (value / step).round() * step;
    Some(Printed { printed, low: (printed - step / 2.0).max(0.0), high: printed + step / 2.0 })
}

/// None where nothing came back inside the window.
fn published(rng: &mut Rng, seed: u64) -> Option<Published> {
    let slots = rng.u64(1..200);
    let window_s = [0.05, 0.3, 1.0][rng.usize(0..3)];
    let tail = [0.0, 0.1, 0.4, 0.9][rng.usize(0..4)];
    let latencies = closed_load(rng, slots, window_s * 1e6, tail);
    let (fastest, slowest) = (*latencies.first()?, *latencies.last()?);
    let n = latencies.len() as f64;
    let mean = latencies.iter().sum::<f64>() / n;
    let variance = latencies.iter().map(|us| (us - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let digits = rng.i32(-3..3);
    let mut row = Published::new(AuditSource::Csv, AuditModel::Closed);
    row.name = format!("seed {seed}: {slots} slots, {window_s} s, tail {tail}, {digits} digits");
    (row.connections, row.pipeline) = (Some(slots), Some(1));
    (row.requests, row.duration_s) = (Some(latencies.len() as u64), rounded(window_s, 2));
    row.rate_per_s = rounded(n / window_s, 2);
    let latency = &mut row.latency_us;
    latency.mean = rounded(mean, digits);
    latency.stdev = rounded(variance.sqrt(), digits);
    (latency.min, latency.max) = (rounded(fastest, digits), rounded(slowest, digits));
    // Tools differ by one sample in what they call a quantile.
    let above = rng.usize(0..2);
    let at = |q: f64| (((q * n).ceil() as usize).saturating_sub(1) + above).min(latencies.len() - 1);
    let quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
    latency.quantiles = quantiles.iter().filter_map(|q| Some((*q, rounded(latencies[at(*q)], digits)?))).collect();
    Some(row)
}

#[test]
fn loads_that_took_place_are_not_accused() {
    for seed in 0..SEEDS {
        let Some(row) = published(&mut Rng::with_seed(seed), seed) else { continue };
        let audit = audit(vec![row]);
        let row = &audit.rows[0];
        let breaches: Vec<_> = row.that(AuditOutcome::Breach).collect();
        assert!(breaches.is_empty(), "{}: {breaches:#?}", row.published.name);
    }
}

/// Rate and latency of two loads: at three times the rate, or at a third of it, the figures cannot be true together.
#[test]
fn rates_of_another_load_are_found() {
    let (mut tried, mut found) = (0, 0);
    for seed in 0..SEEDS {
        let Some(row) = published(&mut Rng::with_seed(seed), seed) else { continue };
        // Where one request is as long as the window, its edges excuse everything; where all digits are rounded
        // away, rounding does.
        let (mean, max) = (row.latency_us.mean.unwrap(), row.latency_us.max.unwrap());
        if max.high > 1e5 * row.duration_s.unwrap().low || mean.low < 0.9 * mean.high {
            continue;
        }
        for factor in [1.0 / 3.0, 3.0] {
            let mut mixed = row.clone();
            (mixed.rate_per_s, mixed.requests) = (row.rate_per_s.map(|rate| rate.scaled(factor)), None);
            tried += 1;
            found += u32::from(audit(vec![mixed]).is_contradictory());
        }
    }
    assert!(tried > 50, "{tried}");
    assert_eq!(found, tried);
}
