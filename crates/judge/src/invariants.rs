//! Arithmetic truths that a result must satisfy. A breach makes the trial void: no threshold of taste is here.

use model::{Accounting, Failure, Invariant, InvariantCheck, Measurement, StandstillSpan, sum};

use crate::asked::{Asked, completions_per_s};
use crate::figures::{count, counted, figure, kinds, micros};
use crate::silence::EDGE_S;
use crate::thresholds::{DRAIN_S, IN_FLIGHT_ABSOLUTE_S, IN_FLIGHT_TOLERANCE, MARKOV_TOLERANCE};
use crate::{bounds, failing};

/// The invariants that concern the instrument itself: they hold whatever the server does.
pub(crate) fn of_instrument(asked: &Asked<'_>, measured: &Measurement) -> Vec<InvariantCheck> {
    let mut checks = vec![accounting(&measured.accounting), in_flight(measured)];
    checks.extend(markov(asked, measured));
    checks
}

/// All invariants, those about the server's replies among them.
pub(crate) fn of_trial(asked: &Asked<'_>, measured: &Measurement) -> Vec<InvariantCheck> {
    let mut checks = of_instrument(asked, measured);
    checks.extend(ceiling(asked, measured));
    checks.push(correctness(measured));
    checks
}

fn accounting(books: &Accounting) -> InvariantCheck {
    let imbalance = books.imbalance();
    let text = imbalance.clone().unwrap_or_else(|| {
        let (scheduled, sent, completed) = (count(books.scheduled), count(books.sent), count(books.completed));
        format!("the books balance: {scheduled} scheduled, {sent} sent, {completed} completed")
    });
    InvariantCheck { invariant: Invariant::Accounting, holds: imbalance.is_none(), text }
}

/// Little's law as an identity: ∫ requests in flight dt = Σ time inside the window of all requests.
fn in_flight(measured: &Measurement) -> InvariantCheck {
    let (integral, sum) = (measured.residence.in_flight_s, measured.residence.requests_s);
    let allowed = (IN_FLIGHT_TOLERANCE * integral.abs().max(sum.abs())).max(IN_FLIGHT_ABSOLUTE_S);
    let text = format!(
        "requests in flight over the window {} s, time of all requests inside it {} s",
        figure(integral),
        figure(sum)
    );
    InvariantCheck { invariant: Invariant::InFlight, holds: (integral - sum).abs() <= allowed, text }
}

/// Markov's inequality on the time that a request holds its slot, the service time or, with a connection for each
/// request, the total time: N ÷ X is at least its mean (Little), and that at least (1 − q)·Q(q), so
/// p50 ÷ 2, p90 ÷ 10, p99 ÷ 100.
///
/// The quantiles are of requests due inside the window, X of replies inside it. The two differ by at most the N
/// requests that cross the window's edges, and by what these spent after its end; both are allowed for, which leaves
/// N ÷ X for all but short windows. A generator that stands still at the window's end does not end the drain in time.
fn markov(asked: &Asked<'_>, measured: &Measurement) -> Option<InvariantCheck> {
    let service = measured.latency_us.felt().filter(|_| asked.is_closed())?;
    let drain_s = if stood_still_at_the_end(measured) { f64::INFINITY } else { DRAIN_S };
    let overhang_s = service.max.map_or(DRAIN_S, |max_us| (max_us / 1e6).min(drain_s));
    let certain = measured.in_window.completed as f64 - asked.load.slots();
    if certain <= 0.0 {
        return None;
    }
    let mean_us = asked.load.slots() * (measured.window_s + overhang_s) / certain * 1e6;
    let quantiles =
        [("p50", service.p50, 0.5), ("p90", service.p90, 0.9), ("p99", service.p99, 0.99), ("mean", service.mean, 0.0)];
    let breach = quantiles.iter().find_map(|(name, quantile, q)| {
        let least_us = bounds::least_mean(*q, (*quantile)?);
        let divisor = (1.0 / (1.0 - q)).round();
        (least_us > mean_us * (1.0 + MARKOV_TOLERANCE)).then(|| {
            let reason = "rate and latency do not describe the same requests";
            format!("{name} ÷ {divisor} = {} > N ÷ X = {}: {reason}", micros(least_us), micros(mean_us))
        })
    });
    let holds = breach.is_none();
    let text = breach.unwrap_or_else(|| {
        let per_s = completions_per_s(measured);
        format!(
            "N ÷ X = {} ÷ {} is not below p50 ÷ 2, p90 ÷ 10, p99 ÷ 100, the mean",
            figure(asked.load.slots()),
            figure(per_s)
        )
    });
    Some(InvariantCheck { invariant: Invariant::Markov, holds, text })
}

/// Whether a generator thread stood still when the window ended; how much longer is not known.
fn stood_still_at_the_end(measured: &Measurement) -> bool {
    let reaches_it = |span: &StandstillSpan| span.at_s + span.length_s > measured.window_s - EDGE_S;
    measured.standstills.as_ref().is_some_and(|stood| stood.spans.iter().any(reaches_it))
}

/// No more completions than handler and network delay allow (`bounds::most_completions`).
fn ceiling(asked: &Asked<'_>, measured: &Measurement) -> Option<InvariantCheck> {
    asked.ceiling_per_s()?;
    let most = bounds::most_completions(asked.load.slots(), measured.window_s, asked.delay_s());
    let completed = measured.in_window.completed;
    let holds = completed as f64 <= most;
    let delay = micros(asked.delay_s() * 1e6);
    let allowed = count(most as u64);
    let text = if holds {
        format!("{} completions, {allowed} possible with a delay of {delay}", count(completed))
    } else {
        let completed = count(completed);
        format!("{completed} completions where a delay of {delay} allows {allowed}: the wait was skipped")
    };
    Some(InvariantCheck { invariant: Invariant::Ceiling, holds, text })
}

/// No reply with wrong content. An unexpected status, a reset, a time-out is a failure: it is counted, leaves the
/// throughput, and is the mark `errors`.
fn correctness(measured: &Measurement) -> InvariantCheck {
    let wrong = failing::wrong_content(measured);
    let total = sum(wrong.map(|(_, number)| number));
    // The replies of the books, as the wrong ones are: what is not HTTP is a failure there, and in no other count of them.
    let books = &measured.accounting;
    let replies = sum([books.completed, books.failed.get(&Failure::Malformed).copied().unwrap_or(0)]);
    let of = counted(replies, "reply", "replies");
    let text = match total {
        0 => format!("no wrong content among {of}"),
        _ => format!("wrong content among {of}: {}", kinds(wrong)),
    };
    InvariantCheck { invariant: Invariant::Correctness, holds: total == 0, text }
}
