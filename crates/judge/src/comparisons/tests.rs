mod ranks;

use std::collections::{BTreeMap, BTreeSet};

use model::*;

use super::*;
use crate::statistics::Interval;
use crate::testing::{Session, fail_at_launch, normal};
use crate::thresholds::CONFIDENCE;

fn of(analysis: &Analysis, metric: Metric) -> Vec<(String, String, ComparisonVerdict)> {
    let wanted = analysis.comparisons.iter().filter(|comparison| comparison.metric == metric);
    wanted.map(|c| (c.a.clone(), c.b.clone(), c.verdict)).collect()
}

fn verdict(session: &Session, metric: Metric) -> ComparisonVerdict {
    of(&session.analyse(), metric)[0].2
}

fn ranks(analysis: &Analysis, metric: Metric) -> Vec<(Option<u32>, bool, String)> {
    let group = analysis.groups.iter().find(|group| group.metric == metric).unwrap();
    group.ranks.iter().map(|rank| (rank.rank, rank.tied, rank.target.clone())).collect()
}

fn pair(a: f64, b: f64) -> Session {
    Session::new().cell("a", a).cell("b", b).noise(0.01).blocks(6)
}

#[test]
fn faster_means_better_whatever_the_metric() {
    assert_eq!(verdict(&pair(120.0, 100.0), Metric::Throughput), ComparisonVerdict::Faster);
    assert_eq!(verdict(&pair(100.0, 120.0), Metric::Throughput), ComparisonVerdict::Slower);
    // Latency falls and CPU per request too where the rate rises.
    assert_eq!(verdict(&pair(120.0, 100.0), Metric::P99), ComparisonVerdict::Faster);
    assert_eq!(verdict(&pair(120.0, 100.0), Metric::CpuPerRequest), ComparisonVerdict::Faster);
    assert_eq!(verdict(&pair(120.0, 100.0), Metric::PeakMemory), ComparisonVerdict::Same);
}

#[test]
fn within_the_margin_is_the_same_and_noise_is_inconclusive() {
    assert_eq!(verdict(&pair(100.0, 101.0).noise(0.005), Metric::Throughput), ComparisonVerdict::Same);
    assert_eq!(verdict(&pair(100.0, 101.0).noise(0.2), Metric::Throughput), ComparisonVerdict::Inconclusive);
    assert_eq!(verdict(&pair(100.0, 200.0).blocks(5), Metric::Throughput), ComparisonVerdict::Inconclusive);
}

#[test]
fn ratios_come_with_both_intervals() {
    let analysis = pair(120.0, 100.0).analyse();
    let comparison = &analysis.comparisons[0];
    assert!((comparison.ratio.estimate.unwrap() - 1.2).abs() < 0.02, "{comparison:?}");
    assert!(comparison.ratio.low < comparison.ratio.estimate && comparison.ratio.estimate < comparison.ratio.high);
    let (low, high) = comparison.sign_interval.unwrap();
    assert!(low < 1.2 && 1.2 < high && low > 1.1, "{comparison:?}");
    assert!(comparison.p_adjusted.unwrap() < 0.001);
    assert_eq!(pair(1.0, 2.0).blocks(5).analyse().comparisons[0].sign_interval, None);
}

#[test]
fn a_family_pays_for_its_pairs() {
    let session = ["a", "b", "c", "d"].into_iter().fold(Session::new().blocks(6), |s, name| s.cell(name, 100.0));
    let analysis = session.analyse();
    let family = analysis.comparisons.iter().filter(|c| c.metric == Metric::Throughput);
    let ratios = Records::new(&session.plan(), &session.records()).log_ratios(0, 1, Metric::Throughput);
    let first = family.clone().next().unwrap();
    assert_eq!(family.count(), 6);
    assert!(first.p_adjusted.unwrap() > crate::statistics::p_of_zero_mean(&ratios).unwrap());
}

/// An interval that excludes no change is one test of six: it counts where Holm's adjusted p is below 5 %, too.
#[test]
fn what_one_pair_shows_by_itself_is_open_where_six_are_tested() {
    let mut between = 0;
    for seed in 0..60 {
        let session = Session::new().cell("a", 10_600.0).cell("b", 10_000.0).cell("c", 10_000.0).cell("d", 9_500.0);
        let analysis = session.noise(0.04).seed(seed).analyse();
        for found in analysis.comparisons.iter().filter(|found| found.metric == Metric::Throughput) {
            let (low, high, p) = (found.ratio.low.unwrap(), found.ratio.high.unwrap(), found.p_adjusted.unwrap());
            let is_same = low >= 1.0 / 1.05 && high <= 1.05;
            if !is_same && (low > 1.0 || high < 1.0) {
                assert_eq!(found.verdict == ComparisonVerdict::Inconclusive, p >= 0.05, "seed {seed}: {found:?}");
                between += u32::from((0.05..0.1).contains(&p));
            }
        }
    }
    assert!(between >= 5, "{between}");
}

#[test]
fn what_many_pairs_cannot_carry_is_inconclusive() {
    let interval = Interval { estimate: 0.1, low: 0.01, high: 0.19 };
    assert_eq!(seen(&interval, true, 0.05, true), ComparisonVerdict::Faster);
    assert_eq!(seen(&interval, false, 0.05, true), ComparisonVerdict::Inconclusive);
    assert_eq!(seen(&interval, true, 0.05, false), ComparisonVerdict::Slower);
    let band = Interval { estimate: 0.0, low: -(1.0499_f64.ln()), high: 1.0499_f64.ln() };
    assert_eq!(seen(&band, false, 0.05, true), ComparisonVerdict::Same, "the margin is symmetric for ratios");
}

#[test]
fn a_lower_bound_is_ranked_above_what_it_beats_and_nobody_above_it_that_it_may_beat() {
    let session = pair(100.0, 200.0);
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 1) {
        trial.measurement.as_mut().unwrap().generator.threads[0].cpu_s = 9.9;
    }
    let analysis = session.analyse_these(&records);
    assert_eq!(of(&analysis, Metric::Throughput)[0].2, ComparisonVerdict::Slower, "b does at least twice as much");
    assert_eq!(of(&analysis, Metric::CpuPerRequest)[0].2, ComparisonVerdict::Slower, "that still ranks them");
    let expected = [(Some(1), false, "b".to_owned()), (Some(2), false, "a".to_owned())];
    assert_eq!(ranks(&analysis, Metric::Throughput), expected);
    assert!(analysis.cells[1].at_least && !analysis.cells[0].at_least);
    let worse = pair(110.0, 100.0);
    let mut records = worse.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 1) {
        trial.measurement.as_mut().unwrap().generator.threads[0].cpu_s = 9.9;
    }
    let analysis = worse.analyse_these(&records);
    assert_eq!(of(&analysis, Metric::Throughput)[0].2, ComparisonVerdict::Inconclusive, "b may do more than was seen");
    let neither = [(None, false, "a".to_owned()), (None, false, "b".to_owned())];
    assert_eq!(ranks(&analysis, Metric::Throughput), neither);
}

#[test]
fn at_the_ceiling_one_may_win_or_tie_but_not_lose() {
    let at = |a, b| Session::new().delayed("a", 100, 10, a).delayed("b", 100, 10, b).noise(0.0005).blocks(6);
    assert_eq!(verdict(&at(9_950.0, 9_940.0), Metric::Throughput), ComparisonVerdict::Same);
    assert_eq!(verdict(&at(9_950.0, 9_000.0), Metric::Throughput), ComparisonVerdict::Faster);
    assert_eq!(verdict(&at(9_000.0, 9_950.0), Metric::Throughput), ComparisonVerdict::Slower);
    assert_eq!(verdict(&at(9_900.0, 10_900.0), Metric::Throughput), ComparisonVerdict::Inconclusive);
}

#[test]
fn a_tail_that_is_only_a_lower_bound_can_lose_but_not_win() {
    let session = pair(100.0, 200.0);
    let censored = |cell: usize| {
        let mut records = session.records();
        for trial in records.iter_mut().filter(|trial| trial.cell == cell) {
            let service = trial.measurement.as_mut().unwrap().latency_us.service.as_mut().unwrap();
            service.exact_below = service.p99;
        }
        of(&session.analyse_these(&records), Metric::P99)[0].2
    };
    assert_eq!(censored(0), ComparisonVerdict::Slower);
    assert_eq!(censored(1), ComparisonVerdict::Inconclusive);
}

#[test]
fn ties_share_a_rank_and_the_next_one_is_counted_from_all() {
    let session = Session::new().cell("c", 50.0).cell("a", 100.0).cell("b", 100.5).noise(0.005).blocks(6);
    let expected = [(Some(1), true, "b".to_owned()), (Some(1), true, "a".to_owned()), (Some(3), false, "c".to_owned())];
    let mut found = ranks(&session.analyse(), Metric::Throughput);
    found[..2].sort_by(|left, right| right.2.cmp(&left.2));
    assert_eq!(found, expected);
    let preliminary = ranks(&session.blocks(5).analyse(), Metric::Throughput);
    let without = |target: &str| (None, false, target.to_owned());
    assert_eq!(preliminary.into_iter().collect::<BTreeSet<_>>(), ["a", "b", "c"].map(without).into());
}

/// A session of five targets whose truth, noise and void launches are random.
fn random_session(seed: u64) -> (Session, Vec<TrialRecord>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut session = Session::new().noise(0.005 + 0.05 * rng.f64()).block_noise(0.1).blocks(9).seed(seed);
    for name in ["a", "b", "c", "d", "e"] {
        session = session.cell(name, 100.0 * (0.05 * normal(&mut rng)).exp());
    }
    let mut records = session.records();
    for trial in records.iter_mut().filter(|_| rng.f64() < 0.1) {
        fail_at_launch(trial);
    }
    (session, records)
}

/// No two targets of one rank were distinguishable, and of two that were the better one stands before the other.
#[test]
fn ranks_never_contradict_the_pairs() {
    let mut told_apart = 0;
    for seed in 0..150 {
        let (session, records) = random_session(seed);
        let analysis = session.analyse_these(&records);
        for group in &analysis.groups {
            let place: BTreeMap<&str, Option<u32>> = group.ranks.iter().map(|r| (r.target.as_str(), r.rank)).collect();
            for pair in analysis.comparisons.iter().filter(|c| c.metric == group.metric) {
                let (Some(a), Some(b)) = (place[pair.a.as_str()], place[pair.b.as_str()]) else { continue };
                match pair.verdict {
                    ComparisonVerdict::Faster => assert!(a < b, "seed {seed}: {pair:?} {group:?}"),
                    ComparisonVerdict::Slower => assert!(a > b, "seed {seed}: {pair:?} {group:?}"),
                    ComparisonVerdict::Same | ComparisonVerdict::Inconclusive => continue,
                }
                told_apart += 1;
            }
        }
    }
    assert!(told_apart > 500, "{told_apart}");
}

/// What is in doubt of a verdict on the first of two cells, a tenth apart or alike, whose trials were changed.
fn doubted(
    prepare: impl Fn(Session) -> Session,
    change: impl Fn(&mut Measurement),
) -> impl Fn(Metric, ComparisonVerdict) -> Option<Withheld> {
    move |metric, seen| {
        let rate = match seen {
            ComparisonVerdict::Slower => 90.0,
            ComparisonVerdict::Faster => 110.0,
            _ => 100.0,
        };
        let session = prepare(pair(rate, 100.0).noise(0.002));
        let (plan, mut trials) = (session.plan(), session.records());
        let first = trials.iter_mut().filter(|trial| trial.cell == 0);
        first.for_each(|trial| change(trial.measurement.as_mut().unwrap()));
        let records = Records::new(&plan, &trials);
        let pair = Family { records: &records, metric }.pair(0, 1);
        let judge = |doubts: &[Doubt]| {
            let held = crate::pair::Pair {
                new: (&records, pair.a),
                old: (&records, pair.b),
                paired: true,
                alike: false,
                drift: 0.0,
                margin: records.plan.margin,
                among_targets: false,
            };
            let within = held.within(metric, (crate::pair::LaunchSelection::All, doubts), CONFIDENCE);
            records.verdict(metric, within, within.map(|within| within.p))
        };
        assert_eq!(judge(&[]), seen, "{metric}");
        doubt([(&records, 0), (&records, 1)], metric, seen, judge)
    }
}

fn generator_limited(measured: &mut Measurement) {
    measured.generator.threads[0].cpu_s = 9.9;
}

#[test]
fn the_interval_of_a_run_that_may_end_early_is_wider() {
    let half_width = |session: &Session| {
        let analysis = session.analyse();
        let of_ratio = &analysis.comparisons.iter().find(|found| found.metric == Metric::Throughput).unwrap().ratio;
        let of_cell = &analysis.cells[0].throughput;
        [of_ratio, of_cell].map(|shown| (shown.high.unwrap() / shown.low.unwrap()).ln() / 2.0)
    };
    let [fixed, early] = [(6, 6), (6, 12)].map(|(least, most)| half_width(&pair(100.0, 100.0).planned(least, most)));
    // Student's t with five degrees of freedom: 3.003 at 97 %, 2.571 at 95 %.
    for (fixed, early) in fixed.into_iter().zip(early) {
        assert!((early / fixed - 3.003 / 2.571).abs() < 1e-3, "{early} {fixed}");
    }
}

#[test]
fn a_full_generator_leaves_open_how_slow_a_server_is() {
    use ComparisonVerdict::{Faster, Same, Slower};
    let of = doubted(|session| session, generator_limited);
    for metric in [Metric::Throughput, Metric::ElapsedPerRequest, Metric::P50, Metric::P99] {
        let found = [of(metric, Slower), of(metric, Same), of(metric, Faster)];
        assert_eq!(found, [Some(Withheld::AtLeast), Some(Withheld::AtLeast), None], "{metric}");
    }
    assert_eq!(of(Metric::PeakMemory, Same), None);
}

#[test]
fn a_single_launch_that_is_a_lower_bound_leaves_the_mean_open() {
    let session = pair(90.0, 100.0).noise(0.002);
    let mut records = session.records();
    assert_eq!(of_pair(&session.analyse_these(&records)), ComparisonVerdict::Slower);
    generator_limited(records[0].measurement.as_mut().unwrap());
    let analysis = session.analyse_these(&records);
    assert_eq!(of_pair(&analysis), ComparisonVerdict::Inconclusive);
    assert_eq!(ranks(&analysis, Metric::Throughput)[1], (None, false, "a".to_owned()));
}

#[test]
fn a_latency_that_the_generator_made_is_not_the_worse_one() {
    use ComparisonVerdict::{Faster, Same, Slower};
    let of = doubted(
        |session| session,
        |measured| {
            let latencies = &mut measured.latency_us;
            latencies.response = latencies.service.clone();
            latencies.lateness = latencies.service.clone();
            latencies
                .lateness
                .iter_mut()
                .for_each(|late| (late.p50, late.p90, late.p95) = (Some(1.0), Some(1.0), Some(1.0)));
            latencies.service.iter_mut().for_each(|service| service.p99 = Some(1.0));
        },
    );
    let found = [of(Metric::P99, Slower), of(Metric::P99, Same), of(Metric::P99, Faster)];
    assert_eq!(found, [Some(Withheld::Lateness), Some(Withheld::Lateness), None]);
    assert_eq!(of(Metric::P50, Slower), None, "the mark is about the p99");
}

#[test]
fn lateness_takes_nothing_back_that_the_service_time_shows_too() {
    let of = doubted(
        |session| session,
        |measured| {
            let latencies = &mut measured.latency_us;
            (latencies.response, latencies.lateness) = (latencies.service.clone(), latencies.service.clone());
        },
    );
    assert_eq!(of(Metric::P99, ComparisonVerdict::Slower), None);
}

/// A launch whose generator stood still so that the p99 has it; without these requests it is what it was.
fn stand_still(measured: &mut Measurement) {
    let without = measured.latency_us.service.clone().unwrap();
    let held = without.count / 50;
    let rest = LatencySummary { count: without.count - held, ..without };
    measured.latency_us.service.as_mut().unwrap().p99 = Some(400_000.0);
    measured.standstills = Some(Standstills {
        count: 1,
        sum_s: 0.4,
        longest_s: 0.4,
        requests: held,
        without_us: Latencies { service: Some(rest), ..Latencies::default() },
        wakes_off: true,
        ..Standstills::default()
    });
}

#[test]
fn a_tail_that_a_standstill_made_is_what_it_is_without_it() {
    let session = pair(100.0, 100.0).noise(0.002);
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
        stand_still(trial.measurement.as_mut().unwrap());
    }
    let analysis = session.analyse_these(&records);
    assert!(analysis.cells[0].marks.iter().any(|note| note.mark() == Mark::Standstill));
    let p99 = analysis.comparisons.iter().find(|found| found.metric == Metric::P99).unwrap();
    assert!(p99.ratio.low.unwrap() > 2.0, "{p99:?}");
    assert_eq!(p99.verdict, ComparisonVerdict::Inconclusive);
    // One that is slower without them, too, is slower.
    let slower = pair(50.0, 100.0).noise(0.002);
    let mut records = slower.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
        stand_still(trial.measurement.as_mut().unwrap());
    }
    assert_eq!(of(&slower.analyse_these(&records), Metric::P99)[0].2, ComparisonVerdict::Slower);
    // But not where nobody knows what is left without them: another thread's requests may have waited behind them, or an
    // older record does not say what waited at the server afterwards.
    let unknown = |change: &dyn Fn(&mut Measurement)| {
        let mut records = records.clone();
        records
            .iter_mut()
            .filter(|trial| trial.cell == 0)
            .for_each(|trial| change(trial.measurement.as_mut().unwrap()));
        assert_eq!(of(&slower.analyse_these(&records), Metric::P99)[0].2, ComparisonVerdict::Inconclusive);
    };
    unknown(&|measured| measured.standstills.as_mut().unwrap().wakes_off = false);
    unknown(&|measured| measured.generator.threads.push(measured.generator.threads[0]));
}

#[test]
fn the_edges_of_a_window_with_few_replies_tell_no_servers_apart() {
    // 10 connections with 10 replies each: the window's edges weigh a tenth.
    let thin = |a: f64, b: f64| Session::new().cell("a", a).cell("b", b).noise(0.001);
    assert_eq!(of_pair(&thin(9.0, 10.0).analyse()), ComparisonVerdict::Inconclusive);
    assert_eq!(of_pair(&thin(5.0, 10.0).analyse()), ComparisonVerdict::Slower);
    assert_eq!(of_pair(&thin(90.0, 100.0).analyse()), ComparisonVerdict::Slower);
}

/// A tie is within the margin of 5 %, and so must be what the edges leave open: a fifteenth is not, a twenty-fifth is, and
/// of connections that were never served there are no edges.
#[test]
fn a_tie_is_no_wider_than_the_margin() {
    let tied = |per_slot: f64, never_served: u64| {
        let session = Session::new().cell("a", per_slot).cell("b", per_slot).noise(0.0001);
        let mut records = session.records();
        for trial in &mut records {
            trial.measurement.as_mut().unwrap().connections.never_served = never_served;
        }
        ranks(&session.analyse_these(&records), Metric::Throughput).iter().all(|(rank, ..)| *rank == Some(1))
    };
    assert_eq!([tied(15.0, 0), tied(25.0, 0), tied(15.0, 5)], [false, true, true]);
}

#[test]
fn who_was_still_getting_faster_is_not_the_slower_one_for_it() {
    // Every launch serves 20 % less in its first 3 of 12 seconds, and is as fast as the other one afterwards.
    let session = pair(95.0, 100.0).noise(0.001);
    let warming = |slow_s: usize| {
        let mut records = session.records();
        for trial in &mut records {
            let measured = trial.measurement.as_mut().unwrap();
            let second = |at: usize| model::Interval {
                at_s: at as f64,
                length_s: 1.0,
                completed: 1,
                ok: if trial.cell == 0 && at < slow_s { 80 } else { 100 },
                p50_us: Some(100_000.0),
                p99_us: Some(120_000.0),
                ..model::Interval::default()
            };
            measured.steps = (0..10).map(second).collect();
            if trial.cell == 0 && slow_s > 0 {
                measured.in_window.halves[0].service_ns = measured.in_window.halves[0].service_ns * 12 / 10;
            }
        }
        of_pair(&session.analyse_these(&records))
    };
    assert_eq!(warming(0), ComparisonVerdict::Slower);
    assert_eq!(warming(3), ComparisonVerdict::Inconclusive, "what it lacks it lacked while it was cold");
}

#[test]
fn a_server_that_says_it_was_cold_gets_no_verdict_and_no_rank() {
    let of = doubted(|session| session.warm_within(20), |_| ());
    for seen in [ComparisonVerdict::Slower, ComparisonVerdict::Same, ComparisonVerdict::Faster] {
        assert_eq!(of(Metric::Throughput, seen), Some(Withheld::Cold));
    }
    assert_eq!(of(Metric::TimeToReady, ComparisonVerdict::Same), None);
    let analysis = pair(100.0, 200.0).warm_within(20).analyse();
    assert_eq!(of_pair(&analysis), ComparisonVerdict::Inconclusive);
    assert_eq!(ranks(&analysis, Metric::Throughput)[1], (None, false, "a".to_owned()));
}

fn of_pair(analysis: &Analysis) -> ComparisonVerdict {
    of(analysis, Metric::Throughput)[0].2
}
