//! A server that cannot go round, and does between slices what a load that never pauses may never let it do.

use model::{Awaited, Measurement, Rest, RestStep, Rotation, Slice};

use super::*;
use crate::testing::cut;

const ROTATION: Rotation = Rotation { slice_ns: 250_000_000, lead_in_ns: 20_000_000, rounds: Some(12) };

/// What is said of a new server that serves so much a second, the old one 100, in launches alone, after two blocks of slices for which
/// it is launched so: with this done to each of its slices, and to its loads alone. Any number of clients may be left waiting.
fn compared(new: f64, of_slice: impl Fn(&mut Slice), of_alone: impl Fn(&mut Measurement)) -> CompareAnalysis {
    let session = session(new, 100.0, 0.005);
    let plan = session.plan().with(|draft| (draft.rotation, draft.allow_failures) = (Some(ROTATION), 1.0)).unwrap();
    let mut alone = session.records();
    let mut trials = before_launches_alone(&alone);
    for trial in &mut trials {
        let slices = trial.slices.iter_mut().filter(|slice| trial.cell == 0 && slice.round > 0);
        slices.for_each(&of_slice);
    }
    for trial in &mut alone {
        let load = trial.measurement.as_mut().unwrap();
        load.steps.iter_mut().for_each(|step| (step.p99_us, step.max_us) = (Some(9_000.0), Some(9_000.0)));
        of_alone(load);
    }
    trials.extend(alone);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &parse_gates("errors<+1%").unwrap())
}

/// Two blocks of slices before these launches: the old server ends connections.
fn before_launches_alone(alone: &[TrialRecord]) -> Vec<TrialRecord> {
    let mut trials: Vec<TrialRecord> = alone.iter().filter(|trial| trial.block < 3).cloned().collect();
    for trial in &mut trials {
        cut(trial, 12);
        trial.measurement.as_mut().unwrap().connections.closed_idle = trial.cell as u64;
    }
    trials
}

fn throughput(
    new: f64,
    of_slice: impl Fn(&mut Slice),
    of_alone: impl Fn(&mut Measurement),
) -> (ComparisonVerdict, Option<Withheld>) {
    let found = compared(new, of_slice, of_alone);
    let found = row(&found, Metric::Throughput);
    (found.verdict, found.withheld)
}

/// Leaves five requests at the ends of the first so many slices.
fn leaving(slices: u32) -> impl Fn(&mut Slice) {
    move |slice| slice.not_drained = if slice.round <= slices { 5 } else { 0 }
}

use ComparisonVerdict::{Faster, Inconclusive, Slower};

#[test]
fn who_stalls_whenever_the_load_pauses_is_not_better_for_what_it_did_alone() {
    let nothing = |_: &mut Measurement| ();
    assert_eq!(throughput(150.0, leaving(12), nothing), (Inconclusive, Some(Withheld::Pauses)));
    assert_eq!(throughput(150.0, leaving(4), nothing), (Faster, None), "a stall now and then may be chance");
    assert_eq!(throughput(50.0, leaving(12), nothing), (Slower, None), "who is slower even so is slower");
    let one_reply = |load: &mut Measurement| load.steps.iter_mut().for_each(|step| step.max_us = Some(150_000.0));
    assert_eq!(
        throughput(150.0, leaving(12), one_reply),
        (Inconclusive, Some(Withheld::Pauses)),
        "one reply a second is not what all waited for"
    );
    let as_often = |load: &mut Measurement| load.steps.iter_mut().for_each(|step| step.p99_us = Some(150_000.0));
    assert_eq!(throughput(150.0, leaving(12), as_often), (Faster, None), "its figures have that");
}

#[test]
fn who_leaves_the_same_clients_waiting_alone_puts_nothing_off() {
    let hang = |requests: u64| {
        move |load: &mut Measurement| {
            load.slowest_reply_s = Some(0.01);
            load.awaited = vec![Awaited { requests, youngest_s: 1.5, oldest_s: 2.9 }];
        }
    };
    assert_eq!(throughput(150.0, leaving(12), hang(5)), (Faster, None));
    assert_eq!(throughput(150.0, leaving(12), hang(4)), (Inconclusive, Some(Withheld::Pauses)), "one more waits there");
}

#[test]
fn who_used_a_cpu_while_it_idled_is_as_much_worse_alone_at_most() {
    let idling = |cpus: f64| move |slice: &mut Slice| slice.idle_cpu_s = cpus * slice.idle_s;
    let nothing = |_: &mut Measurement| ();
    assert_eq!(throughput(115.0, idling(0.02), nothing), (Faster, None));
    assert_eq!(throughput(115.0, idling(0.2), nothing), (Inconclusive, Some(Withheld::Pauses)));
    assert_eq!(throughput(150.0, idling(0.2), nothing), (Faster, None), "all of it takes less");
    assert_eq!(throughput(50.0, idling(0.2), nothing), (Slower, None));
    let while_others_were_busy = |slice: &mut Slice| {
        slice.idle_cpu_s = 0.2 * slice.idle_s;
        slice.others_share = 0.5;
    };
    assert_eq!(throughput(115.0, while_others_were_busy, nothing), (Inconclusive, Some(Withheld::Pauses)));
    let never_done = |slice: &mut Slice| slice.idle_cpu_s = 0.3 * slice.idle_s;
    assert_eq!(throughput(10_000.0, never_done, nothing), (Inconclusive, Some(Withheld::Pauses)), "it had more to do");
}

#[test]
fn who_stopped_in_slices_may_have_ended_too_soon_to_stop_alone() {
    let silent_from = |round: u32| {
        move |slice: &mut Slice| {
            if slice.round >= round {
                (slice.replies, slice.completed, slice.ok, slice.not_drained) = (0, 0, 0, 5);
            }
        }
    };
    let errors = |round: u32| {
        let found = compared(10_000.0, silent_from(round), |_| ());
        (found.gates[0].verdict, found.gates[0].withheld)
    };
    assert_eq!(errors(11), (GateVerdict::Undecided, Some(Withheld::Unanswered)));
    assert_eq!(errors(12), (GateVerdict::Held, None), "one slice may be a pause");
    // Whoever hangs after a pause is never seen to do so alone.
    let in_round = |rounds: &'static [u32]| {
        let hangs = move |slice: &mut Slice| {
            if rounds.contains(&slice.round) {
                (slice.replies, slice.completed, slice.ok, slice.not_drained) = (0, 0, 0, 5);
            }
        };
        compared(10_000.0, hangs, |_| ()).gates[0].verdict
    };
    assert_eq!(in_round(&[2, 5]), GateVerdict::Undecided);
}

/// Steps of 50 ms, in each of which it used such a share of a CPU.
fn rest(shares: impl IntoIterator<Item = f64>) -> Rest {
    let step = |share: f64| RestStep { length_s: 0.05, cpu_s: 0.05 * share };
    Rest { steps: shares.into_iter().map(step).collect(), ..Rest::default() }
}

/// At work from this step of 50 on, for so many.
fn at_work(from: usize, steps: usize) -> Rest {
    rest((0..50).map(|step| if (from..from + steps).contains(&step) { 1.0 } else { 0.0 }))
}

/// What is said of a new server that serves so much a second, the old one 1,000, where it did this once nobody asked it.
fn rested(new: f64, after: &Rest, rounds: Option<u32>) -> CompareAnalysis {
    both_rested(new, [after, &rest([0.0; 50])], rounds)
}

/// The same where the old one did something, too.
fn both_rested(new: f64, after: [&Rest; 2], rounds: Option<u32>) -> CompareAnalysis {
    let session = session(new, 1_000.0, 0.005);
    let both = ComparePlan { old: "old".into(), new: "new".into(), rest_ns: 2_500_000_000, ..ComparePlan::default() };
    let plan = session.plan().with(|draft| (draft.rotation, draft.comparison) = (rounds.map(|_| ROTATION), Some(both)));
    let plan = plan.unwrap();
    let mut trials = session.records();
    for trial in &mut trials {
        rounds.into_iter().for_each(|rounds| cut(trial, rounds));
        trial.observation.as_mut().unwrap().rest = (trial.block == 1).then(|| after[trial.cell].clone());
    }
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &[])
}

const TAKEN_BACK: (ComparisonVerdict, Option<Withheld>) = (Inconclusive, Some(Withheld::Pauses));

#[test]
fn who_works_once_its_load_is_over_is_as_much_worse_at_most() {
    for rounds in [None, Some(12)] {
        let said = |metric: Metric, new: f64, after: &Rest| {
            let found = rested(new, after, rounds);
            let found = row(&found, metric);
            (found.verdict, found.withheld)
        };
        let throughput = |new: f64, after: &Rest| said(Metric::Throughput, new, after);
        // A window is 10 s, and its servers use 0.3 s of CPU in it.
        assert_eq!(throughput(1_500.0, &at_work(0, 0)), (Faster, None), "{rounds:?}");
        assert_eq!(throughput(1_055.0, &at_work(3, 12)), TAKEN_BACK, "0.6 s of 10 are 6 %: {rounds:?}");
        assert_eq!(throughput(1_150.0, &at_work(3, 12)), (Faster, None), "{rounds:?}");
        assert_eq!(throughput(900.0, &at_work(3, 12)), (Slower, None), "{rounds:?}");
        assert_eq!(throughput(10_000.0, &at_work(3, 13)), TAKEN_BACK, "over a quarter of the time: {rounds:?}");
        assert_eq!(throughput(10_000.0, &at_work(46, 4)), TAKEN_BACK, "it was not done: {rounds:?}");
        let ended = Rest { ended: true, ..at_work(0, 0) };
        let unwaited = Rest { unwaited: true, ..at_work(0, 0) };
        for unseen in [ended, unwaited, rest([0.0; 40]), Rest::default()] {
            assert_eq!(throughput(10_000.0, &unseen), TAKEN_BACK, "it was not watched to the end: {rounds:?}");
        }
        let cpu = |new: f64, after: &Rest| said(Metric::CpuPerRequest, new, after);
        assert_eq!(cpu(1_500.0, &at_work(3, 2)), (Faster, None), "0.1 s of 0.3 are a third: {rounds:?}");
        assert_eq!(cpu(1_500.0, &at_work(3, 4)), TAKEN_BACK, "{rounds:?}");
        // A ticker.
        assert_eq!(cpu(1_500.0, &rest([0.02; 50])), (Faster, None), "{rounds:?}");
        assert_eq!(cpu(1_500.0, &rest([0.08; 50])), TAKEN_BACK, "it may owe that: {rounds:?}");
    }
    let seen = rested(1_500.0, &at_work(0, 1), None).rest.unwrap();
    assert!(
        (seen.length_s - 2.5).abs() < 1e-9 && (seen.new_cpu_s - 0.05).abs() < 1e-9 && seen.old_cpu_s == 0.0,
        "{seen:?}"
    );
}

#[test]
fn a_tail_may_have_what_was_done_at_once_and_not_what_takes_a_moment_now_and_then() {
    for rounds in [None, Some(12)] {
        let p99 = |after: &Rest| {
            let found = rested(1_500.0, after, rounds);
            let found = row(&found, Metric::P99);
            (found.verdict, found.withheld)
        };
        assert_eq!(p99(&at_work(50, 0)), (Faster, None), "{rounds:?}");
        assert_eq!(p99(&rest([0.09; 50])), (Faster, None), "a ticker: {rounds:?}");
        assert_eq!(p99(&at_work(3, 1)), TAKEN_BACK, "50 ms at once: {rounds:?}");
        let as_it_closes = if rounds.is_none() { (Faster, None) } else { TAKEN_BACK };
        assert_eq!(p99(&at_work(0, 1)), as_it_closes, "connections stay open in slices");
        assert_eq!(p99(&at_work(0, 3)), TAKEN_BACK, "it takes no longer to close them: {rounds:?}");
        let now_and_then = rest((0..50).map(|step| if step % 10 == 5 { 0.4 } else { 0.0 }));
        assert_eq!(p99(&now_and_then), TAKEN_BACK, "20 ms, five times: {rounds:?}");
        let late = |mut rest: Rest, step: usize, length_s: f64| {
            rest.steps[step].length_s = length_s;
            rest
        };
        assert_eq!(p99(&late(at_work(1, 1), 0, 0.0502)), as_it_closes, "looks take a moment, too");
        assert_eq!(p99(&late(at_work(5, 1), 5, 1.0)), TAKEN_BACK, "50 ms at once, seen late: {rounds:?}");
    }
}

#[test]
fn what_both_do_to_tidy_up_is_no_doubt_about_a_tail_and_any_sum_is_a_doubt() {
    for rounds in [None, Some(12)] {
        let said = |metric: Metric, new: f64, after: [&Rest; 2]| {
            let found = both_rested(new, after, rounds);
            let found = row(&found, metric);
            (found.verdict, found.withheld)
        };
        let tidying = rest((0..50).map(|step| if step == 5 { 0.6 } else { 0.0 }));
        let burst = at_work(5, 4);
        for other in [&tidying, &burst] {
            assert_eq!(said(Metric::P99, 1_500.0, [&tidying, other]), (Faster, None), "{rounds:?}");
            assert_eq!(said(Metric::P99, 1_500.0, [&burst, other]), TAKEN_BACK, "{rounds:?}");
        }
        let often = rest((0..50).map(|step| if step % 10 == 5 { 0.4 } else { 0.0 }));
        assert_eq!(said(Metric::P99, 1_500.0, [&often, &tidying]), TAKEN_BACK, "20 ms, five times: {rounds:?}");
        let trickling = rest([0.09; 50]);
        assert_eq!(said(Metric::P99, 1_500.0, [&tidying, &trickling]), TAKEN_BACK, "it is never at work: {rounds:?}");
        assert_eq!(said(Metric::P99, 1_500.0, [&tidying, &at_work(0, 0)]), TAKEN_BACK, "{rounds:?}");
        // Of 0.3 s they are a tenth.
        assert_eq!(said(Metric::CpuPerRequest, 1_000.0, [&tidying, &tidying]), TAKEN_BACK, "{rounds:?}");
        let ticking = rest((0..50).map(|step| if step % 4 == 2 { 0.8 } else { 0.0 }));
        assert_eq!(said(Metric::P99, 1_500.0, [&at_work(5, 8), &ticking]), TAKEN_BACK, "{rounds:?}");
        // 0.2 s of 0.3: the one may owe them for its requests, and the other do that after any load.
        assert_eq!(said(Metric::CpuPerRequest, 1_500.0, [&burst, &burst]), TAKEN_BACK, "{rounds:?}");
        assert_eq!(said(Metric::CpuPerRequest, 3_000.0, [&burst, &burst]), (Faster, None), "{rounds:?}");
        let long = at_work(5, 12);
        assert_eq!(said(Metric::Throughput, 1_055.0, [&long, &long]), TAKEN_BACK, "{rounds:?}");
        let never = at_work(3, 20);
        assert_eq!(said(Metric::P99, 1_500.0, [&never, &never]), TAKEN_BACK, "nobody knows that: {rounds:?}");
        assert_eq!(said(Metric::P99, 1_500.0, [&tidying, &never]), TAKEN_BACK, "nor is it an excuse: {rounds:?}");
    }
}

#[test]
fn what_a_server_always_does_is_charged_to_it_once() {
    let cpu = |idle_cpus: f64, after: &Rest| {
        let session = session(1_000.0, 1_000.0, 0.0001);
        let both =
            ComparePlan { old: "old".into(), new: "new".into(), rest_ns: 2_500_000_000, ..ComparePlan::default() };
        let plan =
            session.plan().with(|draft| (draft.rotation, draft.comparison) = (Some(ROTATION), Some(both))).unwrap();
        let mut trials = session.records();
        for trial in &mut trials {
            cut(trial, 12);
            trial.slices.iter_mut().for_each(|slice| slice.idle_cpu_s = idle_cpus * slice.idle_s);
            let own = if trial.cell == 0 { after.clone() } else { at_work(0, 0) };
            trial.observation.as_mut().unwrap().rest = (trial.block == 1).then_some(own);
        }
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        row(&compare_targets(run, "old", "new", &[]), Metric::CpuPerRequest).in_doubt.as_ref().unwrap().high.unwrap()
    };
    let (ticker, nothing) = (rest([0.008; 50]), at_work(0, 0));
    assert!((cpu(0.0, &ticker) - 1.07).abs() < 0.01, "20 ms of 0.3 s are 7 %: {}", cpu(0.0, &ticker));
    // How far that leaves it open is the doubt about what it used in slices of others, and no more.
    assert!((cpu(0.008, &ticker) / cpu(0.008, &nothing) - 1.0).abs() < 1e-9);
    assert!(cpu(0.008, &at_work(20, 1)) > 1.1 * cpu(0.008, &nothing), "a ticker does not do that");
    let trickled = rest((0..50).map(|step| if step < 40 { 0.008 } else { 0.0 }));
    assert!(cpu(0.008, &trickled) > 1.04 * cpu(0.008, &nothing), "a ticker does not end: {}", cpu(0.008, &trickled));
}

#[test]
fn what_was_seen_after_slices_does_not_stand_for_launches_alone() {
    let session = session(150.0, 100.0, 0.005);
    let both = ComparePlan { old: "old".into(), new: "new".into(), rest_ns: 2_500_000_000, ..ComparePlan::default() };
    let plan = session.plan().with(|draft| (draft.rotation, draft.comparison) = (Some(ROTATION), Some(both))).unwrap();
    let said = |after_slices: &Rest, alone: Option<&Rest>| {
        let mut trials = session.records();
        trials.splice(0..0, before_launches_alone(&trials));
        for trial in &mut trials {
            let own = if trial.slices.is_empty() { alone } else { Some(after_slices) };
            trial.observation.as_mut().unwrap().rest = own.filter(|_| trial.block == 1).cloned();
        }
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        let found = compare_targets(run, "old", "new", &[]);
        (row(&found, Metric::Throughput).verdict, row(&found, Metric::Throughput).withheld)
    };
    let (idle, busy) = (at_work(0, 0), at_work(3, 20));
    assert_eq!(said(&idle, None), TAKEN_BACK);
    assert_eq!(said(&idle, Some(&idle)), (Faster, None));
    assert_eq!(said(&busy, Some(&idle)), (Faster, None), "it does nothing like that after a load that never paused");
}

#[test]
fn who_was_to_be_watched_and_was_not_is_not_better() {
    let session = session(1_500.0, 1_000.0, 0.005);
    let said = |rest_ns: u64| {
        let both = ComparePlan { old: "old".into(), new: "new".into(), rest_ns, ..ComparePlan::default() };
        let plan = session.plan().with(|draft| draft.comparison = Some(both)).unwrap();
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &session.records() };
        let found = compare_targets(run, "old", "new", &[]);
        (row(&found, Metric::Throughput).verdict, row(&found, Metric::Throughput).withheld)
    };
    assert_eq!(said(0), (Faster, None));
    assert_eq!(said(2_500_000_000), TAKEN_BACK);
}

/// The new server of a comparison of two that serves so much a second, the old one 1,000, where they did this in each launch.
fn in_each_launch(new: f64, after: [&[Rest]; 2]) -> (Plan, Vec<TrialRecord>) {
    let session = session(new, 1_000.0, 0.005);
    let both = ComparePlan { old: "old".into(), new: "new".into(), rest_ns: 2_500_000_000, ..ComparePlan::default() };
    let plan = session.plan().with(|draft| draft.comparison = Some(both)).unwrap();
    let mut trials = session.records();
    for trial in &mut trials {
        let own = after[trial.cell];
        trial.observation.as_mut().unwrap().rest = own.get(trial.block as usize - 1).cloned();
    }
    (plan, trials)
}

#[test]
fn who_was_once_watched_to_the_end_is_known() {
    let verdict = |new: &[Rest]| {
        let (plan, trials) = in_each_launch(1_150.0, [new, &[at_work(0, 0)]]);
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        let found = compare_targets(run, "old", "new", &[]);
        let found = (row(&found, Metric::Throughput).verdict, row(&found, Metric::Throughput).withheld, found.rest);
        (found.0, found.1, found.2.is_some())
    };
    let ended = Rest { ended: true, ..at_work(0, 0) };
    let (cut, idle, unwaited) = (rest([0.0; 20]), at_work(0, 0), Rest { unwaited: true, ..at_work(0, 0) });
    let withheld = |is_known| (Inconclusive, Some(Withheld::Pauses), is_known);
    assert_eq!(verdict(&[cut.clone(), idle.clone()]), (Faster, None, true));
    assert_eq!(verdict(std::slice::from_ref(&cut)), withheld(true));
    assert_eq!(verdict(&[unwaited, idle.clone()]), withheld(true), "it starts what nobody sees");
    assert_eq!(verdict(&[ended, idle.clone()]), withheld(true), "what it had still to do nobody knows");
    let busy = Rest { steps: at_work(3, 6).steps[..30].to_vec(), ..Rest::default() };
    assert_eq!(verdict(&[busy, idle]), (Faster, None, true), "0.3 s of 10 are 3 %");
    let never = Rest { steps: at_work(26, 4).steps[..30].to_vec(), ..Rest::default() };
    assert_eq!(verdict(&[never, at_work(0, 0)]), withheld(true), "it was not done when nobody looked any more");
}

#[test]
fn what_another_put_off_in_one_run_is_no_excuse_in_two() {
    let busy = [at_work(3, 4)];
    let (idle, both) = (&[at_work(0, 0)][..], [&busy[..], &busy[..]]);
    let (plan, late) = in_each_launch(1_500.0, both);
    let (_, never) = in_each_launch(1_000.0, [idle, idle]);
    let environment = Environment::default();
    let of = |trials: &[TrialRecord]| {
        let run = |trials| Run { plan: &plan, environment: &environment, trials };
        let asked = Terms { gates: &[], margin: 0.05, drift: 0.0 };
        let found = compare_runs(run(&never), run(trials), ("then".into(), "now".into()), asked).unwrap();
        let of_new =
            found.rows.iter().find(|row| row.metric == Metric::CpuPerRequest && row.conditions.target() == "new");
        (of_new.unwrap().verdict, of_new.unwrap().withheld)
    };
    assert_eq!(of(&late), TAKEN_BACK);
    assert_eq!(of(&in_each_launch(1_500.0, [idle, idle]).1), (Faster, None));
}
