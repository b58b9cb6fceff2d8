//! What a comparison asks. Of two long commands it names the words in which they differ; the notes have both whole.

use model::{Arm, CompareAnalysis, CompareForm};

/// A question of more characters is not read at a glance.
const LONG: usize = 80;
/// What stands for words that both commands have.
const BOTH: &str = "…";

/// Of two runs it names the target that is compared: others may be in them.
pub(crate) fn question(analysis: &CompareAnalysis) -> String {
    let whole = asked(&names(analysis));
    shortened(analysis).map_or(whole, |short| asked(&short))
}

/// Both commands whole, where the question has parts of them.
pub(crate) fn whole(analysis: &CompareAnalysis) -> Option<String> {
    shortened(analysis).map(|_| format!("Old: {}; new: {}.", analysis.old, analysis.new))
}

fn asked([old, new]: &[String; 2]) -> String {
    format!("Is {new} slower than {old}?")
}

fn names(analysis: &CompareAnalysis) -> [String; 2] {
    let of = |arm: Arm, title: &String| {
        let mut targets: Vec<&str> =
            analysis.cells.iter().filter(|of| of.arm == arm).map(|of| of.cell.levels.target()).collect();
        targets.dedup();
        match (analysis.form, &targets[..]) {
            (CompareForm::Runs, [target]) if !target.is_empty() => format!("{target} of {title}"),
            _ => title.clone(),
        }
    };
    [of(Arm::Old, &analysis.old), of(Arm::New, &analysis.new)]
}

/// `` `… DELAY=10ms …` `` and `` `… DELAY=12ms …` ``; none where the question is short or the words do not tell the two apart.
fn shortened(analysis: &CompareAnalysis) -> Option<[String; 2]> {
    let is_long = asked(&names(analysis)).chars().count() > LONG;
    if !is_long || analysis.form != CompareForm::Commands {
        return None;
    }
    let bare = |title: &'_ str| -> Option<Vec<String>> {
        let command = title.strip_prefix('`')?.strip_suffix('`')?;
        Some(command.split_whitespace().map(str::to_owned).collect())
    };
    let (old, new) = (bare(&analysis.old)?, bare(&analysis.new)?);
    let shared = |(a, b): &(&String, &String)| a == b;
    let head = old.iter().zip(&new).take_while(shared).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(shared).count();
    let differing = |words: &[String]| {
        let own = words[head..words.len() - tail].join(" ");
        let dots = |count: usize| if count > 0 { BOTH } else { "" };
        let parts = [dots(head), &own, dots(tail)];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (!own.is_empty()).then(|| format!("`{}`", parts.join(" ")))
    };
    Some([differing(&old)?, differing(&new)?])
}
