use serde::{Deserialize, Serialize};

use crate::{
    Arm, Cell, CellAnalysis, CompareForm, ComparisonVerdict, Difference, Environment, Measured, Metric,
    RevisionContent, SessionAnalysis, Shift, TrialCount, VoidTrial, Withheld,
};

/// Schema number of `bourdon compare --format json`.
pub const COMPARE_SCHEMA: &str = "bourdon.compare/2";

/// An old server against a new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareAnalysis {
    /// Version of this document's shape.
    pub schema: String,
    /// The server that was there before, in words.
    pub old: String,
    /// The server in question.
    pub new: String,
    /// Whether both were launched in turn, within the same blocks. Else the machine may have changed in between.
    pub interleaved: bool,
    /// What is compared.
    pub form: CompareForm,
    /// Saved loads that were stopped in their window, which are compared as far as they ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutLoad>,
    /// Blocks in which both were measured; of two runs, the fewer.
    pub blocks: u32,
    /// How many blocks were asked for before more were, after these had been seen; of two runs the old one's before the
    /// new one's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks_before: Vec<u32>,
    /// Whether there are fewer than six blocks, or not all that were asked for: figures, no verdict.
    pub preliminary: bool,
    /// Blocks that were asked for, where the planner would ask for more than there are: at least, or at most once there are so
    /// many. Until then there is no verdict. Null where it would not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<u32>,
    /// Whether it ended because further blocks would show the same: nothing that counts, by a server's own doing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_in_vain: bool,
    /// Half width of the band in which the two count as the same, as a share.
    pub margin: f64,
    /// By how much, as a share, the machine may have been slower for the one than for the other: every verdict on a rate or a time
    /// holds either way. None where both were measured in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
    /// What each of the two did after a load, with nobody asking it anything; none where one was not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<CompareRest>,
    /// The metric that it is about, whose tests are a family of their own; without one all are one family.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary: Option<Metric>,
    /// Seed of the order of trials; null for two runs.
    pub seed: Option<u64>,
    /// Where the new one was measured.
    pub environment: Environment,
    /// What both sides are, where they are the same server made in the same way: what differs is noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same: Option<SameServer>,
    /// What else differs between two runs; compared only because it was forced.
    pub differences: Vec<Difference>,
    /// Every metric under every set of conditions.
    pub rows: Vec<CompareRow>,
    /// The latencies of both by percentile, under every set of conditions; none in documents of before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<Shift>,
    /// Where the replies of the two differ in size, and nobody compared their bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reply_sizes: Vec<ReplySizes>,
    /// What is known of each cell that is compared, the old one's before the new one's under each set of conditions.
    #[serde(default)]
    pub cells: Vec<ComparedCell>,
    /// What became of the gates.
    pub gates: Vec<GateResult>,
    /// How steady the session was; empty for two runs.
    pub session: SessionAnalysis,
    /// Launches, and how many of them were void.
    pub trials: TrialCount,
    /// The void launches.
    pub void_trials: Vec<VoidTrial>,
    /// Wall time during which the run was at work, in seconds, when known.
    pub elapsed_s: Option<f64>,
}

impl CompareAnalysis {
    /// Whether the new one is worse, as all rows together say it.
    pub fn answer(&self) -> CompareAnswer {
        use ComparisonVerdict::{Faster, Inconclusive, Slower};
        let any = |verdict| self.rows.iter().any(|row| row.verdict == verdict);
        let is_yet_to_come = self.trials.total == 0 && self.unfinished.is_some();
        match () {
            () if is_yet_to_come => CompareAnswer::Unfinished,
            () if !self.rows.iter().any(CompareRow::is_measured) => CompareAnswer::Nothing,
            () if self.unfinished.is_some() || self.preliminary => CompareAnswer::Unfinished,
            () if self.same.is_some() && (any(Slower) || any(Faster)) => CompareAnswer::Alike,
            () if any(Slower) => CompareAnswer::Worse,
            () if any(Inconclusive) => CompareAnswer::Undecided,
            () => CompareAnswer::NotWorse,
        }
    }

    /// Whether these are saved loads.
    pub fn is_of_loads(&self) -> bool {
        self.form == CompareForm::Loads
    }
}

/// Whether the new server is worse than the old one, as far as anything is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompareAnswer {
    /// Of no figure both have a value, and no launch to come may give one.
    Nothing,
    /// There are figures, or will be, and no verdicts yet.
    Unfinished,
    /// Both sides are the same server, and a figure came out as different all the same.
    Alike,
    /// Some figure is worse.
    Worse,
    /// Each figure has a verdict, and none is worse.
    NotWorse,
    /// No figure is worse, and some have no verdict.
    Undecided,
}

/// A saved load that was stopped in its window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CutLoad {
    /// Whose it is.
    pub arm: Arm,
    /// The name of its file.
    pub id: String,
    /// Length of the window that it has, in seconds.
    pub window_s: f64,
}

/// What two servers did after their loads, while nobody asked them anything.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CompareRest {
    /// For how long each was watched at least, in seconds.
    pub length_s: f64,
    /// The most CPU seconds that the old one used then.
    pub old_cpu_s: f64,
    /// The same of the new one.
    pub new_cpu_s: f64,
}

/// One metric of both under one set of conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareRow {
    /// The metric.
    pub metric: Metric,
    /// The conditions.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// The old one's value.
    pub old: Measured,
    /// The new one's value.
    pub new: Measured,
    /// Blocks that it rests on: those in which both have a value that counts; of two runs the fewer. None in documents of
    /// before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// new ÷ old; nothing for shares.
    pub ratio: Measured,
    /// new − old of shares, which have no ratio to zero; missing for everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Measured>,
    /// p value of "the two are the same", adjusted by Holm over all rows.
    pub p_adjusted: Option<f64>,
    /// How many figures are tested together with this one, itself among them, where that alone keeps it open: its interval and its own p
    /// value show a difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_as_one_of: Option<u32>,
    /// The new one against the old one.
    pub verdict: ComparisonVerdict,
    /// Why what the figures alone say is not evidence, where it is not; where they say nothing, why more blocks would not
    /// either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// Of which server that is so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld_of: Vec<Arm>,
    /// What the figures alone say where that is held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<ComparisonVerdict>,
    /// The change as far as all that is in doubt leaves it open, where it is held back for such a doubt and that is further than its
    /// interval. A bound is missing where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<Measured>,
    /// What the quiet blocks alone show, where it is held back because the machine was busy and they are enough for an
    /// interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// About how many blocks would settle it, where that can be said; [`crate::MOST_NEEDED_BLOCKS`] stands for so many or
    /// more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_blocks: Option<u32>,
}

impl CompareRow {
    /// Whether the two were measured, so that there is something to compare.
    pub fn is_measured(&self) -> bool {
        self.ratio.estimate.is_some() || self.difference.as_ref().is_some_and(|it| it.estimate.is_some())
    }
}

/// What both sides of a comparison are, where they are one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameServer {
    /// The files of one revision.
    Revision(RevisionContent),
    /// One command in one folder.
    Command,
}

/// How large the replies of the two are, where that is not the same: it may not be the same answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplySizes {
    /// The conditions.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// Bytes of an ok reply of the old one, its head included: the mean over launches.
    pub old_bytes: f64,
    /// Those of the new one.
    pub new_bytes: f64,
}

/// What the launches show during which nothing else kept the machine busy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quiet {
    /// Blocks in which neither was disturbed; of two runs, launches of the one that has fewer.
    pub blocks: u32,
    /// new ÷ old over these.
    pub ratio: Measured,
}

/// A cell of one of the two servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedCell {
    /// Whose it is.
    pub arm: Arm,
    /// Its figures, marks and failures.
    #[serde(flatten)]
    pub cell: CellAnalysis,
}

/// A gate under one set of conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// The gate as it was written.
    pub gate: String,
    /// Its metric.
    pub metric: Metric,
    /// The conditions.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// The ratio, new ÷ old; nothing for shares.
    pub ratio: Measured,
    /// The difference, new − old, of shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Measured>,
    /// What became of it.
    pub verdict: GateVerdict,
    /// Why what the figures alone say is not evidence, where it is not; the gate is undecided then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// Of which server that is so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld_of: Vec<Arm>,
    /// The change as far as all that is in doubt leaves it open, as that of a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_doubt: Option<Measured>,
    /// About how many blocks would settle it, where that can be said; [`crate::MOST_NEEDED_BLOCKS`] stands for so many or
    /// more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_blocks: Option<u32>,
}

/// What became of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// The whole interval is on the right side.
    Held,
    /// The whole interval is on the wrong side.
    Broken,
    /// The interval holds the limit, or there is none.
    Undecided,
}
