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
