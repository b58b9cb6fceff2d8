//! Checks that tie rate, latency, connections, counts and bytes together.

use model::{
    AuditFigure, AuditModel, AuditResult, AuditSides, ByteFlow, CompletionSides, CountedIn, InFlightSides, MarkovSides,
    NotMade, Printed, Published, ReplyBytes, ServedSides,
};

use super::{Attempt, allowance, closed, edge_share, either, in_clock, is_coarse, long_enough, missing};
use crate::bounds;
use crate::thresholds::{AUDIT_SLACK, SERVED_SHARE, SHORTEST_REPLY_BYTES, TIMER_EARLY_S};

/// N: requests that can be in flight at once.
fn slots(row: &Published) -> Option<f64> {
    Some(row.connections? as f64 * row.pipeline? as f64).filter(|slots| *slots > 0.0)
}

fn slots_known(row: &Published) -> [(AuditFigure, bool); 2] {
    [(AuditFigure::Connections, row.connections.is_some()), (AuditFigure::Pipeline, row.pipeline.is_some())]
}

fn rate_and_mean_known(row: &Published) -> [(AuditFigure, bool); 2] {
    [(AuditFigure::Rate, row.rate_per_s.is_some()), (AuditFigure::MeanLatency, row.latency_us.mean.is_some())]
}

/// Little's law as a bound: X·R̄ requests are in the clock at once, and N connections hold no more than N.
pub(super) fn in_flight(row: &Published) -> Attempt {
    closed(row)?;
    let (Some(slots), Some(rate), Some(mean)) = (slots(row), row.rate_per_s, row.latency_us.mean) else {
        return Err(missing(&[rate_and_mean_known(row), slots_known(row)].concat()));
    };
    let (in_clock, allowance) = (in_clock(rate, mean), allowance(row));
    let most = allowance.beyond(slots);
    let is_broken = in_clock.low > most;
    if !is_broken && is_coarse(in_clock) {
        return Err(NotMade::Coarse { mean_us: mean });
    }
    either(
        is_broken,
        AuditSides::InFlight(InFlightSides {
            rate_per_s: rate.printed,
            mean_us: mean.printed,
            in_clock,
            slots,
            most,
            allowance: (in_clock.low > slots || in_clock.printed > slots).then_some(allowance),
        }),
    )
}

/// In a closed load without pauses each connection always has a request in flight, so X·R̄ is N but for what never
/// ended and for time outside the clock.
pub(super) fn unserved(row: &Published) -> Attempt {
    closed(row)?;
    if row.model == AuditModel::ClosedWithPauses {
        return Err(NotMade::Pauses);
    }
    // However many requests a connection may hold, in a closed load it holds at least one.
    let (Some(connections), Some(rate), Some(mean)) = (row.connections, row.rate_per_s, row.latency_us.mean) else {
        let connections = (AuditFigure::Connections, row.connections.is_some());
        return Err(missing(&[rate_and_mean_known(row).as_slice(), &[connections]].concat()));
    };
    let in_clock = in_clock(rate, mean);
    let slots = connections as f64 * row.pipeline.unwrap_or(1) as f64;
    let edges = edge_share(row);
    let least = SERVED_SHARE - edges;
    let is_broken = in_clock.high < slots * least;
    if !is_broken && is_coarse(in_clock) {
        return Err(NotMade::Coarse { mean_us: mean });
    }
    if row.pipeline.is_some() && in_clock.low > allowance(row).beyond(slots) {
        return Err(NotMade::TooManyInFlight);
    }
    let share = in_clock.scaled(1.0 / slots);
    let (rate_per_s, mean_us) = (rate.printed, mean.printed);
    either(is_broken, AuditSides::Served(ServedSides { rate_per_s, mean_us, slots, share, least, edges }))
}

/// N ÷ X is at least the mean (Little), and that at least (1 − q)·Q(q) (Markov).
pub(super) fn markov(row: &Published) -> Attempt {
    closed(row)?;
    let asked = |(q, value): &(f64, Printed)| (*q, bounds::least_mean(*q, value.low));
    let largest = row.latency_us.quantiles.iter().map(asked).max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some(slots), Some(rate), Some((q, least_us))) = (slots(row), row.rate_per_s.filter(|x| x.low > 0.0), largest)
    else {
        let known = [(AuditFigure::Rate, row.rate_per_s.is_some()), (AuditFigure::Quantiles, largest.is_some())];
        return Err(missing(&[known, slots_known(row)].concat()));
    };
    let most_us = slots / rate.low * 1e6;
    let allowed = allowance(row);
    either(
        least_us > allowed.beyond(most_us),
        AuditSides::Markov(MarkovSides {
            slots,
            rate_per_s: rate.printed,
            most_us,
            q,
            least_us,
            allowance: (least_us > most_us).then_some(allowed),
        }),
    )
}

/// No connection can end more requests than its waits allow.
pub(super) fn ceiling(row: &Published) -> Attempt {
    let known = [slots_known(row).as_slice(), &[(AuditFigure::HandlerDelay, row.handler_delay_s.is_some())]].concat();
    delay_allows(row, slots(row), &known)
}

/// No worker can end more requests than its waits allow: it is taken while the handler waits.
pub(super) fn workers(row: &Published) -> Attempt {
    let known =
        [(AuditFigure::Workers, row.workers.is_some()), (AuditFigure::HandlerDelay, row.handler_delay_s.is_some())];
    delay_allows(row, row.workers.map(|workers| workers as f64), &known)
}

fn delay_allows(row: &Published, slots: Option<f64>, known: &[(AuditFigure, bool)]) -> Attempt {
    let (Some(slots), Some(delay_s)) = (slots, row.handler_delay_s) else { return Err(missing(known)) };
    let delay_s = long_enough(delay_s)?;
    let Counted { completed, window_s, window } =
        counted(row, delay_s).ok_or_else(|| missing(&[(AuditFigure::RequestsOrRate, false)]))?;
    let most = bounds::most_completions(slots, window_s, delay_s);
    let slack = (completed > most).then_some(AUDIT_SLACK);
    let early_s = TIMER_EARLY_S;
    let sides = CompletionSides { completed, slots, delay_s, early_s, window_s, window, most, slack };
    either(completed > most * (1.0 + AUDIT_SLACK), AuditSides::Completions(sides))
}

/// Requests that were counted and the longest time in which they were.
struct Counted {
    completed: f64,
    window_s: f64,
    window: CountedIn,
}

/// The window T, given or not. Where a rate X and the requests are known, T is requests ÷ X. With X alone, T is at
/// least the longest latency that was measured in it, and at least one delay; the shorter T, the more the one request
/// of each slot that began before it weighs, so that this is the mildest bound.
fn counted(row: &Published, delay_s: f64) -> Option<Counted> {
    let requests = row.requests.map(|requests| requests as f64);
    if let Some(window) = row.duration_s {
        let completed = requests.or(row.rate_per_s.map(|rate| rate.low * window.low))?;
        return Some(Counted { completed, window_s: window.high, window: CountedIn::Given });
    }
    let rate = row.rate_per_s.filter(|rate| rate.low > 0.0)?;
    if let Some(completed) = requests {
        let window = CountedIn::FromRate { rate_per_s: rate.printed };
        return Some(Counted { completed, window_s: completed / rate.low, window });
    }
    let latency = &row.latency_us;
    let longest_us = latency.quantiles.iter().map(|(_, value)| value.low).chain(latency.max.map(|max| max.low));
    let window_s = longest_us.fold(delay_s * 1e6, f64::max) / 1e6;
    Some(Counted { completed: rate.low * window_s, window_s, window: CountedIn::Shortest })
}

/// Requests ÷ duration = rate.
pub(super) fn rate(row: &Published) -> Attempt {
    let counted = if row.rate_is_of_ok { row.ok } else { row.requests };
    let (Some(requests), Some(window), Some(rate)) = (counted, row.duration_s, row.rate_per_s) else {
        let of = if row.rate_is_of_ok { AuditFigure::OkReplies } else { AuditFigure::Requests };
        return Err(missing(&[
            (of, counted.is_some()),
            (AuditFigure::Duration, row.duration_s.is_some()),
            (AuditFigure::Rate, row.rate_per_s.is_some()),
        ]));
    };
    let quotient_per_s = Printed::exact(requests as f64).over(window);
    let (duration_s, rate_per_s) = (window.printed, rate.printed);
    either(!agree(quotient_per_s, rate), AuditSides::Rate { requests, duration_s, quotient_per_s, rate_per_s })
}

/// Whether two figures may be the same.
fn agree(a: Printed, b: Printed) -> bool {
    !(a.low > b.high * (1.0 + AUDIT_SLACK) || b.low > a.high * (1.0 + AUDIT_SLACK))
}

/// Ok + errors = requests.
pub(super) fn accounting(row: &Published) -> Attempt {
    let (Some(requests), Some(ok), Some(errors)) = (row.requests, row.ok, row.errors) else {
        return Err(missing(&[
            (AuditFigure::Requests, row.requests.is_some()),
            (AuditFigure::OkReplies, row.ok.is_some()),
            (AuditFigure::Errors, row.errors.is_some()),
        ]));
    };
    either(ok.saturating_add(errors) != requests, AuditSides::Books { ok, errors, requests })
}

/// Bytes ÷ duration = bytes a second; and whole replies have at least the length of the shortest reply.
pub(super) fn bytes(row: &Published) -> Attempt {
    let Some(bytes) = row.bytes else { return Err(missing(&[(AuditFigure::Bytes, false)])) };
    let flow = row.duration_s.zip(row.bytes_per_s).map(|(window, per_s)| (bytes.over(window), window, per_s));
    let agrees = flow.is_none_or(|(quotient_per_s, _, per_s)| agree(quotient_per_s, per_s));
    let flow = flow.map(|(quotient_per_s, window, per_s)| ByteFlow {
        bytes: bytes.printed,
        duration_s: window.printed,
        quotient_per_s,
        bytes_per_s: per_s.printed,
    });
    let replies = row.ok.or(row.requests).filter(|replies| *replies > 0 && row.bytes_have_heads);
    let each = replies.map(|replies| bytes.scaled(1.0 / replies as f64));
    let whole = each.is_none_or(|each| each.high >= SHORTEST_REPLY_BYTES);
    let reply = each.map(|each| ReplyBytes { bytes: each.printed, shortest: SHORTEST_REPLY_BYTES });
    Ok(match (agrees, whole) {
        _ if flow.is_none() && reply.is_none() => return Err(NotMade::BytesAlone),
        (false, _) => AuditResult::Breach(AuditSides::Bytes { flow, reply: None }),
        (true, false) => AuditResult::Breach(AuditSides::Bytes { flow: None, reply }),
        (true, true) => AuditResult::Holds(AuditSides::Bytes { flow, reply }),
    })
}
