//! What a figure's being one of several makes of it.

use super::*;

/// Throughput of two servers of which the new one is so much slower, with its row as one of all, and as the primary metric.
fn both_ways(slower: f64) -> [CompareRow; 2] {
    let session = session(100.0 * (1.0 - slower), 100.0, 0.02);
    let trials = session.records();
    [None, Some(Metric::Throughput)].map(|primary| {
        let mut draft = session.draft();
        draft.comparison = Some(ComparePlan {
            old: "old".into(),
            new: "new".into(),
            primary,
            gates: Vec::new(),
            allow_undecided: false,
            of_experiment: false,
            rest_ns: 0,
            revisions: Vec::new(),
        });
        let plan = draft.resolve().unwrap();
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        row(&compare_targets(run, "old", "new", &[]), Metric::Throughput).clone()
    })
}

#[test]
fn a_figure_that_holm_alone_keeps_open_says_of_how_many_it_is_one() {
    let open = ComparisonVerdict::Inconclusive;
    let mut kept_open = 0;
    for thousandths in 0..100 {
        let [one_of_all, alone] = both_ways(f64::from(thousandths) / 1e3);
        assert_eq!(alone.open_as_one_of, None, "it is tested with no other");
        assert!(one_of_all.verdict == open || one_of_all.open_as_one_of.is_none(), "{one_of_all:?}");
        let by_holm = one_of_all.verdict == open && alone.verdict != open;
        assert_eq!(one_of_all.open_as_one_of.is_some(), by_holm, "{one_of_all:?} {alone:?}");
        kept_open += u32::from(by_holm);
        assert!(one_of_all.open_as_one_of.is_none_or(|figures| figures == 6), "{one_of_all:?}");
    }
    assert!(kept_open > 2, "{kept_open}");
}
