//! Causes that a single load is consistent with.

use model::{Load, LoadSpec, Measurement, Metric, Silence, Suspicion};

use crate::silence;
use crate::thresholds::{
    CLOSED_REPLIES, CLOSED_SHARE, DELAYED_ACK_US, HELD_REPLIES, NEAR_US, REGULAR_STALLS, SAME_PERIOD, SHORT_REPLY_BYTES,
};

/// Where it is looked for, from the middle of the distribution on.
const QUANTILES: [Metric; 5] = [Metric::P50, Metric::P75, Metric::P90, Metric::P95, Metric::P99];

/// All of them, of a load by itself.
pub(crate) fn of_load(spec: &LoadSpec, measured: &Measurement) -> Vec<Suspicion> {
    if spec.quick_ack { Vec::new() } else { of_trial(&spec.load, measured) }
}

/// All of them, of a load that acknowledges as its kernel does.
pub(crate) fn of_trial(load: &Load, measured: &Measurement) -> Vec<Suspicion> {
    let others = [regular_stalls(measured), closed(load, measured), held(load, measured)];
    delayed_ack(load, measured).into_iter().chain(others.into_iter().flatten()).collect()
}

/// The rest of short replies comes as much later than their first bytes as an acknowledgement is delayed, from a server so near that no
/// round trip takes so long. A fresh connection
/// acknowledges at once.
fn delayed_ack(load: &Load, measured: &Measurement) -> Option<Suspicion> {
    if !load.keep_alive || load.pipeline > 1 {
        return None;
    }
    if !is_short_and_near(measured) {
        return None;
    }
    let (first, service) = (measured.latency_us.first_byte.as_ref()?, measured.latency_us.service.as_ref()?);
    QUANTILES.into_iter().find_map(|quantile| {
        let (first_byte_us, service_us) = (quantile.of(first)?, quantile.of(service)?);
        let waits = DELAYED_ACK_US.contains(&(service_us - first_byte_us)) && !service.is_lower_bound(service_us);
        waits.then_some(Suspicion::DelayedAck { quantile, first_byte_us, service_us })
    })
}

/// Whether replies fit into what is sent without an acknowledgement, and the server is nearer than one is delayed.
pub(crate) fn is_short_and_near(measured: &Measurement) -> bool {
    let (rate, bytes) = (measured.requests_per_s(), measured.bytes_per_s());
    let connect_us = measured.latency_us.connect.as_ref().and_then(|connect| connect.p50.or(connect.max));
    rate > 0.0 && bytes / rate <= SHORT_REPLY_BYTES && connect_us.is_none_or(|us| us <= NEAR_US)
}

/// A connection for each reply, or nearly, though they were to be kept, and the server ended them.
fn closed(load: &Load, measured: &Measurement) -> Option<Suspicion> {
    let (connections, replies) = (&measured.connections, measured.in_window.completed);
    let opened = connections.opened_in_window?;
    let all = (CLOSED_SHARE * replies as f64).max(CLOSED_REPLIES as f64) as u64;
    let is_so = load.keep_alive && replies >= CLOSED_REPLIES && opened >= all && connections.closed_by_reply >= all;
    is_so.then_some(Suspicion::ClosedConnections { opened, replies })
}

/// Connections that got nothing while another had many replies. Of a load at a rate most are idle by right.
fn held(load: &Load, measured: &Measurement) -> Option<Suspicion> {
    let counts = &measured.connections;
    let (unserved, most) = (counts.never_served, counts.completed_max);
    let is_so = load.keep_alive && !load.model.has_schedule() && unserved > 0 && most >= HELD_REPLIES;
    is_so.then_some(Suspicion::HeldWorkers { unserved, connections: load.connections.into(), most })
}

/// Silences of the server's own at equal distances. One that the window cuts off at either end does not show when it began or ended.
fn regular_stalls(measured: &Measurement) -> Option<Suspicion> {
    // Of a server whose replies are long in coming, silences are its way.
    silence::silent(measured)?;
    let whole =
        |it: &&Silence| it.at_s > silence::EDGE_S && it.at_s + it.length_s < measured.window_s - silence::EDGE_S;
    let own = |it: &&Silence| silence::stood_still_s(measured, it) < it.length_s / 2.0;
    let mut stalls: Vec<&Silence> = measured.silences.iter().filter(whole).filter(own).collect();
    if stalls.len() < REGULAR_STALLS {
        return None;
    }
    stalls.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    let every_s = (stalls[stalls.len() - 1].at_s - stalls[0].at_s) / (stalls.len() - 1) as f64;
    let is_regular = stalls.windows(2).all(|pair| ((pair[1].at_s - pair[0].at_s) / every_s - 1.0).abs() <= SAME_PERIOD);
    let length_s = stalls.iter().map(|it| it.length_s).sum::<f64>() / stalls.len() as f64;
    is_regular.then_some(Suspicion::RegularStalls { count: stalls.len() as u64, every_s, length_s })
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

    /// What a load is consistent with in which nothing was answered from these seconds on, for 0.6 s each.
    fn stalled(at: &[f64]) -> Vec<Suspicion> {
        of(600.0, 700.0, |_, measured| {
            let silence = |at_s: &f64| Silence { at_s: *at_s, length_s: 0.6, ..Silence::default() };
            measured.silences = at.iter().map(silence).collect();
        })
    }

    #[test]
    fn stalls_at_equal_distances_are_something_that_recurs() {
        let seen = stalled(&[1.0, 3.0, 5.1, 7.0]);
        assert!(matches!(seen[..], [Suspicion::RegularStalls { count: 4, every_s: 2.0, .. }]), "{seen:?}");
        assert_eq!(stalled(&[1.0, 3.0, 5.0]), [], "too few");
        assert_eq!(stalled(&[1.0, 3.0, 4.0, 7.0]), [], "not regular");
        let slow = of(600.0, 900_000.0, |_, measured| {
            let silence = |at: u32| Silence { at_s: 0.5 + f64::from(at), length_s: 0.9, ..Silence::default() };
            measured.silences = (0..9).map(silence).collect();
        });
        assert_eq!(slow, [], "its replies come in bursts");
        assert_eq!(stalled(&[0.0, 3.0, 5.0, 7.0]), [], "of the first only the end lies in the window");
    }

    #[test]
    fn connections_that_end_with_each_reply_and_those_that_get_nothing_are_told() {
        let closing = |opened: u64| {
            of(600.0, 700.0, |_, measured| {
                measured.connections.opened_in_window = Some(opened);
                measured.connections.closed_by_reply = opened;
            })
        };
        assert!(matches!(closing(142_000)[..], [Suspicion::ClosedConnections { opened: 142_000, .. }]));
        assert_eq!(closing(1_000), [], "a server that ends a connection after so many replies");
        let serving = |most: u64| {
            of(600.0, 700.0, |_, measured| {
                (measured.connections.never_served, measured.connections.completed_max) = (2, most);
            })
        };
        let held = Suspicion::HeldWorkers { unserved: 2, connections: 10, most: 900 };
        assert_eq!((serving(900), serving(1)), (vec![held], Vec::new()), "or all wait for their turn");
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
        let far = |_: &mut LoadSpec, measured: &mut Measurement| {
            measured.latency_us.connect.as_mut().unwrap().p50 = Some(41_000.0);
        };
        assert_eq!(of(600.0, 41_600.0, far), [], "a round trip");
        assert_eq!(of(600.0, 41_600.0, large), [], "a body that takes so long");
        let unfinished = |_: &mut LoadSpec, measured: &mut Measurement| {
            measured.latency_us.service.as_mut().unwrap().exact_below = Some(NS_PER_S as f64 / 1e6);
        };
        assert_eq!(of(600.0, 41_600.0, unfinished), [], "nobody knows how long it took");
    }
}
