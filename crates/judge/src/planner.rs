use std::collections::{BTreeMap, BTreeSet};

use model::{Draft, Measurement, Metric, Next, Plan, Planner, TrialRecord, TrialSpec};

use crate::failing::wrong_replies;
use crate::figures::{counted, percent};
use crate::records::{Records, pairs};
use crate::statistics::{logarithms, t_interval};
use crate::thresholds::BLOCKS_FOR_A_VERDICT;

/// The cell by which a session measures itself: launched twice in each block, it shows what differs without a
/// difference. A short handler delay leaves the scatter visible that waiting would hide, a short launch costs little,
/// and the first target of a plan is the one that the others are held against.
pub fn cell_for_twin(plan: &Draft) -> Option<usize> {
    let cost = |index: &usize| {
        let cell = &plan.cells[*index];
        (cell.handler_delay_ns, cell.load.warm_up_ns + cell.load.window_ns(), *index)
    };
    // Of a ladder only the first rung has nothing before it that a launch of its own would lack.
    plan.launches().into_iter().map(|launch| launch[0]).min_by_key(cost)
}

/// Asks for whole blocks, each with every cell once in random order, until the comparisons are precise enough or the
/// cap is reached. It looks at precision alone, never at what the verdict would be: stopping on a verdict would give
/// false ones. A block in which the machine was disturbed is asked for again, under the next number, as often as the
/// plan allows.
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

    /// The launches of a block in their order, each with its trials: a function of the seed and the block alone.
    fn block(&self, block: u32) -> Vec<Vec<TrialSpec>> {
        let once = self.plan.launches().into_iter().map(|cells| (cells, false));
        let mut launches: Vec<(Vec<usize>, bool)> = once.chain(self.plan.twin.map(|cell| (vec![cell], true))).collect();
        fastrand::Rng::with_seed(mix(self.plan.seed, block)).shuffle(&mut launches);
        let mut positions = 1..;
        let trials = |(cells, twin): (Vec<usize>, bool)| -> Vec<TrialSpec> {
            let trials = cells.into_iter().zip(&mut positions);
            trials.map(|(cell, position)| TrialSpec { block, position, cell, twin }).collect()
        };
        launches.into_iter().map(trials).collect()
    }

    /// What is not recorded of a block. A ladder that lacks a rung is climbed again from its foot: what a rung shows
    /// depends on those before it.
    fn missing(&self, block: u32, recorded: &BTreeSet<(u32, usize, bool)>) -> Vec<TrialSpec> {
        let lacks = |spec: &TrialSpec| !recorded.contains(&(spec.block, spec.cell, spec.twin));
        self.block(block).into_iter().filter(|launch| launch.iter().any(lacks)).flatten().collect()
    }

    /// Half widths, on the log scale, of what must become precise: the ratios of cells that share their conditions, and the throughput of a cell that has no partner. A cell without a single valid launch never
    /// becomes precise however often it is launched, and one that once served nothing right has no ratio: neither counts.
    fn half_widths(&self, records: &Records) -> Vec<Option<f64>> {
        let half_width = |values: &[f64]| t_interval(values).map(|interval| interval.half_width());
        let mut widths = Vec::new();
        for group in self.plan.by_conditions() {
            let serves = |cell: &usize| {
                let rates = records.values(*cell, Metric::Throughput);
                !rates.is_empty() && rates.iter().all(|rate| *rate > 0.0)
            };
            let alive: Vec<usize> = group.into_iter().filter(serves).collect();
            if let [single] = alive[..] {
                widths.push(logarithms(&records.values(single, Metric::Throughput)).and_then(|v| half_width(&v)));
            }
            for ((a, b), metric) in
                pairs(&alive).into_iter().flat_map(|pair| self.plan.precise.iter().map(move |metric| (pair, *metric)))
            {
                let ratios = records.log_ratios(a, b, metric);
                // What cannot be measured here never becomes precise either.
                if metric == Metric::Throughput || !ratios.is_empty() {
                    widths.push(half_width(&ratios));
                }
            }
        }
        widths
    }

    /// What is to be known, in words.
    fn known(&self) -> String {
        let metrics: Vec<String> = self.plan.precise.iter().map(|metric| metric.id().replace('_', " ")).collect();
        format!("{} {}", metrics.join(" and "), if metrics.len() == 1 { "is" } else { "are" })
    }

    /// The widest half width, if each is known.
    fn widest(&self, records: &Records) -> Option<f64> {
        let widths: Option<Vec<f64>> = self.half_widths(records).into_iter().collect();
        widths?.into_iter().reduce(f64::max)
    }

    /// Why further blocks would show nothing: no launch so far has had one right reply, and each that was measured had wrong
    /// content, which makes it void. Of a comparison one such side is enough.
    fn in_vain(&self, records: &Records) -> Option<String> {
        let mut targets: BTreeMap<&str, Vec<Option<&Measurement>>> = BTreeMap::new();
        for launch in records.all() {
            targets.entry(launch.record.levels.target()).or_default().push(launch.record.measurement.as_ref());
        }
        let is_wrong = |measured: &Measurement| measured.accounting.ok == 0 && wrong_replies(measured) > 0;
        let all_wrong = |launches: &[Option<&Measurement>]| {
            launches.iter().flatten().all(|measured| is_wrong(measured)) && launches.iter().flatten().next().is_some()
        };
        let never_up = |launches: &[Option<&Measurement>]| launches.iter().flatten().next().is_none();
        let wrong: Vec<&str> =
            targets.iter().filter(|(_, launches)| all_wrong(launches)).map(|(target, _)| *target).collect();
        let hopeless = targets.values().all(|launches| all_wrong(launches) || never_up(launches));
        let is_over = !wrong.is_empty() && (hopeless || self.plan.comparison.is_some());
        is_over.then(|| {
            format!(
                "not one reply of {} was right, and further blocks would show the same; correct the server, or what is \
                 expected of it, and begin anew",
                wrong.join(", ")
            )
        })
    }

    fn capped(&self, records: &Records) -> String {
        let (least, most) = (self.least(), self.most());
        if least == most {
            return format!("{}, as planned", counted(most.into(), "block", "blocks"));
        }
        match self.widest(records) {
            Some(widest) => format!("the cap of {most} blocks; {} known to ± {}", self.known(), percent(widest)),
            None => format!("the cap of {most} blocks"),
        }
    }
}

impl Planner for BlockPlanner {
    fn next(&self, done: &[TrialRecord]) -> Next {
        let records = Records::new(&self.plan, done);
        let recorded: BTreeSet<_> = done.iter().map(|trial| (trial.block, trial.cell, trial.twin)).collect();
        let repeated = records.repeated().len() as u32;
        let blocks = (1..=self.most() + repeated).filter(|block| !records.repeated().contains_key(block));
        for (before, block) in (0..).zip(blocks) {
            let missing = self.missing(block, &recorded);
            let whole = self.plan.cells.len() + usize::from(self.plan.twin.is_some());
            if missing.is_empty() {
                continue;
            }
            if missing.len() == whole
                && let Some(why) = self.in_vain(&records)
            {
                return Next::Done(why);
            }
            if before >= self.least()
                && missing.len() == whole
                && let Some(widest) = self.widest(&records).filter(|widest| *widest <= self.plan.precision)
            {
                let (known, asked) = (percent(widest), percent(self.plan.precision));
                let what = self.known();
                return Next::Done(format!("{before} blocks: {what} known to ± {known} (asked: {asked})"));
            }
            return Next::Run(missing);
        }
        Next::Done(self.capped(&records))
    }

    fn expected_trials(&self) -> usize {
        (self.plan.cells.len() + usize::from(self.plan.twin.is_some())) * self.least() as usize
    }
}

/// How many blocks a plan has at most, where these are too few for a verdict however its trials end.
pub fn too_few_blocks(plan: &Plan) -> Option<u32> {
    let most = plan.blocks.max.max(plan.blocks.min);
    ((most as usize) < BLOCKS_FOR_A_VERDICT).then_some(most)
}

/// How many blocks a run has begun, those left out that were launched again.
pub fn blocks_begun(plan: &Plan, done: &[TrialRecord]) -> u32 {
    let records = Records::new(plan, done);
    let blocks: BTreeSet<u32> = done.iter().map(|trial| trial.block).collect();
    blocks.into_iter().filter(|block| !records.repeated().contains_key(block)).count() as u32
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
    use model::{ComparePlan, Extent};

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
            (1..=3).map(|k| planner.block(k).iter().flatten().map(|spec| spec.cell).collect()).collect();
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

    /// A session after so many blocks, in which all replies of these targets are wrong.
    fn all_wrong(session: &Session, blocks: u32, targets: &[&str]) -> Vec<TrialRecord> {
        let mut records = session.clone().blocks(blocks).records();
        for trial in records.iter_mut().filter(|trial| targets.contains(&trial.levels.target())) {
            let all = trial.measurement.as_ref().unwrap().accounting.ok;
            crate::testing::wrong_replies(trial, all);
        }
        records
    }

    #[test]
    fn what_has_no_right_reply_ends_with_its_first_block_unless_another_target_has_some() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).planned(6, 12);
        let plan = session.plan();
        let next = |plan: &Plan, records: &[TrialRecord]| BlockPlanner::new(plan).next(records);
        let said = reason(next(&plan, &all_wrong(&session, 1, &["a", "b"])));
        assert!(
            said.starts_with("not one reply of a, b was right, and further blocks would show the same; "),
            "{said}"
        );
        let half = &all_wrong(&session, 1, &["a", "b"])[..1];
        assert_eq!(cells(next(&plan, half)), [1], "the block is made to its end");
        let one = all_wrong(&session, 1, &["b"]);
        assert_eq!(cells(next(&plan, &one)).len(), 2, "the other one serves");
        let mut dead = one.clone();
        dead.iter_mut().filter(|trial| trial.cell == 0).for_each(crate::testing::fail_at_launch);
        assert!(reason(next(&plan, &dead)).starts_with("not one reply of b was right"));
        let mut some = all_wrong(&session, 1, &["a", "b"]);
        some[0].measurement.as_mut().unwrap().accounting.ok = 1;
        assert_eq!(cells(next(&plan, &some)).len(), 2, "one right reply");
        let (old, new) = ("a".to_owned(), "b".to_owned());
        let both = ComparePlan { old, new, gates: Vec::new(), revisions: Vec::new() };
        let compared = plan.with(|draft| draft.comparison = Some(both)).unwrap();
        assert!(reason(next(&compared, &one)).starts_with("not one reply of b was right"), "a comparison needs both");
    }

    #[test]
    fn a_ladder_is_climbed_in_its_order_and_again_from_its_foot() {
        let session = Session::new()
            .delayed("a", 10, 0, 100.0)
            .delayed("b", 10, 0, 100.0)
            .delayed("a", 20, 0, 100.0)
            .delayed("b", 20, 0, 100.0)
            .blocks(1);
        let mut draft = session.draft();
        draft.ladder = Some("connections".to_owned());
        let plan = draft.clone().resolve().unwrap();
        let planner = BlockPlanner::new(&plan);
        for block in 1..=6 {
            let order: Vec<usize> = planner.block(block).iter().flatten().map(|spec| spec.cell).collect();
            assert!(order == [0, 2, 1, 3] || order == [1, 3, 0, 2], "{order:?}");
        }
        let first = planner.block(1)[0][0].cell;
        let done: Vec<TrialRecord> = session.records().into_iter().filter(|trial| trial.cell != first + 2).collect();
        assert_eq!(cells(planner.next(&done)), [first, first + 2]);
        assert_eq!(cell_for_twin(&plan), Some(0));
        draft.cells[0].load.extent = Extent::Window(draft.cells[0].load.window_ns() + 1);
        draft.cells[2].load.extent = Extent::Window(0);
        assert_eq!(cell_for_twin(&draft), Some(1), "a later rung cannot stand alone");
    }

    fn disturb(trial: &mut TrialRecord) {
        trial.observation.as_mut().unwrap().host.steal_share = 0.05;
    }

    #[test]
    fn a_disturbed_block_is_launched_again_as_often_as_the_plan_allows() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).planned(6, 6).repeats(1);
        let planner = BlockPlanner::new(&session.plan());
        let disturbed = |blocks: u32, which: &[u32]| {
            let mut records = session.clone().blocks(blocks).records();
            records.iter_mut().filter(|trial| trial.cell == 1 && which.contains(&trial.block)).for_each(disturb);
            records
        };
        assert_eq!(reason(planner.next(&disturbed(6, &[]))), "6 blocks, as planned");
        let Next::Run(again) = planner.next(&disturbed(6, &[2])) else { panic!("block 7 stands for block 2") };
        assert_eq!(again.iter().map(|spec| spec.block).collect::<Vec<_>>(), [7, 7]);
        assert_eq!(reason(planner.next(&disturbed(7, &[2]))), "6 blocks, as planned");
        assert_eq!(reason(planner.next(&disturbed(7, &[2, 5]))), "6 blocks, as planned", "once, as planned");
        let mut begun = disturbed(7, &[2]);
        begun.pop();
        assert_eq!(cells(planner.next(&begun)).len(), 1, "resuming needs the records alone");
    }

    #[test]
    fn a_twin_is_launched_in_each_block_beside_its_cell() {
        let session = Session::new().cell("a", 100.0).cell("b", 120.0).blocks(6).planned(6, 6).twin();
        let planner = BlockPlanner::new(&session.plan());
        let Next::Run(specs) = planner.next(&[]) else { panic!("nothing is recorded") };
        let mut ids: Vec<String> = specs.iter().map(TrialSpec::id).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["b01-c01", "b01-c01-twin", "b01-c02"]);
        assert_eq!(planner.expected_trials(), 18);
        let mut records = session.records();
        assert_eq!(reason(planner.next(&records)), "6 blocks, as planned");
        records.retain(|trial| !(trial.twin && trial.block == 3));
        let Next::Run(rest) = planner.next(&records) else { panic!("the twin of block 3 is missing") };
        assert_eq!(rest.iter().map(TrialSpec::id).collect::<Vec<_>>(), ["b03-c01-twin"]);
    }

    #[test]
    fn the_twin_is_the_first_of_the_cells_that_wait_and_cost_least() {
        let session = Session::new().delayed("a", 10, 10, 97.0).delayed("a", 10, 0, 97.0).delayed("b", 10, 0, 97.0);
        let mut draft = session.draft();
        assert_eq!(cell_for_twin(&draft), Some(1));
        draft.cells[1].load.extent = Extent::Window(draft.cells[1].load.window_ns() + 1);
        assert_eq!(cell_for_twin(&draft), Some(2));
        draft.cells.clear();
        assert_eq!(cell_for_twin(&draft), None);
    }
}
