//! Where service time alone would mislead about what users wait for.

use model::{Code, Latencies, LatencySummary, Mark, Measurement, Metric, Validity};

use crate::format::duration_us;

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
        |reason: &model::Reason| reason.code == Code::Mark(Mark::Lateness) && reason.metrics.contains(&figure);
    if validity.reasons.iter().any(is_late) {
        return None;
    }
    let (felt, felt_us, service_us) = both(figure, &measured.latency_us)?;
    let Some(stood) = &measured.standstills else { return sentence(name, felt, (felt_us, service_us), "") };
    // Of the server's making is what is left without the requests that the generator's standstills touched.
    let (bare, bare_us, bare_service_us) = both(figure, &stood.without_us)?;
    if duration_us(bare_us) == duration_us(felt_us) {
        return sentence(name, felt, (felt_us, bare_service_us), "");
    }
    sentence(name, bare, (bare_us, bare_service_us), ", without what the generator itself held up")
}

/// What users would have seen, and what is timed from the send.
fn both(figure: Metric, latencies: &Latencies) -> Option<(&LatencySummary, f64, f64)> {
    let felt = latencies.response.as_ref()?;
    Some((felt, figure.of(felt)?, figure.of(latencies.service.as_ref()?)?))
}

fn sentence(name: &str, felt: &LatencySummary, (felt_us, service_us): (f64, f64), without: &str) -> Option<String> {
    let bound = if felt.is_lower_bound(felt_us) { "at least " } else { "" };
    let [shown, service] = [felt_us, service_us].map(duration_us);
    (service_us < felt_us / 2.0).then(|| {
        format!(
            "The {name} that users would have seen{without}: {bound}{shown}. Timed from the send, as wrk does: {service}, \
             which hides the waiting."
        )
    })
}
