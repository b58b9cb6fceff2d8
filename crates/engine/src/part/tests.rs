use std::sync::mpsc;

use model::{Failure, NotSent};
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::io::Errno;

use super::*;
use crate::collector::Collector;
use crate::demand::Window;
use crate::in_flight::Moments;
use crate::ledger::Ledger;
use crate::outcome::Loss;
use crate::protocol::Reply;
use crate::second::{SecondPort, histogram};

const MS: u64 = 1_000_000;
const SLOTS: usize = 8;

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
    slot: usize,
    due: u64,
    late: u64,
    took: u64,
    end: End,
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
        .prop_map(|(slot, due, late, took, end)| Outcome { slot, due, late, took, end });
    vec(outcome, 0..200)
}

/// The steps of all outcomes, in the order of time.
fn steps(outcomes: &[Outcome]) -> Vec<(u64, usize, Step)> {
    let of = |(at, outcome): (usize, &Outcome)| {
        let [due, left] = [outcome.due, outcome.due + outcome.late].map(|ms| ms * MS);
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
    let intended_ns = outcome.due * MS;
    let sent_ns = intended_ns + outcome.late * MS;
    let moments = Moments { intended_ns, sent_ns, first_byte_ns: now_ns.saturating_sub(MS / 2), place: 0, id: 0 };
    match (step, outcome.end) {
        (Step::Due, _) => ledger.scheduled(intended_ns, 1),
        (Step::Left, _) => ledger.sent(intended_ns, now_ns, outcome.late > 20),
        (Step::Ended, End::Reply(status, body_ok)) => {
            let reply =
                Reply { status, status_ok: status == 200, body_ok, keep_alive: true, body_bytes: None, bytes: 90 };
            ledger.completed(moments, &reply, now_ns);
        }
        (Step::Ended, End::Lost(loss)) => {
            let begun = u64::from(outcome.took.is_multiple_of(2));
            ledger.failed(Moments { first_byte_ns: begun * moments.first_byte_ns, ..moments }, loss, now_ns);
        }
        (Step::Ended, End::NeverSent(kind)) => ledger.not_sent(intended_ns, 1, kind, 0, now_ns),
        (Step::Ended, End::Unfinished) => ledger.unfinished(moments, now_ns),
    }
}

/// The outcomes as so many parts saw them, each with slots of its own, put together.
fn whole(outcomes: &[Outcome], felt: Felt, parts: usize) -> Part {
    let window = Window { start_ns: 1_000 * MS, end_ns: 3_000 * MS };
    let of = |slot: usize| slot * parts / SLOTS;
    let (full, seconds) = mpsc::channel();
    let mut empties = Vec::new();
    let mut ledgers: Vec<Ledger> = (0..parts)
        .map(|thread| {
            let (empty, port) = mpsc::channel();
            empties.push(empty);
            Ledger::new(felt, false, window, 0, SecondPort { thread, full: full.clone(), empty: port, waits: false })
        })
        .collect();
    drop(full);
    for (now_ns, at, step) in steps(outcomes) {
        book(&mut ledgers[of(outcomes[at].slot)], &outcomes[at], step, now_ns);
    }
    let ended = |(part, mut ledger): (usize, Ledger)| {
        ledger.close(10_000 * MS);
        let served = |slot: usize| outcomes.iter().filter(|outcome| outcome.slot == slot).count() as u64;
        let completed: Vec<u64> = (0..SLOTS).filter(|slot| of(*slot) == part).map(served).collect();
        let counts = Counts { opened: completed.len() as u64, ..Counts::default() };
        Part { completed, counts, ..ledger.into_part() }
    };
    let all: Vec<Part> = ledgers.into_iter().enumerate().map(ended).collect();
    let mut collector = Collector::new(felt, 1, parts, false);
    collector.collect(&seconds, &empties, &mut |_| {});
    let mut whole = all.into_iter().reduce(|mut whole, part| {
        whole.merge(part);
        whole
    });
    whole.iter_mut().for_each(|whole| whole.distributions.add(&collector.whole));
    whole.expect("there is a part")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_split_over_parts_merges_to_the_whole(outcomes in outcomes(), parts in 2usize..=SLOTS, open: bool) {
        let felt = if open { Felt::Response } else { Felt::Service };
        let [mut one, mut many] = [1, parts].map(|parts| whole(&outcomes, felt, parts));
        // Whether one of a part's own requests was in flight all the while is known to that part alone.
        let times = |whole: &Part| whole.silences.iter().map(|it| (it.from_ns, it.until_ns)).collect::<Vec<_>>();
        prop_assert_eq!(times(&one), times(&many));
        one.silences.clear();
        many.silences.clear();
        prop_assert_eq!(&one, &many);
        prop_assert_eq!(one.books.imbalance(), None);
        prop_assert_eq!(one.summarise(), many.summarise());
    }
}

#[test]
fn what_parts_have_of_their_own_is_put_together() {
    let part = |stood_ns: u64, wrong_ns: Option<u64>| {
        let mut part = whole(&[], Felt::Service, 1);
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
