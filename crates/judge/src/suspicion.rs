//! Causes that a single load is consistent with.

use model::{LoadSpec, Measurement, Metric, Suspicion};

use crate::thresholds::{DELAYED_ACK_US, SHORT_REPLY_BYTES};

/// Where it is looked for, from the middle of the distribution on.
const QUANTILES: [Metric; 5] = [Metric::P50, Metric::P75, Metric::P90, Metric::P95, Metric::P99];

/// All of them.
pub(crate) fn of_load(spec: &LoadSpec, measured: &Measurement) -> Vec<Suspicion> {
    delayed_ack(spec, measured).into_iter().collect()
}

/// The first bytes of short replies come soon, and the rest as much later as an acknowledgement is delayed. A fresh connection
/// acknowledges at once, and so does one that is asked to.
fn delayed_ack(spec: &LoadSpec, measured: &Measurement) -> Option<Suspicion> {
    if spec.quick_ack || !spec.keep_alive || spec.pipeline > 1 {
        return None;
    }
    let (rate, bytes) = (measured.requests_per_s(), measured.bytes_per_s());
    if rate <= 0.0 || bytes / rate > SHORT_REPLY_BYTES {
        return None;
    }
    let (first, service) = (measured.latency_us.first_byte.as_ref()?, measured.latency_us.service.as_ref()?);
    QUANTILES.into_iter().find_map(|quantile| {
        let (first_byte_us, service_us) = (quantile.of(first)?, quantile.of(service)?);
        let waits = DELAYED_ACK_US.contains(&(service_us - first_byte_us)) && !service.is_lower_bound(service_us);
        waits.then_some(Suspicion::DelayedAck { quantile, first_byte_us, service_us })
    })
}

#[cfg(test)]
mod tests {
    use model::{LatencySummary, NS_PER_S};

    use super::*;
    use crate::testing::{cell_plan, load_spec, measurement};

    /// A load of ten connections in which every time is `first_us` to the first byte, and `service_us` to the last.
    fn of(first_us: f64, service_us: f64, change: impl FnOnce(&mut LoadSpec, &mut Measurement)) -> Vec<Suspicion> {
        let mut spec = load_spec(cell_plan("a", &[], 10, 0).load);
        let mut measured = measurement(10.0, 10.0 / (service_us / 1e6), 0.1);
        let all = |us: f64, of: &mut Option<LatencySummary>| {
            let of = of.as_mut().unwrap();
            (of.p50, of.p75, of.p90, of.p95, of.p99) = (Some(us), Some(us), Some(us), Some(us), Some(us));
        };
        all(first_us, &mut measured.latency_us.first_byte);
        all(service_us, &mut measured.latency_us.service);
        change(&mut spec, &mut measured);
        of_load(&spec, &measured)
    }

    #[test]
    fn a_delayed_acknowledgement_is_known_by_how_long_it_takes() {
        let seen = of(600.0, 41_600.0, |_, _| {});
        let expected = Suspicion::DelayedAck { quantile: Metric::P50, first_byte_us: 600.0, service_us: 41_600.0 };
        assert_eq!(seen, [expected]);
        assert_eq!(of(41_000.0, 41_600.0, |_, _| {}), [], "the server takes so long by itself");
        assert_eq!(of(600.0, 81_600.0, |_, _| {}), [], "nor is it that long");
    }

    #[test]
    fn it_is_told_from_which_replies_on_it_shows() {
        let tail = of(600.0, 700.0, |_, measured| {
            measured.latency_us.service.as_mut().unwrap().p99 = Some(44_000.0);
        });
        assert!(matches!(tail[..], [Suspicion::DelayedAck { quantile: Metric::P99, .. }]), "{tail:?}");
    }

    #[test]
    fn where_nothing_is_delayed_it_is_something_else() {
        assert_eq!(of(600.0, 41_600.0, |spec, _| spec.quick_ack = true), []);
        assert_eq!(of(600.0, 41_600.0, |spec, _| spec.load.keep_alive = false), [], "fresh connections");
        let large = |_: &mut LoadSpec, measured: &mut Measurement| measured.in_window.ok_bytes *= 1_000_000;
        assert_eq!(of(600.0, 41_600.0, large), [], "a body that takes so long");
        let unfinished = |_: &mut LoadSpec, measured: &mut Measurement| {
            measured.latency_us.service.as_mut().unwrap().exact_below = Some(NS_PER_S as f64 / 1e6);
        };
        assert_eq!(of(600.0, 41_600.0, unfinished), [], "nobody knows how long it took");
    }
}
