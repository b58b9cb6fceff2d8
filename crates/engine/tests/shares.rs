//! A load that several generators make, each its share of the threads: together it is what one generator would have made.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::sync::atomic::AtomicBool;

use engine::{Brought, LoadError, MonotonicClock, RunOptions, Share, bring_share};
use model::{Clock, Extent, LoadModel, LoadSpec};
use support::{MS, checked, open, server, spec};

fn made(spec: &LoadSpec, share: Share, begin_ns: Option<u64>) -> Result<Option<Brought>, LoadError> {
    let options = RunOptions { share: Some(share), ..RunOptions::default() };
    bring_share(spec, options, &AtomicBool::new(false), &mut || begin_ns, &mut |_| {})
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
fn a_share_that_comes_too_late_or_is_not_begun_is_not_made() {
    let mut spec = spec(LoadModel::Closed, 2, 100 * MS);
    spec.address = server();
    let share = Share { first_thread: 0, threads: 1 };
    let past_ns = MonotonicClock.now_ns().saturating_sub(1_000 * MS);
    let late = made(&spec, share, Some(past_ns));
    assert!(matches!(late, Err(LoadError::TooLate { late_ns }) if late_ns >= 1_000 * MS), "{late:?}");
    assert!(matches!(made(&spec, share, None), Ok(None)));
}
