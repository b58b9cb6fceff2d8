//! What is said beside the figures of a cell, a rank or a run, as `judge` decides it; `report` has the words.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Metric;
use crate::outcome::kinds;

/// Why a cell has no figure of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blank {
    /// More of a launch's requests failed, and so have no time, than may lie above the quantile.
    Failed {
        /// The most that may, as a share, 0 to 1.
        most: f64,
    },
    /// A launch had too few requests for the quantile.
    FewRequests {
        /// As many as it needs.
        needed: u64,
    },
    /// Too few garbage collections are known to have come within the slices of a launch for its p99.
    FewCollections,
    /// The target was not watched.
    Unwatched,
    /// Nothing was served.
    Unserved,
    /// Another load was on the target, and what each cost is not known.
    Beside,
    /// The target used too little CPU to count it.
    LittleCpu,
}

/// Why none of a cell's launches says how steady it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unclassified {
    /// Its windows are too short.
    TooShort {
        /// How long they are at least of which it can be said, in seconds.
        least_s: f64,
    },
    /// They have too few slices, which are long.
    FewSlices {
        /// How many a launch has.
        slices: u32,
        /// Of how many at least it can be said.
        least: u32,
    },
    /// They have seconds without a right reply.
    Gaps,
}

kinds! {
    /// How a generator waited for a CPU, where it did for long enough to be told.
    Waited {
        /// For less of the time than it was busy.
        Told = "told",
        /// For more of the time than it was busy.
        MoreThanBusy = "more-than-busy",
    }
}

/// What is said beside a cell's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CellRemarks {
    /// Why it has no figure of these metrics; empty of a cell without a launch that counts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub blanks: BTreeMap<Metric, Blank>,
    /// Why its launches have no course; none where one has, or none counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclassified: Option<Unclassified>,
    /// How its generator waited for a CPU; none where that is too little to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator_waited: Option<Waited>,
    /// The warm-up to try next, in seconds, should this one have been too short.
    pub warm_up_to_try_s: f64,
}

kinds! {
    /// Why a target has no rank.
    Unranked {
        /// It failed.
        Failed = "failed",
        /// Too few of its launches count.
        FewLaunches = "few-launches",
        /// Only a lower bound is known of it.
        AtLeast = "at-least",
        /// It has no p99, by which targets are ranked there.
        NoP99 = "no-p99",
        /// That p99 is only a lower bound.
        Censored = "censored",
        /// It was not warm yet.
        Warming = "warming",
        /// It completed so few requests that the edges of the window weigh.
        Thin = "thin",
        /// Its order with others is open.
        Open = "open",
        /// It is too close to one whose place is open.
        Close = "close",
        /// There is no other that can be ranked.
        Alone = "alone",
    }
}

/// What ranks are sure of where several tables have some: each is a family of tests of its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankChance {
    /// How many tables rank two targets or more.
    pub tables: u32,
    /// How likely one table or another ranks equals by chance, 0 to 1, at most.
    pub chance: f64,
}
