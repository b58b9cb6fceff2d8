//! Who stands where.

use super::*;
use crate::testing::die;

/// Three targets of such throughputs, in the launches of the first of which the generator was busy all the time.
fn with_a_lower_bound(rates: [f64; 3]) -> Vec<(Option<u32>, bool, String)> {
    let [a, b, c] = rates;
    let session = Session::new().cell("a", a).cell("b", b).cell("c", c).noise(0.002);
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| trial.cell == 0) {
        generator_limited(trial.measurement.as_mut().unwrap());
    }
    ranks(&session.analyse_these(&records), Metric::Throughput)
}

#[test]
fn nobody_is_ranked_above_one_that_may_be_better() {
    let of = |rates| with_a_lower_bound(rates).into_iter().map(|(rank, _, name)| (name, rank)).collect::<Vec<_>>();
    let named = |all: [(&str, Option<u32>); 3]| all.map(|(name, rank)| (name.to_owned(), rank)).to_vec();
    let best = of([105.0, 98.0, 90.0]);
    assert_eq!(best, named([("a", Some(1)), ("b", Some(2)), ("c", Some(3))]), "at least the best is the best");
    let between = of([95.0, 100.0, 50.0]);
    assert_eq!(between, named([("b", None), ("a", None), ("c", Some(3))]), "a may be above b, and is above c");
    assert_eq!(of([45.0, 55.0, 50.0]), named([("b", None), ("c", None), ("a", None)]), "a may be anywhere");
}

/// A rank says that a target was held against another: neither a failing rival nor too few launches leave one to hold it
/// against.
#[test]
fn who_has_only_rivals_that_failed_is_not_first() {
    let session = Session::new().cell("a", 100.0).cell("b", 200.0).noise(0.002);
    let mut records = session.records();
    records.iter_mut().filter(|trial| trial.cell == 1).for_each(die);
    let unranked = |found: &[(Option<u32>, bool, String)]| found.iter().all(|(rank, ..)| rank.is_none());
    let found = ranks(&session.analyse_these(&records), Metric::Throughput);
    assert!(unranked(&found), "{found:?}");
    records.iter_mut().filter(|trial| trial.cell == 0 && trial.block > 4).for_each(fail_at_launch);
    let found = ranks(&session.analyse_these(&records), Metric::Throughput);
    assert!(unranked(&found), "{found:?}");
}

#[test]
fn who_failed_takes_no_place_and_stands_where_its_figure_does() {
    let session = Session::new().cell("a", 100.0).cell("b", 200.0).cell("c", 50.0).noise(0.002);
    let mut records = session.records();
    records.iter_mut().filter(|trial| trial.cell == 1).for_each(die);
    let found = ranks(&session.analyse_these(&records), Metric::Throughput);
    let rank = |of: &str| found.iter().find(|(.., name)| name == of).unwrap().0;
    assert_eq!(["a", "b", "c"].map(rank), [Some(1), None, Some(2)], "{found:?}");
}

/// Two targets of such throughputs while others used a fifth of two CPUs in these blocks, of which one is the targets'.
fn disturbed(a: f64, b: f64, blocks: &[u32]) -> Analysis {
    let session = Session::new().cell("a", a).cell("b", b).noise(0.005).blocks(8).planned(8, 8);
    let mut records = session.records();
    for trial in records.iter_mut().filter(|trial| blocks.contains(&trial.block)) {
        trial.observation.as_mut().unwrap().host = HostUse { cpus: 2, steal_share: 0.0, others_share: 0.2 };
    }
    session.analyse_these(&records)
}

#[test]
fn what_the_noise_could_have_made_ranks_nobody_above_another() {
    const ALL: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
    let said = |analysis: &Analysis| [Metric::Throughput, Metric::P99].map(|metric| of(analysis, metric)[0].2);
    let busy = disturbed(1_000.0, 750.0, &ALL);
    assert_eq!(said(&busy), [ComparisonVerdict::Inconclusive; 2], "40 % of the targets' CPU could be as much");
    let withheld = |metric| busy.comparisons.iter().find(|found| found.metric == metric).unwrap().withheld;
    assert_eq!([Metric::Throughput, Metric::PeakMemory].map(withheld), [Some(Withheld::Disturbed), None]);
    let none = |(rank, tied, _): &(Option<u32>, bool, String)| rank.is_none() && !tied;
    assert!(ranks(&busy, Metric::Throughput).iter().all(none), "a difference that proves nothing is not a tie either");
    let alike = disturbed(1_000.0, 1_002.0, &ALL);
    let found = alike.comparisons.iter().find(|found| found.metric == Metric::Throughput).unwrap();
    assert_eq!((found.withheld, found.seen), (Some(Withheld::Disturbed), Some(ComparisonVerdict::Same)));
    let is_first = |(rank, ..): &(Option<u32>, bool, String)| *rank == Some(1);
    assert!(
        ranks(&alike, Metric::Throughput).iter().all(is_first),
        "a shared rank says only that none is seen to differ"
    );
    let far = disturbed(1_000.0, 200.0, &ALL);
    assert_eq!(said(&far), [ComparisonVerdict::Faster, ComparisonVerdict::Inconclusive], "a tail has no bound");
    for quiet in [disturbed(1_000.0, 750.0, &[]), disturbed(1_000.0, 750.0, &[3])] {
        assert_eq!(said(&quiet), [ComparisonVerdict::Faster; 2], "the other launches show it by themselves");
    }
}
