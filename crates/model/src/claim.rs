use serde::{Deserialize, Serialize};

use crate::{Cell, Measured, Withheld};

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The whole interval is on the claim's side.
    Supported,
    /// The whole interval is on the other side.
    Contradicted,
    /// The interval holds the threshold, or there are too few blocks.
    Inconclusive,
    /// A precondition is not met.
    NotTestable,
}

impl ClaimVerdict {
    /// Every verdict, in the order in which they are counted.
    pub const ALL: [ClaimVerdict; 4] =
        [ClaimVerdict::Supported, ClaimVerdict::Contradicted, ClaimVerdict::Inconclusive, ClaimVerdict::NotTestable];

    /// In words, as printed.
    pub fn words(self) -> &'static str {
        match self {
            ClaimVerdict::Supported => "supported",
            ClaimVerdict::Contradicted => "contradicted",
            ClaimVerdict::Inconclusive => "inconclusive",
            ClaimVerdict::NotTestable => "not testable here",
        }
    }
}

/// One claim and its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimAnalysis {
    /// Short name.
    pub name: String,
    /// The statement.
    pub says: String,
    /// The levels that hold for every metric of the test that does not fix them itself.
    #[serde(default, rename = "where")]
    pub conditions: Cell,
    /// The test.
    pub expect: String,
    /// The published value of the tested expression.
    pub published: Option<f64>,
    /// The value measured here.
    pub measured: Measured,
    /// Blocks in which it could be evaluated.
    pub blocks: u32,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Set where the claim is contradicted on fewer cores than it is about: people are then told that it is not refuted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_refuted: Option<FewCores>,
    /// What keeps an inconclusive one from a verdict, where that is not the want of blocks: what is in doubt of its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// Why it is inconclusive or not testable; cautions about a verdict.
    pub notes: Vec<String>,
    /// About how many blocks would settle it, where that can be said; [`MOST_NEEDED_BLOCKS`] stands for so many or more.
    pub needs_blocks: Option<u32>,
}

/// A machine with fewer cores than a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FewCores {
    /// Cores of the run's machine.
    pub here: u32,
    /// Cores that the claim is about.
    pub about: u32,
}

/// How many claims a run tested, and how many of them chance would support.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ClaimChance {
    /// Claims with blocks enough for a verdict.
    pub tested: u32,
    /// How many of these chance would support at most, were the truth of each right at its threshold.
    pub supported: f64,
}

/// Most blocks that a claim is reported to need; beyond, it cannot reasonably be settled.
pub const MOST_NEEDED_BLOCKS: u32 = 1_000;
