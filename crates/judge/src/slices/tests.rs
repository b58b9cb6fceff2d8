use model::{
    Accounting, Awaited, HalfCount, LatencySummary, Mark, Prelude, Reason, Residence, Standstills, TrialRecord,
    UnslicedCause,
};

use super::unsliced::{dear_after_idling, slow_after_idling};
use super::*;
use crate::testing::{Session, cell_plan, cut, slice, student3, summary};
use crate::trial::{TrialJudgement, check_trial};

/// A trial of 10,000 replies in ten slices.
fn trial() -> TrialRecord {
    let mut trial = Session::new().cell("a", 1_000.0).noise(0.0).blocks(1).records().remove(0);
    cut(&mut trial, 10);
    trial
}

fn judged(change: impl Fn(&mut TrialRecord)) -> TrialJudgement {
    let mut trial = trial();
    change(&mut trial);
    check_trial(&cell_plan("a", &[], 10, 0), None, &trial)
}

fn void(change: impl Fn(&mut TrialRecord)) -> Option<String> {
    judged(change).void.as_ref().map(said)
}

/// What says that its load cannot be cut into slices, of a launch that counts.
fn uncut(change: impl Fn(&mut TrialRecord)) -> Option<String> {
    let judgement = judged(change);
    assert_eq!(judgement.void, None);
    judgement.unsliced.map(|cause| said(&cause.into()))
}

fn said(reason: &Reason) -> String {
    format!("{}: {}", reason.code().id(), report::reason_words(reason))
}

#[test]
fn a_value_is_that_of_all_requests_and_holds_what_was_put_off() {
    let slice =
        |ok, cpu_s, idle_cpu_s| Slice { window_s: 0.5, ok, replies: 100, cpu_s, idle_cpu_s, ..Slice::default() };
    let slices = [slice(50, 0.001, 0.0), slice(200, 0.002, 0.002), slice(0, 0.001, 0.0)];
    let of = |metric| value(metric, slices.iter());
    assert!((of(Metric::Throughput).unwrap() - 250.0 / 1.5).abs() < 1e-9, "one that served nothing is one of three");
    assert!((of(Metric::CpuPerRequest).unwrap() - 20.0).abs() < 1e-9, "6 ms for 300 replies");
    assert_eq!(of(Metric::P99), None, "counts do not tell it");
    assert_eq!(of(Metric::PeakMemory), None, "not of a slice");
    assert_eq!(value(Metric::Throughput, [].into_iter()), None);
}

#[test]
fn what_was_seen_over_whole_slices_is_divided_by_their_replies() {
    let mut trial = trial();
    let seen = trial.observation.as_mut().unwrap();
    (seen.voluntary_switches, seen.involuntary_switches) = (Some(15_000), Some(7_000));
    let cpu_us = seen.cpu_s() * 1e6;
    let of = |trial: &TrialRecord, metric: Metric| metric.value(trial).unwrap();
    // 10,000 replies in the windows, 1,000 in the lead-ins; nobody saw the warm-up.
    assert_eq!(of(&trial, Metric::SwitchesPerRequest), 2.0);
    assert_eq!(of(&trial, Metric::CpuPerRequest), cpu_us / 11_000.0);
    assert_eq!(of(&trial, Metric::ElapsedPerRequest), 1_000.0);
    trial.slices.clear();
    assert_eq!(of(&trial, Metric::SwitchesPerRequest), 2.2, "alone");
}

#[test]
fn a_load_in_slices_that_add_up_is_valid() {
    let judgement = judged(|_| ());
    assert_eq!(judgement.void, None);
    assert!(judgement.checks.iter().any(|check| check.invariant == Invariant::Slices && check.holds));
    assert!(judged(|trial| trial.slices.clear()).checks.iter().all(|check| check.invariant != Invariant::Slices));
}

#[test]
fn slices_that_do_not_come_to_what_was_measured_void_it() {
    type Change = fn(&mut TrialRecord);
    let wrong: [(Change, &str); 5] = [
        (|trial| slice(trial, 4).completed -= 1, "slices: replies: 9,999 over its slices, 10,000 in all"),
        (
            |trial| trial.slices.retain(|slice| slice.round <= 9),
            "slices: replies: 9,000 over its slices, 10,000 in all",
        ),
        (|trial| slice(trial, 4).window_s += 1.0, "slices: seconds measured: 11.0 over its slices, 10.0 in all"),
        (
            |trial| slice(trial, 4).replies = 999,
            "slices: replies in the slice of round 4: 1,000, but at most 999 is possible",
        ),
        (
            |trial| slice(trial, 4).length_s = 0.5,
            "slices: seconds measured in the slice of round 4: 1.00, but at most 0.500 is possible",
        ),
    ];
    for (change, said) in wrong {
        assert_eq!(void(change).as_deref(), Some(said));
    }
}

/// In sum these would balance.
#[test]
fn each_slice_balances_by_itself() {
    let books = |scheduled| Some(Accounting { scheduled, sent: 10, completed: 10, ok: 10, ..Accounting::default() });
    let little = |in_flight_s| Some(Residence { in_flight_s, requests_s: 1.0, completed_s: 1.0 });
    let of = |first: u64, second: u64, one: f64, other: f64| {
        void(|trial| {
            (slice(trial, 4).accounting, slice(trial, 5).accounting) = (books(first), books(second));
            (slice(trial, 4).residence, slice(trial, 5).residence) = (little(one), little(other));
        })
    };
    assert_eq!(of(10, 10, 1.0, 1.005), None);
    assert!(of(11, 9, 1.0, 1.0).is_some_and(|said| said.starts_with("accounting: ")));
    assert!(of(10, 10, 1.1, 0.9).is_some_and(|said| said.starts_with("in-flight: ")));
}

#[test]
fn no_slice_has_more_replies_than_the_delay_allows() {
    let mut trial = trial();
    let moved = 300;
    let more = slice(&mut trial, 4);
    (more.completed, more.ok, more.replies) = (1_000 + moved, 1_000 + moved, 2_000);
    let less = slice(&mut trial, 5);
    (less.completed, less.ok) = (1_000 - moved, 1_000 - moved);
    let of = |delay_ms| check_trial(&cell_plan("a", &[], 10, delay_ms), None, &trial).void;
    assert_eq!(of(0), None);
    let said = of(9).map(|reason| report::reason_words(&reason)).unwrap();
    assert!(said.contains("replies in the slice of round 4: 1,300, but at most 1,260 is possible"), "{said}");
}

#[test]
fn requests_that_were_left_while_the_generator_stood_still_or_others_had_the_cpus_are_not_the_server_s() {
    let of = |left_in: u32, busy: u32, stood_s: f64, p99_us: f64| {
        let judgement = judged(|trial| {
            slice(trial, left_in).not_drained = 8;
            slice(trial, busy).others_share = 0.5;
            let measured = trial.measurement.as_mut().unwrap();
            measured.standstills = Some(Standstills { sum_s: stood_s, ..Standstills::default() });
            measured.latency_us.service = Some(LatencySummary { p99: Some(p99_us), ..summary(1_000.0, 1_000) });
        });
        assert_eq!(
            judgement.void, None,
            "it counts: what is left out for requests that were left is chosen by the server"
        );
        judgement.unsliced.map(|cause| cause.code().id())
    };
    assert_eq!(of(3, 4, 0.1, 1_220.0), Some("slow-drain"));
    assert_eq!(of(0, 4, 0.1, 1_220.0), Some("slow-drain"), "in the warm-up, too");
    assert_eq!(of(4, 4, 0.1, 1_220.0), None, "the round does not count, or the block was disturbed");
    assert_eq!(of(3, 4, 0.6, 1_220.0), None, "their replies may have been there in time");
    let most = "most replies do not take so long by a standstill";
    assert_eq!(of(3, 4, 0.6, 101_000.0), Some("slow-drain"), "{most}");
}

#[test]
fn a_server_without_a_reply_in_its_last_slices_fell_silent_and_one_that_missed_one_slice_did_not() {
    let of = |silent: &[u32]| {
        let silence = |slice: &mut Slice| (slice.replies, slice.not_drained) = (0, 10);
        judged(|trial| silent.iter().for_each(|round| silence(slice(trial, *round)))).unsliced
    };
    assert_eq!(of(&[9, 10]), Some(UnslicedCause::FellSilent { round: 9, not_drained: 20 }));
    let code = |silent: &[u32]| of(silent).map(|cause| cause.code().id());
    assert_eq!(code(&[10]), Some("slow-drain"), "it may be a pause");
    assert_eq!(code(&[8, 9]), Some("slow-drain"), "it went on");
}

#[test]
fn requests_far_older_than_any_reply_are_the_server_s_whatever_else_the_machine_did() {
    let of = |slowest_s: f64, stood_s: f64| {
        uncut(|trial| {
            trial.slices.iter_mut().for_each(|slice| (slice.not_drained, slice.others_share) = (1, 0.5));
            let measured = trial.measurement.as_mut().unwrap();
            measured.awaited = vec![Awaited { requests: 5, youngest_s: 0.27, oldest_s: 0.35 }];
            measured.slowest_reply_s = Some(slowest_s);
            measured.standstills = Some(Standstills { sum_s: stood_s, ..Standstills::default() });
        })
    };
    assert!(
        of(0.05, 0.0).is_some_and(|said| said.starts_with("slow-drain")),
        "others had their replies in a fifth of the time"
    );
    assert_eq!(of(0.12, 0.0), None, "they may have been on their way");
    assert_eq!(of(0.05, 0.6), None, "the generator may have missed them");
}

#[test]
fn a_p99_that_outlasts_a_slice_is_not_the_server_s_where_others_had_the_cpus_in_over_a_quarter_of_them() {
    let of = |busy: usize| {
        uncut(|trial| {
            trial
                .slices
                .iter_mut()
                .filter(|slice| slice.round > 0)
                .take(busy)
                .for_each(|slice| slice.others_share = 0.5);
            let slow = LatencySummary { p99: Some(101_000.0), ..summary(1_000.0, 1_000) };
            trial.measurement.as_mut().unwrap().latency_us.service = Some(slow);
        })
    };
    assert!(of(2).is_some_and(|said| said.starts_with("slow-drain")));
    assert_eq!(of(3), None);
}

#[test]
fn what_speaks_against_slices_is_said_of_a_launch_that_counts() {
    type Change = fn(&mut TrialRecord);
    let slow = |us| Some(LatencySummary { p99: Some(us), ..summary(1_000.0, 1_000) });
    assert_eq!(uncut(|trial| trial.measurement.as_mut().unwrap().latency_us.service = slow(99_000.0)), None);
    let unfit: [(Change, &str); 5] = [
        (
            |trial| slice(trial, 1).not_drained = 1,
            "slow-drain: cannot rotate with other targets: some replies take longer than the 100 ms allowed at the end of a \
             slice (1 request was unfinished, p99 12.0 ms); such replies are rare, so a short window may miss them",
        ),
        (
            |trial| trial.measurement.as_mut().unwrap().connections.closed_idle = 2,
            "connections-end: cannot rotate with other targets: the server ends connections: 2 while they were idle",
        ),
        (
            |trial| {
                slice(trial, 3).prelude = Some(Prelude { closed_idle: 2, closed_by_reply: 1, ..Prelude::default() })
            },
            "connections-end: cannot rotate with other targets: the server ends connections: 2 while they were idle, 1 with a \
             reply",
        ),
        (
            |trial| trial.measurement.as_mut().unwrap().connections.closed_by_reply = 3,
            "connections-end: cannot rotate with other targets: the server ends connections: 3 with a reply",
        ),
        (
            |trial| cut(trial, 1_000),
            "few-replies: cannot rotate with other targets: round 1 had 10 replies of the 20 that a slice needs",
        ),
    ];
    for (change, said) in unfit {
        assert_eq!(uncut(change).as_deref(), Some(said));
    }
    let little = |trial: &mut TrialRecord| {
        cut(trial, 1_000);
        trial.slices.iter_mut().for_each(|slice| slice.others_share = 0.5);
    };
    assert_eq!(uncut(little), None, "others had the CPUs");
    let outlasting = uncut(|trial| trial.measurement.as_mut().unwrap().latency_us.service = slow(101_000.0));
    assert!(outlasting.is_some_and(|said| said.starts_with("slow-drain")));
    // What is measured alone may close what it likes.
    let alone = |trial: &mut TrialRecord| {
        trial.slices.clear();
        trial.measurement.as_mut().unwrap().connections.closed_idle = 2;
    };
    assert_eq!(uncut(alone), None);
}

#[test]
fn the_end_of_a_slice_waits_as_long_as_the_engine_does() {
    assert_eq!(crate::thresholds::SLICE_DRAIN_S, engine::SLICE_DRAIN_NS as f64 / model::NS_PER_S as f64);
}

#[test]
fn cpu_in_slices_of_others_is_told_from_a_hundredth_on() {
    let using = |cpu_s: f64| judged(|trial| trial.slices.iter_mut().for_each(|slice| slice.idle_cpu_s = cpu_s));
    let spill = |judgement: TrialJudgement| judgement.marks.into_iter().find(|note| note.mark() == Mark::Spill);
    assert_eq!(spill(using(0.009 * 1.9)), None);
    let said = spill(using(0.03 * 1.9)).map(|note| report::note_words(&note));
    assert_eq!(said.as_deref(), Some("it used 3 % of a CPU outside its own slices"));
}

/// So many slices of a quarter of a second with 500 replies in either half, of mean service times in µs that are given by slice.
fn in_halves(rounds: u32, mut service_us: impl FnMut(u32) -> [f64; 2]) -> Vec<Slice> {
    let half = |us: f64| HalfCount { completed: 500, service_ns: (us * 1e3) as u64 * 500, ..HalfCount::default() };
    let slice = |round| Slice {
        round,
        window_s: 0.25,
        completed: 1_000,
        halves: Some(service_us(round).map(half)),
        ..Slice::default()
    };
    (1..=rounds).map(slice).collect()
}

/// Alternating from slice to slice by so large a share either way.
fn scattered(share: f64) -> impl Fn(u32) -> f64 {
    move |round| if round % 2 == 0 { 1.0 + share } else { 1.0 / (1.0 + share) }
}

#[test]
fn who_is_slow_at_first_in_each_slice_is_slow_after_it_idled() {
    let scatter = scattered(0.1);
    let halves = in_halves(10, |round| [1_500.0 * scatter(round), 1_000.0]);
    let in_slices = |trial: &mut TrialRecord| halves.iter().for_each(|it| slice(trial, it.round).halves = it.halves);
    let said = uncut(in_slices);
    assert_eq!(
        said.as_deref(),
        Some(
            "slow-after-idling: cannot rotate with other targets: the server is slow after idling (in the first halves of 10 \
             slices replies took 50 % longer than in the second)"
        )
    );
    let beside_one_that_spills = uncut(|trial| {
        in_slices(trial);
        trial.slices.iter_mut().for_each(|slice| slice.neighbours_cpu_s = Some(0.05 * slice.length_s));
    });
    assert_eq!(
        beside_one_that_spills.as_deref(),
        Some(
            "slow-after-idling: cannot rotate with other targets: the server is slow at the start of its slices, either after \
             idling or because idle neighbours used 5 % of a CPU (in the first halves of 10 slices replies took 50 % longer \
             than in the second)"
        )
    );
    let slower = |slices: &[Slice]| match slow_after_idling(true, slices) {
        Some(UnslicedCause::SlowAfterIdling { slower, .. }) => slower,
        other => panic!("{other:?}"),
    };
    assert!((slower(&in_halves(10, |_| [1_120.0, 1_000.0])) - 0.12).abs() < 1e-9);
    let mut stalls = in_halves(10, |round| [1_500.0 * scatter(round), 1_000.0]);
    stalls.iter_mut().step_by(2).for_each(|slice| slice.halves.as_mut().unwrap()[0] = HalfCount::default());
    assert!(slower(&stalls) > 10.0, "where no reply came in 125 ms, one took as long");
    assert!(slow_after_idling(false, &in_halves(10, |round| [2_300.0 * scatter(round), 1_000.0])).is_some());
    assert_eq!(slow_after_idling(false, &in_halves(10, |round| [1_900.0 * scatter(round), 1_000.0])), None, "open");
}

#[test]
fn who_is_not_slow_at_first_by_more_than_chance_and_a_small_change_is_not() {
    let small = in_halves(40, |round| [1_080.0 * scattered(0.001)(round), 1_000.0]);
    let chance = in_halves(10, |round| [1_120.0 * scattered(0.1)(round), 1_000.0]);
    let faster = in_halves(40, |_| [1_000.0, 1_500.0]);
    let few = in_halves(9, |_| [1_500.0, 1_000.0]);
    let mut older = in_halves(40, |_| [1_500.0, 1_000.0]);
    older[7].halves = None;
    assert!(slow_after_idling(true, &older).is_some(), "one that does not tell does not silence the others");
    older.iter_mut().skip(9).for_each(|slice| slice.halves = None);
    let mut warm_up = in_halves(11, |_| [1_500.0, 1_000.0]);
    warm_up.iter_mut().take(2).for_each(|slice| slice.round = 0);
    for (slices, what) in
        [(small, "small"), (chance, "chance"), (faster, "faster"), (few, "few"), (older, "older"), (warm_up, "warm-up")]
    {
        assert_eq!(slow_after_idling(true, &slices), None, "{what}");
    }
}

#[test]
fn who_fails_when_it_is_woken_does_not_go_round() {
    let of = |woke: u64, in_slices: u64| {
        uncut(|trial| {
            for slice in trial.slices.iter_mut().filter(|slice| slice.round > 0) {
                slice.failed = in_slices;
                slice.prelude = Some(Prelude { length_s: 0.02, replies: 100, failed: woke, ..Prelude::default() });
            }
        })
    };
    assert_eq!(
        of(70, 0).as_deref(),
        Some(
            "fails-after-idling: cannot rotate with other targets: requests fail after the server has been idle (700 failed \
             and 1,000 succeeded in the loads that woke it)"
        )
    );
    assert_eq!(of(1, 0), None, "as many as may");
    let is_told = |woke, in_slices| of(woke, in_slices).is_some_and(|said| said.contains("fails-after"));
    // Of 1,100 replies a slice.
    assert_eq!([is_told(10, 10), is_told(10, 100)], [true, false], "who fails in its slices is seen there");
    let in_warm_up = uncut(|trial| {
        for slice in &mut trial.slices {
            match slice.round {
                0 => slice.failed = slice.replies,
                _ => slice.prelude = Some(Prelude { replies: 100, failed: 4, ..Prelude::default() }),
            }
        }
    });
    assert!(
        in_warm_up.is_some_and(|said| said.contains("fails-after")),
        "what failed in a warm-up says nothing of slices"
    );
}

#[test]
fn who_finds_much_to_do_when_it_is_woken_is_dear_after_it_idled() {
    let of = |times: f64, by_clock: bool| {
        uncut(|trial| {
            trial.observation.as_mut().unwrap().by_clock = by_clock;
            for slice in trial.slices.iter_mut().filter(|slice| slice.round > 0) {
                let scatter = scattered(0.1)(slice.round);
                slice.prelude = Some(Prelude {
                    length_s: 0.02,
                    replies: 100,
                    cpu_s: times * scatter * slice.cpu_s * 100.0 / slice.replies as f64,
                    ..Prelude::default()
                });
            }
        })
    };
    assert_eq!(
        of(2.5, true).as_deref(),
        Some(
            "dear-after-idling: cannot rotate with other targets: requests cost more CPU after the server has been idle \
             (150 % more in the loads that woke it for 10 slices than in the slices themselves)"
        )
    );
    assert_eq!(of(1.5, true), None, "threads that wake and caches that are cold");
    assert_eq!(of(2.5, false), None, "ticks are too coarse for 20 ms");
    assert_eq!(of(0.0, true), None, "one that used nothing has no ratio");
    let mut older = trial();
    older.slices.iter_mut().for_each(|slice| slice.prelude = None);
    assert_eq!(check_trial(&cell_plan("a", &[], 10, 0), None, &older).unsliced, None);
    let dear = |times: f64| {
        let slice = |round| Slice {
            round,
            replies: 1_000,
            cpu_s: 1.0,
            prelude: Some(Prelude { length_s: 0.02, replies: 20, cpu_s: 0.02 * times, ..Prelude::default() }),
            ..Slice::default()
        };
        (1..=12).map(slice).collect::<Vec<_>>()
    };
    assert_eq!(dear_after_idling(false, &dear(2.9)), None, "open");
    assert!(dear_after_idling(false, &dear(3.1)).is_some());
}

#[test]
fn what_is_put_off_is_for_the_requests_of_the_slice_and_for_those_that_woke_it() {
    let prelude = Prelude { length_s: 0.1, replies: 50, cpu_s: 5.0, ..Prelude::default() };
    let slice = Slice {
        window_s: 0.5,
        replies: 150,
        cpu_s: 0.003,
        idle_cpu_s: 0.002,
        prelude: Some(prelude),
        ..Slice::default()
    };
    assert_eq!(slice.put_off_s(), 0.0015);
    let cost_us = value(Metric::CpuPerRequest, [&slice].into_iter()).unwrap();
    assert!((cost_us - 30.0).abs() < 1e-9, "what waking it took counts nowhere: {cost_us}");
    assert_eq!(Slice { prelude: None, ..slice }.put_off_s(), 0.002);
}

/// Every launch of a session is asked, some thirty of them.
#[test]
fn halves_that_are_alike_are_seldom_taken_for_a_server_that_is_slow_after_it_idled() {
    let mut rng = fastrand::Rng::with_seed(1);
    for scatter in [0.02, 0.1, 0.3, 3.0] {
        let mut equal = || 1_000.0 * (scatter * student3(&mut rng)).clamp(-6.0, 6.0).exp();
        let launches = (0..4_000).map(|launch| in_halves(10 + launch % 16, |_| [equal(), equal()]));
        let refused = launches.filter(|slices| slow_after_idling(true, slices).is_some()).count();
        assert!(refused <= 12, "{refused} of 4,000 launches whose halves differ by {scatter}");
    }
}

mod alone;
mod settling;
