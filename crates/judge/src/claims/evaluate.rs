use std::collections::{BTreeMap, BTreeSet};

use model::{
    Call, Claim, ClaimAnalysis, ClaimNote, ClaimPart, ClaimVerdict, Expectation, FewCores, Measured, Metric, Unit,
    Withheld,
};

use super::verdict::{distance, verdict};
use crate::guard::{self, Doubt, MARKS, Range, Side, noise, range};
use crate::needed::needs_blocks;
use crate::records::Records;
use crate::resolve::{ClaimError, ResolvedClaim, resolve_claim};
use crate::statistics::{Interval, logarithms, mean, t_interval_at};
use crate::thresholds::{BLOCKS_FOR_A_VERDICT, CONFIDENCE};

/// Evaluates a claim over the blocks of a run on a machine with so many cores (0: not known). A claim that cannot be
/// tested says why in its notes.
pub(crate) fn evaluate(records: &Records, claim: &Claim, cores: u32) -> ClaimAnalysis {
    if let Some(reason) = &claim.not_testable {
        return not_testable(claim, vec![ClaimNote::Said(reason.clone())]);
    }
    match resolve_claim(records.plan, claim) {
        Ok(resolved) => ClaimTest { records, claim, resolved, cores }.analysis(),
        Err(ClaimError::AbsentTarget { name: target, reason, .. }) => {
            not_testable(claim, vec![ClaimNote::Absent { target, reason }])
        }
        Err(error) => not_testable(claim, vec![ClaimNote::Unfit(error.to_string())]),
    }
}

fn not_testable(claim: &Claim, notes: Vec<ClaimNote>) -> ClaimAnalysis {
    ClaimAnalysis {
        name: claim.name.clone(),
        says: claim.says.clone(),
        conditions: claim.conditions.clone(),
        expect: claim.expect.clone().into(),
        answers: claim.answers.clone(),
        published: claim.published_value,
        measured: Measured { estimate: None, low: None, high: None, unit: Unit::None },
        parts: Vec::new(),
        blocks: 0,
        verdict: ClaimVerdict::NotTestable,
        not_refuted: None,
        withheld: None,
        notes,
        needs_blocks: None,
    }
}

/// A claim under test.
pub(super) struct ClaimTest<'a> {
    pub(super) records: &'a Records<'a>,
    pub(super) claim: &'a Claim,
    pub(super) resolved: ResolvedClaim,
    pub(super) cores: u32,
}

/// The block values on the scale on which they vary evenly.
pub(super) struct Scaled {
    pub(super) values: Vec<f64>,
    pub(super) log: bool,
}

impl Scaled {
    fn new(values: &[f64], ratio: bool) -> Self {
        match logarithms(values).filter(|_| ratio) {
            Some(values) => Scaled { values, log: true },
            None => Scaled { values: values.to_vec(), log: false },
        }
    }

    fn onto(&self, value: f64) -> f64 {
        if self.log { value.max(0.0).ln() } else { value }
    }

    fn back(&self, value: f64) -> f64 {
        if self.log { value.exp() } else { value }
    }

    /// The t interval of the values, widened to that of the ends of their ranges. An end that nothing bounds in one block
    /// is not bounded at all. None under two blocks.
    fn interval(&self, ranges: &[Range], confidence: f64) -> Option<Interval> {
        let plain = t_interval_at(&self.values, confidence)?;
        let ends = |end: fn(&Range) -> f64| -> Option<Interval> {
            let values: Vec<f64> = ranges.iter().map(|range| self.onto(end(range))).collect();
            if values.iter().all(|value| value.is_finite()) { t_interval_at(&values, confidence) } else { None }
        };
        let low = ends(|range| range.low).map_or(f64::NEG_INFINITY, |interval| interval.low);
        let high = ends(|range| range.high).map_or(f64::INFINITY, |interval| interval.high);
        Some(Interval { low: plain.low.min(low), high: plain.high.max(high), ..plain })
    }
}

/// What the blocks say.
pub(super) struct Outcome {
    pub(super) verdict: ClaimVerdict,
    /// What the figures alone say, were nothing in doubt.
    pub(super) plainly: ClaimVerdict,
    /// What took the verdict back.
    pub(super) because: Vec<Doubt>,
}

impl ClaimTest<'_> {
    fn analysis(&self) -> ClaimAnalysis {
        let blocks = self.records.blocks();
        let values = self.values(blocks);
        if let Some(reason) = self.too_few_requests().filter(|_| values.is_empty() && self.unanswered().is_empty()) {
            return not_testable(self.claim, vec![reason]);
        }
        let expression = &self.resolved.expectation.expression;
        let scaled = Scaled::new(&values, expression.is_ratio());
        let found = self.outcome();
        let at = |known: &[Doubt], confidence| scaled.interval(&self.ranges(blocks, known, confidence), confidence);
        let known = [Doubt::Sample, Doubt::Unanswered, Doubt::Resolution];
        let interval = at(&known, self.records.confidence());
        let end = |value: f64| Some(scaled.back(value)).filter(|value| value.is_finite());
        let needed = at(&known[..2], CONFIDENCE)
            .filter(|_| self.blocks_would_help(&found))
            .and_then(|known| self.needs(&scaled, &known));
        let is_too_busy = needed.is_some_and(|blocks| self.is_too_busy(&scaled, blocks));
        let needs_blocks = needed.filter(|_| !is_too_busy);
        let found = if is_too_busy { Outcome { because: vec![Doubt::Noise], ..found } } else { found };
        ClaimAnalysis {
            measured: Measured {
                estimate: mean(&scaled.values).map(|value| scaled.back(value)),
                low: interval.and_then(|i| end(i.low)),
                high: interval.and_then(|i| end(i.high)),
                unit: expression.unit(),
            },
            parts: self.parts(),
            blocks: values.len() as u32,
            verdict: found.verdict,
            not_refuted: self.too_few_cores(found.verdict),
            withheld: self.withheld(&found).filter(|_| needs_blocks.is_none()),
            needs_blocks,
            notes: self.notes(&values, &scaled, &found),
            ..not_testable(self.claim, Vec::new())
        }
    }

    /// The figures that the test is made of, each once.
    fn parts(&self) -> Vec<ClaimPart> {
        let mut parts: Vec<ClaimPart> = Vec::new();
        let calls = self.resolved.expectation.expression.calls();
        for (call, cell) in calls.iter().filter_map(|call| Some((call, self.cell(call)?))) {
            let measured = self.records.measured(&self.records.values(cell, call.metric), call.metric.unit());
            let part =
                ClaimPart { metric: call.metric, levels: self.records.plan.cells[cell].levels.clone(), measured };
            if calls.len() > 1 && !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }

    /// What the figures say, and what remains of it at the worst ends that the marks allow, and of noise.
    fn outcome(&self) -> Outcome {
        let judge = |doubts: &[Doubt]| self.judged(self.records.blocks(), doubts);
        let (plainly, guarded) = (judge(&[]), judge(&MARKS));
        if !self.withstands_noise(guarded) {
            return Outcome { verdict: ClaimVerdict::Inconclusive, plainly, because: vec![Doubt::Noise] };
        }
        if !self.holds_over_every_round(guarded) {
            return Outcome { verdict: ClaimVerdict::Inconclusive, plainly, because: vec![Doubt::Rounds] };
        }
        let takes_back = |doubts: &[Doubt]| judge(doubts) != plainly;
        let mut because: Vec<Doubt> = MARKS.into_iter().filter(|doubt| takes_back(&[*doubt])).collect();
        if because.is_empty() && guarded != plainly {
            because = MARKS.into_iter().filter(|doubt| self.is_in_doubt(*doubt)).collect();
        }
        Outcome { verdict: guarded, plainly, because }
    }

    /// What keeps it from a verdict: that a server was cold, what took the verdict back, or what leaves it open as well.
    fn withheld(&self, found: &Outcome) -> Option<Withheld> {
        if found.verdict != ClaimVerdict::Inconclusive {
            return None;
        }
        if self.is_cold() {
            return Some(Withheld::Cold);
        }
        let in_doubt = || MARKS.into_iter().find(|doubt| self.is_in_doubt(*doubt));
        let why = found.because.first().copied().or_else(in_doubt)?;
        let is_unbounded = |call: &&Call| {
            let cell = self.cell(call).map(|cell| &self.records.plan.cells[cell]);
            cell.is_some_and(|cell| !noise::is_bounded(call.metric, !cell.load.model.has_schedule()))
        };
        let calls = self.resolved.expectation.expression.calls();
        let has_no_bound = why == Doubt::Noise && calls.iter().any(is_unbounded);
        Some(if has_no_bound { Withheld::Unbounded } else { why.withheld() })
    }

    /// What these blocks say, as far as such doubts leave it open.
    fn judged(&self, blocks: &[u32], doubts: &[Doubt]) -> ClaimVerdict {
        let Expectation { expression, bound, .. } = &self.resolved.expectation;
        let doubts: Vec<Doubt> = doubts.iter().copied().chain([Doubt::Sample, Doubt::Resolution]).collect();
        let confidence = self.records.confidence();
        let scaled = Scaled::new(&self.values(blocks), expression.is_ratio());
        let interval = scaled.interval(&self.ranges(blocks, &doubts, confidence), confidence);
        let interval = interval.filter(|_| self.records.are_enough(scaled.values.len()) && !self.is_cold());
        interval
            .map_or(ClaimVerdict::Inconclusive, |interval| verdict(&interval.map(|value| scaled.back(value)), *bound))
    }

    /// Whether a verdict stands without the blocks in which the machine was busy, or with what that can have cost.
    fn withstands_noise(&self, verdict: ClaimVerdict) -> bool {
        let (quiet, busy): (Vec<u32>, Vec<u32>) =
            self.records.blocks().iter().partition(|block| !self.is_open_in(**block, Doubt::Noise));
        let with_noise: Vec<Doubt> = MARKS.into_iter().chain([Doubt::Noise]).collect();
        verdict == ClaimVerdict::Inconclusive
            || busy.is_empty()
            || self.judged(&quiet, &MARKS) == verdict
            || self.judged(self.records.blocks(), &with_noise) == verdict
    }

    /// Whether a verdict stands with the rounds of slices that were left out.
    fn holds_over_every_round(&self, verdict: ClaimVerdict) -> bool {
        let every = self.records.with_every_round().filter(|_| verdict != ClaimVerdict::Inconclusive);
        every.is_none_or(|records| {
            let test = ClaimTest { records: &records, resolved: self.resolved.clone(), ..*self };
            test.judged(records.blocks(), &MARKS) == verdict
        })
    }

    /// The expression's value in each of these blocks that has one; none at all where a server answered nothing in a launch.
    fn values(&self, blocks: &[u32]) -> Vec<f64> {
        if !self.unanswered().is_empty() {
            return Vec::new();
        }
        blocks.iter().filter_map(|block| self.value(*block)).collect()
    }

    /// The servers of which a figure is missing because they answered nothing right in a launch that counts, each with the
    /// number of these launches. Leaving those out would favour who did nothing in them.
    pub(super) fn unanswered(&self) -> BTreeMap<usize, usize> {
        let mut unanswered: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for call in self.resolved.expectation.expression.calls() {
            let Some(cell) = self.cell(call) else { continue };
            let value = |block: u32, metric| self.records.value(cell, block, metric);
            let is_without = |block: &u32| {
                let has_none = call.metric == Metric::Throughput || value(*block, call.metric).is_none();
                has_none && value(*block, Metric::Throughput) == Some(0.0)
            };
            let blocks: Vec<u32> = self.records.blocks().iter().copied().filter(is_without).collect();
            if !blocks.is_empty() {
                unanswered.entry(cell).or_default().extend(blocks);
            }
        }
        unanswered.into_iter().map(|(cell, blocks)| (cell, blocks.len())).collect()
    }

    /// Where it may truly lie in each of these blocks that has a value, for these doubts alone.
    fn ranges(&self, blocks: &[u32], doubts: &[Doubt], confidence: f64) -> Vec<Range> {
        let blocks = blocks.iter().filter(|block| self.value(**block).is_some());
        blocks.filter_map(|block| self.range(*block, doubts, confidence)).collect()
    }

    fn value(&self, block: u32) -> Option<f64> {
        let look_up = |call: &Call| self.records.value(self.cell(call)?, block, call.metric);
        self.resolved.expectation.expression.evaluate(&look_up)
    }

    fn range(&self, block: u32, doubts: &[Doubt], confidence: f64) -> Option<Range> {
        let look_up = |call: &Call| {
            guard::figure(self.records, (self.side(self.cell(call)?), block), call.metric, doubts, confidence)
        };
        range(&self.resolved.expectation.expression, &look_up)
    }

    /// A cell of the claim as it is judged beside the other one, where it is about two: of more, each of its parts may be of one kind, as where a
    /// growth is held against a growth.
    pub(super) fn side(&self, cell: usize) -> Side {
        let others: BTreeSet<usize> = self.resolved.cells.values().copied().filter(|other| *other != cell).collect();
        Side::alone(cell).against(others.first().copied().filter(|_| others.len() == 1))
    }

    pub(super) fn cell(&self, call: &Call) -> Option<usize> {
        self.resolved.cells.get(&call.offset).copied()
    }

    /// Whether a doubt widens the range in some block.
    pub(super) fn is_in_doubt(&self, doubt: Doubt) -> bool {
        self.records.blocks().iter().any(|block| self.is_open_in(*block, doubt))
    }

    fn is_open_in(&self, block: u32, doubt: Doubt) -> bool {
        let range = self.value(block).and_then(|_| self.range(block, &[doubt], CONFIDENCE));
        range.is_some_and(|range| range.low < range.high)
    }

    /// Whether more blocks may settle it: not what a cold server did, nor what a doubt takes back.
    fn blocks_would_help(&self, found: &Outcome) -> bool {
        let open = ClaimVerdict::Inconclusive;
        (found.verdict, found.plainly) == (open, open) && !self.is_cold() && self.records.unfinished().is_none()
    }

    /// About how many would; none where what marks leave open holds the threshold however many there are.
    fn needs(&self, scaled: &Scaled, interval: &Interval) -> Option<u32> {
        let distance = self.distance(scaled, &[&MARKS[..], &[Doubt::Resolution]].concat())?;
        let counted = (scaled.values.len(), self.records.blocks().len());
        needs_blocks(counted, interval, distance, 1.0 - self.records.significance_after_a_raise())
    }

    /// How far what doubts leave open is from the claim's thresholds.
    fn distance(&self, scaled: &Scaled, doubts: &[Doubt]) -> Option<f64> {
        let ranges = self.ranges(self.records.blocks(), doubts, CONFIDENCE);
        let end =
            |of: fn(&Range) -> f64| mean(&ranges.iter().map(|range| scaled.onto(of(range))).collect::<Vec<f64>>());
        let ends = (end(|range| range.low)?, end(|range| range.high)?);
        Some(distance(ends, self.resolved.expectation.bound, |threshold| scaled.onto(threshold)))
    }

    /// Whether so many blocks would not settle it, because fewer of them than a verdict needs would be quiet, as busy as the
    /// machine is, and what others can have cost in the rest holds the threshold.
    fn is_too_busy(&self, scaled: &Scaled, blocks: u32) -> bool {
        let all = self.records.blocks();
        let quiet = all.iter().filter(|block| !self.is_open_in(**block, Doubt::Noise)).count();
        let expected = f64::from(blocks) * quiet as f64 / all.len().max(1) as f64;
        let is_held =
            || self.distance(scaled, &[Doubt::Noise]).is_none_or(|distance| distance.is_nan() || distance <= 0.0);
        expected < BLOCKS_FOR_A_VERDICT as f64 && is_held()
    }

    /// The cores of the machine and those that a contradicted claim is about, where these are more: what does not show on
    /// few may show on many.
    pub(super) fn too_few_cores(&self, found: ClaimVerdict) -> Option<FewCores> {
        let about = self.claim.cores.filter(|about| self.cores > 0 && self.cores < *about)?;
        (found == ClaimVerdict::Contradicted).then_some(FewCores { here: self.cores, about })
    }
}
