//! Launches whose generator was full or late.

use super::*;

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

#[test]
fn a_full_generator_makes_a_lower_bound_unless_something_else_explains_the_rate() {
    let full = |trial: &mut TrialRecord| measured(trial).generator.threads[0].cpu_s = 9.7;
    let (cell, mut trial) = launch(0, 9_200.0);
    full(&mut trial);
    let judgement = check_trial(&cell, None, &trial);
    assert!(judgement.at_least);
    assert_eq!((judgement.limit.code().id(), judgement.marks[0].mark()), ("generator", Mark::Generator));
    trial.observation.as_mut().unwrap().cpu_user_s = 9.6;
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!((judgement.at_least, judgement.limit.code().id()), (false, "target-cpu"));
    let (cell, mut trial) = launch(10, 9_900.0);
    full(&mut trial);
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!((judgement.at_least, judgement.limit.code().id()), (false, "at-ceiling"));
    assert_eq!(judgement.marks[0].mark(), Mark::AtCeiling);
}

#[test]
fn an_open_rate_is_reached_or_missed_for_a_reason() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    let judgement = check_trial(&cell, None, &trial);
    assert_eq!((judgement.limit.code().id(), judgement.marks.len()), ("rate-reached", 0));
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
fn a_quantile_near_the_lateness_is_marked() {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    measured(&mut trial).latency_us.lateness = Some(lateness(1_200.0, 1_000));
    let note = check_trial(&cell, None, &trial).marks.remove(0);
    assert_eq!(note.mark(), Mark::Lateness);
    assert!(report::note_words(&note).contains("over a tenth of p50 10.9 ms, p75 11.4 ms, p90 12.0 ms, "), "{note:?}");
}

/// The metrics that the lateness mark names, with so much lateness and so many of 92,000 requests that waited.
fn late_metrics(late: LatencySummary, waited: u64) -> Vec<Metric> {
    let (mut cell, mut trial) = launch(0, 9_200.0);
    open(&mut cell, &mut trial, 9_200.0);
    measured(&mut trial).latency_us.lateness = Some(LatencySummary { mean: None, ..late });
    measured(&mut trial).accounting.sent_late.insert(LateCause::NoConnection, waited);
    let marks = check_trial(&cell, None, &trial).marks;
    marks.into_iter().find(|note| note.mark() == Mark::Lateness).map_or(Vec::new(), |note| note.metrics)
}

/// One request in a thousand that leaves late moves a p99, and hardly the median; one in ten moves that.
#[test]
fn each_quantile_is_held_against_the_lateness_of_a_tenth_of_what_lies_above_it() {
    use Metric::{P50, P75, P90, P95, P99, P999};
    let on_time = || lateness(20.0, 100_000);
    let late = Some(5_000.0);
    assert_eq!(late_metrics(on_time(), 0), []);
    let from_p999 = LatencySummary { p999: late, p9999: late, ..on_time() };
    assert_eq!(late_metrics(from_p999.clone(), 0), [P99, P999]);
    let from_p99 = LatencySummary { p99: late, ..from_p999.clone() };
    assert_eq!(late_metrics(from_p99.clone(), 0), [P90, P95, P99, P999]);
    let from_p95 = LatencySummary { p95: late, ..from_p99 };
    assert_eq!(late_metrics(from_p95.clone(), 0), [P50, P75, P90, P95, P99, P999], "its own quantile is on time");
    let few = LatencySummary { p999: None, p9999: None, ..from_p95.clone() };
    assert_eq!(late_metrics(few, 0), [P50, P75, P90, P95, P99, P999], "the highest that is estimable");
}

#[test]
fn what_waited_for_a_connection_is_not_held_against_the_generator_and_clears_it_of_nothing_else() {
    use Metric::{P50, P75, P90, P95, P99, P999};
    let late = Some(5_000.0);
    let waiting = LatencySummary { p99: late, p999: late, p9999: late, ..lateness(20.0, 100_000) };
    assert_eq!(late_metrics(waiting.clone(), 1_380), [], "1.5 % waited, and no others were late");
    let both = LatencySummary { p75: late, p90: late, p95: late, ..waiting };
    assert_eq!(
        late_metrics(both, 1_380),
        [P50, P75, P90, P95, P99, P999],
        "nor does that clear it of what a quarter suffered"
    );
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
