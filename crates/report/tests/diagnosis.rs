//! Golden files of what a recorded diagnosis comes to, and every sentence about a fault.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod support;

use model::{
    Diagnosed, Diagnosis, DiagnosisEnd, EndedWhen, Environment, Excluded, Experiment, FailedRequests, Judged, Measured,
    Metric, Open, ProcessEnd, ServerFault, Sureness, Suspect, TargetEnd, Tried, Trying, Unexplained, Unit, Unproved,
    WhyOpen, WhyTried,
};
use support::{PLAIN, assert_tidy, judged};

#[test]
fn a_pool() {
    let pool = judged("diagnosis");
    let text = report::text(&pool, PLAIN);
    assert_tidy(&text, PLAIN.width);
    insta::assert_snapshot!("diagnosis_text", text);
    insta::assert_snapshot!("diagnosis_markdown", report::markdown(&pool));
    insta::assert_snapshot!("diagnosis_json", report::json(&pool));
    let page = report::html(&pool, &[]);
    assert!(page.contains("The server works on 3 requests at once") && page.contains("Every experiment"), "{page}");
}

fn figure(estimate: f64, unit: Unit) -> Measured {
    Measured { estimate: Some(estimate), low: Some(estimate * 0.95), high: Some(estimate * 1.05), unit }
}

fn failures() -> ServerFault {
    let how = FailedRequests { scheduled: 1_000, bad_status: 10, ..FailedRequests::default() };
    ServerFault::Failures { share: figure(0.01, Unit::Share), connections: Some(8), how: Some(how), first_wrong: None }
}

fn faults() -> Vec<ServerFault> {
    let limit = |exactly: Option<u32>, paths_together| ServerFault::Limit {
        at_once: figure(exactly.map_or(7.3, f64::from), Unit::RequestsAtOnce),
        exactly,
        service_s: 0.1,
        most_per_s: 70.0,
        waits_s: 0.4,
        connections: 28,
        paths_together,
    };
    let blocked = |share, computes| ServerFault::BlockedLoop {
        blocked: figure(120_000.0, Unit::Us),
        alone_s: 0.004,
        beside_s: 0.12,
        share,
        computes,
    };
    let growth = |suspect, each, unit| ServerFault::Growth {
        suspect,
        per_request: figure(each, unit),
        requests: 40_000,
        grown: 3.0 * 10_000.0 * each,
    };
    let stalls = |at_twice_the_rate| ServerFault::Stalls { count: 4, in_s: 36.0, length_s: 0.7, at_twice_the_rate };
    let end = TargetEnd { how: ProcessEnd::Exited(3), when: EndedWhen::UnderLoad, hints: Vec::new() };
    vec![
        limit(Some(1), None),
        limit(Some(1), Some(0.98)),
        limit(Some(7), Some(0.5)),
        limit(None, Some(0.7)),
        ServerFault::HeldWorkers { served: 20, connections: 64, unserved_closing: 0 },
        blocked(Some(1.02), Some(true)),
        blocked(Some(0.26), Some(false)),
        ServerFault::DelayedAck { quantile: Metric::P50, service_us: 41_600.0, quick_us: Some(610.0) },
        ServerFault::Unanswered { under: Experiment::Patient, after_s: None, window_s: 10.0 },
        ServerFault::Unanswered { under: Experiment::Crowd { connections: 64 }, after_s: Some(1.2), window_s: 2.0 },
        ServerFault::ClosedConnections { share: 1.0 },
        stalls(None),
        stalls(Some(1.0)),
        stalls(Some(2.0)),
        growth(Suspect::MemoryGrowth, 512.0, Unit::Bytes),
        growth(Suspect::ThreadGrowth, 0.1, Unit::Threads),
        growth(Suspect::FileGrowth, 0.5, Unit::None),
        failures(),
        ServerFault::Died {
            under: Experiment::Crowd { connections: 8 },
            why: end.into(),
            printed: "fatal: no luck left".to_owned(),
            threads: Some(12),
            files: Some(1_024),
            memory_bytes: None,
        },
        ServerFault::RoundTrips {
            round_trips: figure(12.0, Unit::None),
            service_s: 0.001,
            slowed_s: 0.05,
            delay_s: 0.004,
            asked: Some(14.0),
            opened: Some(2.0),
        },
    ]
}

/// A diagnosis that has all of what one may say.
fn every() -> Diagnosis {
    let experiment = Experiment::Crowd { connections: 8 };
    let tried = Tried {
        trial: "b01-c02".to_owned(),
        trying: Trying { experiment, why: WhyTried::Proving(Suspect::Limit) },
        valid: true,
        cpus_taken: None,
        requests_per_s: Some(70.0),
        service_us: Some(100_000.0),
        slowest_us: Some(120_000.0),
        latency_us: None,
        stalls: Vec::new(),
        cpus_used: Some(0.02),
        unserved: Some(3),
        failed: Some(0.0),
        grown_bytes: Some(1e6),
        threads: Some(12),
        open_files: Some(40),
    };
    let found = |(at, fault): (usize, ServerFault)| Diagnosed {
        sureness: if at % 4 == 3 { Sureness::ConsistentWith } else { Sureness::Is },
        fault,
        unproved: (at % 4 == 3).then_some(Unproved::ALL[at / 4 % Unproved::ALL.len()]),
        shown_by: vec![0],
        cpus_used: Some(0.02),
        generator_busy: 0.05,
    };
    let excluded = |suspect: &Suspect| Excluded {
        suspect: *suspect,
        probability: 0.001,
        visible_from: Some(0.05),
        looked_s: (*suspect == Suspect::Stalls).then_some(6.0),
        beyond: (*suspect == Suspect::Limit).then_some(WhyOpen::Busy),
    };
    let open = |why: &WhyOpen| Open { suspect: Suspect::Limit, why: *why };
    Diagnosis {
        schema: model::DIAGNOSIS_SCHEMA.to_owned(),
        question: "What is wrong with `./server`?".to_owned(),
        title: "`./server`".to_owned(),
        environment: Environment::default(),
        ended: DiagnosisEnd::OutOfTime,
        elapsed_s: Some(178.0),
        findings: faults().into_iter().enumerate().map(found).collect(),
        excluded: Suspect::ALL.iter().map(excluded).collect(),
        open: WhyOpen::ALL.iter().map(open).collect(),
        unexplained: vec![
            Unexplained::Tail { rate_per_s: 500.0, p50_us: 800.0, p99_us: 42_000.0 },
            Unexplained::Slowing { first_us: 800.0, second_us: 1_900.0 },
        ],
        tried: vec![tried],
    }
}

#[test]
fn every_fault_and_doubt_in_its_words() {
    let all = Judged::Diagnosis(Box::new(every()));
    let text = report::text(&all, PLAIN);
    assert_tidy(&text, PLAIN.width);
    insta::assert_snapshot!("every_diagnosis_text", text);
    insta::assert_snapshot!("every_diagnosis_json", report::json(&all));
}
