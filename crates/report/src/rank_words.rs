//! What ranks are worth.

use model::{Analysis, Metric, RankGroup};

/// What ranks are sure of where there are several tables: each is a family of tests of its own.
pub(crate) fn several_tables(analysis: &Analysis) -> Option<String> {
    let of_a_table = |group: &&RankGroup| group.metric == Metric::Throughput;
    let is_ranked = |group: &&RankGroup| group.ranks.iter().filter(|rank| rank.rank.is_some()).count() >= 2;
    let tables = analysis.groups.iter().filter(of_a_table).filter(is_ranked).count();
    let chance = 1.0 - 0.95_f64.powi(i32::try_from(tables).unwrap_or(i32::MAX));
    (tables >= 2).then(|| {
        format!(
            "Ranks: 95 % sure for each of {tables} tables by itself; in one of them or another chance alone ranks equals in up to \
             {:.0} % of runs",
            100.0 * chance
        )
    })
}
