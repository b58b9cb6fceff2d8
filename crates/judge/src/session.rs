//! What is known of the session as a whole: what makes every interval in it less sure.

use model::{Mark, MarkNote, Metric, SessionAnalysis};

use crate::records::{Records, by_conditions};
use crate::statistics::{Steadiness, about_their_mean, steadiness};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, SIGNIFICANCE};

/// Looks at the blocks of all cells together.
pub(crate) fn analyse(records: &Records) -> SessionAnalysis {
    SessionAnalysis { marks: order_marks(records) }
}

/// Marks for what a t interval takes for granted, that the order of the blocks does not matter.
fn order_marks(records: &Records) -> Vec<MarkNote> {
    let series = throughput_about_the_mean(records);
    let Some(found) = steadiness(&series) else { return Vec::new() };
    let blocks = series[0].len();
    [drift(&found, blocks), correlated(&found, blocks)].into_iter().flatten().collect()
}

fn drift(found: &Steadiness, blocks: usize) -> Option<MarkNote> {
    let text = format!("throughput over {blocks} blocks, p = {:.3}", found.trend_p);
    (found.trend_p < SIGNIFICANCE).then_some(MarkNote { mark: Mark::Drift, text })
}

fn correlated(found: &Steadiness, blocks: usize) -> Option<MarkNote> {
    let (r, p) = (found.correlation, found.correlation_p);
    let text = format!("throughput over {blocks} blocks, lag-1 correlation {r:.2}, p = {p:.3}");
    (p < SIGNIFICANCE).then_some(MarkNote { mark: Mark::Correlated, text })
}

/// The logarithm of each cell's throughput relative to its partners', over the blocks that all of them have. Cells
/// without enough values for a verdict are left out, for one dead target must not hide a drift of the others.
fn throughput_about_the_mean(records: &Records) -> Vec<Vec<f64>> {
    let alive = |cell: &usize| records.values(*cell, Metric::Throughput).len() >= BLOCKS_FOR_A_VERDICT;
    let groups: Vec<Vec<usize>> = by_conditions(records.plan)
        .into_iter()
        .map(|group| group.into_iter().filter(alive).collect())
        .filter(|group: &Vec<usize>| group.len() >= 2)
        .collect();
    let logarithm = |cell: usize, block: u32| {
        let value = records.value(cell, block, Metric::Throughput)?;
        (value > 0.0).then(|| value.ln())
    };
    let mut blocks = records.blocks();
    blocks.retain(|block| groups.iter().flatten().all(|cell| logarithm(*cell, *block).is_some()));
    if blocks.len() < BLOCKS_FOR_A_VERDICT {
        return Vec::new();
    }
    let series = |cell: &usize| blocks.iter().filter_map(|block| logarithm(*cell, *block)).collect();
    groups.iter().flat_map(|group| about_their_mean(&group.iter().map(series).collect::<Vec<_>>())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Session, fail_at_launch};

    fn marks(session: &Session) -> Vec<Mark> {
        session.analyse().session.marks.into_iter().map(|note| note.mark).collect()
    }

    fn three() -> Session {
        Session::new().cell("a", 100.0).cell("b", 120.0).cell("c", 90.0).noise(0.005).blocks(8).seed(7)
    }

    #[test]
    fn a_target_that_drifts_away_from_the_others_is_said() {
        assert_eq!(marks(&three()), []);
        assert!(marks(&three().drift(0.01)).contains(&Mark::Drift));
        assert_eq!(marks(&three().drift(0.01).blocks(5)), [], "too few blocks to say");
    }

    #[test]
    fn what_all_targets_share_falls_out_and_a_dead_one_hides_nothing() {
        assert_eq!(marks(&three().block_noise(0.3)), []);
        let session = three().drift(0.01);
        let mut records = session.records();
        records.iter_mut().filter(|trial| trial.cell == 2).for_each(fail_at_launch);
        let notes = session.analyse_these(&records).session.marks;
        assert!(notes[0].text.starts_with("throughput over 8 blocks, p = 0.0"), "{notes:?}");
    }
}
