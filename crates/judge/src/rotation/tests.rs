use std::collections::{BTreeMap, BTreeSet};

use model::{
    Arrivals, Backend, ComparePlan, Draft, Extent, Level, LoadModel, MOST_STEPS, Metric, NS_PER_S, Plan, Rotation,
    Together, TrialSpec, Turn, Whole, parse_gates,
};

use super::{Slicing, by_conditions, sets, together};
use crate::testing::Session;

const MS: u64 = 1_000_000;
const ROTATION: Rotation = Rotation { slice_ns: 250 * MS, lead_in_ns: 20 * MS, rounds: None };
const SLICING: Slicing = Slicing { slice_ns: ROTATION.slice_ns, lead_in_ns: ROTATION.lead_in_ns, rounds: 40 };

fn plan(change: impl Fn(&mut Draft)) -> Plan {
    let mut draft = Session::new().cell("a", 100.0).cell("b", 100.0).twin().draft();
    draft.rotation = Some(ROTATION);
    change(&mut draft);
    draft.resolve().expect("it can be carried out")
}

/// So many launches of the first cell go round.
fn rotated(plan: &Plan, launches: usize, rounds: u32, seed: u64) -> Together {
    let spec = |position: usize| TrialSpec { block: 1, position: position as u32 + 1, cell: 0, twin: false };
    together(plan, Slicing { rounds, ..SLICING }, (0..launches).map(spec).collect(), seed)
}

/// The turns of each round but the first, which is the warm-up.
fn rounds(together: &Together) -> Vec<Vec<Turn>> {
    let mut rounds = BTreeMap::<u32, Vec<Turn>>::new();
    for turn in together.turns.iter().filter(|turn| turn.round > 0) {
        rounds.entry(turn.round).or_default().push(*turn);
    }
    rounds.into_values().collect()
}

#[test]
fn over_a_whole_set_each_launch_follows_each_other_equally_often_and_has_each_place_equally_often() {
    for launches in 2..=10 {
        let (times, set) = if launches % 2 == 0 { (1, launches) } else { (2, 2 * launches) };
        let together = rotated(&plan(|_| ()), launches, 2 * set as u32, 7);
        for set in rounds(&together).chunks(set) {
            let (mut follows, mut places) = (BTreeMap::new(), BTreeMap::new());
            for round in set {
                let order: Vec<usize> = round.iter().map(|turn| turn.launch).collect();
                assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), launches, "each once in {order:?}");
                order.windows(2).for_each(|pair| *follows.entry((pair[0], pair[1])).or_insert(0) += 1);
                order.iter().copied().enumerate().for_each(|of| *places.entry(of).or_insert(0) += 1);
            }
            assert!(follows.len() == launches * (launches - 1) && follows.values().all(|count| *count == times));
            assert!(places.len() == launches * launches && places.values().all(|count| *count == times));
        }
    }
}

#[test]
fn turns_follow_from_plan_and_seed_alone() {
    let of = |seed| rotated(&plan(|_| ()), 3, 12, seed);
    assert_eq!(of(1), of(1));
    assert_ne!(rounds(&of(1)), rounds(&of(2)));
    // A recorded order: what a run was asked for must be found again.
    let order = |round: &Vec<Turn>| round.iter().map(|turn| turn.launch).collect::<Vec<_>>();
    let orders: Vec<Vec<usize>> = rounds(&of(1)).iter().map(order).collect();
    assert_eq!(orders[..3], [[1, 2, 0], [0, 2, 1], [1, 0, 2]]);
}

#[test]
fn all_slices_of_a_round_are_alike_and_rounds_differ_by_a_fifth_either_way() {
    let together = rotated(&plan(|_| ()), 3, 120, 3);
    let rounds = rounds(&together);
    let lengths: Vec<f64> = rounds.iter().map(|round| round[0].window_ns as f64 / ROTATION.slice_ns as f64).collect();
    for round in &rounds {
        let ask = |turn: &Turn| (turn.window_ns, turn.seed, turn.lead_in_ns);
        assert!(round.iter().all(|turn| ask(turn) == ask(&round[0])));
    }
    assert!(lengths.iter().all(|length| (0.8..=1.2).contains(length)));
    assert!(lengths.iter().any(|length| *length < 0.85) && lengths.iter().any(|length| *length > 1.15));
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert_eq!(rounds.iter().map(|round| round[0].seed).collect::<BTreeSet<_>>().len(), 120);
}

#[test]
fn first_each_launch_is_warmed_for_as_long_as_it_needs_the_last_moment_once_all_are() {
    let first = |plan: &Plan| -> Vec<(usize, u64, u64)> {
        let turns = rotated(plan, 2, 1, 1).turns;
        let warm_up = turns.iter().take_while(|turn| turn.round == 0);
        warm_up.map(|turn| (turn.launch, turn.window_ns, turn.lead_in_ns)).collect()
    };
    let again = ROTATION.slice_ns;
    let with = |first_ns| [(0, first_ns, 0), (1, first_ns, 0), (0, again, 0), (1, again, 0)];
    assert_eq!(first(&plan(|_| ())), with(NS_PER_S - again));
    let slow = |draft: &mut Draft| draft.targets[0].launch.warm_within_ns = 20 * NS_PER_S;
    assert_eq!(first(&plan(slow)), with(20 * NS_PER_S - again));
    assert_eq!(first(&plan(|draft| draft.cells[0].load.warm_up_ns = 10)), with(10), "it is shorter than the moment");
    assert_eq!(first(&plan(|draft| draft.cells[0].load.warm_up_ns = 0)), []);
}

/// The slices of the first conditions, or why they have none.
fn fitted(plan: &Plan) -> Result<Slicing, Whole> {
    by_conditions(plan)[0].1
}

fn window(draft: &mut Draft, cell: usize, window_ns: u64) {
    draft.cells[cell].load.extent = Extent::Window(window_ns);
}

#[test]
fn the_longest_window_of_a_set_says_how_many_rounds_it_has() {
    let of = |a_ms: u64, b_ms: u64| {
        let plan =
            plan(|draft| [a_ms, b_ms].into_iter().enumerate().for_each(|(cell, ms)| window(draft, cell, ms * MS)));
        fitted(&plan).map(|slicing| (slicing.slice_ns / MS, slicing.rounds))
    };
    assert_eq!(of(10_000, 10_000), Ok((250, 40)));
    assert_eq!(of(1_000, 10_000), Ok((250, 40)));
    assert_eq!(of(1_100, 1_000), Ok((250, 6)), "whole pairs, as long as the window at least");
    assert_eq!(of(500, 500), Ok((250, 2)));
    assert_eq!(of(499, 499), Err(Whole::ShortWindow));
    assert_eq!(of(400, 500), Ok((250, 2)));
    assert_eq!(of(120_000, 10), Ok((1_000, MOST_STEPS as u32)), "each slice is a step of the record");
}

#[test]
fn sets_of_one_plan_have_rounds_of_their_own() {
    let several = plan(|draft| {
        for cell in [0, 1] {
            let mut cell = draft.cells[cell].clone();
            cell.levels.0.insert("handler_delay".to_owned(), Level::Text("50ms".to_owned()));
            (cell.handler_delay_ns, cell.load.extent) = (50 * MS, Extent::Window(3 * NS_PER_S));
            cell.load.model = LoadModel::Open { rate_per_s: 500.0, arrivals: Arrivals::Constant };
            draft.cells.push(cell);
        }
    });
    let rounds = |plan: &Plan| -> Vec<(usize, u32)> {
        let sets = sets(&by_conditions(plan));
        sets.iter().map(|set| (set.cells.len(), set.slicing.rounds)).collect()
    };
    assert_eq!(rounds(&several), [(2, 40), (2, 12)]);
    // As plans of schema 2 have it: one number for all, whatever the plan says besides.
    let old = several.with(|draft| {
        draft.rotation = Some(Rotation { rounds: Some(14), ..ROTATION });
        draft.cells[2].handler_delay_ns = NS_PER_S;
        draft.cells[3].load.model = LoadModel::Closed;
    });
    assert_eq!(rounds(&old.expect("it can be carried out")), [(2, 14), (2, 14)]);
}

#[test]
fn an_open_rate_makes_slices_long_enough_or_keeps_launches_alone() {
    let at = |rate_per_s: f64, window_ms: u64| {
        let open = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
        fitted(&plan(|draft| {
            draft.cells[1].load.model = open;
            [0, 1].into_iter().for_each(|cell| window(draft, cell, window_ms * MS));
        }))
        .map(|slicing| (slicing.slice_ns / MS, slicing.rounds))
    };
    assert_eq!(at(160.0, 10_000), Ok((250, 40)));
    assert_eq!(at(80.0, 10_000), Ok((500, 20)));
    assert_eq!(at(10.0, 6_000), Ok((3_000, 2)), "24 requests in the shortest");
    assert_eq!(at(10.0, 4_000), Err(Whole::FewRequests), "16 requests in the shortest");
    let many = plan(|draft| {
        draft.cells[1].load.model = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
        draft.cells[1].load.connections = 200;
    });
    assert_eq!(fitted(&many).map(|slicing| slicing.slice_ns), Ok(2 * NS_PER_S), "each connection has its turn");
    let more = many.with(|draft| draft.cells[1].load.connections = 600);
    assert_eq!(fitted(&more.expect("it can be carried out")), Err(Whole::FewRequests));
}

#[test]
fn a_closed_load_on_handlers_that_wait_does_not_go_round_nor_any_on_those_that_outlast_the_end_of_a_slice() {
    let open = LoadModel::Open { rate_per_s: 500.0, arrivals: Arrivals::Poisson };
    let of = |delay_ms: u64, model: LoadModel| {
        fitted(&plan(|draft| {
            draft.cells[1].handler_delay_ns = delay_ms * MS;
            draft.cells.iter_mut().for_each(|cell| cell.load.model = model);
        }))
        .map(|slicing| slicing.slice_ns / MS)
    };
    assert_eq!((of(0, LoadModel::Closed), of(99, open)), (Ok(250), Ok(250)));
    assert_eq!(
        of(5, LoadModel::Closed),
        Err(Whole::HandlerDelay),
        "it would bunch in one window and does not in slices"
    );
    assert_eq!(of(100, open), Err(Whole::HandlerDelay));
}

#[test]
fn a_lead_in_lasts_until_each_connection_had_its_first_reply() {
    let of = |change: &dyn Fn(&mut Draft)| rotated(&plan(change), 2, 1, 1).turns.last().map(|turn| turn.lead_in_ns);
    assert_eq!(of(&|_| ()), Some(20_000_000));
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    let waiting = |draft: &mut Draft| {
        draft.cells[0].load.model = open;
        draft.cells[0].handler_delay_ns = 90_000_000;
    };
    assert_eq!(of(&waiting), Some(180_000_000));
    assert_eq!(of(&|draft| draft.cells[0].load.model = open), Some(100_000_000), "10 connections at 100 a second");
}

#[test]
fn what_shares_its_conditions_goes_round_together_where_its_load_can_be_cut() {
    let cells =
        |plan: &Plan| -> Vec<Vec<usize>> { sets(&by_conditions(plan)).into_iter().map(|set| set.cells).collect() };
    assert_eq!(cells(&plan(|_| ())), [[0, 1]]);
    assert_eq!(by_conditions(&plan(|draft| draft.rotation = None)), []);
    type Change = fn(&mut Draft);
    fn comparison(change: fn(&mut ComparePlan)) -> Option<ComparePlan> {
        let mut asked = ComparePlan { old: "a".to_owned(), new: "b".to_owned(), ..ComparePlan::default() };
        change(&mut asked);
        Some(asked)
    }
    let p99 = plan(|draft| draft.comparison = comparison(|asked| asked.gates = parse_gates("p99<+25%").unwrap()));
    assert_eq!(fitted(&p99), Ok(SLICING));
    let whole: [(Change, Whole); 13] = [
        (|draft| draft.ladder = Some("connections".to_owned()), Whole::Ladder),
        (|draft| draft.cells.truncate(1), Whole::OneTarget),
        (|draft| draft.cells[1].load.keep_alive = false, Whole::NewConnections),
        (|draft| draft.cells[1].load.extent = Extent::Requests { count: 10, within_ns: None }, Whole::Requests),
        (|draft| draft.cells[1].load.network_delay_ns = 1_000_000, Whole::NetworkDelay),
        (|draft| draft.cells[1].profile = true, Whole::Profile),
        (|draft| draft.cells[1].backend = Some(Backend::default()), Whole::Backend),
        (|draft| draft.cells[1].census = Some(true), Whole::Census),
        (|draft| draft.cells[1].rate_share = Some(0.5), Whole::RateUnknown),
        (|draft| draft.claims = Session::new().claim("p999(b) < 10ms").draft().claims, Whole::Claimed),
        (|draft| draft.claims = Session::new().claim("gc_major(b) < 1").draft().claims, Whole::Claimed),
        (
            |draft| draft.comparison = comparison(|asked| asked.gates = parse_gates("p999<+25%").unwrap()),
            Whole::Claimed,
        ),
        (|draft| draft.comparison = comparison(|asked| asked.primary = Some(Metric::P999)), Whole::Claimed),
    ];
    for (change, why) in whole {
        let plan = plan(change);
        assert_eq!((fitted(&plan), cells(&plan)), (Err(why), Vec::new()));
    }
    let settled = plan(|draft| {
        draft.cells[1].rate_share = Some(0.5);
        draft.cells[1].load.model = LoadModel::Open { rate_per_s: 500.0, arrivals: Arrivals::Constant };
    });
    assert_eq!(fitted(&settled), Ok(SLICING), "once its rate is known it rotates");
}
