//! How much a server that was still getting faster may have had to gain.

use crate::statistics::Interval;
use crate::thresholds::WARM_BY_S;

/// By how much less a warm server may take than it did over a window that it was still getting faster in, as a factor; `gain` is
/// how much less it took in the second half of the window than in the first, after so much load before.
///
/// What warms up learns (compilers find what is hot, caches fill): each time that the load has lasted twice as long it gains
/// no more than it did the time before, so that what a request takes falls as a power of the time, at most, until
/// [`WARM_BY_S`]. The upper end of the gain counts.
pub(super) fn left_to_gain(gain: f64, before_s: f64, window_s: f64) -> f64 {
    let [first, middle, second] = [0.25, 0.5, 0.75].map(|share| before_s + share * window_s);
    let power = gain.max(1.0).ln() / (second / first).ln();
    // Whoever gained within the window was slower over all of it than at its end.
    (WARM_BY_S / middle).powf(power).max(gain)
}

/// The most that such gains over the launches of a cell leave to be gained; without a bound where they do not tell.
pub(super) fn most_left(gain: Option<Interval>, before_s: f64, window_s: f64) -> f64 {
    gain.map_or(f64::INFINITY, |gain| left_to_gain(gain.high, before_s, window_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_gained_little_has_little_to_gain_and_who_gained_much_may_gain_any() {
        let left = |gain: f64, before_s: f64, window_s: f64| left_to_gain(gain, before_s, window_s);
        assert!((1.5..1.8).contains(&left(1.1, 1.0, 3.0)), "{}", left(1.1, 1.0, 3.0));
        assert!(left(1.5, 0.5, 1.0) > 10.0, "a virtual machine in its first second: {}", left(1.5, 0.5, 1.0));
        assert!(left(1.1, 10.0, 3.0) > left(1.1, 1.0, 3.0), "the later, the steeper that gain is");
        assert_eq!(left(1.1, 120.0, 3.0), 1.1, "at least what the window itself shows");
        assert_eq!(most_left(None, 1.0, 3.0), f64::INFINITY);
    }
}
