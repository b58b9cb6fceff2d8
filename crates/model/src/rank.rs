//! The order of targets, and which of them serves a need best, as `judge` decides it; `report` has the words.

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Cell, Metric, Unranked};

/// Targets in order, ties together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankGroup {
    /// The metric.
    pub metric: Metric,
    /// The conditions.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// Whether this metric is what distinguishes the targets under these conditions, so that theirs are the ranks of a table.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leads: bool,
    /// The ranks, best first.
    pub ranks: Vec<Rank>,
}

/// One target's rank; targets that the run does not tell apart share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// From 1; null when the target is not ranked: no launch of it counts, it failed, or its order with another is open.
    pub rank: Option<u32>,
    /// Whether another target shares it.
    pub tied: bool,
    /// The target.
    pub target: String,
    /// Why it has none, in a group that leads; none where no launch of it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unranked: Option<Unranked>,
    /// Those that may stand above it or below, for what is in doubt of either or for noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

kinds! {
    /// What is known of those that are named as best by a metric.
    Standing {
        /// It is one: the first by rank, or all that is left of those that may be.
        One = "one",
        /// They are several, and each pair of them was shown to be the same.
        Same = "same",
        /// They are several that are too close to call.
        TooClose = "too-close",
        /// Each of them may be the best, and nothing shows which is.
        Undecided = "undecided",
    }
}

/// Share of what the quickest serves from which a target counts among the quick. Where the best at something else serves less, the best
/// of the quick is named with it. A choice: whoever asks for little memory does not ask for a server that serves next to nothing.
pub const SHARE_OF_THE_QUICK: f64 = 0.5;

/// Which of the targets under the same conditions does best by a metric, as far as ranks say. A reconstruction takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The metric.
    pub metric: Metric,
    /// The conditions.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// Those that were measured there.
    pub among: Vec<String>,
    /// What is known of `best`.
    pub standing: Standing,
    /// The best, or who may be, by name; none where all of them failed.
    pub best: Vec<String>,
    /// Those of a lower rank that are not shown, as a pair, to do worse than one of the best.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub close: Vec<CloseBelow>,
    /// Those that are out, for a lower quantile of theirs is above another's p99.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<QuantileAbove>,
    /// The best of those that serve at least [`SHARE_OF_THE_QUICK`] of what the quickest does, by name, where none of the best does; empty
    /// where that is open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_the_quick: Vec<String>,
}

/// One of the best, and who of a lower rank does not do worse as a pair: ties do not pass on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseBelow {
    /// One of the best.
    pub target: String,
    /// Those of a lower rank.
    pub to: Vec<String>,
    /// Whether they were shown to be the same; else it is too close to call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same: bool,
}

/// A target without a p99 whose lower quantile is surely above another's p99, so that its own p99 is, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuantileAbove {
    /// The target.
    pub target: String,
    /// Its quantile.
    pub quantile: Metric,
}
