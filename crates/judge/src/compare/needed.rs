//! About how many blocks would settle a row or a gate that is open.

use std::collections::BTreeMap;

use model::{CompareRow, ComparisonVerdict, Metric, Withheld};

use crate::comparisons::{is_cold, is_open_of_either};
use crate::guard::{Doubt, MARKS};
use crate::launch::Launch;
use crate::needed::{beside, inside, needs_blocks};
use crate::pair::Pair;
use crate::statistics::{Interval, LogRatio};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, CONFIDENCE};

/// Where a change lies however many launches there are: as far as doubts leave it open, and what the machine may have done.
pub(super) struct AtLast {
    /// For who says that one is worse.
    pub(super) apart: Interval,
    /// For who says that they are the same, which allows the machine more.
    pub(super) alike: Interval,
}

impl AtLast {
    fn between(apart: (f64, f64), alike: (f64, f64)) -> Self {
        let interval = |(low, high): (f64, f64)| Interval { estimate: low, low, high };
        AtLast { apart: interval(apart), alike: interval(alike) }
    }
}

impl Pair<'_> {
    /// For a row without a verdict: until it is seen that the two differ, or that they are the same, whichever comes first.
    /// `tests` is by how many Holm multiplies the row's p value.
    fn needs_for_a_verdict(&self, row: &CompareRow, tests: usize) -> Option<u32> {
        let is_open = |at_last: &AtLast| self.is_open(row.metric, at_last);
        let settled = row.verdict != ComparisonVerdict::Inconclusive || row.withheld.is_some();
        if settled || self.open_for_good(row.metric, is_open).is_some() {
            return None;
        }
        let (AtLast { apart, alike }, level) = (self.at_last(row.metric)?, self.significance_after_a_raise());
        let found = self.scatter(row.metric, CONFIDENCE)?;
        let differs = self.needs(&found, beside((apart.low, apart.high), 0.0), 1.0 - level / tests.max(1) as f64);
        let margin = self.margin(row.metric).ln_1p();
        let same = self.needs(&found, inside((alike.low, alike.high), (-margin, margin)), 1.0 - level);
        differs.into_iter().chain(same).min()
    }

    /// Until the change is seen to be on one side of a limit.
    pub(super) fn needs_for_a_side(
        &self,
        metric: Metric,
        limit: f64,
        is_open: impl Fn(&AtLast) -> bool,
    ) -> Option<u32> {
        let found = self.scatter(metric, CONFIDENCE).filter(|_| self.open_for_good(metric, is_open).is_none())?;
        let AtLast { apart, .. } = self.at_last(metric)?;
        let distance = beside((apart.low, apart.high), limit);
        self.needs(&found, distance, 1.0 - self.significance_after_a_raise())
    }

    fn at_last(&self, metric: Metric) -> Option<AtLast> {
        let (low, high) = self.ends(metric, &[&MARKS[..], &[Doubt::Resolution]].concat())?;
        let [apart, alike] = [ComparisonVerdict::Slower, ComparisonVerdict::Same].map(|verdict| {
            let by = self.machine_differs(metric, self.least_uneven(metric, verdict)).map_or(0.0, |(by, _)| by);
            (low - by, high + by)
        });
        Some(AtLast::between(apart, alike))
    }

    /// A row with what would settle it: a number of blocks, or a machine that is less busy.
    pub(super) fn with_needs(&self, row: CompareRow, tests: usize) -> CompareRow {
        let needs_blocks = self.needs_for_a_verdict(&row, tests);
        let is_open = |at_last: &AtLast| self.is_open(row.metric, at_last);
        match needs_blocks.and_then(|blocks| self.too_busy(row.metric, blocks, is_open)) {
            None => CompareRow { needs_blocks, ..row },
            Some(why) => CompareRow {
                withheld: Some(why),
                withheld_of: self.sides(row.metric, why),
                quiet: self.quiet(row.metric),
                ..row
            },
        }
    }

    /// Why so many blocks would not settle it: as busy as the machine is, fewer of them than a verdict needs would be quiet, and
    /// what others can have cost in the rest leaves it open.
    pub(super) fn too_busy(&self, metric: Metric, blocks: u32, is_open: impl Fn(&AtLast) -> bool) -> Option<Withheld> {
        if !self.suffers(metric) || f64::from(blocks) * self.quiet_share(metric) >= BLOCKS_FOR_A_VERDICT as f64 {
            return None;
        }
        if !self.is_bounded(metric) {
            return Some(Withheld::Unbounded);
        }
        let at = |launches| {
            let estimate = self.within(metric, (launches, &[]), CONFIDENCE)?.interval.estimate;
            Some(Interval { estimate, low: estimate, high: estimate })
        };
        let ends = self.as_noise_may_have_it(metric).into_iter().map(|(launches, drawn)| Some(drawn.of(at(launches)?)));
        let interval = ends.reduce(|one, other| Some(one?.hull(&other?)))??;
        let ends = (interval.low, interval.high);
        is_open(&AtLast::between(ends, ends)).then_some(Withheld::Disturbed)
    }

    /// The share of the blocks in which the machine was quiet for both; of two runs the smaller one.
    fn quiet_share(&self, metric: Metric) -> f64 {
        let share = |quiet: &[bool]| quiet.iter().filter(|it| **it).count() as f64 / quiet.len().max(1) as f64;
        let [old, new] = [self.old, self.new].map(|(records, cell)| {
            let of = |launch: &Launch| (launch.record.block, !launch.is_disturbed(metric));
            records.valid(cell).map(of).collect::<BTreeMap<u32, bool>>()
        });
        if self.paired {
            let both: Vec<bool> = old.iter().filter_map(|(block, quiet)| Some(*quiet && *new.get(block)?)).collect();
            return share(&both);
        }
        let alone = |of: BTreeMap<u32, bool>| share(&of.into_values().collect::<Vec<bool>>());
        alone(old).min(alone(new))
    }

    fn needs(&self, found: &LogRatio, distance: f64, confidence: f64) -> Option<u32> {
        // What was asked for comes first.
        if self.unfinished().is_some() {
            return None;
        }
        let begun = self.new.0.blocks().len().min(self.old.0.blocks().len());
        needs_blocks((found.blocks, begun), &found.interval, distance, confidence)
    }

    /// The stricter level of the two runs.
    fn significance_after_a_raise(&self) -> f64 {
        self.new.0.significance_after_a_raise().min(self.old.0.significance_after_a_raise())
    }

    /// Why no number of blocks would settle it, where that is so: a server was cold, or what marks leave open, however sure
    /// the figures are, is open.
    pub(super) fn open_for_good(&self, metric: Metric, is_open: impl Fn(&AtLast) -> bool) -> Option<Withheld> {
        let cells = [self.new, self.old];
        if cells.into_iter().any(|(records, cell)| is_cold(records, cell, metric)) {
            return Some(Withheld::Cold);
        }
        let opens = |doubts: &[Doubt]| {
            let leave_open = |ends: (f64, f64)| ends.0 < ends.1 && is_open(&AtLast::between(ends, ends));
            self.ends(metric, doubts).is_none_or(leave_open)
        };
        let in_doubt = |doubt: &Doubt| is_open_of_either(cells, metric, *doubt);
        let alone = || MARKS.into_iter().find(|doubt| opens(&[*doubt]));
        // What a bucket leaves open is nobody's doing.
        let bucket_opens = || {
            let ends = self.ends(metric, &[&MARKS[..], &[Doubt::Resolution]].concat());
            ends.is_none_or(|ends| is_open(&AtLast::between(ends, ends)))
        };
        let differs = || {
            let (_, why) = self.machine_differs(metric, self.least_uneven(metric, ComparisonVerdict::Slower))?;
            (!bucket_opens() && is_open(&self.at_last(metric)?)).then_some(why)
        };
        match opens(&MARKS) {
            true => alone().or_else(|| MARKS.into_iter().find(in_doubt)).map(Doubt::withheld),
            false => differs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Blocks, CompareAnalysis, Environment, GateVerdict, parse_gates};

    use super::super::{Run, compare_targets};
    use super::*;
    use crate::testing::Session;

    const GATE: &str = "throughput>-1%";

    /// A new server at 97 % of an old one, the ratio of a block off by 4 %: `raised` from how many blocks, where it was.
    fn session(seed: u64, blocks: u32, raised: Option<u32>) -> CompareAnalysis {
        let session = Session::new().cell("new", 9_700.0).cell("old", 10_000.0).noise(0.04 / 2_f64.sqrt()).seed(seed);
        let session = session.blocks(blocks).planned(blocks, blocks);
        let (mut draft, trials) = (session.draft(), session.records());
        draft.blocks_before = raised.iter().map(|blocks| Blocks { min: *blocks, max: *blocks }).collect();
        let plan = draft.resolve().unwrap();
        let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
        compare_targets(run, "old", "new", &parse_gates(GATE).unwrap())
    }

    fn throughput(analysis: &CompareAnalysis) -> &CompareRow {
        analysis.rows.iter().find(|row| row.metric == Metric::Throughput).unwrap()
    }

    fn median(mut of: Vec<u32>) -> u32 {
        of.sort_unstable();
        of[of.len() / 2]
    }

    /// Shares of the open rows and gates that are settled once a run has `share` of the blocks that it was said to need.
    fn settled(share: f64) -> [f64; 2] {
        let (mut rows, mut gates) = ((0, 0), (0, 0));
        for seed in 0..200 {
            let open = session(seed, 12, None);
            let raised = |needed: u32| session(seed, (f64::from(needed) * share).round().max(13.0) as u32, Some(12));
            if let Some(needed) = throughput(&open).needs_blocks.filter(|needed| *needed < 200) {
                rows.0 += u32::from(throughput(&raised(needed)).verdict != ComparisonVerdict::Inconclusive);
                rows.1 += 1;
            }
            if let Some(needed) = open.gates[0].needs_blocks.filter(|needed| *needed < 200) {
                gates.0 += u32::from(raised(needed).gates[0].verdict != GateVerdict::Undecided);
                gates.1 += 1;
            }
        }
        [rows, gates].map(|(settled, open)| f64::from(settled) / f64::from(open.max(1)))
    }

    #[test]
    fn about_so_many_blocks_settle_what_was_open() {
        let (as_said, twice, half) = (settled(1.0), settled(2.0), settled(0.5));
        for at in [0, 1] {
            assert!((0.65..=0.8).contains(&as_said[at]), "{as_said:?}");
            assert!(twice[at] > as_said[at] + 0.1 && half[at] < as_said[at] - 0.1, "{half:?} {as_said:?} {twice:?}");
        }
    }

    /// The gate is 2.04 % away, of which a block's scatter is 4 %: t · 0.04 ÷ √n at 99.5 % is 0.0204 at 35 blocks.
    #[test]
    fn the_number_is_about_that_of_the_truth() {
        let needed = |seed| session(seed, 12, None).gates[0].needs_blocks;
        let open: Vec<u32> = (0..200).filter_map(needed).collect();
        // What is settled needed no more than it has.
        let all = open.iter().copied().chain(vec![12; 200 - open.len()]).collect();
        assert!((22..=48).contains(&median(all)));
        // Those that are open lie nearer to the limit by chance.
        assert!((35..=100).contains(&median(open)));
    }

    /// What was set aside is launched again beside the number that is asked for; what has no figure is not.
    #[test]
    fn the_number_asked_for_makes_as_many_blocks_count_as_are_needed() {
        let session = |blocks: u32| {
            let session = Session::new().cell("new", 9_700.0).cell("old", 10_000.0).noise(0.06);
            session.blocks(blocks).planned(12, 12).repeats(1)
        };
        let of = |plan: &model::Plan, trials: &[model::TrialRecord]| {
            let run = Run { plan, environment: &Environment::default(), trials };
            let analysis = compare_targets(run, "old", "new", &parse_gates(GATE).unwrap());
            (analysis.gates[0].needs_blocks.unwrap_or(0), analysis.blocks)
        };
        let (plan, mut trials) = (session(12).plan(), session(12).records());
        trials.iter_mut().filter(|trial| trial.block > 9).for_each(crate::testing::die);
        let nine: Vec<model::TrialRecord> = trials.iter().filter(|trial| trial.block <= 9).cloned().collect();
        let needed = of(&session(9).planned(9, 9).plan(), &nine).0;
        assert!(needed > 9 && of(&plan, &trials).0 == needed + 3, "three of twelve did not count: {needed}");

        let mut trials = session(13).records();
        trials[0].observation.as_mut().unwrap().host.others_share = 0.3;
        let later = trials.iter().filter(|trial| trial.block > 1).cloned();
        let others: Vec<model::TrialRecord> =
            later.map(|trial| model::TrialRecord { block: trial.block - 1, ..trial }).collect();
        let (needed, counted) = of(&plan, &trials);
        assert!(needed > 12 && counted == 12 && of(&plan, &others).0 == needed, "{needed} {counted}");
        let session = session(15).planned(14, 14);
        let mut trials = session.records();
        trials[0].observation.as_mut().unwrap().host.others_share = 0.3;
        assert_eq!(of(&session.plan(), &trials).1, 14, "one more is launched, in the place of what is set aside");
    }

    /// Of a p99 only quiet launches say anything; a median's loss has a bound, and a small one changes nothing.
    #[test]
    fn where_hardly_a_block_is_quiet_the_busy_machine_is_named_and_no_number() {
        let of = |metric: Metric, busy: u32, share: f64| {
            let session = Session::new().cell("new", 97.0).cell("old", 100.0).noise(0.1).blocks(12).planned(12, 12);
            let (plan, mut trials) = (session.plan(), session.records());
            for trial in trials.iter_mut().filter(|trial| trial.block <= busy) {
                let seen = trial.observation.as_mut().unwrap();
                seen.host = model::HostUse { cpus: 2, steal_share: 0.0, others_share: share };
            }
            let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
            let analysis = compare_targets(run, "old", "new", &parse_gates("p99<+10%").unwrap());
            let row = analysis.rows.iter().find(|row| row.metric == metric).unwrap();
            (row.withheld, row.needs_blocks.is_some(), analysis.gates[0].withheld)
        };
        assert_eq!(of(Metric::P99, 0, 0.3), (None, true, None));
        let (withheld, needs, gate) = of(Metric::P99, 12, 0.3);
        assert_eq!((withheld, needs, gate), (Some(Withheld::Unbounded), false, Some(Withheld::Unbounded)));
        assert_eq!(of(Metric::P50, 12, 0.3).0, Some(Withheld::Disturbed));
        assert!(!of(Metric::P50, 12, 0.3).1);
        assert!(of(Metric::P99, 3, 0.3).1, "three in four are quiet");
    }

    #[test]
    fn more_blocks_are_not_asked_for_where_they_would_not_help() {
        let of = |session: Session| {
            let (plan, trials) = (session.plan(), session.records());
            let run = Run { plan: &plan, environment: &Environment::default(), trials: &trials };
            let analysis = compare_targets(run, "old", "new", &parse_gates(GATE).unwrap());
            (throughput(&analysis).clone(), analysis.gates[0].clone())
        };
        let scattered = || Session::new().cell("new", 97.0).cell("old", 100.0).noise(0.1);
        let (open, gate) = of(scattered());
        assert!(open.needs_blocks.is_some() && gate.needs_blocks.is_some(), "{open:?} {gate:?}");
        for session in [
            scattered().generator_busy(0.95),
            scattered().quick().warm_within(20),
            scattered().blocks(1).planned(1, 1),
            Session::new().cell("new", 80.0).cell("old", 100.0).noise(0.001),
        ] {
            let (open, gate) = of(session);
            assert_eq!((open.needs_blocks, gate.needs_blocks), (None, None), "{open:?} {gate:?}");
        }
    }
}
