//! Bounds that hold for every load, ours or published.

use model::{Breach, Residence};

use crate::thresholds::{IN_FLIGHT_ABSOLUTE_S, IN_FLIGHT_TOLERANCE, TIMER_EARLY_S};

/// Least mean of a latency whose quantile at `q` is `quantile`: the share 1 − q takes at least that long (Markov's
/// inequality). In a closed load this also bounds N ÷ X, which by Little's law is at least the mean.
pub(crate) fn least_mean(q: f64, quantile: f64) -> f64 {
    (1.0 - q) * quantile
}

/// Most completions in a window T where each of `slots` is taken for a delay S by each request: slots·(T ÷ (S − 1 ms)
/// + 1). Timers may fire 1 ms early, and one more request of each slot may have begun before the window.
pub(crate) fn most_completions(slots: f64, window_s: f64, delay_s: f64) -> f64 {
    slots * (window_s / (delay_s - TIMER_EARLY_S) + 1.0)
}

/// Where both sides of Little's identity differ by more than clocks do.
pub(crate) fn unequal(residence: &Residence) -> Option<Breach> {
    let Residence { in_flight_s, requests_s, .. } = *residence;
    let allowed = (IN_FLIGHT_TOLERANCE * in_flight_s.abs().max(requests_s.abs())).max(IN_FLIGHT_ABSOLUTE_S);
    ((in_flight_s - requests_s).abs() > allowed).then_some(Breach::InFlight { in_flight_s, requests_s })
}
