use model::{
    ANALYSIS_SCHEMA, Analysis, CellAnalysis, ClaimAnalysis, ClaimChance, Environment, Plan, RankGroup, Reconstruction,
    Target, TargetInfo, TrialCount, TrialRecord, TrialStage, VoidTrial,
};

use crate::launch::Launch;
use crate::records::Records;
use crate::remarks::remark;
use crate::{cells, claims, comparisons, findings, memory_slope, session, shift};

/// Says what the records of a run mean. They come in the order of the record: of two for one launch the later one
/// counts.
///
/// `elapsed_s` is left to the caller.
pub fn analyse(plan: &Plan, environment: &Environment, trials: &[TrialRecord]) -> Analysis {
    let records = Records::new(plan, trials);
    let blocks = records.complete_blocks().min(records.whole_blocks());
    let comparisons = comparisons::compare(&records);
    let void_trials = void_trials(&records);
    let claims: Vec<ClaimAnalysis> =
        plan.claims.iter().map(|claim| claims::evaluate(&records, claim, environment.cpus)).collect();
    let cells: Vec<CellAnalysis> = (0..plan.cells.len()).map(|index| cells::analyse(&records, index)).collect();
    let mut groups = ranked(comparisons::group(&records, &comparisons), records.are_enough(blocks));
    comparisons::choose_leaders(&mut groups, &cells);
    let memory_slopes = memory_slope::all(&records, &cells);
    let mut analysis = Analysis {
        schema: ANALYSIS_SCHEMA.to_owned(),
        name: plan.name.clone(),
        question: plan.question.clone(),
        source: plan.source.clone(),
        quick: plan.quick,
        preliminary: !records.are_enough(blocks),
        unfinished: records.unfinished(),
        ended_in_vain: records.are_in_vain(),
        blocks: blocks as u32,
        blocks_before: blocks_before(plan).collect(),
        of_loads: false,
        seed: plan.seed,
        margin: plan.margin,
        elapsed_s: None,
        environment: environment.clone(),
        absent: plan.absent.clone(),
        relative_rates: plan.relative_rates.clone(),
        reconstructions: reconstructions(plan),
        targets: targets(plan),
        cells,
        groups,
        comparisons,
        shifts: shift::of_two(&records),
        memory_slopes,
        claims_by_chance: by_chance(&records, &claims),
        claims,
        findings: findings::find(&records),
        session: session::analyse(&records),
        trials: count(records.all().len(), &void_trials),
        void_trials,
        rank_chance: None,
        choices: Vec::new(),
    };
    remark(&mut analysis);
    analysis
}

/// How many blocks were asked for each time before more were.
pub(crate) fn blocks_before(plan: &Plan) -> impl Iterator<Item = u32> {
    plan.blocks_before.iter().map(|blocks| blocks.max)
}

/// How many of the tested claims chance would support at most: a test of 5 % is wrong on the claim's side in half of
/// that where the truth is right at the threshold, and less often elsewhere. A run that may end early tests at 3 %, and
/// comes to the same (docs/STATISTICS.md); each time that more blocks were asked for is one more look. Of `errors` it holds
/// where requests fail independently of each other.
fn by_chance(records: &Records, claims: &[ClaimAnalysis]) -> ClaimChance {
    let tested = claims.iter().filter(|claim| records.are_enough(claim.blocks as usize)).count() as u32;
    ClaimChance { tested, supported: f64::from(tested) * records.all_looks() / 2.0 }
}

/// The groups, without ranks while the run is preliminary: a cell may have its launches before the others have theirs.
fn ranked(mut groups: Vec<RankGroup>, settled: bool) -> Vec<RankGroup> {
    if !settled {
        groups.iter_mut().flat_map(|group| &mut group.ranks).for_each(|rank| (rank.rank, rank.tied) = (None, false));
    }
    groups
}

fn reconstructions(plan: &Plan) -> Vec<Reconstruction> {
    let of = |text: &String, name: &String| Reconstruction { target: name.clone(), text: text.clone() };
    plan.targets.iter().filter_map(|target| Some(of(target.reconstruction.as_ref()?, &target.name))).collect()
}

/// Those that have a description.
fn targets(plan: &Plan) -> Vec<TargetInfo> {
    let described = plan.targets.iter().filter(|target| !target.about.is_empty());
    let of = |target: &Target| TargetInfo {
        target: target.name.clone(),
        framework: target.framework.clone(),
        about: target.about.clone(),
    };
    described.map(of).collect()
}

/// How many trials there are, and what became of those that do not count.
pub(crate) fn count(total: usize, void: &[VoidTrial]) -> TrialCount {
    let failed = |stages: &[TrialStage]| {
        let is_one = |trial: &&VoidTrial| stages.iter().any(|stage| trial.reason.code() == (*stage).into());
        void.iter().filter(is_one).count() as u32
    };
    TrialCount {
        total: total as u32,
        void: void.len() as u32,
        not_up: failed(&[TrialStage::Launch, TrialStage::Ready]),
        not_tried: failed(&[TrialStage::NotTried]),
    }
}

/// Every void launch, by block and then in the plan's order.
pub(crate) fn void_trials(records: &Records) -> Vec<VoidTrial> {
    let void = |launch: &Launch| {
        Some(VoidTrial {
            id: launch.record.id.clone(),
            block: launch.record.block,
            arm: None,
            twin: launch.record.twin,
            levels: launch.record.levels.clone(),
            reason: launch.judgement.void.clone()?,
        })
    };
    records.all().into_iter().filter_map(void).collect()
}

#[cfg(test)]
mod tests;
