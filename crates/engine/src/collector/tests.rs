use std::sync::mpsc;

use super::*;
use crate::second::record;

const MS: u64 = 1_000_000;

/// What a thread saw in a second: so many replies of so many milliseconds.
fn second(thread: usize, index: i64, replies: u64, ms: u64) -> Box<Second> {
    let mut second = Second::new(thread, Felt::Service);
    let start_ns = (index + 10) as u64 * NS_PER_S;
    second.begin(index, start_ns, 10 * NS_PER_S, false);
    second.end_ns = start_ns + NS_PER_S;
    (second.completed, second.ok, second.sent) = (replies, replies, replies);
    (0..replies).for_each(|_| record(&mut second.distributions.service, ms * MS));
    Box::new(second)
}

/// What is told of these seconds of two threads as they come, the course and all replies, and how many sets went back.
fn collected(
    seconds: impl IntoIterator<Item = Box<Second>>,
) -> (Vec<Interval>, Vec<Interval>, Distributions, [usize; 2]) {
    let (full, given) = mpsc::channel();
    seconds.into_iter().for_each(|second| full.send(Told::Second(second)).unwrap());
    drop(full);
    let (empties, back): (Vec<_>, Vec<_>) = (0..2).map(|_| mpsc::channel()).unzip();
    let mut collector = Collector::new(Felt::Service, 1, 2, false);
    let mut told = Vec::new();
    collector.collect(&given, &empties, Listener::of(&mut |passed| told.push(passed.second.interval)));
    let (course, whole) = collector.end();
    let back =
        [0, 1].map(|thread: usize| back[thread].try_iter().filter(|it| it.distributions.service.is_empty()).count());
    (told, course, whole, back)
}

fn counts(seconds: &[Interval]) -> Vec<(f64, u64)> {
    seconds.iter().map(|second| (second.at_s, second.completed)).collect()
}

#[test]
fn a_second_is_told_once_both_threads_have_told_of_it() {
    let (told, course, whole, back) =
        collected(vec![second(0, 0, 10, 1), second(0, 1, 20, 1), second(1, 0, 5, 9), second(1, 1, 7, 1)]);
    assert_eq!(counts(&told), [(0.0, 15), (1.0, 27)]);
    let [median_us, slow_us] = [told[0].p50_us, told[0].p99_us].map(Option::unwrap);
    assert!((median_us - 1_000.0).abs() < 1.0 && (slow_us - 9_000.0).abs() < 9.0, "of both threads: {:?}", told[0]);
    assert_eq!(course, told);
    assert_eq!((whole.service.len(), back), (42, [2, 2]), "each set goes back to its thread");
}

#[test]
fn a_thread_that_is_late_is_waited_for_two_seconds_and_what_it_tells_then_is_counted() {
    let of_first = (0..5).map(|index| second(0, index, 10, 1));
    let late = [second(1, 0, 3, 50), second(1, 4, 4, 1)];
    let (told, course, whole, back) = collected(of_first.chain(late));
    // Seconds 0 and 1 are told when the other thread is in the third after them, 0 again when the late one tells of it.
    assert_eq!(counts(&told), [(0.0, 10), (1.0, 10), (0.0, 3), (2.0, 10), (3.0, 10), (4.0, 14)]);
    assert_eq!(counts(&course), [(0.0, 13), (1.0, 10), (2.0, 10), (3.0, 10), (4.0, 14)]);
    assert_eq!((whole.service.len(), back), (57, [5, 2]));
    assert!(course[0].p99_us < Some(2_000.0), "the quantiles are of what came in time");
    assert_eq!(course[0].max_us, told[2].max_us, "and the largest of all");
    assert!(course[0].max_us > Some(49_000.0), "{:?}", course[0]);
}

#[test]
fn the_replies_of_the_warm_up_are_told_and_in_no_distribution_of_the_load() {
    let (told, course, whole, _) =
        collected(vec![second(0, -1, 10, 1), second(1, -1, 10, 1), second(0, 0, 1, 1), second(1, 0, 1, 1)]);
    assert_eq!(counts(&told), [(-1.0, 20), (0.0, 2)]);
    assert_eq!((counts(&course), whole.service.len()), (vec![(-1.0, 20), (0.0, 2)], 2));
}

#[test]
fn a_thread_that_has_gone_leaves_its_last_seconds_to_the_other() {
    let (told, ..) = collected(vec![second(1, 0, 1, 1), second(0, 0, 2, 1), second(0, 1, 2, 1), second(0, 2, 2, 1)]);
    assert_eq!(counts(&told), [(0.0, 3), (1.0, 2), (2.0, 2)]);
}
