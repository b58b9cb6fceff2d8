//! What a calibration means: at which rates the instrument can be trusted, and which rate to try next.

use model::{Calibration, Ceiling, Distrust, GeneratorLimits, RateStep, Reason};

use crate::figures::percent;
use crate::thresholds::{LOWEST_RATE_PER_S, MOST_RATE_PER_S, RATE_LATE, RATE_RESOLUTION, RATE_SENT};

/// Attempts at a rate that must agree: two of at most three, so that one disturbance decides nothing.
const AGREEING: usize = 2;

/// The open rate to try next, after those that were tried; none once the highest that can be trusted is known.
///
/// Rates double until one fails; then the gap is halved on the log scale until it is smaller than the resolution.
pub fn next_rate(done: &[RateStep]) -> Option<f64> {
    let tried = Tried::from(done);
    if tried.undecided.is_some() {
        return tried.undecided;
    }
    match (tried.trusted, tried.failed) {
        (None, None) => Some(LOWEST_RATE_PER_S),
        (None, Some(_)) => None,
        (Some(trusted), None) => Some(trusted * 2.0).filter(|rate| *rate <= MOST_RATE_PER_S),
        (Some(trusted), Some(failed)) => {
            (failed / trusted > RATE_RESOLUTION).then(|| three_digits((trusted * failed).sqrt()))
        }
    }
}

/// Says what follows from a calibration's figures.
pub fn judge_calibration(calibration: Calibration) -> Calibration {
    let tried = Tried::from(&calibration.rates);
    let failing = calibration.rates.iter().filter(|step| Some(step.rate_per_s) == tried.failed);
    let ceiling = |wanted: fn(&Ceiling) -> bool| {
        calibration.ceilings.iter().filter(|it| wanted(it)).map(Ceiling::per_thread_per_s).fold(0.0, f64::max)
    };
    let limits = tried.trusted.map(|open_rate_per_s| GeneratorLimits {
        ceiling_per_s: ceiling(|it| it.pipeline == 1),
        pipelined_ceiling_per_s: ceiling(|it| it.pipeline > 1),
        open_rate_per_s,
    });
    let beyond = failing.filter_map(distrust).next_back();
    Calibration { limits, beyond, ..calibration }
}

/// Why an open load of this rate is not only the server's; none when it is.
pub fn distrust(step: &RateStep) -> Option<Reason> {
    let share = |count: u64| count as f64 / step.scheduled.max(1) as f64;
    let (sent, late) = (share(step.sent), share(step.late_generator));
    let waited = share(step.late_no_connection);
    // A busy thread is not a reason: what a request costs falls as the rate rises, for one wake-up then serves several.
    if late > RATE_LATE {
        Some(Reason::new(
            Distrust::GeneratorLate,
            format!("the generator sent {} of the requests over 1 ms late", percent(late)),
        ))
    } else if late + waited > RATE_LATE {
        let text =
            format!("the null responder was so slow that {} of the requests waited for a connection", percent(waited));
        Some(Reason::new(Distrust::Responder, text))
    } else if sent < RATE_SENT {
        let answer = "the null responder did not answer more".to_owned();
        Some(Reason::new(Distrust::Responder, format!("only {} of the requests were sent: {answer}", percent(sent))))
    } else {
        None
    }
}

/// Where the search stands.
#[derive(Debug, Default, PartialEq)]
struct Tried {
    /// Highest rate below every failed one on which two attempts agreed that it can be trusted.
    trusted: Option<f64>,
    /// Lowest rate on which two attempts agreed that it cannot.
    failed: Option<f64>,
    /// A rate that was tried and needs another attempt.
    undecided: Option<f64>,
}

impl From<&[RateStep]> for Tried {
    fn from(done: &[RateStep]) -> Self {
        let mut rates: Vec<f64> = done.iter().map(|step| step.rate_per_s).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        let mut tried = Tried::default();
        for rate in rates {
            let attempts = done.iter().filter(|step| step.rate_per_s == rate);
            let (bad, good) = attempts.fold((0, 0), |(bad, good), step| match distrust(step) {
                Some(_) => (bad + 1, good),
                None => (bad, good + 1),
            });
            if bad >= AGREEING {
                tried.failed = Some(rate);
                break;
            } else if good >= AGREEING {
                tried.trusted = Some(rate);
            } else {
                tried.undecided = Some(rate);
            }
        }
        tried
    }
}

impl From<&Vec<RateStep>> for Tried {
    fn from(done: &Vec<RateStep>) -> Self {
        Tried::from(done.as_slice())
    }
}

fn three_digits(rate: f64) -> f64 {
    let unit = 10f64.powi(rate.log10().floor() as i32 - 2);
    (rate / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator that can be trusted up to `limit` requests a second.
    fn step(rate_per_s: f64, limit: f64) -> RateStep {
        let count = rate_per_s as u64;
        let late_generator = if rate_per_s < limit { 0 } else { count / 10 };
        RateStep { rate_per_s, scheduled: count, sent: count, late_generator, ..RateStep::default() }
    }

    fn search(limit: f64) -> Vec<RateStep> {
        let mut done = Vec::new();
        while let Some(rate) = next_rate(&done) {
            assert!(done.len() < 100, "the search ends");
            done.push(step(rate, limit));
        }
        done
    }

    fn trusted(done: Vec<RateStep>) -> Option<f64> {
        let judged = judge_calibration(Calibration { rates: done, ..Calibration::default() });
        judged.limits.map(|limits| limits.open_rate_per_s)
    }

    #[test]
    fn the_search_comes_within_its_resolution_of_the_truth_from_below() {
        for limit in [1_500.0, 7_777.0, 63_000.0, 64_100.0, 400_000.0] {
            let found = trusted(search(limit)).unwrap();
            assert!(found < limit && found * RATE_RESOLUTION * 1.01 >= limit, "{found} of {limit}");
        }
    }

    #[test]
    fn a_machine_on_which_nothing_can_be_trusted_gives_no_limits() {
        assert_eq!(trusted(search(100.0)), None);
        assert_eq!(search(100.0).len(), 2, "two attempts agree");
    }

    #[test]
    fn the_search_ends_where_the_machine_has_no_limit() {
        let found = trusted(search(1e12)).unwrap();
        assert!(found <= MOST_RATE_PER_S && found > MOST_RATE_PER_S / 2.0);
    }

    #[test]
    fn one_disturbed_attempt_decides_nothing() {
        let disturbed = RateStep { late_generator: 900, ..step(1_000.0, 1e6) };
        let mut done = vec![disturbed];
        assert_eq!(next_rate(&done), Some(1_000.0));
        done.push(step(1_000.0, 1e6));
        assert_eq!(next_rate(&done), Some(1_000.0));
        done.push(step(1_000.0, 1e6));
        assert_eq!(next_rate(&done), Some(2_000.0));
    }

    #[test]
    fn distrust_names_its_reason() {
        let fine = step(1_000.0, 1e6);
        assert_eq!(distrust(&fine), None);
        let code = |step: RateStep| distrust(&step).unwrap().code.id();
        assert_eq!(code(RateStep { late_generator: 11, ..fine }), "generator-late");
        assert_eq!(code(RateStep { sent: 990, ..fine }), "responder");
        assert_eq!(code(RateStep { late_no_connection: 11, ..fine }), "responder");
        let judged = judge_calibration(Calibration { rates: search(63_000.0), ..Calibration::default() });
        assert!(judged.beyond.unwrap().text.starts_with("the generator sent 10 %"));
    }
}
