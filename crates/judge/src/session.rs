//! What is known of the session, all launches of a run, as a whole: what makes every interval in it less sure.

use model::{
    CellPlan, Comparison, ComparisonVerdict, CpuShare, MarkCause, MarkNote, Measured, Metric, Plan, RepeatedBlock,
    SessionAnalysis,
};

use crate::comparisons::compare_with_itself;
use crate::launch::{ByCell, Launch};
use crate::records::{self, Records};
use crate::statistics::{Steadiness, about_their_mean, steadiness};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, SIGNIFICANCE};

/// Looks at the blocks of all cells together.
pub(crate) fn analyse(records: &Records) -> SessionAnalysis {
    let itself = compare_with_itself(records);
    let mut marks: Vec<MarkNote> = noisy(&itself).into_iter().collect();
    marks.extend(order_marks(records));
    SessionAnalysis { itself, repeated: repeated(records), marks, cpus: Some(cpus(records.plan)) }
}

/// On which CPUs both sides ran.
fn cpus(plan: &Plan) -> CpuShare {
    let of_cell =
        |cell: &CellPlan| if cell.target_cpus.is_empty() { &plan.target_cpus } else { &cell.target_cpus }.clone();
    let mut sets: Vec<Vec<u32>> = plan.cells.iter().map(of_cell).collect();
    sets.dedup();
    CpuShare {
        generator: plan.generator.cpus.clone(),
        targets: sets.pop().filter(|_| sets.is_empty()),
        nodes: plan.generator.nodes,
    }
}

/// A session that tells a target from itself.
fn noisy(itself: &[Comparison]) -> Option<MarkNote> {
    let differs = |c: &&Comparison| matches!(c.verdict, ComparisonVerdict::Faster | ComparisonVerdict::Slower);
    let differing: Vec<_> = itself.iter().filter(differs).filter_map(against_itself).collect();
    (!differing.is_empty()).then(|| MarkNote::new(MarkCause::Itself(differing)))
}

fn against_itself(found: &Comparison) -> Option<(String, Metric, Measured)> {
    found.ratio.low.map(|_| (found.a.clone(), found.metric, found.ratio.clone()))
}

fn repeated(records: &Records) -> Vec<RepeatedBlock> {
    let block = |(block, launches): (&u32, &ByCell)| {
        let disturbance =
            |launch: &Launch| records::disturbance(records.plan, launch).map(|why| (launch.record.id.clone(), why));
        let (trial, why) = launches.values().find_map(disturbance)?;
        Some(RepeatedBlock { block: *block, arm: None, trial, why })
    };
    records.repeated().iter().filter_map(block).collect()
}

/// Marks for what a t interval takes for granted, that the order of the blocks does not matter.
fn order_marks(records: &Records) -> Vec<MarkNote> {
    let series = throughput_about_the_mean(records);
    let Some(found) = steadiness(&series) else { return Vec::new() };
    let blocks = series[0].len();
    [drift(&found, blocks), correlated(&found, blocks)].into_iter().flatten().collect()
}

fn drift(found: &Steadiness, blocks: usize) -> Option<MarkNote> {
    let p = found.trend_p;
    (p < SIGNIFICANCE).then(|| MarkNote::new(MarkCause::Drift { blocks, p }))
}

fn correlated(found: &Steadiness, blocks: usize) -> Option<MarkNote> {
    let (correlation, p) = (found.correlation, found.correlation_p);
    // The mean over all orders of the blocks, since values about their mean sum to nothing.
    let by_chance = -1.0 / blocks as f64;
    let cause = MarkCause::Correlated { blocks, correlation, by_chance, p };
    (p < SIGNIFICANCE).then(|| MarkNote::new(cause))
}

/// The logarithm of each cell's throughput relative to its partners', over the blocks that all of them have. Cells
/// without enough values for a verdict are left out, for one dead target must not hide a drift of the others.
fn throughput_about_the_mean(records: &Records) -> Vec<Vec<f64>> {
    let alive = |cell: &usize| records.values(*cell, Metric::Throughput).len() >= BLOCKS_FOR_A_VERDICT;
    let groups: Vec<Vec<usize>> = records
        .plan
        .by_conditions()
        .into_iter()
        .map(|group| group.into_iter().filter(alive).collect())
        .filter(|group: &Vec<usize>| group.len() >= 2)
        .collect();
    let logarithm = |cell: usize, block: u32| {
        let value = records.value(cell, block, Metric::Throughput)?;
        (value > 0.0).then(|| value.ln())
    };
    let mut blocks = records.blocks().to_vec();
    blocks.retain(|block| groups.iter().flatten().all(|cell| logarithm(*cell, *block).is_some()));
    if blocks.len() < BLOCKS_FOR_A_VERDICT {
        return Vec::new();
    }
    let series = |cell: &usize| blocks.iter().filter_map(|block| logarithm(*cell, *block)).collect();
    groups.iter().flat_map(|group| about_their_mean(&group.iter().map(series).collect::<Vec<_>>())).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Draft, Environment, LimitCause, Mark, Shortfall, Standstills, Why};

    use super::*;
    use crate::testing::{Session, fail_at_launch};

    fn marks(session: &Session) -> Vec<Mark> {
        session.analyse().session.marks.into_iter().map(|note| note.mark()).collect()
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
        assert!(matches!(notes[0].cause, MarkCause::Drift { blocks: 8, p } if p < 0.05), "{notes:?}");
    }

    #[test]
    fn a_target_against_itself_is_the_session_s_noise_and_no_comparison() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).noise(0.01).twin();
        let analysis = session.analyse();
        let itself = &analysis.session.itself;
        assert_eq!((itself[0].metric, itself[0].a.as_str(), itself[0].b.as_str()), (Metric::Throughput, "a", "a"));
        assert!(itself.iter().all(|found| found.verdict == ComparisonVerdict::Same), "{itself:?}");
        assert!(analysis.session.marks.iter().all(|note| note.mark() != Mark::Noisy));
        assert_eq!((analysis.cells.len(), analysis.cells[0].trials, analysis.trials.total), (2, 6, 18));
        let pairs: BTreeSet<(&str, &str)> = analysis.comparisons.iter().map(|it| (&*it.a, &*it.b)).collect();
        assert_eq!(pairs, BTreeSet::from([("a", "b")]));
        assert_eq!(analysis.groups[0].ranks.len(), 2);
    }

    #[test]
    fn a_session_that_tells_a_target_from_itself_is_noisy() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).noise(0.01).twin();
        let noise = |block: usize| if block.is_multiple_of(2) { 0.005 } else { -0.005 };
        let blocks: Vec<Vec<f64>> = (0..6).map(|block| vec![0.2 + noise(block), 0.0, 0.0]).collect();
        let analysis = session.analyse_these(&session.records_of(&blocks));
        let note = &analysis.session.marks[0];
        assert_eq!(note.mark(), Mark::Noisy);
        assert!(report::note_words(note).starts_with("a against itself, throughput: 1.22 ("), "{note:?}");
    }

    #[test]
    fn a_block_that_was_repeated_is_named_and_not_used() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).blocks(7).repeats(1);
        let mut records = session.records();
        records[3].observation.as_mut().unwrap().host.others_share = 0.3;
        let analysis = session.analyse_these(&records);
        let why = Why::Mark(MarkCause::Taken { cpus: 1, steal_share: None, others_share: Some(0.3) });
        let trial = "b02-c02".to_owned();
        assert_eq!(analysis.session.repeated, [RepeatedBlock { block: 2, arm: None, trial, why }]);
        assert_eq!((analysis.blocks, analysis.cells[0].trials, analysis.trials.total), (6, 6, 14));
        assert_eq!(analysis.cells.iter().map(|cell| cell.set_aside).collect::<Vec<u32>>(), [1, 1]);
        let old = Session::new().cell("a", 100.0).cell("b", 120.0).blocks(7);
        let kept = old.analyse_these(&records);
        assert_eq!((kept.blocks, kept.session.repeated.len()), (7, 0), "a plan that repeats none uses all");
    }

    #[test]
    fn a_block_in_which_the_generator_stood_still_on_its_own_cpus_is_repeated() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).blocks(7).repeats(1);
        let mut records = session.records();
        records[3].measurement.as_mut().unwrap().standstills =
            Some(Standstills { sum_s: 1.0, ..Standstills::default() });
        let repeated = |change: &dyn Fn(&mut Draft)| {
            let mut draft = session.draft();
            draft.generator.cpus = vec![1];
            draft.cells.iter_mut().for_each(|cell| cell.target_cpus = vec![0]);
            change(&mut draft);
            crate::analyse(&draft.resolve().unwrap(), &Environment::default(), &records).session.repeated
        };
        let why = Why::Limit(LimitCause::Blind(Shortfall::StoodStill { for_s: 1.0, window_s: 10.0 }));
        let trial = "b02-c02".to_owned();
        assert_eq!(repeated(&|_| ()), [RepeatedBlock { block: 2, arm: None, trial, why }]);
        // What the target takes of a CPU must not choose the blocks that count.
        assert_eq!(repeated(&|plan| plan.cells[1].target_cpus = vec![0, 1]), []);
        assert_eq!(repeated(&|plan| plan.cells[1].target_cpus = vec![]), []);
        assert_eq!(repeated(&|plan| plan.generator.threads = 2), []);
        assert_eq!(repeated(&|plan| plan.cells[1].load.network_delay_ns = 1_000_000), []);
    }
}
