//! One server, alone and in slices: what is asked is the same, and so must be what comes of it.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use engine::simulation::{SimulatedServer, simulate, simulate_rotation};
use engine::{RunOptions, SliceSpec, Sliced};
use model::{Arrivals, CellPlan, Extent, LoadModel, LoadSpec, Plan, Rotation, TrialSpec, Turn};

use super::*;
use crate::asked::Asked;
use crate::failing::share_unanswered;
use crate::guard::{Doubt, Side, edges, figure};
use crate::launch::{Launch, Rounds};
use crate::records::Records;
use crate::rotation::{by_conditions, sets, together};
use crate::testing::load_spec;

const MS: u64 = 1_000_000;

/// A plan in which two servers are asked for this, as one that was carried out: of a closed load on handlers that wait, too.
fn plan(model: LoadModel, connections: u32, handler_ms: u64) -> Plan {
    let session = Session::new().delayed("a", connections, handler_ms, 100.0);
    let mut draft = session.delayed("b", connections, handler_ms, 100.0).draft();
    draft.rotation = Some(Rotation { slice_ns: 250 * MS, lead_in_ns: 20 * MS, rounds: Some(40) });
    draft.cells.iter_mut().for_each(|cell| cell.load.model = model);
    draft.resolve().expect("it can be carried out")
}

fn spec(cell: &CellPlan) -> LoadSpec {
    LoadSpec { start_spread_ns: cell.handler_delay_ns, ..load_spec(cell.load.clone()) }
}

fn launched(measurement: Measurement, slices: Vec<Slice>) -> TrialRecord {
    TrialRecord { measurement: Some(measurement), observation: None, slices, ..trial() }
}

fn alone(plan: &Plan, server: &SimulatedServer) -> TrialRecord {
    let made = simulate(&spec(&plan.cells[0]), server.clone(), RunOptions::default(), &mut |_| {}).unwrap();
    launched(made.measurement, Vec::new())
}

/// By the turns of the plan, beside another server that is like it.
fn in_slices(plan: &Plan, server: &SimulatedServer) -> TrialRecord {
    let set = sets(&by_conditions(plan)).remove(0);
    let trials = (0..2).map(|cell| TrialSpec { block: 1, position: cell as u32 + 1, cell, twin: false }).collect();
    let mut turns = together(plan, set.slicing, trials, 7).turns.into_iter();
    let loads: Vec<LoadSpec> = plan.cells.iter().map(spec).collect();
    let (mut slices, mut taken) = (Vec::new(), None::<Turn>);
    let mut next = |last: Option<Sliced>| {
        let of_it = taken.filter(|turn| turn.launch == 0).zip(last);
        slices.extend(of_it.map(|(turn, last)| Slice { round: turn.round, ..last.figures }));
        taken = turns.next();
        let Turn { launch: server, round, lead_in_ns, window_ns, seed } = taken?;
        Some(SliceSpec { server, counts: round > 0, lead_in_ns, window_ns, seed })
    };
    let (servers, stop) = (vec![server.clone(); 2], AtomicBool::new(false));
    let whole = simulate_rotation(&loads, servers, RunOptions::default(), &stop, &mut next, &mut |_| {}).unwrap();
    launched(whole.into_iter().next().flatten().unwrap().measurement, slices)
}

/// The launch's value of a metric, and its judgement.
fn found(plan: &Plan, trial: &TrialRecord) -> (Vec<Option<f64>>, TrialJudgement) {
    let judgement = check_trial(&plan.cells[0], None, trial);
    let rounds = (!trial.slices.is_empty()).then(|| Rc::new(Rounds::default()));
    let launch = Launch { rounds, ..Launch::new(trial, Cow::Owned(judgement.clone())) };
    (COMPARED.map(|metric| launch.value(metric)).to_vec(), judgement)
}

/// All that virtual time shows of a load.
const COMPARED: [Metric; 8] = [
    Metric::Throughput,
    Metric::ElapsedPerRequest,
    Metric::Mean,
    Metric::P50,
    Metric::P90,
    Metric::P99,
    Metric::Errors,
    Metric::NeverServed,
];

/// How far two values may be apart, as a share. Each edge of a window cuts off or adds one request at most, of which the longest
/// weighs most, where they come one after the other: of many edges 4 standard deviations, none over a half. Alone all connections
/// begin at once where no delay is known. A histogram knows a value to 0.1 %, and so does each of two.
fn allowed(plan: &Plan, in_slices: &TrialRecord, longest_s: f64) -> f64 {
    let (cell, measured) = (&plan.cells[0], in_slices.measurement.as_ref().unwrap());
    let is_spread = cell.load.model.has_schedule() || cell.handler_delay_ns > 0;
    let alone = if is_spread { 1.0 } else { f64::from(cell.load.connections) };
    let requests_s = measured.in_window.completed as f64 * measured.latency_us.felt().unwrap().mean.unwrap() / 1e6;
    (4.0 * 0.5 * windows(&in_slices.slices).sqrt() + alone) * longest_s / requests_s + 0.002
}

#[test]
fn a_server_in_slices_has_the_values_that_it_has_alone() {
    let constant = |rate_per_s| LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
    let slow = Some((50, 20 * MS));
    // Lead-ins last 20 ms, two delays, or one request for each connection, which is a whole number of gaps.
    for (model, connections, handler_ms, service_ms, slow) in [
        (LoadModel::Closed, 10, 60, 60, None),
        (LoadModel::Closed, 100, 30, 30, None),
        (LoadModel::Closed, 8, 7, 7, None),
        (LoadModel::Closed, 10, 0, 3, None),
        (LoadModel::Closed, 10, 0, 2, slow),
        (constant(160.0), 10, 0, 2, None),
        (constant(100.0), 7, 30, 30, None),
        (constant(1_000.0), 10, 0, 3, None),
        (constant(1_000.0), 40, 10, 10, slow),
    ] {
        let what = format!("{model:?}, {connections} connections, {service_ms} ms");
        let (plan, server) = (plan(model, connections, handler_ms), SimulatedServer { slow, ..hello(service_ms) });
        let [alone, in_slices] = [alone(&plan, &server), in_slices(&plan, &server)];
        let longest_ms = service_ms + slow.map_or(0, |(_, ns)| ns / MS);
        let most = allowed(&plan, &in_slices, longest_ms as f64 / 1e3);
        assert!(most < 0.02, "{what}: {most}");
        let [(alone, its), (sliced, their)] = [found(&plan, &alone), found(&plan, &in_slices)];
        assert_eq!((&its.void, &their.void), (&None, &None), "{what}");
        let ids = |of: &TrialJudgement| of.marks.iter().map(|note| note.mark()).collect::<Vec<Mark>>();
        assert_eq!(ids(&its), ids(&their), "{what}");
        for ((metric, alone), sliced) in COMPARED.iter().zip(alone).zip(sliced) {
            let (alone, sliced) = (alone.unwrap(), sliced.unwrap());
            let most = if metric.quantile().is_some() { 0.002 } else { most };
            assert!((sliced - alone).abs() <= most * alone, "{what}, {metric}: {alone} alone, {sliced} in slices");
        }
    }
}

fn hello(service_ms: u64) -> SimulatedServer {
    SimulatedServer::new(service_ms * MS, "Hello world")
}

/// Each window's end cuts off a request of each slot: 12 % of what completes, and all of them were answered.
#[test]
fn what_the_end_of_a_slice_cuts_off_is_served_and_what_never_has_a_reply_is_not() {
    let plan = plan(LoadModel::Closed, 10, 60);
    let mut trial = in_slices(&plan, &hello(60));
    let unserved = |trial: &TrialRecord| {
        check_trial(&plan.cells[0], None, trial).marks.iter().any(|note| note.mark() == Mark::Unserved)
    };
    let load = trial.measurement.as_mut().unwrap();
    let completed = load.residence.completed_s / (10.0 * load.window_s);
    assert!(completed < crate::thresholds::SERVED_SHARE, "{completed}");
    assert!(!unserved(&trial));
    trial.measurement.as_mut().unwrap().accounting.in_flight_at_end = 10 * windows(&trial.slices) as u64;
    assert!(unserved(&trial), "no reply came after any of the windows");
}

#[test]
fn the_edges_of_each_slice_leave_a_rate_open_and_no_cost_of_a_request() {
    let short = |draft: &mut model::Draft| {
        draft.rotation.as_mut().expect("it rotates").rounds = Some(8);
        draft.cells.iter_mut().for_each(|cell| cell.load.extent = Extent::Window(2_000 * MS));
    };
    let plan = plan(LoadModel::Closed, 100, 90).with(short).expect("it can be carried out");
    let server = hello(90);
    let found = |launched: TrialRecord| {
        let slices = launched.slices.into_iter().map(|slice| Slice { cpu_s: 0.01, ..slice }).collect();
        let (levels, observation) = (plan.cells[0].levels.clone(), trial().observation);
        let launches = [TrialRecord { levels, observation, slices, ..launched }];
        let records = Records::new(&plan, &launches);
        let cost = figure(&records, (Side::alone(0), 1), Metric::CpuPerRequest, &[Doubt::Edges], 0.95).unwrap();
        (edges(&records, 0, 1).unwrap(), cost.low < cost.high, windows(&launches[0].slices))
    };
    let (alone, cost_is_open, _) = found(alone(&plan, &server));
    assert!((alone - 0.045).abs() < 0.001 && cost_is_open, "one delay in the window: {alone}");
    let (sliced, cost_is_open, windows) = found(in_slices(&plan, &server));
    assert!((sliced / alone / windows - 1.0).abs() < 0.1 && windows == 8.0 && !cost_is_open, "{sliced}");
}

/// Of such replies more of the long ones begin in a slice than end in it: what is counted is too low, and the times of those that were
/// sent tell by how much.
#[test]
fn where_some_replies_outlast_the_lead_in_a_rate_is_open_as_far_as_to_what_it_is_alone() {
    let plan = plan(LoadModel::Closed, 50, 0);
    let of = |server: SimulatedServer| {
        let (levels, observation) = (plan.cells[0].levels.clone(), trial().observation);
        let first = TrialRecord { levels, observation, block: 1, ..in_slices(&plan, &server) };
        let mut launches = [first.clone(), TrialRecord { block: 2, ..first }];
        let range = |launches: &[TrialRecord]| {
            let records = Records::new(&plan, launches);
            figure(&records, (Side::alone(0), 1), Metric::Throughput, &[Doubt::Edges], 0.95).unwrap()
        };
        let of_both = range(&launches);
        // A stall in the drain of one of them: what was in flight took longer, and was counted before or behind.
        let felt = launches[1].measurement.as_mut().unwrap().latency_us.service.as_mut().unwrap();
        felt.mean = felt.mean.map(|mean| mean * 1.05);
        let (stalled, counted) = (range(&launches), Records::new(&plan, &launches).value(0, 1, Metric::Throughput));
        assert!(
            stalled.high - stalled.low <= of_both.high - of_both.low,
            "one launch alone opens nothing: {stalled:?}"
        );
        (counted.unwrap(), of_both)
    };
    // A fifth takes 80 ms, the others 1 ms.
    let rate = 50.0 / 0.0168;
    let (counted, range) = of(SimulatedServer { slow: Some((5, 79 * MS)), ..hello(1) });
    assert!(counted < 0.98 * rate && range.low == counted, "{counted} of {rate}");
    assert!((range.high / rate - 1.0).abs() < 0.01, "{range:?} around {rate}");
    let (counted, range) = of(hello(17));
    assert!((range.high / range.low - 1.0) < 0.003, "{range:?} around {counted}");
}

#[test]
fn a_server_that_answers_no_more_leaves_open_how_much_of_it_would_have_failed() {
    let of = |silent: &[u32]| {
        let mut trial = trial();
        silent.iter().for_each(|round| {
            let slice = slice(&mut trial, *round);
            (slice.replies, slice.completed, slice.ok, slice.not_drained) = (0, 0, 0, 10);
        });
        let plan = cell_plan("a", &[], 10, 0);
        share_unanswered(&Asked::from(&plan), trial.measurement.as_ref().unwrap(), &trial.slices)
    };
    assert_eq!(of(&[9, 10]), 1.0);
    assert!(of(&[5, 6]) < 1.0 && of(&[10]) < 1.0, "it came back, or may have paused");
    assert_eq!(of(&[]), 0.0);
}
