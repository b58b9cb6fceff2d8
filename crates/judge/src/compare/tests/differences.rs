use model::{GeneratorLimits, Rotation};
use report::difference_words;

use super::*;
use crate::testing::cut;

const LIMITS: GeneratorLimits =
    GeneratorLimits { ceiling_per_s: 1.0, pipelined_ceiling_per_s: 1.0, open_rate_per_s: 1.0 };

const ROTATION: Rotation = Rotation { slice_ns: 1_000_000_000, lead_in_ns: 50_000_000, rounds: Some(10) };

#[test]
fn what_differs_beside_the_server_is_told() {
    let session = session(100.0, 100.0, 0.005);
    let (plan, trials) = (session.plan(), session.records());
    let twice = |cell: &mut CellPlan| cell.load.extent = Extent::Window(2 * cell.load.window_ns());
    let other = plan.with(|draft| draft.cells.iter_mut().for_each(twice)).unwrap();
    let old = Environment { kernel: "6.1".to_owned(), ..Environment::default() };
    let new = Environment { kernel: "6.18".to_owned(), ..Environment::default() };
    let (a, b) = (
        Run { plan: &plan, environment: &old, trials: &trials },
        Run { plan: &other, environment: &new, trials: &trials },
    );
    let analysis = compare_runs(a, b, ("a".to_owned(), "b".to_owned()), &[]).unwrap();
    let said: Vec<String> = analysis.differences.iter().map(difference_words).collect();
    assert_eq!(said[0], "kernel: old 6.1, new 6.18");
    assert!(said[1].starts_with("window: "), "{said:?}");
}

/// The old run met what cannot go round, and its launches were made again alone; the plans do not differ.
#[test]
fn launches_that_went_round_are_not_held_against_launches_alone() {
    let run = |seed| Session::new().cell("mine", 1_000.0).noise(0.001).seed(seed).blocks(6);
    let (plan, alone, mut round) = (run(1).plan(), run(1).records(), run(2).records());
    round.iter_mut().for_each(|trial| cut(trial, 12));
    let withheld = |[old, new]: [&[TrialRecord]; 2], metric| {
        let environment = Environment::default();
        let of = |trials| Run { plan: &plan, environment: &environment, trials };
        let found = compare_runs(of(old), of(new), ("a".to_owned(), "b".to_owned()), &[]).unwrap();
        assert_eq!(found.differences, []);
        row(&found, metric).withheld
    };
    for metric in [Metric::CpuPerRequest, Metric::Throughput, Metric::P99, Metric::PeakMemory] {
        assert_eq!(withheld([&alone, &round], metric), Some(Withheld::Rotation), "{metric}");
        assert_eq!(withheld([&round, &alone], metric), Some(Withheld::Rotation), "{metric}");
        assert_eq!(withheld([&round, &round], metric), None, "{metric}");
    }
    assert_eq!(withheld([&alone, &round], Metric::TimeToReady), None, "it starts before any load");
}

/// What is told of two runs of one plan, the new one changed.
fn differences(environment: impl Fn(&mut Environment), change: impl FnOnce(&mut Draft)) -> Vec<String> {
    let session = session(100.0, 100.0, 0.005);
    let (plan, trials) = (session.plan(), session.records());
    let other = plan.with(change).unwrap();
    let mut old = Environment::default();
    old.toolchains.insert("old".to_owned(), "go1.25".to_owned());
    old.sysctls.insert("net.core.somaxconn".to_owned(), "4096".to_owned());
    let mut new = old.clone();
    environment(&mut new);
    let run = |plan, environment| Run { plan, environment, trials: &trials };
    let names = ("a".to_owned(), "b".to_owned());
    let analysis = compare_runs(run(&plan, &old), run(&other, &new), names, &[]).unwrap();
    analysis.differences.iter().map(difference_words).collect()
}

#[test]
fn whatever_may_change_the_figures_is_a_difference() {
    assert_eq!(differences(|_| {}, |_| {}), [""; 0]);
    let of_plan = |change: fn(&mut Draft)| differences(|_| {}, change).join("; ");
    assert_eq!(of_plan(|plan| plan.generator.cpus = vec![2, 3]), "generator CPUs: old any, new 2 and 3");
    assert_eq!(of_plan(|plan| plan.generator.spin = true), "spin: old false, new true");
    assert_eq!(of_plan(|plan| plan.target_cpus = vec![1]), "CPUs of the target: old any, new 1");
    assert_eq!(of_plan(|plan| plan.ladder = Some("connections".to_owned())), "ladder: old none, new connections");
    let calibrate = |plan: &mut Draft| plan.generator.limits = Some(LIMITS);
    assert_eq!(of_plan(calibrate), "", "that is for judging");
    fn rotate(plan: &mut Draft) {
        plan.rotation = Some(ROTATION);
    }
    assert_eq!(of_plan(rotate), "rotation: old none, new 10 slices of 1s, each after 50ms");
    let rotate_in_vain = |plan: &mut Draft| {
        rotate(plan);
        plan.cells.iter_mut().for_each(|cell| cell.profile = true);
    };
    assert_eq!(of_plan(rotate_in_vain), "profile: old false, new true", "what cannot be cut into slices is not");
    let of_cells = |change: fn(&mut CellPlan)| differences(|_| {}, |plan| plan.cells.iter_mut().for_each(change));
    let secure = |cell: &mut CellPlan| (cell.tls, cell.tls_resume) = (true, true);
    assert_eq!(of_cells(secure), ["TLS: old false, new true", "TLS sessions resumed: old false, new true"]);
    assert_eq!(of_cells(|cell| cell.target_cpus = vec![0]), ["CPUs of the target: old any, new 0"]);
    assert_eq!(of_cells(|cell| cell.handler_delay_ns = 10_000_000), ["handler delay: old 0ms, new 10ms"]);
    assert_eq!(of_cells(|cell| cell.profile = true), ["profile: old false, new true"]);
    let of_environment = |change: fn(&mut Environment)| differences(change, |_| {}).join("; ");
    assert_eq!(of_environment(|it| it.smt = Some(true)), "SMT: old not known, new true");
    let newer = |it: &mut Environment| it.toolchains.values_mut().for_each(|version| *version = "go1.26".to_owned());
    assert_eq!(of_environment(newer), "toolchain of old: old go1.25, new go1.26");
    assert_eq!(of_environment(|it| it.toolchains.clear()), "", "nobody asked");
    let more = |it: &mut Environment| drop(it.sysctls.insert("kernel.numa_balancing".to_owned(), "1".to_owned()));
    assert_eq!(of_environment(more), "kernel.numa_balancing: old not known, new 1");
}
