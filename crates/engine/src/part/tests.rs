use std::sync::mpsc;

use model::{Failure, NotSent};
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::io::Errno;

use super::*;
use crate::collector::{Collector, Listener};
use crate::demand::Window;
use crate::in_flight::Moments;
use crate::ledger::Ledger;
use crate::outcome::Loss;
use crate::port::Port;
use crate::protocol::Reply;
use crate::second::{histogram, record};
use crate::standstill::Waited;

const MS: u64 = 1_000_000;
const SLOTS: usize = 8;
/// Requests in the mix.
const MIX: usize = 3;

/// What becomes of one request.
#[derive(Debug, Clone, Copy)]
enum End {
    Reply(u16, bool),
    Lost(Loss),
    NeverSent(NotSent),
    Unfinished,
}

/// A request on a slot: when it was due, and how much later it left and ended, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// Its place in its stream, which keeps it apart from others at the same time.
    nth: u64,
    slot: usize,
    due: u64,
    late: u64,
    took: u64,
    end: End,
}

/// Something that happens to the connection of a slot.
#[derive(Debug, Clone, Copy)]
enum Happened {
    Opened,
    Kept,
    NotOpened(Errno),
    ClosedIdle,
    ClosedByReply,
    Unasked,
}

/// The outcomes of one stream, and what happened to connections meanwhile: on which slot, when in milliseconds.
#[derive(Debug, Clone, Default)]
struct Stream {
    outcomes: Vec<Outcome>,
    connections: Vec<(usize, u64, Happened)>,
}

impl Stream {
    fn of(outcomes: &[Outcome]) -> Self {
        Self { outcomes: outcomes.to_vec(), connections: Vec::new() }
    }
}

/// One entry in the books.
#[derive(Debug, Clone, Copy)]
enum Step {
    Due,
    Left,
    Ended,
}

fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
    let end = prop_oneof![
        6 => Just(End::Reply(200, true)),
        1 => Just(End::Reply(200, false)),
        1 => (500u16..504).prop_map(|status| End::Reply(status, true)),
        1 => prop::sample::select(vec![Loss::Closed, Loss::Errno(Errno::CONNRESET), Loss::Malformed, Loss::TimedOut])
            .prop_map(End::Lost),
        1 => prop::sample::select(vec![NotSent::Refused, NotSent::WaitingAtEnd]).prop_map(End::NeverSent),
        1 => Just(End::Unfinished),
    ];
    let outcome = (0..SLOTS, 0u64..4_000, 0u64..50, 1u64..2_000, end)
        .prop_map(|(slot, due, late, took, end)| Outcome { nth: 0, slot, due, late, took, end });
    let numbered = |outcomes: Vec<Outcome>| (0..).zip(outcomes).map(|(nth, it)| Outcome { nth, ..it }).collect();
    vec(outcome, 0..200).prop_map(numbered)
}

fn felts() -> impl Strategy<Value = Felt> {
    prop::sample::select(vec![Felt::Service, Felt::Total, Felt::Response])
}

fn streams() -> impl Strategy<Value = Stream> {
    let errors = vec![Errno::CONNREFUSED, Errno::PROTO, Errno::TIMEDOUT, Errno::HOSTUNREACH];
    let happened = prop_oneof![
        Just(Happened::Opened),
        Just(Happened::Kept),
        prop::sample::select(errors).prop_map(Happened::NotOpened),
        Just(Happened::ClosedIdle),
        Just(Happened::ClosedByReply),
        Just(Happened::Unasked),
    ];
    (outcomes(), vec((0..SLOTS, 0u64..4_000, happened), 0..40))
        .prop_map(|(outcomes, connections)| Stream { outcomes, connections })
}

/// What these connections count, as the loop counts it.
fn count(ledger: &mut Ledger, connections: &[(usize, u64, Happened)], is_own: impl Fn(usize) -> bool) -> Counts {
    let mut counts = Counts::default();
    let mut in_time: Vec<_> =
        (0..).zip(connections).map(|(nth, (slot, at, what))| (at * MS + nth, slot, what)).collect();
    in_time.sort_by_key(|(at_ns, ..)| *at_ns);
    for (at_ns, _, what) in in_time.into_iter().filter(|(_, slot, _)| is_own(**slot)) {
        match what {
            Happened::Opened => {
                counts.opened += 1;
                counts.opened_in_window += u64::from((1_000 * MS..3_000 * MS).contains(&at_ns));
                record(&mut ledger.connect, at_ns / 100);
            }
            Happened::Kept => counts.kept += 1,
            Happened::NotOpened(errno) => {
                counts.connect_failed += 1;
                counts.connect_errno.get_or_insert((at_ns, errno.raw_os_error()));
                counts.refused += u64::from(matches!(*errno, Errno::CONNREFUSED | Errno::PROTO));
            }
            Happened::ClosedIdle => counts.closed_idle += 1,
            Happened::ClosedByReply => counts.closed_by_reply += 1,
            Happened::Unasked => counts.unasked_replies += 1,
        }
    }
    counts
}

/// The steps of all outcomes, in the order of time. No two are at once, so that of all firsts there is one.
fn steps(outcomes: &[Outcome]) -> Vec<(u64, usize, Step)> {
    let of = |(at, outcome): (usize, &Outcome)| {
        let [due, left] = [outcome.due, outcome.due + outcome.late].map(|ms| ms * MS + outcome.nth);
        let ended = left + outcome.took * MS;
        let mut steps = vec![(due, at, Step::Due), (ended, at, Step::Ended)];
        if !matches!(outcome.end, End::NeverSent(_)) {
            steps.insert(1, (left, at, Step::Left));
        }
        steps
    };
    let mut all: Vec<_> = outcomes.iter().enumerate().flat_map(of).collect();
    all.sort_by_key(|(at_ns, ..)| *at_ns);
    all
}

fn book(ledger: &mut Ledger, outcome: &Outcome, step: Step, now_ns: u64) {
    let intended_ns = outcome.due * MS + outcome.nth;
    let sent_ns = intended_ns + outcome.late * MS;
    let place = outcome.nth as u32 % MIX as u32;
    let moments = Moments { intended_ns, sent_ns, first_byte_ns: now_ns.saturating_sub(MS / 2), place, id: 0 };
    match (step, outcome.end) {
        (Step::Due, _) => ledger.scheduled(intended_ns, 1),
        (Step::Left, _) => ledger.sent(intended_ns, now_ns, outcome.late > 20),
        (Step::Ended, End::Reply(status, body_ok)) => {
            let reply = Reply {
                status,
                status_ok: status == 200,
                body_ok,
                keep_alive: true,
                switches: false,
                body_bytes: None,
                bytes: 90,
            };
            ledger.completed(moments, &reply, now_ns);
            if status != 200 {
                let wrong = || (now_ns, WrongReply::new((Some(200), None), status, None));
                ledger.first_wrong.get_or_insert_with(wrong);
            }
        }
        (Step::Ended, End::Lost(loss)) => {
            let begun = u64::from(outcome.took.is_multiple_of(2));
            ledger.failed(Moments { first_byte_ns: begun * moments.first_byte_ns, ..moments }, loss, now_ns);
        }
        (Step::Ended, End::NeverSent(kind)) => ledger.not_sent(intended_ns, 1, kind, 0, now_ns),
        (Step::Ended, End::Unfinished) => ledger.unfinished(moments, now_ns),
    }
}

/// The stream as so many parts saw it, the slots spread over them.
fn parts(stream: &Stream, felt: Felt, window: Window, parts: usize) -> Vec<Part> {
    parts_of(stream, felt, window, &std::array::from_fn(|slot| slot * parts / SLOTS))
}

/// The stream as parts saw it, one of which has each slot, and of which some stood still before it.
fn parts_of(stream: &Stream, felt: Felt, window: Window, part_of: &[usize; SLOTS]) -> Vec<Part> {
    let (outcomes, parts) = (&stream.outcomes, part_of.iter().max().map_or(1, |last| last + 1));
    let of = |slot: usize| part_of[slot];
    let (full, seconds) = mpsc::channel();
    let mut empties = Vec::new();
    let mut ledgers: Vec<Ledger> = (0..parts)
        .map(|thread| {
            let (empty, port) = mpsc::channel();
            empties.push(empty);
            let port = Port { thread, told: full.clone(), empty: port, waits: false, raw: None };
            let mut ledger = Ledger::new(felt, false, window, 0, port);
            ledger.by_request = vec![RequestCount::default(); MIX];
            ledger
        })
        .collect();
    drop(full);
    for (now_ns, at, step) in steps(outcomes) {
        book(&mut ledgers[of(outcomes[at].slot)], &outcomes[at], step, now_ns);
    }
    let ended = |(part, mut ledger): (usize, Ledger)| {
        let counts = count(&mut ledger, &stream.connections, |slot| of(slot) == part);
        ledger.close(window.end_ns + 7_000 * MS);
        let served = |slot: usize| outcomes.iter().filter(|outcome| outcome.slot == slot).count() as u64;
        let completed: Vec<u64> = (0..SLOTS).filter(|slot| of(*slot) == part).map(served).collect();
        let mut awaited = Ages::default();
        let waits = |outcome: &&Outcome| of(outcome.slot) == part && matches!(outcome.end, End::Unfinished);
        outcomes.iter().filter(waits).for_each(|outcome| awaited.add(outcome.took * MS));
        Part { completed, counts, awaited, ..ledger.into_part() }
    };
    let mut all: Vec<Part> = ledgers.into_iter().enumerate().map(ended).collect();
    let mut collector = Collector::new(felt, 1, parts, false);
    collector.collect(&seconds, &empties, Listener::of(&mut |_| {}));
    all[0].distributions.add(&collector.whole);
    all
}

fn merged(parts: Vec<Part>) -> Part {
    let merge = |mut whole: Part, part| {
        whole.merge(part);
        whole
    };
    parts.into_iter().reduce(merge).expect("there is a part")
}

const WINDOW: Window = Window { start_ns: 1_000 * MS, end_ns: 3_000 * MS };

/// The same put together.
fn whole(stream: &Stream, felt: Felt, part_of: &[usize; SLOTS]) -> Part {
    merged(parts_of(stream, felt, WINDOW, part_of))
}

/// Which of up to eight parts has each slot; each part has one.
fn splits() -> impl Strategy<Value = [usize; SLOTS]> {
    prop::array::uniform8(0..SLOTS).prop_map(|drawn| {
        let mut numbers: Vec<usize> = drawn.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        drawn.map(|number| numbers.iter().position(|it| *it == number).unwrap_or_default())
    })
}

/// How long a slice's window is, and from the begin of one slice to that of the next, in milliseconds.
const SLICE: u64 = 2_000;
const APART: u64 = 7_777;

/// Outcomes of so many slices, none of which reaches from one into another.
fn sliced() -> impl Strategy<Value = Vec<Vec<Outcome>>> {
    let within = |mut outcomes: Vec<Outcome>| {
        for outcome in &mut outcomes {
            (outcome.due, outcome.took) = (1_000 + outcome.due % 1_000, outcome.took % 900 + 1);
        }
        outcomes
    };
    vec(outcomes().prop_map(within), 2..5)
}

fn later(outcomes: &[Outcome], ms: u64) -> Vec<Outcome> {
    outcomes.iter().map(|outcome| Outcome { due: outcome.due + ms, ..*outcome }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_split_over_parts_merges_to_the_whole(stream in streams(), part_of in splits(), felt in felts()) {
        let [mut one, mut many] = [[0; SLOTS], part_of].map(|part_of| whole(&stream, felt, &part_of));
        // The one thing that is not to the bit: a part knows when it lacked a reply, and not which of its failures came while
        // the others did so, too, nor whether its own requests were the only ones in flight.
        let (exact, bounds) = (std::mem::take(&mut one.silences), std::mem::take(&mut many.silences));
        let times = |all: &[Silent]| all.iter().map(|it| (it.from_ns, it.until_ns)).collect::<Vec<_>>();
        prop_assert_eq!(times(&exact), times(&bounds));
        for (exact, bound) in exact.iter().zip(&bounds) {
            prop_assert!(bound.owed_from() <= exact.owed_from(), "{:?} {:?}", bound, exact);
            prop_assert!(bound.failed() >= exact.failed() && bound.refused() >= exact.refused(), "{:?} {:?}", bound, exact);
            prop_assert!(bound.failed() >= bound.refused(), "{:?}", bound);
        }
        let failed: u64 = one.failures.values().sum();
        prop_assert!(bounds.iter().all(|bound| bound.failed() <= failed), "{:?} of {}", bounds, failed);
        // The slots stand in the order of the parts.
        for whole in [&mut one, &mut many] {
            whole.completed.sort_unstable();
        }
        prop_assert_eq!(&one, &many);
        prop_assert_eq!(one.books.imbalance(), None);
        prop_assert_eq!(one.summarise(), many.summarise());
    }

    /// Standstills are a thread's own: no stream has them without the split. How the parts are grouped makes no difference.
    #[test]
    fn parts_that_stood_still_merge_to_the_same_in_any_grouping(
        stream in streams(), part_of in splits(), felt in felts(), stood in vec((0u64..3_000, 10u64..900), SLOTS), at in 0..SLOTS,
    ) {
        let mut parts = parts_of(&stream, felt, WINDOW, &part_of);
        for (part, (from, length)) in parts.iter_mut().zip(stood) {
            let mut standstills = crate::standstill::Standstills::default();
            standstills.note((from * MS, (from + length) * MS), 1, (felt == Felt::Response, WINDOW));
            standstills.replied(Waited { moments: Moments { intended_ns: from * MS, ..Moments::default() }, now_ns: 4_000 * MS });
            part.standstills = standstills.totals();
            part.threads = vec![ThreadUse::default()];
            // Of these a bound is all that is known, above.
            part.silences.clear();
        }
        let at = 1 + at % parts.len();
        let (first, rest) = (parts[..at].to_vec(), parts[at..].to_vec());
        let grouped = if rest.is_empty() { merged(first) } else { merged(vec![merged(first), merged(rest)]) };
        let one_by_one = merged(parts.clone());
        prop_assert_eq!(one_by_one.standstills.requests, parts.len() as u64);
        prop_assert_eq!(one_by_one, grouped);
    }

    #[test]
    fn slices_of_one_stream_follow_each_other_to_the_whole(slices in sliced(), threads in 1usize..4, open: bool) {
        let felt = if open { Felt::Response } else { Felt::Service };
        let window = |from: u64, length: u64| Window { start_ns: from * MS, end_ns: (from + length) * MS };
        let mut followed: Option<Vec<Part>> = None;
        for (at, outcomes) in (0..).zip(&slices) {
            let next = parts(&Stream::of(&later(outcomes, at * APART)), felt, window(1_000 + at * APART, SLICE), threads);
            match &mut followed {
                Some(all) => all.iter_mut().zip(next).for_each(|(part, next)| part.follow(next)),
                none => *none = Some(next),
            }
        }
        let stream: Vec<Outcome> = (0..).zip(&slices).flat_map(|(at, outcomes)| later(outcomes, at * SLICE)).collect();
        let stream = parts(&Stream::of(&stream), felt, window(1_000, slices.len() as u64 * SLICE), threads);
        prop_assert_eq!(merged(followed.unwrap()).summarise(), merged(stream).summarise());
    }
}

#[test]
fn a_reply_is_owed_from_the_last_one_on_that_left_a_request_in_flight_whatever_ends_in_vain_meanwhile() {
    let outcome = |nth, slot, due, took, end| Outcome { nth, slot, due, late: 0, took, end };
    let lost = End::Lost(Loss::Closed);
    for in_vain in [lost, End::Unfinished, End::NeverSent(NotSent::Refused)] {
        // The second is answered at 1 s while the first is in flight; the third ends in vain beside that.
        let outcomes = [
            outcome(0, 0, 0, 3_000, End::Reply(200, true)),
            outcome(1, 1, 900, 100, End::Reply(200, true)),
            outcome(2, 1, 1_400, 300, in_vain),
        ];
        let silences = whole(&Stream::of(&outcomes), Felt::Service, &[0; SLOTS]).silences;
        let owed: Vec<u64> =
            silences.iter().filter(|it| it.until_ns != u64::MAX).map(|it| it.owed_from() / MS).collect();
        assert_eq!(owed[1..], [1_000], "{in_vain:?} {silences:?}");
    }
    // Two that no reply comes to: the later one is booked first.
    let both = [outcome(0, 0, 500, 4_000, End::Unfinished), outcome(1, 1, 700, 2_000, End::Unfinished)];
    let silences = whole(&Stream::of(&both), Felt::Service, &[0; SLOTS]).silences;
    assert_eq!(silences.iter().map(|it| it.owed_from() / MS).collect::<Vec<_>>(), [500], "{silences:?}");
}

#[test]
fn what_a_thread_has_of_its_own_adds_up_in_place() {
    let of = |at: u64, stood: &[u64], wrong: Option<u16>| {
        let window = Window { start_ns: 1_000 * MS + at * APART * MS, end_ns: 3_000 * MS + at * APART * MS };
        let mut part = parts(&Stream::default(), Felt::Service, window, 1).remove(0);
        let reply = |status| (window.start_ns, WrongReply::new((Some(200), None), status, None));
        part.first_wrong = wrong.map(reply);
        let mut standstills = crate::standstill::Standstills::default();
        for (nth, ms) in (0..).zip(stood) {
            let from_ns = window.start_ns + (100 + nth * 90) * MS;
            standstills.note((from_ns, from_ns + ms * MS), 0, (false, window));
        }
        part.standstills = standstills.totals();
        let (cpu_s, run_delay_s) = (0.25, Some(0.125));
        part.threads = vec![ThreadUse { cpu_s, wall_s: 2.0, run_delay_s, longest_stall_us: stood[0] as f64 }];
        part.counts = Counts { kept: 8, closed_idle: 1, ..Counts::default() };
        part.completed = (0..SLOTS as u64).collect();
        part
    };
    let mut whole = of(0, &[20; 10], None);
    whole.follow(of(1, &[50; 10], Some(500)));
    whole.follow(of(2, &[30], Some(404)));
    assert_eq!(whole.first_wrong.as_ref().and_then(|(_, reply)| reply.status), Some(500));
    assert_eq!(whole.completed, (0..SLOTS as u64).map(|slot| 3 * slot).collect::<Vec<_>>());
    let measured = whole.summarise();
    let thread = ThreadUse { cpu_s: 0.75, wall_s: 6.0, run_delay_s: Some(0.375), longest_stall_us: 50.0 };
    assert_eq!((measured.window_s, measured.generator.threads), (6.0, vec![thread]));
    assert_eq!((measured.connections.kept, measured.connections.closed_idle), (8, 3));
    let stood = measured.standstills.unwrap();
    assert_eq!((stood.count, stood.sum_s, stood.longest_s, stood.spans.len()), (21, 0.73, 0.05, 16));
    let longest = stood.spans.iter().filter(|span| span.length_s == 0.05).map(|span| span.at_s);
    assert_eq!(longest.map(|at_s| (at_s * 100.0).round()).next(), Some(210.0), "in its own time");
}

#[test]
fn what_parts_have_of_their_own_is_put_together() {
    let part = |stood_ns: u64, wrong_ns: Option<u64>| {
        let mut part = whole(&Stream::default(), Felt::Service, &[0; SLOTS]);
        let reply = WrongReply::new((Some(200), None), 500, None);
        part.first_wrong = wrong_ns.map(|at_ns| (at_ns, reply));
        let mut stood = crate::standstill::Standstills::default();
        let window = Window { start_ns: 1_000 * MS, end_ns: 3_000 * MS };
        stood.note((2_000 * MS, 2_000 * MS + stood_ns), 0, (false, window));
        part.standstills = stood.totals();
        part.threads = vec![ThreadUse::default()];
        part.handshake = wrong_ns.map(|_| histogram());
        part.tls = wrong_ns.map(|_| TlsUse { handshakes: 3, ..TlsUse::default() });
        part.failures.insert((FailureKind::Failed(Failure::Network), 5), 2);
        part
    };
    let mut whole = part(20 * MS, Some(9));
    for other in [part(50 * MS, Some(4)), part(0, None)] {
        whole.merge(other);
    }
    assert_eq!(whole.first_wrong.as_ref().map(|(at_ns, _)| *at_ns), Some(4));
    assert_eq!((whole.threads.len(), whole.tls.as_ref().map(|tls| tls.handshakes)), (3, Some(6)));
    let measured = whole.summarise();
    assert_eq!((measured.failures.len(), measured.failures[0].count), (1, 6));
    let stood = measured.standstills.unwrap();
    assert_eq!((stood.count, stood.sum_s, stood.longest_s), (2, 0.05, 0.05));
    assert_eq!(stood.spans.iter().map(|span| span.thread).collect::<Vec<_>>(), [0, 1]);
}
