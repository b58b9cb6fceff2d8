//! Checks that tie rate, latency, connections, counts and bytes together.

use model::{AuditFigure, AuditModel, Printed, Published};

use super::{Attempt, TOO_SHORT_A_DELAY, Tried, edge_share, in_the_clock, is_coarse, missing, not_closed, too_coarse};
use crate::bounds;
use crate::figures::{count, figure, micros, percent, quantile_name};
use crate::thresholds::{AUDIT_SLACK, SERVED_SHARE, SHORTEST_REPLY_BYTES, TIMER_EARLY_S};

/// N: requests that can be in flight at once.
fn slots(row: &Published) -> Option<f64> {
    Some(row.connections? as f64 * row.pipeline? as f64).filter(|slots| *slots > 0.0)
}

fn slots_known(row: &Published) -> [(AuditFigure, bool); 2] {
    [(AuditFigure::Connections, row.connections.is_some()), (AuditFigure::Pipeline, row.pipeline.is_some())]
}

/// Rate × mean.
fn factors(row: &Published) -> String {
    let rate = row.rate_per_s.map_or(0.0, |rate| rate.printed);
    let mean_us = row.latency_us.mean.map_or(0.0, |mean| mean.printed);
    format!("{}/s × {}", figure(rate), micros(mean_us))
}

/// A whole number that is reckoned with as any other.
fn whole(slots: f64) -> String {
    count(slots as u64)
}

/// A figure with its possible values, where these differ by more than the slack.
fn possible(value: Printed, unit: &str) -> String {
    let middle = figure(value.printed);
    if value.high - value.low <= value.printed * AUDIT_SLACK {
        return format!("{middle}{unit}");
    }
    format!("{middle}{unit} ({} to {} within the rounding)", figure(value.low), figure(value.high))
}

/// What a figure may be at least or at most, where what was printed lies on the other side of the bound.
fn may_be(word: &str, end: f64, is_beyond: bool) -> String {
    if is_beyond { format!(", which may be {word} {}", figure(end)) } else { String::new() }
}

/// The part of a bound that is not N, in words; nothing where the bound itself is kept.
fn allowance(row: &Published, is_used: bool) -> String {
    let edges = edge_share(row);
    match (is_used, edges > 0.0) {
        (false, _) => String::new(),
        (true, false) => format!(" with {} of slack", percent(AUDIT_SLACK)),
        (true, true) => format!(" with {} of slack and {}", percent(AUDIT_SLACK), at_the_edges(edges)),
    }
}

/// What is allowed for the edges, in words.
fn at_the_edges(share: f64) -> String {
    format!("{} for requests that cross the edges of the window", percent(share))
}

/// Little's law as a bound: X·R̄ requests are in the clock at once, and N connections hold no more than N.
pub(super) fn in_flight(row: &Published) -> Attempt {
    not_closed(row).map_or(Ok(()), Err)?;
    let (Some(slots), Some(in_clock)) = (slots(row), in_the_clock(row)) else {
        let known =
            [(AuditFigure::Rate, row.rate_per_s.is_some()), (AuditFigure::MeanLatency, row.latency_us.mean.is_some())];
        return Err(missing(&[known, slots_known(row)].concat()));
    };
    let most = slots * (1.0 + AUDIT_SLACK + edge_share(row));
    let is_broken = in_clock.low > most;
    if !is_broken && is_coarse(in_clock) {
        return Err(too_coarse(row.latency_us.mean).into());
    }
    let product = format!("X·R̄ = {} = {}", factors(row), possible(in_clock, ""));
    let least = may_be("as little as", in_clock.low, in_clock.printed > most);
    let bound = format!("N = {}{}", whole(slots), allowance(row, in_clock.low > slots || in_clock.printed > slots));
    let slots = whole(slots);
    Ok(Tried::either(
        is_broken,
        format!(
            "{product} > N = {slots}: more requests in flight than connections can hold; rate and latency do not \
             describe the same requests"
        ),
        format!("{product}{least}, not above {bound}"),
    ))
}

/// In a closed load without pauses each connection always has a request in flight, so X·R̄ is N but for what never
/// ended and for time outside the clock.
pub(super) fn unserved(row: &Published) -> Attempt {
    not_closed(row).map_or(Ok(()), Err)?;
    if row.model == AuditModel::ClosedWithPauses {
        return Err("does not apply: clients may pause between requests, or be done before others".to_owned().into());
    }
    // However many requests a connection may hold, in a closed load it holds at least one.
    let (Some(connections), Some(in_clock)) = (row.connections, in_the_clock(row)) else {
        return Err(missing(&[
            (AuditFigure::Rate, row.rate_per_s.is_some()),
            (AuditFigure::MeanLatency, row.latency_us.mean.is_some()),
            (AuditFigure::Connections, row.connections.is_some()),
        ]));
    };
    let slots = connections as f64 * row.pipeline.unwrap_or(1) as f64;
    let least = SERVED_SHARE - edge_share(row);
    let is_broken = in_clock.high < slots * least;
    if !is_broken && is_coarse(in_clock) {
        return Err(too_coarse(row.latency_us.mean).into());
    }
    if row.pipeline.is_some() && in_clock.low > slots * (1.0 + AUDIT_SLACK + edge_share(row)) {
        return Err("more requests in flight than connections can hold, see `in flight`".to_owned().into());
    }
    let share = in_clock.scaled(1.0 / slots);
    let [low, high] = [share.low, share.high].map(percent);
    let is_open = share.high - share.low > share.printed * AUDIT_SLACK && low != high;
    let within = if is_open { format!(" ({low} to {high} within the rounding)") } else { String::new() };
    let product = format!("X·R̄ ÷ N = {} ÷ {} = {}{within}", factors(row), whole(slots), percent(share.printed));
    let bound = match edge_share(row) {
        0.0 => percent(least),
        edges => format!("{} ({} less {edges})", percent(least), percent(SERVED_SHARE), edges = at_the_edges(edges)),
    };
    Ok(Tried::either(
        is_broken,
        format!(
            "{product} of the connections' time was spent in requests; a closed load asks for {bound}. Requests that never \
             ended, or time that was not timed (connecting, waiting for a worker), are not in these figures"
        ),
        format!("{product} of the connections' time was spent in requests; a closed load asks for {bound}"),
    ))
}

/// N ÷ X is at least the mean (Little), and that at least (1 − q)·Q(q) (Markov).
pub(super) fn markov(row: &Published) -> Attempt {
    not_closed(row).map_or(Ok(()), Err)?;
    let quantiles = &row.latency_us.quantiles;
    let (Some(slots), Some(rate), false) = (slots(row), row.rate_per_s.filter(|x| x.low > 0.0), quantiles.is_empty())
    else {
        let known = [(AuditFigure::Rate, row.rate_per_s.is_some()), (AuditFigure::Quantiles, !quantiles.is_empty())];
        return Err(missing(&[known, slots_known(row)].concat()));
    };
    let mean_us = slots / rate.low * 1e6;
    let allowed_us = mean_us * (1.0 + AUDIT_SLACK + edge_share(row));
    let breach = quantiles.iter().find(|(q, value)| bounds::least_mean(*q, value.low) > allowed_us);
    let share = format!("N ÷ X = {} ÷ {}/s = {}", whole(slots), figure(rate.printed), micros(mean_us));
    Ok(match breach {
        Some((q, value)) => Tried::broken(format!(
            "{share} < (1 − {q})·{} = {}: rate and latency do not describe the same requests",
            quantile_name(*q),
            micros(bounds::least_mean(*q, value.low))
        )),
        None => {
            let of = |(q, value): &(f64, Printed)| (bounds::least_mean(*q, value.low), quantile_name(*q));
            let largest = quantiles.iter().map(of).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
            let slack = allowance(row, largest.0 > mean_us);
            let (most, name) = (micros(largest.0), largest.1);
            Tried::holding(format!("{share}, not below the largest (1 − q)·Q(q), {most} of {name}{slack}"))
        }
    })
}

/// No connection can end more requests than its waits allow.
pub(super) fn ceiling(row: &Published) -> Attempt {
    let known = [slots_known(row).as_slice(), &[(AuditFigure::HandlerDelay, row.handler_delay_s.is_some())]].concat();
    delay_allows(row, slots(row), "N", &known)
}

/// No worker can end more requests than its waits allow: it is taken while the handler waits.
pub(super) fn workers(row: &Published) -> Attempt {
    let known =
        [(AuditFigure::Workers, row.workers.is_some()), (AuditFigure::HandlerDelay, row.handler_delay_s.is_some())];
    delay_allows(row, row.workers.map(|workers| workers as f64), "W", &known)
}

fn delay_allows(row: &Published, slots: Option<f64>, symbol: &str, known: &[(AuditFigure, bool)]) -> Attempt {
    let (Some(slots), Some(delay_s)) = (slots, row.handler_delay_s) else { return Err(missing(known)) };
    if delay_s <= TIMER_EARLY_S {
        return Err(TOO_SHORT_A_DELAY.to_owned().into());
    }
    let window = window(row, delay_s).ok_or_else(|| missing(&[(AuditFigure::RequestsOrRate, false)]))?;
    let most = bounds::most_completions(slots, window.most_s, delay_s);
    let delay = micros(delay_s * 1e6);
    let formula = format!("{symbol}·(T ÷ (S − 1 ms) + 1) = {}", figure(most));
    let sides = format!("{} completions{}, {formula}", figure(window.completed), window.source);
    let slack = if window.completed > most { format!(" and {} of slack", percent(AUDIT_SLACK)) } else { String::new() };
    Ok(Tried::either(
        window.completed > most * (1.0 + AUDIT_SLACK),
        format!("{sides} are all that a delay of {delay} allows: the wait was skipped or is not what was said"),
        format!("{sides} possible with a delay of {delay}{slack}"),
    ))
}

/// Requests that were counted and the time in which they were.
struct Counted {
    completed: f64,
    most_s: f64,
    /// Where the time comes from, if it was not given.
    source: String,
}

/// The window T, given or not. Where a rate X and the requests are known, T is requests ÷ X. With X alone, T is at
/// least the longest latency that was measured in it, and at least one delay; the shorter T, the more the one request
/// of each slot that began before it weighs, so that this is the mildest bound.
fn window(row: &Published, delay_s: f64) -> Option<Counted> {
    let completed = |window: Printed| match (row.requests, row.rate_per_s) {
        (Some(requests), _) => Some(requests as f64),
        (None, rate) => Some(rate?.low * window.low),
    };
    if let Some(window) = row.duration_s {
        return Some(Counted { completed: completed(window)?, most_s: window.high, source: String::new() });
    }
    let rate = row.rate_per_s.filter(|rate| rate.low > 0.0)?;
    if let Some(requests) = row.requests {
        let most_s = requests as f64 / rate.low;
        let source = format!(" in T = {} ÷ {}/s", count(requests), figure(rate.printed));
        return Some(Counted { completed: requests as f64, most_s, source });
    }
    let latency = &row.latency_us;
    let longest_us = latency.quantiles.iter().map(|(_, value)| value.low).chain(latency.max.map(|max| max.low));
    let least_s = longest_us.fold(delay_s * 1e6, f64::max) / 1e6;
    let source = format!(" in each T = {}, the shortest that the figures allow", micros(least_s * 1e6));
    Some(Counted { completed: rate.low * least_s, most_s: least_s, source })
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
    let quotient = Printed::exact(requests as f64).over(window);
    let sides = format!("{} ÷ {} = {}", count(requests), micros(window.printed * 1e6), possible(quotient, "/s"));
    let sides = format!("{sides}, printed {}/s", figure(rate.printed));
    let broken = format!("{sides}: the rate is not that of the whole run");
    Ok(Tried::either(!agree(quotient, rate), broken, sides))
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
    let sum = ok.saturating_add(errors);
    let sides = format!("ok {} + errors {} = {}", count(ok), count(errors), count(sum));
    let broken = format!("{sides}, requests {}: the books do not balance", count(requests));
    Ok(Tried::either(sum != requests, broken, sides))
}

/// Bytes ÷ duration = bytes a second; and whole replies have at least the length of the shortest reply.
pub(super) fn bytes(row: &Published) -> Attempt {
    let Some(bytes) = row.bytes else { return Err(missing(&[(AuditFigure::Bytes, false)])) };
    let mut texts = Vec::new();
    if let (Some(window), Some(per_s)) = (row.duration_s, row.bytes_per_s) {
        let flow = bytes.over(window);
        let sides = format!(
            "{} bytes ÷ {} = {}, printed {}/s",
            figure(bytes.printed),
            micros(window.printed * 1e6),
            possible(flow, "/s"),
            figure(per_s.printed)
        );
        if !agree(flow, per_s) {
            return Ok(Tried::broken(sides));
        }
        texts.push(sides);
    }
    let replies = row.ok.or(row.requests).filter(|replies| *replies > 0 && row.bytes_have_heads);
    if let Some(replies) = replies {
        let each = bytes.scaled(1.0 / replies as f64);
        let sides = format!("{} bytes a reply", figure(each.printed));
        if each.high < SHORTEST_REPLY_BYTES {
            return Ok(Tried::broken(format!("{sides}: the shortest HTTP/1 reply has {SHORTEST_REPLY_BYTES}")));
        }
        texts.push(sides);
    }
    if texts.is_empty() {
        return Err("not given: bytes a second, or bytes of whole replies and their number".to_owned().into());
    }
    Ok(Tried::holding(texts.join("; ")))
}
