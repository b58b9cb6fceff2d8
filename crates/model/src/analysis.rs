use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    AbsentTarget, Arm, BackendUse, Cell, CellBeside, CellHandshakes, CellLaunch, CellQuantile, CellRemarks, Choice,
    ClaimAnalysis, ClaimChance, Course, Died, Environment, Failing, Finding, InvariantCheck, Launches, MarkNote,
    Measured, MemoryCount, MemorySlope, Metric, NoProfile, Population, ProfiledBy, ProfiledFunction, RankChance,
    RankGroup, Reason, RelativeRate, Rotated, Shift, Suspicion, TargetInfo, Why, Withheld, WrongReply,
};

/// Schema number of `analysis.json` and of `bourdon report --format json`.
pub const ANALYSIS_SCHEMA: &str = "bourdon.report/2";

/// What the numbers of a run mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Version of this document's shape.
    pub schema: String,
    /// Name of the experiment.
    pub name: String,
    /// The question.
    pub question: String,
    /// Who published what was tried.
    pub source: Option<String>,
    /// Whether this is the quick form.
    pub quick: bool,
    /// Whether there are fewer than six blocks: figures, no verdict.
    pub preliminary: bool,
    /// Blocks that were asked for, where the planner would ask for more than there are: at least, or at most once there are so
    /// many. Until then there is no verdict. Null where it would not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<u32>,
    /// Whether it ended because further blocks would show the same: nothing that counts, by a server's own doing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended_in_vain: bool,
    /// Blocks in which every cell has a record, and one of them at least a measurement.
    pub blocks: u32,
    /// How many blocks were asked for at most before more were, to resume the run; empty where that never changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks_before: Vec<u32>,
    /// Whether its launches are loads that were saved: nobody launched their server or watched it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_loads: bool,
    /// Seed of the order.
    pub seed: u64,
    /// Half width of "the same".
    pub margin: f64,
    /// Wall time during which the run was at work, interruptions left out, in seconds, when known.
    pub elapsed_s: Option<f64>,
    /// The machine.
    pub environment: Environment,
    /// Targets that could not take part.
    pub absent: Vec<AbsentTarget>,
    /// What the rates that are shares of capacity came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relative_rates: Vec<RelativeRate>,
    /// Targets that are bourdon's reconstruction of something, with the sentence that says so.
    pub reconstructions: Vec<Reconstruction>,
    /// What each target is; empty of saved loads, and in analyses of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetInfo>,
    /// One entry a cell.
    pub cells: Vec<CellAnalysis>,
    /// Pairs of targets under the same conditions.
    pub comparisons: Vec<Comparison>,
    /// The latencies of two targets by percentile, wherever two share their conditions; none in analyses of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<Shift>,
    /// What a connection costs in memory, wherever cells differ in their connections alone; none in analyses of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_slopes: Vec<MemorySlope>,
    /// Rank groups.
    pub groups: Vec<RankGroup>,
    /// What the ranks are sure of together; null where fewer than two tables have some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_chance: Option<RankChance>,
    /// Which target serves which need best; none while the run is preliminary, and in analyses of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Claims.
    pub claims: Vec<ClaimAnalysis>,
    /// How many of them chance would support.
    #[serde(default)]
    pub claims_by_chance: ClaimChance,
    /// Named pathologies.
    pub findings: Vec<Finding>,
    /// How steady the session was.
    #[serde(default)]
    pub session: SessionAnalysis,
    /// Trials that are void, or failed.
    pub void_trials: Vec<VoidTrial>,
    /// Void trials by code and their number, all together.
    pub trials: TrialCount,
}

/// What is known of the session as a whole, over all of its cells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionAnalysis {
    /// One target against itself, by each metric that it has: `a` and `b` are the same. Empty where a run did not
    /// measure it. Whatever its verdicts are but `same` and `inconclusive` is noise.
    pub itself: Vec<Comparison>,
    /// Blocks set aside because the machine was busy, to be launched again; their figures are not used.
    pub repeated: Vec<RepeatedBlock>,
    /// What a reader must know of every interval in it.
    pub marks: Vec<MarkNote>,
    /// On which CPUs both sides ran; null of two runs that differ in that, of saved loads, and in analyses of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuShare>,
}

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestLine {
    /// Its method, upper-case.
    pub method: String,
    /// Its path with its query.
    pub path: String,
}

/// What a cell is asked, and how much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellLoad {
    /// Each of its requests; empty in analyses of earlier versions.
    #[serde(default)]
    pub requests: Vec<RequestLine>,
    /// Over so many connections.
    pub connections: u32,
    /// So many requests a second; null where each connection asks again once it has its reply.
    pub rate_per_s: Option<f64>,
}

/// How servers and generator share the machine's CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuShare {
    /// Those of the generator; empty leaves it to the kernel.
    pub generator: Vec<u32>,
    /// Those of every server; empty leaves it to the kernel. Null where it is a condition.
    pub targets: Option<Vec<u32>>,
    /// How many nodes made the load instead of this generator; none where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
}

/// A block that another one stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepeatedBlock {
    /// Its number.
    pub block: u32,
    /// Of two sessions, which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<Arm>,
    /// The first trial that was disturbed.
    pub trial: String,
    /// By what.
    #[serde(flatten)]
    pub why: Why,
}

/// A target that is a model of something that no longer runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reconstruction {
    /// The target.
    pub target: String,
    /// What the report says of it.
    pub text: String,
}

/// How many trials there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialCount {
    /// All.
    pub total: u32,
    /// Of these void or failed, those that follow among them.
    pub void: u32,
    /// Of these the launches whose target did not become ready.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_up: u32,
    /// Of these the ones that were not tried, because their target had not become ready before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_tried: u32,
}

impl TrialCount {
    /// Launches whose target came up.
    pub fn up(&self) -> u32 {
        self.total.saturating_sub(self.not_up).saturating_sub(self.not_tried)
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The figures of one cell over its launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellAnalysis {
    /// Its levels.
    #[serde(rename = "where")]
    pub levels: Cell,
    /// The load that it asks for; none in documents of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<CellLoad>,
    /// Launches used.
    pub trials: u32,
    /// Launches that are void or failed.
    pub void: u32,
    /// Launches in blocks that are set aside.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub set_aside: u32,
    /// Load before each window, not measured, in seconds; of launches in slices as long as their target needs to be warm, at least.
    #[serde(default)]
    pub warm_up_s: f64,
    /// Length of the windows as planned, in seconds; of launches in slices as measured, the mean of what their slices come to.
    #[serde(default)]
    pub window_s: f64,
    /// Whether its launches went round with others', and why not; null where none was to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotated>,
    /// Ok replies a second.
    pub throughput: Measured,
    /// Whether the throughput is only a lower bound because the generator may have been the limit.
    pub at_least: bool,
    /// How its launches went over their windows.
    #[serde(default)]
    pub course: CellCourse,
    /// Throughput as a share of what the handler delay and the connections allow.
    pub of_ceiling: Option<f64>,
    /// Felt latency.
    pub latency_us: CellLatency,
    /// The target's CPU per completed request.
    pub cpu_us_per_request: Measured,
    /// Whether that is only a lower bound: of some launch, what processes used that nobody waited for is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cpu_at_least: bool,
    /// The target's busy share of its CPUs, mean over launches, 0 to 1.
    pub target_busy: Option<f64>,
    /// The busiest generator thread, mean over launches, 0 to 1.
    pub generator_busy: Option<f64>,
    /// Share of the time for which the generator thread that waited most for a CPU did so, mean over launches.
    #[serde(default)]
    pub generator_starved: Option<f64>,
    /// Peak memory.
    pub peak_memory_bytes: Measured,
    /// Whether nobody knows of one of its launches what it had between two looks, so that the peak is at least that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub peak_at_least: bool,
    /// What it counts; the widest of its launches.
    #[serde(default)]
    pub memory_count: MemoryCount,
    /// From launch to the first good answer.
    pub time_to_ready_ms: Measured,
    /// Where the target's CPU time went; null where no profile was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<CellProfile>,
    /// Launches in which the server did not keep up with the rate; null where it did in all, or none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<CellBehind>,
    /// The TLS handshakes of connections that are made under load; null where they are not, or not over TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<CellHandshakes>,
    /// The load beside it; null where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<CellBeside>,
    /// What the server did that its handlers ask, the most at once and the sums of all launches that count; null where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<BackendUse>,
    /// Share of requests that went wrong.
    pub errors: f64,
    /// That share against what is allowed, and whether content was wrong in any launch.
    #[serde(default)]
    pub failing: Failing,
    /// How servers ended under load; null where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died: Option<Died>,
    /// The first wrong reply of the first launch that had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_wrong: Option<WrongReply>,
    /// Every invariant that broke in some launch, and one line for those that held.
    pub invariants: Vec<InvariantCheck>,
    /// Marks seen in at least half of the launches.
    pub marks: Vec<MarkNote>,
    /// What at least half of its launches are consistent with, as the first of these shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspicions: Vec<Suspicion>,
    /// What is said beside its figures.
    #[serde(default)]
    pub remarks: CellRemarks,
    /// The latencies that every launch has which counts, in ascending order; none in analyses of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<CellQuantile>,
    /// Its launches one by one, in block order; none in analyses of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<CellLaunch>,
}

/// How the launches of a cell went over their windows, second by second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CellCourse {
    /// Launches by course; empty where none could be classified, for the windows were too short.
    pub launches: BTreeMap<Course, u32>,
    /// Ok replies a second over the steady part of the launches that are flat or warmed up; null where a launch was
    /// neither, or none was classified.
    pub steady_throughput: Option<Measured>,
    /// The most that was cut from the start of a window, as a share of it; null without a steady figure.
    pub cut: Option<f64>,
}

/// Launches of a cell in which the server did not keep up with the rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellBehind {
    /// In how many, and the one in which it was furthest behind.
    pub launches: Launches,
    /// Requests a second asked for.
    pub rate_per_s: f64,
    /// Requests a second sent in that launch.
    pub sent_per_s: f64,
}

/// The CPU profiles of a cell's launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellProfile {
    /// What took them: more than one where the launches differ, none in analyses from before there was a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<ProfiledBy>,
    /// Launches that have one.
    pub launches: u32,
    /// Their samples, all together.
    pub samples: u64,
    /// Share (0 to 1) of the samples in the functions that the experiment names.
    pub share: Measured,
    /// The functions with the most samples over all launches, at most five, the most first. A launch tells its ten
    /// first functions, so one that is not always among them has at least this share.
    pub functions: Vec<ProfiledFunction>,
    /// Why a launch has none: the first such launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_profile: Option<NoProfile>,
}

/// Felt latency of a cell: response time in the open model, service time in the closed one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellLatency {
    /// From when it is timed.
    pub population: Population,
    /// Mean.
    pub mean: Measured,
    /// Median.
    pub p50: Measured,
    /// 90th percentile.
    pub p90: Measured,
    /// 99th percentile.
    pub p99: Measured,
    /// Whether the figures are lower bounds because requests were still unfinished.
    pub censored: bool,
    /// The largest share of a launch's requests, 0 to 1, that failed and so have no time: a quantile above which fewer lie is
    /// not known.
    #[serde(default, skip_serializing_if = "crate::validity::is_none")]
    pub failed_share: f64,
    /// Whether in some launch too few garbage collections are known to have come within the slices for a p99.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub few_collections: bool,
}

/// What a comparison came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonVerdict {
    /// `a` does better.
    Faster,
    /// `a` does worse.
    Slower,
    /// The whole interval lies within the margin.
    Same,
    /// The interval allows more than one of these.
    Inconclusive,
}

/// Two targets under the same conditions, by one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The metric.
    pub metric: Metric,
    /// The conditions.
    #[serde(rename = "where")]
    pub conditions: Cell,
    /// The one.
    pub a: String,
    /// The other.
    pub b: String,
    /// a ÷ b, paired within blocks.
    pub ratio: Measured,
    /// Interval of the sign test on the same block ratios: smallest to largest at six blocks (96.9 %).
    pub sign_interval: Option<(f64, f64)>,
    /// Holm-adjusted p value of "the ratio is 1".
    pub p_adjusted: Option<f64>,
    /// The verdict.
    pub verdict: ComparisonVerdict,
    /// Why what the figures alone say proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Withheld>,
    /// What the figures alone say, where that is withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<ComparisonVerdict>,
}

impl Comparison {
    /// Whether it says of neither that it does better.
    pub fn is_undecided(&self) -> bool {
        matches!(self.verdict, ComparisonVerdict::Same | ComparisonVerdict::Inconclusive)
    }
}

/// A trial whose figures are not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VoidTrial {
    /// Its name in the run folder.
    pub id: String,
    /// Of which of two runs that are compared it is; none of one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<Arm>,
    /// Its block.
    pub block: u32,
    /// Whether it is the second launch of its cell in the block, by which the session's noise is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twin: bool,
    /// Its levels.
    #[serde(rename = "where")]
    pub levels: Cell,
    /// Which invariant broke, or where it failed.
    pub reason: Reason,
}
