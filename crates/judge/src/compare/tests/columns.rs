//! The columns of a table of which some launches do not count.

use super::*;

/// Blocks that get slower and slower, of which the new server's first three do not count.
fn a_slow_start() -> CompareAnalysis {
    let session = session(90.0, 100.0, 0.001).blocks(9).planned(9, 9);
    let slower = |block: u32| vec![-0.3 * f64::from(block); 2];
    let (plan, mut trials) = (session.plan(), session.records_of(&(1..=9).map(slower).collect::<Vec<_>>()));
    trials.iter_mut().filter(|trial| trial.cell == 1 && trial.block <= 3).for_each(crate::testing::die);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    compare_targets(run, "old", "new", &[])
}

#[test]
fn the_columns_are_of_the_launches_that_the_ratio_is_of() {
    let analysis = a_slow_start();
    for metric in [Metric::Throughput, Metric::P50] {
        let found = row(&analysis, metric);
        let [old, new, ratio] = [&found.old, &found.new, &found.ratio].map(|of| of.estimate.unwrap());
        assert!((new / old / ratio - 1.0).abs() < 1e-9, "{metric}: {new} ÷ {old} is not {ratio}");
    }
    assert_eq!(
        analysis.cells.iter().map(|of| of.cell.trials).collect::<Vec<_>>(),
        [6, 9],
        "each alone has all of its own"
    );
}

#[test]
fn launches_of_different_blocks_have_no_ratio() {
    let session = session(90.0, 100.0, 0.001).blocks(2).planned(2, 2);
    let (plan, mut trials) = (session.plan(), session.records());
    let is_meant = |trial: &&mut TrialRecord| trial.cell as u32 + 1 == trial.block;
    trials.iter_mut().filter(is_meant).for_each(crate::testing::die);
    let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
    let analysis = compare_targets(run, "old", "new", &[]);
    let found = row(&analysis, Metric::Throughput);
    assert!(found.old.estimate.is_some() && found.new.estimate.is_some());
    assert_eq!(found.ratio.estimate, None, "one of the first block ÷ one of the second");
}
