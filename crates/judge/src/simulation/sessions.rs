//! Synthetic sessions that go the whole way: the planner says when to stop, and the analysis says what was seen.

use model::{
    Analysis, Blocks, Comparison, ComparisonVerdict, Draft, Environment, Mark, Metric, Next, Plan, Planner, TrialRecord,
};

use super::noise::Noise;
use crate::BlockPlanner;
use crate::testing::{Session, without_course};

/// Requests a second of a target, so many that counting whole replies adds no noise of its own.
const THROUGHPUT: f64 = 10_000.0;

/// Targets with a known truth, launched again until the planner is content.
#[derive(Debug, Clone)]
pub(super) struct Experiment {
    /// Throughput of each target relative to the first.
    pub(super) truth: Vec<f64>,
    /// Standard deviation of the block log ratio of two targets.
    pub(super) ratio_noise: f64,
    /// How they vary.
    pub(super) noise: Noise,
    /// Fewest and most blocks.
    pub(super) blocks: (u32, u32),
    /// Whether the first target is measured against itself.
    pub(super) twin: bool,
}

/// One session, judged.
pub(super) struct Seen {
    pub(super) analysis: Analysis,
}

impl Experiment {
    /// Two targets, the second `ratio` times as fast as the first.
    pub(super) fn pair(ratio: f64, ratio_noise: f64) -> Self {
        Experiment { truth: vec![1.0, ratio], ratio_noise, noise: Noise::Normal, blocks: (6, 12), twin: false }
    }

    /// So many targets of one speed.
    pub(super) fn equals(targets: usize, ratio_noise: f64) -> Self {
        Experiment { truth: vec![1.0; targets], ..Experiment::pair(1.0, ratio_noise) }
    }

    /// Whether two targets are equally fast in truth.
    pub(super) fn are_alike(&self, pair: &Comparison) -> bool {
        let truth = |name: &str| name[1..].parse::<usize>().map(|number| self.truth[number - 1]);
        truth(&pair.a) == truth(&pair.b)
    }

    /// The same number of sessions for every row, each with a seed of its own.
    pub(super) fn sessions(&self, count: u32) -> impl Iterator<Item = Seen> + '_ {
        (0..count).map(|seed| self.session(seed.into()))
    }

    fn session(&self, seed: u64) -> Seen {
        let (session, records) = self.launched(seed);
        self.look(&session.draft(), &records)
    }

    /// Sessions in which somebody looks when the planner is content, and asks for 24 blocks, then for 48 and 96, unless the first
    /// two targets are settled: the last look, and how many blocks it had.
    pub(super) fn raised(&self, first: Blocks, margin: f64, count: u32) -> impl Iterator<Item = (Seen, u32)> + '_ {
        (0..count).map(move |seed| {
            let (session, records) = self.launched(seed.into());
            let mut draft = Draft { blocks: first, margin, ..session.draft() };
            let mut seen = self.look(&draft, &records);
            for blocks in [24, 48, 96] {
                if seen.verdict() != Some(ComparisonVerdict::Inconclusive) {
                    break;
                }
                draft.raise(blocks);
                seen = self.look(&draft, &records);
            }
            let blocks = seen.analysis.blocks;
            (seen, blocks)
        })
    }

    /// What a plan comes to with the blocks that its planner asks for.
    fn look(&self, draft: &Draft, records: &[TrialRecord]) -> Seen {
        let plan = draft.clone().resolve().expect("a session can be carried out");
        let used = until_content(&plan, records, self.launches());
        Seen { analysis: crate::analyse(&plan, &Environment::default(), used) }
    }

    /// The session, and the records of as many blocks as it may have.
    fn launched(&self, seed: u64) -> (Session, Vec<TrialRecord>) {
        let (least, most) = self.blocks;
        let names = (1..).map(|number| format!("t{number}"));
        let session = names.zip(&self.truth).fold(Session::new().planned(least, most), |session, (name, truth)| {
            session.cell(&name, THROUGHPUT * truth)
        });
        let session = if self.twin { session.twin() } else { session };
        let mut records = session.records_of(&self.disturbances(&mut fastrand::Rng::with_seed(seed)));
        records.iter_mut().for_each(keep_throughput);
        (session, records)
    }

    /// What each cell is off by in each block. The log ratio of two cells is the difference of two such values, so
    /// each has its standard deviation divided by √2. What is not noise (a bad block, a trend) befalls the first target
    /// alone: what befalls all falls out of their ratios.
    fn disturbances(&self, rng: &mut fastrand::Rng) -> Vec<Vec<f64>> {
        let blocks = self.blocks.1 as usize;
        let apart = self.noise.fault(blocks, rng);
        let cells: Vec<Vec<f64>> = (0..self.launches()).map(|_| self.noise.scatter(blocks, rng)).collect();
        let off = |cell: usize, block: usize| {
            let fault = if cell == 0 { apart[block] } else { 0.0 };
            self.ratio_noise * (cells[cell][block] / std::f64::consts::SQRT_2 + fault)
        };
        (0..blocks).map(|block| (0..cells.len()).map(|cell| off(cell, block)).collect()).collect()
    }

    /// Launches in a block.
    fn launches(&self) -> usize {
        self.truth.len() + usize::from(self.twin)
    }
}

/// The records of the blocks that the planner asks for, of so many launches each.
pub(super) fn until_content<'a>(plan: &Plan, records: &'a [TrialRecord], launches: usize) -> &'a [TrialRecord] {
    let mut planner = BlockPlanner::new(plan);
    let mut done = plan.blocks.min as usize * launches;
    records[..done].iter().for_each(|record| planner.take(record));
    while done < records.len() && matches!(planner.next(), Next::Run(_)) {
        let block = done..done + launches;
        records[block.clone()].iter().for_each(|record| planner.take(record));
        done = block.end;
    }
    &records[..done]
}

impl Seen {
    /// The throughput comparisons.
    pub(super) fn throughput(&self) -> impl Iterator<Item = &Comparison> {
        self.analysis.comparisons.iter().filter(|comparison| comparison.metric == Metric::Throughput)
    }

    /// The throughput verdict on the first two targets.
    pub(super) fn verdict(&self) -> Option<ComparisonVerdict> {
        Some(self.throughput().next()?.verdict)
    }

    /// Whether the interval of the first two targets holds `first ÷ second`.
    pub(super) fn covers(&self, ratio: f64) -> bool {
        let bounds = self.throughput().next().and_then(|pair| Some((pair.ratio.low?, pair.ratio.high?)));
        bounds.is_some_and(|(low, high)| low <= ratio && ratio <= high)
    }

    /// Distinguishable pairs whose ranks say otherwise; of which one has no rank, the ranks say nothing.
    pub(super) fn contradictions(&self) -> usize {
        let group = self.analysis.groups.iter().find(|group| group.metric == Metric::Throughput);
        let rank = |name: &str| group?.ranks.iter().find(|rank| rank.target == name)?.rank;
        let is_contradicted = |pair: &&Comparison| {
            rank(&pair.a).zip(rank(&pair.b)).is_some_and(|(a, b)| match pair.verdict {
                ComparisonVerdict::Faster => a >= b,
                ComparisonVerdict::Slower => a <= b,
                _ => false,
            })
        };
        self.throughput().filter(is_contradicted).count()
    }

    /// Half of the interval of a target against itself, by throughput, on the log scale.
    pub(super) fn noise(&self) -> Option<f64> {
        let ratio = &self.analysis.session.itself.first()?.ratio;
        Some((ratio.high? / ratio.low?).ln() / 2.0)
    }

    /// Whether the session as a whole is marked.
    pub(super) fn marked(&self, mark: Mark) -> bool {
        self.analysis.session.marks.iter().any(|note| note.mark() == mark)
    }
}

/// Leaves the other metrics out, which would only cost time: each is a family of comparisons of its own.
fn keep_throughput(trial: &mut TrialRecord) {
    trial.observation = None;
    without_course(trial);
    if let Some(measured) = &mut trial.measurement {
        measured.latency_us = model::Latencies::default();
    }
}

/// Whether a comparison distinguishes its targets.
pub(super) fn tells_apart(comparison: &Comparison) -> bool {
    matches!(comparison.verdict, ComparisonVerdict::Faster | ComparisonVerdict::Slower)
}
