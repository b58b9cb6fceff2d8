//! Arithmetic truths that a result must satisfy. A breach makes the trial void: no threshold of taste is here.

use model::{
    Accounting, Breach, Invariant, InvariantCheck, Measurement, Metric, Observation, Slice, StandstillSpan, sum,
};

use crate::asked::Asked;
use crate::silence::EDGE_S;
use crate::thresholds::{DRAIN_S, MARKOV_TOLERANCE};
use crate::{bounds, failing, slices};

/// By how much the CPU seconds of a few processes may be off that are counted in the kernel's ticks of 10 ms.
const TICKS_OFF_S: f64 = 0.05;

/// The invariants that concern the instrument itself: they hold whatever the server does.
pub(crate) fn of_instrument(asked: &Asked<'_>, measured: &Measurement) -> Vec<InvariantCheck> {
    of_windows(asked, measured, 1.0)
}

/// The same of what was measured in so many windows.
fn of_windows(asked: &Asked<'_>, measured: &Measurement, windows: f64) -> Vec<InvariantCheck> {
    let mut checks = vec![accounting(&measured.accounting), in_flight(measured)];
    checks.extend(markov(asked, measured, windows));
    checks
}

/// All invariants, those about the server's replies among them; `sliced` is what the load was measured in, where that was not
/// one window, and `placed` what was seen of a target that was given CPUs of its own.
pub(crate) fn of_trial(
    asked: &Asked<'_>,
    measured: &Measurement,
    (placed, sliced): (Option<&Observation>, &[Slice]),
) -> Vec<InvariantCheck> {
    let windows = slices::windows(sliced);
    let mut checks = of_windows(asked, measured, windows);
    checks.extend(ceiling(asked, measured, windows));
    checks.push(correctness(measured));
    checks.extend(slices::add_up(asked, measured, sliced));
    checks.extend(placed.map(cpus));
    checks
}

/// No more CPU time than the CPUs that the target was given have, with a tenth of slack and what the kernel's ticks may be off by. Who takes
/// more has set its affinity itself, runs on the generator's CPUs, too, and is compared with a server that does not.
fn cpus(observed: &Observation) -> InvariantCheck {
    let (used, given) = (observed.cpus_used(), observed.cpus);
    let slack_s = 0.1 * f64::from(given) * observed.window_s + TICKS_OFF_S;
    let is_more = given > 0 && observed.cpu_s() > f64::from(given) * observed.window_s + slack_s;
    InvariantCheck::new(Invariant::Cpus, is_more.then_some(Breach::Cpus { used, given }))
}

fn accounting(books: &Accounting) -> InvariantCheck {
    InvariantCheck::new(Invariant::Accounting, books.imbalance().map(Breach::Imbalance))
}

/// Little's law as an identity: ∫ requests in flight dt = Σ time inside the window of all requests.
fn in_flight(measured: &Measurement) -> InvariantCheck {
    InvariantCheck::new(Invariant::InFlight, bounds::unequal(&measured.residence))
}

/// Markov's inequality on the time that a request holds its slot, the service time or, with a connection for each
/// request, the total time: N ÷ X is at least its mean (Little), and that at least (1 − q)·Q(q), so
/// p50 ÷ 2, p90 ÷ 10, p99 ÷ 100.
///
/// The quantiles are of requests due inside the window, X of replies inside it. The two differ by at most the N
/// requests that cross a window's edges, and by what these spent after its end; both are allowed for, which leaves
/// N ÷ X for all but short windows. A generator that stands still at the window's end does not end the drain in time.
fn markov(asked: &Asked<'_>, measured: &Measurement, windows: f64) -> Option<InvariantCheck> {
    let service = measured.latency_us.felt().filter(|_| asked.is_closed())?;
    let drain_s = if stood_still_at_the_end(measured) { f64::INFINITY } else { DRAIN_S };
    let overhang_s = service.max.map_or(DRAIN_S, |max_us| (max_us / 1e6).min(drain_s));
    let certain = measured.in_window.completed as f64 - windows * asked.load.slots();
    if certain <= 0.0 {
        return None;
    }
    let mean_us = asked.load.slots() * (measured.window_s + windows * overhang_s) / certain * 1e6;
    let quantiles = [
        (Metric::P50, service.p50, 0.5),
        (Metric::P90, service.p90, 0.9),
        (Metric::P99, service.p99, 0.99),
        (Metric::Mean, service.mean, 0.0),
    ];
    let breach = quantiles.into_iter().find_map(|(metric, quantile, q)| {
        let (least_us, divisor) = (bounds::least_mean(q, quantile?), (1.0 / (1.0 - q)).round());
        (least_us > mean_us * (1.0 + MARKOV_TOLERANCE)).then_some(Breach::TooLong {
            metric,
            divisor,
            least_us,
            mean_us,
        })
    });
    Some(InvariantCheck::new(Invariant::Markov, breach))
}

/// Whether a generator thread stood still when the window ended; how much longer is not known.
fn stood_still_at_the_end(measured: &Measurement) -> bool {
    let reaches_it = |span: &StandstillSpan| span.at_s + span.length_s > measured.window_s - EDGE_S;
    measured.standstills.as_ref().is_some_and(|stood| stood.spans.iter().any(reaches_it))
}

/// No more completions than handler and network delay allow (`bounds::most_completions`).
fn ceiling(asked: &Asked<'_>, measured: &Measurement, windows: f64) -> Option<InvariantCheck> {
    asked.ceiling_per_s()?;
    // The mean window, so often: each may hold one request more of every slot.
    let most = windows * bounds::most_completions(asked.load.slots(), measured.window_s / windows, asked.delay_s());
    let completed = measured.in_window.completed;
    let breach = || Breach::Completions { completed, most: most as u64, delay_s: asked.delay_s() };
    Some(InvariantCheck::new(Invariant::Ceiling, (completed as f64 > most).then(breach)))
}

/// No reply with wrong content. An unexpected status, a reset, a time-out is a failure: it is counted, leaves the
/// throughput, and is the mark `errors`.
fn correctness(measured: &Measurement) -> InvariantCheck {
    let wrong @ [bad_body, malformed, unasked] = failing::wrong_content(measured);
    // The replies of the books, as the wrong ones are: what is not HTTP is a failure there, and in no other count of them.
    let replies = sum([measured.accounting.completed, malformed]);
    let breach = Breach::Content { replies, bad_body, malformed, unasked };
    InvariantCheck::new(Invariant::Correctness, (sum(wrong) > 0).then_some(breach))
}
