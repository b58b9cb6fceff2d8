//! How many launches a comparison made, and how many of them count.

use model::{Arm, CellAnalysis, CompareAnalysis, ComparedCell, TrialStage, VoidTrial};

use crate::format::counted;

/// `6 launches of each`, `12 launches of each, 8 and 6 of them count`, `12 and 0 launches`: those that came up.
pub(crate) fn launches(analysis: &CompareAnalysis) -> String {
    let (one, many) = if analysis.is_of_loads() { ("load", "loads") } else { ("launch", "launches") };
    let of_each = |number: u32| format!("{} of each", counted(number.into(), one, many));
    let up: Vec<u32> = analysis.cells.iter().map(|of| came_up(analysis, of)).collect();
    let count: Vec<u32> = analysis.cells.iter().map(|of| of.cell.trials).collect();
    let made = match up[..] {
        // Older records say nothing of the cells.
        [] => return of_each(analysis.blocks),
        [first, ..] if up.iter().all(|other| *other == first) => of_each(first),
        [_, _] => format!("{} {many}", numbers(&up)),
        _ => format!("{} {many} of each", numbers(&up)),
    };
    match numbers(&count) {
        _ if up == count => made,
        _ if count.iter().all(|launches| *launches == 1) => format!("{made}, 1 of them counts"),
        several => format!("{made}, {several} of them count"),
    }
}

/// `6`, `8 and 6` of the old one and the new one, `5 to 8` under several conditions.
fn numbers(of: &[u32]) -> String {
    let (least, most) = (of.iter().min().copied().unwrap_or(0), of.iter().max().copied().unwrap_or(0));
    match of {
        _ if least == most => least.to_string(),
        [old, new] => format!("{old} and {new}"),
        _ => format!("{least} to {most}"),
    }
}

/// Launches of a cell whose server came up, void or not; those of blocks that were set aside are not among them.
fn came_up(analysis: &CompareAnalysis, of: &ComparedCell) -> u32 {
    let stages = [TrialStage::Launch, TrialStage::Ready, TrialStage::NotTried];
    let is_its = |trial: &&VoidTrial| {
        let is_aside = analysis.session.repeated.iter().any(|aside| aside.block == trial.block);
        !trial.twin && !is_aside && trial.levels == of.cell.levels && trial.arm.is_none_or(|arm| arm == of.arm)
    };
    let is_down = |trial: &&VoidTrial| stages.iter().any(|stage| trial.reason.code() == (*stage).into());
    let down = analysis.void_trials.iter().filter(is_its).filter(is_down).count() as u32;
    (of.cell.trials + of.cell.void).saturating_sub(down)
}

/// How many saved loads there are of the old one and of the new one; each side has one cell.
pub(crate) fn loads(analysis: &CompareAnalysis) -> [u32; 2] {
    [Arm::Old, Arm::New].map(|arm| {
        let of_arm = analysis.cells.iter().filter(|of| of.arm == arm);
        of_arm.map(|of| of.cell.trials + of.cell.void).sum()
    })
}

/// Which of the two has no launch that counts.
pub(crate) fn without_launches(analysis: &CompareAnalysis) -> String {
    let none = |cell: &CellAnalysis| cell.trials == 0;
    let mut arms: Vec<_> = analysis.cells.iter().filter(|of| none(&of.cell)).map(|of| of.arm).collect();
    arms.dedup();
    match arms[..] {
        [Arm::Old] => "no launch of the old one counts",
        [Arm::New] => "no launch of the new one counts",
        [] => "no figure is known of both",
        _ => "no launch of either counts",
    }
    .to_owned()
}
