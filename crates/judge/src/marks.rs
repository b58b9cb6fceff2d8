//! What a reader must know about a result without its being void.

use model::{HostUse, LateCause, Mark, MarkNote, Measurement, NotSent, Verdict};

use crate::asked::{Asked, completions_per_s};
use crate::figures::{count, figure, kinds, micros, percent};
use crate::limit::Limit;
use crate::thresholds::{AT_CEILING, LATENESS_FACTOR, NOISY_OTHERS, NOISY_STEAL, SERVED_SHARE, THIN_COMPLETIONS};

fn note(mark: Mark, text: String) -> MarkNote {
    MarkNote { mark, text }
}

/// The generator may have been the limit.
pub(crate) fn generator(limit: &Limit) -> Option<MarkNote> {
    (limit.verdict == Verdict::AtLeast).then(|| note(Mark::Generator, limit.reason.text.clone()))
}

/// A response quantile that is less than ten times the lateness p99 is the generator's as much as the server's. Where
/// one request in a hundred waited for a connection, the lateness p99 is that waiting and says nothing of the generator.
pub(crate) fn lateness(measured: &Measurement) -> Option<MarkNote> {
    let (latencies, books) = (&measured.latency_us, &measured.accounting);
    let waited = books.sent_late.get(&LateCause::NoConnection).copied().unwrap_or(0);
    if waited * 100 >= books.sent.max(1) {
        return None;
    }
    let response = latencies.response.as_ref()?;
    let late_us = latencies.lateness.as_ref()?.p99?;
    let quantiles = [("p50", response.p50), ("p90", response.p90), ("p99", response.p99)];
    let near: Vec<String> = quantiles
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|us| *us < LATENESS_FACTOR * late_us)?)))
        .map(|(name, us)| format!("{name} {}", micros(us)))
        .collect();
    (!near.is_empty()).then(|| {
        let late = micros(late_us);
        let near = near.join(", ");
        note(
            Mark::Lateness,
            format!("as much the generator's as the server's, with a lateness p99 of {late} (CPUs of its own, or --spin, lower it): response {near}"),
        )
    })
}

/// Connections that completed nothing, or κ = time of completed requests ÷ (N·T) below 0.9. Closed model only; not
/// where a number of requests ends the load, for then connections fall idle one by one.
pub(crate) fn unserved(asked: &Asked, measured: &Measurement) -> Option<MarkNote> {
    let available_s = asked.slots * measured.window_s;
    if !asked.is_closed() || asked.fixed_count || available_s <= 0.0 {
        return None;
    }
    let never = measured.connections.never_served;
    let kappa = measured.residence.completed_s / available_s;
    let mut parts = Vec::new();
    if never > 0 {
        let of = count(asked.connections.into());
        parts.push(format!("{} of {of} connections completed nothing", count(never)));
    }
    if kappa < SERVED_SHARE {
        parts.push(format!("completed requests account for {} of the connections' time", percent(kappa)));
    }
    (!parts.is_empty()).then(|| note(Mark::Unserved, parts.join("; ")))
}

/// Few completions per connection slot. Closed model only: an open load leaves connections idle by design.
pub(crate) fn thin(asked: &Asked, measured: &Measurement) -> Option<MarkNote> {
    let per_slot = measured.in_window.completed as f64 / asked.slots.max(1.0);
    (asked.is_closed() && per_slot < THIN_COMPLETIONS)
        .then(|| note(Mark::Thin, format!("{} completions per connection slot", figure(per_slot))))
}

/// Throughput is what the handler delay allows.
pub(crate) fn at_ceiling(asked: &Asked, measured: &Measurement) -> Option<MarkNote> {
    let most = asked.ceiling_per_s().filter(|_| asked.is_closed())?;
    let share = completions_per_s(measured) / most;
    (share > AT_CEILING).then(|| {
        let formula = asked.ceiling_formula();
        let text = format!("{} of the {} replies a second that {formula} allows", percent(share), figure(most));
        note(Mark::AtCeiling, text)
    })
}

/// The machine was disturbed.
pub(crate) fn noisy(host: &HostUse) -> Option<MarkNote> {
    let mut parts = Vec::new();
    if host.steal_share > NOISY_STEAL {
        parts.push(format!("the hypervisor took {} of the CPU time", percent(host.steal_share)));
    }
    if host.others_share > NOISY_OTHERS {
        parts.push(format!("other processes used {} of the CPU time", percent(host.others_share)));
    }
    (!parts.is_empty()).then(|| note(Mark::Noisy, parts.join("; ")))
}

/// Requests that failed or got a wrong reply. What still waited for a connection at the end of an open load is the
/// rate's doing and no error.
pub(crate) fn errors(measured: &Measurement) -> Option<MarkNote> {
    let books = &measured.accounting;
    let share = books.error_share();
    (share > 0.0).then(|| {
        let not_sent = books.not_sent.iter().filter(|(kind, _)| **kind != NotSent::WaitingAtEnd);
        let not_sent = not_sent.map(|(kind, number)| (kind.id(), *number));
        let failed = books.failed.iter().map(|(kind, number)| (kind.id(), *number));
        let wrong = [("with a wrong reply", books.bad_status + books.bad_body)];
        let (share, of) = (percent(share), count(books.scheduled));
        note(Mark::Errors, format!("{share} of {of} requests: {}", kinds(not_sent.chain(failed).chain(wrong))))
    })
}
