mod bursts;
mod spill;

use model::{
    Analysis, Blank, ComparePlan, Comparison, ComparisonVerdict, Draft, Environment, Mark, Metric, Plan, Slice,
    TrialRecord, Withheld,
};

use crate::guard::{Doubt, Side, figure};
use crate::records::Records;
use crate::testing::{Session, cut, woke};

const ROUNDS: u32 = 12;

fn session() -> Session {
    Session::new().cell("a", 1_000.0).cell("b", 1_000.0).noise(0.001).blocks(6)
}

/// The session's records, each in slices, changed launch by launch.
fn sliced(session: &Session, change: impl Fn(&mut TrialRecord)) -> (Plan, Vec<TrialRecord>) {
    let mut records = session.records();
    for trial in &mut records {
        cut(trial, ROUNDS);
        change(trial);
    }
    (session.plan(), records)
}

/// Makes a target that much faster in these rounds, and slower in the others by so much less, so that its books stay as they are.
fn faster(trial: &mut TrialRecord, rounds: &[u32], replies: u64) {
    let others = u64::from(ROUNDS) - rounds.len() as u64;
    let all = replies * rounds.len() as u64;
    let (mut left, mut slices_left) = (all, others);
    for slice in trial.slices.iter_mut().filter(|slice| slice.round > 0) {
        let change = if rounds.contains(&slice.round) {
            replies as i64
        } else {
            let taken = left.div_ceil(slices_left);
            (left, slices_left) = (left - taken, slices_left - 1);
            -(taken as i64)
        };
        slice.completed = slice.completed.saturating_add_signed(change);
        (slice.ok, slice.replies) = (slice.completed, slice.replies.max(slice.completed));
    }
}

fn throughput((plan, records): &(Plan, Vec<TrialRecord>)) -> Comparison {
    let found = crate::analyse(plan, &Environment::default(), records).comparisons;
    found.into_iter().find(|found| found.metric == Metric::Throughput).expect("it is compared")
}

/// What others had of the CPUs while a launch had its slice in a round.
fn busy(trial: &mut TrialRecord, rounds: &[u32], share: f64) {
    trial.slices.iter_mut().filter(|slice| rounds.contains(&slice.round)).for_each(|slice| slice.others_share = share);
}

#[test]
fn a_round_that_others_disturbed_counts_for_none_of_its_launches() {
    let disturb = |trial: &mut TrialRecord| {
        faster(trial, &[4], 600);
        // Both are left out, for the round is disturbed as a whole.
        if trial.cell == 0 {
            busy(trial, &[4], 0.3);
        }
    };
    let (plan, trials) = sliced(&session(), disturb);
    let records = Records::new(&plan, &trials);
    for cell in [0, 1] {
        let launch = records.launch(cell, 1).unwrap();
        assert_eq!(launch.rounds.as_ref().unwrap().left_out.iter().copied().collect::<Vec<_>>(), [4]);
        let kept = trials.iter().find(|trial| (trial.block, trial.cell) == (1, cell)).unwrap();
        let sum = |of: fn(&Slice) -> f64| {
            kept.slices.iter().filter(|slice| ![0, 4].contains(&slice.round)).map(of).sum::<f64>()
        };
        let expected = sum(|slice| slice.ok as f64) / sum(|slice| slice.window_s);
        assert!((launch.value(Metric::Throughput).unwrap() / expected - 1.0).abs() < 1e-9);
        assert!(!launch.is(Mark::Noisy));
        let shown = crate::cell_launches::of(&records, cell).into_iter().find(|shown| shown.block == 1 && !shown.twin);
        let replies = sum(|slice| slice.completed as f64) as u64;
        assert_eq!(shown.unwrap().latency.count, replies, "nor do requests of that round count");
    }
}

#[test]
fn no_rate_no_latency_and_no_cpu_of_a_target_leaves_a_round_out() {
    let own = |trial: &mut TrialRecord| {
        faster(trial, &[4, 5], 600);
        for slice in trial.slices.iter_mut().filter(|slice| slice.round > 7) {
            (slice.p99_us, slice.cpu_s, slice.idle_cpu_s) = (Some(90_000.0), 0.9, 0.5);
        }
    };
    let (plan, trials) = sliced(&session(), own);
    let records = Records::new(&plan, &trials);
    assert!(records.all().iter().all(|launch| !launch.lacks_rounds() && !launch.is(Mark::Noisy)));
}

#[test]
fn where_others_disturbed_over_a_quarter_of_the_rounds_the_block_is_repeated_or_noisy_and_none_is_left_out() {
    let disturb = |rounds: &'static [u32]| {
        move |trial: &mut TrialRecord| {
            if trial.block == 2 {
                busy(trial, rounds, 0.3);
            }
        }
    };
    let at = |rounds: &'static [u32], repeats: u32| {
        let session = session().blocks(7).repeats(repeats);
        let (plan, records) = sliced(&session, disturb(rounds));
        let analysis = crate::analyse(&plan, &Environment::default(), &records);
        let repeated = analysis.session.repeated.iter().map(|block| block.block).collect::<Vec<_>>();
        let noisy = |analysis: &Analysis| {
            let marks = analysis.cells.iter().flat_map(|cell| &cell.marks);
            marks.filter(|note| note.mark() == Mark::Noisy).map(report::note_words).next()
        };
        (repeated, noisy(&analysis))
    };
    assert_eq!(at(&[1, 2, 3], 1), (vec![], None));
    assert_eq!(at(&[1, 2, 3, 4], 1), (vec![2], None));
    let said = "others kept the machine busy in 4 of 12 rounds of slices (in 1 of 7 launches; figures of b02-c01)";
    assert_eq!(at(&[1, 2, 3, 4], 0), (vec![], Some(said.to_owned())));
}

#[test]
fn a_verdict_that_the_rounds_left_out_would_change_is_none() {
    let disturb = |replies: u64| {
        move |trial: &mut TrialRecord| {
            busy(trial, &[4, 5], 0.3);
            if trial.cell == 0 {
                faster(trial, &[4, 5], replies);
            }
        }
    };
    let found = throughput(&sliced(&session(), disturb(0)));
    assert_eq!((found.verdict, found.withheld), (ComparisonVerdict::Same, None));
    let found = throughput(&sliced(&session(), disturb(400)));
    let taken_back = (ComparisonVerdict::Inconclusive, Some(Withheld::Rounds), Some(ComparisonVerdict::Slower));
    assert_eq!((found.verdict, found.withheld, found.seen), taken_back, "{found:?}");
}

const TAKEN_BACK: (ComparisonVerdict, Option<Withheld>) = (ComparisonVerdict::Inconclusive, Some(Withheld::Spill));

/// What is said of a metric of `a`, which serves so many times as much as `b`, where its slices are changed like this.
fn changed(
    metric: Metric,
    (factor, margin): (f64, f64),
    change: impl Fn(&mut Slice),
) -> (ComparisonVerdict, Option<Withheld>) {
    let session = Session::new().cell("a", factor * 1_000.0).cell("b", 1_000.0).noise(0.001).blocks(6);
    let of_first = |trial: &mut TrialRecord| {
        trial.slices.iter_mut().filter(|_| trial.cell == 0).for_each(&change);
    };
    let (plan, records) = sliced(&session, of_first);
    let plan = plan.with(|draft| draft.margin = margin).unwrap();
    let found = crate::analyse(&plan, &Environment::default(), &records).comparisons;
    let found = found.into_iter().find(|found| found.metric == metric).expect("it is compared");
    (found.verdict, found.withheld)
}

const FASTER: (ComparisonVerdict, Option<Withheld>) = (ComparisonVerdict::Faster, None);
const SLOWER: (ComparisonVerdict, Option<Withheld>) = (ComparisonVerdict::Slower, None);

#[test]
fn who_puts_work_off_is_not_called_cheaper_nor_who_idles_at_a_cost_dearer() {
    // As much in its slices as `b` times so much, and so much for each second of that while it idled.
    let verdict = |margin: f64, own: f64, put_off: f64| {
        changed(Metric::CpuPerRequest, (1.0, margin), |slice| {
            slice.cpu_s *= own;
            slice.idle_cpu_s = put_off * slice.cpu_s;
        })
    };
    assert_eq!(verdict(0.05, 1.0, 0.54), TAKEN_BACK, "a ticker, or work put off: at par, or half as dear again");
    assert_eq!(verdict(0.05, 0.8, 0.54), TAKEN_BACK, "cheaper in its slices alone");
    assert_eq!(verdict(0.05, 1.3, 0.54), SLOWER, "dearer in its slices alone");
    assert_eq!(verdict(0.05, 0.6, 0.54), FASTER, "cheaper with all that it put off");
    assert_eq!(verdict(0.01, 1.0, 0.000_1), (ComparisonVerdict::Same, None));
    let never_done = changed(Metric::CpuPerRequest, (1.0, 0.05), |slice| {
        (slice.cpu_s, slice.idle_cpu_s) = (0.01 * slice.cpu_s, 0.51 * slice.idle_s);
    });
    assert_eq!(never_done, TAKEN_BACK, "nobody knows what it had still to do");
    assert_eq!(verdict(0.01, 1.0 / 1.009_9, 0.009_9), TAKEN_BACK, "the same with it, and 1 % cheaper without");
}

#[test]
fn who_puts_work_off_is_not_called_faster_for_it() {
    // So many seconds of CPU while it idled for each second of its slices, for a twelfth of which those asked that woke it.
    let verdict = |metric: Metric, factor: f64, put_off: f64| {
        changed(metric, (factor, 0.05), |slice| slice.idle_cpu_s = put_off * slice.length_s)
    };
    assert_eq!(verdict(Metric::Throughput, 1.2, 0.0), FASTER);
    assert_eq!(verdict(Metric::Throughput, 1.27, 0.3), TAKEN_BACK, "it would have had no time for so much more");
    assert_eq!(verdict(Metric::Throughput, 1.345, 0.3), FASTER, "by 5.5 % with all of it");
    assert_eq!(verdict(Metric::Throughput, 1.4, 0.3), FASTER, "faster with all of it");
    assert_eq!(verdict(Metric::Throughput, 0.9, 0.3), SLOWER, "slower without it already");
    assert_eq!(verdict(Metric::P99, 1.2, 0.3), TAKEN_BACK, "a request may have waited for what followed a slice");
    assert_eq!(verdict(Metric::P99, 1.2, 0.000_1), FASTER, "0.1 ms do not make 2 of 12");
    assert_eq!(verdict(Metric::P99, 0.9, 0.3), SLOWER);
    assert_eq!(verdict(Metric::Throughput, 3.0, 0.3), FASTER);
    assert_eq!(verdict(Metric::Throughput, 3.0, 0.6), TAKEN_BACK, "nobody knows what it had still to do");
}

#[test]
fn who_does_much_when_it_is_woken_is_neither_cheaper_nor_faster_for_it() {
    // A request that wakes it costs so many times what one costs in a slice, or in every other prelude so many times; there is one
    // such request for eleven of a slice. It costs `own` times what one of `b` costs.
    let verdict = |metric: Metric, factor: f64, own: f64, times: f64, each: u32| {
        changed(metric, (factor, 0.05), |slice| {
            slice.cpu_s *= own;
            if let Some(prelude) = slice.prelude.as_mut() {
                prelude.cpu_s *= own * if slice.round.is_multiple_of(each) { times } else { 1.0 };
            }
        })
    };
    let taken_back = (ComparisonVerdict::Inconclusive, Some(Withheld::Waking));
    let cpu = |own: f64, times: f64, each: u32| verdict(Metric::CpuPerRequest, 1.0, own, times, each);
    assert_eq!(cpu(0.94, 1.0, 1), FASTER);
    assert_eq!(cpu(0.94, 1.3, 1), FASTER, "2.7 % are what threads take that wake");
    assert_eq!(cpu(0.94, 1.9, 1), taken_back, "8 % of what its slices take");
    assert_eq!(cpu(0.94, 2.8, 2), taken_back, "the same in every other prelude");
    assert_eq!(cpu(0.9, 1.9, 1), FASTER, "with all of it");
    assert_eq!(cpu(1.1, 1.9, 1), SLOWER, "without it already");
    assert_eq!(cpu(1.0, 1.9, 1), taken_back, "nor the same");
    // In every third prelude so much for each second of the slice.
    let rate = |factor: f64, more: f64| {
        changed(Metric::Throughput, (factor, 0.05), |slice| {
            let more_s = if slice.round.is_multiple_of(3) { more * slice.length_s } else { 0.0 };
            slice.prelude.iter_mut().for_each(|prelude| prelude.cpu_s += more_s);
        })
    };
    assert_eq!(rate(1.06, 0.0), FASTER);
    assert_eq!(rate(1.06, 0.3), taken_back, "it would have had no time for so much more");
    assert_eq!(rate(1.06, 0.1), FASTER, "by 2.6 % with all of it");
    assert_eq!(rate(0.9, 0.3), SLOWER);
    assert_eq!(verdict(Metric::P99, 1.06, 1.0, 2.8, 2), taken_back, "a request may have waited for it");
    assert_eq!(verdict(Metric::PeakMemory, 1.0, 1.0, 2.8, 2).1, None);
}

/// A plan of `a` and `b` as a comparison.
fn as_comparison(plan: &Plan) -> Plan {
    let both = ComparePlan { old: "a".to_owned(), new: "b".to_owned(), ..ComparePlan::default() };
    plan.with(|draft| draft.comparison = Some(both)).unwrap()
}

/// A plan of which `a` and `b` are written in these languages.
fn written_in(plan: &Plan, languages: [&str; 2]) -> Plan {
    let write = |draft: &mut Draft| {
        draft.targets.iter_mut().zip(languages).for_each(|(target, language)| target.language = language.to_owned());
    };
    plan.with(write).unwrap()
}

#[test]
fn of_two_that_are_compared_what_waking_takes_only_one_is_in_doubt() {
    // What each of the launches of `a` and of `b` used in its preludes, as a share of its slices' CPU, beyond what those requests cost.
    let in_doubt = |shares: &dyn Fn(&TrialRecord) -> f64| {
        let (alone, records) = sliced(&session(), |trial| {
            let share = shares(trial);
            for slice in &mut trial.slices {
                let cost_s = slice.cpu_s / slice.replies as f64;
                let more_s = share * slice.cpu_s;
                slice.prelude.iter_mut().for_each(|prelude| prelude.cpu_s = prelude.replies as f64 * cost_s + more_s);
            }
        });
        let of = |plan: &Plan| {
            let records = Records::new(plan, &records);
            let range =
                figure(&records, (Side::beside(0, 1), 1), Metric::CpuPerRequest, &[Doubt::Waking], 0.95).unwrap();
            range.high / range.low - 1.0
        };
        let (run, compared) = (of(&alone), of(&as_comparison(&alone)));
        assert_eq!(of(&written_in(&alone, ["go", "go"])), compared, "two of a kind in a run, as if they were compared");
        assert_eq!(of(&written_in(&alone, ["go", "java"])), run, "who knows what waking another kind takes");
        [run, compared]
    };
    let is_about = |found: f64, wanted: f64| (found - wanted).abs() < 0.001;
    let [run, compared] = in_doubt(&|trial| if trial.cell == 0 { 0.025 } else { 0.005 });
    assert!(run < 1e-9 && is_about(compared, 0.02), "{run}, {compared}: the difference, of a comparison");
    let [_, compared] = in_doubt(&|_| 0.02);
    assert!(compared < 1e-9, "{compared}: both alike");
    // Scatter alone: each is above the other in half of the blocks.
    let [_, compared] = in_doubt(&|trial| if trial.block % 2 == trial.cell as u32 { 0.02 } else { 0.01 });
    assert!(compared < 1e-9, "{compared}");
    let [run, compared] = in_doubt(&|_| 0.05);
    assert!(is_about(run, 0.05) && compared < 1e-9, "{run}, {compared}: all of much, but where both are alike");
    let [_, compared] = in_doubt(&|trial| if trial.cell == 0 { 0.05 } else { 0.01 });
    assert!(is_about(compared, 0.04), "{compared}");
    let [_, compared] = in_doubt(&|trial| if trial.cell == 0 { 0.09 } else { 0.11 });
    assert!(
        is_about(compared, 0.09),
        "{compared}: if caches do not take that of the one, who knows what takes the other as much"
    );
    let [run, compared] = in_doubt(&|_| 0.12);
    assert!(is_about(run, 0.12) && is_about(compared, 0.12), "{run}, {compared}: more than caches take");
}

#[test]
fn nor_who_keeps_requests_waiting_when_it_is_woken() {
    // Of those that woke it, a twelfth of all, each waited as long as most in the slices do, and in so many preludes one in each ten waited
    // so many milliseconds.
    let verdict = |metric: Metric, factor: f64, (each, ms): (u32, f64)| {
        changed(metric, (factor, 0.05), |slice| {
            let (usual_us, count) =
                (slice.p50_us.unwrap(), slice.prelude.as_ref().map_or(0, |prelude| prelude.replies));
            let is_slow = |at: u64| slice.round.is_multiple_of(each) && at.is_multiple_of(10);
            let felt: Vec<f64> = (0..count).map(|at| if is_slow(at) { ms * 1e3 } else { usual_us }).collect();
            woke(slice, &felt);
        })
    };
    let taken_back = (ComparisonVerdict::Inconclusive, Some(Withheld::Waking));
    assert_eq!(verdict(Metric::Throughput, 1.06, (1, 10.0)), FASTER, "as long as usual, about");
    assert_eq!(verdict(Metric::Throughput, 1.06, (1, 100.0)), taken_back, "8 % of what all waited");
    assert_eq!(verdict(Metric::Throughput, 1.06, (2, 200.0)), taken_back, "the same in every other prelude");
    assert_eq!(verdict(Metric::Throughput, 1.12, (1, 100.0)), FASTER, "with all of it");
    assert_eq!(verdict(Metric::Throughput, 0.9, (1, 100.0)), SLOWER);
    assert_eq!(verdict(Metric::P99, 1.06, (1, 10.0)), FASTER);
    assert_eq!(verdict(Metric::P99, 1.06, (1, 100.0)), (ComparisonVerdict::Inconclusive, Some(Withheld::Waking)));
    assert_eq!(verdict(Metric::CpuPerRequest, 1.0, (1, 100.0)), (ComparisonVerdict::Same, None), "it used no CPU");
    let cheaper = changed(Metric::CpuPerRequest, (1.0, 0.05), |slice| {
        let count = slice.prelude.as_ref().map_or(0, |prelude| prelude.replies as usize);
        woke(slice, &vec![1e6; count]);
        slice.cpu_s *= 0.88;
        slice.prelude.iter_mut().for_each(|prelude| prelude.cpu_s *= 0.88 * 1.9);
    });
    assert_eq!(cheaper, FASTER, "with the 8 % of CPU that waking it took, and whatever was waited for");
}

#[test]
fn of_two_that_are_compared_nor_is_what_both_keep_waiting() {
    // Those that wake it are a twelfth of all, and wait so many times as long in the launches of `a` and of `b`.
    let in_doubt = |times: [f64; 2]| {
        let (run, records) = sliced(&session(), |trial| {
            let times = times[trial.cell];
            for slice in &mut trial.slices {
                let count = slice.prelude.as_ref().map_or(0, |prelude| prelude.replies as usize);
                let usual_us = slice.p50_us.unwrap();
                woke(slice, &vec![usual_us * times; count]);
            }
        });
        [&run, &as_comparison(&run)].map(|plan| {
            let records = Records::new(plan, &records);
            let range = figure(&records, (Side::beside(0, 1), 1), Metric::Throughput, &[Doubt::Waking], 0.95).unwrap();
            range.high / range.low - 1.0
        })
    };
    let [run, compared] = in_doubt([1.7, 1.7]);
    assert!(run > 0.04 && compared < 1e-9, "{run}, {compared}");
    let [_, compared] = in_doubt([1.9, 1.3]);
    assert!((compared - 0.05).abs() < 0.01, "{compared}: the difference");
    let [run, compared] = in_doubt([3.0, 3.0]);
    assert!(run > 0.1 && (compared - run).abs() < 1e-3, "{run}, {compared}: all of much");
}

#[test]
fn a_stall_that_outlasts_its_slice_may_have_cost_as_much_as_there_was_until_the_next_one() {
    let verdict = |metric: Metric, factor: f64| {
        changed(metric, (factor, 0.05), |slice| slice.not_drained = u64::from(slice.round == 4))
    };
    let taken_back = (ComparisonVerdict::Inconclusive, Some(Withheld::Censored));
    // It idled for 1.7 times as long as each of its twelve slices was.
    assert_eq!(verdict(Metric::Throughput, 1.12), taken_back, "1.12 of 1.14");
    assert_eq!(verdict(Metric::Throughput, 1.25), FASTER, "with all of it");
    assert_eq!(verdict(Metric::Throughput, 0.9), SLOWER, "slower without it already");
    assert_eq!(verdict(Metric::CpuPerRequest, 1.12).1, None, "whoever stands still uses no CPU");
}

#[test]
fn a_claim_about_what_requests_cost_says_what_a_target_used_while_it_idled() {
    let session = session().claim("cpu_per_request(a) / cpu_per_request(b) > 1.2");
    let deferring = |trial: &mut TrialRecord| {
        let share = if trial.cell == 0 { 0.54 } else { 0.0 };
        trial.slices.iter_mut().for_each(|slice| slice.idle_cpu_s = share * slice.cpu_s);
    };
    let (plan, records) = sliced(&session, deferring);
    let claim = crate::analyse(&plan, &Environment::default(), &records).claims.remove(0);
    let said = "supported by the figures alone, but a used 33 % of its CPU time outside its own slices, and it is \
                unclear whether its requests caused that";
    assert_eq!((claim.withheld, report::claim_notes(&claim)), (Some(Withheld::Spill), vec![said.to_owned()]));
}

#[test]
fn a_p99_needs_ten_garbage_collections_within_the_slices_of_each_launch() {
    let session = session().claim("p99(a) / p99(b) < 2");
    // What the first launch's runtime tells of each slice: how many came in it, and how many more while it idled.
    let with = |own: Option<f64>, idle: f64| {
        let collecting = |trial: &mut TrialRecord| {
            let is_first = (trial.block, trial.cell) == (1, 0);
            let (own, idle) = if is_first { (own, idle) } else { (Some(120.0), 0.0) };
            for slice in &mut trial.slices {
                slice.own_gc_count = own.map(|own| own / f64::from(ROUNDS));
                slice.gc_count = Some(slice.own_gc_count.unwrap_or(0.0) + idle / f64::from(ROUNDS));
            }
        };
        let (plan, records) = sliced(&session, collecting);
        let analysis = crate::analyse(&plan, &Environment::default(), &records);
        let is_compared = analysis.comparisons.iter().any(|found| found.metric == Metric::P99);
        let cell = &analysis.cells[0];
        let why = cell.remarks.blanks.get(&Metric::P99).copied();
        assert_eq!(cell.latency_us.p99.estimate.is_some(), is_compared);
        assert_eq!(
            (cell.latency_us.few_collections, why),
            (!is_compared, (!is_compared).then_some(Blank::FewCollections))
        );
        (is_compared, report::claim_notes(&analysis.claims[0]))
    };
    let known = |least: u64| {
        let said = format!(
            "a p99 in slices needs 10 garbage collections within each launch's slices; of a fewer are known in 1 of 6 launches ({least})"
        );
        (false, vec![said])
    };
    assert_eq!(with(Some(12.0), 0.0), (true, vec![]));
    assert_eq!(with(Some(6.0), 0.0), known(6));
    assert_eq!(with(Some(6.0), 60.0), known(6), "no request met those that came while it idled");
    assert_eq!(with(None, 60.0), known(0), "an older record, which does not tell when they came");
}
