//! What is found of servers of known faults is held against what was put in.

mod faulty;
mod gates;
mod upstream;

use std::collections::BTreeMap;

use faulty::Faulty;
use model::{Diagnosis, DiagnosisEnd, Experiment, ServerFault, Sureness, Suspect, Unexplained, Unproved, WhyOpen};

use crate::testing::cell_plan;

/// The faults that were proved, by what they were suspected to be.
fn proved(diagnosis: &Diagnosis) -> BTreeMap<Suspect, &ServerFault> {
    let is = diagnosis.findings.iter().filter(|found| found.sureness == Sureness::Is);
    is.filter_map(|found| Some((found.fault.suspect()?, &found.fault))).collect()
}

fn why_open(diagnosis: &Diagnosis, suspect: Suspect) -> Option<WhyOpen> {
    diagnosis.open.iter().find(|open| open.suspect == suspect).map(|open| open.why)
}

#[test]
fn a_pool_is_found_with_its_size() {
    for workers in [1.0, 2.0, 5.0, 37.0, 150.0] {
        let diagnosis = Faulty { workers, ..Faulty::default() }.diagnosed();
        let found = proved(&diagnosis);
        let Some(ServerFault::Limit { at_once, .. }) = found.get(&Suspect::Limit) else { panic!("{diagnosis:?}") };
        assert!((at_once.estimate.unwrap() / workers - 1.0).abs() < 0.02, "{workers}: {at_once:?}");
        assert_eq!((found.len(), diagnosis.ended), (1, DiagnosisEnd::Complete), "{diagnosis:?}");
    }
}

#[test]
fn of_a_healthy_server_nothing_is_found() {
    let diagnosis = Faulty::default().diagnosed();
    assert_eq!(diagnosis.findings, []);
    assert!(diagnosis.excluded.iter().any(|it| it.suspect == Suspect::Limit && it.visible_from == Some(0.8 * 512.0)));
    assert_eq!(why_open(&diagnosis, Suspect::BlockedLoop), Some(WhyOpen::NoHeavy));
    let stalls = diagnosis.excluded.iter().find(|it| it.suspect == Suspect::Stalls);
    let steady_s = |it: &model::Tried| matches!(it.trying.experiment, Experiment::Steady { .. }).then_some(6.0);
    assert_eq!(stalls.and_then(|it| it.looked_s), diagnosis.tried.iter().find_map(steady_s), "{diagnosis:?}");
}

#[test]
fn a_full_cpu_is_not_a_limit_of_requests_at_once() {
    // Two connections fill it: twice as many serve no more, as if there were two workers.
    let diagnosis = Faulty { service_s: 0.005, cpu_s: 0.0025, ..Faulty::default() }.diagnosed();
    assert_eq!(diagnosis.findings, []);
    assert_eq!(why_open(&diagnosis, Suspect::Limit), Some(WhyOpen::Busy));
}

#[test]
fn how_far_no_limit_was_seen_is_told_where_a_cpu_was_full_beyond() {
    // Eight use a third of a CPU, and 64 all of it: of a pool of 20 nobody knows.
    let diagnosis = Faulty { service_s: 0.05, cpu_s: 0.002, workers: 20.0, ..Faulty::default() }.diagnosed();
    assert_eq!(diagnosis.findings, []);
    let limit = diagnosis.excluded.iter().find(|it| it.suspect == Suspect::Limit);
    let told = limit.map(|it| (it.visible_from, it.beyond));
    assert_eq!(told, Some((Some(0.8 * 8.0), Some(WhyOpen::Busy))), "{diagnosis:?}");
}

#[test]
fn a_quota_of_cpu_is_not_a_limit_of_requests_at_once() {
    // Half a CPU is all it has: twice as many connections are served no more, and the CPU is not full.
    let quota = Faulty { cpu_s: 0.0025, cpus: 0.5, ..Faulty::default() };
    let diagnosis = Faulty { throttled: 0.5, ..quota.clone() }.diagnosed();
    assert_eq!((diagnosis.findings.len(), why_open(&diagnosis, Suspect::Limit)), (0, Some(WhyOpen::Busy)));
    assert!(matches!(diagnosis.unexplained[..], [Unexplained::Throttled { .. }]), "{:?}", diagnosis.unexplained);
    // If nobody told of the quota it would be one: that gate alone tells them apart.
    assert!(proved(&quota.diagnosed()).contains_key(&Suspect::Limit));
}

#[test]
fn what_was_tried_while_others_had_the_cpu_is_tried_again() {
    let pool = |others| Faulty { workers: 5.0, others, ..Faulty::default() };
    let found = pool(|_, nth| nth == 1).diagnosed();
    assert!(proved(&found).contains_key(&Suspect::Limit), "{found:?}");
    let crowd = |it: &&model::Tried| it.trying.experiment == Experiment::Crowd { connections: 512 };
    assert_eq!(found.tried.iter().filter(crowd).map(|it| it.cpus_taken).collect::<Vec<_>>(), [Some(0.9), Some(0.0)]);

    let never = pool(|_, _| true).diagnosed();
    assert_eq!((never.findings.len(), why_open(&never, Suspect::Limit)), (0, Some(WhyOpen::Others)));
    assert!(never.tried.len() < 40, "no experiment is made for ever: {}", never.tried.len());

    let unproved = pool(|experiment, _| matches!(experiment, Experiment::Delayed { .. })).diagnosed();
    assert_eq!(unproved.findings.iter().map(|it| it.unproved).collect::<Vec<_>>(), [Some(Unproved::Others)]);

    // Whoever fills a CPU itself does so whatever others take.
    let full = Faulty { cpu_s: 0.0025, others: |_, _| true, ..Faulty::default() }.diagnosed();
    assert_eq!((full.findings.len(), why_open(&full, Suspect::Limit)), (0, Some(WhyOpen::Busy)), "{full:?}");
}

#[test]
fn stalls_are_told_from_each_other_however_far_apart_they_are() {
    for (stalls_every_s, stalls_by_requests) in [(2.0, false), (4.66, false), (4.66, true), (9.0, false)] {
        let diagnosis = Faulty { stalls_every_s, stalls_by_requests, ..Faulty::default() }.diagnosed();
        let found = proved(&diagnosis);
        let Some(ServerFault::Stalls { at_twice_the_rate: Some(times), .. }) = found.get(&Suspect::Stalls) else {
            panic!("{stalls_every_s}: {diagnosis:?}")
        };
        let expected = if stalls_by_requests { 2.0 } else { 1.0 };
        assert!((times - expected).abs() < 0.1, "{stalls_every_s}: {times}");
    }
}

#[test]
fn connections_that_hold_workers_are_told_from_a_pool_of_requests() {
    let diagnosis = Faulty { workers: 20.0, holds: true, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::HeldWorkers { served, .. }) = found.get(&Suspect::HeldWorkers) else {
        panic!("{diagnosis:?}")
    };
    assert_eq!((*served, found.len()), (20, 1));
}

#[test]
fn memory_that_is_kept_is_told_from_a_cache_that_fills() {
    let diagnosis = Faulty { keeps_bytes: 5_000.0, ..Faulty::default() }.diagnosed();
    let [found] = &diagnosis.findings[..] else { panic!("{diagnosis:?}") };
    let ServerFault::Growth { per_request, .. } = &found.fault else { panic!("{found:?}") };
    assert_eq!(found.unproved, Some(Unproved::Heap), "as the system sees it, whatever the server keeps");
    assert!((per_request.estimate.unwrap() / 5_000.0 - 1.0).abs() < 0.01, "{per_request:?}");
    // It is full after a dose and a half: the second adds half of what it would, and the third and the fourth nothing.
    let cache = Faulty { keeps_bytes: 1_000.0, keeps_at_most: 9_600_000.0, ..Faulty::default() }.diagnosed();
    assert_eq!((cache.findings.len(), why_open(&cache, Suspect::MemoryGrowth)), (0, Some(WhyOpen::NotByDose)));
}

#[test]
fn of_a_server_that_has_no_more_room_smaller_doses_tell() {
    let diagnosis = Faulty { answers_at_most: 8_000.0, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::Growth { per_request, .. }) = found.get(&Suspect::FileGrowth) else {
        panic!("{diagnosis:?}")
    };
    assert!((per_request.estimate.unwrap() - 0.5).abs() < 0.01, "{per_request:?}");
    let doses = diagnosis.tried.iter().filter(|it| matches!(it.trying.experiment, Experiment::Dose { .. }));
    assert_eq!(doses.filter(|it| !it.valid).count(), 1, "the same is not tried again: {:?}", diagnosis.tried);
}

#[test]
fn what_grows_with_time_is_not_kept_of_requests() {
    let diagnosis = Faulty { grows_per_s: 2_000_000.0, ..Faulty::default() }.diagnosed();
    assert_eq!(diagnosis.findings, []);
    assert_eq!(why_open(&diagnosis, Suspect::MemoryGrowth), Some(WhyOpen::NotByControl));
}

#[test]
fn the_same_records_give_the_same_answer_and_the_next_experiment() {
    let one = Faulty { workers: 5.0, ..Faulty::default() }.diagnosed();
    let other = Faulty { workers: 5.0, ..Faulty::default() }.diagnosed();
    assert_eq!(one, other);
    assert!(one.tried.len() < 14, "{}", one.tried.len());
}

#[test]
fn light_requests_that_wait_for_a_heavy_one_are_found_with_how_long() {
    let heavy = || Some(cell_plan("a", &[], 1, 0).load.mix);
    let diagnosis = Faulty { blocks: true, ..Faulty::default() }.diagnosed_with(heavy());
    let found = proved(&diagnosis);
    let Some(ServerFault::BlockedLoop { blocked, .. }) = found.get(&Suspect::BlockedLoop) else {
        panic!("{diagnosis:?}")
    };
    assert!((blocked.estimate.unwrap() - 100_000.0).abs() < 1_000.0, "{blocked:?}");
    let apart = Faulty::default().diagnosed_with(heavy());
    assert_eq!((apart.findings.len(), why_open(&apart, Suspect::BlockedLoop)), (0, None), "others go on meanwhile");
    // It waits, and so do all others: for a lock, or for what blocks the loop without computing.
    let locked = Faulty { blocks: true, computes_s: 0.001, ..Faulty::default() }.diagnosed_with(heavy());
    let found = proved(&locked);
    assert!(
        matches!(found[&Suspect::BlockedLoop], ServerFault::BlockedLoop { computes: Some(false), .. }),
        "{found:?}"
    );
    // Under a quota of CPU all wait for more of it, whatever holds up whom.
    let throttled = Faulty { blocks: true, throttled: 0.3, ..Faulty::default() }.diagnosed_with(heavy());
    let known = proved(&throttled).contains_key(&Suspect::BlockedLoop);
    assert_eq!((known, why_open(&throttled, Suspect::BlockedLoop)), (false, Some(WhyOpen::Void)), "{throttled:?}");
}

#[test]
fn replies_that_wait_for_an_acknowledgement_are_found() {
    let diagnosis = Faulty { service_s: 0.0006, acknowledged_us: 41_000.0, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::DelayedAck { service_us, .. }) = found.get(&Suspect::DelayedAck) else {
        panic!("{diagnosis:?}")
    };
    assert!((*service_us - 41_600.0).abs() < 500.0, "{service_us}");
    // A worker is free as soon as it has written its reply: the acknowledgement is waited for by the client alone.
    for workers in [1.0, 4.0, 30.0] {
        let diagnosis = Faulty { service_s: 0.03, workers, acknowledged_us: 41_000.0, ..Faulty::default() }.diagnosed();
        let found = proved(&diagnosis);
        let Some(ServerFault::Limit { at_once, .. }) = found.get(&Suspect::Limit) else { panic!("{diagnosis:?}") };
        assert!((at_once.estimate.unwrap() / workers - 1.0).abs() < 0.02, "{workers}: {at_once:?}");
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [Suspect::Limit, Suspect::DelayedAck], "{diagnosis:?}");
    }
    let slow = Faulty { service_s: 0.0006, acknowledged_us: 20_000.0, ..Faulty::default() }.diagnosed();
    assert_eq!(slow.findings, [], "no kernel waits for as short as that");
}

#[test]
fn half_of_the_requests_failing_is_no_limit_of_the_others() {
    let diagnosis = Faulty { fails: 0.5, ..Faulty::default() }.diagnosed();
    let found = proved(&diagnosis);
    let Some(ServerFault::Failures { share, .. }) = found.get(&Suspect::Failures) else { panic!("{diagnosis:?}") };
    assert!((share.estimate.unwrap() - 0.5).abs() < 0.01 && share.low.unwrap() < 0.5, "{share:?}");
    assert_eq!((found.len(), why_open(&diagnosis, Suspect::Limit)), (1, Some(WhyOpen::Failing)));
}

#[test]
fn a_server_that_closes_some_connections_does_not_close_each() {
    let closed = |closes: f64| {
        let diagnosis = Faulty { closes, ..Faulty::default() }.diagnosed();
        proved(&diagnosis).contains_key(&Suspect::ClosedConnections)
    };
    assert!(closed(1.0) && !closed(0.2));
}

#[test]
fn what_would_have_been_seen_of_a_slow_server_is_less() {
    let visible = |(service_s, workers): (f64, f64), of: Suspect| {
        let diagnosis = Faulty { service_s, workers, ..Faulty::default() }.diagnosed();
        diagnosis.excluded.iter().find(|it| it.suspect == of).and_then(|it| it.visible_from)
    };
    assert_eq!(visible((0.005, f64::INFINITY), Suspect::Stalls), Some(0.5));
    let slow = visible((0.5, 8.0), Suspect::Stalls);
    assert!(slow.is_some_and(|shortest_s| shortest_s > 1.0), "{slow:?}");
    assert_eq!(visible((0.005, f64::INFINITY), Suspect::HeldWorkers), Some(512.0));
}

#[test]
fn failures_that_one_load_alone_showed_are_told() {
    for from in [64, 512] {
        let diagnosis = Faulty { fails: 0.4, fails_from: from, ..Faulty::default() }.diagnosed();
        assert!(proved(&diagnosis).contains_key(&Suspect::Failures), "{from}: {diagnosis:?}");
    }
}

#[test]
fn a_server_that_takes_long_is_not_said_to_work_on_few_at_once() {
    let diagnosis = Faulty { service_s: 2.0, ..Faulty::default() }.diagnosed();
    assert_eq!((diagnosis.findings.len(), why_open(&diagnosis, Suspect::Limit)), (0, Some(WhyOpen::Slow)));
}

#[test]
fn a_pool_that_grows_while_it_is_busy_has_no_size_yet() {
    for (holds, suspect) in [(false, Suspect::Limit), (true, Suspect::HeldWorkers)] {
        let diagnosis = Faulty { workers: 5.0, grown: 3.0, holds, ..Faulty::default() }.diagnosed();
        assert_eq!(
            (proved(&diagnosis).len(), why_open(&diagnosis, suspect)),
            (0, Some(WhyOpen::Cold)),
            "{diagnosis:?}"
        );
    }
}
