//! Where service time alone would mislead about what users wait for.

use model::{Code, LateCause, Mark, Measurement, Metric, Validity};

use crate::format::{counted, duration_us, thousands};

/// The figures of which one is told: the usual one, else the first that service time alone hides.
const FIGURES: [(Metric, &str); 4] =
    [(Metric::P99, "p99"), (Metric::P90, "p90"), (Metric::P999, "p99.9"), (Metric::P50, "p50")];

/// Said where a figure of the service time is below half of what users would have seen.
pub(crate) fn gap(validity: &Validity, measured: &Measurement) -> Option<String> {
    FIGURES.into_iter().find_map(|figure| of_figure(figure, validity, measured))
}

fn of_figure((figure, name): (Metric, &str), validity: &Validity, measured: &Measurement) -> Option<String> {
    // What the generator sent late itself did not wait at the server, and nobody knows the figure without it.
    let is_late =
        |reason: &model::Reason| reason.code() == Code::Mark(Mark::Lateness) && reason.metrics.contains(&figure);
    if validity.reasons.iter().any(is_late) {
        return None;
    }
    let felt = measured.latency_us.response.as_ref()?;
    let (felt_us, service_us) = (figure.of(felt)?, figure.of(measured.latency_us.service.as_ref()?)?);
    // Of the server's making is at least what is left without the generator's own standstills, where these made the figure.
    let stood_still =
        |reason: &model::Reason| reason.code() == Code::Mark(Mark::Standstill) && reason.metrics.contains(&figure);
    let least_us = match validity.reasons.iter().any(stood_still) {
        true => figure.of(measured.least_latencies()?.response.as_ref()?)?,
        false => felt_us,
    };
    // What never left is in the one and not in the other, and may be the lesser wait.
    let least_us = least_us.min(felt_us);
    let bound = if felt.is_lower_bound(felt_us) { "at least " } else { "" };
    let [shown, least, service] = [felt_us, least_us, service_us].map(duration_us);
    let seen = if least == shown {
        format!("{bound}{shown}")
    } else {
        format!("at least {least} without the generator's own standstills, {bound}{shown} with them")
    };
    (service_us < least_us / 2.0).then(|| {
        format!(
            "The {name} that users would have seen: {seen}. Timed from the send: {service}, which hides the waiting{}.",
            own_waiting(measured)
        )
    })
}

/// Said where most of what was sent late was so because of the generator, though not of this figure alone.
fn own_waiting(measured: &Measurement) -> String {
    let late = &measured.accounting.sent_late;
    let all = model::sum(late.values().copied());
    let own = late.get(&LateCause::Generator).copied().unwrap_or(0);
    if own <= all / 2 {
        return String::new();
    }
    let of = counted(all, "late send", "late sends");
    format!("; much of it may be the generator's own, which caused {} of {of}", thousands(own))
}
