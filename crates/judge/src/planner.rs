use std::collections::BTreeSet;

use model::{Metric, Next, Plan, Planner, TrialRecord, TrialSpec};

use crate::figures::percent;
use crate::records::{Records, by_conditions, pairs};
use crate::statistics::{logarithms, t_interval};

/// Asks for whole blocks, each with every cell once in random order, until the comparisons are precise enough or the
/// cap is reached. It looks at precision alone, never at what the verdict would be: stopping on a verdict would give
/// false ones.
#[derive(Debug, Clone)]
pub struct BlockPlanner {
    plan: Plan,
}

impl BlockPlanner {
    /// A planner for the plan's cells, blocks, precision and seed.
    pub fn new(plan: &Plan) -> Self {
        BlockPlanner { plan: plan.clone() }
    }

    fn least(&self) -> u32 {
        self.plan.blocks.min.max(1)
    }

    fn most(&self) -> u32 {
        self.plan.blocks.max.max(self.least())
    }

    /// The trials of a block in their order, a function of the seed and the block alone.
    fn block(&self, block: u32) -> Vec<TrialSpec> {
        let mut cells: Vec<usize> = (0..self.plan.cells.len()).collect();
        fastrand::Rng::with_seed(mix(self.plan.seed, block)).shuffle(&mut cells);
        (1..).zip(cells).map(|(position, cell)| TrialSpec { block, position, cell }).collect()
    }

    /// Half widths, on the log scale, of what must become precise: the throughput ratios of cells that share their
    /// conditions, and the throughput of a cell that has no partner. A cell without a single valid launch never
    /// becomes precise however often it is launched, so it does not count.
    fn half_widths(&self, done: &[TrialRecord]) -> Vec<Option<f64>> {
        let records = Records::new(&self.plan, done);
        let half_width = |values: &[f64]| t_interval(values).map(|interval| interval.half_width());
        let mut widths = Vec::new();
        for group in by_conditions(&self.plan) {
            let alive: Vec<usize> = group.into_iter().filter(|cell| records.valid(*cell).next().is_some()).collect();
            if let [single] = alive[..] {
                widths.push(logarithms(&records.values(single, Metric::Throughput)).and_then(|v| half_width(&v)));
            }
            widths.extend(
                pairs(&alive).into_iter().map(|(a, b)| half_width(&records.log_ratios(a, b, Metric::Throughput))),
            );
        }
        widths
    }

    /// The widest half width, if each is known.
    fn widest(&self, done: &[TrialRecord]) -> Option<f64> {
        let widths: Option<Vec<f64>> = self.half_widths(done).into_iter().collect();
        widths?.into_iter().reduce(f64::max)
    }

    fn capped(&self, done: &[TrialRecord]) -> String {
        let (least, most) = (self.least(), self.most());
        if least == most {
            return format!("{most} {}, as planned", if most == 1 { "block" } else { "blocks" });
        }
        match self.widest(done) {
            Some(widest) => format!("the cap of {most} blocks; throughput is known to ± {}", percent(widest)),
            None => format!("the cap of {most} blocks"),
        }
    }
}

impl Planner for BlockPlanner {
    fn next(&self, done: &[TrialRecord]) -> Next {
        let recorded: BTreeSet<(u32, usize)> = done.iter().map(|trial| (trial.block, trial.cell)).collect();
        for block in 1..=self.most() {
            let mut missing = self.block(block);
            missing.retain(|spec| !recorded.contains(&(spec.block, spec.cell)));
            if missing.is_empty() {
                continue;
            }
            let untouched = missing.len() == self.plan.cells.len();
            if block > self.least()
                && untouched
                && let Some(widest) = self.widest(done).filter(|widest| *widest <= self.plan.precision)
            {
                let (known, asked) = (percent(widest), percent(self.plan.precision));
                return Next::Done(format!("{} blocks: throughput is known to ± {known} (asked: {asked})", block - 1));
            }
            return Next::Run(missing);
        }
        Next::Done(self.capped(done))
    }

    fn expected_trials(&self) -> usize {
        self.plan.cells.len() * self.least() as usize
    }
}

/// One seed from two, each bit of either touching all of it (the finaliser of SplitMix64, Steele et al. 2014).
fn mix(seed: u64, block: u32) -> u64 {
    let mut z = seed.wrapping_add(u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Session;

    fn five_cells() -> Session {
        ["a", "b", "c", "d", "e"].into_iter().fold(Session::new(), |session, name| session.cell(name, 100.0))
    }

    fn cells(next: Next) -> Vec<usize> {
        match next {
            Next::Run(specs) => specs.iter().map(|spec| spec.cell).collect(),
            Next::Done(reason) => panic!("done: {reason}"),
        }
    }

    fn reason(next: Next) -> String {
        match next {
            Next::Done(reason) => reason,
            Next::Run(specs) => panic!("{specs:?}"),
        }
    }

    /// A recorded order: resuming an old run must give the same one, so a change in fastrand must be noticed.
    #[test]
    fn the_order_is_golden() {
        let planner = BlockPlanner::new(&five_cells().plan());
        let orders: Vec<Vec<usize>> =
            (1..=3).map(|k| planner.block(k).iter().map(|spec| spec.cell).collect()).collect();
        assert_eq!(orders, [[0, 2, 3, 4, 1], [1, 3, 0, 4, 2], [1, 4, 2, 3, 0]]);
    }

    #[test]
    fn a_block_is_every_cell_once_and_resuming_gives_the_rest_in_order() {
        let session = five_cells().blocks(1);
        let planner = BlockPlanner::new(&session.plan());
        let all = cells(planner.next(&[]));
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        let done: Vec<TrialRecord> =
            session.records().into_iter().filter(|trial| all[..2].contains(&trial.cell)).collect();
        let Next::Run(rest) = planner.next(&done) else { panic!("three are left") };
        assert_eq!(rest.iter().map(|spec| spec.cell).collect::<Vec<_>>(), all[2..]);
        assert_eq!(rest.iter().map(|spec| spec.position).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(planner.expected_trials(), 30);
    }

    #[test]
    fn it_stops_on_precision_on_the_cap_or_as_planned() {
        let precise = Session::new().cell("a", 100.0).cell("b", 120.0).noise(0.002).blocks(6).planned(6, 12);
        let next = |session: &Session| BlockPlanner::new(&session.plan()).next(&session.records());
        let said = reason(next(&precise));
        assert!(said.starts_with("6 blocks: throughput is known to ± 0."), "{said}");
        let rough = Session::new().cell("a", 100.0).cell("b", 120.0).noise(0.2).planned(6, 12);
        assert_eq!(cells(next(&rough.clone().blocks(6))).len(), 2, "a seventh block");
        let said = reason(next(&rough.blocks(12)));
        assert!(said.starts_with("the cap of 12 blocks; throughput is known to ± "), "{said}");
        let mut begun = precise.clone().blocks(7).records();
        begun.pop();
        assert_eq!(cells(BlockPlanner::new(&precise.plan()).next(&begun)), [1], "a block that was begun is ended");
        let planned = Session::new().cell("a", 100.0).noise(0.2).blocks(6).planned(6, 6);
        assert_eq!(reason(next(&planned)), "6 blocks, as planned");
    }

    #[test]
    fn void_trials_are_not_launched_again_and_dead_targets_do_not_hold_up_the_end() {
        let session = Session::new().cell("a", 100.0).cell("dead", 100.0).noise(0.002).blocks(6).planned(6, 12);
        let mut records = session.records();
        for trial in records.iter_mut().filter(|trial| trial.cell == 1) {
            crate::testing::fail_at_launch(trial);
        }
        let said = reason(BlockPlanner::new(&session.plan()).next(&records));
        assert!(said.starts_with("6 blocks: "), "{said}");
    }
}
