//! What ranks are worth.

use model::Analysis;

/// What ranks are sure of where there are several tables.
pub(crate) fn several_tables(analysis: &Analysis) -> Option<String> {
    let all = analysis.rank_chance.as_ref()?;
    Some(format!(
        "Ranks: 95 % sure for each of {} tables by itself; in one of them or another chance alone ranks equals in up to {:.0} % \
         of runs",
        all.tables,
        100.0 * all.chance
    ))
}
