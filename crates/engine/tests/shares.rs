//! A load that several generators make, each its share of the threads: together it is what one generator would have made.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use engine::{Brought, LoadError, MonotonicClock, RunOptions, Share, bring_share};
use model::{Clock, Extent, LoadModel, LoadSpec};
use support::{MS, checked, open, server, spec};

fn made(spec: &LoadSpec, share: Share, begin_ns: Option<u64>) -> Result<Option<Brought>, LoadError> {
    let options = RunOptions { share: Some(share), ..RunOptions::default() };
    bring_share(spec, options, &AtomicBool::new(false), &mut || begin_ns, (&mut |_| {}, &mut |_, _| {}))
}

/// A load by three threads, of which one generator makes two and another the third.
fn together(model: LoadModel, extent: Extent) -> (LoadSpec, [Brought; 2]) {
    let mut spec = spec(model, 7, 200 * MS);
    (spec.address, spec.threads, spec.load.extent) = (server(), 3, extent);
    let begin_ns = MonotonicClock.now_ns() + 500 * MS;
    let shares = [Share { first_thread: 0, threads: 2 }, Share { first_thread: 2, threads: 1 }];
    let make = |share| made(&spec, share, Some(begin_ns)).unwrap().unwrap();
    let brought = std::thread::scope(|scope| {
        shares.map(|share| scope.spawn(move || make(share))).map(|making| making.join().unwrap())
    });
    (spec, brought)
}

#[test]
fn each_makes_its_threads_and_none_is_made_twice() {
    let (spec, [one, other]) = together(open(300.0), Extent::Requests { count: 100, within_ns: None });
    let alone = [&one, &other].map(|it| it.clone().conclude().measurement);
    assert_eq!(alone.each_ref().map(|it| it.generator.threads.len()), [2, 1]);
    assert_eq!(alone.each_ref().map(|it| it.accounting.scheduled), [34 + 33, 33]);
    assert_eq!(alone.each_ref().map(|it| it.connections.opened), [3 + 2, 2]);
    assert_eq!(one.window_ns().0, other.window_ns().0, "to the nanosecond");
    let whole = checked(one.beside(other).unwrap().conclude().measurement);
    assert_eq!((whole.accounting.scheduled, whole.connections.opened), (100, spec.connections.into()));
    assert_eq!((whole.accounting.completed, whole.generator.threads.len()), (100, 3));
}

#[test]
fn generators_that_began_apart_have_a_course_since_each_began() {
    let (_, [one, other]) = together(open(300.0), Extent::Window(1_500 * MS));
    for later_ms in [0, 400, 600, 1_100] {
        let later = other.clone().moved((later_ms * MS) as i64);
        let both = Brought::from_bytes(&one.clone().beside(later).unwrap().to_bytes()).unwrap();
        let (from_ns, to_ns) = both.window_ns();
        assert_eq!((from_ns, to_ns - from_ns), (one.window_ns().0, 1_500 * MS), "{later_ms} ms later");
        let whole = checked(both.conclude().measurement);
        let ends_s = whole.steps.last().map(|step| step.at_s + step.length_s).unwrap();
        assert!(ends_s <= whole.window_s && whole.accounting.scheduled == 450, "{later_ms} ms later: {whole:?}");
    }
}

#[test]
fn what_is_brought_of_an_exact_number_at_a_rate_can_be_read() {
    let mut spec = spec(open(1_000.0), 6, 200 * MS);
    (spec.address, spec.threads) = (server(), 6);
    spec.load.extent = Extent::Requests { count: 999, within_ns: None };
    let begin_ns = MonotonicClock.now_ns() + 300 * MS;
    let shares = [0, 3].map(|first_thread| Share { first_thread, threads: 3 });
    let brought = std::thread::scope(|scope| {
        let make = |share| made(&spec, share, Some(begin_ns)).unwrap().unwrap();
        shares.map(|share| scope.spawn(move || make(share))).map(|making| making.join().unwrap())
    });
    for share in brought {
        Brought::from_bytes(&share.to_bytes()).unwrap();
    }
}

#[test]
fn a_share_that_comes_too_late_or_is_not_begun_is_not_made() {
    let mut spec = spec(LoadModel::Closed, 2, 100 * MS);
    spec.address = server();
    let share = Share { first_thread: 0, threads: 1 };
    let past_ns = MonotonicClock.now_ns().saturating_sub(1_000 * MS);
    let late = made(&spec, share, Some(past_ns));
    assert!(matches!(late, Err(LoadError::TooLate { late_ns }) if late_ns >= 1_000 * MS), "{late:?}");
    assert!(matches!(made(&spec, share, None), Ok(None)));
}

/// What a load of 2.3 s is said to have brought after each whole second, the replies of its seconds, and what it brought.
fn stopped(model: LoadModel, connections: u32) -> (BTreeMap<u64, Brought>, Vec<u64>, Brought) {
    let mut spec = spec(model, connections, 2_300 * MS);
    (spec.address, spec.threads, spec.load.warm_up_ns) = (server(), 2, 100 * MS);
    let begin_ns = MonotonicClock.now_ns() + 300 * MS;
    let (mut stopped, mut replies) = (BTreeMap::new(), vec![0; 3]);
    let whole = bring_share(
        &spec,
        RunOptions::default(),
        &AtomicBool::new(false),
        &mut || Some(begin_ns),
        (
            &mut |passed| {
                let second = &passed.second;
                if second.is_measured() && !second.drain {
                    replies[second.interval.at_s as usize] += second.interval.completed;
                }
            },
            &mut |seconds, brought| assert_eq!(stopped.insert(seconds, brought), None, "told once"),
        ),
    );
    (stopped, replies, whole.unwrap().unwrap())
}

#[test]
fn after_each_second_is_told_what_the_load_would_have_brought_had_it_been_stopped() {
    for model in [LoadModel::Closed, open(2_000.0)] {
        let (stopped, replies, whole) = stopped(model, 5);
        assert!(!stopped.is_empty() && stopped.keys().all(|seconds| [1, 2].contains(seconds)), "of {model:?}");
        for (seconds, brought) in stopped {
            let figures = checked(brought.conclude().measurement);
            // A thread tells as soon as it has woken up, and what came in between is in it.
            let passed_s = seconds as f64;
            assert!((passed_s..passed_s + 0.051).contains(&figures.window_s), "{seconds}: {}", figures.window_s);
            let before = replies[..seconds as usize].iter().sum::<u64>();
            assert!(figures.in_window.completed >= before, "{seconds}: {} of {before}", figures.in_window.completed);
            assert!(figures.interrupted && figures.generator.threads.len() == 2 && figures.connections.opened == 5);
            let felt = figures.latency_us.felt().unwrap().count;
            assert_eq!(
                felt, figures.accounting.scheduled,
                "each request that was due, with an age where it had no reply"
            );
            if let LoadModel::Open { rate_per_s, .. } = model {
                let due = rate_per_s * figures.window_s;
                // Another thread may have told a moment earlier.
                let most = 2.0 + rate_per_s / 2.0 * 0.051;
                let off = (figures.accounting.scheduled as f64 - due).abs();
                assert!(off <= most, "{due}: {:?}", figures.accounting);
            }
        }
        let whole = checked(whole.conclude().measurement);
        assert!(!whole.interrupted && whole.in_window.completed == replies.iter().sum::<u64>(), "{replies:?}");
    }
}
