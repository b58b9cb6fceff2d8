//! Targets of a table of which neither is shown to do better than the other.

use std::collections::BTreeSet;

use crate::rows::{Group, Row};

impl Row<'_> {
    /// Those with another rank that are the same as it, or those that are too close to call with it.
    pub(crate) fn tied_across_ranks(&self, same: bool) -> impl Iterator<Item = &str> {
        let meant = self.ties.iter().filter(move |tie| !tie.shares_rank && tie.same == same);
        meant.map(|tie| tie.target.as_str())
    }
}

/// What a shared rank means, where there is one.
pub(crate) fn meaning_of_ties(groups: &[Group<'_>]) -> Option<&'static str> {
    let tied = groups.iter().flat_map(|group| &group.rows).filter(|row| row.place.is_tied());
    let kinds: BTreeSet<bool> =
        tied.flat_map(|row| &row.ties).filter(|tie| tie.shares_rank).map(|tie| tie.same).collect();
    match (kinds.contains(&true), kinds.contains(&false)) {
        (true, true) => Some("= tied: the same, or too close to call"),
        (true, false) => Some("= tied: the same"),
        (false, true) => Some("= tied: too close to call"),
        (false, false) => None,
    }
}

/// The pairs of a table that are the same, or too close to call, although their ranks differ.
pub(crate) fn ties_across_ranks(group: &Group<'_>) -> Vec<String> {
    let after = |at: usize, other: &str| group.rows[at..].iter().any(|row| row.cell.levels.target() == other);
    let said = |same: bool, what: &str| {
        let pairs = group.rows.iter().enumerate().flat_map(|(at, row)| {
            let others = row.tied_across_ranks(same).filter(move |other| after(at, other));
            others.map(|other| format!("{} and {other}", row.cell.levels.target()))
        });
        let pairs: Vec<String> = pairs.collect();
        (!pairs.is_empty()).then(|| format!("{what} as a pair, whatever their ranks: {}", pairs.join("; ")))
    };
    [said(true, "the same"), said(false, "too close to call")].into_iter().flatten().collect()
}
