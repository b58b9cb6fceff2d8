mod alike;
mod columns;
mod differences;
mod doubts;
mod few;
mod one_of;
mod others;
mod passes;
mod pauses;
mod recorded;
mod replies;
mod silent;

use model::{
    Arm, Arrivals, Blocks, CompareAnswer, ComparePlan, CompareRow, ComparedRevision, ComparisonVerdict, Extent,
    Failure, GateVerdict, HostUse, LoadModel, Mark, Measurement, RevisionContent, SameServer, TrialRecord, Withheld,
    parse_gates,
};

use super::*;
use crate::testing::Session;

/// A new server against an old one, under a seed.
fn session(new: f64, old: f64, noise: f64) -> Session {
    Session::new().cell("new", new).cell("old", old).noise(noise)
}

fn compare(session: &Session, gates: &str) -> CompareAnalysis {
    let (plan, trials) = (session.plan(), session.records());
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let gates = if gates.is_empty() { Vec::new() } else { parse_gates(gates).unwrap() };
    compare_targets(run, "old", "new", &gates)
}

fn row(analysis: &CompareAnalysis, metric: Metric) -> &CompareRow {
    analysis.rows.iter().find(|row| row.metric == metric).unwrap()
}

/// Of a machine that is as fast at any time.
fn steady(gates: &[Gate]) -> Terms<'_> {
    Terms { gates, drift: 0.0, ..Terms::default() }
}

#[test]
fn ratios_are_new_over_old_and_paired_within_blocks() {
    let analysis = compare(&session(90.0, 100.0, 0.005).block_noise(0.3), "throughput>-5%");
    let throughput = row(&analysis, Metric::Throughput);
    let ratio = throughput.ratio.estimate.unwrap();
    assert!((ratio - 0.9).abs() < 0.02, "what a block does to both falls out: {ratio}");
    assert_eq!(throughput.verdict, ComparisonVerdict::Slower);
    assert!(throughput.old.estimate > throughput.new.estimate);
    assert_eq!((analysis.old.as_str(), analysis.new.as_str(), analysis.interleaved), ("old", "new", true));
    assert_eq!(analysis.gates[0].verdict, GateVerdict::Broken);
}

#[test]
fn equals_are_the_same_and_noise_leaves_it_open() {
    let same = compare(&session(100.0, 100.0, 0.005), "throughput>-5%, p99<+10%");
    assert_eq!(row(&same, Metric::Throughput).verdict, ComparisonVerdict::Same);
    assert_eq!(same.gates.iter().map(|gate| gate.verdict).collect::<Vec<_>>(), [GateVerdict::Held; 2]);
    let open = compare(&session(100.0, 100.0, 0.3), "throughput>-5%");
    assert_eq!(row(&open, Metric::Throughput).verdict, ComparisonVerdict::Inconclusive);
    assert_eq!(open.gates[0].verdict, GateVerdict::Undecided);
}

#[test]
fn all_rows_together_give_one_answer() {
    let of_throughput = |session: &Session| {
        let mut analysis = compare(session, "");
        analysis.rows.retain(|row| row.metric == Metric::Throughput);
        analysis
    };
    let worse = of_throughput(&session(90.0, 100.0, 0.005));
    assert_eq!(worse.answer(), CompareAnswer::Worse);
    let alike = CompareAnalysis { same: Some(SameServer::Command), ..worse };
    assert_eq!(alike.answer(), CompareAnswer::Alike);
    assert_eq!(of_throughput(&session(110.0, 100.0, 0.005)).answer(), CompareAnswer::NotWorse);
    assert_eq!(of_throughput(&session(100.0, 100.0, 0.005)).answer(), CompareAnswer::NotWorse);
    assert_eq!(of_throughput(&session(100.0, 100.0, 0.3)).answer(), CompareAnswer::Undecided);
    let few = of_throughput(&session(50.0, 100.0, 0.005).blocks(5).planned(5, 5));
    assert_eq!(few.answer(), CompareAnswer::Unfinished);
    assert_eq!(CompareAnalysis { rows: Vec::new(), ..few }.answer(), CompareAnswer::Nothing);
}

#[test]
fn one_server_on_both_sides_is_told_by_its_files_and_commands() {
    let mut plan = session(100.0, 100.0, 0.005).draft();
    let [old, new] = [1, 0].map(|cell: usize| plan.cells[cell].levels.target().to_owned());
    let commit = |target: &str, commit: &str| ComparedRevision {
        target: target.to_owned(),
        repository: "/r".into(),
        within: "app".into(),
        content: RevisionContent::Commit(commit.to_owned()),
    };
    let revisions = vec![commit(&old, "0123456789abcdef"), commit(&new, "0123456789abcdef")];
    plan.comparison = Some(ComparePlan {
        old,
        new: new.clone(),
        primary: None,
        gates: Vec::new(),
        allow_undecided: false,
        of_experiment: false,
        rest_ns: 0,
        revisions,
    });
    let of = |change: &dyn Fn(&mut Draft)| {
        let mut plan = plan.clone();
        change(&mut plan);
        one_server(&plan)
    };
    let same = Some(SameServer::Revision(RevisionContent::Commit("0123456789abcdef".to_owned())));
    assert_eq!(of(&|_| ()), same);
    assert_eq!(of(&|plan| plan.targets[0].launch.cwd = "/elsewhere".into()), same);
    assert_eq!(of(&|plan| plan.targets[0].launch.run.push("-x".to_owned())), None);
    assert_eq!(of(&|plan| plan.comparison.as_mut().unwrap().revisions[1] = commit(&new, "1")), None);
    let bare = |plan: &mut Draft| plan.comparison.as_mut().unwrap().revisions.clear();
    assert_eq!(of(&bare), Some(SameServer::Command));
    assert_eq!(of(&|plan| (bare(plan), plan.targets[0].launch.cwd = "/elsewhere".into()).1), None);
}

#[test]
fn too_few_blocks_give_figures_and_no_verdict() {
    let analysis = compare(&session(50.0, 100.0, 0.005).blocks(5).planned(5, 5), "");
    let throughput = row(&analysis, Metric::Throughput);
    assert!(throughput.ratio.high.unwrap() < 0.6);
    assert_eq!((throughput.verdict, analysis.blocks), (ComparisonVerdict::Inconclusive, 5));
}

#[test]
fn a_gate_is_not_passed_by_what_was_not_measured() {
    let session = session(100.0, 100.0, 0.005);
    let (plan, mut trials) = (session.plan(), session.records());
    trials.iter_mut().for_each(|trial| trial.observation = None);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &parse_gates("cpu_per_request<+3%").unwrap());
    let rows: Vec<Metric> = analysis.rows.iter().map(|row| row.metric).collect();
    assert!(rows.contains(&Metric::Throughput) && !rows.contains(&Metric::CpuPerRequest), "{rows:?}");
    assert_eq!((analysis.gates.len(), analysis.gates[0].verdict), (1, GateVerdict::Undecided));
}

#[test]
fn a_generator_at_its_limit_takes_the_verdict_on_throughput_back() {
    let session = session(85.0, 100.0, 0.005).generator_busy(0.95);
    let analysis = compare(&session, "");
    let found = row(&analysis, Metric::Throughput);
    assert_eq!(found.verdict, ComparisonVerdict::Inconclusive, "both do at least so much");
    assert_eq!((found.seen, &found.withheld_of[..]), (Some(ComparisonVerdict::Slower), &[Arm::Old, Arm::New][..]));
    let marks: Vec<Mark> = session.analyse().cells[0].marks.iter().map(|note| note.mark()).collect();
    assert!(marks.contains(&Mark::Generator), "{marks:?}");
}

/// Such a comparison with something done to each trial of the new server in the given blocks.
fn altered(session: &Session, gates: &str, blocks: &[u32], change: impl Fn(&mut TrialRecord)) -> CompareAnalysis {
    let (plan, mut trials) = (session.plan(), session.records());
    let meant = |trial: &&mut TrialRecord| trial.cell == 0 && blocks.contains(&trial.block);
    trials.iter_mut().filter(meant).for_each(change);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let gates = if gates.is_empty() { Vec::new() } else { parse_gates(gates).unwrap() };
    compare_targets(run, "old", "new", &gates)
}

const ALL: [u32; 6] = [1, 2, 3, 4, 5, 6];

fn fail(trial: &mut TrialRecord, share: f64) {
    let measured = trial.measurement.as_mut().unwrap();
    let failed = (measured.accounting.ok as f64 * share).round() as u64;
    measured.accounting.ok -= failed;
    measured.accounting.completed -= failed;
    measured.accounting.failed.insert(Failure::ClosedBeforeReply, failed);
    measured.in_window.completed -= failed;
    measured.in_window.ok -= failed;
}

#[test]
fn errors_are_compared_by_their_difference_and_gated() {
    let failing = altered(&session(10_000.0, 10_000.0, 0.005), "errors<+1%", &ALL, |trial| fail(trial, 0.36));
    let errors = row(&failing, Metric::Errors);
    let points = errors.difference.as_ref().unwrap();
    assert!((points.estimate.unwrap() - 0.36).abs() < 1e-3 && points.low.unwrap() > 0.35, "{points:?}");
    assert_eq!((errors.verdict, errors.ratio.estimate), (ComparisonVerdict::Slower, None));
    assert_eq!(failing.gates[0].verdict, GateVerdict::Broken);
    let new = failing.cells.iter().find(|of| of.arm == Arm::New).unwrap();
    assert!(new.cell.failing.bad && new.cell.marks.iter().any(|note| note.mark() == Mark::Errors));
    assert!(crate::answer_is_bad(&model::Judged::Comparison(Box::new(failing))));
}

#[test]
fn no_error_in_few_requests_is_not_none() {
    let of = |rate: f64| compare(&session(rate, rate, 0.005), "errors<+1%");
    let many = of(10_000.0);
    assert_eq!(many.gates[0].verdict, GateVerdict::Held);
    assert_eq!(row(&many, Metric::Errors).verdict, ComparisonVerdict::Same);
    // 3.7 in 300: the upper bound is above 1 %.
    assert_eq!(of(5.0).gates[0].verdict, GateVerdict::Undecided);
    assert!(compare(&session(100.0, 100.0, 0.005), "").rows.iter().all(|row| row.metric != Metric::Errors));
}

#[test]
fn who_fails_is_neither_better_nor_the_same() {
    let quick = altered(&session(150.0, 100.0, 0.005), "", &ALL, |trial| fail(trial, 0.1));
    for metric in [Metric::Throughput, Metric::P50] {
        let found = row(&quick, metric);
        assert_eq!(
            (found.verdict, found.withheld),
            (ComparisonVerdict::Inconclusive, Some(Withheld::Failing)),
            "{metric}"
        );
    }
    let seven = session(150.0, 100.0, 0.005).blocks(7);
    let silent = altered(&seven, "", &[3], |trial| trial.measurement = Some(Measurement::default()));
    assert_eq!(silent.cells[1].cell.failing.failed_share, 0.0, "no request failed");
    assert_eq!(row(&silent, Metric::P50).withheld, Some(Withheld::Silent));
    let wrong = altered(&seven, "", &[3], |trial| crate::testing::wrong_replies(trial, 1));
    assert_eq!(row(&wrong, Metric::P50).withheld, Some(Withheld::Wrong));
    let slow = altered(&session(50.0, 100.0, 0.005), "", &ALL, |trial| fail(trial, 0.1));
    assert_eq!(row(&slow, Metric::Throughput).verdict, ComparisonVerdict::Slower);
}

/// Others used so much of two CPUs, of which one is the target's.
fn disturb(trial: &mut TrialRecord, others_share: f64) {
    let seen = trial.observation.as_mut().unwrap();
    seen.host = HostUse { cpus: 2, steal_share: 0.0, others_share };
}

#[test]
fn a_difference_that_the_disturbance_could_have_made_is_none() {
    let session = session(750.0, 1_000.0, 0.005);
    let gates = "throughput>-5%, p99<+10%";
    let disturbed = altered(&session, gates, &ALL, |trial| disturb(trial, 0.2));
    for (metric, why) in [
        (Metric::Throughput, Withheld::Disturbed),
        (Metric::P50, Withheld::Disturbed),
        (Metric::P99, Withheld::Unbounded),
    ] {
        let found = row(&disturbed, metric);
        assert_eq!((found.verdict, found.withheld), (ComparisonVerdict::Inconclusive, Some(why)), "{metric}");
    }
    let gates: Vec<GateVerdict> = disturbed.gates.iter().map(|gate| gate.verdict).collect();
    assert_eq!(gates, [GateVerdict::Undecided; 2], "a gate fails on evidence only");
    assert_eq!(disturbed.gates[0].withheld, Some(Withheld::Disturbed));
    // 20 % of two CPUs are 40 % of one: no reason for a fifth of the throughput.
    let far = altered(&self::session(200.0, 1_000.0, 0.005), "throughput>-5%", &ALL, |trial| disturb(trial, 0.2));
    assert_eq!(row(&far, Metric::Throughput).verdict, ComparisonVerdict::Slower);
    assert_eq!(far.gates[0].verdict, GateVerdict::Broken);
    let tail = row(&far, Metric::P99);
    assert_eq!((tail.withheld, &tail.quiet), (Some(Withheld::Unbounded), &None), "what a tail suffers has no bound");
}

/// A new server of so much of the old one's 20 requests a second, every launch of both with 3 % of two CPUs stolen, of which
/// one is the target's: what noise and the window's edges leave open each alone is less than both together.
fn stolen_and_thin(ratio: f64) -> CompareAnalysis {
    let session = session(20.0 * ratio, 20.0, 0.001);
    let (plan, mut trials) = (session.plan(), session.records());
    for seen in trials.iter_mut().filter_map(|trial| trial.observation.as_mut()) {
        seen.host = HostUse { cpus: 2, steal_share: 0.03, others_share: 0.0 };
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &parse_gates("throughput>-5%").unwrap())
}

#[test]
fn noise_and_doubts_are_tried_together() {
    let near = stolen_and_thin(0.84);
    assert_eq!(
        (near.gates[0].verdict, near.gates[0].withheld),
        (GateVerdict::Undecided, Some(Withheld::Disturbed)),
        "noise alone makes it 0.89, edges alone 0.94, both together 0.99"
    );
    let slower = stolen_and_thin(0.88);
    let found = row(&slower, Metric::Throughput);
    assert_eq!(
        (found.verdict, found.withheld),
        (ComparisonVerdict::Inconclusive, Some(Withheld::Disturbed)),
        "both together make it 1.04"
    );
    let far = stolen_and_thin(0.7);
    assert_eq!(row(&far, Metric::Throughput).verdict, ComparisonVerdict::Slower, "0.83 at most");
    assert_eq!(far.gates[0].verdict, GateVerdict::Broken);
}

#[test]
fn what_the_undisturbed_launches_show_stands() {
    let session = session(75.0, 100.0, 0.005).blocks(8).planned(8, 8);
    let once = altered(&session, "p99<+10%", &[3], |trial| disturb(trial, 0.4));
    assert_eq!(row(&once, Metric::P99).verdict, ComparisonVerdict::Slower);
    assert_eq!(once.gates[0].verdict, GateVerdict::Broken);
}

#[test]
fn the_undisturbed_launches_alone_are_tested_as_one_of_the_same_family() {
    // Two of eight at the mean of the others: the six alone say p = 0.03, and so does one row of six by chance.
    let off = [-0.10, -0.30, -0.05, -0.35, -0.02, -0.38, -0.2, -0.2].map(|off: f64| vec![off, 0.0]);
    let session = session(100.0, 100.0, 0.0).blocks(8).planned(8, 8);
    let verdict = |disturbed: &[u32]| {
        let (plan, mut trials) = (session.plan(), session.records_of(&off));
        trials.iter_mut().filter(|trial| disturbed.contains(&trial.block)).for_each(|trial| disturb(trial, 0.4));
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        let found = row(&compare_targets(run, "old", "new", &[]), Metric::P99).clone();
        (found.verdict, found.withheld, found.p_adjusted.unwrap())
    };
    let (quiet, _, p) = verdict(&[]);
    assert_eq!(quiet, ComparisonVerdict::Slower, "{p}");
    let (busy, withheld, _) = verdict(&[7, 8]);
    assert_eq!((busy, withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::Unbounded)));
}

#[test]
fn one_launch_beside_a_busy_machine_is_repeated() {
    let session = session(100.0, 100.0, 0.005).blocks(7).repeats(1);
    let slow = |trial: &mut TrialRecord| {
        disturb(trial, 0.4);
        trial.measurement.as_mut().unwrap().in_window.ok /= 4;
    };
    let analysis = altered(&session, "throughput>-5%", &[2], slow);
    assert_eq!(row(&analysis, Metric::Throughput).verdict, ComparisonVerdict::Same);
    assert_eq!((analysis.session.repeated.len(), analysis.gates[0].verdict), (1, GateVerdict::Held));
}

#[test]
fn a_generator_at_its_limit_breaks_no_gate() {
    let analysis = compare(&session(85.0, 100.0, 0.005).generator_busy(0.95), "throughput>-5%");
    assert_eq!(analysis.gates[0].verdict, GateVerdict::Undecided);
    assert_eq!(analysis.gates[0].withheld, Some(Withheld::AtLeast));
    assert!(crate::answer_is_void(&model::Judged::Comparison(Box::new(analysis))), "nothing is vouched for");
}

#[test]
fn a_lower_bound_holds_a_gate_when_it_is_the_new_one() {
    let only = |name: &str| {
        let session = session(110.0, 100.0, 0.005);
        let (plan, mut trials) = (session.plan(), session.records());
        for trial in trials.iter_mut().filter(|trial| plan.cells[trial.cell].levels.target() == name) {
            let measured = trial.measurement.as_mut().unwrap();
            measured.generator.threads.iter_mut().for_each(|thread| thread.cpu_s = 0.95 * thread.wall_s);
        }
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        let gate = compare_targets(run, "old", "new", &parse_gates("throughput>-5%").unwrap()).gates[0].clone();
        (gate.verdict, gate.withheld)
    };
    assert_eq!(only("new"), (GateVerdict::Held, None), "it does at least that");
    assert_eq!(only("old"), (GateVerdict::Undecided, Some(Withheld::AtLeast)), "the old one may be faster still");
}

#[test]
fn a_gate_asks_for_as_many_blocks_and_as_strict_a_test_as_any_verdict() {
    let broken = |session: &Session| compare(session, "throughput>-5%").gates[0].verdict;
    let few = session(50.0, 100.0, 0.005).blocks(5).planned(5, 5);
    assert_eq!(broken(&few), GateVerdict::Undecided);
    assert_eq!(broken(&few.blocks(6).planned(6, 6)), GateVerdict::Broken);
    // A change whose 95 % interval excludes the limit, and whose 97 % interval does not.
    let near = session(100.0, 100.0, 0.01);
    let blocks: Vec<Vec<f64>> = [-0.062, -0.069, -0.058, -0.072, -0.049, -0.065].map(|off| vec![off, 0.0]).to_vec();
    let gate = |max: u32| {
        let plan = near.plan().with(|draft| draft.blocks.max = max).unwrap();
        let trials = near.records_of(&blocks);
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        compare_targets(run, "old", "new", &parse_gates("throughput>-5.2%").unwrap()).gates[0].clone()
    };
    assert!(gate(6).ratio.high.unwrap() < 0.948, "{:?}", gate(6));
    assert_eq!(gate(6).verdict, GateVerdict::Broken);
    assert_eq!(gate(12).verdict, GateVerdict::Undecided, "a run that may end early is tested at 3 %");
}

#[test]
fn every_look_makes_the_tests_stricter() {
    let session = session(100.0, 100.0, 0.005);
    let trials = session.records();
    let raised = |before: &[u32]| {
        let blocks = before.iter().map(|blocks| Blocks { min: *blocks, max: *blocks });
        session.plan().with(|draft| draft.blocks_before = blocks.collect()).unwrap()
    };
    let level = |before: &[u32]| Records::new(&raised(before), &trials).significance();
    assert_eq!([level(&[]), level(&[6]), level(&[6, 9])], [0.05, 0.005, 0.0025]);
    let plan = raised(&[3]);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    assert_eq!(compare_targets(run, "old", "new", &[]).blocks_before, [3]);
}

#[test]
fn what_two_runs_count_differently_is_not_compared() {
    let server = |seed| Session::new().cell("mine", 100.0).noise(0.005).seed(seed);
    let (plan, before) = (server(1).plan(), server(1).records());
    let mut after = server(2).records();
    for seen in after.iter_mut().filter_map(|trial| trial.observation.as_mut()) {
        (seen.processes_max, seen.peak_pss_bytes) = (4, Some(90_000_000));
    }
    let environment = Environment::default();
    let run = |trials| Run { plan: &plan, environment: &environment, trials };
    let names = ("before".to_owned(), "after".to_owned());
    let gates = parse_gates("peak_memory<+10%").unwrap();
    let analysis = compare_runs(run(&before), run(&after), names, steady(&gates)).unwrap();
    let found = row(&analysis, Metric::PeakMemory);
    assert_eq!((found.verdict, found.withheld), (ComparisonVerdict::Inconclusive, Some(Withheld::Definition)));
    assert_eq!(analysis.gates[0].verdict, GateVerdict::Undecided);
    assert_eq!(row(&analysis, Metric::Throughput).withheld, None);
}
