use std::collections::BTreeMap;

use model::*;
use report::reason_words as words;

use super::*;
use crate::testing::{Session, cell_plan, fail_at_launch, summary, wrong_replies};

/// One sound launch at 100 connections, a delay in ms and a throughput.
fn launch(delay_ms: u64, throughput: f64) -> (CellPlan, TrialRecord) {
    let session = Session::new().delayed("a", 100, delay_ms, throughput).noise(0.0).blocks(1);
    (session.draft().cells.remove(0), session.records().remove(0))
}

fn measured(trial: &mut TrialRecord) -> &mut Measurement {
    trial.measurement.as_mut().unwrap()
}

fn void_code(cell: &CellPlan, trial: &TrialRecord) -> Option<&'static str> {
    check_trial(cell, None, trial).void.map(|reason| reason.code.id())
}

fn marks(cell: &CellPlan, trial: &TrialRecord) -> Vec<Mark> {
    check_trial(cell, None, trial).marks.iter().map(|note| note.mark).collect()
}

/// Turns a launch into one of the open model whose books are full and on time.
fn open(cell: &mut CellPlan, trial: &mut TrialRecord, rate_per_s: f64) {
    cell.load.model = LoadModel::Open { rate_per_s, arrivals: Arrivals::Constant };
    let latencies = &mut measured(trial).latency_us;
    latencies.response = latencies.service.clone();
    latencies.lateness = Some(summary(20.0, 1_000));
}

#[test]
fn a_sound_launch_is_valid_without_marks() {
    let (cell, trial) = launch(10, 9_200.0);
    let judgement = check_trial(&cell, None, &trial);
    assert!(judgement.is_valid() && !judgement.at_least, "{judgement:?}");
    assert_eq!(judgement.marks, []);
    assert_eq!(judgement.checks.iter().map(|c| c.invariant).collect::<Vec<_>>(), Invariant::ALL);
    assert!(judgement.checks.iter().all(|check| check.holds), "{judgement:?}");
    assert_eq!(judgement.limit.code.id(), "server-bound");
    assert!(words(&judgement.limit).contains("the generator was 43 % busy"), "{judgement:?}");
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

/// One that is stopped at the end of a short window ends the drain when it is continued.
#[test]
fn a_standstill_across_the_end_of_the_window_is_no_contradiction() {
    let (cell, mut trial) = launch(10, 10_000.0);
    let measured = measured(&mut trial);
    (measured.window_s, measured.in_window.completed, measured.in_window.ok) = (0.3, 3_000, 3_000);
    let service = measured.latency_us.service.as_mut().unwrap();
    (service.mean, service.max) = (Some(100_000.0), Some(3_050_000.0));
    let stood = |length_s: f64| Standstills {
        count: 1,
        sum_s: length_s,
        spans: vec![StandstillSpan { thread: 0, at_s: 0.3 - 0.06, length_s }],
        ..Standstills::default()
    };
    measured.standstills = Some(stood(0.05));
    assert_eq!(void_code(&cell, &trial).unwrap(), "markov", "it was awake again in time");
    trial.measurement.as_mut().unwrap().standstills = Some(stood(0.06));
    assert_eq!(void_code(&cell, &trial), None);
}

#[test]
fn more_replies_than_the_delay_allows_void() {
    let (cell, trial) = launch(10, 11_000.0);
    assert_eq!(void_code(&cell, &trial), None, "timers may fire 1 ms early");
    let (cell, trial) = launch(10, 11_200.0);
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!(judgement.void.unwrap().code.id(), "ceiling");
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
    assert_eq!((judgement.void, judgement.limit.code.id()), (None, "at-ceiling"));
    let text = "1,990 replies a second, and N ÷ (S + network delay) allows 2,000: the delay of handler and network was the limit";
    assert_eq!(words(&judgement.limit), text);
    assert!(through(10, 0, 1_990.0).marks.is_empty(), "far from N ÷ S");
    assert_eq!(through(10, 40, 2_100.0).void.unwrap().code.id(), "ceiling", "the network was passed by");
    assert!(words(&through(0, 50, 1_990.0).limit).ends_with("the network delay was the limit"));
}

#[test]
fn what_delays_the_load_takes_the_generators_cpu() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let generator = &mut measured(&mut trial).generator;
    let of = |busy: f64| ThreadUse { cpu_s: busy * 10.0, wall_s: 10.0, ..ThreadUse::default() };
    (generator.threads[0], generator.network_delay) = (of(0.5), Some(of(0.2)));
    assert!(!check_trial(&cell, None, &trial).at_least);
    measured(&mut trial).generator.network_delay = Some(of(0.4));
    let judgement = check_trial(&cell, None, &trial);
    assert!(judgement.at_least, "the two fill a CPU");
    assert!(words(&judgement.limit).starts_with("generator thread 1 was 90 % busy"), "{}", words(&judgement.limit));
}

/// Records of earlier versions tell of the longest stall alone.
#[test]
fn a_long_stall_is_a_standstill_and_a_turn_on_a_busy_machine_is_none() {
    let limit = |stall_us: f64, window_s: f64| {
        let (cell, mut trial) = launch(0, 9_200.0);
        let measured = measured(&mut trial);
        (measured.window_s, measured.generator.threads[0].longest_stall_us) = (window_s, stall_us);
        check_trial(&cell, None, &trial).limit
    };
    let found = limit(600_000.0, 10.0);
    assert_eq!(found.code.id(), "generator-stalled");
    assert_eq!(
        words(&found),
        "the generator itself stood still for 600 ms of a window of 10.0 s: the server does at least this"
    );
    assert_eq!(found.cure, Some(Cure::OwnCpus));
    assert_ne!(limit(490_000.0, 10.0).code.id(), "generator-stalled");
    assert_ne!(limit(90_000.0, 0.1).code.id(), "generator-stalled");
}

#[test]
fn a_launch_in_which_only_the_generators_standstill_was_measured_is_void() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let measured = measured(&mut trial);
    measured.generator.threads[0].longest_stall_us = 11e6;
    (measured.accounting, measured.in_window) = Default::default();
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!(judgement.void.map(|reason| reason.code.id()), Some("generator-stalled"), "not a server of 0 a second");
}

#[test]
fn wrong_content_voids_and_failures_do_not() {
    let (cell, mut trial) = launch(10, 9_200.0);
    wrong_replies(&mut trial, 12);
    let void = check_trial(&cell, None, &trial).void.unwrap();
    assert_eq!(void.code.id(), "correctness");
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
    assert_eq!(check_trial(&cell, None, &trial).marks, [MarkNote::new(Mark::Errors, MarkCause::Failures(failures))]);
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
    assert_eq!(judgement.marks, [MarkNote::new(Mark::Errors, MarkCause::Failures(failures))]);
    assert_eq!(Metric::Throughput.value(&trial), Some(0.0));
}

#[test]
fn launches_without_figures_say_where_they_failed() {
    let (cell, mut trial) = launch(10, 9_200.0);
    measured(&mut trial).interrupted = true;
    assert_eq!(void_code(&cell, &trial).unwrap(), "interrupted");
    trial.failure =
        Some(TrialFailure { stage: TrialStage::Died, text: "killed".into(), output: String::new(), waited_ms: None });
    assert_eq!(void_code(&cell, &trial).unwrap(), "died");
    fail_at_launch(&mut trial);
    assert_eq!(void_code(&cell, &trial).unwrap(), "launch");
}

#[test]
fn a_full_generator_makes_a_lower_bound_unless_something_else_explains_the_rate() {
    let full = |trial: &mut TrialRecord| measured(trial).generator.threads[0].cpu_s = 9.7;
    let (cell, mut trial) = launch(0, 9_200.0);
    full(&mut trial);
    let judgement = check_trial(&cell, None, &trial);
    assert!(judgement.at_least);
    assert_eq!((judgement.limit.code.id(), judgement.marks[0].mark), ("generator", Mark::Generator));
    trial.observation.as_mut().unwrap().cpu_user_s = 9.6;
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!((judgement.at_least, judgement.limit.code.id()), (false, "target-cpu"));
    let (cell, mut trial) = launch(10, 9_900.0);
    full(&mut trial);
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!((judgement.at_least, judgement.limit.code.id()), (false, "at-ceiling"));
    assert_eq!(judgement.marks[0].mark, Mark::AtCeiling);
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
    assert_eq!(judgement.marks, [MarkNote::new(Mark::Noisy, taken)]);
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
fn an_open_rate_is_reached_or_missed_for_a_reason() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!((judgement.limit.code.id(), judgement.marks.len()), ("rate-reached", 0));
    assert!(!judgement.checks.iter().any(|check| check.invariant == Invariant::Markov), "closed model only");
    let books = &mut measured(&mut trial).accounting;
    books.sent_late.insert(LateCause::Generator, 2_000);
    assert_eq!(void_code(&cell, &trial), None, "late, and measured from its time");
    let books = &mut measured(&mut trial).accounting;
    books.scheduled += 2_000;
    books.not_sent.insert(NotSent::WaitingAtEnd, 2_000);
    assert_eq!(void_code(&cell, &trial).unwrap(), "rate-not-reached");
}

#[test]
fn a_small_standstill_does_not_explain_what_an_overloaded_server_kept_waiting() {
    let missed = |sum_s: f64| {
        let (mut cell, mut trial) = launch(0, 9_200.0);
        open(&mut cell, &mut trial, 9_200.0);
        let measured = measured(&mut trial);
        measured.accounting.scheduled += 4_000;
        measured.accounting.not_sent.insert(NotSent::WaitingAtEnd, 4_000);
        measured.standstills =
            Some(Standstills { count: 1, sum_s, longest_s: sum_s, never_sent: 4_000, ..Standstills::default() });
        (check_trial(&cell, None, &trial).limit.code.id(), void_code(&cell, &trial))
    };
    assert_eq!(missed(0.01), ("server-behind", None), "some 92 requests a standstill");
    assert_eq!(missed(0.3), ("rate-not-reached", Some("rate-not-reached")));
}

#[test]
fn a_quantile_near_the_lateness_is_marked() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    measured(&mut trial).latency_us.lateness = Some(summary(1_200.0, 1_000));
    let note = check_trial(&cell, None, &trial).marks.remove(0);
    assert_eq!(note.mark, Mark::Lateness);
    assert!(report::note_words(&note).contains("own lateness: p50 10.9 ms, p90 12.0 ms"), "{note:?}");
}

/// The metrics that the lateness mark names, with so much lateness and so many of 92,000 requests that waited.
fn late_metrics(late: LatencySummary, waited: u64) -> Vec<Metric> {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    measured(&mut trial).latency_us.lateness = Some(LatencySummary { mean: None, ..late });
    measured(&mut trial).accounting.sent_late.insert(LateCause::NoConnection, waited);
    let marks = check_trial(&cell, None, &trial).marks;
    marks.into_iter().find(|note| note.mark == Mark::Lateness).map_or(Vec::new(), |note| note.metrics)
}

/// One request in a thousand that leaves late moves a p99, and hardly the median; one in ten moves that.
#[test]
fn each_quantile_is_held_against_the_lateness_of_a_tenth_of_what_lies_above_it() {
    use Metric::{P50, P90, P99, P999};
    let on_time = || summary(20.0, 100_000);
    let late = Some(5_000.0);
    assert_eq!(late_metrics(on_time(), 0), []);
    let from_p999 = LatencySummary { p999: late, p9999: late, ..on_time() };
    assert_eq!(late_metrics(from_p999.clone(), 0), [P99, P999]);
    let from_p99 = LatencySummary { p99: late, ..from_p999.clone() };
    assert_eq!(late_metrics(from_p99.clone(), 0), [P90, P99, P999]);
    let from_p95 = LatencySummary { p95: late, ..from_p99 };
    assert_eq!(late_metrics(from_p95.clone(), 0), [P50, P90, P99, P999], "its own quantile is on time");
    let few = LatencySummary { p999: None, p9999: None, ..from_p95.clone() };
    assert_eq!(late_metrics(few, 0), [P50, P90, P99, P999], "the highest that is estimable");
}

#[test]
fn what_waited_for_a_connection_is_not_held_against_the_generator_and_clears_it_of_nothing_else() {
    use Metric::{P50, P90, P99, P999};
    let late = Some(5_000.0);
    let waiting = LatencySummary { p99: late, p999: late, p9999: late, ..summary(20.0, 100_000) };
    assert_eq!(late_metrics(waiting.clone(), 1_380), [], "1.5 % waited, and no others were late");
    let both = LatencySummary { p75: late, p90: late, p95: late, ..waiting };
    assert_eq!(late_metrics(both, 1_380), [P50, P90, P99, P999], "nor does that clear it of what a quarter suffered");
}

#[test]
fn pipelined_requests_count_as_slots() {
    let mut cell = cell_plan("a", &[], 10, 10);
    cell.load.pipeline = 10;
    let (_, trial) = launch(10, 9_200.0);
    assert_eq!(void_code(&cell, &trial), None, "100 slots, not 10");
}

/// A launch in which the generator stood still for so many of its seconds, while so many requests waited.
fn stood_still(trial: &mut TrialRecord, sum_s: f64, requests: u64) {
    let measured = measured(trial);
    let without = |all: &Option<LatencySummary>| {
        all.clone().map(|all| LatencySummary {
            count: all.count - requests,
            p50: Some(80.0),
            p90: Some(85.0),
            p99: Some(90.0),
            ..all
        })
    };
    let latency = &measured.latency_us;
    let without_us =
        Latencies { response: without(&latency.response), service: without(&latency.service), ..Latencies::default() };
    measured.standstills =
        Some(Standstills { count: 1, sum_s, longest_s: sum_s, requests, without_us, ..Standstills::default() });
}

#[test]
fn standstills_make_a_closed_throughput_a_lower_bound_and_an_open_load_void() {
    let (mut cell, trial) = launch(0, 9_200.0);
    let window_s = trial.measurement.as_ref().unwrap().window_s;
    let with = |cell: &CellPlan, mut trial: TrialRecord, share: f64| {
        stood_still(&mut trial, share * window_s, 100);
        let judgement = check_trial(cell, None, &trial);
        (judgement.at_least, judgement.limit.code.id(), judgement.void.map(|reason| reason.code.id()))
    };
    let stalled = || "generator-stalled";
    assert_eq!(with(&cell, trial.clone(), 0.04), (false, "server-bound", None));
    assert_eq!(with(&cell, trial.clone(), 0.06), (true, stalled(), None));
    let mut opened = trial;
    open(&mut cell, &mut opened, 9_200.0);
    assert_eq!(with(&cell, opened.clone(), 0.04), (false, "rate-reached", None));
    assert_eq!(with(&cell, opened, 0.06), (false, stalled(), Some(stalled())));
}

#[test]
fn a_standstill_touches_the_quantiles_that_its_requests_can_move() {
    for (share, sum_s, touched) in [
        (0.000_5, 0.3, vec![]),
        (0.002, 0.3, vec![Metric::P99]),
        (0.02, 0.3, vec![Metric::P90, Metric::P99]),
        (0.2, 0.3, vec![Metric::P50, Metric::P90, Metric::P99]),
        // A tenth of what was measured at least: no request lost more than the whole of it.
        (0.2, 0.000_5, vec![]),
    ] {
        let (mut cell, mut trial) = launch(0, 9_200.0);
        open(&mut cell, &mut trial, 9_200.0);
        measured(&mut trial).latency_us.response.iter_mut().for_each(|all| (all.p999, all.count) = (None, 100_000));
        stood_still(&mut trial, sum_s, (share * 100_000.0) as u64);
        let marks = check_trial(&cell, None, &trial).marks;
        let found = marks.iter().find(|note| note.mark == Mark::Standstill);
        let of_quantiles: Vec<Metric> = found
            .map_or(Vec::new(), |note| note.metrics.clone())
            .into_iter()
            .filter(|metric| *metric != Metric::Mean)
            .collect();
        assert_eq!(of_quantiles, touched, "{share}: {marks:?}");
    }
}

#[test]
fn no_standstill_and_none_that_moved_a_figure_is_no_mark() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    stood_still(&mut trial, 0.3, 2_000);
    let is_marked = |trial: &TrialRecord| {
        let marks = check_trial(&cell, None, trial).marks;
        marks.iter().any(|note| note.mark == Mark::Standstill && note.is_about(Metric::P99))
    };
    assert!(is_marked(&trial));
    let mut same = trial.clone();
    let latency = &measured(&mut same).latency_us;
    let p99 = latency.response.as_ref().unwrap().p99;
    let without = &mut measured(&mut same).standstills.as_mut().unwrap().without_us;
    without.response.as_mut().unwrap().p99 = p99;
    assert!(!is_marked(&same), "the figure is what it is without them");
    let stood = measured(&mut trial).standstills.as_mut().unwrap();
    (stood.count, stood.sum_s) = (0, 0.0);
    measured(&mut trial).generator.threads[0].longest_stall_us = 300_000.0;
    assert!(!is_marked(&trial), "it stood still 0 times");
}

#[test]
fn a_generator_that_waited_for_a_cpu_was_not_idle() {
    let (cell, mut trial) = launch(0, 9_200.0);
    let thread = |busy: f64, waited: f64| ThreadUse {
        cpu_s: busy * 10.0,
        wall_s: 10.0,
        run_delay_s: Some(waited * 10.0),
        ..ThreadUse::default()
    };
    measured(&mut trial).generator.threads = vec![thread(0.3, 0.1), thread(0.35, 0.5)];
    let judgement = check_trial(&cell, None, &trial);
    assert!(judgement.at_least);
    assert_eq!(
        words(&judgement.limit),
        "generator thread 2 was 35 % busy and waited for a CPU for 50 % of the time: the server does at least this"
    );
    assert_eq!(judgement.limit.cure, Some(Cure::OwnCpus));
    measured(&mut trial).generator.threads = vec![thread(0.35, 0.2)];
    assert!(!check_trial(&cell, None, &trial).at_least);
}

#[test]
fn a_server_that_closes_what_was_to_be_kept_is_marked() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    let replies = measured(&mut trial).in_window.completed;
    let counts = ConnectionCounts { opened: replies + 100, closed_by_reply: replies, ..ConnectionCounts::default() };
    measured(&mut trial).connections = counts;
    let note = |cell: &CellPlan, trial: &TrialRecord| {
        let marks = check_trial(cell, None, trial).marks;
        marks.into_iter().find(|note| note.mark == Mark::Reconnects).map(|note| report::note_words(&note))
    };
    let text = note(&cell, &trial).unwrap();
    assert!(text.starts_with("the server closed the connection after each reply: "), "{text}");
    measured(&mut trial).connections =
        ConnectionCounts { opened: replies / 4 + 100, closed_idle: replies / 4, ..ConnectionCounts::default() };
    let text = note(&cell, &trial).unwrap();
    assert!(text.starts_with("the server closed the connection after about 4 replies without saying so: "), "{text}");
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
