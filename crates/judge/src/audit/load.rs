//! Checks that tie rate, latency, connections, counts and bytes together.

use model::{AuditModel, Printed, Published};

use super::{Attempt, Tried, edge_share, in_the_clock, missing, not_closed};
use crate::bounds;
use crate::figures::{count, figure, micros, quantile_name};
use crate::thresholds::{AUDIT_SLACK, SERVED_SHARE, SHORTEST_REPLY_BYTES, TIMER_EARLY_S};

/// N: requests that can be in flight at once.
fn slots(row: &Published) -> Option<f64> {
    Some(row.connections? as f64 * row.pipeline? as f64).filter(|slots| *slots > 0.0)
}

fn slots_known(row: &Published) -> [(&'static str, bool); 2] {
    [
        ("connections (--connections)", row.connections.is_some()),
        ("requests in flight on each (--pipeline)", row.pipeline.is_some()),
    ]
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

/// Little's law as a bound: X·R̄ requests are in the clock at once, and N connections hold no more than N.
pub(super) fn in_flight(row: &Published) -> Attempt {
    not_closed(row).map_or(Ok(()), Err)?;
    let (Some(slots), Some(in_clock)) = (slots(row), in_the_clock(row)) else {
        let known = [("rate", row.rate_per_s.is_some()), ("mean latency", row.latency_us.mean.is_some())];
        return Err(missing(&[known, slots_known(row)].concat()));
    };
    let is_broken = in_clock.low > slots * (1.0 + AUDIT_SLACK + edge_share(row));
    let (product, slots) = (format!("X·R̄ = {} = {}", factors(row), possible(in_clock, "")), whole(slots));
    Ok(Tried::either(
        is_broken,
        format!(
            "{product} > N = {slots}: more requests in flight than connections can hold; rate and latency do not \
             describe the same requests"
        ),
        format!("{product}, not above N = {slots}"),
    ))
}

/// In a closed load without pauses each connection always has a request in flight, so X·R̄ is N but for what never
/// ended and for time outside the clock.
pub(super) fn unserved(row: &Published) -> Attempt {
    not_closed(row).map_or(Ok(()), Err)?;
    if row.model == AuditModel::ClosedWithPauses {
        return Err("does not apply: clients may pause between requests, or be done before others".to_owned());
    }
    // However many requests a connection may hold, in a closed load it holds at least one.
    let (Some(connections), Some(in_clock)) = (row.connections, in_the_clock(row)) else {
        return Err(missing(&[
            ("rate", row.rate_per_s.is_some()),
            ("mean latency", row.latency_us.mean.is_some()),
            ("connections (--connections)", row.connections.is_some()),
        ]));
    };
    let slots = connections as f64 * row.pipeline.unwrap_or(1) as f64;
    let is_broken = in_clock.high < slots * (SERVED_SHARE - edge_share(row));
    let share = possible(in_clock.scaled(1.0 / slots), "");
    let share = format!("κ = X·R̄ ÷ N = {} ÷ {} = {share}", factors(row), whole(slots));
    Ok(Tried::either(
        is_broken,
        format!(
            "{share} < {SERVED_SHARE}: connections that always have a request in flight keep N in the clock; \
             requests that never ended, or much of the connections' time, are not in these figures (if the \
             generator paused or kept to a rate, say --open)"
        ),
        format!("{share}, not below {SERVED_SHARE}"),
    ))
}

/// N ÷ X is at least the mean (Little), and that at least (1 − q)·Q(q) (Markov).
pub(super) fn markov(row: &Published) -> Attempt {
    not_closed(row).map_or(Ok(()), Err)?;
    let quantiles = &row.latency_us.quantiles;
    let (Some(slots), Some(rate), false) = (slots(row), row.rate_per_s.filter(|x| x.low > 0.0), quantiles.is_empty())
    else {
        let known = [("rate", row.rate_per_s.is_some()), ("quantiles", !quantiles.is_empty())];
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
        None => Tried::holding(format!("{share}, not below (1 − q)·Q(q) at any quantile")),
    })
}

/// No connection can end more requests than its waits allow.
pub(super) fn ceiling(row: &Published) -> Attempt {
    let known = [slots_known(row).as_slice(), &[("handler delay (--delay)", row.handler_delay_s.is_some())]].concat();
    delay_allows(row, slots(row), "N", &known)
}

/// No worker can end more requests than its waits allow: it is taken while the handler waits.
pub(super) fn workers(row: &Published) -> Attempt {
    let known =
        [("workers (--workers)", row.workers.is_some()), ("handler delay (--delay)", row.handler_delay_s.is_some())];
    delay_allows(row, row.workers.map(|workers| workers as f64), "W", &known)
}

fn delay_allows(row: &Published, slots: Option<f64>, symbol: &str, known: &[(&str, bool)]) -> Attempt {
    let (Some(slots), Some(delay_s), Some(window)) = (slots, row.handler_delay_s, row.duration_s) else {
        return Err(missing(&[known, &[("duration (--duration)", row.duration_s.is_some())]].concat()));
    };
    if delay_s <= TIMER_EARLY_S {
        return Err("a delay of at most 1 ms cannot be told from a timer that fires early".to_owned());
    }
    let completed = match (row.requests, row.rate_per_s) {
        (Some(requests), _) => requests as f64,
        (None, Some(rate)) => rate.low * window.low,
        (None, None) => return Err(missing(&[("requests or rate", false)])),
    };
    let most = bounds::most_completions(slots, window.high, delay_s);
    let delay = micros(delay_s * 1e6);
    let sides = format!("{} completions, {symbol}·(T ÷ (S − 1 ms) + 1) = {}", figure(completed), figure(most));
    Ok(Tried::either(
        completed > most * (1.0 + AUDIT_SLACK),
        format!("{sides} are all that a delay of {delay} allows: the wait was skipped or is not what was said"),
        format!("{sides} possible with a delay of {delay}"),
    ))
}

/// Requests ÷ duration = rate.
pub(super) fn rate(row: &Published) -> Attempt {
    let counted = if row.rate_is_of_ok { row.ok } else { row.requests };
    let (Some(requests), Some(window), Some(rate)) = (counted, row.duration_s, row.rate_per_s) else {
        let name = if row.rate_is_of_ok { "ok replies" } else { "requests" };
        return Err(missing(&[
            (name, counted.is_some()),
            ("duration (--duration)", row.duration_s.is_some()),
            ("rate", row.rate_per_s.is_some()),
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
            ("requests", row.requests.is_some()),
            ("ok replies", row.ok.is_some()),
            ("errors", row.errors.is_some()),
        ]));
    };
    let sum = ok.saturating_add(errors);
    let sides = format!("ok {} + errors {} = {}", count(ok), count(errors), count(sum));
    let broken = format!("{sides}, requests {}: the books do not balance", count(requests));
    Ok(Tried::either(sum != requests, broken, sides))
}

/// Bytes ÷ duration = bytes a second; and whole replies have at least the length of the shortest reply.
pub(super) fn bytes(row: &Published) -> Attempt {
    let Some(bytes) = row.bytes else { return Err(missing(&[("bytes", false)])) };
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
        return Err("not given: bytes a second, or bytes of whole replies and their number".to_owned());
    }
    Ok(Tried::holding(texts.join("; ")))
}
