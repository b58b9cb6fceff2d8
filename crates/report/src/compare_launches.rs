//! How many launches a comparison made, and how many of them count.

use model::{Arm, Cell, CellAnalysis, CompareAnalysis, ComparedCell, TrialStage, VoidTrial};

use crate::format::counted;
use crate::reason_words::reason_words;
use crate::withheld::of_arm;

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

/// Words of a reason that are too many for the first sentence.
const MOST_OF_A_REASON: usize = 120;

/// Which of the two has no launch that counts.
pub(crate) fn without_launches(analysis: &CompareAnalysis) -> String {
    match uncounted(analysis)[..] {
        [arm] => format!("no launch of {} counts", of_arm(arm)),
        [] => "no figure is known of both".to_owned(),
        _ => "no launch of either counts".to_owned(),
    }
}

/// The same, and why its first launch does not count.
pub(crate) fn without_launches_and_why(analysis: &CompareAnalysis) -> String {
    let why = if let [arm] = uncounted(analysis)[..] { why_not(analysis, arm) } else { String::new() };
    format!("{}{why}", without_launches(analysis))
}

fn uncounted(analysis: &CompareAnalysis) -> Vec<Arm> {
    let none = |cell: &CellAnalysis| cell.trials == 0;
    let mut arms: Vec<_> = analysis.cells.iter().filter(|of| none(&of.cell)).map(|of| of.arm).collect();
    arms.dedup();
    arms
}

/// ` (not ready: ...)`.
fn why_not(analysis: &CompareAnalysis, arm: Arm) -> String {
    let of_arm: Vec<&Cell> = analysis.cells.iter().filter(|of| of.arm == arm).map(|of| &of.cell.levels).collect();
    let is_its = |trial: &&VoidTrial| match trial.arm {
        Some(of) => of == arm,
        None => of_arm.contains(&&trial.levels),
    };
    let reasons = analysis.void_trials.iter().filter(is_its).map(|trial| &trial.reason);
    let told = reasons.filter(|reason| reason.code() != TrialStage::NotTried.into()).map(reason_words).next();
    told.filter(|why| why.chars().count() <= MOST_OF_A_REASON).map_or(String::new(), |why| format!(" ({why})"))
}

/// `the new one served nothing, or died, in every launch`: what a comparison ended for that more launches would only repeat.
pub(crate) fn in_vain(analysis: &CompareAnalysis) -> String {
    let cells = |arm: Arm| analysis.cells.iter().filter(move |of| of.arm == arm).map(|of| &of.cell);
    let serves = |cell: &CellAnalysis| cell.throughput.estimate.is_some_and(|rate| rate > 0.0);
    let gave_nothing = |arm: &Arm| !cells(*arm).any(serves);
    let what = |arm: Arm| {
        let is_wrong = cells(arm).any(|cell| cell.failing.wrong_content > 0);
        match (is_wrong, cells(arm).any(|cell| cell.failing.is_of_silence() || cell.failing.died > 0)) {
            (true, true) => "served nothing right, or died, in every launch",
            (false, true) => "served nothing, or died, in every launch",
            (true, false) => "gave no right reply in any launch",
            (false, false) => "gave no reply with an expected status in any launch",
        }
    };
    match [Arm::Old, Arm::New].into_iter().filter(gave_nothing).collect::<Vec<_>>()[..] {
        [arm] => format!("{} {}", of_arm(arm), what(arm)),
        [] => "one of the two gave nothing that can be compared".to_owned(),
        _ => "neither gave anything that can be compared".to_owned(),
    }
}
