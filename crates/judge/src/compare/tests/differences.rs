use model::{AskedLoad, AskedReply, AskedTls, GeneratorLimits, HttpVersion, LoadModel, Rotation, TrustKind};
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
    let analysis = compare_runs(a, b, ("a".to_owned(), "b".to_owned()), steady(&[])).unwrap();
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
        let found = compare_runs(of(old), of(new), ("a".to_owned(), "b".to_owned()), steady(&[])).unwrap();
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
    let analysis = compare_runs(run(&plan, &old), run(&other, &new), names, steady(&[])).unwrap();
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

/// As a load of today says it.
fn asked() -> AskedLoad {
    AskedLoad {
        model: LoadModel::Closed,
        method: "GET".to_owned(),
        path: "/".to_owned(),
        http: Some(HttpVersion::Http11),
        headers: Some(Vec::new()),
        body_bytes: 0,
        expect: Some(AskedReply { status: None, body_bytes: None, body_sha256: None }),
        connections: 10,
        pipeline: 1,
        keep_alive: true,
        tls: None,
        timeout_s: None,
        warm_up_s: 1.0,
        window_s: Some(10.0),
        requests: None,
        threads: 1,
        cpus: Vec::new(),
        spin: Some(false),
        quick_ack: false,
        seed: 42,
    }
}

/// What is told of a load that is changed twice, by the first change in the old one, too.
fn of_asked(both: fn(&mut AskedLoad), new: fn(&mut AskedLoad)) -> String {
    let mut old = asked();
    both(&mut old);
    let mut changed = old.clone();
    new(&mut changed);
    let found: Vec<String> = asked_differently(&old, &changed).iter().map(difference_words).collect();
    found.join("; ")
}

#[test]
fn whatever_is_asked_of_a_load_by_itself_is_a_difference() {
    let changed = |new: fn(&mut AskedLoad)| of_asked(|_| {}, new);
    assert_eq!(changed(|it| it.seed = 1), "", "each load draws anew");
    assert_eq!(changed(|it| it.method = "PUT".to_owned()), "method: old GET, new PUT");
    assert_eq!(changed(|it| it.path = "/a".to_owned()), "path: old /, new /a");
    assert_eq!(changed(|it| it.connections = 2), "connections: old 10, new 2");
    assert_eq!(changed(|it| it.pipeline = 2), "pipeline: old 1, new 2");
    assert_eq!(changed(|it| it.keep_alive = false), "keep-alive: old true, new false");
    assert_eq!(changed(|it| it.timeout_s = Some(0.5)), "time-out: old none, new 500ms");
    assert_eq!(changed(|it| it.warm_up_s = 0.25), "warm-up: old 1s, new 250ms");
    assert_eq!(changed(|it| it.window_s = Some(2.0)), "window: old 10s, new 2s");
    let counted = changed(|it| (it.window_s, it.requests) = (None, Some(5)));
    assert_eq!(counted, "window: old 10s, new 5 requests");
    assert_eq!(changed(|it| it.http = Some(HttpVersion::Http10)), "HTTP version: old 1.1, new 1.0");
    let headers = changed(|it| it.headers = Some(vec![("Cookie".to_owned(), None)]));
    assert_eq!(headers, "headers: old none, new Cookie (value not kept)");
    assert_eq!(changed(|it| it.body_bytes = 3), "bytes of the body: old 0, new 3");
    assert_eq!(changed(|it| it.threads = 2), "generator threads: old 1, new 2");
    assert_eq!(changed(|it| it.cpus = vec![1]), "generator CPUs: old any, new 1");
    assert_eq!(changed(|it| it.spin = Some(true)), "spin: old false, new true");
    let expect = |it: &mut AskedLoad| {
        let body_sha256 = Some("9f86".to_owned());
        it.expect = Some(AskedReply { status: Some(204), body_bytes: Some(4), body_sha256 });
    };
    let words = "expected status: old any, new 204; SHA-256 of the expected body: old any, new 9f86";
    assert_eq!(changed(expect), words);
}

#[test]
fn of_what_one_load_does_not_say_nothing_is_known() {
    let unsaid = |it: &mut AskedLoad| (it.http, it.headers, it.expect, it.spin) = (None, None, None, None);
    assert_eq!(of_asked(|_| {}, unsaid), "");
    assert_eq!(of_asked(unsaid, |it| it.connections = 2), "connections: old 10, new 2");
    fn secure(it: &mut AskedLoad) {
        it.tls = Some(AskedTls { server_name: "a".to_owned(), trust: TrustKind::System, resumption: false });
    }
    assert_eq!(of_asked(|_| {}, secure), "TLS: old false, new true");
    let other = |it: &mut AskedLoad| {
        it.tls = Some(AskedTls { server_name: "b".to_owned(), trust: TrustKind::Anyone, resumption: true });
    };
    let words = "name in the certificate: old a, new b; who vouches for the certificate: old system, new anyone; \
                 TLS sessions resumed: old false, new true";
    assert_eq!(of_asked(secure, other), words);
}
