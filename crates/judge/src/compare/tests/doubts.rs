//! What may be doubted of a figure takes its verdict back.

use model::{Awaited, Measurement};
use report::claim_notes;

use super::*;

#[test]
fn the_edges_of_the_window_break_no_gate() {
    let gate = |rate: f64| compare(&session(0.9 * rate, rate, 0.001), "throughput>-5%").gates[0].clone();
    assert_eq!(gate(100.0).verdict, GateVerdict::Broken);
    assert_eq!((gate(10.0).verdict, gate(10.0).withheld), (GateVerdict::Undecided, Some(Withheld::Edges)));
}

#[test]
fn a_share_of_errors_is_as_sure_as_its_sample_under_every_adjustment() {
    // 6 of 6,000 against none in each of six blocks: surely different between launches, hardly between samples.
    let found = altered(&session(100.0, 100.0, 0.0), "", &ALL, |trial| fail(trial, 0.001));
    let errors = row(&found, Metric::Errors);
    assert!(errors.p_adjusted.unwrap() > 0.05, "{errors:?}");
    assert_ne!(errors.verdict, ComparisonVerdict::Slower);
}

#[test]
fn what_an_open_load_serves_has_no_bound_where_the_machine_was_busy() {
    let served = |model: LoadModel| {
        let session = session(20.0, 100.0, 0.005);
        let (plan, mut trials) = (under(&session, model), session.records());
        trials.iter_mut().for_each(|trial| disturb(trial, 0.2));
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        row(&compare_targets(run, "old", "new", &[]), Metric::Throughput).withheld
    };
    assert_eq!(served(LoadModel::Closed), None);
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    assert_eq!(served(open), Some(Withheld::Unbounded));
}

#[test]
fn a_figure_that_every_launch_is_too_short_for_is_said_to_be_missing() {
    let (plan, mut trials) = (session(100.0, 100.0, 0.005).plan(), session(100.0, 100.0, 0.005).records());
    for trial in &mut trials {
        let seen = trial.observation.as_mut().unwrap();
        (seen.cpu_user_s, seen.cpu_system_s, seen.by_clock) = (0.05, 0.04, false);
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let found = compare_targets(run, "old", "new", &[]);
    let cost = row(&found, Metric::CpuPerRequest);
    assert_eq!((cost.withheld, &cost.withheld_of[..]), (Some(Withheld::LittleCpu), &[Arm::Old, Arm::New][..]));
}

#[test]
fn a_primary_metric_has_a_row_and_a_family_of_its_own() {
    let mut draft = session(100.0, 100.0, 0.005).draft();
    let both = ComparePlan { old: "old".to_owned(), new: "new".to_owned(), ..ComparePlan::default() };
    draft.comparison = Some(ComparePlan { primary: Some(Metric::P90), ..both });
    let (plan, trials) = (draft.resolve().unwrap(), session(100.0, 100.0, 0.005).records());
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let found = compare_targets(run, "old", "new", &[]);
    assert_eq!(row(&found, Metric::P90).verdict, ComparisonVerdict::Same);
    assert_eq!(found.rows.iter().filter(|row| row.metric == Metric::P90).count(), 1);
    // Holm's correction for the others does not touch it.
    let among_others = compare(&session(100.0, 100.0, 0.005), "p90<+50%");
    let p = |of: &CompareAnalysis| row(of, Metric::P90).p_adjusted.unwrap();
    assert!(p(&found) < p(&among_others), "{} and {}", p(&found), p(&among_others));
}

#[test]
fn a_launch_of_too_little_cpu_leaves_its_cell_without_a_figure_instead_of_the_dearest_launches() {
    let frugal = |blocks: &[u32]| {
        let little = |trial: &mut TrialRecord| {
            let seen = trial.observation.as_mut().unwrap();
            (seen.cpu_user_s, seen.cpu_system_s, seen.by_clock) = (0.05, 0.04, false);
        };
        altered(&session(100.0, 100.0, 0.005), "cpu_per_request<+3%", blocks, little)
    };
    let by_clock = altered(&session(100.0, 100.0, 0.005), "cpu_per_request<+3%", &[2], |trial| {
        let seen = trial.observation.as_mut().unwrap();
        (seen.cpu_user_s, seen.cpu_system_s, seen.by_clock) = (0.05, 0.04, true);
    });
    assert_eq!(row(&by_clock, Metric::CpuPerRequest).withheld, None, "nanoseconds are counted there");
    for some in [&[2][..], &[1, 2, 3, 4, 5]] {
        let found = frugal(some);
        let cost = row(&found, Metric::CpuPerRequest);
        assert_eq!((cost.withheld, &cost.withheld_of[..]), (Some(Withheld::LittleCpu), &[Arm::New][..]), "{some:?}");
        assert_eq!((cost.new.estimate, cost.ratio.estimate, cost.needs_blocks), (None, None, None), "{some:?}");
        assert_eq!(found.gates[0].withheld, Some(Withheld::LittleCpu), "{some:?}");
    }
    assert_eq!(row(&frugal(&[]), Metric::CpuPerRequest).withheld, None);
}

#[test]
fn latencies_of_different_populations_are_not_compared() {
    let server = |seed| Session::new().cell("mine", 100.0).noise(0.005).seed(seed);
    let (before, trials) = (server(1).plan(), server(1).records());
    let mut later = server(2).records();
    let after = server(2).plan().with(|draft| draft.cells[0].load.keep_alive = false).unwrap();
    for trial in &mut later {
        let latencies = &mut trial.measurement.as_mut().unwrap().latency_us;
        latencies.total = latencies.service.clone();
    }
    let environment = Environment::default();
    let old = Run { plan: &before, environment: &environment, trials: &trials };
    let new = Run { plan: &after, environment: &environment, trials: &later };
    let analysis = compare_runs(old, new, ("a".to_owned(), "b".to_owned()), steady(&[])).unwrap();
    for metric in [Metric::P50, Metric::P99] {
        assert_eq!(row(&analysis, metric).withheld, Some(Withheld::Definition), "total and service time");
    }
    assert_eq!(row(&analysis, Metric::Throughput).withheld, None);
}

#[test]
fn a_busy_machine_does_not_hide_a_threefold_cost() {
    let gates = "cpu_per_request<+3%";
    let with_cost = |factor: f64| {
        altered(&session(100.0, 100.0, 0.005), gates, &ALL, |trial| {
            disturb(trial, 0.45);
            trial.observation.as_mut().unwrap().cpu_user_s *= factor;
        })
    };
    let threefold = with_cost(3.3);
    assert_eq!(row(&threefold, Metric::CpuPerRequest).verdict, ComparisonVerdict::Slower);
    assert_eq!(threefold.gates[0].verdict, GateVerdict::Broken, "others' time is not charged to a target");
    let shared = with_cost(1.8);
    assert_eq!(
        row(&shared, Metric::CpuPerRequest).withheld,
        Some(Withheld::Disturbed),
        "a shared core may cost as much"
    );
}

#[test]
fn a_launch_that_served_nothing_leaves_no_ratio() {
    let nothing = |trial: &mut TrialRecord| trial.measurement.as_mut().unwrap().in_window.ok = 0;
    let analysis =
        altered(&session(100.0, 100.0, 0.005).blocks(9).planned(9, 9), "throughput>-5%", &[2, 5, 8], nothing);
    let throughput = row(&analysis, Metric::Throughput);
    assert_eq!((throughput.verdict, throughput.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::Zero)));
    assert_eq!((throughput.ratio.estimate, throughput.ratio.low), (None, None));
    let gate = &analysis.gates[0];
    assert_eq!((gate.verdict, gate.withheld), (GateVerdict::Undecided, Some(Withheld::Zero)));
}

/// The session's plan, all of whose cells have this load model.
fn under(session: &Session, model: LoadModel) -> Plan {
    session.plan().with(|draft| draft.cells.iter_mut().for_each(|cell| cell.load.model = model)).unwrap()
}

/// Why a median five times as high proves nothing where others used two fifths of the target's CPU.
fn disturbed_median(model: LoadModel) -> Option<Withheld> {
    let session = session(20.0, 100.0, 0.005);
    let (plan, mut trials) = (under(&session, model), session.records());
    for trial in &mut trials {
        let latencies = &mut trial.measurement.as_mut().unwrap().latency_us;
        latencies.response = latencies.service.clone();
        disturb(trial, 0.2);
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &[]);
    row(&analysis, Metric::P50).withheld
}

#[test]
fn queues_leave_the_median_of_an_open_load_without_a_bound() {
    assert_eq!(disturbed_median(LoadModel::Closed), None, "40 % of a CPU do not make it five times as slow");
    let open = LoadModel::Open { rate_per_s: 100.0, arrivals: Arrivals::Constant };
    assert_eq!(disturbed_median(open), Some(Withheld::Unbounded));
}

/// A new server at so much of the old one's 1,000 requests a second, with each launch of it changed.
fn against(rate: f64, change: impl Fn(&mut Measurement)) -> CompareAnalysis {
    let session = session(rate, 1_000.0, 0.005);
    altered(&session, "throughput>-5%", &ALL, |trial| change(trial.measurement.as_mut().unwrap()))
}

#[test]
fn a_generator_that_did_three_times_as_much_beside_it_was_not_the_limit() {
    let busy = |measured: &mut Measurement| measured.generator.threads[0].cpu_s = 9.0;
    let found = against(340.0, busy);
    for metric in [Metric::Throughput, Metric::P50, Metric::P99] {
        assert_eq!((row(&found, metric).verdict, row(&found, metric).withheld), (ComparisonVerdict::Slower, None));
    }
    assert_eq!(found.gates[0].verdict, GateVerdict::Broken);
    let near = against(850.0, busy);
    let throughput = row(&near, Metric::Throughput);
    assert_eq!((throughput.withheld, &throughput.withheld_of[..]), (Some(Withheld::AtLeast), &[Arm::New][..]));
    // What keeps it from a CPU, what it has to read and to open, may make it the limit at less.
    let starved = |measured: &mut Measurement| {
        (measured.generator.threads[0].cpu_s, measured.generator.threads[0].run_delay_s) = (2.5, Some(6.5));
    };
    let long = |measured: &mut Measurement| {
        busy(measured);
        measured.in_window.ok_bytes *= 4;
    };
    let opening = |measured: &mut Measurement| {
        busy(measured);
        measured.connections.opened = measured.in_window.completed;
        measured.connections.opened_in_window = Some(measured.in_window.completed);
    };
    let withheld = |found: &CompareAnalysis| row(found, Metric::Throughput).withheld;
    for found in [against(340.0, starved), against(340.0, long), against(340.0, opening)] {
        assert_eq!(withheld(&found), Some(Withheld::AtLeast));
    }
    let opening_before = |measured: &mut Measurement| {
        opening(measured);
        measured.connections.opened_in_window = Some(0);
    };
    assert_eq!(
        withheld(&against(340.0, opening_before)),
        None,
        "what it opened in the warm-up cost the window nothing"
    );
}

#[test]
fn what_a_standstill_can_have_cost_is_as_long_as_it_was() {
    let stood = |measured: &mut Measurement| {
        measured.standstills = Some(model::Standstills { count: 1, sum_s: 1.0, ..model::Standstills::default() });
    };
    let throughput = |rate: f64| row(&against(rate, stood), Metric::Throughput).clone();
    assert_eq!(throughput(800.0).verdict, ComparisonVerdict::Slower, "a tenth of the window makes it 889 at most");
    let near = throughput(930.0);
    assert_eq!((near.verdict, near.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::AtLeast)));
}

/// Both servers of such a comparison, in windows of 3 s after 1 s of load, `gain` faster and as much cheaper in the second
/// half of it than in the first; a request of the new one takes `cost` as much CPU.
fn warming(rate: f64, cost: f64, gain: f64) -> CompareAnalysis {
    let session = session(rate, 1_000.0, 0.005).window(3).target_busy(0.3);
    let (plan, mut trials) = (session.plan(), session.records());
    for trial in &mut trials {
        let cost = if trial.cell == 0 { cost } else { 1.0 };
        let (measured, seen) = (trial.measurement.as_mut().unwrap(), trial.observation.as_mut().unwrap());
        measured.in_window.halves[0].service_ns = (measured.in_window.halves[0].service_ns as f64 * gain) as u64;
        seen.cpu_user_s *= cost;
        let dearer = [gain, gain.sqrt(), 1.0];
        seen.seconds.iter_mut().zip(dearer).for_each(|(second, dearer)| second.cpu_s *= cost * dearer);
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &parse_gates("cpu_per_request<+3%").unwrap())
}

#[test]
fn what_is_left_to_gain_does_not_hide_a_third_of_the_throughput_at_three_times_the_cost() {
    let found = |analysis: &CompareAnalysis, metric| (row(analysis, metric).verdict, row(analysis, metric).withheld);
    let far = warming(340.0, 3.67, 1.1);
    for metric in [Metric::Throughput, Metric::P50, Metric::CpuPerRequest] {
        assert_eq!(found(&far, metric), (ComparisonVerdict::Slower, None), "{metric}");
    }
    assert_eq!(far.gates[0].verdict, GateVerdict::Broken);
    let open = (ComparisonVerdict::Inconclusive, Some(Withheld::Warming));
    assert_eq!(found(&far, Metric::P99), open, "nobody knows what becomes of a tail");
    let (near, young) = (warming(850.0, 1.2, 1.1), warming(340.0, 3.67, 1.6));
    for metric in [Metric::Throughput, Metric::CpuPerRequest] {
        assert_eq!(found(&near, metric), open, "{metric}");
        assert_eq!(found(&young, metric), open, "who gains so much may gain any: {metric}");
    }
    assert_eq!(near.gates[0].withheld, Some(Withheld::Warming));
}

#[test]
fn a_second_in_which_nobody_saw_the_target_shifts_no_other() {
    let session = Session::new().cell("new", 100.0);
    let (plan, mut trials) = (session.plan(), session.records());
    for trial in &mut trials {
        let (measured, seen) = (trial.measurement.as_mut().unwrap(), trial.observation.as_mut().unwrap());
        let second = |at: u32| model::Interval {
            at_s: f64::from(at),
            length_s: 1.0,
            completed: if at < 3 { 60 } else { 100 },
            ok: if at < 3 { 60 } else { 100 },
            ..model::Interval::default()
        };
        measured.steps = (0..10).map(second).collect();
        measured.in_window.halves[0].service_ns *= 2;
        let second = |at: u32| model::ObservedSecond { at_s: f64::from(at), cpu_s: 0.3, ..Default::default() };
        seen.seconds = (0..10).filter(|at| *at != 1).map(second).collect();
        seen.cpu_user_s = 3.6;
    }
    let records = crate::records::Records::new(&plan, &trials);
    let doubts = [crate::guard::Doubt::Warming];
    let range = crate::guard::figure(&records, (crate::guard::Side::alone(0), 1), Metric::CpuPerRequest, &doubts, 0.95)
        .unwrap();
    assert!((range.low - 3_000.0).abs() < 1.0, "0.3 s for 100 replies: {range:?}");
}

#[test]
fn what_a_busy_machine_leaves_open_of_a_tail_is_told_with_what_the_quiet_launches_show() {
    let busy = |blocks: &[u32]| {
        let analysis = altered(&session(200.0, 1_000.0, 0.005), "", blocks, |trial| disturb(trial, 0.2));
        row(&analysis, Metric::P99).clone()
    };
    let tail = busy(&[1, 2, 3]);
    assert_eq!(tail.withheld, Some(Withheld::Unbounded), "three quiet blocks are too few for a verdict");
    let quiet = tail.quiet.unwrap();
    assert!(quiet.blocks == 3 && (4.5..5.5).contains(&quiet.ratio.estimate.unwrap()), "{quiet:?}");
    assert_eq!(busy(&[1, 2, 3, 4, 5]).quiet, None, "one block has no interval");
    assert_eq!(busy(&[]).quiet, None, "nothing is withheld");
}

#[test]
fn a_gate_is_undecided_under_the_conditions_under_which_nothing_was_measured() {
    let session = Session::new()
        .delayed("new", 10, 0, 9_000.0)
        .delayed("new", 10, 10, 900.0)
        .delayed("old", 10, 0, 9_000.0)
        .delayed("old", 10, 10, 900.0);
    let (plan, mut trials) = (session.plan(), session.records());
    let is_delayed = |trial: &&mut TrialRecord| plan.cells[trial.cell].handler_delay_ns > 0;
    trials.iter_mut().filter(is_delayed).for_each(|trial| trial.observation = None);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &parse_gates("cpu_per_request<+50%").unwrap());
    let verdicts: Vec<GateVerdict> = analysis.gates.iter().map(|gate| gate.verdict).collect();
    assert_eq!(verdicts, [GateVerdict::Held, GateVerdict::Undecided]);
    assert_ne!(analysis.gates[0].conditions, analysis.gates[1].conditions);
    let mut judged = model::Judged::Comparison(Box::new(analysis));
    assert!(crate::answer_is_void(&judged) && crate::is_merely_undecided(&judged));
    let model::Judged::Comparison(nothing) = &mut judged else { unreachable!() };
    nothing.rows.iter_mut().for_each(|row| row.ratio.estimate = None);
    assert!(crate::answer_is_void(&judged) && !crate::is_merely_undecided(&judged), "nothing was compared");
}

#[test]
fn the_shares_beside_a_difference_are_the_means_that_it_is_of() {
    let session = session(100.0, 100.0, 0.0);
    let analysis = altered(&session, "", &[1], |trial| fail(trial, 0.12));
    let errors = row(&analysis, Metric::Errors);
    let difference = errors.difference.as_ref().unwrap().estimate.unwrap();
    let [old, new] = [&errors.old, &errors.new].map(|side| side.estimate.unwrap());
    assert!((new - old - difference).abs() < 1e-9 && new > 0.01, "{errors:?}");
    let all = altered(&session, "", &ALL, |trial| fail(trial, if trial.block == 1 { 0.12 } else { 0.001 }));
    let errors = row(&all, Metric::Errors);
    let difference = errors.difference.as_ref().unwrap().estimate.unwrap();
    assert!((errors.new.estimate.unwrap() - difference).abs() < 1e-9, "{errors:?}");
}

#[test]
fn a_quantile_that_failures_hide_is_withheld_for_them() {
    let session = session(140.0, 70.0, 0.01).claim("p99(new) < 1s");
    let (plan, mut trials) = (session.plan(), session.records());
    for trial in trials.iter_mut().filter(|trial| trial.cell == 0) {
        let felt = &mut trial.measurement.as_mut().unwrap().latency_us.service;
        *felt = felt.take().map(|felt| felt.clone().beside(felt.count / 9));
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &[]);
    let p99 = row(&analysis, Metric::P99);
    assert_eq!((p99.verdict, p99.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::Failing)));
    assert_eq!((p99.withheld_of.as_slice(), p99.new.estimate), (&[Arm::New][..], None));
    assert!(row(&analysis, Metric::P50).new.estimate.is_some(), "one in ten failed");
    let claim = &session.analyse_these(&trials).claims[0];
    let note = "the p99 of new is not known: more requests failed than lie above it, in";
    assert!(claim_notes(claim)[0].starts_with(note), "{claim:?}");
}

/// The launches that lack a p99 are those that served least: the others alone would call a server fast that is slow in half of
/// its launches.
#[test]
fn a_quantile_that_one_launch_is_too_short_for_is_none_of_the_others_either() {
    let session = session(140.0, 70.0, 0.01).blocks(12).planned(12, 12).claim("p99(new) / p99(old) < 1");
    let (plan, mut trials) = (session.plan(), session.records());
    for trial in trials.iter_mut().filter(|trial| trial.cell == 0 && trial.block % 2 == 0) {
        let felt = trial.measurement.as_mut().unwrap().latency_us.service.as_mut().unwrap();
        (felt.count, felt.p99, felt.p999) = (300, None, None);
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &parse_gates("p99<+10%").unwrap());
    let p99 = row(&analysis, Metric::P99);
    assert_eq!((p99.verdict, p99.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::FewRequests)));
    assert_eq!((p99.withheld_of.as_slice(), p99.new.estimate), (&[Arm::New][..], None));
    assert_eq!(analysis.gates[0].verdict, GateVerdict::Undecided);
    assert!(row(&analysis, Metric::P50).new.estimate.is_some(), "for which they have enough");
    let analysis = session.analyse_these(&trials);
    assert!(analysis.comparisons.iter().all(|pair| pair.metric != Metric::P99));
    let note = "a p99 needs 368 requests per launch; new had fewer in 6 of 12 launches (300)";
    assert_eq!(claim_notes(&analysis.claims[0])[0], note);
}

/// Of 32 CPUs others used one, which may have been the target's, or beside it in its core: they may have made the whole
/// difference. Where the target used nearly all of its own, or the generator, they cannot have had it, and beside it they take
/// half of what a core does at most.
#[test]
fn what_a_side_used_itself_nobody_took_from_it() {
    let found = |busy: f64, gap: f64| {
        let session = session(100.0 * (1.0 - gap), 100.0, 0.005).target_busy(busy).generator_busy(busy);
        let analysis = altered(&session, "throughput>-5%", &ALL, |trial| {
            disturb(trial, 0.031);
            trial.observation.as_mut().unwrap().host.cpus = 32;
        });
        (row(&analysis, Metric::Throughput).withheld, analysis.gates[0].verdict)
    };
    assert_eq!(found(0.3, 0.2), (Some(Withheld::Disturbed), GateVerdict::Undecided));
    assert_eq!(found(0.3, 0.99), (None, GateVerdict::Broken), "no more than it left of its CPU");
    assert_eq!(found(0.78, 0.4), (Some(Withheld::Disturbed), GateVerdict::Undecided));
    assert_eq!(found(0.78, 0.65), (None, GateVerdict::Broken), "2 ÷ 0.78 times as much at most");
}

#[test]
fn who_leaves_half_of_the_clients_waiting_is_bad_where_it_is_compared() {
    let session = session(150.0, 100.0, 0.005);
    let mut trials = session.records();
    for measured in trials.iter_mut().filter(|trial| trial.cell == 0).filter_map(|trial| trial.measurement.as_mut()) {
        measured.slowest_reply_s = Some(0.01);
        measured.awaited = vec![Awaited { requests: 5, youngest_s: 1.5, oldest_s: 2.9 }];
    }
    let compared = alike::judged("p99<+5%", session.draft(), &trials, false);
    let new = compared.cells.iter().find(|of| of.arm == Arm::New).unwrap();
    assert!(new.cell.failing.bad && new.cell.failing.hung_clients_share > 0.01, "{:?}", new.cell.failing);
    assert_eq!(row(&compared, Metric::P50).withheld, Some(Withheld::Failing));
    let errors = alike::judged("errors<+1%", session.draft(), &trials, false);
    assert_eq!(errors.gates[0].verdict, GateVerdict::Undecided, "who is left waiting has not failed");
    let run = crate::analyse(&session.plan(), &Environment::default(), &trials);
    assert!(run.cells.iter().all(|cell| !cell.failing.bad), "a run asks about servers that leave some waiting, too");
}

#[test]
fn who_fails_and_never_did_is_worse_however_seldom() {
    let errors = |shares: [f64; 2]| {
        let session = session(10_000.0, 10_000.0, 0.005);
        let mut trials = session.records();
        trials.iter_mut().for_each(|trial| fail(trial, shares[trial.cell]));
        let found = alike::judged("errors<+1%", session.draft(), &trials, false);
        (row(&found, Metric::Errors).verdict, found.gates[0].verdict)
    };
    assert_eq!(errors([0.003, 0.0]), (ComparisonVerdict::Slower, GateVerdict::Held), "the gate allows a point");
    assert_eq!(errors([0.004, 0.001]).0, ComparisonVerdict::Same, "the old one failed, too");
    assert_eq!(errors([0.0, 0.003]).0, ComparisonVerdict::Same);
}
