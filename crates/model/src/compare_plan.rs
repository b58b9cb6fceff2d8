use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::outcome::kinds;
use crate::{Gate, Metric};

/// What `bourdon compare` asked for, in a plan of two targets: with it a comparison can be resumed as one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparePlan {
    /// Name of the target that was there before.
    pub old: String,
    /// Name of the one in question.
    pub new: String,
    /// The metric that it is about: its test keeps its own level, and all others share one. Plans that do not say try all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<Metric>,
    /// How much worse it may become.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// Whether it may end well where all that is wrong is that a gate is undecided.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_undecided: bool,
    /// Whether an experiment file says what is loaded, and not options: what is asked for otherwise is written there. Plans of
    /// earlier versions do not tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_experiment: bool,
    /// How long each target is left alone after the first of its loads, in nanoseconds: what it does then may be work that it put
    /// off. 0 in plans of earlier versions: not at all.
    #[serde(default, skip_serializing_if = "none")]
    pub rest_ns: u64,
    /// The revisions that the targets are made of; none where they are commands alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<ComparedRevision>,
}

fn none(rest_ns: &u64) -> bool {
    *rest_ns == 0
}

/// A revision that a target is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedRevision {
    /// The target.
    pub target: String,
    /// The repository's own folder.
    pub repository: PathBuf,
    /// The folder below it in which the target is built and launched.
    pub within: PathBuf,
    /// Its files.
    pub content: RevisionContent,
}

/// The files of a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RevisionContent {
    /// Those of a commit, by its full name.
    Commit(String),
    /// Those of the working tree, by a digest of what git tracks there.
    WorkingTree(String),
}

kinds! {
    /// What is compared, and so how whoever asked can ask for something else.
    CompareForm {
        /// Two commands or revisions, launched under the load that options describe.
        Commands = "commands",
        /// Two targets of an experiment file, launched.
        Experiment = "experiment",
        /// Two recorded runs.
        Runs = "runs",
        /// Saved loads: each is one launch, and nothing is known of the server's process.
        Loads = "loads",
    }
}

/// Which of the two servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// The one that was there before.
    Old,
    /// The one in question.
    New,
}
