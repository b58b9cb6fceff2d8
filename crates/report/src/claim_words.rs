//! Sentences about claims.

use model::{Analysis, Bound, CellAnalysis, ClaimAnalysis, ClaimChance, FewCores, MOST_NEEDED_BLOCKS, Metric, Unit};

use crate::asker::Asker;
use crate::claim_notes::claim_notes;
use crate::claim_parts::here;
use crate::conditions::conditions;
use crate::format::{counted, decimals, measured_of, number, percent, quantity, thousands};
use crate::more_blocks::Blocks;
use crate::withheld::cure;
use crate::words;

/// Whose claims they are: what they say is not what was measured.
pub(crate) fn claims_title(analysis: &Analysis) -> String {
    analysis.source.as_ref().map_or("Claims".to_owned(), |source| format!("Claims of {source}, tried here"))
}

/// `7 claims at 95 %: chance alone would support about 0.2 of them, at most`; nothing where none was tested.
pub(crate) fn by_chance(chance: ClaimChance) -> Option<String> {
    let ClaimChance { tested, supported } = chance;
    match tested {
        0 => None,
        1 => Some(format!("1 claim at 95 %: chance alone would support it in {} of runs, at most", percent(supported))),
        _ => {
            let supported =
                if supported < 0.05 { "less than 0.1".to_owned() } else { format!("about {}", decimals(supported, 1)) };
            Some(format!("{tested} claims at 95 %: chance alone would support {supported} of them, at most"))
        }
    }
}

/// `supported`, or `not refuted: 2 of 8 cores` where a claim about more cores is contradicted.
pub(crate) fn verdict(claim: &ClaimAnalysis) -> String {
    claim.not_refuted.map_or_else(|| claim.verdict.words().to_owned(), not_refuted)
}

/// `not refuted: 2 of 8 cores`.
pub(crate) fn not_refuted(cores: FewCores) -> String {
    format!("not refuted: {} of {}", cores.here, counted(cores.about.into(), "core", "cores"))
}

/// What is claimed. One of others often has in its words what they measured: that it is theirs is said first.
pub(crate) fn says(claim: &ClaimAnalysis, analysis: &Analysis) -> String {
    let is_of_others = claim.published.is_some() || analysis.source.is_some();
    if is_of_others { format!("Claimed: {}", claim.says) } else { claim.says.clone() }
}

/// The conditions that hold for the whole claim: `10 ms handler delay, 100 connections`; empty where it names none.
pub(crate) fn claim_conditions(claim: &ClaimAnalysis) -> String {
    conditions(&claim.conditions)
}

/// `0.01066 (0.01060 to 0.01072)`, `16 % of CPU samples (15 % to 17 %)`; none where nothing was measured.
pub(crate) fn seen(claim: &ClaimAnalysis) -> Option<String> {
    let of = claim.expect.expectation.as_ref().and_then(|test| share_of(test.expression.only_metric()?));
    measured_of(&claim.measured, &of.map_or(String::new(), |of| format!(" of {of}")))
}

/// What a share is a share of.
fn share_of(metric: Metric) -> Option<&'static str> {
    match metric {
        Metric::ProfileShare => Some("CPU samples"),
        Metric::Errors => Some("requests"),
        _ => None,
    }
}

/// The bound in words where the test says its unit nowhere: `over 20 %` for `> 0.2`, `under 50.0 ms` for `< 50000`.
pub(crate) fn asked(claim: &ClaimAnalysis) -> Option<String> {
    let test = claim.expect.expectation.as_ref()?;
    let unit = test.expression.unit();
    if test.bare.is_none() && (unit != Unit::Share || claim.expect.text.contains('%')) {
        return None;
    }
    let shown = |value: f64| match unit {
        // The smallest shares are asked for as such.
        Unit::Share if value > 0.0 && value < 1e-4 => format!("{} %", number(value * 100.0)),
        unit => quantity(value, unit),
    };
    Some(bound(test.bound, shown))
}

/// `under 0.1`, `over 20 %`, `0.95 to 1.05`.
pub(crate) fn bound(bound: Bound, shown: impl Fn(f64) -> String) -> String {
    match bound {
        Bound::Below(most) => format!("under {}", shown(most)),
        Bound::Above(least) => format!("over {}", shown(least)),
        Bound::Between(least, most) => format!("{} to {}", shown(least), shown(most)),
    }
}

/// What was measured and what was asked: `measured 0.01066 (0.01060 to 0.01072): a 99.6 requests/s, b 9,155 requests/s;
/// published 0.0104; asked: throughput(a) / throughput(b) < 0.05 (100 connections)`.
pub(crate) fn figures(claim: &ClaimAnalysis, analysis: &Analysis) -> String {
    let parts = here(claim, analysis).map_or(String::new(), |parts| format!(": {parts}"));
    let seen = seen(claim).map_or("not measured".to_owned(), |seen| format!("measured {seen}{parts}"));
    let published = claim.published.map(|value| format!("; published {}", quantity(value, claim.measured.unit)));
    let bound = asked(claim).map_or(String::new(), |bound| format!("{bound}, "));
    let conditions = words::bracketed(&claim_conditions(claim));
    format!("{seen}{}; asked: {bound}{}{conditions}", published.unwrap_or_default(), claim.expect.text)
}

/// The notes that several claims have in common.
pub(crate) fn shared_notes(claims: &[ClaimAnalysis]) -> Vec<String> {
    let notes: Vec<Vec<String>> = claims.iter().map(claim_notes).collect();
    let mut shared: Vec<String> = Vec::new();
    for note in notes.iter().flatten() {
        let having = notes.iter().filter(|notes| notes.contains(note)).count();
        if having > 1 && !shared.contains(note) {
            shared.push(note.clone());
        }
    }
    shared
}

/// A claim's own notes and what would settle it.
pub(crate) fn notes(claim: &ClaimAnalysis, analysis: &Analysis) -> Vec<String> {
    claim_notes(claim).into_iter().chain(would_settle(claim, analysis)).collect()
}

/// `needs about 9 blocks (5 min 12 s more)`, or what else would settle it; nothing where that is not known.
pub(crate) fn would_settle(claim: &ClaimAnalysis, analysis: &Analysis) -> Option<String> {
    let cure = || {
        let calls = claim.expect.expectation.as_ref()?.expression.calls();
        let is_meant = |cell: &&CellAnalysis| calls.iter().any(|call| call.target == cell.levels.target());
        let cells: Vec<&CellAnalysis> = analysis.cells.iter().filter(is_meant).collect();
        let cure = cure(claim.withheld?, &cells, Asker::Experiment, analysis.environment.cpus)?;
        Some(format!("what would settle it: {cure}"))
    };
    let Some(blocks) = claim.needs_blocks else { return cure() };
    Some(match blocks {
        MOST_NEEDED_BLOCKS.. => {
            format!("too close to the threshold: {} blocks or more would be needed", thousands(blocks.into()))
        }
        _ => Blocks::of_run(analysis).needed(blocks),
    })
}
