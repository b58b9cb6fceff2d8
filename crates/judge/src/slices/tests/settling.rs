use std::sync::atomic::AtomicBool;

use engine::simulation::{SimulatedServer, simulate_rotation};
use engine::{RunOptions, SliceSpec, Sliced};
use model::{Arrivals, Load, LoadModel};

use super::*;
use crate::testing::load_spec;

const MS: u64 = 1_000_000;

/// What 40 slices of a quarter of a second show of a server that takes so long with one request after the other, at 1,000 requests
/// a second, in virtual time; and the p99 of them all.
fn in_slices(arrivals: Arrivals, connections: u32, service_us: u64) -> (Option<UnslicedCause>, f64) {
    let model = LoadModel::Open { rate_per_s: 1_000.0, arrivals };
    let cell = cell_plan("a", &[], connections, 0);
    let spec = load_spec(Load { model, ..cell.load });
    let lead_in_ns = u64::from(connections.max(20)) * MS;
    let mut slices = Vec::new();
    let mut next = |last: Option<Sliced>| {
        slices.extend(last.map(|sliced| Slice { round: slices.len() as u32 + 1, ..sliced.figures }));
        let round = slices.len() as u64;
        let window_ns = (200 + round * 37 % 101) * MS;
        (round < 40).then_some(SliceSpec { server: 0, counts: true, lead_in_ns, window_ns, seed: round })
    };
    let server = SimulatedServer { workers: 1, ..SimulatedServer::new(service_us * 1_000, "Hello world") };
    let (loads, stop) = ([spec], AtomicBool::new(false));
    let whole = simulate_rotation(&loads, vec![server], RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
    let measured = whole.into_iter().flatten().next().unwrap().measurement;
    let asked = Asked::from(&loads[0]);
    assert_eq!(unsliced(&asked, &measured, None, &slices), None, "{measured:?}");
    let p99_us = measured.latency_us.response.as_ref().and_then(|response| response.p99);
    (unsettled(&asked, &measured, None, &slices), p99_us.unwrap_or(0.0))
}

#[test]
fn a_rate_beyond_what_the_server_does_is_not_cut_into_slices_that_begin_without_a_queue() {
    for (arrivals, connections) in [(Arrivals::Constant, 100), (Arrivals::Poisson, 100), (Arrivals::Constant, 4)] {
        let (cause, p99_us) = in_slices(arrivals, connections, 1_136);
        assert!(p99_us < 100_000.0, "each drains: {p99_us}");
        let Some(UnslicedCause::FallsBehind { due, replies }) = cause else { panic!("{cause:?}") };
        let share = replies as f64 / due as f64;
        assert!((share - 0.88).abs() < 0.02, "{share}");
    }
}

#[test]
fn a_queue_that_grows_slowly_is_seen_in_the_second_halves_wherever_it_is() {
    // 1 % more than it does. With four connections all but four requests wait at the generator, and what is sent takes no longer.
    for connections in [100, 4] {
        let (cause, _) = in_slices(Arrivals::Constant, connections, 1_010);
        let Some(UnslicedCause::Unsettled { slower, slices: 40 }) = cause else { panic!("{cause:?}") };
        assert!(slower > 0.25, "{slower}");
    }
}

#[test]
fn a_rate_that_the_server_keeps_up_with_is_cut() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        for (connections, service_us) in [(100, 100), (100, 500), (100, 700), (4, 500)] {
            assert_eq!(
                in_slices(arrivals, connections, service_us).0,
                None,
                "{arrivals:?}, {connections}, {service_us}"
            );
        }
    }
}

#[test]
fn halves_say_by_response_times_where_they_tell_them() {
    let mut slices = in_halves(10, |_| [1_000.0, 1_000.0]);
    let asked_open = |slices: &[Slice]| {
        let mut cell = cell_plan("a", &[], 10, 0);
        cell.load.model = LoadModel::Open { rate_per_s: 1_000.0, arrivals: Arrivals::Constant };
        let trial = trial();
        unsettled(&Asked::from(&cell), trial.measurement.as_ref().unwrap(), None, slices)
    };
    assert_eq!(asked_open(&slices), None);
    for slice in &mut slices {
        let [first, second] = slice.halves.as_mut().unwrap();
        (first.response_ns, second.response_ns) = (first.service_ns, 3 * second.service_ns / 2);
    }
    let said = asked_open(&slices).map(|cause| report::reason_words(&cause.into()));
    assert_eq!(
        said.as_deref(),
        Some(
            "cannot rotate with other targets: slices are too short for the load to settle: each starts rested and with an \
             empty queue (in the second halves of 10 slices requests took 50 % longer than in the first)"
        )
    );
}

#[test]
fn a_closed_load_that_gets_slower_within_its_slices_has_not_settled() {
    let closed = |slices: &[Slice]| {
        let trial = trial();
        let cause =
            unsettled(&Asked::from(&cell_plan("a", &[], 10, 0)), trial.measurement.as_ref().unwrap(), None, slices);
        cause.map(|cause| cause.code().id())
    };
    let rested = |slower: f64| in_halves(10, |_| [1_000.0, 1_000.0 * slower]);
    assert_eq!(closed(&rested(1.12)), Some("unsettled"), "a server that rests while it idles is quick at first");
    assert_eq!(closed(&rested(1.08)), None);
    let mut waited = rested(1.0);
    for slice in &mut waited {
        let [first, second] = slice.halves.as_mut().unwrap();
        (first.response_ns, second.response_ns) = (first.service_ns, 3 * second.service_ns / 2);
    }
    assert_eq!(closed(&waited), None, "nothing is due but what is sent");
}
