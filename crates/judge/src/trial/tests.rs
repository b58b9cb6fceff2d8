mod generator;
mod standstills;

use std::cell;
use std::collections::BTreeMap;

use model::*;
use report::reason_words as words;

use super::*;
use crate::testing::{Session, cell_plan, die, fail_at_launch, lateness, open, wrong_replies};

thread_local! {
    /// How many trials this thread has judged.
    pub(super) static JUDGED: cell::Cell<usize> = const { cell::Cell::new(0) };
}

#[test]
fn a_planner_judges_each_record_once_however_often_it_is_asked() {
    let session = Session::new().cell("a", 100.0).cell("b", 120.0).planned(6, 6).twin().blocks(6);
    let (mut planner, records, before) = (crate::BlockPlanner::new(&session.plan()), session.records(), JUDGED.get());
    for (taken, record) in (1..).zip(&records) {
        planner.take(record);
        for _ in 0..3 {
            planner.next();
            assert!(planner.expected_trials() > 0);
        }
        assert_eq!(JUDGED.get() - before, taken);
    }
}

/// One sound launch at 100 connections, a delay in ms and a throughput.
fn launch(delay_ms: u64, throughput: f64) -> (CellPlan, TrialRecord) {
    let session = Session::new().delayed("a", 100, delay_ms, throughput).noise(0.0).blocks(1);
    (session.draft().cells.remove(0), session.records().remove(0))
}

fn measured(trial: &mut TrialRecord) -> &mut Measurement {
    trial.measurement.as_mut().unwrap()
}

fn void_code(cell: &CellPlan, trial: &TrialRecord) -> Option<&'static str> {
    check_trial(cell, None, trial).void.map(|reason| reason.code().id())
}

fn marks(cell: &CellPlan, trial: &TrialRecord) -> Vec<Mark> {
    check_trial(cell, None, trial).marks.iter().map(|note| note.mark()).collect()
}

#[test]
fn a_sound_launch_is_valid_without_marks() {
    let (cell, trial) = launch(10, 9_200.0);
    let judgement = check_trial(&cell, None, &trial);
    assert!(judgement.is_valid() && !judgement.at_least, "{judgement:?}");
    assert_eq!(judgement.marks, []);
    // But for those that are about slices, of which there are none, and about CPUs of its own.
    let others = [Invariant::Slices, Invariant::Cpus];
    let all: Vec<Invariant> = Invariant::ALL.iter().copied().filter(|it| !others.contains(it)).collect();
    assert_eq!(judgement.checks.iter().map(|c| c.invariant).collect::<Vec<_>>(), all);
    assert!(judgement.checks.iter().all(|check| check.holds), "{judgement:?}");
    assert_eq!(judgement.limit.code().id(), "server-bound");
    assert!(words(&judgement.limit).contains("the generator was 43 % busy"), "{judgement:?}");
}

#[test]
fn a_server_on_cpus_that_it_was_not_given_voids() {
    let (cell, mut trial) = launch(10, 9_200.0);
    let cell = CellPlan { target_cpus: vec![0], ..cell };
    let seen = trial.observation.as_mut().unwrap();
    (seen.cpus, seen.cpu_user_s, seen.cpu_system_s) = (1, 1.05 * seen.window_s, 0.0);
    assert_eq!(void_code(&cell, &trial), None, "clocks are not that even");
    let seen = trial.observation.as_mut().unwrap();
    seen.cpu_user_s = 1.8 * seen.window_s;
    assert_eq!(void_code(&cell, &trial).unwrap(), "cpus");
    let anywhere = CellPlan { target_cpus: Vec::new(), ..cell };
    assert_eq!(void_code(&anywhere, &trial), None, "it was given none");
}

#[test]
fn books_that_do_not_balance_void() {
    let (cell, mut trial) = launch(10, 9_200.0);
    measured(&mut trial).accounting.sent -= 1;
    assert_eq!(void_code(&cell, &trial).unwrap(), "accounting");
}

#[test]
fn sides_of_littles_identity_that_disagree_void() {
    let (cell, mut trial) = launch(10, 9_200.0);
    measured(&mut trial).residence.requests_s *= 1.009;
    assert_eq!(void_code(&cell, &trial), None);
    measured(&mut trial).residence.requests_s *= 1.009;
    assert_eq!(void_code(&cell, &trial).unwrap(), "in-flight");
    measured(&mut trial).residence = Residence { in_flight_s: 1e-5, requests_s: 9e-4, completed_s: 1e-5 };
    assert_eq!(void_code(&cell, &trial), None, "both are tiny");
}

/// Published rows whose rate and latency cannot both be right.
#[test]
fn a_median_above_twice_the_mean_voids() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let mean_us = 100.0 / 9_200.0 * 1e6;
    let service = measured(&mut trial).latency_us.service.as_mut().unwrap();
    service.p50 = Some(mean_us * 1.95);
    assert_eq!(void_code(&cell, &trial), None);
    let service = measured(&mut trial).latency_us.service.as_mut().unwrap();
    service.p50 = Some(mean_us * 2.1);
    assert_eq!(void_code(&cell, &trial).unwrap(), "markov");
}

/// A leaderboard's row: X·R̄ = 1,186 requests at once from a server that its configuration limits to 1,024.
#[test]
fn a_mean_above_n_over_x_voids() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let service = measured(&mut trial).latency_us.service.as_mut().unwrap();
    service.mean = service.mean.map(|mean| mean * 1_186.0 / 1_024.0);
    assert_eq!(void_code(&cell, &trial).unwrap(), "markov");
}

/// A stall at the end leaves requests that outlast the window: their p99 is honest and must not void.
#[test]
fn requests_that_cross_the_end_of_a_short_window_do_not_void() {
    let (cell, mut trial) = launch(0, 10_000.0);
    let measured = measured(&mut trial);
    measured.window_s = 1.0;
    measured.in_window.completed = 9_900;
    measured.in_window.ok = 9_900;
    let service = measured.latency_us.service.as_mut().unwrap();
    (service.p99, service.max) = (Some(1_500_000.0), Some(1_500_000.0));
    assert_eq!(void_code(&cell, &trial), None);
}

#[test]
fn more_replies_than_the_delay_allows_void() {
    let (cell, trial) = launch(10, 11_000.0);
    assert_eq!(void_code(&cell, &trial), None, "timers may fire 1 ms early");
    let (cell, trial) = launch(10, 11_200.0);
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!(judgement.void.unwrap().code().id(), "ceiling");
    let (cell, trial) = launch(1, 150_000.0);
    assert_eq!(void_code(&cell, &trial), None, "a delay of 1 ms cannot be told");
}

#[test]
fn a_network_delay_lowers_the_ceiling() {
    let through = |handler_ms: u64, network_ms: u64, rate: f64| {
        let (mut cell, trial) = launch(handler_ms, rate);
        cell.load.network_delay_ns = network_ms * 1_000_000;
        check_trial(&cell, None, &trial)
    };
    let judgement = through(10, 40, 1_990.0);
    assert_eq!((judgement.void, judgement.limit.code().id()), (None, "at-ceiling"));
    let text = "1,990 replies a second, and N ÷ (S + network delay) allows 2,000: the delay of handler and network was the limit";
    assert_eq!(words(&judgement.limit), text);
    assert!(through(10, 0, 1_990.0).marks.is_empty(), "far from N ÷ S");
    assert_eq!(through(10, 40, 2_100.0).void.unwrap().code().id(), "ceiling", "the network was passed by");
    assert!(words(&through(0, 50, 1_990.0).limit).ends_with("the network delay was the limit"));
}

#[test]
fn wrong_content_voids_and_failures_do_not() {
    let (cell, mut trial) = launch(10, 9_200.0);
    wrong_replies(&mut trial, 12);
    let void = check_trial(&cell, None, &trial).void.unwrap();
    assert_eq!(void.code().id(), "correctness");
    assert_eq!(words(&void), "wrong content among 92,000 replies: 12 with a wrong body");
    // Replies inside the window to requests from before it are in no book, nor are they among the wrong ones.
    measured(&mut trial).in_window.completed += 1;
    let void = check_trial(&cell, None, &trial).void.unwrap();
    assert_eq!(words(&void), "wrong content among 92,000 replies: 12 with a wrong body");
    let (cell, mut trial) = launch(10, 9_200.0);
    let books = &mut measured(&mut trial).accounting;
    (books.scheduled, books.sent) = (92_005, 92_005);
    books.failed = BTreeMap::from([(Failure::TimedOut, 5)]);
    assert_eq!(void_code(&cell, &trial), None);
    let failed = [(Failure::TimedOut, 5)].into();
    let failures = FailedRequests { scheduled: 92_005, failed, ..FailedRequests::default() };
    assert_eq!(check_trial(&cell, None, &trial).marks, [MarkNote::new(MarkCause::Failures(failures))]);
    for breach in [
        |of: &mut Measurement| of.connections.unasked_replies = 3,
        |of: &mut Measurement| {
            of.accounting.sent += 3;
            of.accounting.scheduled += 3;
            of.accounting.failed.insert(Failure::Malformed, 3);
        },
    ] {
        let (cell, mut trial) = launch(10, 9_200.0);
        breach(measured(&mut trial));
        assert_eq!(void_code(&cell, &trial), Some("correctness"));
    }
}

#[test]
fn another_status_is_a_failure_and_leaves_the_throughput() {
    let (cell, mut trial) = launch(10, 9_200.0);
    let of = measured(&mut trial);
    (of.accounting.ok, of.accounting.bad_status, of.in_window.ok) = (0, 92_000, 0);
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!(judgement.void, None);
    let failures = FailedRequests { scheduled: 92_000, bad_status: 92_000, ..FailedRequests::default() };
    assert_eq!(judgement.marks, [MarkNote::new(MarkCause::Failures(failures))]);
    assert_eq!(Metric::Throughput.value(&trial), Some(0.0));
}

#[test]
fn launches_without_figures_say_where_they_failed() {
    let (cell, mut trial) = launch(10, 9_200.0);
    measured(&mut trial).interrupted = true;
    assert_eq!(void_code(&cell, &trial).unwrap(), "interrupted");
    die(&mut trial);
    assert_eq!(void_code(&cell, &trial).unwrap(), "died");
    fail_at_launch(&mut trial);
    assert_eq!(void_code(&cell, &trial).unwrap(), "launch");
}

#[test]
fn marks_of_connections() {
    let (cell, mut trial) = launch(0, 9_200.0);
    measured(&mut trial).connections.never_served = 3;
    assert_eq!(marks(&cell, &trial), [Mark::Unserved]);
    measured(&mut trial).connections.never_served = 0;
    measured(&mut trial).residence.completed_s = 890.0;
    assert_eq!(marks(&cell, &trial), [Mark::Unserved]);
    let (cell, trial) = launch(1_000, 95.0);
    assert_eq!(marks(&cell, &trial), [Mark::Thin]);
}

#[test]
fn marks_of_the_machine() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let host = &mut trial.observation.as_mut().unwrap().host;
    *host = HostUse { cpus: 2, steal_share: 0.03, others_share: 0.12 };
    let judgement = check_trial(&cell, None, &trial);
    let taken = MarkCause::Taken { cpus: 2, steal_share: Some(0.03), others_share: Some(0.12) };
    assert_eq!(judgement.marks, [MarkNote::new(taken)]);
    // One process that is always busy uses 3.1 % of 32 CPUs, and all of one of them.
    let mut noisy = |share: f64, cpus: u32, threads: usize| {
        let seen = trial.observation.as_mut().unwrap();
        (seen.host, seen.cpus) = (HostUse { cpus: 32, steal_share: 0.0, others_share: share }, cpus);
        let of = &mut measured(&mut trial).generator.threads;
        of.resize(threads, of[0]);
        check_trial(&cell, None, &trial)
            .marks
            .into_iter()
            .map(|note| report::note_words(&note))
            .collect::<Vec<String>>()
    };
    assert_eq!(noisy(0.031, 1, 4), ["other processes used 3.1 % of the time of 32 CPUs"]);
    assert_eq!(noisy(0.031, 16, 1).len(), 1, "the generator's may be that one");
    assert_eq!(noisy(0.031, 16, 10), Vec::<String>::new());
}

#[test]
fn pipelined_requests_count_as_slots() {
    let mut cell = cell_plan("a", &[], 10, 10);
    cell.load.pipeline = 10;
    let (_, trial) = launch(10, 9_200.0);
    assert_eq!(void_code(&cell, &trial), None, "100 slots, not 10");
}

#[test]
fn a_server_that_closes_what_was_to_be_kept_is_marked() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    let replies = measured(&mut trial).in_window.completed;
    let counts = ConnectionCounts { opened: replies + 100, closed_by_reply: replies, ..ConnectionCounts::default() };
    measured(&mut trial).connections = counts;
    let note = |cell: &CellPlan, trial: &TrialRecord| {
        let marks = check_trial(cell, None, trial).marks;
        marks.into_iter().find(|note| note.mark() == Mark::Reconnects).map(|note| report::note_words(&note))
    };
    let text = note(&cell, &trial).unwrap();
    assert!(text.starts_with("the server closed the connection after each reply: "), "{text}");
    measured(&mut trial).connections =
        ConnectionCounts { opened: replies / 4 + 100, closed_idle: replies / 4, ..ConnectionCounts::default() };
    let text = note(&cell, &trial).unwrap();
    assert!(
        text.starts_with(
            "the server closed the connection after about 4 replies, or while it was idle, without saying so: "
        ),
        "{text}"
    );
    measured(&mut trial).connections = ConnectionCounts { opened: replies / 4 + 100, ..ConnectionCounts::default() };
    measured(&mut trial).accounting.failed.insert(Failure::ClosedBeforeReply, replies / 4);
    let text = note(&cell, &trial).unwrap();
    assert!(text.starts_with("the server closed the connection after about 4 replies or in place of one: "), "{text}");
    measured(&mut trial).accounting.failed.clear();
    measured(&mut trial).connections =
        ConnectionCounts { opened: replies + 100, unasked_replies: replies, ..ConnectionCounts::default() };
    assert_eq!(note(&cell, &trial), None, "we closed them");
    measured(&mut trial).connections = counts;
    cell.load.keep_alive = false;
    assert_eq!(note(&cell, &trial), None, "it was asked for");
}

#[test]
fn connections_that_the_kernel_asked_for_again_are_marked() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let mut note = |least_us: f64, p99_us: Option<f64>, p90_us: f64| {
        let mut connect = measured(&mut trial).latency_us.service.clone().unwrap();
        (connect.min, connect.p90, connect.p99) = (Some(least_us), Some(p90_us), p99_us);
        measured(&mut trial).latency_us.connect = Some(connect);
        let marks = check_trial(&cell, None, &trial).marks;
        marks.into_iter().find(|note| note.mark() == Mark::Backlog).map(|note| report::note_words(&note))
    };
    let text = note(80.0, Some(1.03e6), 90.0).unwrap();
    assert!(text.starts_with("connecting took 1.03 s at p99, as it does when a SYN is dropped"), "{text}");
    assert!(text.contains("raise its listen backlog"), "{text}");
    assert!(note(80.0, None, 3.05e6).unwrap().contains("3.05 s at p90"));
    for (least_us, p99_us) in [(80.0, 0.9e6), (80.0, 1.5e6), (0.98e6, 1.03e6), (80.0, 90.0)] {
        assert_eq!(note(least_us, Some(p99_us), 80.0), None, "{least_us} {p99_us}");
    }
}

#[test]
fn a_load_beside_of_which_some_is_left_without_a_reply_was_not_all_there() {
    let (mut cell, mut trial) = launch(0, 1_000.0);
    let beside = |rate_per_s| Load {
        model: LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant },
        connections: 50,
        ..cell.load.clone()
    };
    let asked = beside(100.0);
    cell.beside = Some(asked);
    let mut of = |ok: u64, slowest_s: f64| {
        let mut load = trial.measurement.clone().unwrap();
        load.accounting = Accounting {
            scheduled: 1_000,
            sent: 1_000,
            completed: ok,
            ok,
            in_flight_at_end: 1_000 - ok,
            ..Accounting::default()
        };
        (load.slowest_reply_s, load.silences) = (Some(slowest_s), Vec::new());
        trial.beside = Some(load);
        check_trial(&cell, None, &trial).void.map(|reason| words(&reason))
    };
    assert_eq!(of(1_000, 0.002), None);
    assert_eq!(of(970, 0.3), None, "as many as come due while a reply is awaited");
    let never = "more of the load beside it failed, hung or was never sent than may fail";
    assert!(of(970, 0.002).is_some_and(|said| said.contains(never)), "thirty hang");
    assert!(of(500, 0.002).is_some_and(|said| said.contains("the load beside it")));
}
