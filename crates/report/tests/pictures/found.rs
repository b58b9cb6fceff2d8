//! Pictures of what a diagnosis finds: each experiment stands where it was measured.

use model::{
    Diagnosed, Diagnosis, Experiment, LatencySummary, Members, Metric, ServerFault, Silence, Sureness, Suspect, Tried,
    Trying, Unit, WhyTried,
};

use super::*;

fn diagnosis() -> Diagnosis {
    let Judged::Diagnosis(diagnosis) = judged("diagnosis") else { panic!("it is a diagnosis") };
    *diagnosis
}

/// A picture of one fault, which these experiments show.
fn picture_of(fault: ServerFault, tried: Vec<Tried>) -> Option<Picture> {
    let shown_by = (0..tried.len()).collect();
    let found =
        Diagnosed { sureness: Sureness::Is, fault, unproved: None, shown_by, cpus_used: None, generator_busy: 0.0 };
    let of = Diagnosis { findings: vec![found], tried, ..diagnosis() };
    pictures(&Judged::Diagnosis(of.into())).into_iter().next()
}

fn tried(experiment: Experiment, change: impl Fn(&mut Tried)) -> Tried {
    let trying = Trying { experiment, why: WhyTried::Proving(Suspect::Limit) };
    let mut one = Tried { trying, valid: true, ..diagnosis().tried[0].clone() };
    change(&mut one);
    one
}

fn figure(estimate: f64, unit: Unit) -> Measured {
    Measured { estimate: Some(estimate), low: None, high: None, unit }
}

fn latency(p50: f64, p99: f64, max: f64) -> Option<LatencySummary> {
    Some(LatencySummary {
        population: Members::Due,
        censored: 0,
        count: 1_000,
        failed: 0,
        mean: None,
        min: None,
        p50: Some(p50),
        p75: None,
        p90: None,
        p95: None,
        p99: Some(p99),
        p999: None,
        p9999: None,
        max: Some(max),
        exact_below: None,
        saturated: 0,
    })
}

#[test]
fn a_limit_with_its_bursts() {
    let diagnosis = diagnosis();
    let ServerFault::Limit { service_s, .. } = &diagnosis.findings[0].fault else { panic!("it is a limit") };
    let shown = diagnosis.findings[0].shown_by.iter().map(|at| &diagnosis.tried[*at]);
    let expected: Vec<f64> = shown
        .filter_map(|tried| match tried.trying.experiment {
            Experiment::Burst { .. } => None,
            _ => Some(tried.requests_per_s? * service_s),
        })
        .collect();
    let all = pictures(&Judged::Diagnosis(diagnosis.clone().into()));
    assert_eq!(files(&all), ["finding-1.svg"]);
    let svg = named(&all, "finding-1.svg");
    insta::assert_snapshot!("diagnosis_limit", svg);
    let of_loads: Vec<f64> = drawn(svg)
        .into_iter()
        .filter(|(_, of)| of.unit == Unit::RequestsAtOnce)
        .filter_map(|(_, of)| of.estimate)
        .collect();
    assert_eq!(of_loads, expected);
    let bursts = drawn(svg).into_iter().filter(|(_, of)| of.unit == Unit::Ratio).count();
    assert!(expected.len() > 4 && bursts > 1, "{} loads, {bursts} bursts", expected.len());
    let markdown = illustrated(&Judged::Diagnosis(diagnosis.into()), "charts", &all);
    assert!(markdown.contains("(charts/finding-1.svg)"), "{markdown}");
}

#[test]
fn held_workers_by_connections() {
    let fault = ServerFault::HeldWorkers { served: 20, connections: 64, unserved_closing: 0 };
    let load = |experiment, unserved| tried(experiment, |it| it.unserved = Some(unserved));
    let crowd = |connections, unserved| load(Experiment::Crowd { connections }, unserved);
    let closing = load(Experiment::Closing { connections: 40 }, 0);
    let svg = picture_of(fault, vec![crowd(20, 0), crowd(64, 44), closing]).unwrap().svg;
    let served: Vec<f64> = drawn(&svg).into_iter().filter_map(|(_, of)| of.estimate).collect();
    assert_eq!(served, [20.0, 20.0, 40.0]);
    assert!(svg.contains("20 workers"), "{svg}");
}

#[test]
fn waits_by_percentile_of_a_loop_that_computes_and_of_late_acknowledgements() {
    let blocked = ServerFault::BlockedLoop {
        blocked: figure(120_000.0, Unit::Us),
        alone_s: 0.004,
        beside_s: 0.12,
        share: None,
        computes: Some(true),
    };
    let load =
        |experiment, latency_us: Option<LatencySummary>| tried(experiment, |it| it.latency_us.clone_from(&latency_us));
    let loads = vec![
        load(Experiment::Probes, latency(300.0, 900.0, 4_000.0)),
        load(Experiment::Beside { heavy_per_s: 2.0 }, latency(310.0, 110_000.0, 120_000.0)),
        load(Experiment::Heavy, latency(120_000.0, 121_000.0, 122_000.0)),
    ];
    let svg = picture_of(blocked, loads).unwrap().svg;
    let p99: Vec<String> = elements(&svg, "value").iter().map(|of| of["data-p99"].clone()).collect();
    assert_eq!(p99, ["900", "110000"], "the heavy requests themselves are not light ones");
    let late = ServerFault::DelayedAck { quantile: Metric::P50, service_us: 41_600.0, quick_us: Some(610.0) };
    let loads = vec![
        load(Experiment::Crowd { connections: 1 }, latency(41_600.0, 42_000.0, 44_000.0)),
        load(Experiment::QuickAck { connections: 1 }, latency(610.0, 700.0, 800.0)),
    ];
    let svg = picture_of(late, loads).unwrap().svg;
    let slowest: Vec<String> = elements(&svg, "value").iter().map(|of| of["data-max"].clone()).collect();
    assert_eq!(slowest, ["44000", "800"]);
}

#[test]
fn stalls_lie_at_their_times() {
    let fault = ServerFault::Stalls { count: 2, in_s: 20.0, length_s: 0.5, at_twice_the_rate: Some(1.0) };
    let load = tried(Experiment::Steady { rate_per_s: 100.0, window_s: 20.0 }, |it| {
        it.stalls = [5.0, 15.0].map(|at_s| Silence { at_s, length_s: 0.5, ..Silence::default() }).to_vec();
    });
    let svg = picture_of(fault, vec![load]).unwrap().svg;
    let at: Vec<(String, String)> =
        elements(&svg, "value").iter().map(|of| (of["data-from"].clone(), of["data-for"].clone())).collect();
    assert_eq!(at, [("5000000".to_owned(), "500000".to_owned()), ("15000000".to_owned(), "500000".to_owned())]);
    let places: Vec<f64> = elements(&svg, "dot").iter().filter_map(|of| of.get("x")?.parse().ok()).collect();
    let strip = &elements(&svg, "strip")[0];
    let [left, width]: [f64; 2] = ["x", "width"].map(|name| strip[name].parse().unwrap());
    for (place, share) in places.iter().zip([0.25, 0.75]) {
        assert!((place - (left + share * width)).abs() < 0.2, "{places:?}");
    }
    assert_eq!(places.len(), 2);
}

#[test]
fn growth_by_requests() {
    let fault = ServerFault::Growth {
        suspect: Suspect::MemoryGrowth,
        per_request: figure(512.0, Unit::Bytes),
        requests: 40_000,
        grown: 30_000.0 * 512.0,
    };
    let dose =
        |requests: u64| tried(Experiment::Dose { requests }, |it| it.grown_bytes = Some(1e6 + 512.0 * requests as f64));
    let idle = tried(Experiment::Steady { rate_per_s: 1.0, window_s: 9.0 }, |it| it.grown_bytes = Some(1e6));
    let svg = picture_of(fault, vec![dose(10_000), dose(20_000), dose(40_000), idle]).unwrap().svg;
    let grown: Vec<f64> = drawn(&svg).into_iter().filter_map(|(_, of)| of.estimate).collect();
    assert_eq!(grown, [6_120_000.0, 11_240_000.0, 21_480_000.0, 1_000_000.0]);
    assert!(elements(&svg, "open").len() == 2, "the idle one, and its key: {svg}");
}

#[test]
fn what_one_figure_tells_has_none() {
    let closed = ServerFault::ClosedConnections { share: 1.0 };
    assert!(picture_of(closed, vec![tried(Experiment::Crowd { connections: 8 }, |_| {})]).is_none());
    let limit = diagnosis().findings[0].fault.clone();
    let void = tried(Experiment::Crowd { connections: 8 }, |it| it.valid = false);
    assert!(picture_of(limit, vec![void]).is_none(), "without an experiment that counts there is nothing to be drawn");
}
