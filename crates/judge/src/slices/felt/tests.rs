use std::sync::atomic::AtomicBool;

use engine::simulation::{SimulatedServer, simulate_rotation};
use engine::{RunOptions, SliceSpec, Sliced};
use model::{Arrivals, Extent, LoadModel};
use proptest::prelude::*;

use super::*;
use crate::testing::{cell_plan, load_spec};

const MS: u64 = 1_000_000;

/// A server's warm-up and slices of 100 ms in virtual time, of which some do not count: the slices, and what the others come to.
fn sliced(model: LoadModel, server: &SimulatedServer, counts: &[bool]) -> (Vec<Slice>, Measurement) {
    let mut load = cell_plan("a", &[], 8, 0).load;
    (load.model, load.extent) = (model, Extent::Window(MS));
    let spec = load_spec(load);
    let mut slices = Vec::new();
    let mut next = |last: Option<Sliced>| {
        slices.extend(last.map(|last| last.figures));
        let round = slices.len();
        let counts = round.checked_sub(1).map_or(Some(&false), |at| counts.get(at))?;
        Some(SliceSpec { server: 0, counts: *counts, lead_in_ns: 20 * MS, window_ns: 100 * MS, seed: round as u64 })
    };
    let (servers, stop) = (vec![server.clone()], AtomicBool::new(false));
    let whole = simulate_rotation(&[spec], servers, RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
    let whole = whole.into_iter().next().flatten().unwrap().measurement;
    let numbered = slices.into_iter().zip(0..).map(|(slice, round)| Slice { round, ..slice });
    (numbered.collect(), whole)
}

fn figures(load: &Measurement) -> BTreeMap<Metric, f64> {
    let felt = load.latency_us.felt().unwrap();
    Metric::ALL.iter().filter_map(|metric| Some((*metric, metric.of(felt)?))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_rounds_that_count_come_to_a_load_in_which_no_other_was_measured(
        service_us in 500_u64..5_000,
        slow in prop::option::of((2_u64..60, 1_u64..20)),
        is_open in any::<bool>(),
        counts in prop::collection::vec(any::<bool>(), 1..8),
    ) {
        let slow = slow.map(|(each, ms)| (each, ms * MS));
        let server = SimulatedServer { slow, ..SimulatedServer::new(service_us * 1_000, "hi") };
        let model =
            if is_open { LoadModel::Open { rate_per_s: 1_500.0, arrivals: Arrivals::Poisson } } else { LoadModel::Closed };
        let (slices, whole) = sliced(model, &server, &vec![true; counts.len()]);
        // What ended without a reply is in no histogram.
        let is_told = whole.latency_us.felt().is_some_and(|felt| felt.censored == 0);
        let all = felt(&whole, &slices, |_| true);
        if !is_told {
            // Wherever those without a reply were, and however long they took.
            let unanswered = whole.latency_us.felt().map_or(0, |felt| felt.censored);
            let mut with_them = merged(&slices.iter().filter(|slice| slice.round > 0).collect::<Vec<_>>()).unwrap();
            let without = with_them.clone();
            with_them.record_n(10 * without.max(), unanswered).unwrap();
            for (metric, us) in all.into_iter().flatten() {
                let [least, most] = [&without, &with_them].map(|all| of(all, metric).unwrap());
                prop_assert!(least <= us && most <= us * 1.003, "{metric:?}: {least} {us} {most}");
            }
            return Ok(());
        }
        prop_assert_eq!(all, Some(figures(&whole)));
        if counts.contains(&true) {
            let (_, kept) = sliced(model, &server, &counts);
            let merged = felt(&whole, &slices, |round| counts[round as usize - 1]);
            prop_assert_eq!(merged, Some(figures(&kept)));
        }
    }
}
