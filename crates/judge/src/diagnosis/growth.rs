//! What grows with every request: memory, threads, files.
//!
//! Doses of n, 2 n and 4 n requests, each on a fresh server, show whether the growth goes on in proportion or comes to rest; a server that
//! is hardly asked for as long shows whether it grows with time alone.

use model::{Experiment, Measured, ServerFault, Suspect, Unit, Unproved, WhyOpen};

use super::case::Case;
use super::proof::{Examined, Stands, Steps};
use super::reading::Reading;
use super::signs::least_growth;
use super::thresholds::{GROWS_IDLE, LINEAR, STEADY, STEADY_PROOF};
use crate::statistics::{mean, slope};
use crate::thresholds::CONFIDENCE;

pub(super) fn examine(case: &Case<'_>, suspect: Suspect) -> Option<Examined> {
    let (of, least) = (|reading: &Reading<'_>| reading.kept(suspect), least_growth(case, suspect));
    let requests = case.dose()?;
    let dose = |times: u64| Experiment::Dose { requests: times * requests };
    let longest = case.first(dose(4))?;
    let window_s = longest.window_s().clamp(STEADY * case.window_s(), STEADY_PROOF * case.window_s());
    let idle = Experiment::Steady { rate_per_s: 1.0, window_s };
    let steps = Steps::of(case, &[dose(1), dose(4), idle, dose(2), dose(4)]);
    let after = |times: u64| mean(&case.valid(dose(times)).filter_map(of).collect::<Vec<f64>>());
    let (one, four) = (after(1)?, after(4)?);
    let n = requests as f64;
    let whole = (four - one) / (3.0 * n);
    let points = |times: u64| case.valid(dose(times)).filter_map(of).map(move |kept| (times as f64 * n, kept));
    let line = slope(&[1, 2, 4].into_iter().flat_map(points).collect::<Vec<_>>(), CONFIDENCE);
    let unit = if suspect == Suspect::MemoryGrowth { Unit::Bytes } else { Unit::Units };
    let fault = ServerFault::Growth {
        suspect,
        per_request: Measured {
            estimate: Some(line.map_or(whole, |it| it.estimate)),
            low: line.map(|it| it.low),
            high: line.map(|it| it.high),
            unit,
        },
        requests: 4 * requests,
        grown: four - one,
    };
    let stands = steps.next.unwrap_or_else(|| {
        let near = |slope: f64| (slope - whole).abs() <= LINEAR * whole;
        let linear = after(2).is_some_and(|two| near((two - one) / n) && near((four - two) / (2.0 * n)));
        let lasted_s = |times: u64| mean(&case.valid(dose(times)).map(Reading::window_s).collect::<Vec<f64>>());
        let by_dose = lasted_s(4).zip(lasted_s(1)).map(|(four_s, one_s)| (four - one) / (four_s - one_s));
        // What the first request of a server takes, or none, says nothing of growth.
        let begun = one - whole * n;
        let idly = steps.all(idle).into_iter().find_map(|it| Some((of(it)? - begun).max(0.0) / it.window_s()));
        let grows_idle = idly.zip(by_dose).is_none_or(|(idly, by_dose)| idly > GROWS_IDLE * by_dose);
        let again = case.valid(dose(4)).filter_map(of).all(|last| last - one >= least);
        if !linear {
            Stands::Refuted(WhyOpen::NotByDose)
        } else if grows_idle {
            Stands::Refuted(WhyOpen::NotByControl)
        } else if !again {
            Stands::Refuted(WhyOpen::NotAgain)
        } else if suspect == Suspect::MemoryGrowth {
            // What the system gave to it is not what it keeps.
            Stands::Unproved(Unproved::Heap)
        } else {
            Stands::Proved
        }
    });
    let by: Vec<&Reading<'_>> =
        case.first(dose(1)).into_iter().chain([longest]).chain(steps.made.iter().copied()).collect();
    Some(Examined::new(fault, &by, stands))
}
